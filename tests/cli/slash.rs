//! Commands typed as the request of `ropewalk run`: done on the last session, or refused with the way; the model hears of none.

use crate::world::{KEY, World};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::json;

fn reply() -> ScriptedReply {
    ScriptedReply::new()
}

#[test]
fn a_run_does_what_needs_no_editor() {
    let todos = json!({"todos": [
        {"content": "Read it", "status": "completed"}, {"content": "Change it", "status": "in_progress"}]});
    let model = ScriptedModel::start_with_key(
        [
            reply().call("todo_write", todos),
            reply().call("write_file", json!({"path": "a.txt", "content": "one\n"})),
            reply().text("Half done."),
            // The check asks about what is open.
            reply().text("That is all."),
            reply().text("**Goal**: a summary.").conversation("the summary"),
        ],
        KEY,
    )
    .unwrap();
    let world = World::with(&model);
    world.run(&["run", "Change it"]).ended(8);
    let asked = model.requests().len();

    let help = world.run(&["run", "/help"]).ended(0);
    assert!(help.out.contains("/compact [what to keep in view]: sums up"), "{help:?}");
    let todos = world.run(&["run", "/todos"]).ended(0);
    assert!(todos.out.contains("[x] Read it\n[>] Change it"), "{todos:?}");
    let context = world.run(&["run", "--continue", "/context"]).ended(0);
    assert!(context.out.contains("ontext"), "{context:?}");
    let status = world.run(&["run", "/status\n"]).ended(0);
    for words in ["1 change in 1 file waits for review.", "“Change it”: 1 turn", "1 of 2 todos"]
    {
        assert!(status.out.contains(words), "{status:?}");
    }
    for about_team in ["/tasks", "/team", "/team stop alice", "/inbox"] {
        let off = world.run(&["run", about_team]).ended(1);
        assert!(off.err.contains("Teams are switched off here"), "{about_team}: {off:?}");
    }
    assert_eq!(model.requests().len(), asked, "the model hears nothing of it");

    let compact = world.run(&["run", "/compact the names"]).ended(0);
    assert!(compact.out.contains("tokens became"), "{compact:?}");
    assert!(model.requests().last().unwrap().to_string().contains("the names"));
    let nothing = world.run(&["run", "/rewind 7"]);
    assert_ne!(nothing.code, Some(0), "{nothing:?}");
    let accepted = world.run(&["run", "/accept"]).ended(0);
    assert!(accepted.err.contains("1 change in 1 file accepted and written."), "{accepted:?}");
    assert_eq!(world.read("a.txt"), "one\n");
    let rewound = world.run(&["run", "/rewind"]).ended(0);
    assert!(rewound.err.contains("taken back: Change it"), "{rewound:?}");
    let gone = world.run(&["run", "/todos"]);
    assert!(!gone.out.contains("Read it"), "{gone:?}");
    model.finish().unwrap();
}

#[test]
fn what_a_run_does_otherwise_is_refused_with_the_way() {
    let model = ScriptedModel::start_with_key([reply().text("Heard.")], KEY).unwrap();
    let world = World::with(&model);
    for (words, way) in [
        ("/stop", "Ctrl-C stops a run."),
        ("/new", "begins another conversation"),
        ("/mode plan", "--mode plan"),
        ("/model a/b", "--model PROVIDER/NAME"),
        ("/next", "`ropewalk diff`"),
        ("/undo", "Only an editor"),
        ("/sessions", "`ropewalk sessions`"),
        ("/resume 1", "--continue"),
        ("/allow", "--allow 'RULE'"),
        ("/refuse no", "--allow 'RULE'"),
        ("/stop the press", "/stop takes nothing more."),
    ] {
        let ran = world.run(&["run", words]).ended(2);
        assert!(ran.err.contains(way), "{words}: {ran:?}");
        assert!(ran.err.contains(&format!("put a blank before it: “ {words}”")), "{ran:?}");
    }
    let none = world.run(&["run", "/todos"]).ended(1);
    assert!(none.err.contains("There is no session"), "{none:?}");
    assert_eq!(model.requests().len(), 0);
    world.run(&["run", " /stop"]).ended(0);
    model.finish().unwrap();
}
