//! The fake editor over the protocol: it starts a server, or takes any pair of pipes, and behaves as its
//! profile says.
//!
//! Threads and condition variables, no clock: every wait is for something that was seen, with a bound only as
//! a guard, and tells the whole conversation when it fails. What a profile holds back stays held until an edit
//! of the server's, a request, a save or [`FakeEditor::flush`]. Dropping an editor fails the test when the
//! server sent something that nobody looked at, or something this client has not agreed to.

mod frames;
mod link;
mod seen;

pub use seen::{Dialog, EditorMemory, Kind, ProgressReport, RpcError, ShownMessage, TurnEnd};

use super::buffer::EchoShape;
use super::client::Handling;
use super::profile::{Profile, encoding_name, encoding_of};
use crate::planted;
use link::{EditorLink, SharedLink};
use ropewalk_text::{Coordinates, Position, PositionEncoding};
use ropewalk_workspace::DocId;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};

/// A place as a user names it: line and character (Unicode scalar values), both from zero.
pub type UserPlace = (u32, u32);

/// A code action or a lens.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionOffer {
    /// Title that the user reads.
    pub title: String,
    /// The kind of a code action.
    pub kind: Option<String>,
    /// The first line of a lens.
    pub line: Option<u64>,
    /// The command behind it.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<Value>,
}

/// See the module.
#[derive(Debug)]
pub struct FakeEditor {
    shared: Arc<SharedLink>,
    link: EditorLink,
    roots: Vec<PathBuf>,
    capabilities: Value,
}

impl FakeEditor {
    /// Starts a server process with these environment variables, `PATH` and no others, and shakes hands. Its log
    /// goes where [`planted::LOGS`] says.
    ///
    /// # Errors
    /// When the program can't be started, or doesn't answer `initialize` as it must.
    pub fn spawn(
        program: impl AsRef<Path>,
        args: &[&str],
        env: &[(&str, String)],
        profile: Profile,
        roots: &[&Path],
        initialization_options: Value,
    ) -> io::Result<Self> {
        Self::spawn_again(program, args, env, profile, roots, initialization_options, &[])
    }

    /// As [`FakeEditor::spawn`], with documents that are open already: their texts follow the handshake at once,
    /// as from an editor whose server has died.
    ///
    /// # Errors
    /// As for [`FakeEditor::spawn`].
    pub fn spawn_again(
        program: impl AsRef<Path>,
        args: &[&str],
        env: &[(&str, String)],
        profile: Profile,
        roots: &[&Path],
        initialization_options: Value,
        open: &[(String, String)],
    ) -> io::Result<Self> {
        let mut command = Command::new(program.as_ref());
        command.env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        // A test with a log of its own sees to it.
        if !args.contains(&"--log") {
            planted::log_everything(&mut command);
        }
        command.args(args);
        command.envs(env.iter().map(|(name, value)| (*name, value)));
        if let Some(root) = roots.first() {
            command.current_dir(root);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = child.stdout.take().zip(child.stdin.take());
        let (output, input) = pipes.ok_or_else(|| io::Error::other("the process has no pipes"))?;
        let pipes = (output, input);
        Self::start(pipes, Some(child), profile, roots, initialization_options, open)
    }

    /// Shakes hands with a server over its output and its input.
    ///
    /// # Errors
    /// When it doesn't answer `initialize` as it must.
    pub fn connect(
        from_server: impl Read + Send + 'static,
        to_server: impl Write + Send + 'static,
        profile: Profile,
        roots: &[&Path],
        initialization_options: Value,
    ) -> io::Result<Self> {
        let pipes = (from_server, to_server);
        Self::start(pipes, None, profile, roots, initialization_options, &[])
    }

    fn start(
        (from_server, to_server): (impl Read + Send + 'static, impl Write + Send + 'static),
        child: Option<std::process::Child>,
        profile: Profile,
        roots: &[&Path],
        initialization_options: Value,
        open: &[(String, String)],
    ) -> io::Result<Self> {
        let (sender, frames) = mpsc::channel();
        let mut agreed = profile;
        if initialization_options.get("edits") == Some(&Value::Bool(true)) {
            agreed.apply_edit = Some(true);
        }
        let shared = SharedLink::new(EditorMemory::new(agreed, sender));
        let link = EditorLink::start(&shared, from_server, to_server, frames, child);
        let roots = roots.iter().map(|root| root.to_path_buf()).collect();
        let mut editor = Self { shared, link, roots, capabilities: Value::Null };
        let mut params = profile.initialize();
        if let Some(object) = params.as_object_mut() {
            let folders: Vec<Value> = editor.roots.iter().map(|root| folder(root)).collect();
            let first = folders.first().and_then(|folder| folder.get("uri")).cloned();
            object.insert("rootUri".to_owned(), first.unwrap_or_default());
            object.insert("workspaceFolders".to_owned(), json!(folders));
            if !initialization_options.is_null() {
                object.insert("initializationOptions".to_owned(), initialization_options);
            }
        }
        let result = editor.request("initialize", &params).map_err(io::Error::other)?;
        editor.capabilities = result.get("capabilities").cloned().unwrap_or_default();
        let named = editor.capabilities.get("positionEncoding").and_then(Value::as_str);
        let encoding = encoding_of(named);
        let offered = profile.encodings.contains(&encoding) || encoding == PositionEncoding::Utf16;
        if !offered {
            let name = encoding_name(encoding);
            return Err(io::Error::other(format!(
                "the server chose {name}, which was not offered"
            )));
        }
        {
            let mut seen = editor.shared.lock();
            seen.client.coordinates.encoding = encoding;
            // In one go: nothing the server asks is answered in between.
            seen.send(&frames::message("initialized", &json!({}), None));
            for (uri, text) in open {
                seen.client.open(uri, text);
            }
            seen.pump();
        }
        Ok(editor)
    }

    /// Capabilities that the server declared.
    pub fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    /// The URI of a document: a path, relative ones from the first root, or a URI as it is.
    pub fn uri(&self, name: impl AsRef<Path>) -> String {
        let name = name.as_ref();
        if let Some(text) = name.to_str()
            && (text.contains("://") || DocId::from_uri(text).is_untitled())
        {
            return text.to_owned();
        }
        DocId::from_path(&self.path(name)).to_uri()
    }

    fn path(&self, name: &Path) -> PathBuf {
        self.roots.first().map_or_else(|| name.to_owned(), |root| root.join(name))
    }

    /// Opens a file with its text on the disk.
    pub fn open(&self, name: impl AsRef<Path>) {
        let path = self.path(name.as_ref());
        let text = std::fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
        self.open_with(name, &text);
    }

    /// Opens a document with this text, whatever the disk has: unsaved text of an earlier day.
    pub fn open_with(&self, name: impl AsRef<Path>, text: &str) {
        let uri = self.uri(name);
        let mut seen = self.shared.lock();
        seen.client.open(&uri, text);
        seen.pump();
    }

    /// Closes a document; unsaved text is gone.
    pub fn close(&self, name: impl AsRef<Path>) {
        let uri = self.uri(name);
        let mut seen = self.shared.lock();
        seen.client.close(&uri);
        seen.pump();
    }

    /// Saves a document to the disk.
    pub fn save(&self, name: impl AsRef<Path>) {
        let uri = self.uri(name);
        if !self.shared.lock().save_to_disk(&uri) {
            fail(&format!("{uri} can't be saved: it is not open, or has no place on the disk"));
        }
    }

    /// The text of an open document; it fails the test when it is not open.
    pub fn text(&self, name: impl AsRef<Path>) -> String {
        let uri = self.uri(name);
        let text = self.shared.lock().text(&uri);
        text.unwrap_or_else(|| fail(&format!("{uri} is not open")))
    }

    /// The user inserts a text in one step.
    pub fn insert(&self, name: impl AsRef<Path>, line: u32, column: u32, text: &str) {
        self.replace(name, (line, column), (line, column), text);
    }

    /// The user types: one step of the undo list, and one notification if nothing is held back, for each key.
    pub fn type_at(&self, name: impl AsRef<Path>, line: u32, column: u32, keys: &str) {
        let uri = self.uri(name);
        let mut seen = self.shared.lock();
        let start = index(&seen, &uri, (line, column));
        for (at, key) in (start..).zip(keys.chars()) {
            seen.client.replace(&uri, at..at, key.encode_utf8(&mut [0; 4]));
            seen.pump();
        }
    }

    /// The user replaces a range in one step.
    pub fn replace(&self, name: impl AsRef<Path>, from: UserPlace, to: UserPlace, text: &str) {
        self.replace_as(name, from, to, text, EchoShape::AsMade);
    }

    /// As [`FakeEditor::replace`], told to the server in another shape.
    pub fn replace_as(
        &self,
        name: impl AsRef<Path>,
        from: UserPlace,
        to: UserPlace,
        text: &str,
        shape: EchoShape,
    ) {
        let uri = self.uri(name);
        let mut seen = self.shared.lock();
        let range = index(&seen, &uri, from)..index(&seen, &uri, to);
        seen.client.replace_all(&uri, vec![(range, text.to_owned())], shape);
        seen.pump();
    }

    /// The user takes back the last step of a document, whoever made it. False when there is none.
    pub fn undo(&self, name: impl AsRef<Path>) -> bool {
        let uri = self.uri(name);
        let mut seen = self.shared.lock();
        let undone = seen.client.undo(&uri);
        seen.pump();
        undone
    }

    /// The editor reads a document anew from the disk.
    pub fn reload(&self, name: impl AsRef<Path>) {
        let path = self.path(name.as_ref());
        let text = std::fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
        let uri = self.uri(name);
        let mut seen = self.shared.lock();
        seen.client.reload(&uri, &text, EchoShape::AsMade);
        seen.pump();
    }

    /// Sends what the profile holds back: the pause in typing has come.
    pub fn flush(&self) {
        self.shared.lock().flush_all();
    }

    /// Sets if an edit of the server's also ends the pause in typing. It does, unless told
    /// otherwise here.
    pub fn settle_after_edits(&self, settle: bool) {
        self.shared.lock().settles = settle;
    }

    /// How edits of the server's are handled from now on, with those that wait already; None lets them wait for
    /// [`FakeEditor::handle_next`].
    pub fn handle_edits(&self, how: Option<Handling>) {
        let mut seen = self.shared.lock();
        seen.handling = how;
        while how.is_some_and(|how| seen.handle(how)) {}
    }

    /// Waits for an edit that waits, and handles it.
    pub fn handle_next(&self, how: Handling) {
        self.wait_for("an edit of the server's", |seen| seen.handle(how).then_some(()));
    }

    /// Runs a command and waits for its answer.
    ///
    /// # Errors
    /// The server's, or with code 0 that no answer came.
    pub fn execute(&self, command: &str, argument: Value) -> Result<Value, RpcError> {
        let arguments = if argument.is_null() { json!([]) } else { json!([argument]) };
        let params = json!({ "command": command, "arguments": arguments });
        self.request("workspace/executeCommand", &params)
    }

    /// Prompts, and gives the number of the turn; fails the test when the server refuses.
    pub fn prompt(&self, words: &str) -> u64 {
        let answer = self.execute("ropewalk.prompt", json!({ "prompt": words }));
        let turn = answer.as_ref().ok().and_then(|answer| answer.get("turn")?.as_u64());
        turn.unwrap_or_else(|| fail(&format!("the prompt was not taken: {answer:?}")))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The server's, or with code 0 that no answer came.
    pub fn request(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let id = self.shared.lock().ask(method, params);
        let answer = self.shared.wait(&format!("the answer to {method}"), |s| s.take_answer(id));
        answer.unwrap_or_else(|message| Err(RpcError { code: 0, message }))
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Value) {
        self.notify_together(&[(method, params.clone())]);
    }

    /// Sends notifications in one write.
    pub fn notify_together(&self, notifications: &[(&str, Value)]) {
        let frames = notifications
            .iter()
            .flat_map(|(method, params)| frames::framed(&frames::message(method, params, None)));
        let bytes = frames.collect();
        let mut seen = self.shared.lock();
        seen.log.push(format!(
            "→ {} notifications, the first {:?}",
            notifications.len(),
            notifications.first().map(|(method, _)| method)
        ));
        seen.write(bytes);
    }

    /// New settings, sent whole.
    pub fn configure(&self, settings: Value) {
        let params = json!({ "settings": settings });
        self.shared.lock().settings = settings;
        self.notify("workspace/didChangeConfiguration", &params);
    }

    /// Other roots; relative names are still taken from the first one there was.
    pub fn change_roots(&self, added: &[&Path], removed: &[&Path]) {
        let folders = |roots: &[&Path]| roots.iter().map(|root| folder(root)).collect::<Vec<_>>();
        let event = json!({ "added": folders(added), "removed": folders(removed) });
        self.notify("workspace/didChangeWorkspaceFolders", &json!({ "event": event }));
    }

    /// The code actions for a range, without diagnostics of others.
    pub fn code_actions(
        &self,
        name: impl AsRef<Path>,
        from: UserPlace,
        to: UserPlace,
    ) -> Vec<ActionOffer> {
        self.code_actions_for(name, from, to, &json!({ "diagnostics": [] }))
    }

    /// The code actions for a range in a context of the protocol's.
    pub fn code_actions_for(
        &self,
        name: impl AsRef<Path>,
        from: UserPlace,
        to: UserPlace,
        context: &Value,
    ) -> Vec<ActionOffer> {
        let uri = self.uri(name);
        let range = self.range(&uri, from, to);
        let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
        let answer = self.request("textDocument/codeAction", &params);
        let answer = answer.unwrap_or_else(|error| fail(&error.to_string()));
        answer.as_array().into_iter().flatten().filter_map(offer).collect()
    }

    /// The lenses of a document.
    pub fn code_lenses(&self, name: impl AsRef<Path>) -> Vec<ActionOffer> {
        let params = json!({ "textDocument": { "uri": self.uri(name) } });
        let answer = self.request("textDocument/codeLens", &params);
        let answer = answer.unwrap_or_else(|error| fail(&error.to_string()));
        answer.as_array().into_iter().flatten().filter_map(offer).collect()
    }

    /// Runs what an action or a lens offers.
    ///
    /// # Errors
    /// The server's, or with code 0 that no answer came.
    pub fn run(&self, offer: &ActionOffer) -> Result<Value, RpcError> {
        let params = json!({ "command": offer.command, "arguments": offer.arguments });
        self.request("workspace/executeCommand", &params)
    }

    /// A range as the protocol has it, in this client's encoding.
    pub fn range(&self, name: impl AsRef<Path>, from: UserPlace, to: UserPlace) -> Value {
        let uri = self.uri(name);
        let seen = self.shared.lock();
        let place = |place: UserPlace| {
            let at = index(&seen, &uri, place);
            let buffer = seen.client.buffer(&uri);
            let at = buffer.map(|buffer| buffer.position(seen.client.coordinates, at));
            frames::position(at.unwrap_or_default())
        };
        json!({ "start": place(from), "end": place(to) })
    }

    /// The diagnostics shown in a document now, which are claimed with all that came before.
    pub fn diagnostics(&self, name: impl AsRef<Path>) -> Vec<Value> {
        let uri = self.uri(name);
        self.shared.lock().diagnostics(&uri)
    }

    /// All progress so far, which is claimed.
    pub fn progress(&self) -> Vec<ProgressReport> {
        self.shared.lock().progress()
    }

    /// All messages so far, shown and logged, which are claimed.
    pub fn messages(&self) -> Vec<ShownMessage> {
        self.shared.lock().messages()
    }

    /// All `ropewalk/event` so far, which are claimed.
    pub fn events(&self) -> Vec<Value> {
        self.shared.lock().events()
    }

    /// Sets the answer of this client's plugin to a request of ours.
    pub fn set_plugin_answer(&self, method: &str, answer: Value) {
        self.shared.lock().plugin_answers.insert(method.to_owned(), answer);
    }

    /// Sets the answer of this client's plugin to `ropewalk/diagnostics`.
    pub fn set_plugin_diagnostics(&self, lines: Value) {
        self.shared.lock().plugin_diagnostics = lines;
    }

    /// Nothing of these kinds needs to be looked at, now or later.
    pub fn ignore(&self, kinds: &[Kind]) {
        self.shared.lock().ignore(kinds);
    }

    /// Looks at everything, and does what is not done in other ways.
    pub fn with<T>(&self, look: impl FnOnce(&mut EditorMemory) -> T) -> T {
        look(&mut self.shared.lock())
    }

    /// Waits until `find` gives something; it is asked after every message. It fails the test, with all
    /// messages, when the server ends or the bound is reached.
    pub fn wait_for<T>(&self, what: &str, find: impl FnMut(&mut EditorMemory) -> Option<T>) -> T {
        self.try_wait_for(what, find).unwrap_or_else(|words| fail(&words))
    }

    /// As [`FakeEditor::wait_for`].
    ///
    /// # Errors
    /// In words, with all messages.
    pub fn try_wait_for<T>(
        &self,
        what: &str,
        find: impl FnMut(&mut EditorMemory) -> Option<T>,
    ) -> Result<T, String> {
        self.shared.wait(what, find)
    }

    /// Waits until a turn ends that nobody has waited for yet. It needs a client with events or progress.
    pub fn wait_for_turn_end(&self) -> TurnEnd {
        self.wait_for("the end of a turn", EditorMemory::take_turn_end)
    }

    /// Waits for a message, shown or logged, that has these words.
    pub fn wait_for_message(&self, words: &str) -> ShownMessage {
        self.wait_for(&format!("a message with {words:?}"), |seen| {
            seen.messages().into_iter().find(|message| message.text.contains(words))
        })
    }

    /// Waits until a document has this text, and fails with the text it has.
    pub fn wait_for_text(&self, name: impl AsRef<Path>, text: &str) {
        let uri = self.uri(name);
        let mut last = None;
        let found = self.try_wait_for("a text", |seen| {
            last = seen.text(&uri);
            (last.as_deref() == Some(text)).then_some(())
        });
        if let Err(words) = found {
            fail(&format!(
                "{uri} should be\n{text}\nand is\n{}\n{words}",
                last.unwrap_or_default()
            ));
        }
    }

    /// Waits for a dialog with a button of this title, presses it, and gives the dialog.
    pub fn answer_dialog(&self, title: &str) -> Dialog {
        let what = format!("a dialog with the button {title:?}");
        let dialog = self.wait_for(&what, |seen| seen.take_dialog(Some(title)));
        let answer = frames::answer(&dialog.id, Ok(json!({ "title": title })));
        self.shared.lock().send(&answer);
        dialog
    }

    /// Waits for a dialog, closes it without pressing anything, and gives it.
    pub fn dismiss_dialog(&self) -> Dialog {
        let dialog = self.wait_for("a dialog", |seen| seen.take_dialog(None));
        self.shared.lock().send(&frames::answer(&dialog.id, Ok(Value::Null)));
        dialog
    }

    /// `shutdown`, `exit`, and the end; a process must exit with 0.
    pub fn shutdown(mut self) {
        if let Err(error) = self.request("shutdown", &Value::Null) {
            fail(&format!("shutdown: {error}"));
        }
        self.notify("exit", &Value::Null);
        match self.end() {
            Some(0) | None => {}
            Some(code) => fail(&format!("the server exited with {code} after shutdown and exit")),
        }
    }

    /// Closes the server's input without a word, as an editor that was killed, and waits for the end. Gives
    /// the exit code of a process, None for one that was ended by a signal or is none.
    pub fn hang_up(mut self) -> Option<i32> {
        self.end()
    }

    /// Kills a server process at once, as a crash does, and gives the open documents with their texts: what
    /// an editor that lives on opens again.
    pub fn kill_server(mut self) -> Vec<(String, String)> {
        self.link.kill();
        // The last it has said is taken in first: it may be an edit.
        self.end();
        let seen = self.shared.lock();
        let uris = seen.client.open_uris().into_iter();
        uris.filter_map(|uri| seen.text(&uri).map(|text| (uri, text))).collect()
    }

    fn end(&mut self) -> Option<i32> {
        self.shared.lock().to_server = None;
        let ended = self.shared.wait("the end of the server", |seen| seen.ended.then_some(()));
        if let Err(words) = ended {
            self.link.kill();
            fail(&words);
        }
        self.link.join().and_then(|status| status.code())
    }
}

impl Drop for FakeEditor {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.lock().to_server = None;
            self.link.kill();
            return;
        }
        self.end();
        let left = self.shared.lock().left_over();
        if !left.is_empty() {
            fail(&format!("the server sent what nobody looked at:\n- {}", left.join("\n- ")));
        }
    }
}

/// The index of a character in an open document.
fn index(seen: &EditorMemory, uri: &str, place: UserPlace) -> usize {
    let line_ends = seen.client.coordinates.line_ends;
    let scalars = Coordinates { encoding: PositionEncoding::Utf32, line_ends };
    let buffer = seen.client.buffer(uri);
    let index = buffer.map(|buffer| buffer.index(scalars, Position::new(place.0, place.1)));
    index.unwrap_or_else(|| fail(&format!("{uri} is not open")))
}

fn folder(root: &Path) -> Value {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    json!({ "uri": DocId::from_path(root).to_uri(), "name": name.unwrap_or_default() })
}

fn offer(value: &Value) -> Option<ActionOffer> {
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    // A command alone has its name where an action has the command.
    let command = value.get("command").map(|it| if it.is_string() { value } else { it })?;
    Some(ActionOffer {
        title: text(value, "title").or_else(|| text(command, "title"))?,
        kind: text(value, "kind"),
        line: value.pointer("/range/start/line").and_then(Value::as_u64),
        command: text(command, "command")?,
        arguments: command.get("arguments").and_then(Value::as_array).cloned().unwrap_or_default(),
    })
}

#[expect(clippy::panic, reason = "what a test waits for in vain must fail the test")]
#[track_caller]
fn fail(words: &str) -> ! {
    panic!("{words}")
}
