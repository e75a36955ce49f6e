//! Sessions that are kept: runs that go on, and `ropewalk sessions` over good, broken and hostile journals.

use crate::world::{KEY, Ran, World};
use ropewalk_agent::Sessions;
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};
use serde_json::{Value, json};
use std::path::PathBuf;

fn reply() -> ScriptedReply {
    ScriptedReply::new()
}

fn world(replies: impl IntoIterator<Item = ScriptedReply>) -> (World, ScriptedModel) {
    let model = ScriptedModel::start_with_key(replies, KEY).unwrap();
    (World::with(&model), model)
}

/// A world whose model is never asked.
fn quiet() -> World {
    World::new("http://127.0.0.1:9")
}

fn state(world: &World) -> PathBuf {
    world.home("state/ropewalk")
}

fn sessions(world: &World) -> Sessions {
    Sessions::new(&state(world))
}

fn root(world: &World) -> String {
    world.root().canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn edit(file: &str, old: &str, new: &str) -> ScriptedReply {
    reply().call("edit_file", json!({"path": file, "old_text": old, "new_text": new}))
}

const DAY: u64 = 24 * 60 * 60 * 1000;

fn days_ago(days: u64) -> u64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    u64::try_from(since.as_millis()).unwrap() - days * DAY
}

/// Writes a journal of one turn, last used at `at`, with these lines before its last.
fn journal(
    world: &World,
    id: &str,
    root: &str,
    at: u64,
    title: &str,
    pending: usize,
    more: &[&str],
) {
    let folder = state(world).join("sessions");
    std::fs::create_dir_all(&folder).unwrap();
    let said = json!([{"type": "text", "text": "hello"}]);
    let mut lines = vec![
        json!({"journal": {"version": 1, "session": id, "at": at, "roots": [root]}}).to_string(),
        json!({"turn": {"turn": 1, "at": at, "prompt": "hello"}}).to_string(),
        json!({"said": {"role": "user", "content": said}}).to_string(),
        json!({"said": {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]}})
            .to_string(),
        json!({"ended": {"turn": 1, "at": at, "stop_reason": "end_turn"}}).to_string(),
        json!({"title": title}).to_string(),
    ];
    lines.extend(more.iter().map(|line| (*line).to_owned()));
    let summary = json!({"title": title, "at": at, "turns": 1, "pending": pending});
    lines.push(json!({ "summary": summary }).to_string());
    let text = lines.join("\n") + "\n";
    std::fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
}

fn one(world: &World, id: &str) {
    journal(world, id, &root(world), days_ago(1), "hello", 0, &[]);
}

/// One in which an accepted change was never saved.
fn unsaved(world: &World, id: &str) {
    one(world, id);
    let path = state(world).join("sessions").join(format!("{id}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap();
    let waits = text.replace("\"pending\":0", "\"pending\":0,\"unsaved\":1");
    assert_ne!(text, waits);
    std::fs::write(path, waits).unwrap();
}

#[test]
fn a_run_goes_on_with_the_last_one() {
    let (world, model) =
        world([reply().text("I am here."), reply().text("As I said."), reply().text("Again.")]);
    let first = world.run(&["run", "Are you there?"]).ended(0);
    assert!(!first.err.contains("ession"), "a new session is no news: {first:?}");
    let second = world.run(&["run", "--continue", "What did you say?"]).ended(0);
    assert_eq!(second.out, "As I said.\n");
    assert!(
        second.err.contains("Going on with “Are you there?” (just now), 1 turn."),
        "{second:?}"
    );
    let id = sessions(&world).list().remove(0).id;
    world.run(&["run", "--session", id.get(..id.len() - 1).unwrap(), "Again"]).ended(0);
    let messages = model.requests().pop().unwrap()["messages"].to_string();
    for words in ["Are you there?", "I am here.", "What did you say?", "As I said.", "Again"] {
        assert!(messages.contains(words), "{words} is missing in {messages}");
    }
    let list = sessions(&world).list();
    assert_eq!((list.len(), list[0].summary.turns, list[0].in_use), (1, 3, false));
    assert_eq!(list[0].roots, [root(&world)]);
}

#[test]
fn programs_are_told_the_session_first() {
    let (world, _model) = world([reply().text("One."), reply().text("Two.")]);
    for (args, turns) in
        [(&["run", "--json", "go"][..], 0), (&["run", "--json", "--continue", "go"][..], 1)]
    {
        let ran = world.run(args).ended(0);
        let first: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
        assert_eq!(first["type"], "session_started", "{ran:?}");
        assert_eq!(first["turns"], turns);
        assert_eq!(first["session"], *sessions(&world).list()[0].id);
    }
}

#[test]
fn what_is_proposed_adds_up_over_the_runs() {
    let (world, _model) = world([
        edit("a.txt", "one", "1"),
        reply().text("Done."),
        edit("b.txt", "two", "2"),
        reply().text("Done too."),
    ]);
    world.write("a.txt", "one\n");
    world.write("b.txt", "two\n");
    world.run(&["run", "first"]).ended(6);
    let ran = world.run(&["run", "--continue", "second"]).ended(6);
    assert!(
        ran.err.contains("1 change from before waits for review, in a.txt: the diff at the end"),
        "{ran:?}"
    );
    assert!(ran.out.contains("-one\n+1\n") && ran.out.contains("-two\n+2\n"), "{ran:?}");
    assert_eq!(world.read("a.txt") + &world.read("b.txt"), "one\ntwo\n");
    assert_eq!(sessions(&world).list()[0].summary.pending, 2);
}

#[test]
fn auto_writes_what_is_new_and_leaves_what_was_proposed() {
    let (world, _model) = world([
        edit("a.txt", "one", "1"),
        reply().text("Done."),
        edit("b.txt", "two", "2"),
        reply().text("Done too."),
    ]);
    world.write("a.txt", "one\n");
    world.write("b.txt", "two\n");
    world.run(&["run", "first"]).ended(6);
    let ran = world.run(&["run", "--continue", "--mode", "auto", "second"]).ended(6);
    assert!(
        ran.err.contains("they stay proposed, and only what is changed from now on"),
        "{ran:?}"
    );
    assert_eq!(world.read("a.txt") + &world.read("b.txt"), "one\n2\n");
    assert!(ran.out.ends_with("-one\n+1\n") && !ran.out.contains("+2"), "{ran:?}");
    assert!(ran.err.contains("`ropewalk accept` writes them"), "{ran:?}");
}

#[test]
fn a_stricter_mode_of_the_session_stays_unless_the_command_line_says_otherwise() {
    let (world, _model) =
        world([reply().text("Yes."), edit("a.txt", "one", "1"), reply().text("Done.")]);
    world.write("a.txt", "one\n");
    journal(&world, "planned", &root(&world), days_ago(1), "t", 0, &["{\"mode\":\"plan\"}"]);
    let ran = world.run(&["run", "--continue", "go"]).ended(0);
    assert!(ran.err.contains("in mode plan and stays so; --mode changes that"), "{ran:?}");
    world.run(&["run", "--continue", "--mode", "auto", "go"]).ended(0);
    assert_eq!(world.read("a.txt"), "1\n");
}

#[test]
fn what_was_not_taken_up_or_can_not_be_read_is_said() {
    let (world, _model) = world([reply().text("Yes.")]);
    let more = ["{\"waiting\":\"and \\u001b[2J tests\"}", "{\"said\":7}", "{\"of_later\":1}"];
    journal(&world, "abc", &root(&world), days_ago(1), "hello", 0, &more);
    let ran = world.run(&["run", "--session", "a", "go"]).ended(0);
    assert!(
        ran.err.contains("It ended before it had read this: \"and \\u{1b}[2J tests\"."),
        "{ran:?}"
    );
    assert!(ran.err.contains("A line of the session can't be read and is left out"), "{ran:?}");
    assert!(!ran.err.contains('\u{1b}'));
}

#[test]
fn a_run_that_can_not_go_on_says_why_and_sends_nothing() {
    let world = quiet();
    let go = |args: &[&str]| world.run(&[&["run"][..], args, &["go"][..]].concat());
    let none = go(&["--continue"]).ended(1);
    assert!(
        none.err.contains(&format!("There is no session of {} to go on with", root(&world))),
        "{none:?}"
    );
    one(&world, "abc-1");
    one(&world, "abd-1");
    journal(&world, "other", "/else/where", days_ago(0), "o", 0, &[]);
    // Its id would name the folder of outputs that may be read.
    one(&world, "evil");
    let evil = state(&world).join("sessions/evil.jsonl");
    let text = std::fs::read_to_string(&evil).unwrap();
    std::fs::write(&evil, text.replace("\"evil\"", "\"../../../work\"")).unwrap();
    let huge = "a".repeat(100_000);
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--session", "x"], 1, "There is no session x: `ropewalk sessions --all` lists them."),
        (&["--session", "ab"], 1, "ab could be any of 2 sessions (abc-1, abd-1): give more of it."),
        (&["--session", "evil"], 1, "it says that it is of another session"),
        (&["--session", "other"], 1, "Session other works in /else/where, not in "),
        (&["--session", ""], 2, "\"\" is not the id of a session"),
        (&["--session", "../x"], 2, "\"../x\" is not the id of a session"),
        (&["--session", "\u{1b}[2J"], 2, "\"\\u{1b}[2J\" is not the id of a session"),
        (&["--session", &huge], 2, "aaa\" is not the id of a session"),
        (&["--continue", "--session", "abc-1"], 2, "cannot be used with"),
    ];
    for (args, code, words) in cases {
        let ran = go(args).ended(*code);
        assert!(ran.err.contains(words) && ran.err.len() < 1_000, "{words}: {ran:#?}");
    }
    // Held here, so by another process.
    let (held, _) = sessions(&world).open("abc-1").unwrap();
    let ran = go(&["--session", "abc-1"]).ended(1);
    assert!(ran.err.contains("Session abc-1 is open in another Ropewalk"), "{ran:?}");
    drop(held);
    let mut homeless = world.ropewalk(&["run", "--continue", "go"]);
    homeless.env("XDG_STATE_HOME", "").env("HOME", "relative");
    let ran: Ran = homeless.output().unwrap().into();
    assert!(ran.ended(1).err.contains("There is no home folder, so no session is kept"));
}

#[test]
fn the_last_session_is_not_passed_over_because_it_is_in_use() {
    let world = quiet();
    journal(&world, "older", &root(&world), days_ago(2), "o", 0, &[]);
    one(&world, "newer");
    let (_held, _) = sessions(&world).open("newer").unwrap();
    let ran = world.run(&["run", "--continue", "go"]).ended(1);
    assert!(ran.err.contains("Session newer is open in another Ropewalk"), "{ran:?}");
}

#[test]
fn the_list_fits_a_terminal_and_obeys_nobody() {
    let world = quiet();
    let evil = format!("\u{1b}]0;owned\u{7}\n\u{202e}{}", "日本".repeat(300));
    journal(&world, "18aa00000000-1", &root(&world), days_ago(1), &evil, 3, &[]);
    journal(&world, "18aa00000001-1", &root(&world), days_ago(2), "fix the tests", 0, &[]);
    journal(&world, "18bb", "/else/\u{1b}where", days_ago(3), "", 0, &[]);
    let (_held, _) = sessions(&world).open("18aa00000001-1").unwrap();
    let here = world.run(&["sessions"]).ended(0);
    let lines: Vec<&str> = here.out.lines().collect();
    assert_eq!(lines.len(), 4, "{here:#?}");
    assert!(lines[0].starts_with("In ") && lines[1].starts_with(" #  ID "), "{here:#?}");
    assert!(
        lines[2].starts_with(" 1  18aa00000000  yesterday ")
            && lines[2].contains("1          3  ␛]0;owned␇"),
        "{here:#?}"
    );
    assert!(lines[3].ends_with("(in use) fix the tests"), "{here:#?}");
    let wide = |line: &&&str| {
        line.chars()
            .map(|c| if ('\u{3000}'..'\u{fffd}').contains(&c) { 2 } else { 1 })
            .sum::<usize>()
            > 80
    };
    assert_eq!(lines[1..].iter().find(wide), None);
    let all = world.run(&["sessions", "--all"]).ended(0);
    assert!(all.out.contains("\nIn /else/␛where:\n") && all.out.contains("(no title)"), "{all:#?}");
    let json = world.run(&["sessions", "--all", "--json"]).ended(0);
    let listed: Vec<Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(listed.len(), 3);
    assert_eq!((&listed[0]["title"], &listed[0]["pending"]), (&json!(evil), &json!(3)));
    assert_eq!(listed[1]["inUse"], true);
    for text in [here.out, all.out, json.out] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    }
    let nowhere = world.run(&["sessions", "--root", world.home("").to_str().unwrap()]).ended(0);
    assert!(
        nowhere.out.is_empty() && nowhere.err.contains("--all lists those of other folders"),
        "{nowhere:?}"
    );
}

#[test]
fn nothing_there_is_said() {
    let ran = quiet().run(&["sessions"]).ended(0);
    assert_eq!((&*ran.out, &*ran.err), ("", "ropewalk: There are no sessions yet.\n"));
}

#[test]
fn files_that_are_no_journals_are_counted_and_left_alone() {
    let world = quiet();
    one(&world, "good");
    let folder = state(&world).join("sessions");
    std::fs::create_dir(folder.join("folder.jsonl")).unwrap();
    std::fs::write(folder.join("empty.jsonl"), "").unwrap();
    std::fs::write(folder.join("text.jsonl"), "no journal\n").unwrap();
    std::fs::write(
        folder.join("later.jsonl"),
        "{\"journal\":{\"version\":9,\"session\":\"later\",\"at\":1,\"roots\":[]}}\n",
    )
    .unwrap();
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    let made =
        std::process::Command::new("mkfifo").arg(folder.join("fifo.jsonl")).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("/etc/hostname", folder.join("link.jsonl")).unwrap();
    let ran = world.run(&["sessions"]).ended(0);
    assert!(
        ran.out.contains("good") && ran.err.contains("6 files can't be read as sessions: "),
        "{ran:#?}"
    );
    for id in ["folder", "fifo", "link", "text", "empty", "later"] {
        for action in [&["show", id][..], &["rename", id, "x"], &["export", id, "out.md"]] {
            let ran = world.run(&[&["sessions"][..], action].concat()).ended(1);
            assert!(ran.err.contains("can't be read"), "{action:?}: {ran:#?}");
        }
        let ran = world.run(&["run", "--session", id, "go"]).ended(1);
        assert!(ran.err.contains("can't be read"), "{ran:#?}");
        let ran = world.run(&["sessions", "delete", id]).ended(2);
        assert!(
            ran.err.contains("it can't be read: what is lost with it is not known"),
            "{ran:#?}"
        );
    }
    assert!(!world.root().join("out.md").exists());
    world.run(&["sessions", "delete", "text", "--yes"]).ended(0);
    world.run(&["sessions", "prune", "--days", "0"]).ended(0);
    assert!(!folder.join("text.jsonl").exists() && !folder.join("good.jsonl").exists());
    assert!(
        ["folder", "fifo", "link"]
            .iter()
            .all(|id| folder.join(format!("{id}.jsonl")).symlink_metadata().is_ok())
    );
}

#[test]
fn a_session_is_shown_and_exported_harmlessly_and_overwrites_nothing() {
    let world = quiet();
    let evil = json!({"said": {"role": "assistant", "content": [{"type": "text", "text": "\u{1b}[2Jowned"}]}});
    journal(&world, "abc", &root(&world), days_ago(1), "my title", 0, &[&evil.to_string()]);
    let shown = world.run(&["sessions", "show", "a"]).ended(0);
    assert!(shown.out.starts_with("# my title\n") && shown.out.contains("> hello"), "{shown:?}");
    assert!(shown.out.contains("␛[2Jowned"), "{shown:?}");
    world.run(&["sessions", "export", "a", "out.md"]).ended(0);
    assert_eq!(world.read("out.md"), shown.out);
    let again = world.run(&["sessions", "export", "a", "out.md"]).ended(2);
    assert!(again.err.contains("out.md exists, and nothing is overwritten"), "{again:?}");
    let nowhere = world.run(&["sessions", "export", "a", "no/where.md"]).ended(2);
    assert!(nowhere.err.contains("no/where.md can't be written"), "{nowhere:?}");
}

#[test]
fn a_session_has_the_name_that_it_is_given() {
    let world = quiet();
    one(&world, "abc");
    let long = "x".repeat(201);
    for (title, words) in
        [("", "The name is empty"), (" \n\u{1b}", "The name is empty"), (&*long, "longer than 200")]
    {
        let ran = world.run(&["sessions", "rename", "abc", title]).ended(2);
        assert!(ran.err.contains(words), "{ran:?}");
    }
    let ran = world.run(&["sessions", "rename", "abc", " grüße\u{1b}[2J\n日本 "]).ended(0);
    assert_eq!(ran.err, "ropewalk: Session abc is called grüße [2J 日本 now.\n");
    assert_eq!(sessions(&world).list()[0].summary.title, "grüße [2J 日本");
    let (_held, _) = sessions(&world).open("abc").unwrap();
    let ran = world.run(&["sessions", "rename", "abc", "x"]).ended(1);
    assert!(ran.err.contains("is open in another Ropewalk"), "{ran:?}");
}

#[test]
fn deleting_says_what_is_lost() {
    let world = quiet();
    journal(&world, "waits", &root(&world), days_ago(1), "t", 2, &[]);
    unsaved(&world, "unsaved");
    one(&world, "done");
    one(&world, "held");
    let outputs = sessions(&world).outputs("done");
    std::fs::create_dir_all(&outputs).unwrap();
    std::fs::write(outputs.join("1.txt"), "output").unwrap();
    let (_held, _) = sessions(&world).open("held").unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (
            &["waits"],
            2,
            "Session waits (t): 2 changes of it wait for you, and are lost with it. It is deleted only with --yes.",
        ),
        (&["unsaved"], 2, "Session unsaved (hello): 1 change of it waits for you"),
        (&["unsaved", "--yes"], 0, "Session unsaved (hello) is deleted."),
        (&["waits", "--yes"], 0, "Session waits (t) is deleted."),
        (&["done"], 0, "Session done (hello) is deleted."),
        (&["held"], 1, "Session held is open in another Ropewalk"),
        (&["../../secret", "--yes"], 2, "is not the id of a session"),
        (&["", "--yes"], 2, "is not the id of a session"),
        (&["nobody"], 1, "There is no session nobody"),
    ];
    for (args, code, words) in cases {
        let ran = world.run(&[&["sessions", "delete"][..], args].concat()).ended(*code);
        assert!(ran.err.contains(words), "{words}: {ran:#?}");
    }
    let left: Vec<String> = sessions(&world).list().into_iter().map(|one| one.id).collect();
    assert_eq!(left, ["held"]);
    assert!(!outputs.exists());
}

#[test]
fn pruning_says_what_goes_and_why_and_what_stays() {
    let world = quiet();
    let here = root(&world);
    journal(&world, "old", &here, days_ago(100), "long \u{1b}ago", 0, &[]);
    journal(&world, "waits", &here, days_ago(200), "w", 1, &[]);
    journal(&world, "held", &here, days_ago(300), "h", 0, &[]);
    journal(&world, "new", &here, days_ago(1), "n", 0, &[]);
    let outputs = sessions(&world).outputs("old");
    std::fs::create_dir_all(&outputs).unwrap();
    std::fs::write(outputs.join("1.txt"), vec![b'x'; 2048]).unwrap();
    let gone = sessions(&world).outputs("gone");
    std::fs::create_dir_all(&gone).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100 * 24 * 60 * 60);
    std::fs::File::open(&gone).unwrap().set_modified(old).unwrap();
    let (_held, _) = sessions(&world).open("held").unwrap();
    let ids = || {
        let mut ids: Vec<String> = sessions(&world).list().into_iter().map(|one| one.id).collect();
        ids.sort();
        ids.join(" ")
    };
    let tried = world.run(&["sessions", "prune", "--dry-run"]).ended(0);
    assert!(tried.out.contains("1 session would be removed, 2."), "{tried:?}");
    assert_eq!(ids(), "held new old waits");
    let none = world.run(&["sessions", "prune", "--days", "150"]).ended(0);
    assert!(none.out.contains("0 sessions are removed, 0 bytes."), "{none:?}");
    let ran = world.run(&["sessions", "prune"]).ended(0);
    assert!(ran.out.starts_with("old (long ␛ago): not used for 90 days, 2."), "{ran:?}");
    assert!(
        ran.out.contains("1 session is removed, 2.")
            && ran.out.contains("outputs of a session that is gone")
    );
    assert!(
        ran.out
            .ends_with("1 with changes that wait for you and 1 in use stay, whatever their age.\n"),
        "{ran:?}"
    );
    assert_eq!(ids(), "held new waits");
    assert!(!outputs.exists() && !gone.exists());
    let ran = world.run(&["sessions", "prune", "--megabytes", "0"]).ended(0);
    assert!(ran.out.starts_with("new (n): all sessions together are over 0 MB, "), "{ran:?}");
    assert_eq!(ids(), "held waits");
    for wrong in [["--days", "-1"], ["--days", "x"], ["--megabytes", "99999999"]] {
        world.run(&[&["sessions", "prune"][..], &wrong].concat()).ended(2);
    }
}

/// Waits until the list of sessions is without `id`.
fn wait_until_pruned(world: &World, id: &str) {
    let start = std::time::Instant::now();
    while sessions(world).list().iter().any(|one| one.id == id) {
        assert!(start.elapsed().as_secs() < 30, "{id} is not pruned");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_run_prunes_by_the_users_own_bounds() {
    let (world, model) = world([reply().text("Yes.").gate(ReplyPlace::Answer, "pruned")]);
    let config = std::fs::read_to_string(world.home("config/ropewalk/config.toml")).unwrap();
    world.configure(&format!("sessions.keep_days = 7\n{config}"));
    world.write(".ropewalk/config.toml", "sessions.keep_days = 1\n");
    journal(&world, "old", "/x", days_ago(8), "t", 0, &[]);
    journal(&world, "new", "/x", days_ago(6), "t", 0, &[]);
    let child = world.ropewalk(&["run", "go"]).spawn().unwrap();
    wait_until_pruned(&world, "old");
    model.open_gate("pruned");
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert!(ran.ended(0).err.contains("it is about more than this project"));
    assert!(sessions(&world).list().iter().any(|one| one.id == "new"));
}

#[test]
fn the_server_prunes_when_it_starts() {
    let world = quiet();
    journal(&world, "old", "/x", days_ago(91), "t", 0, &[]);
    journal(&world, "new", "/x", days_ago(89), "t", 0, &[]);
    journal(&world, "waits", "/x", days_ago(900), "t", 1, &[]);
    let mut child = world.ropewalk(&["lsp"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    wait_until_pruned(&world, "old");
    drop(child.stdin.take());
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert!(ran.err.contains("a session is pruned"), "{ran:?}");
    assert_eq!(sessions(&world).list().len(), 2);
}
