//! A session that goes on: the review as it was, what was said, and the news of what has happened since.

use crate::bench::*;
use ropewalk_model::Protocol;
use ropewalk_protocol::{Content, Event, Mode, Op, Prompt, Selection, Spent, Usage, Verdict};
use serde_json::json;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

#[tokio::test]
async fn what_was_spent_goes_on_being_counted() {
    let used = |n| Usage { input: n, output: n, cache_read: 3 * n, cache_write: 0 };
    let mut bench = start_kept([says("one").usage(used(10))]);
    bench.run("one").await;
    let mut bench = resume(bench.dies().await, [says("two").usage(used(1))]);
    bench.run("two").await;
    assert_eq!(bench.session.spent().usage, used(11));
    let last = bench.seen.iter().rev().find_map(|event| match event {
        Event::Usage { in_turn, total, .. } => Some((*in_turn, total.to_string())),
        _ => None,
    });
    let words = "44 tokens in (75% from the cache), 11 out".to_owned();
    assert_eq!(last, Some((Spent::of(used(1), None).into(), words)), "{:?}", bench.seen);
}

#[tokio::test]
async fn the_review_is_as_it_was() {
    let mut bench = start_kept([
        edit("one", "1"),
        edit("seven", "7"),
        calls("write_file", json!({"path": "b.txt", "content": "new\n"})),
        says("ok"),
    ]);
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    bench.run("go").await;
    let before = bench.session.hunks();
    let mut bench = resume(bench.dies().await, [says("Yes.")]);
    let first = bench.next().await;
    let Event::SessionStarted { title, turns: 1, mode: Mode::Review, model: Some(_), .. } = first
    else {
        panic!("{first:?}")
    };
    assert_eq!(title, "go");
    let shown = bench.until(|event| match event {
        Event::Hunks { hunks } => Some(hunks.len()),
        _ => None,
    });
    assert_eq!(shown.await, 3, "pending hunks are shown without a prompt");
    // The user had typed since, saved, and opens the file again.
    let typed = TEXT.replace("four", "4");
    bench.file("a.txt", &format!("zero\n{typed}"));
    let uri = bench.open("a.txt", &format!("zero\n{typed}"));
    let after = bench.session.hunks();
    let told = |hunks: &[ropewalk_workspace::Hunk]| {
        hunks
            .iter()
            .map(|h| {
                (
                    h.id,
                    h.file.clone(),
                    h.kind.clone(),
                    h.old.clone(),
                    h.new.clone(),
                    h.turn,
                    h.makers.clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&after), told(&before));
    bench.session.send(Op::Accept(Selection::All));
    assert_eq!(bench.reviewed().await, ("accept", 3, vec![]));
    assert_eq!(bench.buffer(&uri), "zero\n1\ntwo\nthree\n4\nfive\nsix\n7\n");
    assert_eq!(bench.disk("b.txt"), "new\n");
    bench.run("Are you there?").await;
    assert_eq!(bench.session.messages().len(), 10);
    // Changes published before and after the restart can be taken back.
    bench.session.send(Op::Undo(Selection::All));
    assert_eq!(bench.reviewed().await, ("undo", 3, vec![]));
    assert_eq!(bench.buffer(&uri), format!("zero\n{typed}"));
    assert!(!bench.path("b.txt").exists());
}

#[tokio::test]
async fn the_model_is_told_which_files_it_read_are_others_now() {
    let read = |path: &str| calls("read_file", json!({ "path": path }));
    let mut bench =
        start_kept([read("a.txt"), read("b.txt"), read("c.txt"), edit("one", "1"), says("ok")]);
    bench.file("a.txt", TEXT).file("b.txt", "b\n").file("c.txt", "c\n");
    bench.run("go").await;
    let dir = bench.dies().await;
    std::fs::write(dir.path().join("w/b.txt"), "other\n").unwrap();
    std::fs::remove_file(dir.path().join("w/c.txt")).unwrap();
    let mut bench = resume(dir, [says("I see."), says("Again.")]);
    bench.run("go on").await;
    bench.run("and on").await;
    let requests = bench.model.requests();
    let news = last_message(&requests[0]);
    assert!(news.contains("b.txt") && news.contains("c.txt"), "{news}");
    assert!(!news.contains("a.txt,") && news.contains("Read them again"), "{news}");
    assert!(!last_message(&requests[1]).contains("b.txt"), "told once");
}

#[tokio::test]
async fn files_of_a_turn_that_was_taken_back_are_not_told_as_changed() {
    let write = calls("write_file", json!({"path": "b.txt", "content": "made\n"}));
    let mut bench = start_kept([says("Hello."), write, says("Made.")]);
    bench.run("hello").await;
    bench.run("make it").await;
    bench.session.send(Op::Rewind(2));
    bench.reviewed().await;
    let mut bench = resume(bench.dies().await, [says("ok").expect_no_text("b.txt")]);
    assert_eq!(bench.run("go on").await, ropewalk_protocol::StopReason::EndTurn);
}

#[tokio::test]
async fn accepted_hunks_that_died_with_the_editor_are_pending_again() {
    let mut bench = start_kept([edit("one", "1"), edit("seven", "7"), says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("go").await;
    bench.session.send(Op::Accept(Selection::All));
    bench.reviewed().await;
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1").replace("seven", "7"));
    // Never saved: with the editor, the text is gone.
    let mut bench = resume(bench.dies().await, []);
    let uri = bench.open("a.txt", TEXT);
    assert_eq!(bench.session.hunks().len(), 2);
    bench.session.send(Op::Accept(Selection::All));
    assert_eq!(bench.reviewed().await, ("accept", 2, vec![]));
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1").replace("seven", "7"));
}

#[tokio::test]
async fn a_hunk_that_died_beside_unsaved_words_of_the_users_is_pending_again() {
    let mut bench = start_kept([edit("one", "ONE"), says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.types(&uri, &TEXT.replace("one", "my one"));
    bench.run("go").await;
    bench.session.send(Op::Accept(Selection::All));
    bench.reviewed().await;
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "my ONE"));
    let bench = resume(bench.dies().await, []);
    let hunks = bench.session.hunks();
    assert_eq!(hunks.iter().map(|hunk| hunk.new.as_str()).collect::<Vec<_>>(), ["ONE\n"]);
}

#[tokio::test]
async fn several_publishes_side_by_side_are_taken_back_after_a_restart() {
    for between in ["two", "", "}"] {
        let text = format!("one\n{between}\nthree\n{between}\nfive\nsix\n");
        let auto = Op::Mode(Mode::Auto);
        let mut bench =
            start_kept([edit("one", "1"), edit("three", "3"), edit("five", "5"), says("ok")]);
        bench.session.send(auto);
        bench.file("a.txt", &text);
        let uri = bench.open("a.txt", &text);
        bench.run("go").await;
        let made = bench.buffer(&uri);
        assert_eq!(made, text.replace("one", "1").replace("three", "3").replace("five", "5"));
        let mut bench = resume(bench.dies().await, []);
        let uri = bench.open("a.txt", &made);
        bench.session.send(Op::Undo(Selection::All));
        let undone = bench.reviewed().await;
        assert_eq!(bench.buffer(&uri), text, "{between:?}");
        assert_eq!(undone, ("undo", 3, vec![]), "{between:?}");
    }
}

#[tokio::test]
async fn accepted_hunks_that_a_hot_exit_brings_back_are_not_made_twice() {
    let mut bench = start_kept([edit("one", "1"), says("ok")]);
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    bench.run("go").await;
    bench.session.send(Op::Accept(Selection::All));
    bench.reviewed().await;
    let mut bench = resume(bench.dies().await, []);
    let restored = TEXT.replace("one", "1");
    let uri = bench.open("a.txt", &restored);
    assert_eq!(bench.session.hunks().len(), 0);
    bench.session.send(Op::Undo(Selection::All));
    assert_eq!(bench.reviewed().await, ("undo", 1, vec![]));
    assert_eq!(bench.buffer(&uri), TEXT);
}

#[tokio::test]
async fn rejections_and_waiting_words_are_not_lost() {
    let mut bench =
        start_kept([edit("one", "1"), says("ok"), says("slow").gate(ReplyPlace::End, "never")]);
    bench.file("a.txt", TEXT);
    bench.run("go").await;
    bench.session.prompt(Prompt::new("slowly"));
    bench.until(|event| matches!(event, Event::TextDelta { .. }).then_some(())).await;
    bench.session.send(Op::Steer(vec![Content::text("as I said")]));
    bench.session.prompt(Prompt::new("then this"));
    bench.session.send(Op::Reject(Selection::All, Some("one is better".into())));
    bench.reviewed().await;
    let dir = bench.dies().await;
    let (_, past) = sessions(&dir).open("s").unwrap();
    assert_eq!(past.waiting, ["as I said", "then this"]);
    let mut bench = resume(dir, [says("I see.")]);
    bench.run("why?").await;
    let said = last_message(&bench.model.requests()[0]);
    assert!(said.contains("rejected") && said.contains("one is better"), "{said}");
    assert_eq!(bench.session.turns().last().unwrap().turn, 3);
}

#[tokio::test]
async fn a_mode_that_was_stricter_stays_and_a_looser_one_does_not() {
    for (chosen, then) in [(Mode::Plan, Mode::Plan), (Mode::Auto, Mode::Review)] {
        let mut bench = start_kept([says("ok")]);
        bench.session.send(Op::Mode(chosen));
        bench.run("go").await;
        let bench = resume(bench.dies().await, []);
        assert_eq!(bench.session.mode(), then);
    }
}

#[tokio::test]
async fn what_was_allowed_for_the_session_stays_so_and_a_cut_turn_is_closed_once() {
    let mut bench = start_kept([
        calls("read_file", json!({"path": ".env"})),
        says("ok"),
        says("cut").gate(ReplyPlace::End, "never"),
    ]);
    bench.file(".env", "A=1\n");
    bench.session.prompt(Prompt::new("go"));
    let id = bench.approval().await;
    bench.approve(id, Verdict::Session);
    bench.end().await;
    bench.session.prompt(Prompt::new("slowly"));
    bench.until(|event| matches!(event, Event::TextDelta { .. }).then_some(())).await;
    // As it stands while the turn runs: after a kill there is nothing more.
    let journal = bench.dir.path().join("state/sessions/s.jsonl");
    let running = std::fs::read(&journal).unwrap();
    let mut dir = bench.dies().await;
    std::fs::write(&journal, running).unwrap();
    for _ in 0..2 {
        dir = resume(dir, []).dies().await;
    }
    let mut bench = resume(dir, [calls("read_file", json!({"path": ".env"})), says("ok")]);
    bench.run("again").await;
    assert_eq!(bench.results().last().unwrap(), &("     1\tA=1".to_owned(), false));
    let said = serde_json::to_string(&bench.session.messages()).unwrap();
    assert_eq!(said.matches("Ropewalk ended while this turn ran").count(), 1, "{said}");
}

#[tokio::test]
async fn a_name_is_kept() {
    let mut bench = start_kept([says("ok")]);
    bench.run("go").await;
    bench.session.send(Op::Rename("Naïve names".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    let bench = resume(bench.dies().await, []);
    assert_eq!(bench.session.title(), "Naïve names");
}

/// An id in which a gateway keeps a signature.
const SIGNED: &str = "call_1__thought__Ab/+Ab/+Ab/+Ab/+Ab/+Ab/+Ab/+==";

#[tokio::test]
async fn ids_go_back_to_their_server_when_the_session_goes_on_and_to_no_other() {
    let signed = || reply().call_with_id(SIGNED, "list_dir", json!({}));
    let sent = |bench: &Bench| bench.model.recorded().pop().unwrap().raw;
    let mut bench = start_kept([signed(), says("ok")]);
    bench.run("go").await;
    assert_eq!(sent(&bench).matches(SIGNED).count(), 2, "call and result");
    let mut bench = resume(bench.dies().await, [says("ok").knowing_id(SIGNED)]);
    bench.run("go on").await;
    assert_eq!(sent(&bench).matches(SIGNED).count(), 2, "after a restart too");
    for protocol in [Protocol::Chat, Protocol::Responses] {
        let resumed = resume_over(protocol, bench.dies().await, [says("ok")]);
        bench = resumed;
        bench.run("go on").await;
        assert_eq!(sent(&bench).matches("thought").count(), 2, "{}", sent(&bench));
        assert!(!sent(&bench).contains(SIGNED), "the scripted model takes 40 plain characters");
    }
}

#[tokio::test]
async fn commands_in_the_background_are_told_as_ended_after_a_restart() {
    let start = |command: &str| calls("bash", json!({"command": command, "background": true}));
    let mut bench = start_kept([start("sleep 1000 # first"), start("exit 3"), says("ok")]);
    bench.run("go").await;
    let is_second = |event: &Event| match event {
        Event::Notice { message, .. } => message.contains("number 2 has ended"),
        _ => false,
    };
    while !bench.seen.iter().any(is_second) {
        bench.next().await;
    }
    let mut bench = resume(bench.dies().await, [says("I see."), says("Again.")]);
    bench.run("on").await;
    bench.run("and on").await;
    let requests = bench.model.requests();
    let news = last_message(&requests[0]);
    assert!(news.contains("number 1 ") && news.contains("sleep 1000 # first"), "{news}");
    assert_eq!(news.matches("It ended with Ropewalk").count(), 1, "{news}");
    assert!(!last_message(&requests[1]).contains("Ropewalk"), "told once");
    let mut bench = resume(bench.dies().await, [says("Yes.")]);
    bench.run("once more").await;
    assert!(!last_message(&bench.model.requests()[0]).contains("It ended with"));
}
