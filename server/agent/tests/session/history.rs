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
    /// The model's words; true if its calls are run.
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
        let mut history = History::default();
        let mut checkers = [(); 2].map(|()| Checker::new(Protocol::Anthropic));
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
                    for block in &blocks {
                        if let Block::ToolUse { id, .. } = block {
                            checkers[now].gave_id(id);
                        }
                    }
                    let said = history.push_assistant(None, blocks, models[now].name());
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
                let faults = checkers[now].check(&changes.to_string(), &body);
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
        history.push_assistant(None, vec![Block::text("y".repeat(500))], "anthropic/scripted");
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

/// The ids of calls and results in a request, in order.
fn ids(history: &History) -> Vec<String> {
    let (_, pieces) = history.request().unwrap();
    let messages: Vec<serde_json::Value> =
        pieces.iter().map(|piece| serde_json::from_str(piece).unwrap()).collect();
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap().clone());
    let ids = blocks.filter_map(|block| {
        let id = block["id"].as_str().or(block["tool_use_id"].as_str())?;
        Some(id.to_owned())
    });
    ids.collect()
}

#[test]
fn ids_go_back_unchanged_to_who_gave_them_and_are_made_anew_for_others() {
    let call = |id: &str| Block::ToolUse {
        id: id.to_owned(),
        name: "bash".into(),
        input: ToolInput::Json(json!({})),
    };
    // A gateway keeps a signature in it; another counts anew in each reply.
    let long = format!("call_1__thought__{}==", "Ab/+".repeat(2_000));
    let theirs = [long.as_str(), "toolu 1", "é😀", "call_0", "call_0", "", "toolu_2"];
    let [one, other] = [model("a"), model("b")];
    let mut history = History::default();
    history.speak_to(one.clone());
    for id in theirs {
        history.push_user(vec![Block::text("go")]);
        history.push_assistant(None, vec![call(id)], one.name());
        history.close(Some("done"));
    }
    let back = ids(&history);
    for (at, id) in theirs.iter().enumerate() {
        assert_eq!(back[2 * at], back[2 * at + 1], "a result has the id of its call");
        // One that comes again, or none, can only be replaced.
        assert_eq!(back[2 * at] == *id, ![4, 5].contains(&at), "{id}: {back:?}");
    }
    history.speak_to(other.clone());
    let anew = ids(&history);
    let mut unique = std::collections::HashSet::new();
    for (at, id) in anew.iter().enumerate() {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        assert!((1..=40).contains(&id.len()) && id.chars().all(is_plain), "{id}");
        assert_eq!(unique.insert(id.clone()), at % 2 == 0, "{anew:?}");
    }
    // The other model's ids are its own, and the first gets its own again.
    history.push_assistant(None, vec![call("toolu 1"), call("x y")], other.name());
    history.close(Some("done"));
    let both = ids(&history);
    assert_eq!(both[..14], anew);
    assert_eq!(both[15], "x y");
    assert!(!anew.contains(&both[14]), "{both:?}");
    history.speak_to(one);
    assert_eq!(ids(&history)[..14], back);
    assert_eq!(ids(&history)[15], "x_y");
}
