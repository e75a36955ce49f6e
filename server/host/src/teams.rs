//! The teams of a process: the leads of its sessions, and which sessions are teammates'.

use crate::lock;
use ropewalk_agent::StepHook;
use ropewalk_model::Model;
use ropewalk_protocol::{Mode, SessionEvent};
use ropewalk_team::{Identity, Lead, MoreTools};
use ropewalk_tools::Registry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Leads and teammates of a host.
#[derive(Default)]
pub(crate) struct Teams {
    /// Leads by the ids of their sessions.
    pub(crate) leads: Mutex<BTreeMap<String, Arc<Lead>>>,
    /// Ids of the sessions of teammates.
    pub(crate) members: Mutex<BTreeSet<String>>,
}

impl Teams {
    /// Notes what happens in a session.
    pub(crate) fn hear(&self, event: &SessionEvent) {
        let Some(session) = event.session.as_ref().filter(|_| event.member.is_none()) else {
            return;
        };
        let lead = lock(&self.leads).get(&**session).cloned();
        if let Some(lead) = lead {
            lead.hear(event);
        }
    }

    /// A session has ended, and with it the team that it led here.
    pub(crate) fn end(&self, session: &str) {
        let lead = lock(&self.leads).remove(session);
        // Dropped before the next lock: the end of its teammates takes that, too.
        drop(lead);
        lock(&self.members).remove(session);
    }

    /// True of the session of a teammate.
    pub(crate) fn is_member(&self, session: &str) -> bool {
        lock(&self.members).contains(session)
    }

    /// The team that a session leads, or may lead.
    pub(crate) fn lead(&self, session: &str) -> Option<Arc<Lead>> {
        lock(&self.leads).get(session).cloned()
    }
}

/// Ingredients of a teammate's session.
pub(crate) struct MemberPart {
    pub(crate) identity: Identity,
    pub(crate) mode: Mode,
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) tools: MoreTools,
    pub(crate) hooks: Vec<Arc<dyn StepHook>>,
}

/// Parts of a session that its team gives it.
pub(crate) struct TeamPart {
    pub(crate) tools: Registry,
    pub(crate) hooks: Vec<Arc<dyn StepHook>>,
}
