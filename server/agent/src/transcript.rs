//! Events of a session on their way into the journal, so that a front end that comes later can be
//! told the same.
//!
//! Left out is what says how things are at the moment (pending hunks, waiting, output that comes) and what stands in the
//! journal already: long inputs of calls. Pieces of a step's words are put together.

use crate::journal::Journal;
use crate::journal::record::Record;
use ropewalk_protocol::{Event, MessageId, SessionEvent};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// The longest input of a call that is written with the event, in bytes of JSON.
const SHORT_INPUT: usize = 500;

/// See the module.
pub(crate) struct Transcript {
    journal: Journal,
    /// True once a turn has begun in this process: what is told before was told by an earlier one.
    has_begun: bool,
    /// Words of steps so far, by their subagents.
    words: HashMap<Option<String>, Vec<Words>>,
}

/// Words or thoughts of a message.
struct Words {
    turn: u64,
    message: MessageId,
    is_thought: bool,
    text: String,
}

impl Transcript {
    pub(crate) fn new(journal: Journal) -> Self {
        Self { journal, has_begun: false, words: HashMap::new() }
    }

    /// Takes what is told.
    pub(crate) fn take(&mut self, told: &SessionEvent) {
        if !self.journal.is_kept() {
            return;
        }
        let (turn, message, is_thought, text) = match &told.event {
            Event::TextDelta { turn, message, text } => (*turn, message, false, text),
            Event::ThinkingDelta { turn, message, text } => (*turn, message, true, text),
            Event::ToolOutput { .. }
            | Event::Waiting { .. }
            | Event::Hunks { .. }
            | Event::Team { .. }
            | Event::BoardTask(_)
            | Event::SessionStarted { .. }
            | Event::Queued { .. } => return,
            event => {
                self.has_begun |= matches!(event, Event::TurnStarted { .. });
                return self.write_other(told);
            }
        };
        let words = self.words.entry(told.thread.clone()).or_default();
        match words.iter_mut().find(|own| own.message == *message && own.is_thought == is_thought) {
            Some(own) => own.text.push_str(text),
            None => {
                words.push(Words { turn, message: message.clone(), is_thought, text: text.clone() })
            }
        }
    }

    fn write_other(&mut self, told: &SessionEvent) {
        let lasts = matches!(
            told.event,
            Event::Published { .. } | Event::SetAside { .. } | Event::Reviewed { .. }
        );
        if !self.has_begun && !lasts {
            return;
        }
        let words = self.words.remove(&told.thread).unwrap_or_default();
        // Of a step that is tried again, nothing was said.
        if !matches!(told.event, Event::Retrying { .. }) {
            for Words { turn, message, is_thought, text } in words {
                let event = match is_thought {
                    true => Event::ThinkingDelta { turn, message, text },
                    false => Event::TextDelta { turn, message, text },
                };
                self.write(&SessionEvent {
                    session: None,
                    thread: told.thread.clone(),
                    member: None,
                    event,
                });
            }
        }
        let mut event = told.event.clone();
        if let Event::ToolCall { input, .. } = &mut event
            && input.to_string().len() > SHORT_INPUT
        {
            *input = Value::Null;
        }
        self.write(&SessionEvent {
            session: None,
            thread: told.thread.clone(),
            member: None,
            event,
        });
    }

    fn write(&self, event: &SessionEvent) {
        self.journal.write(&Record::Event(Cow::Borrowed(event)));
    }
}
