//! A team in a host: what a teammate was started with is its own after a restart, too.

use crate::front_end::FrontEnd;
use crate::world::World;
use ropewalk_host::Sessions;
use ropewalk_protocol::{Op, Prompt, Reply, SessionId, StopReason};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::time::Duration;

fn configure(world: &World, config: &str) {
    let folder = world.dir.path().join("home/.config/ropewalk");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), config).unwrap();
}

/// Waits until nobody has a session's journal any more, and gives the model that was chosen in it.
async fn choice_of(world: &World, session: &str) -> Option<String> {
    let sessions = Sessions::new(&world.dir.path().join("state"));
    let ending = async {
        loop {
            match sessions.open(session) {
                Ok((_, past)) => return past.model_choice().map(|choice| choice.name.clone()),
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ending).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_teammate_keeps_the_model_that_it_was_started_with() {
    let alice =
        json!({ "name": "alice", "role": "coder", "prompt": "Wait.", "model": "any/second" });
    let lead = vec![
        ScriptedReply::new().call("spawn_teammate", alice),
        ScriptedReply::new().text("She is there."),
    ];
    let says = |text: &str| ScriptedReply::new().text(text);
    let second = vec![
        says("Ready."),
        says("Edited.").expect_text("And now"),
        says("Here.").expect_text("Still"),
    ];
    let world = World::new([("first", lead), ("second", second)]);
    let config = "allow = [\"spawn_teammate(*)\"]\nteam.enabled = true\n";
    configure(&world, config);
    let mut front = FrontEnd::new(world.host());
    front.prompt("Have alice wait").await;
    let lead = front.session.clone();
    let alice: SessionId = front.member("alice").await;
    front.session = Some(alice.clone());
    assert_eq!(front.turn().await, StopReason::EndTurn);
    // The configuration is edited.
    configure(&world, &format!("{config}limits.steps = 7\n"));
    front.ask(Op::Prompt(Prompt::new("And now?"))).await;
    assert_eq!(front.turn().await, StopReason::EndTurn);
    // The process ends, and another goes on.
    front.session = lead.clone();
    front.ask(Op::Close).await;
    assert_eq!(choice_of(&world, &alice).await.as_deref(), Some("any/second"));
    let mut front = FrontEnd::new(world.host());
    front.session = lead;
    let Reply::Resumed(_) = front.ask(Op::Resume { beside: false }).await else { panic!() };
    front.session = Some(front.member("alice").await);
    assert_eq!(front.session, Some(alice));
    front.ask(Op::Prompt(Prompt::new("Still there?"))).await;
    assert_eq!(front.turn().await, StopReason::EndTurn);
}
