//! Review: accept, reject, edit and undo, one after the other, beside a running turn.
//!
//! One task does them in the order they were asked for, so that a reject never overtakes the accept before
//! it. Which hunks are meant is settled when the op comes, by the actor.

use super::shared::{Shared, in_words, lock};
use crate::event::Event;
use ropewalk_workspace::publish::publish;
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::{HunkId, NoWitness, Selection};
use std::sync::Arc;
use tokio::sync::mpsc;

/// What is asked for.
pub(super) enum Review {
    Accept(Selection),
    Reject(Selection, Option<String>),
    Edit(HunkId, String),
    Undo(Selection),
}

/// Takes reviews until the session has ended.
pub(super) async fn run(shared: Arc<Shared>, mut reviews: mpsc::UnboundedReceiver<Review>) {
    while let Some(review) = reviews.recv().await {
        // In a task, so that a panic ends this review and not all that come after it.
        let doing = tokio::spawn(review_one(shared.clone(), review));
        let (action, done, failed) = doing.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a review panicked");
            ("review", 0, vec!["Ropewalk has a bug; the log has the details".to_owned()])
        });
        shared.tell(Event::Reviewed { action, done, failed });
        shared.show_hunks().await;
    }
}

async fn review_one(shared: Arc<Shared>, review: Review) -> (&'static str, usize, Vec<String>) {
    let (workspace, editor, bounds) = (&*shared.workspace, &*shared.editor, shared.publish);
    let unless = |is_done: bool, why: &str| if is_done { Vec::new() } else { vec![why.to_owned()] };
    match review {
        Review::Accept(selection) => {
            let report = publish(workspace, editor, &shared.fork, &selection, bounds, &NoWitness).await;
            let (done, failed) = in_words(&report);
            shared.tell_later(report);
            ("accept", done, failed)
        }
        Review::Undo(selection) => {
            let report = undo(workspace, editor, &shared.fork, &selection, bounds, &NoWitness).await;
            let (done, failed) = in_words(&report);
            ("undo", done, failed)
        }
        Review::Reject(selection, reason) => {
            let done = lock(&shared.fork).reject(workspace, &selection, reason.as_deref());
            ("reject", done, unless(done > 0, "no pending hunk was meant"))
        }
        Review::Edit(hunk, text) => {
            let edited = lock(&shared.fork).edit(workspace, hunk, &text);
            let failed = unless(edited, "there is no such pending hunk of text");
            ("edit", usize::from(edited), failed)
        }
    }
}
