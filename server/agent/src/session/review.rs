//! Review: accept, reject, edit, undo and rewind, one after the other, beside a running turn.
//!
//! One task does them in the order they were asked for, so that a reject never overtakes the accept before
//! it. Which hunks are meant is settled when the op comes, by the actor. What is decided is in the journal
//! before it is done.

use super::shared::{Shared, in_words, lock};
use crate::journal::record::{Record, now};
use ropewalk_protocol::{Event, ReviewAction};
use ropewalk_tools::runner::Stop;
use ropewalk_workspace::publish::publish;
use ropewalk_workspace::state::go_back;
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::{Hunk, HunkId, Selection};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// What is asked for.
pub(super) enum Review {
    Accept(Selection),
    Reject(Selection, Option<String>),
    Edit(HunkId, String),
    /// Takes back changes that were made; no turn starts before this is told.
    Undo(Selection, oneshot::Sender<()>),
    /// Takes back this turn and all after it; none is running, and none starts before this is told.
    Rewind(u64, oneshot::Sender<()>),
}

impl Review {
    fn action(&self) -> ReviewAction {
        match self {
            Review::Accept(_) => ReviewAction::Accept,
            Review::Reject(..) => ReviewAction::Reject,
            Review::Edit(..) => ReviewAction::Edit,
            Review::Undo(..) => ReviewAction::Undo,
            Review::Rewind(..) => ReviewAction::Rewind,
        }
    }
}

/// Takes reviews until the session has ended.
pub(super) async fn run(shared: Arc<Shared>, mut reviews: mpsc::UnboundedReceiver<Review>) {
    while let Some(review) = reviews.recv().await {
        // In a task, so that a panic ends this review and not all that come after it.
        let action = review.action();
        let doing = tokio::spawn(review_one(shared.clone(), review));
        let (done, failed) = doing.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a review panicked");
            (0, vec!["Ropewalk has a bug; the log has the details".to_owned()])
        });
        shared.tell(Event::Reviewed { action, done, failed });
        shared.show_hunks().await;
        shared.settle().await;
    }
}

/// For how many hunks it was done, and what could not be done, in words.
type Outcome = (usize, Vec<String>);

async fn review_one(shared: Arc<Shared>, review: Review) -> Outcome {
    let (workspace, editor, bounds) = (&*shared.workspace, &*shared.editor, shared.publish);
    let unless = |is_done: bool, why: &str| if is_done { Vec::new() } else { vec![why.to_owned()] };
    shared.write_review(&review);
    match review {
        Review::Accept(selection) => {
            let report =
                publish(workspace, editor, &shared.fork, &selection, bounds, &*shared).await;
            let (done, failed) = in_words(&report);
            shared.tell_now(&report);
            shared.tell_others(&report);
            shared.tell_later(report);
            (done, failed)
        }
        Review::Undo(selection, ended) => {
            let report = undo(workspace, editor, &shared.fork, &selection, bounds, &*shared).await;
            let (done, failed) = in_words(&report);
            shared.tell_now(&report);
            let _ = ended.send(());
            (done, failed)
        }
        Review::Reject(selection, reason) => {
            let mut fork = lock(&shared.fork);
            let meant = fork.select(&selection);
            let of_disk = |hunk: &Hunk| hunk.is_of_disk() && meant.contains(&hunk.id);
            let why = match fork.hunks().iter().any(of_disk) {
                true => {
                    "the file has changed on the disk, which can't be rejected: read it anew in the editor, or \
                         save over it"
                }
                false => "no such change waits for review",
            };
            let done = fork.reject(workspace, &selection, reason.as_deref());
            (done, unless(done > 0, why))
        }
        Review::Edit(hunk, text) => {
            let keys = shared.keys();
            let mut fork = lock(&shared.fork);
            // A hunk is shown without keys, and what is shown is where an edit begins.
            let loses_key = |own: &Hunk| {
                let texts = [&own.old, &own.new];
                own.parts.contains(&hunk) && texts.iter().any(|old| keys.would_be_lost(old, &text))
            };
            if !keys.is_empty() && fork.hunks().iter().any(loses_key) {
                let why = "the text holds a key that is not shown, and [key] would take its place: accept the \
                           change or reject it, and change the text in the file";
                return (0, vec![why.to_owned()]);
            }
            let edited = fork.edit(workspace, hunk, &text);
            let failed = unless(edited, "no such change of text waits for review");
            (usize::from(edited), failed)
        }
        Review::Rewind(turn, done) => {
            let outcome = rewind(&shared, turn).await;
            // The actor lives as long as this task is fed.
            let _ = done.send(());
            outcome
        }
    }
}

/// Takes back the words and the edits of `turn` and of all after it.
async fn rewind(shared: &Arc<Shared>, turn: u64) -> Outcome {
    let workspace = &*shared.workspace;
    let turns = lock(&shared.turns).clone();
    let Some(at) = turns.iter().position(|mark| mark.turn == turn) else {
        return (0, vec![format!("there is no turn {turn}")]);
    };
    // What they would change is not to come in later.
    shared.runner.stop(Stop::Since(turn));
    let (mut count, mut failed) = (0, Vec::new());
    let later = turns.get(at..).unwrap_or_default();
    for mark in later.iter().rev() {
        let selection = Selection::Turn(mark.turn);
        let (editor, bounds) = (&*shared.editor, shared.publish);
        let report = undo(workspace, editor, &shared.fork, &selection, bounds, &**shared).await;
        let (done, words) = in_words(&report);
        shared.tell_now(&report);
        count += done;
        failed.extend(words);
    }
    let Some(mark) = later.first() else { return (count, failed) };
    count += go_back(workspace, &shared.fork, &mark.kept);
    // News of what was undone here are of words that the model has not heard.
    workspace.take_news(&shared.id);
    lock(&shared.history).truncate(&mark.history);
    lock(&shared.turns).truncate(at);
    // In this order: cut off between them, the turn is still there, to be taken back again.
    shared.keep();
    shared.journal.write(&Record::Rewound { turn });
    shared.tell(Event::Rewound { turn, prompt: mark.prompt.clone() });
    (count, failed)
}

impl Shared {
    fn write_review(&self, review: &Review) {
        let pending = |ids: &[HunkId]| {
            let chosen = |hunk: &Hunk| hunk.parts.iter().any(|part| ids.contains(part));
            let hunks = lock(&self.fork).hunks().into_iter().filter(chosen);
            let places = hunks.map(|hunk| format!("{}:{}", hunk.file, hunk.lines.start + 1));
            places.collect::<Vec<_>>().join(", ")
        };
        let hunks = |selection: &Selection| match selection {
            Selection::Hunks(ids) => pending(ids),
            Selection::File(doc) => self.workspace.shown(doc),
            Selection::Turn(turn) => format!("turn {turn}"),
            Selection::All => "everything".to_owned(),
        };
        let what = match review {
            Review::Accept(selection)
            | Review::Reject(selection, None)
            | Review::Undo(selection, _) => hunks(selection),
            Review::Reject(selection, Some(why)) => format!("{}: {why}", hunks(selection)),
            Review::Edit(hunk, _) => pending(&[*hunk]),
            Review::Rewind(turn, _) => format!("turn {turn} and what came after it"),
        };
        let record = Record::Review { at: now(), action: review.action(), what: what.into() };
        self.journal.write(&record);
    }
}
