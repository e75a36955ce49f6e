//! The journal: cut anywhere it gives a valid history, one server at a time has it, and it stays in its bounds.

use crate::bench::*;
use ropewalk_agent::{Past, SessionError};
use ropewalk_model::{Block, Role};
use ropewalk_protocol::{Event, Level, Op, Selection};
use serde_json::json;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

/// A session with something of everything in its journal, which ended in the midst of a call.
async fn a_long_story() -> tempfile::TempDir {
    let mut bench = start_kept([
        reply()
            .call("read_file", json!({"path": "a.txt"}))
            .call("read_file", json!({"path": "missing.txt"}))
            .call("edit_file", json!({"path": "a.txt", "old_text": "one", "new_text": "1"})),
        edit("seven", "7"),
        calls("write_file", json!({"path": "new/é.txt", "content": "naïve 🦀\n"})),
        bash("printf 'a\\tb\\n'; exit 3"),
        says("There."),
        edit("three", "3"),
        says("More."),
    ]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("Make them numbers: \"1\", 7 \u{1F980}").await;
    let hunks = bench.session.hunks();
    bench.session.send(Op::Accept(Selection::Hunks(vec![hunks[0].id.0])));
    bench.session.send(Op::Reject(Selection::Hunks(vec![hunks[1].id.0]), Some("not that".into())));
    bench.reviewed().await;
    bench.reviewed().await;
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1"));
    bench.run("and the third").await;
    bench.dies().await
}

fn journal(dir: &tempfile::TempDir) -> std::path::PathBuf {
    dir.path().join("state/sessions/s.jsonl")
}

/// Checks that a history could be sent: roles alternate from the user's on, calls and results
/// match.
fn is_valid(messages: &[ropewalk_model::Message], ended: bool) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let wanted = if n % 2 == 0 { Role::User } else { Role::Assistant };
        if message.role != wanted || message.content.is_empty() {
            return Err(format!("message {n} is wrong: {message:?}"));
        }
        for block in &message.content {
            match block {
                Block::ToolUse { id, .. } => open.push(id),
                Block::ToolResult { tool_use_id, .. } => {
                    let at = open.iter().position(|id| id == tool_use_id);
                    open.remove(at.ok_or(format!("message {n}: a result without a call"))?);
                }
                _ => {}
            }
        }
        if message.role == Role::User && !open.is_empty() {
            return Err(format!("message {n}: {open:?} have no result"));
        }
    }
    if ended && !open.is_empty() { Err(format!("{open:?} have no result")) } else { Ok(()) }
}

#[tokio::test]
async fn cut_at_any_byte_it_gives_a_valid_history() {
    let dir = a_long_story().await;
    let whole = std::fs::read(journal(&dir)).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in 0..=whole.len() {
        let read = Past::read(&whole[..cut]);
        if cut < first {
            assert!(read.is_err(), "cut at {cut}");
            continue;
        }
        let (past, good) = read.unwrap();
        assert_eq!(past.problems, Vec::<String>::new(), "cut at {cut}");
        assert_eq!(whole[..cut].iter().rposition(|b| *b == b'\n').unwrap() as u64 + 1, good);
        is_valid(&past.messages(), false).unwrap_or_else(|why| panic!("cut at {cut}: {why}"));
    }
}

#[tokio::test]
async fn cut_at_any_line_and_in_its_midst_the_session_goes_on() {
    let mut dir = a_long_story().await;
    let whole = std::fs::read(journal(&dir)).unwrap();
    let ends: Vec<usize> = whole
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    let halves = ends.windows(2).map(|pair| (pair[0] + pair[1]) / 2);
    let cuts: Vec<usize> = ends.iter().copied().chain(halves).collect();
    assert!(cuts.len() > 60, "{} cuts", cuts.len());
    for cut in cuts {
        std::fs::write(journal(&dir), &whole[..cut]).unwrap();
        // The editor and its unsaved text have survived.
        let mut bench = resume(dir, [says("Going on.")]);
        bench.open("a.txt", &TEXT.replace("one", "1"));
        is_valid(&bench.session.messages(), true).unwrap_or_else(|why| panic!("cut {cut}: {why}"));
        // The scripted model checks the request.
        bench.run("go on").await;
        is_valid(&bench.session.messages(), true).unwrap();
        dir = bench.dies().await;
        let (past, _) = Past::read(&*std::fs::read(journal(&dir)).unwrap()).unwrap();
        assert_eq!(past.problems, Vec::<String>::new(), "cut at {cut}");
    }
}

#[tokio::test]
async fn broken_lines_cost_only_themselves() {
    let dir = a_long_story().await;
    let whole = std::fs::read(journal(&dir)).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    for (broken, line) in lines.iter().enumerate().skip(1) {
        for with in [
            &b"{\"said\":{\"role\":\"user\n"[..],
            b"\xff\xfe\n",
            b"null\n",
            b"\n",
            b"{\"later\":1}\n",
        ] {
            let mut bytes: Vec<u8> = lines[..broken].concat();
            bytes.extend_from_slice(with);
            bytes.extend(lines[broken + 1..].concat());
            let (past, good) = Past::read(&*bytes).unwrap();
            assert_eq!(good, bytes.len() as u64);
            let shown = String::from_utf8_lossy(line);
            is_valid(&past.messages(), false)
                .unwrap_or_else(|why| panic!("without {shown}: {why}"));
        }
    }
}

#[tokio::test]
async fn one_at_a_time_has_it_and_a_torn_end_is_cut_off() {
    let dir = a_long_story().await;
    let path = journal(&dir);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..], b"{\"said\":{\"ro"].concat()).unwrap();
    let sessions = sessions(&dir);
    let (held, past) = sessions.open("s").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), whole, "the torn line is gone");
    assert_eq!(
        (past.turns.len(), past.shown_title().as_str()),
        (2, "Make them numbers: \"1\", 7 \u{1F980}")
    );
    let refused = sessions.open("s").unwrap_err();
    assert!(matches!(refused, SessionError::InUse(_)), "{refused}");
    assert!(refused.to_string().contains("open in another Ropewalk"), "{refused}");
    assert!(sessions.list()[0].in_use && sessions.of_roots(&["w".to_owned()])[0].in_use);
    assert!(matches!(sessions.delete("s"), Err(SessionError::InUse(_))));
    assert!(matches!(sessions.rename("s", "x"), Err(SessionError::InUse(_))));
    drop(held);
    sessions.rename("s", "Numbers").unwrap();
    let listed = &sessions.of_roots(&["w".to_owned()])[0];
    assert!(!listed.in_use);
    assert_eq!((listed.summary.title.as_str(), listed.summary.turns), ("Numbers", 2));
    assert!(sessions.of_roots(&["elsewhere".to_owned()]).is_empty());
    sessions.delete("s").unwrap();
    assert!(sessions.list().is_empty() && !path.exists());
}

#[tokio::test]
async fn one_that_is_deleted_is_said_once_and_the_session_goes_on() {
    let mut bench = start_kept([says("one"), says("two"), says("three")]);
    bench.run("a").await;
    assert!(!bench.session.is_lost());
    std::fs::remove_dir_all(bench.dir.path().join("state")).unwrap();
    assert!(bench.session.is_lost());
    bench.run("b").await;
    bench.run("c").await;
    let is_warning = |event: &&Event| matches!(event, Event::Notice { level: Level::Warning, .. });
    assert_eq!(bench.seen.iter().filter(is_warning).count(), 1, "{:?}", bench.seen);
}

#[cfg(unix)]
#[tokio::test]
async fn it_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = a_long_story().await;
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&journal(&dir)), 0o600);
    assert_eq!(mode(&dir.path().join("state/sessions")), 0o700);
}

#[tokio::test]
async fn what_is_no_journal_is_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("state/sessions");
    std::fs::create_dir_all(folder.join("folder.jsonl")).unwrap();
    std::fs::write(folder.join("empty.jsonl"), "").unwrap();
    std::fs::write(folder.join("text.jsonl"), "Hello.\n").unwrap();
    let later = json!({"journal": {"version": 99, "session": "later", "at": 0, "roots": []}});
    std::fs::write(folder.join("later.jsonl"), format!("{later}\n")).unwrap();
    let huge = std::fs::File::create(folder.join("huge.jsonl")).unwrap();
    huge.set_len(ropewalk_agent::journal::MOST_BYTES + 1).unwrap();
    for (id, says) in [("evil", "../../../secret"), ("moved", "text"), ("nobody", "")] {
        let head = json!({"journal": {"version": 1, "session": says, "at": 0, "roots": ["w"]}});
        let summary = json!({"summary": {"title": "t", "at": 1, "turns": 1, "pending": 0}});
        std::fs::write(folder.join(format!("{id}.jsonl")), format!("{head}\n{summary}\n")).unwrap();
    }
    std::fs::write(dir.path().join("secret"), "x").unwrap();
    let sessions = sessions(&dir);
    let why = |id: &str| sessions.open(id).unwrap_err().to_string();
    for (id, words) in [
        ("folder", "not a session of Ropewalk"),
        ("empty", "not a session of Ropewalk"),
        ("text", "not a session of Ropewalk"),
        ("later", "later version"),
        ("../../secret", "no session"),
        ("", "no session"),
        ("t", "not a session of Ropewalk"),
        ("huge", "too large"),
        ("evil", "of another session"),
        ("moved", "of another session"),
        ("nobody", "of another session"),
        ("none", "no session"),
    ] {
        assert!(why(id).contains(words), "{id}: {}", why(id));
    }
    assert!(sessions.list().is_empty());
    assert!(sessions.listed("../../secret").is_none() && sessions.read("evil").is_err());
}

#[test]
fn roots_are_the_same_in_whatever_order() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = sessions(&dir);
    let names = |roots: &[&str]| roots.iter().map(|root| (*root).to_owned()).collect::<Vec<_>>();
    let folder = dir.path().join("state/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    for (at, id, roots) in
        [(1, "ab", &["a", "b"][..]), (3, "ba", &["b", "a"]), (2, "a", &["a"]), (4, "none", &[])]
    {
        let head = json!({"journal": {"version": 1, "session": id, "at": 0, "roots": roots}});
        let summary = json!({"summary": {"title": "t", "at": at, "turns": 1, "pending": 0}});
        std::fs::write(folder.join(format!("{id}.jsonl")), format!("{head}\n{summary}\n")).unwrap();
    }
    for (roots, ids) in [
        (&["a", "b"][..], &["ba", "ab"][..]),
        (&["b", "a"], &["ba", "ab"]),
        (&["a"], &["a"]),
        (&[], &["none"]),
        (&["a", "a"], &[]),
    ] {
        let listed = sessions.of_roots(&names(roots));
        assert_eq!(listed.iter().map(|one| &*one.id).collect::<Vec<_>>(), ids, "{roots:?}");
    }
}

#[tokio::test]
async fn what_was_accepted_and_never_saved_waits_too() {
    use ropewalk_agent::journal::store::PruneBounds;
    let mut bench = start_kept([edit("one", "1"), says("There.")]);
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    bench.run("go").await;
    bench.session.send(Op::Accept(Selection::All));
    bench.reviewed().await;
    let dir = bench.dies().await;
    let sessions = sessions(&dir);
    let summary = sessions.listed("s").unwrap().summary;
    assert_eq!((summary.pending, summary.unsaved, summary.waits()), (0, 1, 1));
    assert!(sessions.to_prune(PruneBounds { days: 0, bytes: 0 }).is_empty());
}

#[tokio::test]
async fn pruning_leaves_what_is_used_new_or_pending() {
    use ropewalk_agent::journal::store::PruneBounds;
    let dir = a_long_story().await;
    let sessions = sessions(&dir);
    let all = PruneBounds { days: 0, bytes: 0 };
    assert_eq!(sessions.list()[0].summary.pending, 2);
    assert!(sessions.to_prune(all).is_empty(), "pending changes are the user's");
    let mut bench = resume(dir, []);
    bench.session.send(Op::Reject(Selection::All, None));
    bench.reviewed().await;
    let dir = bench.dies().await;
    assert!(sessions.to_prune(PruneBounds { days: 9, bytes: 1 << 30 }).is_empty(), "it is new");
    // Opened, so that nobody has it any more.
    drop(sessions.open("s").unwrap());
    let pruned = sessions.to_prune(PruneBounds { days: 9, bytes: 10 });
    assert_eq!(pruned.len(), 1);
    assert!(pruned[0].why.contains("MB"), "{}", pruned[0].why);
    let held = sessions.open("s").unwrap();
    assert!(sessions.to_prune(PruneBounds { days: 9, bytes: 10 }).is_empty(), "it is in use");
    drop(held);
    drop(dir);
}

#[tokio::test]
async fn the_session_of_a_teams_member_is_in_no_list_and_goes_with_its_age() {
    use ropewalk_agent::journal::store::PruneBounds;
    let dir = a_long_story().await;
    let sessions = sessions(&dir);
    let file = dir.path().join("state/sessions/s.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let head = "{\"journal\":{";
    assert!(text.starts_with(head), "{text}");
    std::fs::write(&file, text.replacen(head, &format!("{head}\"member\":\"alice\","), 1)).unwrap();
    assert_eq!(sessions.list(), []);
    assert_eq!(sessions.listed("s").unwrap().member.as_deref(), Some("alice"));
    assert!(sessions.to_prune(PruneBounds { days: 9, bytes: 1 << 30 }).is_empty(), "it is new");
    // Opened, so that nobody has it any more.
    drop(sessions.open("s").unwrap());
    let pruned = sessions.to_prune(PruneBounds { days: 0, bytes: 0 });
    assert_eq!(pruned.len(), 1, "what it has not handed over is kept by nobody");
}

#[tokio::test]
async fn it_can_be_read_as_markdown() {
    let dir = a_long_story().await;
    let text = sessions(&dir).export("s").unwrap();
    for wanted in [
        "# Make them numbers: \"1\", 7 \u{1F980}\n",
        "## Turn 1, 20",
        "> Make them numbers",
        "- `edit_file` `{\"path\":\"a.txt\"",
        "- Result failed",
        "- Result (allowed: allow bash(*))",
        "There.",
        "accept: a.txt:1*",
        "reject: a.txt:7: not that*",
        "## Turn 2",
        "*Done*",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
    }
    assert!(!text.contains("<open_files>"), "what is put around the user's words is for the model");
}
