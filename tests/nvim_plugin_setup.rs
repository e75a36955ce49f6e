//! From an empty home to the first accepted edit, as the plugin's README says: `ropewalk setup neovim` with the plugin that is in
//! the binary, and a Neovim that has nothing else.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

#[cfg(test)]
mod support;

use serde_json::json;
use std::process::Command;
use support::agent::Agent;
use support::nvim::Nvim;
use support::plugin::environment;
use support::stage::{edit, say};

/// `ropewalk setup neovim` for the Neovim of this agent's user.
fn setup(agent: &Agent, arguments: &[&str]) {
    let output = Command::new(Agent::command()[0])
        .args(["setup", "neovim"])
        .args(arguments)
        .envs(environment(agent, true))
        .env_remove("NVIM_APPNAME")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn from_an_empty_home_to_the_first_accepted_edit() {
    let agent = Agent::new(
        "review",
        [edit("greet.py", "():\n", "():\n    \"\"\"Greets.\"\"\"\n"), say("A docstring.")],
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("greet.py"), "def greet():\n    pass\n").unwrap();
    setup(&agent, &[]);
    let nvim = Nvim::start_configured(folder.path(), &environment(&agent, true));
    nvim.feed(":edit greet.py<CR>V:Ropewalk ask add a docstring<CR>");
    nvim.wait_for_screen("A docstring.");
    nvim.wait_for_screen("\"\"\"Greets.\"\"\"");
    nvim.feed(":Ropewalk accept<CR>");
    nvim.wait_for_lines(&["def greet():", "    \"\"\"Greets.\"\"\"", "    pass"]);
    nvim.feed(":help ropewalk<CR>");
    nvim.wait_for("the help", |nvim| {
        nvim.lua::<bool>("return vim.fn.expand('%:t') == 'ropewalk.txt'", json!([])).then_some(())
    });
    assert!(!nvim.blocked(), "{}", nvim.screen().join("\n"));
    assert!(!nvim.messages().contains("Error"), "{}", nvim.messages());
    drop(nvim);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn what_was_set_up_is_removed_again() {
    let agent = Agent::new("review", []);
    let folder = tempfile::tempdir().unwrap();
    setup(&agent, &[]);
    setup(&agent, &["--remove"]);
    let nvim = Nvim::start_configured(folder.path(), &environment(&agent, true));
    let commands: i64 = nvim.lua("return vim.fn.exists(':Ropewalk')", json!([]));
    assert_eq!(commands, 0);
}
