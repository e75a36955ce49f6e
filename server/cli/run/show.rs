//! Events on standard output: for people, or one JSON object a line for programs.
//!
//! For people: the model's words as they come, each call as `> read_file: greet.py` with the start of its
//! result below, at the end the diff of what is proposed. Thoughts and the running output of commands are
//! in the JSON alone. All words from outside are made harmless.

use crate::plain::{Plain, plain, plain_json, say};
use ropewalk_agent::Event;
use ropewalk_agent::event::Level;
use ropewalk_model::Spent;
use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::sync::Arc;

/// The form of what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For people; with colours or without.
    People {
        /// Whether there are colours.
        colours: bool,
    },
    /// For programs.
    Json,
}

impl Form {
    /// For people; colours where standard output is a terminal, unless `NO_COLOR` is set or the terminal is
    /// known to have none.
    pub(super) fn of_terminal() -> Form {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Form::People { colours: std::io::stdout().is_terminal() && !set("NO_COLOR") && !dumb }
    }
}

/// The part of an SGR sequence that says the colour.
#[derive(Clone, Copy)]
struct Colour(&'static str);

const CALL: Colour = Colour("36");
const QUIET: Colour = Colour("2");
const BAD: Colour = Colour("31");
const ADDED: Colour = Colour("32");
const REMOVED: Colour = Colour("31");
const HEADER: Colour = Colour("1");

/// Most characters of a call's title; a command can be of any length.
const LONGEST_TITLE: usize = 2_000;

/// Shows one turn. After an error of `out` nothing is written to it any more.
pub(super) struct Show<W> {
    out: W,
    form: Form,
    /// The session's id.
    session: Arc<str>,
    closed: bool,
    /// Makes the model's words harmless, which come in pieces.
    words: Plain,
    /// Whether the last line is unfinished.
    midline: bool,
    /// Whether the model has said something in this step.
    said: bool,
    /// The calls that have no result yet, as they were shown.
    calls: HashMap<Arc<str>, String>,
    /// The call that was shown last, if nothing was shown since.
    last: Option<Arc<str>>,
    /// What was used by the turn, and by the session.
    used: Option<(Spent, Spent)>,
}

impl<W: Write> Show<W> {
    pub(super) fn new(out: W, form: Form, session: Arc<str>) -> Self {
        Self {
            out,
            form,
            session,
            closed: false,
            words: Plain::default(),
            midline: false,
            said: false,
            calls: HashMap::new(),
            last: None,
            used: None,
        }
    }

    /// Shows an event.
    ///
    /// # Errors
    /// When it can't be written; once, from then on there is silence.
    pub(super) fn event(&mut self, event: &Event) -> std::io::Result<()> {
        if let Event::Usage { in_turn, total, .. } = event {
            self.used = Some((*in_turn, *total));
        }
        match self.form {
            Form::Json => self.json(event),
            Form::People { .. } => self.people(event),
        }
    }

    /// Ends with what is proposed; on standard error with what is to be said of the end, and the tokens that
    /// were used, with their price if it is known.
    pub(super) fn end(&mut self, diff: &str, message: Option<&str>) -> std::io::Result<()> {
        let shown = match self.form {
            Form::Json => Ok(()),
            Form::People { .. } => self.diff(diff),
        };
        if let Some(message) = message {
            say(message);
        }
        match self.used {
            Some((turn, _)) if turn == Spent::default() => {}
            Some((turn, session)) if turn == session => say(&turn.to_string()),
            Some((turn, session)) => say(&format!("{turn}; the whole session: {session}")),
            None => {}
        }
        shown
    }

    fn json(&mut self, told: &Event) -> std::io::Result<()> {
        let mut event = serde_json::to_value(told).map_err(std::io::Error::other)?;
        if let (Event::SessionStarted { .. }, Some(fields)) = (told, event.as_object_mut()) {
            // What a program needs to go on with it.
            fields.insert("session".to_owned(), (*self.session).into());
        }
        let mut line = plain_json(event.to_string());
        line.push('\n');
        self.write(&line)
    }

    fn people(&mut self, event: &Event) -> std::io::Result<()> {
        match event {
            Event::StepStarted { .. } => {
                self.said = false;
                Ok(())
            }
            Event::TextDelta { text, .. } => {
                let words = self.words.push(text);
                if !self.said && words.trim().is_empty() {
                    return Ok(());
                }
                self.said = true;
                self.last = None;
                self.midline = !words.ends_with('\n');
                self.write(&words)
            }
            Event::Retrying { attempt, wait_ms, reason, .. } => {
                let seconds = std::time::Duration::from_millis(*wait_ms).as_secs_f64();
                let void =
                    if std::mem::take(&mut self.said) { "; the answer starts over" } else { "" };
                let line = format!("({reason}; try {attempt} in {seconds:.1} s{void})");
                self.line(QUIET, &plain(&line))
            }
            Event::Waiting { waited_ms, is_queued, .. } => {
                let whom = if *is_queued { "its turn at the model" } else { "the model" };
                self.line(QUIET, &format!("(waits for {whom} since {} s)", waited_ms / 1000))
            }
            Event::ToolCall { call, tool, title, .. } => {
                let line = titled(tool, title);
                self.line(CALL, &format!("> {line}"))?;
                self.calls.insert(call.clone(), line);
                self.last = Some(call.clone());
                Ok(())
            }
            Event::ToolResult { call, is_error, preview, .. } => {
                // Of calls side by side the results come in any order: each says which it is.
                let line = self.calls.remove(call).unwrap_or_default();
                if self.last.take().is_none_or(|last| last != *call) {
                    self.line(CALL, &format!("< {line}"))?;
                }
                let colour = if *is_error { BAD } else { QUIET };
                self.line(colour, &format!("  {}", plain(preview).replace('\n', "\n  ")))
            }
            Event::Notice { level, message } => {
                let level = match level {
                    Level::Info => "",
                    Level::Warning => "warning: ",
                    Level::Error => "error: ",
                };
                self.finish_line()?;
                say(&format!("{level}{message}"));
                Ok(())
            }
            Event::TurnEnded { .. } => self.finish_line(),
            // The rest is the JSON's: thoughts, output of running commands, hunks (the diff at the end has
            // them), what concerns a user who is there to be asked.
            _ => Ok(()),
        }
    }

    fn diff(&mut self, diff: &str) -> std::io::Result<()> {
        if diff.is_empty() {
            return Ok(());
        }
        let mut text = "\n".to_owned();
        for line in plain(diff).split_inclusive('\n') {
            let colour = match line {
                _ if ["+++", "---", "@@"].iter().any(|head| line.starts_with(head)) => Some(HEADER),
                _ if line.starts_with('+') => Some(ADDED),
                _ if line.starts_with('-') => Some(REMOVED),
                _ => None,
            };
            match colour {
                Some(colour) => text.push_str(&self.coloured(colour, line)),
                None => text.push_str(line),
            }
        }
        self.write(&text)
    }

    /// A line of its own. Its words are harmless already.
    fn line(&mut self, colour: Colour, words: &str) -> std::io::Result<()> {
        self.finish_line()?;
        self.last = None;
        let line = format!("{}\n", self.coloured(colour, words));
        self.write(&line)
    }

    /// The words in a colour, where there are colours. The line end stays outside.
    fn coloured(&self, Colour(colour): Colour, words: &str) -> String {
        if self.form != (Form::People { colours: true }) {
            return words.to_owned();
        }
        let line = words.trim_end_matches('\n');
        let end = words.strip_prefix(line).unwrap_or_default();
        format!("\u{1b}[{colour}m{line}\u{1b}[0m{end}")
    }

    fn finish_line(&mut self) -> std::io::Result<()> {
        if std::mem::take(&mut self.midline) { self.write("\n") } else { Ok(()) }
    }

    /// Writes and flushes: who reads a pipe sees each event as it happens.
    fn write(&mut self, text: &str) -> std::io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        self.closed = written.is_err();
        written
    }
}

/// A call in one line, or as many as its command has.
fn titled(tool: &str, title: &str) -> String {
    let tool = plain(tool);
    if title.is_empty() {
        return tool;
    }
    let mut title = plain(title);
    if let Some((end, _)) = title.char_indices().nth(LONGEST_TITLE) {
        title.truncate(end);
        title.push('…');
    }
    format!("{tool}: {}", title.trim_end().replace('\n', "\n  "))
}

#[cfg(test)]
mod tests;
