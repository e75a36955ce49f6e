//! Stock Neovim, mode `auto`: the agent adds a line, and the user reorders the buffer before Neovim tells of it, so that
//! both come in one notification. The line stands once, and counts as made.

use crate::support::agent::Agent;
use crate::support::nvim::{Nvim, Server};
use crate::support::stage::{edit, say};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;

const TEXT: &str = "delta\nalpha\ncharlie\nbravo\n";

/// The agent adds a line after `alpha`, and with it in Neovim the user runs `command` over the buffer.
fn reordered(command: &str, lines: &[&str]) {
    let agent = Agent::new(
        "auto",
        [
            edit("notes.txt", "alpha\n", "alpha\nbeta of ours\n"),
            say("Added.")
                .expect_no_text("Conflict")
                .expect_no_text("confirmed")
                .expect_no_text("undid"),
            ScriptedReply::new()
                .expect_no_text("Conflict")
                .expect_no_text("undid")
                .text("Still there."),
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, TEXT).unwrap();
    let nvim = Nvim::start_with(folder.path(), &agent.environment());
    nvim.lua::<()>(HOOKS, json!([command]));
    nvim.edit(&path);
    // Nothing is told by the clock: the server's barrier, and the hook once both are done, make Neovim tell it.
    let flags = json!({ "flags": { "debounce_text_changes": 3_600_000 } });
    nvim.start_client("ropewalk", &Server::Program(&Agent::command()), folder.path(), flags);
    nvim.wait_for("the client", |nvim| {
        nvim.lua::<bool>(
            "local c = vim.lsp.get_clients()[1]; return c ~= nil and c.initialized == true",
            json!([]),
        )
        .then_some(())
    });
    for turn in 1..=2 {
        nvim.lua::<()>(
            "vim.lsp.get_clients()[1]:exec_cmd({ title = 'prompt', command = 'ropewalk.prompt', \
               arguments = { 'Add a line' } })",
            json!([]),
        );
        nvim.wait_for("the end of the turn", |nvim| {
            let ends: Vec<String> = nvim.lua("return _G.ends", json!([]));
            (ends.len() == turn && ends.iter().all(|end| end.starts_with("Done"))).then_some(())
        });
        assert_eq!(nvim.lines(), lines, "turn {turn}");
    }
    assert_eq!(nvim.lua::<u64>("return _G.edits", json!([])), 1, "sent once");
    agent.model.finish().unwrap();
}

/// Counts the edits that are made, runs the user's command after the first one, and notes how turns end.
const HOOKS: &str = "
    local command = ...
    _G.edits, _G.ends = 0, {}
    vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
      local value = event.data.params.value
      if value.kind == 'end' then table.insert(_G.ends, value.message or '') end
    end })
    local apply = vim.lsp.handlers['workspace/applyEdit']
    vim.lsp.handlers['workspace/applyEdit'] = function(error, params, context)
      local answer = apply(error, params, context)
      if params.edit.documentChanges[1].edits[1].newText ~= '' then
        _G.edits = _G.edits + 1
        if _G.edits == 1 then vim.cmd(command) end
        vim.schedule(function()
          vim.lsp._changetracking.flush(vim.lsp.get_clients()[1], vim.api.nvim_get_current_buf())
        end)
      end
      return answer
    end";

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_line_of_the_agents_stands_once_in_a_buffer_that_is_sorted() {
    reordered("%sort", &["alpha", "beta of ours", "bravo", "charlie", "delta"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_line_of_the_agents_stands_once_in_a_buffer_that_is_filtered_through_tac() {
    reordered("%!tac", &["bravo", "charlie", "beta of ours", "alpha", "delta"]);
}
