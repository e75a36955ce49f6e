//! A turn in real, stock Neovim: text typed and not saved, a prompt by `ropewalk.prompt`, and the agent's
//! edit in the buffer beside what was typed. The model is scripted; everything else is real.

#[cfg(test)]
#[allow(
    clippy::allow_attributes,
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part"
)]
mod support;

use ropewalk_testkit::model::{Place, ScriptedReply};
use serde_json::json;
use support::agent::Agent;
use support::nvim::{Nvim, Server};

const GREET: &str = "def greet(name):\n    print(f\"Hello, {name}!\")\n";

/// A repository with greet.py in it, open in a Neovim that has our server attached.
fn open(agent: &Agent) -> (tempfile::TempDir, std::path::PathBuf, Nvim) {
    let folder = tempfile::tempdir().unwrap();
    std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(folder.path())
        .status()
        .unwrap();
    let path = folder.path().join("greet.py");
    std::fs::write(&path, GREET).unwrap();
    let nvim = Nvim::start_with(folder.path(), &agent.environment());
    nvim.lua::<()>(
        "_G.progress = {} \
         vim.api.nvim_create_autocmd('LspProgress', { callback = function(event) \
           local value = event.data.params.value \
           table.insert(_G.progress, value.kind .. ' ' .. (value.message or '')) \
         end })",
        json!([]),
    );
    nvim.edit(&path);
    nvim.start_client("ropewalk", &Server::Program(&Agent::command()), folder.path(), json!({}));
    nvim.wait_for("the client", |nvim| {
        nvim.lua::<bool>(
            "local c = vim.lsp.get_clients()[1]; return c ~= nil and c.initialized == true",
            json!([]),
        )
        .then_some(())
    });
    (folder, path, nvim)
}

fn prompt(nvim: &Nvim, text: &str) {
    nvim.lua::<()>(
        "vim.lsp.get_clients()[1]:exec_cmd({ title = 'prompt', command = 'ropewalk.prompt', arguments = { ... } })",
        json!([text]),
    );
}

fn progress(nvim: &Nvim) -> Vec<String> {
    nvim.lua("return _G.progress", json!([]))
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_prompt_changes_unsaved_text_while_the_user_types_and_leaves_the_disk() {
    let agent = Agent::new(
        "auto",
        [
            ScriptedReply::new()
                .expect_text("docstring")
                .call("read_file", json!({ "path": "greet.py" })),
            ScriptedReply::new()
                .expect_text("# typed, not saved")
                .gate(Place::Answer, "edit")
                .call(
                    "edit_file",
                    json!({
                        "path": "greet.py",
                        "old_text": "def greet(name):\n",
                        "new_text": "def greet(name):\n    \"\"\"Greet someone by name.\"\"\"\n"
                    }),
                ),
            ScriptedReply::new().text("Added a docstring to the greet function."),
        ],
    );
    let (_folder, path, nvim) = open(&agent);
    nvim.feed("O# typed, not saved<Esc>");
    prompt(&nvim, "Edit greet.py to add a docstring to the function");
    agent.model.wait_until_reached_blocking("edit");
    // Typed while the agent is about to edit, and not yet told to the server.
    nvim.feed("Gobye()");
    agent.model.open_gate("edit");
    nvim.wait_for_lines(&[
        "# typed, not saved",
        "def greet(name):",
        "    \"\"\"Greet someone by name.\"\"\"",
        "    print(f\"Hello, {name}!\")",
        "    bye()",
    ]);
    nvim.wait_for("the end of the turn", |nvim| {
        progress(nvim).last().is_some_and(|last| last == "end end_turn").then_some(())
    });
    let seen = progress(&nvim);
    assert_eq!(seen.first().unwrap(), "begin Edit greet.py to add a docstring to the function");
    assert!(seen.iter().any(|line| line == "report edit_file greet.py"), "{seen:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), GREET, "the disk is left alone");
    nvim.wait_for("the answer", |nvim| nvim.messages().contains("Added a docstring").then_some(()));
    agent.model.finish().unwrap();
}
