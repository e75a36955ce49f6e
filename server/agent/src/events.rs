//! Events on their way to the front end.

use crate::journal::Journal;
use crate::transcript::Transcript;
use ropewalk_model::Delta;
use ropewalk_protocol::{Event, Level, SessionEvent, SessionId};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
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

    fn of_session(&self, event: Event) -> SessionEvent {
        let (session, thread) = (Some(self.session.clone()), self.thread.as_deref());
        SessionEvent { session, thread: thread.map(str::to_owned), member: None, event }
    }

    pub(crate) fn tell(&self, event: Event) {
        let told = self.of_session(event);
        // Held until it is sent, so that the journal has the order in which it was told.
        let mut transcript = self.transcript.lock().unwrap_or_else(PoisonError::into_inner);
        transcript.take(&told);
        let _ = self.sender.send(told);
    }

    /// Tells of a wait for the model, if this is one.
    pub(crate) fn tell_of_wait(&self, turn: u64, delta: &Delta) {
        match delta {
            Delta::Retrying { attempt, wait, reason } => self.tell(Event::Retrying {
                turn,
                attempt: *attempt,
                wait_ms: milliseconds(*wait),
                reason: reason.clone(),
            }),
            Delta::Waiting { waited, is_queued } => self.tell(Event::Waiting {
                turn,
                waited_ms: milliseconds(*waited),
                is_queued: *is_queued,
            }),
            _ => {}
        }
    }

    pub(crate) fn notice(&self, level: Level, message: impl Into<String>) {
        self.tell(Event::Notice { level, message: message.into() });
    }

    /// Answers an op that found nothing to do. The history leaves it out: a client that ends sends such an op too.
    pub(crate) fn nothing_done(&self, message: impl Into<String>) {
        let event = Event::Notice { level: Level::Info, message: message.into() };
        let _ = self.sender.send(self.of_session(event));
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.notice(Level::Warning, message);
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
