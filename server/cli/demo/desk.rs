//! Where the demo's user sits: an editor that has the demo's file open and our server attached. Here is what
//! the story needs of any editor, and the one that is part of this program.

use super::home::{DemoHome, FILE};
use anyhow::Context;
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile};
use serde_json::{Value, json};

/// An editor with the demo's file open, nothing typed yet, and the server attached with `events`.
///
/// Every wait has a bound and fails with words for what it waited for. Dropping a desk ends its processes.
pub(super) trait DemoDesk {
    /// The editor's name for the reader, as in "an editor as strict as VS Code".
    fn name(&self) -> String;

    /// The file's text as the editor shows it.
    fn text(&mut self) -> anyhow::Result<String>;

    /// Types a line above the first, key by key, and doesn't wait for the server.
    fn type_line(&mut self, line: &str) -> anyhow::Result<()>;

    /// Runs a command of the server and waits for its answer, null for no argument. What was typed before
    /// has reached the server then.
    fn execute(&mut self, command: &str, argument: Value) -> anyhow::Result<()>;

    /// All events of the session so far.
    fn events(&mut self) -> Vec<Value>;

    /// Waits until `find` finds something in the events.
    fn wait<T>(&mut self, what: &str, find: impl FnMut(&[Value]) -> Option<T>)
    -> anyhow::Result<T>;

    /// Waits until the editor shows a diagnostic for each of these hunks, and no other.
    fn wait_for_marks(&mut self, hunks: &[&Value]) -> anyhow::Result<()>;

    /// Saves the file.
    fn save(&mut self) -> anyhow::Result<()>;

    /// Closes the editor as its user does. All its processes have ended then, and well.
    fn close(self) -> anyhow::Result<()>;
}

/// The fake editor, which fails with a panic where a real one would be wrong.
pub(super) struct FakeDesk(FakeEditor);

impl FakeDesk {
    /// Starts the server and opens the file.
    pub(super) fn open(home: &DemoHome) -> anyhow::Result<Self> {
        Self::open_with(home, json!({ "events": true }))
    }

    /// The same with these options of the client's.
    pub(super) fn open_with(home: &DemoHome, options: Value) -> anyhow::Result<Self> {
        let editor = FakeEditor::spawn(
            DemoHome::server()?,
            &["lsp"],
            &home.environment(),
            Profile::VSCODE,
            &[&home.workspace()],
            options,
        )
        .context("the server can't be started")?;
        editor.ignore(&[Kind::Progress, Kind::Event, Kind::Diagnostics, Kind::Technical]);
        editor.open(FILE);
        Ok(Self(editor))
    }
}

impl DemoDesk for FakeDesk {
    fn name(&self) -> String {
        "an editor as strict as VS Code".to_owned()
    }

    fn text(&mut self) -> anyhow::Result<String> {
        Ok(self.0.text(FILE))
    }

    fn type_line(&mut self, line: &str) -> anyhow::Result<()> {
        self.0.type_at(FILE, 0, 0, &format!("{line}\n"));
        Ok(())
    }

    fn execute(&mut self, command: &str, argument: Value) -> anyhow::Result<()> {
        // The server's answers come in the order of what was sent, keys and commands alike.
        self.0.execute(command, argument).map(drop).with_context(|| command.to_owned())
    }

    fn events(&mut self) -> Vec<Value> {
        self.0.events()
    }

    fn wait<T>(
        &mut self,
        what: &str,
        mut find: impl FnMut(&[Value]) -> Option<T>,
    ) -> anyhow::Result<T> {
        let found = self.0.try_wait_for(what, |seen| find(&seen.events()));
        found.map_err(anyhow::Error::msg)
    }

    fn wait_for_marks(&mut self, hunks: &[&Value]) -> anyhow::Result<()> {
        let uri = self.0.uri(FILE);
        let wanted: Vec<Value> = hunks.iter().map(|hunk| hunk["id"].clone()).collect();
        let shown = self.0.try_wait_for("the marks of what is pending", |seen| {
            let shown = seen.diagnostics(&uri);
            let shown = shown.iter().map(|shown| shown.pointer("/data/hunk"));
            shown.eq(wanted.iter().map(Some)).then_some(())
        });
        shown.map_err(anyhow::Error::msg)
    }

    fn save(&mut self) -> anyhow::Result<()> {
        self.0.save(FILE);
        Ok(())
    }

    fn close(self) -> anyhow::Result<()> {
        self.0.shutdown();
        Ok(())
    }
}
