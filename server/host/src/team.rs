//! Teams in this process: what a session has of its team, how teammates start, and what the user asks about them.

use crate::host::Host;
use crate::seat::Seat;
use crate::serve::serve;
use crate::sessions::{SessionAnswer, SessionOrigin};
use crate::settings::problem;
use crate::teams::{MemberPart, TeamPart};
use crate::{blocking, lock};
use futures::FutureExt;
use futures::future::BoxFuture;
use ropewalk_agent::Session;
use ropewalk_agent::session::Settings;
use ropewalk_board::BoardPlace;
use ropewalk_config::{Config, state_folder};
use ropewalk_protocol::{Refusal, Reply, SessionEvent, SessionId, TeamOp};
use ropewalk_team::clock::SystemClock;
use ropewalk_team::{
    Lead, LeadConfig, SessionHost, StartedSession, TeamError, TeamOptions, TeammateStart, Worker,
    WorkerConfig,
};
use ropewalk_tools::Registry;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Answer where nothing of a team is there.
const NO_TEAM: &str = "There is no team here yet: ask for teammates or tasks first";

/// Answer where teams are switched off.
const OFF: &str =
    "Teams are switched off here: set `team.enabled` to true, and begin a new session";

/// Answer where no session leads.
const ELSEWHERE: &str = "Nobody leads a team here: `ropewalk team tasks`, `members` and `inbox` show its board, and a session in an editor leads it";

/// Answer to who would lead a team where nothing was asked yet: what comes in must belong to a conversation.
const ASK_FIRST: &str = "Ask for something first: a team needs a conversation that leads it";

/// Most steps of one turn of a teammate.
pub(crate) const STEPS: u32 = 50;

/// A worker that joins a team.
#[derive(Clone, Debug)]
pub struct JoinTeam {
    /// The team's name.
    pub team: String,
    /// The worker's name; None takes the first that is free.
    pub name: Option<String>,
    /// Its role; empty for any.
    pub role: String,
    /// True if it stays when there is nothing to do.
    pub stays: bool,
}

impl Host {
    /// Makes a session the teammate that it is to be, or one that may lead a team.
    pub(crate) fn team_part(
        self: &Arc<Self>,
        id: &Arc<str>,
        member: Option<MemberPart>,
        settings: &mut Settings,
        tools: Registry,
    ) -> TeamPart {
        if let Some(member) = member {
            settings.mode = member.mode;
            settings.facts.identity = Some(member.identity.in_words());
            settings.limits.steps = settings.limits.steps.min(STEPS);
            if let Some(model) = member.model {
                settings.model = Ok(model);
            }
            lock(&self.teams.members).insert(id.to_string());
            return TeamPart { tools: (member.tools)(tools), hooks: member.hooks };
        }
        let config = self.configuration.config();
        let options = config.filter(|_| self.options.leads);
        let Some(options) = options.and_then(|config| self.team_options(&config)) else {
            return TeamPart { tools, hooks: Vec::new() };
        };
        let roots = self.workspace.roots();
        let names: Vec<&str> = roots.iter().map(|root| root.name()).collect();
        let config = LeadConfig {
            session: id.clone(),
            name: team_name(names.first().copied().unwrap_or_default()),
            roots: names.join("\n"),
            options,
            clock: Arc::new(SystemClock::default()),
        };
        let lead = Lead::new(config, Arc::new(TeamHost(Arc::downgrade(self))));
        let part = TeamPart { tools: lead.tools(tools), hooks: vec![lead.hook()] };
        lock(&self.teams.leads).insert(id.to_string(), lead);
        part
    }

    fn team_options(&self, config: &Config) -> Option<TeamOptions> {
        let folder = state_folder(&*self.options.environment);
        team_options(config, folder.as_deref(), &self.root_paths())
    }

    /// Joins a team as a worker, with the folders and rules of this host.
    ///
    /// # Errors
    /// When its model can't be asked, there is no such team or board, or the name is taken, in words.
    pub fn join_team(self: &Arc<Self>, join: JoinTeam) -> BoxFuture<'_, Result<Worker, Refusal>> {
        Box::pin(async move {
            self.configure().await;
            // Without a model it would claim one task after the other, to fail at each.
            let host = self.clone();
            let checked = blocking(move || host.check_model()).await?;
            checked.map_err(|words| words.trim_end_matches('.').to_owned())?;
            let config = self.configuration.config();
            let options = config.and_then(|config| self.team_options(&config)).ok_or(OFF)?;
            let JoinTeam { team, name, role, stays } = join;
            let theirs = Worker::roots_of(&options, &team).await.map_err(refused)?;
            let own = self.workspace.roots();
            // Changes say their folder by its name. Where there is one alone, a checkout by another name counts as that.
            let only = own.iter().next().filter(|_| own.iter().count() == 1);
            if let ([name], Some(root)) = (&theirs[..], only) {
                self.set_folders(vec![(name.clone(), root.path().to_owned())]);
            }
            let clock = Arc::new(SystemClock::default());
            let config = WorkerConfig { team, name, role, stays, options, clock };
            Worker::join(config, Arc::new(TeamHost(Arc::downgrade(self)))).await.map_err(refused)
        })
    }

    /// Brings back the teammates of a session that goes on.
    pub(crate) fn bring_team_back(self: &Arc<Self>, session: &str) {
        let Some(lead) = self.teams.lead(session) else { return };
        let (host, coming) = (Arc::downgrade(self), lead.comes_back());
        tokio::spawn(
            async move {
                let resumed = lead.resume().await;
                drop(coming);
                if let (Err(error), Some(host)) = (resumed, Weak::upgrade(&host)) {
                    host.tell_all(vec![problem(format!("The team could not go on: {error}"))]);
                }
            }
            .boxed(),
        );
    }

    /// The lead of the current session.
    pub(crate) fn lead(&self) -> Result<Arc<Lead>, Refusal> {
        let session = self.running(None).ok_or(NO_TEAM)?;
        self.teams.lead(session.id()).ok_or_else(|| {
            let is_on = || self.configuration.config().is_some_and(|config| config.team.enabled);
            if !self.options.leads && is_on() { ELSEWHERE.into() } else { OFF.into() }
        })
    }

    /// A page of the board's tasks.
    pub(crate) async fn tasks(&self, page: Option<u32>) -> SessionAnswer {
        let (tasks, more) = self.lead()?.tasks(page).await.map_err(refused)?;
        Ok(Reply::Tasks { tasks, more })
    }

    /// The members, or something about them.
    pub(crate) async fn team(&self, about: TeamOp) -> SessionAnswer {
        if matches!(about, TeamOp::Adopt(_)) && self.snapshot(None).turns.is_empty() {
            return Err(ASK_FIRST.into());
        }
        let lead = self.lead()?;
        let done = match about {
            TeamOp::Show => {
                return Ok(Reply::Team(lead.roster().await.map_err(refused)?));
            }
            TeamOp::Stop(name) => lead.stop(&name),
            TeamOp::Plan { request, approve, words } => {
                lead.answer_plan(request, approve, &words.unwrap_or_default()).await
            }
            TeamOp::Adopt(name) => lead.adopt(&name).await,
        };
        done.map_err(refused)?;
        Ok(Reply::Taken)
    }

    /// Messages to the lead.
    pub(crate) async fn inbox(&self) -> SessionAnswer {
        Ok(Reply::Inbox(self.lead()?.inbox().await.map_err(refused)?))
    }

    /// The session of a teammate, by its name.
    pub(crate) fn member_session(&self, name: &str) -> Result<SessionId, Refusal> {
        let sessions = self.lead()?.sessions();
        let found = sessions.into_iter().find(|(known, _)| known == name);
        let (_, session) = found.ok_or_else(|| format!("There is no teammate {name} here"))?;
        Ok(session.into())
    }

    /// Starts the session of a member. Blocking.
    fn start_member(self: &Arc<Self>, start: TeammateStart) -> Result<StartedSession, String> {
        let TeammateStart { id, resumes, identity, mode, model, tools, hooks } = start;
        let origin = match (resumes, &self.options.sessions) {
            (true, Some(sessions)) => {
                let (journal, past) = sessions.open(&id).map_err(|error| error.to_string())?;
                SessionOrigin::Kept(id.clone(), journal, past.into())
            }
            (true, None) => return Err(crate::resume::NOT_KEPT.to_owned()),
            (false, _) => SessionOrigin::OfMember(id.clone(), identity.name.clone()),
        };
        let model = model.map(|name| self.model_named(&name)).transpose()?;
        let (seat, inputs) = Seat::new();
        let part = MemberPart { identity, mode, model: model.clone(), tools, hooks };
        // Found from the start on, so that no edit of the configuration passes it by.
        lock(&self.map.open).add(seat.clone());
        let (session, events) = Host::start(self, &seat.session_cell(), origin, Some(part));
        if let Some(model) = model {
            // As one that the user chooses it is in the journal, and stays where the configuration is edited.
            session.speak_to(model);
        }
        self.make_outputs(&id);
        seat.serve_by(serve(Arc::downgrade(self), session.clone(), inputs));
        Ok(StartedSession { session, events })
    }
}

/// The options of teams in these folders; none where they are switched off or there is no place for a board.
pub fn team_options(
    config: &Config,
    state: Option<&Path>,
    roots: &[String],
) -> Option<TeamOptions> {
    let team = &config.team;
    if !team.enabled {
        return None;
    }
    let board = match &team.board {
        Some(address) => address.whole().parse().ok()?,
        None => BoardPlace::File(state?.join("boards").join(board_name(roots))),
    };
    let seconds = |number: u32| Duration::from_secs(number.into());
    Some(TeamOptions {
        teammates: usize::try_from(team.bounds.teammates).unwrap_or(usize::MAX),
        lease: seconds(team.bounds.lease),
        poll: seconds(team.bounds.poll),
        idle: seconds(team.bounds.idle),
        attempts: team.bounds.attempts,
        wakes: team.bounds.wake,
        tokens: team.bounds.token_budget(),
        cents: team.bounds.cent_budget(),
        ..TeamOptions::at(board)
    })
}

fn refused(error: TeamError) -> Refusal {
    error.to_string().trim_end_matches('.').to_owned().into()
}

/// A name that boards take, of a folder's name.
fn team_name(folder: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = folder.chars().take(24).map(plain).collect();
    if name.is_empty() { "team".to_owned() } else { name }
}

/// The name of the board's file for these folders: the last part of the first, and a number of all.
fn board_name(roots: &[String]) -> String {
    let first = roots.first().map(String::as_str).unwrap_or_default();
    let last = Path::new(first).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // FNV-1a: the same in every process and version.
    let hash = roots
        .iter()
        .flat_map(|root| root.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{}-{hash:016x}.sqlite", team_name(last))
}

/// The host as its teams see it.
pub(crate) struct TeamHost(pub(crate) Weak<Host>);

impl SessionHost for TeamHost {
    fn session(&self, id: &str) -> Option<Session> {
        self.0.upgrade()?.running(Some(id))
    }

    fn new_id(&self) -> Arc<str> {
        self.0.upgrade().map_or_else(|| "".into(), |host| host.free_id())
    }

    fn start(&self, start: TeammateStart) -> BoxFuture<'static, Result<StartedSession, String>> {
        let host = self.0.upgrade();
        Box::pin(async move {
            let host = host.ok_or("the server ends")?;
            let started = blocking(move || host.start_member(start)).await;
            started.map_err(|refusal| refusal.words)?
        })
    }

    fn end(&self, id: &str) {
        let Some(host) = self.0.upgrade() else { return };
        if let Some(seat) = host.seat(Some(id)) {
            lock(&host.map.open).take(&seat);
            host.teams.end(id);
        }
    }

    fn tell(&self, event: SessionEvent) {
        if let Some(host) = self.0.upgrade() {
            host.tell(event);
        }
    }
}
