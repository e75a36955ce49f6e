//! Review and approvals in real VS Code without a plugin. The cases are in `tests/vscode/cases/review.js`; the model is
//! scripted.

use crate::support::agent::Agent;
use crate::support::stage::{bash, edit_input, say};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn all_that_waits_is_reached_and_an_approval_stands_until_it_is_answered() {
    let workspace = tempfile::tempdir().unwrap();
    let new = json!({ "path": "new/test.py", "content": "import greet\n" });
    let agent = Agent::new(
        "review",
        [
            ScriptedReply::new()
                .call("edit_file", edit_input("greet.py", "\"hello\"", "name"))
                .call("write_file", new)
                .call("edit_file", edit_input("other.py", "three", "THREE")),
            say("Three changes."),
            bash("touch ran"),
            say("Then not.").expect_text("The user refused this call"),
        ],
    );
    crate::support::vscode::run_case(
        "review",
        workspace.path(),
        &Agent::command(),
        &json!({}),
        &agent.environment(),
    );
    agent.model.finish().unwrap();
}
