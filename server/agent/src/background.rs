//! Commands in the background as the journal has them, so that a process that goes on knows which have ended with the one
//! before.

use crate::calls::ModelCall;
use crate::hooks::StepHook;
use crate::journal::record::Record;
use crate::session::parts::SessionParts;
use futures::future::BoxFuture;
use ropewalk_model::ToolInput;
use ropewalk_tools::ToolOutput;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::runner::BackgroundState;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Writes down which commands were started in the background.
pub(crate) struct BackgroundRecords {
    parts: Arc<SessionParts>,
    /// Numbers of those that are written down.
    known: Mutex<BTreeSet<u64>>,
}

impl BackgroundRecords {
    pub(crate) fn new(parts: Arc<SessionParts>) -> Self {
        Self { parts, known: Mutex::default() }
    }
}

impl StepHook for BackgroundRecords {
    fn after_call<'a>(&'a self, call: &'a ModelCall, _: &'a mut ToolOutput) -> BoxFuture<'a, ()> {
        if matches!(call.input(), ToolInput::Json(input) if input.get("background").is_some()) {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = self.parts.snapshot.borrow().turns.last().map_or(0, |mark| mark.turn);
            for one in self.parts.runner.background() {
                let runs = matches!(one.state, BackgroundState::Running { .. });
                if known.insert(one.id) && runs {
                    let (id, command) = (one.id, preview(&one.command, PREVIEW_CHARS));
                    let command = self.parts.settings.keys().redact(&command).into_owned();
                    self.parts.journal.write(&Record::Background {
                        id,
                        turn,
                        command: command.into(),
                        ended: false,
                        call: Some(call.id().into()),
                    });
                }
            }
        }
        Box::pin(async {})
    }
}
