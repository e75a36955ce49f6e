//! A folder with files, our server with a scripted model behind it, and fake editors that open the folder.

use super::BOUND;
use super::agent::Agent;
use super::home::Searched;
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Messages that the server sends unasked, for a test that looks at none of them.
pub const QUIET: &[Kind] =
    &[Kind::Progress, Kind::Diagnostics, Kind::Message, Kind::Log, Kind::Event];

/// See the module.
pub struct Stage {
    /// The model and the configuration.
    pub agent: Agent,
    /// The folder.
    pub folder: Searched,
}

impl Stage {
    /// A folder with these files, and sessions that begin in `mode`.
    pub fn new(
        mode: &str,
        files: &[(&str, &str)],
        replies: impl IntoIterator<Item = ScriptedReply>,
    ) -> Self {
        let folder = Searched::new();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { agent: Agent::new(mode, replies), folder }
    }

    /// An editor with the folder as its only root, and no options.
    pub fn editor(&self, profile: Profile) -> FakeEditor {
        self.editor_with(profile, Value::Null)
    }

    /// An editor as [`Stage::editor`] gives it, with [`QUIET`] ignored.
    pub fn quiet_editor(&self, profile: Profile) -> FakeEditor {
        let editor = self.editor(profile);
        editor.ignore(QUIET);
        editor
    }

    /// An editor with these `initializationOptions`.
    pub fn editor_with(&self, profile: Profile, options: Value) -> FakeEditor {
        self.editor_in(profile, &[self.folder.path()], options, &[])
    }

    /// An editor with these roots, and more variables for the server.
    pub fn editor_in(
        &self,
        profile: Profile,
        roots: &[&Path],
        options: Value,
        env: &[(&str, String)],
    ) -> FakeEditor {
        let [program, argument] = Agent::command();
        let mut all = self.agent.environment();
        all.extend(env.iter().map(|(name, value)| (*name, value.clone())));
        FakeEditor::spawn(program, &[argument], &all, profile, roots, options).unwrap()
    }

    /// An editor whose server has died and is started again, with the documents that were open.
    pub fn editor_again(&self, profile: Profile, open: &[(String, String)]) -> FakeEditor {
        let [program, argument] = Agent::command();
        let (env, roots) = (self.agent.environment(), [self.folder.path()]);
        let options = Value::Null;
        FakeEditor::spawn_again(program, &[argument], &env, profile, &roots, options, open).unwrap()
    }

    /// The end of a test: the editor leaves, and the model was asked what it should be and nothing else.
    pub fn end(self, editor: FakeEditor) {
        editor.shutdown();
        self.agent.model.finish().unwrap();
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The text of a file on the disk.
    pub fn disk(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Another text of a file on the disk.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }
}

/// Prompts, waits for the end of the turn, and gives its stop reason. What went wrong is printed.
pub fn turn(editor: &FakeEditor, words: &str) -> String {
    editor.prompt(words);
    let end = editor.wait_for_turn_end();
    if let Some(message) = end.message {
        eprintln!("the turn ended with: {message}");
    }
    end.stop_reason
}

/// Waits until this many reviews are done, for an editor with the option `events`.
pub fn wait_for_reviews(editor: &FakeEditor, count: usize) {
    editor.wait_for("the reviews", |seen| {
        let events = seen.events().into_iter();
        (events.filter(|event| event["type"] == "reviewed").count() >= count).then_some(())
    });
}

/// Waits until something is so on the disk, of which no message tells.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + BOUND;
    while !is_so() {
        assert!(std::time::Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A call that runs a command.
pub fn bash(command: &str) -> ScriptedReply {
    ScriptedReply::new().call("bash", json!({ "command": command }))
}

/// A call that reads a file.
pub fn read(path: &str) -> ScriptedReply {
    ScriptedReply::new().call("read_file", json!({ "path": path }))
}

/// A call that edits a file.
pub fn edit(path: &str, old: &str, new: &str) -> ScriptedReply {
    ScriptedReply::new().call("edit_file", edit_input(path, old, new))
}

/// The input of a call that edits a file.
pub fn edit_input(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "old_text": old, "new_text": new })
}

/// An answer in words.
pub fn say(words: &str) -> ScriptedReply {
    ScriptedReply::new().text(words)
}
