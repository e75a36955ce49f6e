//! An accepted rename of an open file in real VS Code: the tab follows, and comes back; and a document that was never
//! saved is edited under its own name. The cases are in `tests/vscode/cases/rename.js`; the model is scripted.

use crate::support::agent::Agent;
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn the_buffer_follows_an_accepted_rename_and_what_was_never_saved_is_edited() {
    let workspace = tempfile::tempdir().unwrap();
    let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "old_text": old, "new_text": new });
    let agent = Agent::new(
        "review",
        [
            ScriptedReply::new()
                .expect_text("move it")
                .call("move_file", json!({ "path": "old.txt", "to": "new/name.txt" }))
                .call("edit_file", edit("new/name.txt", "three", "THREE")),
            ScriptedReply::new().text("It has another name."),
            ScriptedReply::new()
                .expect_text("finish untitled:Untitled-1")
                .call("edit_file", edit("untitled:Untitled-1", "draft", "final")),
            ScriptedReply::new().text("It is final."),
        ],
    );
    crate::support::vscode::run_case(
        "rename",
        workspace.path(),
        &Agent::command(),
        &json!({}),
        &agent.environment(),
    );
    agent.model.finish().unwrap();
}
