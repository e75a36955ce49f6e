//! Neovim without the plugin, as editors/neovim/stock.lua sets it up, and the answers that it shows.

use super::agent::Agent;
use super::nvim::Nvim;
use serde_json::json;
use std::path::Path;

/// The Lua code that users are told to take.
const RECIPE: &str = include_str!("../../editors/neovim/stock.lua");

/// Neovim as the recipe sets it up, in `folder`. `is_there` says if `ropewalk` is on the path.
pub fn start(agent: &Agent, folder: &Path, is_there: bool) -> Nvim {
    let programs = agent.folder("programs");
    std::fs::create_dir_all(&programs).unwrap();
    if is_there && !programs.join("ropewalk").exists() {
        std::os::unix::fs::symlink(Agent::command()[0], programs.join("ropewalk")).unwrap();
    }
    let mut environment = agent.environment();
    let path = std::env::var("PATH").unwrap();
    environment.push(("PATH", format!("{}:{path}", programs.display())));
    let init = agent.folder("init.lua");
    std::fs::write(&init, RECIPE).unwrap();
    let nvim = Nvim::start_with(folder, &environment);
    nvim.command(&format!("luafile {}", init.display()));
    nvim
}

/// All answers so far.
pub fn answers(nvim: &Nvim) -> String {
    let lines: Vec<String> = nvim.lua(
        "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('^Ropewalk$'), 0, -1, true)",
        json!([]),
    );
    lines.join("\n")
}

pub fn wait_for_answer(nvim: &Nvim, words: &str) {
    nvim.wait_for(words, |nvim| answers(nvim).contains(words).then_some(()));
}

/// Nothing went wrong, and nothing wants a key.
pub fn assert_quiet(nvim: &Nvim) {
    let messages = nvim.messages();
    for words in ["stack traceback", "Error", "E5108"] {
        assert!(!messages.contains(words), "{messages}");
    }
    assert!(!nvim.blocked(), "{}", nvim.screen().join("\n"));
}
