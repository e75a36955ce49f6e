//! The first thing a user does, in real VS Code: types without saving, asks for a change, and sees
//! it beside what was typed. The case is `tests/vscode/cases/first_line.js`; the model is scripted.

use crate::support::agent::Agent;
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_prompt_changes_unsaved_text_and_leaves_the_disk() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new(
        "auto",
        [
            ScriptedReply::new()
                .expect_text("greet the user by name")
                .text("I look at the file first.")
                .call("read_file", json!({ "path": "greet.py" })),
            // The tool read the text that the user sees, not the one on the disk.
            ScriptedReply::new().expect_text("# typed, not saved").call(
                "edit_file",
                json!({
                    "path": "greet.py",
                    "old_text": "print(\"hello\")",
                    "new_text": "print(f\"hello {name}\")"
                }),
            ),
            ScriptedReply::new().text("The greeting now has the name in it."),
        ],
    );
    crate::support::vscode::run_case(
        "first_line",
        workspace.path(),
        &Agent::command(),
        &json!({}),
        &agent.environment(),
    );
    agent.model.finish().unwrap();
}
