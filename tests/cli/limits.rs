//! How long the model may be silent, as configured: the limits reach whoever waits for the server.

use crate::world::World;
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};

/// In the midst of an answer, which is then asked for again.
#[test]
fn a_pause_in_mid_answer_is_as_long_as_configured() {
    let model = ScriptedModel::start([
        ScriptedReply::new().text("Half").gate(ReplyPlace::End, "never"),
        ScriptedReply::new().text("Whole."),
    ])
    .unwrap();
    let world = World::with(&model);
    let ran = world.run(&["run", "--json", "-c", "limits.idle_seconds=1", "go"]).ended(0);
    let told: Vec<_> = ran.out.lines().filter(|line| line.contains("\"retrying\"")).collect();
    assert!(matches!(told[..], [one] if one.contains("said nothing for 1 s")), "{ran:#?}");
    assert!(ran.out.contains("Whole."), "{ran:#?}");
    model.finish().unwrap();
}

/// Before an answer begins, on this machine as elsewhere: who sets it means it.
#[test]
fn the_first_words_are_waited_for_as_long_as_configured() {
    let model = ScriptedModel::start([ScriptedReply::new()
        .text("Late.")
        .gate(ReplyPlace::Answer, "never")])
    .unwrap();
    let world = World::with(&model);
    let ran = world.run(&["run", "-c", "limits.first_byte_seconds=1", "go"]).ended(1);
    assert!(ran.err.contains("said nothing for 1 s"), "{ran:#?}");
    assert!(ran.err.contains("limits.first_byte_seconds"), "{ran:#?}");
    model.finish().unwrap();
}
