//! The events of the session and its team, out of all that the host tells; what it tells of the configuration is said.

use crate::plain::say;
use ropewalk_protocol::{Event, SessionEvent, SessionId};
use std::collections::VecDeque;
use tokio::sync::mpsc::UnboundedReceiver;

/// See the module.
pub(super) struct Feed {
    events: UnboundedReceiver<SessionEvent>,
    /// Events of the session that came before what is said of its start.
    early: VecDeque<SessionEvent>,
    session: SessionId,
    /// Problems that the turn itself tells of.
    told_later: Vec<String>,
}

impl Feed {
    /// The feed of a session that has begun. What was wrong with the configuration until now is said.
    pub(super) fn new(
        mut events: UnboundedReceiver<SessionEvent>,
        session: SessionId,
        told_later: Vec<String>,
    ) -> Self {
        let mut early = Vec::new();
        while let Ok(event) = events.try_recv() {
            early.push(event);
        }
        let mut feed = Self { events, early: VecDeque::new(), session, told_later };
        feed.early = early.into_iter().filter_map(|event| feed.take(event)).collect();
        feed
    }

    /// The next event of the session or a teammate. None if there will be none.
    pub(super) async fn next(&mut self) -> Option<SessionEvent> {
        if let Some(event) = self.early.pop_front() {
            return Some(event);
        }
        loop {
            let event = self.events.recv().await?;
            if let Some(own) = self.take(event) {
                return Some(own);
            }
        }
    }

    fn take(&self, told: SessionEvent) -> Option<SessionEvent> {
        if let Some(id) = &told.session {
            let is_ours = *id == self.session || told.member.is_some();
            return is_ours.then_some(told);
        }
        if let Event::Notice { message, .. } = told.event
            && !self.told_later.contains(&message)
        {
            say(&message);
        }
        None
    }
}
