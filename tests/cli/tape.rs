//! `ropewalk run --record` and `--replay`: the same events again, without a server and without a key.

use crate::world::{Ran, World};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_testkit::planted;
use serde_json::{Value, json};

const TEXT: &str = "def greet():\n    pass\n";

/// The events without the session's own name, and without how full the context is: it is estimated from as much of a reply as
/// has come.
fn events(ran: &Ran) -> Vec<Value> {
    let parsed = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    parsed
        .map(|mut event| {
            let members = event.as_object_mut().unwrap();
            members.remove("session");
            members.remove("context");
            event
        })
        .collect()
}

#[test]
fn a_replayed_run_gives_the_same_events() {
    let edit = json!({"path": "greet.py", "old_text": "pass", "new_text": "print('hi')"});
    let model = ScriptedModel::start([
        ScriptedReply::new().text("I look.").call("read_file", json!({"path": "greet.py"})),
        ScriptedReply::new().thinking("hm", "sealed").call("edit_file", edit),
        ScriptedReply::new().text("Done: héllo 𝄞."),
    ])
    .unwrap();
    let world = World::with(&model);
    world.write("greet.py", TEXT);
    let tape = world.home("tape.jsonl");
    let tape = tape.to_str().unwrap();
    let record = ["run", "--json", "--record", tape, "make it greet"];
    let recorded = world.run(&record).ended(6);
    let (base_url, connections) = (model.base_url(), model.connections());
    model.finish().unwrap();

    // Nothing is sent any more, and no key is there.
    world.configure("commands.over_fork = \"off\"\n");
    let replay = |prompt: &str, how: &str| {
        let mut run = world.ropewalk(&["run", "--json", how, tape, prompt]);
        for (name, _) in planted::environment() {
            run.env_remove(name);
        }
        Ran::from(run.output().unwrap())
    };
    let replayed = replay("make it greet", "--replay").ended(6);
    assert_eq!(events(&replayed), events(&recorded));
    assert!(events(&replayed).len() > 10, "{base_url}");
    assert_eq!(model.connections(), connections);

    let other = replay("make it wave", "--replay").ended(1);
    assert!(
        other.out.contains("message 1, byte ") && other.out.contains("recorded \\\"greet"),
        "{other:?}"
    );
    let loose = replay("make it wave", "--replay-loose").ended(6);
    assert_eq!(events(&loose)[2..], events(&recorded)[2..]);

    let again = world.run(&record).ended(1);
    assert!(again.err.contains("--record"), "{again:?}");
    world.write("broken", "{\"recording\":");
    let broken = world.run(&["run", "--replay", "broken", "x"]).ended(2);
    assert!(broken.err.contains("broken can't be played: line 1 can't be read"), "{broken:?}");
}
