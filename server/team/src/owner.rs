//! The member that a tool or a mailbox is made for.

use crate::error::TeamError;
use crate::station::Station;
use futures::future::BoxFuture;
use std::sync::{Arc, Weak};

/// A teammate that the lead wants.
pub(crate) struct NewTeammate {
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) prompt: String,
    /// True if it changes nothing before its plan is approved.
    pub(crate) plans: bool,
    pub(crate) model: Option<String>,
}

/// The lead, as its tools see it.
pub(crate) trait TeamLead: Send + Sync {
    /// Its station, if the board is open.
    fn known(&self) -> Option<Arc<Station>>;

    /// Its station; the board is opened if it is not.
    fn station(self: Arc<Self>) -> BoxFuture<'static, Result<Arc<Station>, TeamError>>;

    /// Starts a teammate.
    fn spawn(self: Arc<Self>, new: NewTeammate) -> BoxFuture<'static, Result<(), TeamError>>;
}

/// The member that a tool is made for.
#[derive(Clone)]
pub(crate) enum ToolOwner {
    /// The lead, whose board is opened by the first call.
    Lead(Weak<dyn TeamLead>),
    /// A teammate or worker.
    Member(Arc<Station>),
}

impl ToolOwner {
    /// The member's station, if it has one already.
    pub(crate) fn known(&self) -> Option<Arc<Station>> {
        match self {
            Self::Lead(lead) => lead.upgrade()?.known(),
            Self::Member(station) => Some(station.clone()),
        }
    }

    pub(crate) async fn station(&self) -> Result<Arc<Station>, TeamError> {
        match self {
            Self::Lead(lead) => lead.upgrade().ok_or(TeamError::from(ENDED))?.station().await,
            Self::Member(station) => Ok(station.clone()),
        }
    }

    /// The lead, if it is made for that.
    pub(crate) fn lead(&self) -> Option<Arc<dyn TeamLead>> {
        match self {
            Self::Lead(lead) => lead.upgrade(),
            Self::Member(_) => None,
        }
    }

    pub(crate) fn is_lead(&self) -> bool {
        matches!(self, Self::Lead(_))
    }
}

/// Result where the session is gone.
pub(crate) const ENDED: &str = "The session has ended";
