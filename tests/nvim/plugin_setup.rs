//! From an empty home to the first accepted edit, as the plugin's README says: `ropewalk setup neovim` with the plugin that is in
//! the binary, and a Neovim that has nothing else.

use crate::support::agent::Agent;
use crate::support::nvim::Nvim;
use crate::support::plugin::{assert_messages_are_of_their_types, environment};
use crate::support::stage::{edit, say};
use ropewalk_testkit::model::ReplyPlace;
use serde_json::json;
use std::process::Command;
use std::time::Instant;

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

/// How many keys a user presses for this, in Neovim's notation.
fn count(keys: &str) -> usize {
    keys.replace("<CR>", "\r").chars().count()
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn from_an_empty_home_to_the_first_accepted_edit() {
    let agent = Agent::new(
        "review",
        [
            edit("greet.py", "():\n", "():\n    \"\"\"Greets.\"\"\"\n")
                .gate(ReplyPlace::Answer, "thinking"),
            say("A docstring."),
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("greet.py"), "def greet():\n    pass\n").unwrap();
    let start = Instant::now();
    setup(&agent, &[]);
    let nvim = Nvim::start_configured(folder.path(), &environment(&agent, true), &["greet.py"]);
    nvim.wait_for_screen("def greet():");
    nvim.picture("nvim-first-1-opened");
    let ask = "V:Ropewalk ask add a docstring<CR>";
    nvim.feed(ask);
    nvim.wait_for_screen("… thinking · :Ropewalk stop");
    nvim.picture("nvim-first-2-asked");
    agent.model.open_gate("thinking");
    nvim.wait_for_screen("A docstring.");
    nvim.wait_for_screen("1 change in 1 file waits for you: :Ropewalk next");
    // The notice leaves readable how the change is taken.
    nvim.wait_for_screen("\"\"\"Greets.\"\"\"  change 1/1 · :Ropewalk accept | reject");
    nvim.picture("nvim-first-3-answered");
    let accept = ":Ropewalk accept<CR>";
    nvim.feed(accept);
    nvim.wait_for_lines(&["def greet():", "    \"\"\"Greets.\"\"\"", "    pass"]);
    let shell = count("ropewalk setup neovim<CR>") + count("nvim greet.py<CR>");
    println!(
        "The first accepted edit: {} keys in the shell, {} in Neovim; {:.1} s besides typing and the model",
        shell,
        count(ask) + count(accept),
        start.elapsed().as_secs_f32()
    );
    nvim.wait_for("a screen without the change", |nvim| {
        (!nvim.screen().join("\n").contains("change 1/1")).then_some(())
    });
    nvim.picture("nvim-first-4-accepted");
    nvim.feed(":help ropewalk<CR>");
    nvim.wait_for("the help", |nvim| {
        nvim.lua::<bool>("return vim.fn.expand('%:t') == 'ropewalk.txt'", json!([])).then_some(())
    });
    nvim.wait_for_screen("Ropewalk runs a coding agent beside your editor.");
    nvim.picture("nvim-first-5-help");
    nvim.feed(":only<CR>:checkhealth ropewalk<CR>");
    let report = nvim.wait_for("the report", |nvim| {
        Some(nvim.lines().join("\n")).filter(|all| all.contains("Ropewalk: in this Neovim"))
    });
    for words in ["model: scripted/scripted", "and knows 1 open file", "commands: "] {
        assert!(report.contains(words), "{words} is not in\n{report}");
    }
    assert!(!report.contains("not there"), "what need not be there is not named:\n{report}");
    nvim.picture("nvim-first-6-health");
    assert!(!nvim.blocked(), "{}", nvim.screen().join("\n"));
    assert!(!nvim.messages().contains("Error"), "{}", nvim.messages());
    drop(nvim);
    assert_messages_are_of_their_types(&agent);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn what_was_set_up_is_removed_again() {
    let agent = Agent::new("review", []);
    let folder = tempfile::tempdir().unwrap();
    setup(&agent, &[]);
    setup(&agent, &["--remove"]);
    let nvim = Nvim::start_configured(folder.path(), &environment(&agent, true), &[]);
    let commands: i64 = nvim.lua("return vim.fn.exists(':Ropewalk')", json!([]));
    assert_eq!(commands, 0);
}
