//! Commands in the background as the journal has them: those of a process that has ended have ended with it, and the
//! model is told.

use crate::calls::Call;
use crate::hooks::StepHook;
use crate::inbox::{Finished, Inbox, Item};
use crate::journal::Journal;
use crate::journal::record::Record;
use crate::session::parts::Parts;
use futures::future::BoxFuture;
use ropewalk_model::ToolInput;
use ropewalk_tools::ToolOutput;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::runner::BackgroundState;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Commands that run in the background, by number: the turn of each, and the command.
pub(crate) type Running = BTreeMap<u64, (u64, String)>;

/// Writes down which commands were started in the background.
pub(crate) struct BackgroundRecords {
    parts: Arc<Parts>,
    /// Numbers of those that are written down.
    known: Mutex<BTreeSet<u64>>,
}

impl BackgroundRecords {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self { parts, known: Mutex::default() }
    }
}

impl StepHook for BackgroundRecords {
    fn after_call<'a>(&'a self, call: &'a Call, _: &'a mut ToolOutput) -> BoxFuture<'a, ()> {
        if matches!(call.input(), ToolInput::Json(input) if input.get("background").is_some()) {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = self.parts.snapshot.borrow().turns.last().map_or(0, |mark| mark.turn);
            for one in self.parts.runner.background() {
                let runs = matches!(one.state, BackgroundState::Running { .. });
                if known.insert(one.id) && runs {
                    let (id, command) = (one.id, preview(&one.command, PREVIEW_CHARS));
                    let command = self.parts.settings.keys().strike(&command).into_owned();
                    let record =
                        Record::Background { id, turn, command: command.into(), ended: false };
                    self.parts.journal.write(&record);
                }
            }
        }
        Box::pin(async {})
    }
}

/// Words for the model on a command that ended with Ropewalk.
const ENDED: &str = "It ended with Ropewalk, before its end; what it had changed since it began is dropped. Start it again if it is \
     still needed.";

/// Tells of the commands of the process before, which have all ended.
pub(crate) fn tell_ended(running: Running, inbox: &Inbox, journal: &Journal) {
    for (id, (turn, command)) in running {
        let text = ENDED.to_owned();
        inbox.put(Item::Finished(Finished { id, command: command.clone(), text }));
        // Cut off before this line, it is told twice rather than never.
        journal.write(&Record::Background { id, turn, command: command.into(), ended: true });
    }
}
