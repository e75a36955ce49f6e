//! Thinking as it is configured: asked for over each protocol, the same from step to step, and not where nobody
//! would understand.

use crate::world::World;
use ropewalk_model::Protocol;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::{Value, json};

/// The bodies of a turn of two steps.
fn bodies(protocol: Protocol, flags: &[&str]) -> Vec<Value> {
    let look = ScriptedReply::new().thinking("I look.", "sealed").call("list_dir", json!({}));
    // There it is the server's business what becomes of thoughts.
    let look = if protocol == Protocol::Chat { look.forget_thinking() } else { look };
    let replies = [look, ScriptedReply::new().text("Done.")];
    let model = ScriptedModel::start_over(protocol, replies).unwrap();
    let world = World::with(&model);
    let mut args =
        vec!["run".to_owned(), format!("-cprovider.scripted.protocol={}", protocol.name())];
    args.extend(flags.iter().map(|flag| format!("-c{}", flag.replace("URL", &model.base_url()))));
    args.push("go".to_owned());
    world.run(&args.iter().map(String::as_str).collect::<Vec<_>>()).ended(0);
    model.finish().unwrap();
    model.recorded().into_iter().map(|request| request.body).collect()
}

#[test]
fn each_protocol_asks_in_its_own_words_and_the_same_at_each_step() {
    let high = &["provider.scripted.thinking=high"][..];
    let own =
        &["provider.scripted.thinking=low", "provider.scripted.models.scripted.thinking=high"];
    let off = &["provider.scripted.thinking=low", "provider.scripted.models.scripted.thinking=off"];
    let groq = &[
        "model=groq/m",
        "provider.groq.base_url=URL",
        "provider.groq.thinking=high",
        "provider.groq.api_key_env=ACME_ENTRY",
    ];
    let budget = json!({ "type": "enabled", "budget_tokens": 24_000 });
    let effort = json!({ "effort": "high", "summary": "auto" });
    for (protocol, flags, member, wish) in [
        (Protocol::Anthropic, high, "thinking", budget.clone()),
        (Protocol::Anthropic, own, "thinking", budget),
        (Protocol::Anthropic, off, "thinking", Value::Null),
        (Protocol::Responses, high, "reasoning", effort),
        (Protocol::Chat, groq, "reasoning_effort", json!("high")),
        (Protocol::Chat, high, "reasoning_effort", Value::Null),
    ] {
        let bodies = bodies(protocol, flags);
        let wishes: Vec<_> = bodies.iter().map(|body| &body[member]).collect();
        assert_eq!(wishes, [&wish, &wish], "{protocol:?} {flags:?}");
    }
}

#[test]
fn who_is_not_asked_is_said() {
    let world = World::new("http://127.0.0.1:9");
    let chat = ["-cprovider.scripted.protocol=chat", "-cprovider.scripted.thinking=high", "doctor"];
    let ran = world.run(&chat).ended(1);
    assert!(
        ran.out.contains(
            "scripted/scripted is not asked to think, although `thinking = \"high\"` says so"
        ),
        "{ran:?}"
    );
    let ran = world.run(&chat[1..]).ended(1);
    assert!(!ran.out.contains("asked to think"), "{ran:?}");
}
