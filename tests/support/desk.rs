//! A user at work: Neovim with one file open in a folder of its own, and a probe attached to it.
//!
//! The observations of stock Neovim start here; tests of our own server use [`Nvim`] itself.

use super::nvim::{Nvim, Server};
use super::probe::{Document, Probe, document_edits, edit};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Neovim, its probe, and the file between them.
pub struct Desk {
    /// The folder, which is the client's root.
    pub folder: tempfile::TempDir,
    /// The open file, `notes.txt` in the folder.
    pub path: PathBuf,
    /// The server's end.
    pub probe: Probe,
    /// The editor's end.
    pub nvim: Nvim,
}

impl Desk {
    /// Opens a file with this text; the probe offers nothing but incremental synchronisation.
    pub fn open(text: &str) -> Self {
        Self::open_with(text, &json!({}), json!({}))
    }

    /// As [`Desk::open`], but changes stay in the editor until something flushes them: Neovim's
    /// debounce is an hour instead of 150 ms, so that "inside the debounce" is no race.
    pub fn open_debounced(text: &str, capabilities: &Value) -> Self {
        let flags = json!({ "flags": { "debounce_text_changes": 3_600_000 } });
        Self::open_with(text, capabilities, flags)
    }

    /// Opens a file with this text, with the probe's capabilities and more of `vim.lsp.start`'s
    /// configuration.
    pub fn open_with(text: &str, capabilities: &Value, config: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, text).unwrap();
        let probe = Probe::listen(capabilities);
        let nvim = Nvim::start(folder.path());
        // A message with the file's path must fit a line, or a key would be asked for.
        nvim.call("nvim_ui_try_resize", json!([240, 24]));
        nvim.edit(&path);
        nvim.start_client("probe", &Server::Port(probe.port()), folder.path(), config);
        probe.wait_open(&path);
        Self { folder, path, probe, nvim }
    }

    /// A path in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A new file on disk, not open.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The open file as the probe knows it.
    pub fn document(&self) -> Document {
        self.probe.document(&self.path).expect("the file is open")
    }

    /// Sends edits of the open file at this version, alone in one `workspace/applyEdit`, and waits
    /// for its result.
    pub fn apply(&self, version: impl Into<Value>, edits: &[Value]) -> Value {
        self.apply_changes(&[document_edits(&self.path, version, edits)])
    }

    /// Sends a `workspace/applyEdit` of these `documentChanges` and waits for its result.
    pub fn apply_changes(&self, changes: &[Value]) -> Value {
        self.probe.apply(&json!({ "documentChanges": changes }))
    }

    /// Makes Neovim send its queued changes now, as it does before any request of its own.
    pub fn flush(&self) {
        let mark = self.probe.mark();
        self.nvim.lua::<()>(
            "local buffer = vim.api.nvim_get_current_buf() \
             vim.lsp.get_clients()[1]:request('textDocument/hover', {}, function() end, buffer)",
            json!([]),
        );
        self.probe.wait_message(mark, "textDocument/hover");
    }

    /// Flushes, and gives the content changes of the only `didChange` so far, as text edits.
    pub fn flushed_changes(&self) -> Vec<Value> {
        self.flush();
        let log = self.probe.log();
        let told: Vec<_> =
            log.iter().filter(|r| r.message["method"] == "textDocument/didChange").collect();
        assert_eq!(told.len(), 1, "one notification");
        let changes = told[0].message["params"]["contentChanges"].as_array().unwrap();
        let bare = |c: &Value| json!({ "range": c["range"], "newText": c["text"] });
        changes.iter().map(bare).collect()
    }

    /// Moves the open document off version 0 with an empty insert, so that its versions count.
    pub fn prime(&self) -> i64 {
        self.apply(0, &[edit((0, 0), (0, 0), "")]);
        self.flush();
        let version = self.document().version;
        assert!(version > 0);
        version
    }

    /// Types in normal mode and waits until the buffer has these lines.
    pub fn type_until(&self, keys: &str, lines: &[&str]) {
        self.nvim.feed(keys);
        self.nvim.wait_for_lines(lines);
    }
}

/// The file's text on disk.
pub fn disk(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
