//! Events on their way to the front end.

use crate::journal::Journal;
use crate::transcript::Transcript;
use ropewalk_protocol::{Event, Level, SessionEvent, SessionId};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// See the module. A front end that has gone away hears nothing; the session ends by its ops.
#[derive(Clone)]
pub(crate) struct Events {
    sender: mpsc::UnboundedSender<SessionEvent>,
    transcript: Arc<Mutex<Transcript>>,
    session: SessionId,
    /// The subagent whose events these are.
    thread: Option<Arc<str>>,
}

impl Events {
    pub(crate) fn new(
        session: &Arc<str>,
        sender: mpsc::UnboundedSender<SessionEvent>,
        journal: Journal,
    ) -> Self {
        let transcript = Arc::new(Mutex::new(Transcript::new(journal)));
        Self { sender, transcript, session: session.clone().into(), thread: None }
    }

    /// The same for the events of a subagent.
    pub(crate) fn of_thread(&self, thread: &Arc<str>) -> Self {
        Self { thread: Some(thread.clone()), ..self.clone() }
    }

    pub(crate) fn tell(&self, event: Event) {
        let (session, thread) = (Some(self.session.clone()), self.thread.as_deref());
        let thread = thread.map(str::to_owned);
        let told = SessionEvent { session, thread, event };
        // Held until it is sent, so that the journal has the order in which it was told.
        let mut transcript = self.transcript.lock().unwrap_or_else(PoisonError::into_inner);
        transcript.take(&told);
        let _ = self.sender.send(told);
    }

    pub(crate) fn notice(&self, level: Level, message: impl Into<String>) {
        self.tell(Event::Notice { level, message: message.into() });
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.notice(Level::Warning, message);
    }
}
