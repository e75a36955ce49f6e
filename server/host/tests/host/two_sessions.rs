//! Two sessions at once in one host: each has its own turn, model and hunks, and no approval of one is the other's.

use crate::front_end::FrontEnd;
use crate::world::World;
use ropewalk_protocol::{Op, Prompt, Reply, Request, Selection, StopReason, Verdict};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;

fn script(file: &str) -> Vec<ScriptedReply> {
    vec![
        ScriptedReply::new().call("bash", json!({ "command": format!("echo {file}") })),
        ScriptedReply::new()
            .expect_text(file)
            .call("write_file", json!({ "path": file, "content": "made\n" })),
        ScriptedReply::new().text("Done."),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn they_share_nothing_but_the_numbers_of_approvals() {
    let world = World::new([("first", script("one.txt")), ("second", script("two.txt"))]);
    let host = world.host();
    let (mut one, mut two) = (FrontEnd::new(host.clone()), FrontEnd::new(host.clone()));
    one.prompt("Make one").await;
    let first = one.asked().await;
    let Reply::Begun(beside, None) = two.ask(Op::New { beside: true }).await else { panic!() };
    two.session = Some(beside.clone());
    two.ask(Op::SetModel("any/second".to_owned())).await;
    two.prompt("Make two").await;
    let second = two.asked().await;
    // Both wait at once, and what is asked without a name is still the first one's.
    assert_ne!(first, second);
    assert!(host.is_current(one.session.as_deref().unwrap()));
    let waiting = |session: &FrontEnd| {
        let snapshot = host.snapshot(session.session.as_deref());
        snapshot.approvals.iter().map(|asked| asked.id).collect::<Vec<_>>()
    };
    assert_eq!((waiting(&one), waiting(&two)), (vec![first], vec![second]));
    // An answer to the wrong one changes nothing.
    one.ask(Op::Approve(Some(second), Verdict::Once)).await;
    two.ask(Op::Approve(None, Verdict::Once)).await;
    assert_eq!(two.turn().await, StopReason::EndTurn);
    assert_eq!((waiting(&one), waiting(&two)), (vec![first], vec![]));
    two.ask(Op::Accept(Selection::All)).await;
    one.ask(Op::Approve(Some(first), Verdict::Once)).await;
    assert_eq!(one.turn().await, StopReason::EndTurn);
    let files = |front: &FrontEnd| front.hunks.iter().map(|it| it.file.clone()).collect::<Vec<_>>();
    assert_eq!(files(&one), ["one.txt"]);
    // One that is left is no more, and the other goes on.
    two.ask(Op::Close).await;
    let late = Request::to(Some(beside), Op::Prompt(Prompt::new("still there?")));
    assert!(host.handle(late).await.unwrap_err().words.contains("another session"));
    one.ask(Op::Reject(Selection::All, None)).await;
}
