//! Ends of commands in the background.

use super::parts::SessionParts;
use crate::calls::{drop_changes, first_line};
use crate::changes::CallOrigin;
use crate::inbox::{self, InboxItem};
use crate::interrupt::Interrupt;
use crate::journal::record::Record;
use ropewalk_protocol::Level;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::runner::BackgroundEnd;

/// Merges a background command's changes like any call's, and tells the model with its next
/// message. Both belong to the turn that has started it, and go with that alone.
pub(super) async fn take_in(parts: &SessionParts, finished: BackgroundEnd) {
    let BackgroundEnd { id, command, turn, call, view, drops, mut output } = finished;
    let turns = parts.snapshot.borrow().turns.clone();
    if turns.iter().all(|mark| mark.turn != turn) {
        // It ended just when its turn was taken back.
        return;
    }
    parts.changes.note_background(call.0.clone(), turn);
    drop_changes(drops, &mut output);
    if !output.proposals.is_empty() {
        let origin = CallOrigin { turn, call: call.0.clone(), command: Some(first_line(&command)) };
        parts.take_changes(origin, &view, &mut output, &Interrupt(None)).await;
    }
    let text = parts.settings.keys().redact(output.words()).into_owned();
    let command = preview(&command, PREVIEW_CHARS);
    let said = format!("The command in the background number {id} has ended: {command}");
    let finished = inbox::BackgroundNews { id, turn, command: command.clone(), text };
    parts.inbox.put(InboxItem::Finished(finished));
    let command = parts.settings.keys().redact(&command).into_owned().into();
    let call = Some((&*call.0).into());
    parts.journal.write(&Record::Background { id, turn, command, ended: true, call });
    parts.events.notice(if output.is_error { Level::Warning } else { Level::Info }, said);
}
