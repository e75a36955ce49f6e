//! Reviews that were asked for and are not over: what they are about waits for the user no more, although it is still
//! pending.
//!
//! They are asked for in `serve`, and over when their session tells so: in the same order.

use crate::lock;
use ropewalk_agent::ReviewSnapshot;
use ropewalk_protocol::{Event, Op, ReviewAction, Selection, SessionEvent, SessionId};
use ropewalk_workspace::{DocId, Hunk, HunkId};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Mutex;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Reviews(Mutex<HashMap<SessionId, VecDeque<RunningReview>>>);

/// A review that is under way.
#[derive(Debug)]
struct RunningReview {
    action: ReviewAction,
    /// The hunks that it is about.
    hunks: HashSet<HunkId>,
}

impl Reviews {
    /// Takes an accept or a reject that a session is about to get; `review`: its pending hunks as they were shown last.
    pub(crate) fn begin(&self, session: SessionId, op: &Op, review: &ReviewSnapshot) {
        let (action, selection) = match op {
            Op::Accept(selection) => (ReviewAction::Accept, selection),
            Op::Reject(selection, _) => (ReviewAction::Reject, selection),
            _ => return,
        };
        let meant = review.hunks().filter(|hunk| is_meant(selection, hunk)).map(|hunk| hunk.id);
        let begun = RunningReview { action, hunks: meant.collect() };
        lock(&self.0).entry(session).or_default().push_back(begun);
    }

    /// Forgets what an event says is over.
    pub(crate) fn follow(&self, told: &SessionEvent) {
        let (Some(session), Event::Reviewed { action, .. }) = (&told.session, &told.event) else {
            return;
        };
        let mut all = lock(&self.0);
        let Some(of_session) = all.get_mut(session) else { return };
        if let Some(at) = of_session.iter().position(|review| review.action == *action) {
            of_session.remove(at);
        }
        if of_session.is_empty() {
            all.remove(session);
        }
    }

    /// The hunks of a session that are being reviewed.
    pub(crate) fn of(&self, session: &SessionId) -> HashSet<HunkId> {
        let all = lock(&self.0);
        all.get(session).into_iter().flatten().flat_map(|review| &review.hunks).copied().collect()
    }
}

fn is_meant(selection: &Selection, hunk: &Hunk) -> bool {
    match selection {
        Selection::All => true,
        Selection::Hunks(ids) => {
            ids.iter().any(|id| hunk.id.0 == *id || hunk.parts.contains(&HunkId(*id)))
        }
        Selection::File(uri) => hunk.doc == DocId::from_uri(uri),
        Selection::Turn(turn) => hunk.turn == *turn,
    }
}
