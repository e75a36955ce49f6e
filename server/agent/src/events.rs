//! Events on their way to the front end.

use ropewalk_protocol::{Event, Level, SessionEvent, SessionId};
use std::sync::Arc;
use tokio::sync::mpsc;

/// See the module. A front end that has gone away hears nothing; the session ends by its ops.
#[derive(Clone)]
pub(crate) struct Events {
    sender: mpsc::UnboundedSender<SessionEvent>,
    session: SessionId,
    /// The subagent whose events these are.
    thread: Option<Arc<str>>,
}

impl Events {
    pub(crate) fn new(session: &Arc<str>, sender: mpsc::UnboundedSender<SessionEvent>) -> Self {
        Self { sender, session: session.clone().into(), thread: None }
    }

    /// The same for the events of a subagent.
    pub(crate) fn of_thread(&self, thread: &Arc<str>) -> Self {
        Self { thread: Some(thread.clone()), ..self.clone() }
    }

    pub(crate) fn tell(&self, event: Event) {
        let (session, thread) = (Some(self.session.clone()), self.thread.as_deref());
        let thread = thread.map(str::to_owned);
        let _ = self.sender.send(SessionEvent { session, thread, event });
    }

    pub(crate) fn notice(&self, level: Level, message: impl Into<String>) {
        self.tell(Event::Notice { level, message: message.into() });
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.notice(Level::Warning, message);
    }
}
