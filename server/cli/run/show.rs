//! Events on standard output: for people, or one JSON object a line for programs.
//!
//! For people: the model's words as they come, each call as `> read_file: greet.py` with the start of its
//! result below, at the end the diff of what is proposed. Thoughts and the running output of commands are
//! in the JSON alone. All words from outside are made harmless; the diff is as it is where no terminal reads it.

mod lines;
mod team;

use super::words::Apart;
use crate::patch::{printed, say_left_out};
use crate::plain::{Plain, plain, plain_json, say};
use crate::review::Counts;
use crate::terminal::{self, BAD, CALL, Colour, OutputLook, QUIET};
use lines::{first_line, meanwhile, titled, told};
use ropewalk_board::LEAD;
use ropewalk_protocol::usage::short_count;
use ropewalk_protocol::{CallId, Event, Level, StopReason, Tokens};
use ropewalk_workspace::Patch;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

/// The form of what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputForm {
    /// For people.
    People(OutputLook),
    /// For programs.
    Json,
}

/// Shows one turn. After an error of `out` nothing is written to it any more.
pub(super) struct TurnPrinter<W> {
    out: W,
    form: OutputForm,
    /// The session's id.
    session: Arc<str>,
    closed: bool,
    /// Makes the model's words harmless, which come in pieces.
    words: Plain,
    /// Keeps them apart from the diff, in a file that may be applied.
    apart: Option<Apart>,
    /// True if the last line is unfinished.
    midline: bool,
    /// True if the model has said something in this step.
    said: bool,
    /// The calls that have no result yet, oldest first.
    calls: Vec<RunningCall>,
    /// Since when the model is waited for, if it is.
    waits: Option<Instant>,
    /// The number of the try that comes next, when, and why.
    next_try: Option<(u32, Instant, String)>,
    /// True if a line says what runs now.
    is_live: bool,
    /// The call that was shown last, if nothing was shown since.
    last: Option<CallId>,
    /// True if the last check of the turn has failed.
    check_failed: bool,
    /// The types of the subagents at work, by their ids.
    threads: HashMap<String, String>,
    /// Tokens and money used by the turn, and by the session.
    used: Option<(Tokens, Tokens)>,
    /// Tokens that its team has used beside it.
    team_used: u64,
    /// Since when the team is waited for, if it is.
    team_waits: Option<Instant>,
}

/// A call that runs.
struct RunningCall {
    call: CallId,
    /// As it was shown.
    line: String,
    since: Instant,
}

/// How a turn has ended.
pub(super) struct TurnEnding<'a> {
    pub(super) stop: StopReason,
    /// Words about that end.
    pub(super) message: Option<&'a str>,
    /// Changes that are proposed.
    pub(super) patch: &'a Patch,
    pub(super) waiting: Counts,
    /// Flags that find the session again behind `ropewalk diff`; none where it is not kept.
    pub(super) review: Option<&'a str>,
}

impl<W: Write> TurnPrinter<W> {
    pub(super) fn new(out: W, form: OutputForm, session: Arc<str>) -> Self {
        Self {
            out,
            form,
            session,
            closed: false,
            words: Plain::default(),
            apart: matches!(form, OutputForm::People(look) if !look.is_terminal)
                .then(Apart::default),
            midline: false,
            said: false,
            calls: Vec::new(),
            waits: None,
            next_try: None,
            is_live: form != OutputForm::Json && terminal::can_rewrite(),
            last: None,
            check_failed: false,
            threads: HashMap::new(),
            used: None,
            team_used: 0,
            team_waits: None,
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
        if let Event::Check { report, .. } = event {
            self.check_failed = !report.passed;
        }
        if let Event::Team { members } = event {
            let others = members.iter().filter(|member| member.name != LEAD);
            self.team_used = others.map(|member| member.tokens).sum();
        }
        match self.form {
            OutputForm::Json => self.json(event, None, None),
            OutputForm::People(_) => self.people(event),
        }
    }

    /// True if the last check of the turn has failed.
    pub(super) fn check_failed(&self) -> bool {
        self.check_failed
    }

    /// Shows an event of a subagent: for people each of its calls in a line on standard error, for programs when it begins,
    /// asks and ends.
    pub(super) fn of_thread(&mut self, thread: &str, event: &Event) -> std::io::Result<()> {
        if let Event::Thread { agent, .. } = event {
            self.threads.insert(thread.to_owned(), plain(agent));
        }
        match (self.form, event) {
            (
                OutputForm::Json,
                Event::Thread { .. }
                | Event::ApprovalRequested { .. }
                | Event::ApprovalResolved { .. },
            ) => self.json(event, Some(thread), None),
            (OutputForm::People(_), Event::ToolCall { tool, title, .. }) => {
                self.finish_line()?;
                let agent = self.threads.get(thread).map_or("", String::as_str);
                say(&first_line(&format!("{agent}: {} {}", plain(tool), plain(title))));
                Ok(())
            }
            (OutputForm::People(_), Event::Notice { level: Level::Warning | Level::Error, .. }) => {
                self.people(event)
            }
            _ => Ok(()),
        }
    }

    /// Says what runs now and for how many seconds, where that line can be rewritten.
    pub(super) fn tick(&self) {
        if !self.is_live || self.midline {
            return;
        }
        let until_try =
            self.next_try.as_ref().map(|(_, at, _)| at.saturating_duration_since(Instant::now()));
        if let Some(left) = until_try.filter(|left| !left.is_zero()) {
            terminal::show_now("trying again in", left.as_secs() + 1);
            return;
        }
        let (what, since) = match (self.calls.as_slice(), self.waits) {
            ([], None) => match self.team_waits {
                Some(since) => ("waiting for the team".to_owned(), since),
                None => return,
            },
            ([], Some(since)) => ("waiting for the model".to_owned(), since),
            ([one], _) => (first_line(&one.line), one.since),
            ([one, more @ ..], _) => {
                (format!("{} (and {} more)", first_line(&one.line), more.len()), one.since)
            }
        };
        // A call that has only just begun needs no line yet.
        let seconds = since.elapsed().as_secs();
        if seconds > 0 {
            terminal::show_now(&what, seconds);
        }
    }

    /// Ends a line that somebody else has begun on the terminal.
    pub(super) fn break_off(&mut self) {
        terminal::above(|| drop(writeln!(std::io::stderr())));
    }

    /// Ends with what is proposed; on standard error with what is to be said of the end, the tokens that were used
    /// with their price if it is known, and the next step.
    pub(super) fn end(&mut self, end: &TurnEnding<'_>) -> std::io::Result<()> {
        let shown = match self.form {
            OutputForm::People(look) if !end.patch.files.is_empty() => {
                let diff = printed(end.patch, look);
                self.finish_line().and_then(|()| self.write_bytes(&[b"\n", &*diff].concat()))
            }
            _ => Ok(()),
        };
        say_left_out(end.patch);
        if let Some(message) = end.message {
            say(message);
        }
        let summary = self.summary(end);
        if !summary.is_empty() {
            say(&summary);
        }
        if let (OutputForm::People(_), Some(review), 1..) =
            (self.form, end.review, end.waiting.changes)
        {
            say(&format!(
                "Next: `ropewalk diff{review}`, `ropewalk accept{review}`, or open the folder in your editor."
            ));
        }
        shown
    }

    /// As in `Done · 33k tokens in, 594 out · 3 changes in 2 files wait for review`.
    fn summary(&self, end: &TurnEnding<'_>) -> String {
        let mut parts = Vec::new();
        if end.stop == StopReason::EndTurn {
            parts.push("Done".to_owned());
        }
        if let Some((turn, session)) = self.used
            && !turn.is_nothing()
        {
            parts.push(turn.in_short());
            if turn != session {
                parts.push(format!("{} in the whole session", session.in_short()));
            }
        }
        if self.team_used > 0 {
            parts.push(format!("{} tokens by the team", short_count(self.team_used)));
        }
        if end.waiting.changes > 0 {
            parts.push(end.waiting.waiting());
        }
        parts.join(" · ")
    }

    fn json(
        &mut self,
        told: &Event,
        thread: Option<&str>,
        member: Option<&str>,
    ) -> std::io::Result<()> {
        let mut event = serde_json::to_value(told).map_err(std::io::Error::other)?;
        if let (Event::SessionStarted { .. }, Some(fields)) = (told, event.as_object_mut()) {
            // A program needs it to go on with the session.
            fields.insert("session".to_owned(), (*self.session).into());
        }
        for (name, of) in [("thread", thread), ("member", member)] {
            if let (Some(of), Some(fields)) = (of, event.as_object_mut()) {
                fields.insert(name.to_owned(), of.into());
            }
        }
        let mut line = plain_json(event.to_string());
        line.push('\n');
        self.write(&line)
    }

    fn people(&mut self, event: &Event) -> std::io::Result<()> {
        match event {
            Event::StepStarted { .. } => {
                self.said = false;
                self.next_try = None;
                self.waits = Some(Instant::now());
                Ok(())
            }
            Event::TextDelta { text, .. } => self.said(text),
            Event::Retrying { attempt, wait_ms, reason, .. } => {
                let at = Instant::now().checked_add(std::time::Duration::from_millis(*wait_ms));
                let next = at.map(|at| (*attempt, at, reason.clone()));
                let known = self.next_try.as_ref().zip(next.as_ref()).is_some_and(|(had, next)| {
                    let is_no_later = next.1 <= had.1 + std::time::Duration::from_secs(1);
                    (had.0, &had.2) == (next.0, &next.2) && is_no_later
                });
                self.next_try = next;
                // The count-down of a wait that was told.
                if known && !self.said {
                    return Ok(());
                }
                let seconds = std::time::Duration::from_millis(*wait_ms).as_secs_f64();
                let void =
                    if std::mem::take(&mut self.said) { "; the answer starts over" } else { "" };
                let line = format!("({reason}; try {attempt} in {seconds:.1} s{void})");
                self.line(QUIET, &plain(&line))
            }
            Event::ToolCall { call, tool, title, .. } => {
                let line = titled(tool, title);
                self.line(CALL, &format!("> {line}"))?;
                self.waits = None;
                self.calls.push(RunningCall { call: call.clone(), line, since: Instant::now() });
                self.last = Some(call.clone());
                Ok(())
            }
            Event::ToolResult { call, is_error, preview, .. } => {
                self.result(call, *is_error, preview)
            }
            Event::TurnEnded { .. } => {
                self.waits = None;
                self.finish_line()
            }
            // The rest is the JSON's: thoughts, output of running commands, hunks (the diff at the end has
            // them), what concerns a user who is there to be asked.
            event => match (meanwhile(event), told(event)) {
                (Some(words), _) => self.line(QUIET, &words),
                (None, Some(words)) => {
                    self.finish_line()?;
                    say(&words);
                    Ok(())
                }
                (None, None) => Ok(()),
            },
        }
    }

    /// A piece of the model's words.
    fn said(&mut self, text: &str) -> std::io::Result<()> {
        let words = self.words.push(text);
        self.waits = None;
        if !self.said && words.trim().is_empty() {
            return Ok(());
        }
        self.said = true;
        self.last = None;
        self.midline = !words.ends_with('\n');
        match &mut self.apart {
            Some(apart) => {
                let words = apart.push(&words);
                self.write(&words)
            }
            None => self.write(&words),
        }
    }

    /// The start of a result. Of calls side by side they come in any order: each says which it is.
    fn result(&mut self, call: &CallId, is_error: bool, preview: &str) -> std::io::Result<()> {
        let done = self.calls.extract_if(.., |running| running.call == *call).next();
        let line = done.map(|running| running.line).unwrap_or_default();
        if self.last.take().is_none_or(|last| last != *call) {
            self.line(CALL, &format!("< {line}"))?;
        }
        let colour = if is_error { BAD } else { QUIET };
        self.line(colour, &format!("  {}", plain(preview).replace('\n', "\n  ")))
    }

    /// A line of its own. Its words are harmless already.
    fn line(&mut self, colour: Colour, words: &str) -> std::io::Result<()> {
        self.finish_line()?;
        self.last = None;
        let line = format!("{}\n", self.coloured(colour, words));
        self.write(&line)
    }

    fn coloured(&self, colour: Colour, words: &str) -> String {
        match self.form {
            OutputForm::People(look) => look.coloured(colour, words),
            OutputForm::Json => words.to_owned(),
        }
    }

    fn finish_line(&mut self) -> std::io::Result<()> {
        if !std::mem::take(&mut self.midline) {
            return Ok(());
        }
        let rest = self.apart.as_mut().map(Apart::rest).unwrap_or_default();
        self.write(&(rest + "\n"))
    }

    fn write(&mut self, text: &str) -> std::io::Result<()> {
        self.write_bytes(text.as_bytes())
    }

    /// Writes and flushes: who reads a pipe sees each event as it happens.
    fn write_bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let out = &mut self.out;
        let written = terminal::above(|| out.write_all(bytes).and_then(|()| out.flush()));
        self.closed = written.is_err();
        written
    }
}

#[cfg(test)]
mod tests;
