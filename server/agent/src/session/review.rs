//! Review: accept, reject, edit, undo and rewind, one after the other, beside a running turn.
//!
//! One task does them in the order they were asked for, so that a reject never overtakes the accept before
//! it. Which hunks are meant is settled when the op comes, by the actor. What is decided is in the journal
//! before it is done.

use super::background::take_in;
use super::bundles::BundleWork;
use super::parts::SessionParts;
use crate::changes::report_in_words;
use crate::compaction::pass::{Occasion, compact};
use crate::conversation::Conversation;
use crate::history::History;
use crate::interrupt::{Interrupt, Interrupted};
use crate::journal::Journal;
use crate::journal::past::{Past, ReadError};
use crate::journal::record::{Record, now};
use futures::FutureExt;
use ropewalk_protocol as protocol;
use ropewalk_protocol::{CompactionCause, Event, Level, ReviewAction};
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_tools::runner::{BackgroundEnd, Stop};
use ropewalk_workspace::{DocId, HunkId, HunkSelection};
use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Step of a review that the user asks for.
pub(super) enum ReviewStep {
    Accept(HunkSelection),
    Reject(HunkSelection, Option<String>),
    Edit(HunkId, String),
    /// Takes back changes that were made; no turn starts before this is told.
    Undo(HunkSelection, oneshot::Sender<()>),
    /// Takes back this turn and all after it; none is running, and none starts before the conversation is back.
    Rewind(u64, Box<Conversation>, oneshot::Sender<Box<Conversation>>),
    /// A bundle, which nobody has decided on yet.
    Bundle(BundleWork),
    /// A command that has ended in the background. It stands in line here, so that it is taken in before a rewind or
    /// after it.
    Finished(Box<BackgroundEnd>),
}

impl ReviewStep {
    /// The kind of decision; None if it is none.
    fn action(&self) -> Option<ReviewAction> {
        Some(match self {
            ReviewStep::Accept(_) => ReviewAction::Accept,
            ReviewStep::Reject(..) => ReviewAction::Reject,
            ReviewStep::Edit(..) => ReviewAction::Edit,
            ReviewStep::Undo(..) => ReviewAction::Undo,
            ReviewStep::Rewind(..) => ReviewAction::Rewind,
            ReviewStep::Bundle(_) | ReviewStep::Finished(_) => return None,
        })
    }
}

/// The same selection in the workspace's own words.
pub(super) fn selected(selection: protocol::Selection) -> HunkSelection {
    match selection {
        protocol::Selection::Hunks(ids) => {
            HunkSelection::Hunks(ids.into_iter().map(HunkId).collect())
        }
        protocol::Selection::File(uri) => HunkSelection::File(DocId::from_uri(&uri)),
        protocol::Selection::Turn(turn) => HunkSelection::Turn(turn),
        protocol::Selection::All => HunkSelection::All,
    }
}

/// Takes reviews until the session has ended.
pub(super) async fn run(
    parts: Arc<SessionParts>,
    mut reviews: mpsc::UnboundedReceiver<ReviewStep>,
) {
    while let Some(review) = reviews.recv().await {
        // In a task, so that a panic ends this review and not all that come after it.
        let action = review.action();
        let doing = tokio::spawn(review_one(parts.clone(), review).boxed());
        let (done, failed) = doing.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a review panicked");
            (0, vec!["Ropewalk has a bug; the log has the details".to_owned()])
        });
        // A request that follows the event finds what this has left.
        let looked = parts.changes.look().await;
        if let Some(action) = action {
            parts.events.tell(Event::Reviewed { action, done, failed });
        }
        parts.changes.tell(looked);
        parts.bundles.tell_rejections(&parts.workspace, &parts.id);
        parts.settle().await;
    }
}

/// For how many hunks it was done, and what could not be done, in words.
type ReviewOutcome = (usize, Vec<String>);

async fn review_one(parts: Arc<SessionParts>, review: ReviewStep) -> ReviewOutcome {
    let changes = &parts.changes;
    parts.write_review(&review);
    match review {
        ReviewStep::Accept(selection) => {
            let report = changes.publish(&selection).await;
            // The user may answer what they are told at once, and the model is to know it then.
            changes.tell_model(&report);
            changes.tell_user(&report);
            changes.tell_also_open(&report);
            report_in_words(&report)
        }
        ReviewStep::Undo(selection, ended) => {
            let report = changes.undo(&selection).await;
            changes.tell_user(&report);
            let _ = ended.send(());
            report_in_words(&report)
        }
        ReviewStep::Reject(selection, reason) => {
            done(changes.reject(&selection, reason.as_deref()))
        }
        ReviewStep::Bundle(work) => {
            parts.bundle_work(work).await;
            ReviewOutcome::default()
        }
        ReviewStep::Finished(finished) => {
            take_in(&parts, *finished).await;
            ReviewOutcome::default()
        }
        ReviewStep::Edit(hunk, text) => done(changes.edit(hunk, &text).map(|()| 1)),
        ReviewStep::Rewind(turn, mut conversation, back) => {
            let rewinding = AssertUnwindSafe(rewind(&parts, &mut conversation, turn));
            let outcome = rewinding.catch_unwind().await;
            // The actor lives as long as this task is fed.
            let _ = back.send(conversation);
            outcome.unwrap_or_else(|panic| resume_unwind(panic))
        }
    }
}

fn done(done: Result<usize, &str>) -> ReviewOutcome {
    match done {
        Ok(count) => (count, Vec::new()),
        Err(why) => (0, vec![why.to_owned()]),
    }
}

/// Takes back the words and the edits of `turn` and of all after it.
async fn rewind(parts: &SessionParts, conversation: &mut Conversation, turn: u64) -> ReviewOutcome {
    let turns = conversation.turns.clone();
    let Some(at) = turns.iter().position(|mark| mark.turn == turn) else {
        return (0, vec![format!("there is no turn {turn}")]);
    };
    if parts.bundles.is_before_start(turn) {
        let why = "it lies before the start of the task that is worked on";
        return (0, vec![format!("turn {turn} can't be taken back: {why}")]);
    }
    let is_compacted = turns.get(at).is_some_and(|mark| !conversation.history.has(&mark.history));
    // Read before anything is undone, so that a journal that fails costs nothing.
    let folded = if is_compacted {
        match folded(&parts.journal, turn).await {
            Ok(history) => Some(history),
            Err(why) => return (0, vec![format!("turn {turn} can't be taken back: {why}")]),
        }
    } else {
        None
    };
    // Their changes are not to come in later.
    parts.runner.stop(Stop::Since(turn));
    let (mut count, mut failed) = (0, Vec::new());
    let later = turns.get(at..).unwrap_or_default();
    for mark in later.iter().rev() {
        let report = parts.changes.undo(&HunkSelection::Turn(mark.turn)).await;
        let (done, words) = report_in_words(&report);
        parts.changes.tell_user(&report);
        count += done;
        failed.extend(words);
    }
    let Some(mark) = later.first() else { return (count, failed) };
    // News of what was undone here are of words that the model has not heard.
    count += parts.changes.go_back(mark.kept.clone(), turn).await;
    // In this order: cut off between them, the turn is still there, to be taken back again.
    parts.changes.keep();
    parts.journal.write(&Record::Rewound { turn });
    parts.inbox.rewind(turn);
    parts.bundles.rewind(turn);
    conversation.rewind(mark, folded);
    let todos = parts.todos.go_back(turn, mark.todos.clone());
    parts.events.tell(Event::Rewound { turn, prompt: mark.prompt.clone() });
    todos.into_iter().for_each(|todos| parts.events.tell(todos));
    (count, failed)
}

/// Compacts a conversation between turns, and gives it back however that ends.
pub(super) async fn compact_idle(
    parts: Arc<SessionParts>,
    mut conversation: Conversation,
    focus: Option<String>,
    (interrupt, back): (Interrupt, oneshot::Sender<Box<Conversation>>),
) {
    conversation.before = conversation.spent;
    let occasion = Occasion { why: CompactionCause::Asked, focus, is_idle: true };
    let compacting = compact(&parts, &mut conversation, occasion);
    let done = AssertUnwindSafe(interrupt.or(compacting)).catch_unwind().await;
    match done {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(stopped))) => parts.events.warn(stopped.message.unwrap_or_default()),
        Ok(Err(Interrupted)) => {
            parts.events.notice(Level::Info, "The summary was stopped; nothing has changed.")
        }
        Err(_) => parts.events.warn(
            "Ropewalk has a bug: the summary was cut off. The log has the details.".to_owned(),
        ),
    }
    // The actor may be gone.
    let _ = back.send(Box::new(conversation));
    parts.settle().await;
}

/// The history before a turn whose words were compacted, from the journal; or a sentence why there is none.
async fn folded(journal: &Journal, turn: u64) -> Result<History, String> {
    let Some(path) = journal.path() else {
        return Err("its words were summed up, and this session is not kept on the disk".to_owned());
    };
    let reading = spawn_blocking(move || {
        let read = File::open(path).map_err(ReadError::Io);
        read.and_then(|file| Past::read(BufReader::new(file)))
    });
    let unread = |error: &dyn Display| {
        format!("its words were summed up, and the session's file can't be read: {error}")
    };
    let (past, _) =
        reading.await.map_err(|error| unread(&error))?.map_err(|error| unread(&error))?;
    // It ends early where it could not be written, as on a full disk.
    past.before(turn).ok_or_else(|| {
        "its words were summed up, and the session's file does not reach back that far".to_owned()
    })
}

impl SessionParts {
    fn write_review(&self, review: &ReviewStep) {
        let Some(action) = review.action() else { return };
        let hunks = |selection: &HunkSelection| self.changes.in_words(selection);
        let what = match review {
            ReviewStep::Accept(selection)
            | ReviewStep::Reject(selection, None)
            | ReviewStep::Undo(selection, _) => hunks(selection),
            ReviewStep::Reject(selection, Some(why)) => format!("{}: {why}", hunks(selection)),
            ReviewStep::Edit(hunk, _) => hunks(&HunkSelection::Hunks(vec![*hunk])),
            ReviewStep::Rewind(turn, ..) => format!("turn {turn} and what came after it"),
            ReviewStep::Bundle(_) | ReviewStep::Finished(_) => return,
        };
        let record = Record::Review { at: now(), action, what: what.into() };
        self.journal.write(&record);
    }
}
