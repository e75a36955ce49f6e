//! The demo's desk in a real Neovim: `nvim --embed --headless --clean`, told what to do in msgpack-RPC, with
//! our server attached as any language server is. No plugin, and nothing of the user's own Neovim.

mod find;
mod rpc;

pub(super) use find::{Neovim, find};

use super::desk::DemoDesk;
use super::home::{DemoHome, FILE};
use anyhow::{Context, ensure};
use rpc::Rpc;
use serde_json::{Value, json};
use std::process::Command;

/// Opens the file and attaches the server to it. All that is heard of it is sent on, as JSON.
const OPEN: &str = "
local file, server, root = ...
local function tell(what)
  return function(...) vim.rpcnotify(0, what, vim.json.encode({ ... })) end
end
_G.tell = tell
vim.cmd.edit(vim.fn.fnameescape(file))
vim.api.nvim_create_autocmd('DiagnosticChanged', { callback = function() tell('marks')() end })
assert(vim.lsp.start({
  name = 'ropewalk',
  cmd = { server, 'lsp' },
  root_dir = root,
  init_options = { events = true },
  handlers = { ['ropewalk/event'] = function(_, params) tell('event')(params) end },
  on_attach = function() tell('attached')() end,
  on_exit = function(code, signal) tell('exit')(code, signal) end,
}))";

/// Runs a command of the server as a user's mapping does. Neovim sends what was typed before it.
const EXECUTE: &str = "
local command, argument = ...
local arguments = argument ~= vim.NIL and { argument } or {}
vim.lsp.get_clients({ name = 'ropewalk' })[1]:exec_cmd(
  { title = command, command = command, arguments = arguments }, { bufnr = 0 },
  function(err) _G.tell('answer')(err and err.message or '') end)";

/// Types as if at the keyboard, and is done when the keys are.
const TYPE: &str = "vim.api.nvim_feedkeys('ggO' .. ... .. vim.keycode('<Esc>'), 'tx', false)";

const TEXT: &str =
    "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n') .. '\\n'";

/// The line (from 0) and the hunk of each diagnostic, in the order of lines.
const MARKS: &str = "
local marks = vim.tbl_map(
  function(d) return { d.lnum, d.user_data.lsp.data.hunk } end, vim.diagnostic.get(0))
table.sort(marks, function(a, b) return a[1] < b[1] end)
return marks";

const STOP: &str = "vim.lsp.get_clients({ name = 'ropewalk' })[1]:stop()";

/// See the module.
pub(super) struct NeovimDesk {
    rpc: Rpc,
    version: String,
}

impl NeovimDesk {
    /// Starts Neovim and in it the server, and opens the file.
    pub(super) fn open(home: &DemoHome, neovim: &Neovim) -> anyhow::Result<Self> {
        let mut command = Command::new(&neovim.program);
        command.args(["--embed", "--headless", "--clean", "-n"]).current_dir(home.workspace());
        command.env_clear().envs(home.environment());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let rpc = Rpc::start(command)
            .with_context(|| format!("{} can't be started", neovim.program.display()))?;
        let mut desk = Self { rpc, version: neovim.version.clone() };
        desk.rpc.lua(OPEN, json!([FILE, DemoHome::server()?, home.workspace()]))?;
        desk.rpc.wait("the server", |rpc| Ok(rpc.heard("attached").next().map(drop)))?;
        Ok(desk)
    }
}

impl DemoDesk for NeovimDesk {
    fn name(&self) -> String {
        format!("Neovim {}", self.version)
    }

    fn text(&mut self) -> anyhow::Result<String> {
        let text = self.rpc.lua(TEXT, json!([]))?;
        text.as_str().map(str::to_owned).context("Neovim gave no text")
    }

    fn type_line(&mut self, line: &str) -> anyhow::Result<()> {
        self.rpc.lua(TYPE, json!([line])).map(drop)
    }

    fn execute(&mut self, command: &str, argument: Value) -> anyhow::Result<()> {
        let before = self.rpc.heard("answer").count();
        self.rpc.lua(EXECUTE, json!([command, argument]))?;
        let answer = self.rpc.wait(command, |rpc| Ok(rpc.heard("answer").nth(before).cloned()))?;
        let refusal = answer.get(0).and_then(Value::as_str);
        ensure!(refusal == Some(""), "{command}: {answer}");
        Ok(())
    }

    fn events(&mut self) -> Vec<Value> {
        self.rpc.heard("event").map(|arguments| arguments[0].clone()).collect()
    }

    fn wait<T>(
        &mut self,
        what: &str,
        mut find: impl FnMut(&[Value]) -> Option<T>,
    ) -> anyhow::Result<T> {
        self.rpc.wait(what, |rpc| {
            let events: Vec<_> = rpc.heard("event").map(|heard| heard[0].clone()).collect();
            Ok(find(&events))
        })
    }

    fn wait_for_marks(&mut self, hunks: &[&Value]) -> anyhow::Result<()> {
        let wanted: Vec<Value> =
            hunks.iter().map(|hunk| json!([hunk["line"], hunk["id"]])).collect();
        self.rpc.wait("the marks of what is pending", |rpc| {
            let shown = rpc.lua(MARKS, json!([]))?;
            // Lua has one empty table for lists and maps.
            Ok(shown.as_array().map_or(&[][..], Vec::as_slice).eq(&wanted).then_some(()))
        })
    }

    fn save(&mut self) -> anyhow::Result<()> {
        self.rpc.call("nvim_command", json!(["write"])).map(drop)
    }

    fn close(mut self) -> anyhow::Result<()> {
        self.rpc.lua(STOP, json!([]))?;
        let exit =
            self.rpc.wait("the end of the server", |rpc| Ok(rpc.heard("exit").next().cloned()))?;
        ensure!(exit == json!([0, 0]), "the server ended with code and signal {exit}");
        self.rpc.close()
    }
}
