//! The lead's side of a team: its place on the board, the teammates that live beside it, and its own loop, which takes in
//! their changes, tells front ends, and wakes the lead when something needs it.

mod outlook;
mod questions;
mod rest;
mod spawn;
mod wake;

use crate::clock::Clock;
use crate::error::TeamError;
use crate::identity::Identity;
use crate::lead_turns::LeadTurns;
use crate::lease;
use crate::lock;
use crate::mailbox::Mailbox;
use crate::options::TeamOptions;
use crate::owner::{NewTeammate, TeamLead, ToolOwner};
use crate::report::TeamReport;
use crate::running::RunningTeammate;
use crate::session_host::{SessionHost, SessionLink};
use crate::station::Station;
use crate::tools;
use futures::FutureExt;
use futures::future::BoxFuture;
use ropewalk_agent::StepHook;
use ropewalk_board::{Board, BoardError, LEAD, Member, MemberState, NewMember, Team};
use ropewalk_protocol::{Event, SessionEvent};
use ropewalk_tools::Registry;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::{Notify, OnceCell, watch};

/// Ingredients of a lead.
#[derive(Clone)]
pub struct LeadConfig {
    /// The lead's session.
    pub session: Arc<str>,
    /// A name for its team, if none has it.
    pub name: String,
    /// The names of the folders it works in, a line each: a worker gives its own folder that name.
    pub roots: String,
    /// The options.
    pub options: TeamOptions,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// See the module. Nothing is opened until a tool or the user asks for the team.
pub struct Lead {
    config: LeadConfig,
    host: Arc<dyn SessionHost>,
    station: OnceCell<Arc<Station>>,
    teammates: Mutex<BTreeMap<String, RunningTeammate>>,
    /// The members that this process found at work when it joined, until they are brought back.
    forerunners: Mutex<Vec<Member>>,
    turns: Mutex<LeadTurns>,
    nudge: Arc<Notify>,
    told: tokio::sync::Mutex<TeamReport>,
    /// Held while a team comes back.
    coming: Arc<tokio::sync::Mutex<()>>,
    /// True once nothing goes on by itself any more.
    rest: watch::Sender<bool>,
    /// Time since which nobody does anything, though somebody could.
    quiet_since: Mutex<Option<Duration>>,
}

impl Lead {
    /// A lead whose board is not open yet.
    pub fn new(config: LeadConfig, host: Arc<dyn SessionHost>) -> Arc<Self> {
        Arc::new(Self {
            config,
            host,
            station: OnceCell::new(),
            teammates: Mutex::default(),
            forerunners: Mutex::default(),
            turns: Mutex::default(),
            nudge: Arc::default(),
            told: tokio::sync::Mutex::default(),
            coming: Arc::default(),
            rest: watch::Sender::default(),
            quiet_since: Mutex::default(),
        })
    }

    /// The names of the team's tools.
    pub fn tool_names() -> Vec<String> {
        let nobody: Weak<Self> = Weak::new();
        let tools = tools::of_lead(Registry::new(), ToolOwner::Lead(nobody));
        tools.names().map(str::to_owned).collect()
    }

    /// The lead's tools, beside those of its session.
    pub fn tools(self: &Arc<Self>, registry: Registry) -> Registry {
        tools::of_lead(registry, ToolOwner::Lead(self.owner()))
    }

    /// The lead's hook.
    pub fn hook(self: &Arc<Self>) -> Arc<dyn StepHook> {
        Arc::new(Mailbox(ToolOwner::Lead(self.owner())))
    }

    /// Its station, if the board is open.
    pub fn known(&self) -> Option<Arc<Station>> {
        self.station.get().cloned()
    }

    /// Its station. The board is opened, and the team made, if that was not done yet.
    ///
    /// # Errors
    /// When the board can't be opened.
    pub fn station(self: &Arc<Self>) -> BoxFuture<'_, Result<Arc<Station>, TeamError>> {
        Box::pin(async move {
            let opened = self.station.get_or_try_init(|| async {
                let board = self.open_board().await?;
                let team = match board.led_by(&self.config.session).await? {
                    Some(team) => team,
                    None => self.make_team(&board).await?,
                };
                Ok::<_, TeamError>(self.begins(self.join(team).await?))
            });
            Ok(opened.await?.clone())
        })
    }

    /// Goes on with the team that this session led before, if it led one: its teammates come back with their tasks. Does
    /// nothing where there is no board.
    ///
    /// # Errors
    /// When the board is there and can't be opened.
    pub fn resume(self: &Arc<Self>) -> BoxFuture<'_, Result<(), TeamError>> {
        Box::pin(async move {
            if !self.config.options.board.exists() {
                return Ok(());
            }
            let Some(team) = self.open_board().await?.led_by(&self.config.session).await? else {
                return Ok(());
            };
            let opened = self.station.get_or_try_init(|| async {
                Ok::<_, TeamError>(self.begins(self.join(team).await?))
            });
            let station = opened.await?.clone();
            self.bring_back(&station).await;
            Ok(())
        })
    }

    /// Leads a team whose lead is gone.
    ///
    /// # Errors
    /// When there is no such team, its lead lives, or this session leads another.
    pub fn adopt<'a>(self: &'a Arc<Self>, name: &'a str) -> BoxFuture<'a, Result<(), TeamError>> {
        Box::pin(async move {
            if let Some(station) = self.known() {
                let own = &station.identity.team;
                return Err(
                    format!("This session leads the team {own} already; begin a new one").into()
                );
            }
            let board = self.open_board().await?;
            let Some(team) = board.find_team(name).await? else {
                let names = board.team_names().await?.join(", ");
                return Err(format!("There is no team {name}; there are: {names}").into());
            };
            let station = self.station.get_or_try_init(|| async {
                let station = self.join(team.clone()).await?;
                team.adopt(&self.config.session).await?;
                Ok::<_, TeamError>(self.begins(station))
            });
            station.await.map(drop)
        })
    }

    async fn open_board(&self) -> Result<Board, BoardError> {
        Board::open(self.config.options.board.clone(), self.config.options.of_board()).await
    }

    /// A new team, by the first name that is free.
    async fn make_team(&self, board: &Board) -> Result<Team, TeamError> {
        for number in 1..1_000 {
            let name = match number {
                1 => self.config.name.clone(),
                _ => format!("{}-{number}", self.config.name),
            };
            if board.find_team(&name).await?.is_some() {
                continue;
            }
            let team = board.team(&name, &self.config.session, &self.config.roots).await?;
            // Another may have taken it in between.
            if team.lead_session().await? == *self.config.session {
                return Ok(team);
            }
        }
        Err("There are too many teams on this board; name another board by `team.board`".into())
    }

    /// Joins a team as its lead.
    async fn join(&self, team: Team) -> Result<Arc<Station>, TeamError> {
        let mut members = team.members().await?;
        members.retain(|member| member.state != MemberState::Shutdown);
        let before = members.iter().find(|member| member.name == LEAD);
        let host = format!("editor, process {}", std::process::id());
        let session = self.config.session.to_string();
        let membership = match before {
            Some(own) if own.session == session => team.rejoin(LEAD, own.epoch, &host).await?,
            _ => {
                let lead = NewMember { name: LEAD.to_owned(), role: String::new(), host, session };
                team.join(&lead).await?
            }
        };
        *lock(&self.forerunners) = members;
        let identity =
            Identity { name: LEAD.to_owned(), role: String::new(), team: team.name().to_owned() };
        let (options, clock) = (self.config.options.clone(), self.config.clock.clone());
        Ok(Arc::new(Station::new(identity, membership, options, clock)))
    }

    /// Starts the loops of a lead whose team is its own: from now on its place is kept, and bundles are taken in.
    fn begins(self: &Arc<Self>, station: Arc<Station>) -> Arc<Station> {
        tokio::spawn(lease::keep(Arc::downgrade(&station)).boxed());
        tokio::spawn(wake::watch_over(Arc::downgrade(self), station.clone()).boxed());
        station
    }

    /// The teammates' sessions that are open here, by the members' names.
    pub fn sessions(&self) -> Vec<(String, Arc<str>)> {
        let teammates = lock(&self.teammates);
        teammates.iter().map(|(name, one)| (name.clone(), one.session.clone())).collect()
    }

    pub(crate) fn told(&self) -> &tokio::sync::Mutex<TeamReport> {
        &self.told
    }

    /// Tells front ends something of the lead's session.
    pub(crate) fn tell(&self, event: Event) {
        let session = Some(self.config.session.clone().into());
        self.host.tell(SessionEvent { session, thread: None, member: None, event });
    }

    /// True while a turn of the lead's runs.
    pub(crate) fn is_working(&self) -> bool {
        lock(&self.turns).is_running()
    }

    fn owner(self: &Arc<Self>) -> Weak<dyn TeamLead> {
        let lead: Weak<Self> = Arc::downgrade(self);
        lead
    }

    fn lead_session(&self) -> SessionLink {
        SessionLink(Some((self.host.clone(), self.config.session.clone())))
    }
}

impl TeamLead for Lead {
    fn known(&self) -> Option<Arc<Station>> {
        Lead::known(self)
    }

    fn station(self: Arc<Self>) -> BoxFuture<'static, Result<Arc<Station>, TeamError>> {
        Box::pin(async move { Lead::station(&self).await })
    }

    fn spawn(self: Arc<Self>, new: NewTeammate) -> BoxFuture<'static, Result<(), TeamError>> {
        Box::pin(async move { Lead::spawn(&self, new).await })
    }
}

impl std::fmt::Debug for Lead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lead").field("session", &self.config.session).finish_non_exhaustive()
    }
}
