//! Events on their way to the front end.

use ropewalk_protocol::{Event, Level};
use tokio::sync::mpsc;

/// See the module. A front end that has gone away hears nothing; the session ends by its ops.
#[derive(Clone)]
pub(crate) struct Events(mpsc::UnboundedSender<Event>);

impl Events {
    pub(crate) fn new(sender: mpsc::UnboundedSender<Event>) -> Self {
        Self(sender)
    }

    pub(crate) fn tell(&self, event: Event) {
        let _ = self.0.send(event);
    }

    pub(crate) fn notice(&self, level: Level, message: impl Into<String>) {
        self.tell(Event::Notice { level, message: message.into() });
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.notice(Level::Warning, message);
    }
}
