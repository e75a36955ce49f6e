//! Approvals: a call waits for the user as long as it takes, and does what they say.

use crate::bench::*;
use ropewalk_protocol::{Event, Mode, Op, Prompt, Resolution, StopReason, Verdict};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[tokio::test]
async fn it_waits_for_an_hour_and_then_runs() {
    let mut bench = start([bash("echo ran"), says("ok").expect_text("ran")]);
    bench.session.prompt(Prompt::new("go"));
    let id = bench.approval().await;
    tokio::time::pause();
    for _ in 0..60 {
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(bench.events.try_recv().is_err(), "nothing happens without a word of the user");
    }
    tokio::time::resume();
    assert_eq!(bench.waiting(), [id]);
    bench.approve(id, Verdict::Once);
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn a_refusal_brings_the_users_words() {
    for (words, said) in [
        (None, "Error: The user refused this call"),
        (Some("use make".to_owned()), "Error: The user refused this call: use make"),
    ] {
        let mut bench = start([bash("touch made"), says("ok").expect_text(said)]);
        bench.session.prompt(Prompt::new("go"));
        let id = bench.approval().await;
        bench.approve(id, Verdict::Refuse(words));
        assert_eq!(bench.end().await.1, StopReason::EndTurn);
        assert!(!bench.path("made").exists());
    }
}

#[tokio::test]
async fn a_late_answer_changes_nothing_and_is_said_to_be_late() {
    let mut bench = start([bash("echo x >> log"), says("ok")]);
    bench.session.prompt(Prompt::new("go"));
    let id = bench.approval().await;
    bench.approve(id, Verdict::Once);
    bench.approve(id, Verdict::Refuse(None));
    bench.end().await;
    bench.approve(id, Verdict::Session);
    bench.session.send(Op::Approve(None, Verdict::Session));
    for _ in 0..2 {
        bench
            .until(|event| {
                matches!(event, Event::Notice { message, .. } if message.contains("Nothing waits"))
                    .then_some(())
            })
            .await;
    }
    assert_eq!(bench.disk("log"), "x\n");
}

#[tokio::test]
async fn for_the_session_means_calls_of_this_kind() {
    let mut bench =
        start([bash("git status"), bash("git status -s"), bash("touch other"), says("ok")]);
    bench.session.prompt(Prompt::new("go"));
    let id = bench.until(|event| match event {
        Event::ApprovalRequested { approval, .. } => Some((approval.id, approval.rule.clone())),
        _ => None,
    });
    let (id, rule) = id.await;
    assert_eq!(rule.as_deref(), Some("bash(git status *)"));
    bench.approve(id, Verdict::Session);
    let id = bench.approval().await;
    assert!(
        bench.seen.iter().any(
            |e| matches!(e, Event::ApprovalRequested { approval, .. } if approval.detail == "touch other")
        )
    );
    bench.approve(id, Verdict::Refuse(None));
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn what_was_allowed_for_the_session_outlives_other_settings() {
    let mut bench = start([bash("ls -l"), says("ok"), bash("ls -a"), bash("rmdir x"), says("ok")]);
    bench.session.prompt(Prompt::new("go"));
    let id = bench.approval().await;
    bench.approve(id, Verdict::Session);
    bench.end().await;
    let new = settings(client(&bench.model));
    bench.session.configure(new);
    bench.session.prompt(Prompt::new("again"));
    let id = bench.approval().await;
    let asked = bench.seen.iter().filter(|e| matches!(e, Event::ApprovalRequested { .. })).count();
    assert_eq!(asked, 2, "ls was not asked for again, rmdir was");
    bench.approve(id, Verdict::Refuse(None));
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn a_file_with_secrets_is_allowed_for_the_session_by_itself() {
    let env = || calls("read_file", json!({"path": ".env"}));
    let mut bench =
        start([env(), env(), calls("read_file", json!({"path": "key.pem"})), says("ok")]);
    bench.file(".env", "A=1\n").file("key.pem", "B\n");
    bench.session.prompt(Prompt::new("go"));
    let (id, rule) = bench
        .until(|event| match event {
            Event::ApprovalRequested { approval, .. } => Some((approval.id, approval.rule.clone())),
            _ => None,
        })
        .await;
    assert_eq!(rule.as_deref(), Some("read_file(.env)"));
    bench.approve(id, Verdict::Session);
    let id = bench.approval().await;
    bench.approve(id, Verdict::Refuse(None));
    bench.end().await;
    let failed: Vec<bool> = bench.results().into_iter().map(|(_, is_error)| is_error).collect();
    assert_eq!(failed, [false, false, true]);
}

#[tokio::test]
async fn two_may_wait_and_are_answered_in_any_order_or_oldest_first() {
    let two = || {
        calls("read_file", json!({"path": ".env"})).call("read_file", json!({"path": "key.pem"}))
    };
    for oldest_first in [false, true] {
        let mut bench = start([two(), says("ok")]);
        bench.file(".env", "A=1\n").file("key.pem", "B\n");
        bench.session.prompt(Prompt::new("go"));
        // Calls that run side by side may ask in any order.
        let mut asked = Vec::new();
        for _ in 0..2 {
            let one = bench.until(|event| match event {
                Event::ApprovalRequested { approval, .. } => {
                    Some((approval.id, approval.detail.contains(".env")))
                }
                _ => None,
            });
            asked.push(one.await);
        }
        let [(first, is_env), (second, _)] = asked[..] else { panic!("{asked:?}") };
        assert_eq!(bench.waiting(), [first, second]);
        if oldest_first {
            bench.session.send(Op::Approve(None, Verdict::Refuse(Some("first".into()))));
            bench.session.send(Op::Approve(None, Verdict::Once));
        } else {
            bench.approve(second, Verdict::Once);
            bench.approve(first, Verdict::Refuse(Some("first".into())));
        }
        bench.end().await;
        let mut results = bench.results();
        assert_eq!(results[0].1, is_env, "{results:?}");
        results.sort_by_key(|(_, failed)| !failed);
        assert!(results[0].0.ends_with("refused this call: first"), "{results:?}");
        assert!(results[1].0.contains(if is_env { 'B' } else { 'A' }), "{results:?}");
    }
}

#[tokio::test]
async fn it_names_what_a_command_will_not_see() {
    let mut bench = start([
        calls("write_file", json!({"path": "pending.txt", "content": "x"})),
        bash("true"),
        says("ok"),
    ]);
    bench.file("dirty.txt", "saved\n");
    bench.open("dirty.txt", "typed\n");
    bench.session.prompt(Prompt::new("go"));
    let (id, unseen) = bench
        .until(|event| match event {
            Event::ApprovalRequested { approval, .. } => {
                Some((approval.id, approval.unseen.clone()))
            }
            _ => None,
        })
        .await;
    assert_eq!(unseen, ["dirty.txt", "pending.txt"]);
    bench.approve(id, Verdict::Once);
    bench.end().await;
}

#[tokio::test]
async fn after_saving_it_runs_on_what_was_saved() {
    let mut bench = start([bash("cat dirty.txt"), says("ok").expect_text("typed")]);
    bench.file("dirty.txt", "saved\n");
    bench.open("dirty.txt", "typed\n");
    // A buffer without a file can't be saved to one, and is not waited for.
    bench.workspace.open("untitled:Untitled-1", "text", 1, "scratch");
    bench.session.prompt(Prompt::new("go"));
    let id = bench.approval().await;
    bench.approve(id, Verdict::AfterSave);
    bench
        .until(|event| {
            matches!(event, Event::ApprovalResolved { how: Resolution::WaitingForSave, .. })
                .then_some(())
        })
        .await;
    // Another file is saved first: that is not enough.
    bench.session.saved();
    bench.file("dirty.txt", "typed\n");
    bench.session.saved();
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn with_nothing_to_save_it_runs_at_once() {
    let mut bench = start([bash("echo ran"), says("ok").expect_text("ran")]);
    bench.session.prompt(Prompt::new("go"));
    let id = bench.approval().await;
    bench.approve(id, Verdict::AfterSave);
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn a_wait_for_a_save_can_be_interrupted() {
    let mut bench = start([bash("true"), says("ok")]);
    bench.file("dirty.txt", "saved\n");
    bench.open("dirty.txt", "typed\n");
    bench.session.prompt(Prompt::new("go"));
    let id = bench.approval().await;
    bench.approve(id, Verdict::AfterSave);
    bench.until(|event| matches!(event, Event::ApprovalResolved { .. }).then_some(())).await;
    bench.session.send(Op::Interrupt(None));
    assert_eq!(bench.end().await.1, StopReason::Interrupted);
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn plan_mode_chosen_while_it_waits_drops_what_it_writes() {
    let replies = [bash("touch made"), says("ok").expect_text("began in mode plan")];
    let mut bench = start_on_a_copy(replies, |settings| settings.rules.allow.clear());
    bench.session.prompt(Prompt::new("go"));
    let id = bench.approval().await;
    bench.session.send(Op::Mode(Mode::Plan));
    bench.approve(id, Verdict::Once);
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert!(!bench.path("made").exists());
}

#[tokio::test]
async fn always_keeps_the_rule_and_holds_at_once() {
    for works in [true, false] {
        let kept: Arc<Mutex<Vec<String>>> = Arc::default();
        let keeping = kept.clone();
        let mut bench = start_with(
            [bash("echo one"), bash("echo two"), says("ok").expect_text("two")],
            |settings| {
                settings.always = Some(Arc::new(move |rule| {
                    keeping.lock().unwrap().push(rule.to_string());
                    if works { Ok(()) } else { Err("the disk is full".to_owned()) }
                }));
            },
        );
        bench.session.prompt(Prompt::new("go"));
        let (id, words, always) = bench
            .until(|event| match event {
                Event::ApprovalRequested { approval, .. } => {
                    Some((approval.id, approval.rule_words.clone(), approval.always))
                }
                _ => None,
            })
            .await;
        assert_eq!((words.as_deref(), always), (Some("`echo` with any arguments"), true));
        bench.approve(id, Verdict::Always);
        assert_eq!(bench.end().await.1, StopReason::EndTurn);
        assert_eq!(*kept.lock().unwrap(), ["bash(echo *)"]);
        let said = bench.seen.iter().any(|event| {
            matches!(event, Event::Notice { message, .. } if message.contains("the disk is full"))
        });
        assert_eq!(said, !works, "what could not be kept is said");
    }
}

#[tokio::test]
async fn an_ask_rule_is_answered_for_this_very_call() {
    let mut bench = start_with(
        [bash("echo one"), bash("echo one"), bash("echo two"), says("ok").expect_text("refused")],
        |settings| {
            settings.rules.ask = vec!["bash(echo *)".parse().unwrap()];
            settings.rules.allow = vec!["bash(*)".parse().unwrap()];
            settings.always = Some(Arc::new(|_| panic!("it can't be kept")));
        },
    );
    bench.session.prompt(Prompt::new("go"));
    let first = bench.approval().await;
    // Always is no choice here, and counts for the session.
    bench.approve(first, Verdict::Always);
    let second = bench.approval().await;
    bench.approve(second, Verdict::Refuse(None));
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let asked = bench.seen.iter().filter_map(|event| match event {
        Event::ApprovalRequested { approval, .. } => {
            Some((approval.rule.clone().unwrap(), approval.always))
        }
        _ => None,
    });
    let wanted = [("bash(echo one)".to_owned(), false), ("bash(echo two)".to_owned(), false)];
    assert_eq!(asked.collect::<Vec<_>>(), wanted);
}

#[tokio::test]
async fn what_was_read_of_a_secret_is_marked() {
    let read = || {
        calls("read_file", json!({"path": ".env"}))
            .call("read_file", json!({"path": "key.pem"}))
            .call("read_file", json!({"path": "a.txt"}))
    };
    let mut bench = start([read(), says("ok")]);
    bench.file(".env", "A=1\n").file("key.pem", "B\n").file("a.txt", "c\n");
    bench.session.prompt(Prompt::new("go"));
    // The calls run beside each other: either may ask first.
    for id in [bench.approval().await, bench.approval().await] {
        let is_env = bench.seen.iter().any(|event| match event {
            Event::ApprovalRequested { approval, .. } => {
                approval.id == id && approval.detail == ".env"
            }
            _ => false,
        });
        bench.approve(id, if is_env { Verdict::Once } else { Verdict::Refuse(None) });
    }
    bench.end().await;
    let mut marks: Vec<_> = bench
        .seen
        .iter()
        .filter_map(|event| match event {
            Event::ToolResult { secret, is_error, .. } => Some((secret.clone(), *is_error)),
            _ => None,
        })
        .collect();
    marks.sort();
    assert_eq!(marks, [(None, false), (None, true), (Some(".env".to_owned()), false)]);
}
