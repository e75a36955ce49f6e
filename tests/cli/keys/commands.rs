//! Commands that look for the key: in their own environment, in that of their parent, and in the system's list
//! of processes.

use crate::support::stage::{QUIET, Stage, bash, say};
use crate::world::{Ran, World};
use ropewalk_testkit::editor::Profile;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_testkit::planted::{self, KEY, OTHER_KEY};
use serde_json::json;

/// Prints the environment of the process above the command's keeper, the server's, without naming a file that a rule
/// would know.
const PARENT: &str = "read -r _ _ _ up _ < $(printf '/p%s/%s/stat' roc $PPID); f=$(printf '/p%s/%s/envi%s' roc $up ron); tr '\\0' '\\n' < $f 2>&1; echo ended";

/// Runs a command in `ropewalk run`, everything allowed; the request with its result must hold `words`.
fn run(command: &str, words: &str) -> Ran {
    let model = ScriptedModel::start([
        ScriptedReply::new().call("bash", json!({ "command": command })),
        ScriptedReply::new().expect_text(words).text("Done."),
    ])
    .unwrap();
    let world = World::with(&model);
    let log = world.home("log.txt");
    let log = log.to_str().unwrap();
    let args = ["run", "--json", "--log", log, "--mode", "auto", "--allow", "bash(*)", "go"];
    let mut run = world.ropewalk(&args);
    // Copies under names that say nothing are as secret.
    run.envs([("ROPEWALK_LOG", "trace"), ("COPY", KEY), ("WORDS", &format!("is {OTHER_KEY}."))]);
    let ran = Ran::from(run.output().unwrap()).ended(0);
    model.finish().unwrap();
    ran
}

#[test]
fn no_variable_of_a_command_holds_a_key() {
    for command in ["env", "printenv", "export -p", "set", "ps eww 2>/dev/null; env"] {
        let ran = run(&format!("{command}; echo ended"), "ended");
        assert!(ran.out.contains("PATH="), "{ran:?}");
        assert!(!ran.out.contains("COPY=") && !ran.out.contains("ACME_ENTRY"), "{ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_environment_of_the_parent_is_closed_or_redacted() {
    let ran = run(PARENT, "ended");
    // Root may read it all the same.
    let is_redacted = ran.out.contains("ACME_ENTRY=[key]") && ran.out.contains("COPY=[key]");
    assert!(is_redacted || ran.out.contains("ermission denied"), "{ran:?}");
    // Byte by byte, and by way of a file that is read later.
    let slowly = format!("{PARENT} | while IFS= read -rn1 c; do printf %s \"$c\"; done");
    run(&slowly, "");
}

#[test]
fn a_long_output_is_redacted_in_the_file_that_holds_the_whole() {
    let command = "cat k.txt; seq 20000; cat k.txt";
    let replies = [bash(command), say("Done.").expect_text("k = [key]")];
    let stage = Stage::new("auto", &[("k.txt", &format!("k = {KEY}\n"))], replies);
    stage.agent.allow("bash(*)");
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.prompt("go");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    let whole = stage.agent.outputs();
    assert_eq!(whole.len(), 1, "the whole is kept");
    assert!(whole[0].contains("19999\n") && whole[0].ends_with("k = [key]\n"));
    stage.write("k.txt", "");
    stage.end(editor);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_command_shows_while_it_runs_is_redacted() {
    let stage = Stage::new("auto", &[], [bash(PARENT), say("Done.")]);
    stage.agent.allow("bash(*)");
    let editor = stage.editor_with(Profile::VSCODE, json!({ "ropewalk": { "events": true } }));
    editor.ignore(QUIET);
    editor.prompt("go");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    stage.end(editor);
}

#[test]
fn the_parent_named_plainly_asks_first() {
    let stage = Stage::new("auto", &[], [bash("cat /proc/$PPID/environ"), say("No.")]);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.prompt("go");
    editor.dismiss_dialog();
    editor.execute("ropewalk.interrupt", serde_json::Value::Null).unwrap();
    editor.wait_for_turn_end();
    planted::assert_absent_in(stage.folder.path());
    editor.shutdown();
    stage.agent.model.finish().unwrap_err();
}
