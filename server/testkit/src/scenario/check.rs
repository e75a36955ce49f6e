//! Checks of the screen against the lines of a page.
//!
//! Waits are for something that is seen, never for a time.

use super::{ClientStyle, plugin};
use crate::editor::{EditorMemory, FakeEditor, RpcError, ShownMessage};
use ropewalk_workspace::DocId;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest wait for something on the disk.
const BOUND: Duration = Duration::from_secs(60);

/// State of the checks: prompts counted, and messages that were looked at.
#[derive(Debug)]
pub(super) struct Checks {
    client: ClientStyle,
    prompts: usize,
    ends: usize,
    /// Approvals that were answered.
    answers: usize,
    /// The messages that were looked at, by their place in the order of arrival.
    read: Vec<usize>,
    /// The questions in dialogs that were looked at, the same way.
    heard: Vec<usize>,
    /// The words that our plugin has shown of events, and that were looked at.
    shown: Vec<usize>,
}

impl Checks {
    pub(super) fn new(client: ClientStyle) -> Self {
        let (read, heard, shown) = (Vec::new(), Vec::new(), Vec::new());
        Self { client, prompts: 0, ends: 0, answers: 0, read, heard, shown }
    }

    pub(super) fn prompted(&mut self) {
        self.prompts += 1;
    }

    /// The server is gone: what it has shown counts no more, and the turns that ran have ended with it.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.client);
    }

    pub(super) fn answered(&mut self) {
        self.answers += 1;
    }

    /// Waits until the user can see the next call that waits for them.
    pub(super) fn question(&mut self, editor: &FakeEditor) -> Result<(), String> {
        let (answered, client) = (self.answers, self.client);
        editor.try_wait_for("a call that waits", |seen| {
            if client == ClientStyle::Plugin {
                return (plugin::questions(&seen.events()) > answered).then_some(());
            }
            let progress = seen.progress();
            let asked = progress.iter().filter(|it| it.message == "waits for your approval");
            let messages = seen.messages();
            let told = messages.iter().filter(|it| it.text.contains(" asks to run ") && !it.logged);
            (asked.count().max(told.count()) > answered).then_some(())
        })?;
        self.answered();
        Ok(())
    }

    /// Waits for the end of a turn and compares its stop reason.
    pub(super) fn end(&mut self, editor: &FakeEditor, reason: &str) -> Result<(), String> {
        if !shows_progress(editor) {
            return Err("this editor shows no progress: wait for a message".to_owned());
        }
        let end = editor.wait_for_turn_end();
        self.ends += 1;
        if end.stop_reason == reason {
            return Ok(());
        }
        let said = editor.with(EditorMemory::messages).into_iter().map(|message| message.text);
        let said = said.collect::<Vec<_>>().join("\n");
        Err(format!(
            "the turn should end with {reason}, but ends with {}:\n{said}",
            end.stop_reason
        ))
    }

    /// Waits for the end of a turn that ends with these words.
    pub(super) fn last_end(&mut self, editor: &FakeEditor, words: &str) -> Result<(), String> {
        if shows_progress(editor) {
            self.end(editor, "end_turn")
        } else {
            self.message(editor, words)
        }
    }

    pub(super) fn all_ended(&self, editor: &FakeEditor) -> Result<(), String> {
        if self.prompts == self.ends || !shows_progress(editor) {
            return Ok(());
        }
        Err(format!("{} prompts, but {} ends of turns were waited for", self.prompts, self.ends))
    }

    /// Waits for a message, or a question in a dialog, with these words that nobody has looked at yet.
    pub(super) fn message(&mut self, editor: &FakeEditor, words: &str) -> Result<(), String> {
        let Self { client, read, heard, shown, .. } = self;
        editor.try_wait_for(&format!("a message with {words:?}"), |seen| {
            let unread = |texts: Vec<String>, read: &mut Vec<usize>| {
                let mut numbered = texts.iter().enumerate();
                let found = numbered.find(|(at, text)| !read.contains(at) && text.contains(words));
                found.map(|(at, _)| read.push(at))
            };
            let messages = seen.messages().into_iter().map(|message| message.text).collect();
            let found = unread(messages, read).or_else(|| unread(questions(seen), heard));
            match client {
                ClientStyle::Stock => found,
                ClientStyle::Plugin => {
                    found.or_else(|| unread(plugin::words(&seen.events()), shown))
                }
            }
        })
    }

    /// Every message was looked at, but the last words. One that is logged whole may have been shown in
    /// short too.
    pub(super) fn no_message_is_left(
        &self,
        editor: &FakeEditor,
        last_words: &str,
    ) -> Result<(), String> {
        let messages = editor.with(EditorMemory::messages);
        let is_read = |at: &usize| self.read.contains(at);
        let is_known = |message: &ShownMessage| {
            // A teammate's message is shown only if the lead has not read it before.
            let head = message.text.split(": ").next().unwrap_or_default();
            // An earlier session is offered only if nobody resumes it before that.
            let is_offer = message.logged && message.text.contains(" can be resumed: ");
            if message.text.starts_with(last_words) || head.contains(" to you") || is_offer {
                return true;
            }
            // Behind the start stands what waits.
            let short = message.text.split(" · ").next().unwrap_or_default();
            let start = short.trim_end_matches('…');
            let mut read = self.read.iter().filter_map(|at| messages.get(*at));
            read.any(|other| other.text.starts_with(start))
        };
        let left =
            messages.iter().enumerate().find(|(at, message)| !is_read(at) && !is_known(message));
        left.map_or(Ok(()), |(_, message)| {
            Err(format!("the page does not speak of this message:\n{}", message.text))
        })
    }

    /// Waits until the progress of the last turn is this, line for line; a wanted line that ends in `…` is
    /// the start of one.
    pub(super) fn progress(&self, editor: &FakeEditor, wanted: &[String]) -> Result<(), String> {
        let mut last = Vec::new();
        let found = editor.try_wait_for("that progress", |seen| {
            let all = seen.own_progress();
            let token = all.last().map(|progress| progress.token.clone());
            let of_turn =
                all.into_iter().filter(|progress| Some(&progress.token) == token.as_ref());
            last = of_turn.map(|progress| progress.message).collect();
            is_progress(&last, wanted).then_some(())
        });
        found.map_err(|words| differs("the progress", &wanted.join("\n"), &last.join("\n"), &words))
    }

    /// Waits until the pending hunks are these.
    pub(super) fn hunks(
        &self,
        editor: &FakeEditor,
        base: &Path,
        wanted: &[String],
    ) -> Result<(), String> {
        let (mut last, client) = (String::new(), self.client);
        let wanted = wanted.join("\n");
        let found = editor.try_wait_for("those hunks", |seen| {
            last = listed(&shown_hunks(seen, base, client));
            (last == wanted).then_some(())
        });
        found.map_err(|words| differs("the hunks", &wanted, &last, &words))
    }

    /// Puts the id of the pending hunk at a place into a command's argument that names the place.
    pub(super) fn with_hunk(
        &self,
        editor: &FakeEditor,
        base: &Path,
        mut argument: Value,
    ) -> Result<Value, String> {
        let Some(hunk) = argument.get_mut("hunk") else { return Ok(argument) };
        let Some(place) = hunk.as_str().filter(|place| place.contains(':')) else {
            return Ok(argument);
        };
        let shown = editor.with(|seen| shown_hunks(seen, base, self.client));
        let found = shown.iter().find(|hunk| hunk.place == place);
        let id = found.map(|found| found.id.clone());
        *hunk = id.ok_or_else(|| {
            format!("no pending hunk stands at {place}, but these:\n{}", listed(&shown))
        })?;
        Ok(argument)
    }

    /// Compares what a command has answered: objects must have the wanted members.
    pub(super) fn answer(
        answer: &Result<Value, RpcError>,
        wanted: &Result<Value, String>,
    ) -> Result<(), String> {
        let fits = match (answer, wanted) {
            (Ok(answer), Ok(wanted)) => has(answer, wanted),
            (Err(error), Err(words)) => error.message.contains(words.as_str()),
            _ => false,
        };
        if fits { Ok(()) } else { Err(format!("should give {wanted:?}, but gives {answer:?}")) }
    }

    /// Compares the bytes of a file with `wanted`, None for no file. While a server runs (`is_served`), it compares
    /// again until [`BOUND`]: a command of the server returns before its files are written.
    pub(super) fn disk(path: &Path, wanted: Option<&[u8]>, is_served: bool) -> Result<(), String> {
        let end = Instant::now() + if is_served { BOUND } else { Duration::ZERO };
        let found = loop {
            let found = std::fs::read(path).ok();
            if found.as_deref() == wanted {
                return Ok(());
            }
            if Instant::now() >= end {
                break found;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let shown = |bytes: Option<&[u8]>| {
            bytes.map_or_else(
                || "(no file)".to_owned(),
                |bytes| format!("{:?}", String::from_utf8_lossy(bytes)),
            )
        };
        Err(format!(
            "{} should be\n{}\nbut is\n{}",
            path.display(),
            shown(wanted),
            shown(found.as_deref())
        ))
    }
}

fn shows_progress(editor: &FakeEditor) -> bool {
    editor.with(|seen| seen.client().profile.window)
}

/// The words of all dialogs so far.
fn questions(seen: &mut EditorMemory) -> Vec<String> {
    let dialogs = seen.take("window/showMessageRequest").into_iter();
    dialogs.filter_map(|params| params.get("message")?.as_str().map(str::to_owned)).collect()
}

fn has(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| value.get(key).is_some_and(|value| has(value, wanted))),
        (Value::Array(values), Value::Array(wanted)) => {
            let mut both = values.iter().zip(wanted);
            values.len() == wanted.len() && both.all(|(value, wanted)| has(value, wanted))
        }
        _ => value == wanted,
    }
}

fn is_progress(found: &[String], wanted: &[String]) -> bool {
    let fits = |(found, wanted): (&String, &String)| fits(found, wanted);
    found.len() == wanted.len() && found.iter().zip(wanted).all(fits)
}

/// True if a line is the wanted one, in which `…` stands for any text.
fn fits(found: &str, wanted: &str) -> bool {
    let Some((start, rest)) = wanted.split_once('…') else { return found == wanted };
    let Some(left) = found.strip_prefix(start) else { return false };
    let is_rest_from = |at| left.get(at..).is_some_and(|left| fits(left, rest));
    (0..=left.len()).any(is_rest_from)
}

fn differs(what: &str, wanted: &str, found: &str, log: &str) -> String {
    format!("{what} should be\n{wanted}\nbut is\n{found}\n{log}")
}

/// A pending hunk as the editor shows it.
struct ShownChange {
    /// File and line, as `a.txt:3`.
    place: String,
    /// Which commands made it, as ` by COMMAND`.
    by: String,
    id: Value,
    /// The lines that go and come.
    lines: Vec<String>,
}

/// The pending hunks as the editor shows them now, by file and line.
fn shown_hunks(seen: &mut EditorMemory, base: &Path, client: ClientStyle) -> Vec<ShownChange> {
    match client {
        ClientStyle::Stock => in_diagnostics(seen, base),
        ClientStyle::Plugin => {
            plugin::hunks(&seen.events()).iter().map(|hunk| told(hunk, base)).collect()
        }
    }
}

/// A pending hunk as an event tells it.
fn told(hunk: &Value, base: &Path) -> ShownChange {
    let text = |name: &str| hunk.get(name).and_then(Value::as_str).unwrap_or_default();
    let file = DocId::from_uri(text("uri")).path().unwrap_or_default();
    let file = file.strip_prefix(base).unwrap_or(&file).display().to_string();
    let line = hunk.get("line").and_then(Value::as_u64).unwrap_or_default().saturating_add(1);
    let commands = hunk.get("commands").and_then(Value::as_array).into_iter().flatten();
    let commands: Vec<String> =
        commands.filter_map(Value::as_str).map(|command| format!("`{command}`")).collect();
    let by = match commands.is_empty() {
        true => String::new(),
        false => format!(" by {}", commands.join(", ")),
    };
    let id = hunk.get("id").cloned().unwrap_or_default();
    ShownChange { place: format!("{file}:{line}"), by, id, lines: changed(text("diff").lines()) }
}

/// The lines of a diff that go and come.
fn changed<'a>(diff: impl Iterator<Item = &'a str>) -> Vec<String> {
    let is_changed = |line: &&str| !line.starts_with("@@") && !line.starts_with(' ');
    diff.filter(is_changed).map(str::to_owned).collect()
}

/// The same by file and line as diagnostics show them.
fn in_diagnostics(seen: &mut EditorMemory, base: &Path) -> Vec<ShownChange> {
    let mut by_uri: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for mut params in seen.take("textDocument/publishDiagnostics") {
        let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let diagnostics = params.get_mut("diagnostics").map(Value::take);
        let Some(Value::Array(diagnostics)) = diagnostics else { continue };
        by_uri.insert(uri, diagnostics);
    }
    let mut hunks = Vec::new();
    for (uri, diagnostics) in &by_uri {
        let shown = |path: &Path| path.strip_prefix(base).unwrap_or(path).display().to_string();
        let file = shown(&DocId::from_uri(uri).path().unwrap_or_default());
        for diagnostic in diagnostics {
            let Some(id) = diagnostic.pointer("/data/hunk") else { continue };
            // A new file stands in another document, at a line that is none of its own.
            let own = diagnostic.pointer("/data/uri").and_then(Value::as_str);
            let own = own.filter(|own| DocId::from_uri(own) != DocId::from_uri(uri));
            let own = own.map(|own| DocId::from_uri(own).path().unwrap_or_default());
            let file = own.as_ref().map_or_else(|| file.clone(), |own| shown(own));
            let line = diagnostic.pointer("/range/start/line").and_then(Value::as_u64);
            let line = line.filter(|_| own.is_none()).unwrap_or_default().saturating_add(1);
            let message = diagnostic.get("message").and_then(Value::as_str).unwrap_or_default();
            let mut body = message.lines();
            let head = body.next().unwrap_or_default();
            let by = head.split(" · ").find(|part| part.starts_with("by `"));
            let by = by.map(|by| format!(" {by}")).unwrap_or_default();
            hunks.push(ShownChange {
                place: format!("{file}:{line}"),
                by,
                id: id.clone(),
                lines: changed(body),
            });
        }
    }
    hunks
}

/// As a page lists them.
fn listed(hunks: &[ShownChange]) -> String {
    let mut lines = Vec::new();
    for hunk in hunks {
        lines.push(format!("{}{}", hunk.place, hunk.by));
        lines.extend(hunk.lines.iter().cloned());
    }
    lines.join("\n")
}
