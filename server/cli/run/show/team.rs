//! Teammates of the session: what they do, in a line each on standard error, or in the JSON with their names.

use super::lines::first_line;
use super::{OutputForm, TurnPrinter};
use crate::plain::{plain, say};
use ropewalk_host::team_words::request_line;
use ropewalk_protocol::{Event, Level, SessionEvent};
use std::io::Write;
use std::time::Instant;

impl<W: Write> TurnPrinter<W> {
    /// Shows an event of the session, a subagent or a teammate.
    ///
    /// # Errors
    /// As [`TurnPrinter::event`].
    pub(in crate::run) fn told(&mut self, told: &SessionEvent) -> std::io::Result<()> {
        match (&told.member, &told.thread) {
            (Some(member), thread) => self.of_member(member, thread.as_deref(), &told.event),
            (None, Some(thread)) => self.of_thread(thread, &told.event),
            (None, None) => self.event(&told.event),
        }
    }

    /// Says that the team is waited for, where that line can be rewritten.
    pub(in crate::run) fn waits_for_team(&mut self, waits: bool) {
        match waits {
            true => drop(self.team_waits.get_or_insert_with(Instant::now)),
            false => self.team_waits = None,
        }
    }

    /// An event of a teammate: for people its requests, its calls and what went wrong, for programs when its turns begin and
    /// end, and what it asks.
    fn of_member(
        &mut self,
        member: &str,
        thread: Option<&str>,
        event: &Event,
    ) -> std::io::Result<()> {
        if self.form == OutputForm::Json {
            let is_turn = matches!(event, Event::TurnStarted { .. } | Event::TurnEnded { .. });
            let asks =
                matches!(event, Event::ApprovalRequested { .. } | Event::ApprovalResolved { .. });
            return match asks || is_turn && thread.is_none() {
                true => self.json(event, thread, Some(member)),
                false => Ok(()),
            };
        }
        let words = match event {
            Event::TurnStarted { prompt, .. } if thread.is_none() => request_line(prompt),
            Event::ToolCall { tool, title, .. } => format!("{} {}", plain(tool), plain(title)),
            Event::TurnEnded { message: Some(words), .. } if thread.is_none() => plain(words),
            Event::Notice { level: Level::Warning | Level::Error, message } => plain(message),
            _ => return Ok(()),
        };
        self.finish_line()?;
        say(&format!("{}: {}", plain(member), first_line(words.trim_end())));
        Ok(())
    }
}
