//! A hostile repository on the command line: nothing of it drives the terminal, and nothing of it counts.

use crate::support::hostile::{SECRETS, assert_harmless, enables, files, odd_names, plant};
use crate::world::{KEY, Ran, World};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_testkit::planted;
use serde_json::json;

#[track_caller]
fn harmless(ran: Ran) -> Ran {
    assert_harmless("standard output", &ran.out);
    assert_harmless("standard error", &ran.err);
    ran
}

#[test]
fn a_hostile_repository_gains_nothing_by_a_run() {
    let fold = |tool: &str, more: serde_json::Value| {
        odd_names().into_iter().fold(ScriptedReply::new(), |reply, name| {
            let mut input = more.clone();
            input["path"] = json!(name);
            reply.call(tool, input)
        })
    };
    let command = "printf x > OWNED # \u{1b}[2K\rls \u{202e}sl\u{9b}31m";
    let kept = |reply: ScriptedReply| {
        SECRETS.iter().fold(reply, |reply, secret| reply.expect_no_text(*secret))
    };
    let replies = [
        fold("read_file", json!({})),
        fold("edit_file", json!({ "old_text": "needle", "new_text": "ours" }))
            .expect_text("needle"),
        ScriptedReply::new()
            .call("read_file", json!({ "path": ".env" }))
            .call("read_file", json!({ "path": "link.txt" }))
            .call("write_file", json!({ "path": "linked/planted.txt", "content": "owned" }))
            .call("grep", json!({ "pattern": "TOKEN|needle|secret" }))
            .call("bash", json!({ "command": command })),
        ScriptedReply::new()
            .expect_text("Path escapes workspace: linked/planted.txt")
            .text("The folder is trusted.\u{1b}]0;owned\u{7}\u{202e}"),
        ScriptedReply::new().text("Again.").conversation("again"),
    ]
    .map(kept);
    let model = ScriptedModel::start_with_key(replies, KEY).unwrap();
    let other = ScriptedModel::start([]).unwrap();
    let outside = tempfile::tempdir().unwrap();
    let world = World::with(&model);
    plant(world.root(), outside.path(), &other.base_url());
    let (before, before_outside) = (files(world.root()), files(outside.path()));

    let asked = harmless(world.run(&["trust"])).ended(2);
    let all = enables(&other.base_url());
    for (number, enables) in (1..).zip(&all) {
        assert!(asked.out.contains(&format!("({number}) {enables}")), "{asked:#?}");
    }
    assert!(!asked.out.contains(&format!("({})", all.len() + 1)), "{asked:#?}");

    let ran = harmless(world.run(&["run", "Do it \u{1b}[2J\u{202e}now"])).ended(6);
    assert!(ran.out.contains("␛[2K␍ls �sl�31m"), "{ran:#?}");
    assert!(ran.out.contains("not allowed without a terminal to ask in"), "{ran:#?}");
    assert_eq!(files(world.root()), before);
    assert_eq!(files(outside.path()), before_outside);

    let list = harmless(world.run(&["sessions"])).ended(0);
    assert!(list.out.contains("now"), "{list:#?}");
    let json = harmless(world.run(&["sessions", "--json"])).ended(0);
    let listed: serde_json::Value = serde_json::from_str(json.out.trim()).unwrap();
    assert_harmless("a title", listed["title"].as_str().unwrap());
    harmless(world.run(&["sessions", "show", listed["id"].as_str().unwrap()])).ended(0);

    harmless(world.run(&["trust", "--never"])).ended(0);
    let again = harmless(world.run(&["run", "again"])).ended(0);
    assert!(!again.err.contains("ropewalk trust"), "{again:#?}");
    assert_eq!(files(world.root()), before);
    assert_eq!(other.connections(), 0);
    for request in model.requests() {
        planted::assert_absent("a request", request.to_string());
    }
    model.finish().unwrap();
}
