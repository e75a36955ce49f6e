//! One edit of an open document: noted as expected, sent, and proved by its echo, again if it was skipped.

use super::{Failure, PublishBounds};
use crate::document::{Accord, Document};
use crate::editor::{DocumentEdit, EditForm, Editor};
use crate::proof::Settled;
use crate::said::sayable;
use crate::workspace::Workspace;
use crate::{DocId, PublishId};
use ropewalk_text::{ChangeSet, Coordinates, Position, Text};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

/// How often a skipped edit is mapped and sent again at once.
const TRIES: usize = 8;

/// A pause in which the user presses no key: edits that come between two keys were tried before.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a pause is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an editor that tells each key at once may take to tell one.
const ON_ITS_WAY: Duration = Duration::from_millis(500);

/// How long an edit may be told in part before the client is asked to tell the rest.
const HALFWAY: Duration = Duration::from_millis(500);

/// The outcome of trying to start an edit of an open document.
pub(crate) enum EditStart {
    /// It is noted as expected and must be sent now.
    Sent(DocumentEdit, oneshot::Receiver<Settled>),
    /// The client's first version is never checked: move the document off it first.
    Prime(DocumentEdit),
    /// The text has moved since; try again.
    Stale,
    /// Another edit of the document is under way.
    Busy,
    /// The document is not open.
    Closed,
    /// Nobody knows what it holds.
    OutOfStep,
    /// There is nothing left to send.
    Nothing,
}

/// Notes `set`, made on `basis`, as expected of an open document and gives the edit to send.
pub(crate) fn start_edit(
    workspace: &Workspace,
    id: &DocId,
    publish: PublishId,
    basis: &Text,
    set: &ChangeSet,
) -> EditStart {
    let coordinates = workspace.coordinates();
    let primes = workspace.habits().primes_version_zero;
    let started = workspace.with_document(id, |document| {
        if document.accord() == Accord::Lost {
            return EditStart::OutOfStep;
        }
        if document.text() != basis {
            return EditStart::Stale;
        }
        if primes && document.version == 0 {
            return EditStart::Prime(priming(document));
        }
        match document.expect(publish, set.clone()) {
            Some(receiver) => {
                let edit = document_edit(document, set, coordinates);
                EditStart::Sent(DocumentEdit { publish: Some(publish), ..edit }, receiver)
            }
            None => EditStart::Busy,
        }
    });
    started.unwrap_or(EditStart::Closed)
}

fn priming(document: &Document) -> DocumentEdit {
    DocumentEdit {
        uri: document.spelling.clone(),
        version: document.version,
        publish: None,
        edits: vec![(Position::default(), Position::default(), String::new())],
        label: "Ropewalk".to_owned(),
    }
}

fn document_edit(document: &Document, set: &ChangeSet, coordinates: Coordinates) -> DocumentEdit {
    let text = document.text();
    let position = |byte| coordinates.byte_to_position(text, byte);
    let edits = sayable(text, set, coordinates.line_ends);
    DocumentEdit {
        uri: document.spelling.clone(),
        version: document.version,
        publish: None,
        edits: edits
            .into_iter()
            .map(|c| (position(c.range.start), position(c.range.end), c.text))
            .collect(),
        label: "Ropewalk".to_owned(),
    }
}

/// Sends an edit until it is settled. True: it is in the text. False: there was nothing (left) to do.
pub(crate) async fn send(
    workspace: &Workspace,
    editor: &dyn Editor,
    id: &DocId,
    start: &mut (dyn FnMut(PublishId) -> EditStart + Send),
    label: &str,
    bounds: PublishBounds,
) -> Result<bool, Failure> {
    let habits = editor.habits();
    if habits.edits == EditForm::None {
        return Err(Failure::NoEdits);
    }
    let slot = workspace.slot(id);
    let _guard = slot.lock().await;
    let mut primed = 0;
    let mut retries = Retries::default();
    let mut stale = 0;
    loop {
        editor.barrier().await;
        let publish = workspace.publish_id();
        let (mut edit, receiver) = match start(publish) {
            EditStart::Sent(edit, receiver) => (edit, receiver),
            EditStart::Prime(edit) if primed < 3 => {
                primed += 1;
                // Only a version is wanted of it; whether it came is seen in the next round.
                let _ = timeout(bounds.echo, editor.apply(edit)).await;
                continue;
            }
            EditStart::Prime(_) => {
                return Err(Failure::Refused("its first version cannot be checked".to_owned()));
            }
            // Each time the user has typed between two looks: bounded only so that nothing spins for ever.
            EditStart::Stale if stale < 1_000 => {
                stale += 1;
                tokio::task::yield_now().await;
                continue;
            }
            EditStart::Stale | EditStart::Busy => return Err(Failure::Unconfirmed),
            EditStart::Closed => return Err(Failure::Closed),
            EditStart::OutOfStep => return Err(Failure::OutOfStep),
            EditStart::Nothing => return Ok(false),
        };
        label.clone_into(&mut edit.label);
        let version = edit.version;
        let answer = async { workspace.answered(publish, editor.apply(edit).await) };
        let echo = echo(workspace, editor, (id, publish), receiver, bounds);
        let (why, settled) = outcome(answer, echo, bounds).await;
        match settled {
            Settled::Confirmed => return Ok(true),
            Settled::Conflict => return Err(Failure::Conflict),
            Settled::Unconfirmed => return Err(Failure::Unconfirmed),
            Settled::Closed => return Err(Failure::Closed),
            Settled::Skipped
                if habits.checks_versions && retries.next(workspace, id, version).await => {}
            Settled::Skipped => {
                return Err(Failure::Refused(
                    why.unwrap_or_else(|| "the text kept moving".to_owned()),
                ));
            }
        }
    }
}

/// The tries of an edit that the editor skips.
#[derive(Default)]
struct Retries {
    count: usize,
    /// End of the wait for a pause, once that has begun.
    until: Option<Instant>,
}

impl Retries {
    /// True if an edit that was skipped at `version` is to be sent again: at once at first, then as soon as the user pauses.
    /// An editor that skips it in a text that has not moved since would skip it again.
    async fn next(&mut self, workspace: &Workspace, id: &DocId, version: i32) -> bool {
        self.count += 1;
        if self.count < TRIES {
            return true;
        }
        let begin = Instant::now();
        let until = *self.until.get_or_insert(begin + PATIENCE);
        // Keys that it holds back come in a pause, and show only then that the text has moved.
        let holds_back = workspace.habits().holds_changes_back;
        let first_key = if holds_back { until } else { until.min(begin + ON_ITS_WAY) };
        let now = || workspace.with_document(id, |document| document.version);
        let mut last = Some(version);
        loop {
            tokio::time::sleep(PAUSE).await;
            let (is_calm, has_moved) = (now() == last, last != Some(version));
            let end = if has_moved { until } else { first_key };
            if is_calm && has_moved || Instant::now() >= end {
                return is_calm && has_moved;
            }
            last = now();
        }
    }
}

/// Waits for the answer, at most as long as for an echo, and then for the end of the edit; an answer that comes in between
/// is heard. Gives the client's reason, where it said no, and the end.
async fn outcome(
    answer: impl Future<Output = Option<String>>,
    echo: impl Future<Output = Settled>,
    bounds: PublishBounds,
) -> (Option<String>, Settled) {
    let (mut answer, mut echo) = (pin!(answer), pin!(echo));
    if let Ok(why) = timeout(bounds.echo, &mut answer).await {
        return (why, echo.await);
    }
    tokio::select! {
        why = answer => (why, echo.await),
        settled = &mut echo => (None, settled),
    }
}

/// Waits for the end of an edit that was sent. An edit of which only some places were told is given up before the bound
/// where the client can be made to tell all that it has done: then the user has typed these places.
async fn echo(
    workspace: &Workspace,
    editor: &dyn Editor,
    (id, publish): (&DocId, PublishId),
    mut receiver: oneshot::Receiver<Settled>,
    bounds: PublishBounds,
) -> Settled {
    let until = Instant::now() + bounds.echo;
    while Instant::now() < until {
        let look = until.min(Instant::now() + HALFWAY);
        if let Ok(settled) = tokio::time::timeout_at(look, &mut receiver).await {
            return settled.unwrap_or(Settled::Closed);
        }
        let is_halfway =
            || workspace.with_document(id, |document| document.is_halfway(publish)) == Some(true);
        if editor.habits().barrier && is_halfway() {
            editor.barrier().await;
            if is_halfway() {
                break;
            }
        }
    }
    // News that came meanwhile is taken from the document, which knows of it first.
    workspace.with_document(id, |document| document.give_up_waiting(publish));
    receiver.await.unwrap_or(Settled::Closed)
}
