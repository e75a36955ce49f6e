//! Ends of commands in the background.

use super::parts::Parts;
use crate::calls::first_line;
use crate::changes::Origin;
use crate::inbox::{self, Item};
use crate::interrupt::Interrupt;
use crate::journal::record::Record;
use ropewalk_protocol::Level;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::runner::Finished;
use std::sync::Arc;

/// What a command did in the background enters the fork like that of any call, and the model is told with its next
/// message.
pub(super) async fn take_in(parts: Arc<Parts>, finished: Finished) {
    let Finished { id, command, turn: started_in, call, view, mut output } = finished;
    let turns = parts.snapshot.borrow().turns.clone();
    if turns.iter().all(|mark| mark.turn != started_in) {
        // It ended just when its turn was taken back.
        return;
    }
    // Changes made by then are of the turn that goes on, or of the last one.
    let turn = turns.last().map_or(0, |mark| mark.turn);
    if !output.proposals.is_empty() {
        let origin = Origin { turn, call: call.0, command: Some(first_line(&command)) };
        parts.take_changes(origin, &view, &mut output, &Interrupt(None)).await;
    }
    let text = parts.settings.keys().redact(output.words()).into_owned();
    let command = preview(&command, PREVIEW_CHARS);
    let said = format!("The command in the background number {id} has ended: {command}");
    let finished = inbox::Finished { id, command: command.clone(), text };
    parts.inbox.put(Item::Finished(finished));
    let command = parts.settings.keys().redact(&command).into_owned().into();
    let ended = Record::Background { id, turn: started_in, command, ended: true };
    parts.journal.write(&ended);
    parts.events.notice(if output.is_error { Level::Warning } else { Level::Info }, said);
}
