//! History is valid whatever is said in it, and costs a request nothing but references.

use crate::bench::client;
use proptest::prelude::*;
use ropewalk_agent::History;
use ropewalk_model::{Block, Http, Model, Protocol, Role, ServerConfig, ServerModel, ToolInput};
use ropewalk_testkit::model::ScriptedModel;
use ropewalk_testkit::model::check::Checker;
use serde_json::json;
use std::sync::Arc;

fn model(name: &str) -> Arc<dyn Model> {
    Arc::new(ServerModel::new(ServerConfig::new(Protocol::Anthropic, name), Http::new()).unwrap())
}

#[derive(Clone, Debug)]
enum Act {
    Prompt(String),
    /// What the model says, and whether its calls are run.
    Reply(Vec<Block>, bool),
    /// The turn ends, well or not.
    End(bool),
    Model(bool),
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,2}", " \n?", "[é \u{1F600}a-z\"\\\\]{0,8}", "x{140}"]
}

fn block() -> impl Strategy<Value = Block> {
    let input = prop_oneof![
        Just(ToolInput::Json(json!({"a": 1}))),
        Just(ToolInput::Json(json!([1]))),
        Just(ToolInput::Json(json!(null))),
        Just(ToolInput::Broken("{\"".into())),
    ];
    prop_oneof![
        word().prop_map(Block::text),
        (word(), prop_oneof![Just(String::new()), Just("sealed".to_owned())])
            .prop_map(|(thinking, signature)| Block::Thinking { thinking, signature }),
        word().prop_map(|data| Block::RedactedThinking { data }),
        (word(), word(), input).prop_map(|(id, name, input)| Block::ToolUse { id, name, input }),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => word().prop_map(Act::Prompt),
        4 => (proptest::collection::vec(block(), 0..5), any::<bool>()).prop_map(|(b, run)| Act::Reply(b, run)),
        1 => any::<bool>().prop_map(Act::End),
        1 => any::<bool>().prop_map(Act::Model),
    ]
}

proptest! {
    #[test]
    fn any_conversation_can_be_sent(acts in proptest::collection::vec(act(), 1..30)) {
        let models = [model("a"), model("b")];
        let (mut history, mut checker) = (History::default(), Checker::new(Protocol::Anthropic));
        let (mut now, mut changes) = (0, 0);
        history.speak_to(models[0].clone());
        history.push_user(vec![Block::text("begin")]);
        for act in acts {
            match act {
                Act::Prompt(text) => {
                    // As a turn does at its end and the next at its start.
                    history.close(None);
                    history.push_user(vec![Block::text(text)]);
                }
                Act::Reply(blocks, run) => {
                    history.close(None);
                    let said = history.push_assistant(blocks, models[now].name());
                    let ids: Vec<String> = said.iter().filter_map(|block| match block {
                        Block::ToolUse { id, .. } => Some(id.clone()),
                        _ => None,
                    }).collect();
                    if run && !ids.is_empty() {
                        history.push_user(ids.iter().map(|id| Block::result(id, "", false)).collect());
                    }
                }
                Act::End(well) => history.close((!well).then_some("interrupted by the user")),
                Act::Model(second) => {
                    changes += usize::from(now != usize::from(second));
                    now = usize::from(second);
                    history.speak_to(models[now].clone());
                }
            }
            // With calls that still run nothing is sent.
            let waits = history.messages().last().is_some_and(|last| {
                last.role == Role::Assistant && last.content.iter().any(|b| matches!(b, Block::ToolUse { .. }))
            });
            if !waits {
                let (_, pieces) = history.request().unwrap();
                let body = format!(
                    r#"{{"model":"m","max_tokens":1,"stream":true,"messages":[{}]}}"#,
                    pieces.join(",")
                );
                let faults = checker.check(&changes.to_string(), &body);
                prop_assert!(faults.is_empty(), "{faults:?}");
            }
        }
    }
}

#[test]
fn a_request_shares_the_pieces_and_a_new_message_serialises_itself_alone() {
    let server = ScriptedModel::start([]).unwrap();
    let mut history = History::default();
    history.speak_to(client(&server));
    for n in 0..1_000 {
        history.push_user(vec![Block::text(format!("{n} {}", "x".repeat(500)))]);
        history.push_assistant(vec![Block::text("y".repeat(500))], "anthropic/scripted");
    }
    let (_, before) = history.request().unwrap();
    history.push_user(vec![Block::text("more")]);
    let (_, after) = history.request().unwrap();
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().zip(&after).all(|(one, other)| Arc::ptr_eq(one, other)));
    // Settings with a fresh handle on the same model change nothing either.
    history.speak_to(client(&server));
    let (_, again) = history.request().unwrap();
    assert!(after.iter().zip(&again).all(|(one, other)| Arc::ptr_eq(one, other)));
}
