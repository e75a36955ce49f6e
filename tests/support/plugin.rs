//! Neovim with our plugin, our server and a scripted model: a user at work, as the README sets them up.

use super::agent::Agent;
use super::nvim::Nvim;
use super::wire;
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The plugin's folder.
pub const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/editors/neovim");

/// Neovim with the plugin in a folder of files. Fields drop in order: the editor ends before the model.
pub struct Bench {
    /// The editor.
    pub nvim: Nvim,
    /// The model and the environment of the server.
    pub agent: Agent,
    /// The folder with the files.
    pub folder: tempfile::TempDir,
}

impl Bench {
    /// A folder with these files, sessions that begin in `mode`, and a model with these replies.
    pub fn new(
        mode: &str,
        files: &[(&str, &str)],
        replies: impl IntoIterator<Item = ScriptedReply>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self::with(Agent::new(mode, replies), folder, true)
    }

    /// An editor of this agent in this folder; `is_there` says if the program is on its path.
    pub fn with(agent: Agent, folder: tempfile::TempDir, is_there: bool) -> Self {
        let nvim = editor(&agent, folder.path(), is_there);
        Self { nvim, agent, folder }
    }

    /// Ends the editor and starts another one in the same place, with the same state.
    pub fn again(self) -> Self {
        let Self { nvim, agent, folder } = self;
        // It is gone before it can answer.
        let _ = nvim.try_call("nvim_command", json!(["qa!"]));
        drop(nvim);
        Self::with(agent, folder, true)
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Opens a file of the folder by its name, as a user does.
    pub fn open(&self, name: &str) {
        self.nvim.command(&format!("edit {name}"));
    }

    /// Types a command of Neovim's command line.
    pub fn run(&self, command: &str) {
        self.nvim.feed(&format!(":{}<CR>", command.replace('<', "<lt>")));
    }

    /// A part of the plugin's state, by an expression over `state`.
    pub fn state(&self, expression: &str) -> Value {
        let chunk = format!(
            "local state = require('ropewalk.hub').state return vim.json.encode({expression})"
        );
        serde_json::from_str(&self.nvim.lua::<String>(&chunk, json!([]))).unwrap()
    }

    /// Waits until an expression over the plugin's `state` is so.
    pub fn wait_for_state(&self, expression: &str, wanted: &Value) {
        self.nvim.wait_for(&format!("{expression} to be {wanted}"), |_| {
            (self.state(expression) == *wanted).then_some(())
        });
    }

    /// Waits until this many changes wait.
    pub fn wait_for_changes(&self, count: usize) {
        self.wait_for_state("#state.hunks", &json!(count));
    }

    /// Waits until no turn runs and this many have ended.
    pub fn wait_for_end(&self, turns: usize) {
        let ended = "#vim.tbl_filter(function(i) return i.kind == 'end' end, state.items)";
        self.wait_for_state(ended, &json!(turns));
    }

    /// The text of a file on the disk.
    pub fn disk(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The lines of the transcript's buffer.
    pub fn transcript(&self) -> Vec<String> {
        self.nvim.lua(
            "local buffer = vim.fn.bufnr('^ropewalk://chat$')
             return buffer < 0 and {} or vim.api.nvim_buf_get_lines(buffer, 0, -1, true)",
            json!([]),
        )
    }

    /// Waits until the transcript is there and has these words.
    pub fn wait_for_transcript(&self, words: &str) {
        self.nvim.wait_for(words, |_| self.transcript().join("\n").contains(words).then_some(()));
    }

    /// The lines of the chat's input.
    pub fn input(&self) -> Vec<String> {
        self.nvim.lua(
            "local buffer = vim.fn.bufnr('^ropewalk://input$')
             return buffer < 0 and {} or vim.api.nvim_buf_get_lines(buffer, 0, -1, true)",
            json!([]),
        )
    }

    /// Nothing went wrong, nothing wants a key, every message was of its type, and the model was asked what it should be.
    pub fn end(self) {
        let messages = self.nvim.messages();
        for words in ["stack traceback", "Error", "E5108", "E565"] {
            assert!(!messages.contains(words), "{messages}");
        }
        assert!(!self.nvim.blocked(), "{}", self.nvim.screen().join("\n"));
        let log: String = self.nvim.lua(
            "local is_there, lines = pcall(vim.fn.readfile, vim.lsp.log.get_filename()) \
             return is_there and table.concat(lines, '\\n') or ''",
            json!([]),
        );
        assert!(!log.contains("stack traceback"), "{log}");
        drop(self.nvim);
        assert_messages_are_of_their_types(&self.agent);
        self.agent.model.finish().unwrap();
    }
}

/// Fails where an editor of this agent, or its server, has sent a message that is not as `editors/protocol.json` has it.
pub fn assert_messages_are_of_their_types(agent: &Agent) {
    let faults = wire::faults(&agent.folder("records"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The variables of an editor that finds the program on its path, or doesn't. All that both say is recorded.
pub fn environment(agent: &Agent, is_there: bool) -> Vec<(&'static str, String)> {
    let programs = agent.folder("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let program = programs.join("ropewalk");
    if is_there && !program.exists() {
        wire::record(&program, Agent::command()[0], &agent.folder("records"));
    }
    let mut environment = agent.environment();
    let path = std::env::var("PATH").unwrap();
    environment.push(("PATH", format!("{}:{path}", programs.display())));
    environment
}

/// Neovim with the plugin on its runtime path, as a package manager leaves it.
fn editor(agent: &Agent, folder: &Path, is_there: bool) -> Nvim {
    let nvim = Nvim::start_with(folder, &environment(agent, is_there));
    nvim.command(&format!("set runtimepath^={PLUGIN}"));
    nvim.command("runtime plugin/ropewalk.lua");
    nvim
}

/// A user who types one key every 20 ms until told to stop.
pub struct Typist {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<String>,
}

impl Typist {
    /// Begins to type these keys, again and again.
    pub fn start(nvim: &Arc<Bench>, keys: &'static str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (bench, is_over) = (Arc::clone(nvim), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let mut typed = String::new();
            while !is_over.load(Ordering::Relaxed) {
                for key in keys.chars() {
                    let input = if key == '\n' { "<CR>".to_owned() } else { key.to_string() };
                    bench.nvim.feed(&input);
                    thread::sleep(Duration::from_millis(20));
                }
                typed.push_str(keys);
            }
            typed
        });
        Self { stop, thread }
    }

    /// Lets them type to the end of the keys, and gives all that was typed.
    pub fn end(self) -> String {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
