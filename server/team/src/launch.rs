//! The start of a member: its station, its session with the team's tools and hooks, and the news of that.

use crate::clock::Clock;
use crate::error::TeamError;
use crate::identity::Identity;
use crate::lease::{self, Lease};
use crate::mailbox::Mailbox;
use crate::options::TeamOptions;
use crate::owner::ToolOwner;
use crate::plan::{self, PlanWatch};
use crate::refusals::Refusals;
use crate::session_host::{SessionHost, SessionLink, StartedSession, TeammateStart};
use crate::station::Station;
use crate::teammate::Teammate;
use crate::tools;
use crate::turns;
use futures::FutureExt;
use ropewalk_agent::{Session, StepHook};
use ropewalk_board::{BoardError, Membership};
use ropewalk_protocol::{Mode, SessionEvent};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

/// Session that a member starts with.
pub(crate) struct MemberStart {
    pub(crate) id: Arc<str>,
    /// True if it goes on from its journal.
    pub(crate) resumes: bool,
    pub(crate) mode: Mode,
    /// Its model; None for the one of the configuration.
    pub(crate) model: Option<String>,
}

/// Surroundings of a member that starts.
pub(crate) struct Launch {
    pub(crate) host: Arc<dyn SessionHost>,
    pub(crate) options: TeamOptions,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) lead: SessionLink,
}

impl Launch {
    /// Starts a member's session. One that goes on has its task again.
    ///
    /// # Errors
    /// When the session can't be started, or the board can't be reached.
    pub(crate) async fn launch(
        self,
        membership: Membership,
        start: MemberStart,
    ) -> Result<(Arc<Station>, Teammate), TeamError> {
        let MemberStart { id, resumes, mode, model } = start;
        let identity = Identity {
            name: membership.name().to_owned(),
            role: membership.role().to_owned(),
            team: membership.team().name().to_owned(),
        };
        let name = identity.name.clone();
        let station = Station::new(identity.clone(), membership, self.options, self.clock);
        let station = Arc::new(station);
        let own = SessionLink(Some((self.host.clone(), id.clone())));
        let mut hooks: Vec<Arc<dyn StepHook>> = vec![
            Arc::new(Lease(station.clone())),
            Arc::new(Mailbox(ToolOwner::Member(station.clone()))),
            Arc::new(PlanWatch { station: station.clone(), session: own }),
        ];
        if self.lead.0.is_none() {
            hooks.push(Arc::new(Refusals(station.clone())));
        }
        let owner = station.clone();
        let tools = Box::new(move |registry| tools::of_member(registry, owner));
        let start = TeammateStart { id, resumes, identity, mode, model, tools, hooks };
        let StartedSession { session, events } = self.host.start(start).await?;
        if resumes {
            station.set_task(station.membership.held().await?.into_iter().next());
        }
        keeps_plan(&station, &session, resumes, mode).await?;
        let (sender, turns) = watch::channel(turns::Turns::default());
        tokio::spawn(pass_on(self.host, name, events, sender).boxed());
        tokio::spawn(lease::keep(Arc::downgrade(&station)).boxed());
        let teammate = Teammate::new(station.clone(), session, self.lead, turns);
        Ok((station, teammate))
    }
}

/// Has a member that plans first do so after a restart, too: its journal says that it may change nothing, and the board what
/// became of its plan.
async fn keeps_plan(
    station: &Station,
    session: &Session,
    resumes: bool,
    mode: Mode,
) -> Result<(), BoardError> {
    if !resumes && mode == Mode::Plan {
        session.set_mode(mode);
    }
    if resumes && session.mode() == Mode::Plan {
        let plan = station.team().last_plan(station.name()).await?;
        station.set_plan(plan.map(|request| request.id));
        plan::waits(station, session).await?;
    }
    Ok(())
}

/// Tells front ends what happens in a member's session, under its name, until it has ended.
async fn pass_on(
    host: Arc<dyn SessionHost>,
    member: String,
    mut events: UnboundedReceiver<SessionEvent>,
    turns: watch::Sender<turns::Turns>,
) {
    while let Some(mut event) = events.recv().await {
        turns::note(&turns, &event);
        event.member = Some(member.clone());
        host.tell(event);
    }
}
