//! Rewind: a turn's words and edits are taken back together.

use crate::bench::*;
use ropewalk_protocol::{Event, Mode, Op, Prompt, Selection};
use serde_json::json;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

async fn rewound(bench: &mut Bench, turn: u64) -> (String, usize, Vec<String>) {
    bench.session.send(Op::Rewind(turn));
    let prompt = bench.until(|event| match event {
        Event::Rewound { prompt, .. } => Some(prompt.clone()),
        _ => None,
    });
    let prompt = prompt.await;
    let (action, done, failed) = bench.reviewed().await;
    assert_eq!(action, "rewind");
    (prompt, done, failed)
}

#[tokio::test]
async fn words_and_pending_edits_go_together() {
    let mut bench = start_kept([
        edit("one", "1"),
        says("First."),
        edit("1", "ONE"),
        edit("seven", "7"),
        says("Second."),
        says("Another way.").conversation("rewound"),
    ]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("first").await;
    let before = bench.session.hunks();
    bench.run("second").await;
    assert_eq!(bench.session.hunks().len(), 2);
    // The user types meanwhile: that stays.
    bench.types(&uri, &TEXT.replace("four", "4"));
    let (prompt, _, failed) = rewound(&mut bench, 2).await;
    assert_eq!((prompt.as_str(), failed), ("second", vec![]));
    let hunks = bench.session.hunks();
    assert_eq!(hunks.len(), 1);
    assert_eq!(
        (&hunks[0].new, hunks[0].id),
        (&before[0].new, before[0].id),
        "a joined hunk is the older one's"
    );
    assert_eq!(bench.buffer(&uri), TEXT.replace("four", "4"));
    assert_eq!(bench.session.turns().len(), 1);
    // The scripted model checks that this is a valid history; nothing of the second turn is in it.
    bench.run("another").await;
    let request = bench.model.requests().last().unwrap()["messages"].to_string();
    assert!(
        !request.contains("second") && !request.contains("Second") && !request.contains("ONE"),
        "{request}"
    );
    let bench = resume(bench.dies().await, []);
    bench.open("a.txt", &TEXT.replace("four", "4"));
    assert_eq!(bench.session.hunks().len(), 1, "and so it is after a restart");
    assert_eq!(bench.session.turns().iter().map(|t| t.turn).collect::<Vec<_>>(), [1, 3]);
}

#[tokio::test]
async fn published_edits_are_undone_and_older_decisions_stand() {
    let mut bench = start_kept([
        edit("one", "1"),
        edit("four", "4"),
        says("First."),
        edit("seven", "7"),
        calls("write_file", json!({"path": "b.txt", "content": "new\n"})),
        says("Second."),
    ]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("first").await;
    bench.run("second").await;
    let hunks = bench.session.hunks();
    bench.session.send(Op::Reject(Selection::Hunks(vec![hunks[1].id.0]), None));
    bench.reviewed().await;
    bench.session.send(Op::Accept(Selection::All));
    bench.reviewed().await;
    let first = TEXT.replace("one", "1");
    assert_eq!(bench.buffer(&uri), first.replace("seven", "7"));
    assert!(bench.path("b.txt").exists());
    let (_, done, failed) = rewound(&mut bench, 2).await;
    assert_eq!((done, failed), (2, vec![]));
    assert!(!bench.path("b.txt").exists());
    assert_eq!(bench.buffer(&uri), first);
    assert!(bench.session.hunks().is_empty(), "what was rejected or accepted since stays so");
}

#[tokio::test]
async fn a_running_turn_is_interrupted_first_and_the_next_prompt_waits() {
    let mut bench = start_with(
        [
            edit("one", "1"),
            says("slow").gate(ReplyPlace::End, "never"),
            says("Fresh.").conversation("rewound"),
        ],
        |settings| settings.mode = Mode::Auto,
    );
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.session.prompt(Prompt::new("go"));
    bench.until(|event| matches!(event, Event::TextDelta { .. }).then_some(())).await;
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1"));
    bench.session.send(Op::Rewind(1));
    bench.session.prompt(Prompt::new("afresh"));
    bench.until(|event| matches!(event, Event::Rewound { .. }).then_some(())).await;
    assert_eq!(bench.buffer(&uri), TEXT);
    let (turn, _, _) = bench.end().await;
    assert_eq!(turn, 2);
    let request = bench.model.requests().last().unwrap().clone();
    assert_eq!(request["messages"].as_array().unwrap().len(), 1, "{request}");
}

#[tokio::test]
async fn a_turn_that_is_not_there_is_said() {
    let mut bench = start_kept([says("ok")]);
    bench.run("go").await;
    bench.session.send(Op::Rewind(7));
    assert_eq!(bench.reviewed().await, ("rewind", 0, vec!["there is no turn 7".to_owned()]));
    assert_eq!(bench.session.turns().len(), 1);
}
