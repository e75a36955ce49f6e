//! Subagents beside other things: the user who speaks on, other work on the same files, a budget, another provider.

use super::{edits, of, tasks, told};
use crate::bench::*;
use ropewalk_model::Protocol;
use ropewalk_protocol::{Content, Event, Mode, Op, Prompt, StopReason, ThreadState};
use serde_json::json;

fn writes(path: &str, content: &str) -> ScriptedReply {
    calls("write_file", json!({"path": path, "content": content}))
}

#[tokio::test]
async fn words_of_the_user_are_for_who_has_started_them() {
    let mut bench = start([
        tasks(&[("explore", "look", "Look around")]),
        of("Look around", calls("list_dir", json!({}))).gate(ReplyPlace::Answer, "looking"),
        of("Look around", says("Seen.")).expect_no_text("in blue"),
        says("Done.").expect_text("Seen.").expect_text("in blue"),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("looking").await;
    bench.session.send(Op::Steer(vec![Content::text("in blue")]));
    bench.session.send(Op::Rename("taken in order".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    bench.model.open_gate("looking");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn two_that_make_one_file_are_a_conflict_that_is_told() {
    let mut bench = start([
        tasks(&[("code", "first", "Make it A"), ("code", "second", "Make it B")]),
        of("Make it A", writes("made.txt", "A\n")),
        of("Make it A", says("A done.")).gate(ReplyPlace::Answer, "a"),
        of("Make it B", writes("made.txt", "B\n")),
        of("Make it B", says("B done.")).gate(ReplyPlace::Answer, "b"),
        says("Well."),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("a").await;
    bench.model.wait_until_reached("b").await;
    bench.model.open_gate("b");
    bench.model.open_gate("a");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let told = told(&bench);
    assert!(told[0].contains("(changed: made.txt)"), "{told:#?}");
    assert!(!told[1].contains("(changed: made.txt)") && told[1].contains("made.txt"), "{told:#?}");
    let hunks = bench.session.hunks();
    assert_eq!(hunks.iter().map(|hunk| &*hunk.new).collect::<Vec<_>>(), ["A\n"]);
}

#[tokio::test]
async fn one_deletes_what_another_changes_and_neither_is_lost_unsaid() {
    let delete = calls("delete_file", json!({"path": "a.txt"}));
    for is_first in [true, false] {
        let (one, two) =
            (of("Take it away", delete.clone()), of("Make it two", edits("one", "two")));
        let pair = [("code", "away", "Take it away"), ("code", "two", "Make it two")];
        let pair = if is_first { pair } else { [pair[1], pair[0]] };
        let mut bench = start([
            tasks(&pair),
            one,
            of("Take it away", says("Gone.")).gate(ReplyPlace::Answer, "gone"),
            two,
            of("Make it two", says("Two.")).gate(ReplyPlace::Answer, "two"),
            says("Well."),
        ]);
        bench.file("a.txt", "one\n");
        bench.session.prompt(Prompt::new("go"));
        bench.model.wait_until_reached("gone").await;
        bench.model.wait_until_reached("two").await;
        bench.model.open_gate("gone");
        bench.model.open_gate("two");
        assert_eq!(bench.end().await.1, StopReason::EndTurn);
        let ended = bench.seen.iter().filter_map(|event| match event {
            Event::Thread { state: ThreadState::Ended, changed, conflicts, .. } => {
                Some((changed.clone(), conflicts.clone()))
            }
            _ => None,
        });
        let ended: Vec<_> = ended.collect();
        let file = || vec!["a.txt".to_owned()];
        assert!(ended.contains(&(file(), vec![])), "{ended:?}");
        assert!(ended.contains(&(vec![], file())), "{ended:?} {:#?}", told(&bench));
        assert!(told(&bench)[1].contains("a.txt"), "{:#?}", told(&bench));
        assert_eq!(bench.session.hunks().len(), 1);
    }
}

#[tokio::test]
async fn the_budget_of_a_turn_ends_all_that_are_at_work_with_their_summaries() {
    let names = ["one", "two", "three"];
    let prompts = names.map(|name| format!("Look into number {name}"));
    let all: Vec<_> =
        prompts.iter().zip(names).map(|(prompt, name)| ("explore", name, &**prompt)).collect();
    let own = prompts.iter().flat_map(|prompt| {
        let look =
            of(prompt, calls("list_dir", json!({}))).gate(ReplyPlace::Answer, prompt.as_str());
        let sums_up = of(prompt, says(&format!("So far of {prompt}.")))
            .expect_text("You have reached your limit");
        [look, sums_up]
    });
    // A reply takes 110: the one that starts them, and the first of any.
    let mut bench = start_with([tasks(&all)].into_iter().chain(own), |settings| {
        settings.limits.turn_tokens = 220;
    });
    bench.session.prompt(Prompt::new("go"));
    for prompt in &prompts {
        bench.model.wait_until_reached(prompt).await;
    }
    prompts.iter().for_each(|prompt| bench.model.open_gate(prompt));
    assert_eq!(bench.end().await.1, StopReason::Budget);
    for (told, prompt) in told(&bench).iter().zip(&prompts) {
        assert!(told.starts_with(&format!("So far of {prompt}.")), "{told}");
        assert!(told.ends_with("(stopped, because the budget is used up)"), "{told}");
    }
}

#[tokio::test]
async fn a_mode_that_changes_while_one_works_counts_at_once() {
    let mut bench = start([
        tasks(&[("code", "two", "Make it two")]),
        of("Make it two", edits("one", "two")).gate(ReplyPlace::Answer, "begun"),
        of("Make it two", says("Refused.")).expect_text("plan"),
        says("Well."),
    ]);
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("begun").await;
    bench.session.send(Op::Mode(Mode::Plan));
    bench.until(|event| matches!(event, Event::ModeChanged { .. }).then_some(())).await;
    bench.model.open_gate("begun");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert!(told(&bench)[0].starts_with("Refused."), "{:#?}", told(&bench));
    assert!(bench.session.hunks().is_empty());
}

#[tokio::test]
async fn what_it_did_is_taken_back_with_its_turn_and_another_provider_goes_on() {
    for protocol in Protocol::ALL {
        let mut bench = start_kept([
            says("Hello."),
            tasks(&[("code", "two", "Make it two")]),
            of("Make it two", edits("one", "two")),
            of("Make it two", says("Two.")),
            says("Done."),
        ]);
        bench.file("a.txt", "one\n");
        assert_eq!(bench.run("hello").await, StopReason::EndTurn);
        assert_eq!(bench.run("go").await, StopReason::EndTurn);
        assert_eq!(bench.session.hunks().len(), 1);
        let after = [says("Still two."), says("One.").conversation("rewound")];
        let mut bench = resume_over(*protocol, bench.dies().await, after);
        assert_eq!(bench.run("and?").await, StopReason::EndTurn);
        assert_eq!(bench.session.hunks().len(), 1);
        bench.session.send(Op::Rewind(2));
        bench.until(|event| matches!(event, Event::Rewound { .. }).then_some(())).await;
        assert!(bench.session.hunks().is_empty());
        assert_eq!(bench.run("and now?").await, StopReason::EndTurn);
        let said = bench.model.recorded().pop().unwrap().said["messages"].to_string();
        assert!(said.contains("Hello.") && !said.contains("Make it two"), "{said}");
    }
}
