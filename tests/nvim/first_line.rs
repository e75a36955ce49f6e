//! A turn in real, stock Neovim: text typed and not saved, a prompt by `ropewalk.prompt`, and the agent's
//! edit in the buffer beside what was typed. The model is scripted; everything else is real.

use crate::support::agent::Agent;
use crate::support::nvim::{Nvim, Server};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::json;

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

fn execute(nvim: &Nvim, command: &str, argument: serde_json::Value) {
    nvim.lua::<()>(
        "local command, argument = ... \
         vim.lsp.get_clients()[1]:exec_cmd({ title = command, command = command, arguments = { argument } })",
        json!([command, argument]),
    );
}

fn prompt(nvim: &Nvim, text: &str) {
    execute(nvim, "ropewalk.prompt", json!(text));
}

fn wait_for_end(nvim: &Nvim) {
    nvim.wait_for("the end of the turn", |nvim| {
        progress(nvim).last().is_some_and(|last| last.starts_with("end Done")).then_some(())
    });
}

/// The lines (from zero), hunk ids and messages of the diagnostics in the current buffer.
fn diagnostics(nvim: &Nvim) -> Vec<(usize, u64, String)> {
    nvim.lua(
        "return vim.tbl_map( \
           function(d) return { d.lnum, d.user_data.lsp.data.hunk, d.message } end, \
           vim.diagnostic.get(0))",
        json!([]),
    )
}

/// Waits until so many are shown.
fn wait_for_diagnostics(nvim: &Nvim, count: usize) -> Vec<(usize, u64, String)> {
    nvim.wait_for("the diagnostics", |nvim| {
        Some(diagnostics(nvim)).filter(|found| found.len() == count)
    })
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
                .gate(ReplyPlace::Answer, "edit")
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
    wait_for_end(&nvim);
    let seen = progress(&nvim);
    assert_eq!(seen.first().unwrap(), "begin Edit greet.py to add a docstring to the function");
    assert!(seen.iter().any(|line| line == "report edit_file greet.py"), "{seen:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), GREET, "the disk is left alone");
    nvim.wait_for("the answer", |nvim| nvim.messages().contains("Added a docstring").then_some(()));
    assert_eq!((nvim.mode().as_str(), nvim.blocked()), ("i", false), "nothing asks for a key");
    agent.model.finish().unwrap();
}

/// The titles of the code actions at the start of a line.
fn code_actions(nvim: &Nvim, line: u32) -> Vec<String> {
    nvim.lua(
        "local line = ... \
         local params = vim.lsp.util.make_range_params(0, 'utf-8') \
         params.range = { start = { line = line, character = 0 }, ['end'] = { line = line, character = 0 } } \
         params.context = { diagnostics = {} } \
         local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 60000) \
         return vim.tbl_map(function(action) return action.title end, vim.tbl_values(answers)[1].result)",
        json!([line]),
    )
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn hunks_wait_as_diagnostics_move_with_typing_and_are_accepted_rejected_and_undone() {
    let edit =
        |old: &str, new: &str| json!({ "path": "greet.py", "old_text": old, "new_text": new });
    let agent = Agent::new(
        "review",
        [
            ScriptedReply::new()
                .call(
                    "edit_file",
                    edit("def greet(name):\n", "def greet(name):\n    \"\"\"Greet.\"\"\"\n"),
                )
                .call("edit_file", edit("last = 9", "last = 10")),
            ScriptedReply::new().text("Two changes."),
            ScriptedReply::new()
                .expect_text("rejected a change")
                .expect_text("keep nine")
                .text("I see."),
        ],
    );
    let (_folder, path, nvim) = open(&agent);
    nvim.command("set noautoindent indentexpr=");
    nvim.feed("Go# two<CR># three<CR># four<CR># five<CR>last = 9<Esc>");
    prompt(&nvim, "Two changes, please");
    wait_for_end(&nvim);
    let two = wait_for_diagnostics(&nvim, 2);
    assert_eq!((two[0].0, two[1].0), (1, 6));
    assert!(two[0].2.contains("+    \"\"\"Greet.\"\"\""), "{two:?}");
    // The user types above both while they wait; then takes one and refuses the other.
    nvim.feed("ggO# above<Esc>");
    execute(&nvim, "ropewalk.accept", json!({ "hunk": two[0].1 }));
    let with_docstring = [
        "# above",
        "def greet(name):",
        "    \"\"\"Greet.\"\"\"",
        "    print(f\"Hello, {name}!\")",
        "# two",
        "# three",
        "# four",
        "# five",
        "last = 9",
    ];
    nvim.wait_for_lines(&with_docstring);
    let one = wait_for_diagnostics(&nvim, 1);
    assert_eq!(one[0].0, 8);
    let title = "Ropewalk: reject this change";
    let offered = code_actions(&nvim, 8);
    assert!(offered.iter().any(|offer| offer == title), "{offered:?}");
    execute(&nvim, "ropewalk.reject", json!({ "all": true, "reason": "keep nine" }));
    nvim.wait_for("no diagnostic", |nvim| diagnostics(nvim).is_empty().then_some(()));
    nvim.lua::<()>("_G.progress = {}", json!([]));
    prompt(&nvim, "Go on");
    wait_for_end(&nvim);
    // The user types once more, and takes the accepted change back.
    nvim.feed("ggO# more<Esc>");
    execute(&nvim, "ropewalk.undo", json!({ "all": true }));
    let mut undone: Vec<&str> = with_docstring.to_vec();
    undone.remove(2);
    undone.insert(0, "# more");
    nvim.wait_for_lines(&undone);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), GREET, "the disk is left alone");
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_approval_takes_no_keys_from_somebody_who_types() {
    let agent = Agent::new(
        "review",
        [
            ScriptedReply::new().call("bash", json!({ "command": "echo ran" })),
            ScriptedReply::new().expect_text("ran").text("Done."),
        ],
    );
    let (_folder, _path, nvim) = open(&agent);
    nvim.feed("Go");
    prompt(&nvim, "Run it");
    nvim.wait_for("the question", |nvim| {
        progress(nvim).iter().any(|line| line.contains("approval")).then_some(())
    });
    nvim.wait_for("its message", |nvim| {
        nvim.messages().contains("Ropewalk asks to run bash").then_some(())
    });
    nvim.feed("1 = 1<CR>y<CR><Space>2");
    nvim.wait_for_lines(&[
        "def greet(name):",
        "    print(f\"Hello, {name}!\")",
        "    1 = 1",
        "    y",
        "     2",
    ]);
    assert!(
        !progress(&nvim).iter().any(|line| line.starts_with("end")),
        "typing answered the question"
    );
    execute(&nvim, "ropewalk.approve", json!({ "answer": "once" }));
    wait_for_end(&nvim);
    agent.model.finish().unwrap();
}
