//! The process as a team sees it: what starts, finds and ends sessions, and tells front ends.

use crate::identity::Identity;
use futures::future::BoxFuture;
use ropewalk_agent::{Session, StepHook};
use ropewalk_protocol::{Mode, SessionEvent};
use ropewalk_tools::Registry;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

/// The process that a team's sessions live in.
pub trait SessionHost: Send + Sync {
    /// A session that is open here.
    fn session(&self, id: &str) -> Option<Session>;

    /// An id that no session has.
    fn new_id(&self) -> Arc<str>;

    /// Starts a teammate's session beside the others; the error is a sentence.
    fn start(&self, start: TeammateStart) -> BoxFuture<'static, Result<StartedSession, String>>;

    /// Ends a teammate's session.
    fn end(&self, id: &str);

    /// Tells front ends.
    fn tell(&self, event: SessionEvent);
}

/// Adds tools to those of a session.
pub type MoreTools = Box<dyn FnOnce(Registry) -> Registry + Send>;

/// A teammate's session that is to start.
pub struct TeammateStart {
    /// Its id.
    pub id: Arc<str>,
    /// True if it goes on from its journal.
    pub resumes: bool,
    /// Identity of the member.
    pub identity: Identity,
    /// Its mode.
    pub mode: Mode,
    /// Its model, as `provider/name`; None for the one of the configuration.
    pub model: Option<String>,
    /// The team's tools.
    pub tools: MoreTools,
    /// The team's hooks.
    pub hooks: Vec<Arc<dyn StepHook>>,
}

/// A session that has started, and what happens in it. The team tells front ends of that.
pub struct StartedSession {
    /// The session.
    pub session: Session,
    /// Its events.
    pub events: UnboundedReceiver<SessionEvent>,
}

/// The way to a session that is open here, which may end; none from a worker to its lead, which is in another process.
#[derive(Clone)]
pub(crate) struct SessionLink(pub(crate) Option<(Arc<dyn SessionHost>, Arc<str>)>);

impl SessionLink {
    pub(crate) fn get(&self) -> Option<Session> {
        self.0.as_ref().and_then(|(host, id)| host.session(id))
    }
}
