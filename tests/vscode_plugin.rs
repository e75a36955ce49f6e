//! The packaged extension in real VS Code, with our server and a scripted model behind it: asking, review, chat. The cases
//! are in `tests/vscode/plugin`; keys and mouse there are the user's.

#[cfg(test)]
mod support;

use support::agent::Agent;
use support::plugin::run_plugin;
use support::stage::{edit, say};

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_selected_line_is_asked_about_and_the_change_is_accepted_by_keyboard() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new(
        "review",
        [edit("greet.py", "print(\"hello\")", "print(f\"hello {name}\")"), say("It greets by name.")],
    );
    run_plugin("first_edit", workspace.path(), &agent);
    agent.model.finish().unwrap();
}
