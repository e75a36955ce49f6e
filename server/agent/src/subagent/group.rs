//! The subagents of a turn: how many there were, how many are at work, and whose changes come back next.

use super::spending::TurnSpending;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// See the module.
#[derive(Default)]
pub(crate) struct TurnSubagents {
    /// All calls of the turn so far, in order: by these subagents are numbered, whichever of them begins first.
    calls: Vec<Arc<str>>,
    /// Calls of the group whose results are still to come, in order.
    waiting: watch::Sender<Vec<Arc<str>>>,
    group: Option<Group>,
}

/// Subagents whose calls stand together in a reply.
struct Group {
    places: Arc<Semaphore>,
    spending: Arc<TurnSpending>,
}

impl TurnSubagents {
    /// Begins a group, so many of which may be at work at a time.
    pub(crate) fn begin(&mut self, calls: Vec<Arc<str>>, parallel: usize, spending: TurnSpending) {
        self.calls.extend(calls.iter().cloned());
        self.waiting.send_replace(calls);
        let places = Arc::new(Semaphore::new(parallel.max(1)));
        self.group = Some(Group { places, spending: Arc::new(spending) });
    }

    /// Ends the group, if there is one. Gives what was used until then.
    pub(crate) fn end(&mut self) -> Option<Arc<TurnSpending>> {
        self.group.take().map(|group| group.spending)
    }

    pub(crate) fn spending(&self) -> Option<Arc<TurnSpending>> {
        self.group.as_ref().map(|group| group.spending.clone())
    }

    /// Waits for a place to work; it is free again when this is dropped.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        let places = self.group.as_ref()?.places.clone();
        places.acquire_owned().await.ok()
    }

    /// The number of a call's subagent in the turn, from one.
    pub(crate) fn number(&self, call: &str) -> usize {
        let at = self.calls.iter().position(|known| **known == *call);
        at.unwrap_or(self.calls.len()) + 1
    }

    /// Waits until all calls of the group that stand before this one have their results.
    pub(crate) async fn is_next(&self, call: &Arc<str>) {
        let is_next = |calls: &Vec<Arc<str>>| calls.first() == Some(call) || !calls.contains(call);
        // The sender lives as long as `self`.
        let _ = self.waiting.subscribe().wait_for(is_next).await;
    }

    /// Lets the next call through: this one has its result, or never gets to it.
    pub(crate) fn passes(&self, call: &Arc<str>) {
        self.waiting.send_if_modified(|calls| {
            let before = calls.len();
            calls.retain(|waiting| waiting != call);
            calls.len() < before
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Journal;
    use futures::FutureExt;
    use ropewalk_protocol::Spent;

    #[test]
    fn changes_come_back_in_the_order_of_the_calls() {
        let calls: Vec<Arc<str>> = ["a", "b", "c"].map(Arc::from).into();
        let mut all = TurnSubagents::default();
        let spending = TurnSpending::new(Spent::default(), Spent::default(), Journal::none());
        all.begin(calls.clone(), 2, spending);
        assert_eq!((all.number("a"), all.number("c")), (1, 3));
        let is_next = |all: &TurnSubagents, at: usize| all.is_next(&calls[at]).now_or_never();
        assert_eq!(is_next(&all, 0), Some(()));
        assert_eq!(is_next(&all, 2), None);
        all.passes(&calls[1]);
        assert_eq!(is_next(&all, 2), None);
        all.passes(&calls[0]);
        assert_eq!(is_next(&all, 2), Some(()));
        let places: Vec<_> = (0..2).map(|_| all.place().now_or_never().flatten()).collect();
        assert!(places.iter().all(Option::is_some));
        assert!(all.place().now_or_never().is_none(), "two at a time");
    }
}
