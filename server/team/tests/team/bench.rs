//! A process with a lead's session, and teammates that are started beside it.

use futures::future::BoxFuture;
use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::Settings;
use ropewalk_agent::tools::registry;
use ropewalk_agent::{Journal, Past, Session, SessionConfig, Sessions, StepHook};
use ropewalk_board::{Board, BoardOptions, BoardPlace, Task, Team};
use ropewalk_commands::{CommandSettings, Commands};
use ropewalk_model::{Http, Model, ServerModel};
use ropewalk_protocol::{
    Event, Mechanisms, Mode, Op, OverFork, Prompt, SessionEvent, SessionLimits,
};
use ropewalk_team::clock::Clock;
use ropewalk_team::{
    Lead, LeadConfig, MoreTools, SessionHost, StartedSession, TeamOptions, TeammateStart,
};
pub(crate) use ropewalk_testkit::model::{ReplyPlace as Gate, ScriptedModel, ScriptedReply};
use ropewalk_tools::{CommandRunner, Rules};
use ropewalk_workspace::publish::PublishBounds;
use ropewalk_workspace::{Hunk, NoEditor, Roots, Workspace};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// After this long a test is wrong, not slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A clock that a test moves.
pub(crate) struct HandClock(watch::Sender<Duration>);

impl Clock for HandClock {
    fn now(&self) -> Duration {
        *self.0.borrow()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let until = self.now() + time;
        let mut now = self.0.subscribe();
        Box::pin(async move { drop(now.wait_for(|now| *now >= until).await) })
    }
}

/// The process.
pub(crate) struct Process {
    sessions: Mutex<HashMap<String, Session>>,
    workspace: Arc<Workspace>,
    model: Arc<dyn Model>,
    told: mpsc::UnboundedSender<SessionEvent>,
    kept: Sessions,
}

/// A session's journal and what it goes on from.
type Kept = (Journal, Option<Past>);

impl Process {
    fn settings(&self) -> Settings {
        let facts = PromptFacts { date: "2026-01-31".into(), ..PromptFacts::default() };
        let rules = Rules { allow: vec!["spawn_teammate(*)".parse().unwrap()], ..Rules::default() };
        Settings {
            model: Ok(self.model.clone()),
            configured_model: None,
            model_choice: None,
            tools: None,
            mode: Mode::Review,
            rules,
            always: None,
            limits: SessionLimits::default(),
            mechanisms: Mechanisms::default(),
            verify: None,
            check_self: false,
            models: None,
            user_folders: Arc::default(),
            facts,
            interactive: true,
            secrets: Arc::default(),
        }
    }

    fn begin(
        &self,
        (id, (journal, past)): (&str, Kept),
        settings: Settings,
        tools: MoreTools,
        hooks: Vec<Arc<dyn StepHook>>,
    ) -> (Session, mpsc::UnboundedReceiver<SessionEvent>) {
        let commands = CommandSettings { over_fork: OverFork::Off, ..CommandSettings::default() };
        let runner: Arc<dyn CommandRunner> = Arc::new(Commands::new(commands));
        let config = SessionConfig {
            id: id.into(),
            settings,
            tools: tools(registry(runner.clone(), Arc::new(NoEditor))),
            runner,
            outputs: None,
            publish: PublishBounds::default(),
            journal,
            past,
            approvals: Arc::default(),
        };
        let (sender, events) = mpsc::unbounded_channel();
        let workspace = self.workspace.clone();
        let session = Session::start_with(config, workspace, Arc::new(NoEditor), sender, hooks);
        self.sessions.lock().unwrap().insert(id.to_owned(), session.clone());
        (session, events)
    }
}

/// The process as a team sees it.
struct Host(Arc<Process>);

impl SessionHost for Host {
    fn session(&self, id: &str) -> Option<Session> {
        self.0.sessions.lock().unwrap().get(id).cloned()
    }

    fn new_id(&self) -> Arc<str> {
        self.0.kept.free_id().into()
    }

    fn start(&self, start: TeammateStart) -> BoxFuture<'static, Result<StartedSession, String>> {
        let process = self.0.clone();
        Box::pin(async move {
            let mut settings = process.settings();
            settings.mode = start.mode;
            settings.facts.identity = Some(start.identity.in_words());
            let kept = if start.resumes {
                let opened = process.kept.open(&start.id);
                let (journal, past) = opened.map_err(|error| error.to_string())?;
                (journal, Some(past))
            } else {
                (process.kept.begin(&start.id, vec!["w".to_owned()]), None)
            };
            let (session, events) =
                process.begin((&start.id, kept), settings, start.tools, start.hooks);
            Ok(StartedSession { session, events })
        })
    }

    fn end(&self, id: &str) {
        self.0.sessions.lock().unwrap().remove(id);
    }

    fn tell(&self, event: SessionEvent) {
        let _ = self.0.told.send(event);
    }
}

/// A lead in its process.
pub(crate) struct Bench {
    pub(crate) lead: Arc<Lead>,
    pub(crate) session: Session,
    pub(crate) model: ScriptedModel,
    pub(crate) clock: Arc<HandClock>,
    process: Arc<Process>,
    told: mpsc::UnboundedReceiver<SessionEvent>,
    /// The events so far.
    pub(crate) seen: Vec<SessionEvent>,
    dir: tempfile::TempDir,
}

pub(crate) fn says(text: &str) -> ScriptedReply {
    ScriptedReply::new().text(text)
}

pub(crate) fn calls(tool: &str, input: Value) -> ScriptedReply {
    ScriptedReply::new().call(tool, input)
}

/// A reply kept for a teammate.
pub(crate) fn of(name: &str, reply: ScriptedReply) -> ScriptedReply {
    reply.when(format!("You are '{name}'")).conversation(name)
}

/// Replies kept for a teammate.
pub(crate) fn all_of<const N: usize>(
    name: &str,
    replies: [ScriptedReply; N],
) -> impl Iterator<Item = ScriptedReply> {
    replies.into_iter().map(move |reply| of(name, reply))
}

pub(crate) fn spawn(name: &str) -> Value {
    json!({ "name": name, "role": "coder", "prompt": "Look for work." })
}

pub(crate) fn task(subject: &str, blocked_by: &[i64]) -> Value {
    json!({ "subject": subject, "blockedBy": blocked_by })
}

pub(crate) fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({ "path": "a.txt", "old_text": old, "new_text": new }))
}

pub(crate) fn done(number: i64) -> ScriptedReply {
    let input = json!({ "task_id": number, "status": "completed", "note": "It is done." });
    calls("task_update", input)
}

/// The text of `a.txt`.
pub(crate) const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

pub(crate) fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    start_with(replies, |_| {})
}

/// The same with other options.
pub(crate) fn start_with(
    replies: impl IntoIterator<Item = ScriptedReply>,
    change: impl FnOnce(&mut TeamOptions),
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    std::fs::write(dir.path().join("w/a.txt"), TEXT).unwrap();
    start_in(dir, replies, change, None)
}

fn start_in(
    dir: tempfile::TempDir,
    replies: impl IntoIterator<Item = ScriptedReply>,
    change: impl FnOnce(&mut TeamOptions),
    past: Option<(Journal, Past)>,
) -> Bench {
    let model = ScriptedModel::start(replies).unwrap();
    let mut config = model.config();
    config.parallel = Some(8);
    let client: Arc<dyn Model> = Arc::new(ServerModel::new(config, Http::new()).unwrap());
    let roots = Roots::new(vec![("w".to_owned(), dir.path().join("w"))]);
    let (told_to, told) = mpsc::unbounded_channel();
    let process = Arc::new(Process {
        sessions: Mutex::default(),
        workspace: Arc::new(Workspace::new(roots)),
        model: client,
        told: told_to,
        kept: Sessions::new(&dir.path().join("state")),
    });
    let mut options = TeamOptions::at(place(&dir));
    change(&mut options);
    let clock = Arc::new(HandClock(watch::Sender::new(Duration::ZERO)));
    let config = LeadConfig {
        session: "s".into(),
        name: "w".to_owned(),
        roots: "w".to_owned(),
        options,
        clock: clock.clone(),
    };
    let host: Arc<dyn SessionHost> = Arc::new(Host(process.clone()));
    let lead = Lead::new(config, host.clone());
    let kept = match past {
        Some((journal, past)) => (journal, Some(past)),
        None => (process.kept.begin("s", vec!["w".to_owned()]), None),
    };
    let own = lead.clone();
    let tools: MoreTools = Box::new(move |registry| own.tools(registry));
    let (session, mut events) =
        process.begin(("s", kept), process.settings(), tools, vec![lead.hook()]);
    let hears = Arc::downgrade(&lead);
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if let Some(lead) = hears.upgrade() {
                lead.hear(&event);
            }
            host.tell(event);
        }
    });
    Bench { lead, session, model, clock, process, told, seen: Vec::new(), dir }
}

fn place(dir: &tempfile::TempDir) -> BoardPlace {
    BoardPlace::File(dir.path().join("board.sqlite"))
}

impl Bench {
    /// Takes events, those that were seen first, until one says this.
    pub(crate) async fn until<T>(
        &mut self,
        what: &str,
        mut says: impl FnMut(&SessionEvent) -> Option<T>,
    ) -> T {
        match self.seen.iter().find_map(&mut says) {
            Some(found) => found,
            None => self.next(what, says).await,
        }
    }

    /// Takes events that come from now on until one says this.
    pub(crate) async fn next<T>(
        &mut self,
        what: &str,
        mut says: impl FnMut(&SessionEvent) -> Option<T>,
    ) -> T {
        let waiting = async {
            loop {
                let event = self.told.recv().await.unwrap();
                let found = says(&event);
                self.seen.push(event);
                if let Some(found) = found {
                    return found;
                }
            }
        };
        if let Ok(found) = tokio::time::timeout(PATIENCE, waiting).await {
            return found;
        }
        let line = |one: &SessionEvent| serde_json::to_string(one).unwrap();
        let lines: Vec<String> = self.seen.iter().map(line).collect();
        panic!("no event says {what}:\n{}", lines.join("\n"));
    }

    /// Waits until the lead's next turn has ended.
    pub(crate) async fn turn(&mut self) {
        self.next("that a turn of the lead has ended", |one| {
            let is_leads = one.member.is_none() && one.thread.is_none();
            (is_leads && matches!(one.event, Event::TurnEnded { .. })).then_some(())
        })
        .await;
    }

    /// Waits until this many turns of a teammate have ended, whoever's ended before. Gives the last one's message.
    pub(crate) async fn ended(&mut self, name: &str, turns: u64) -> Option<String> {
        let mut count = 0;
        self.until(&format!("that {turns} turns of {name} have ended"), |one| match &one.event {
            Event::TurnEnded { message, .. }
                if one.member.as_deref() == Some(name) && one.thread.is_none() =>
            {
                count += 1;
                (count == turns).then(|| message.clone())
            }
            _ => None,
        })
        .await
    }

    /// Prompts the lead, and waits until its turn has ended.
    pub(crate) async fn ask(&mut self, prompt: &str) {
        self.session.prompt(Prompt::new(prompt));
        self.turn().await;
    }

    /// Waits until a task has this status.
    pub(crate) async fn task_is(&mut self, number: u64, status: &str) {
        self.until(&format!("that task #{number} is {status}"), |one| match &one.event {
            Event::BoardTask(task) if task.number == number => {
                (serde_json::to_value(task.status).unwrap() == status).then_some(())
            }
            _ => None,
        })
        .await;
    }

    /// Waits until a member is in this state.
    pub(crate) async fn member_is(&mut self, name: &str, state: &str) {
        self.until(&format!("that {name} is {state}"), |one| match &one.event {
            Event::Team { members } => members
                .iter()
                .any(|one| one.name == name && serde_json::to_value(one.state).unwrap() == state)
                .then_some(()),
            _ => None,
        })
        .await;
    }

    /// Waits until the lead's review has this many changes.
    pub(crate) async fn hunks(&mut self, count: usize) -> Vec<Hunk> {
        if self.session.hunks().len() != count {
            self.next(&format!("that {count} changes wait"), |one| match &one.event {
                Event::Hunks { hunks } if one.member.is_none() && hunks.len() == count => Some(()),
                _ => None,
            })
            .await;
        }
        self.session.hunks()
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.clock.0.send_modify(|now| *now += Duration::from_secs(seconds));
    }

    /// The team, as another process sees it.
    pub(crate) async fn team(&self) -> Team {
        let board = Board::open(place(&self.dir), BoardOptions::default()).await.unwrap();
        board.find_team("w").await.unwrap().unwrap()
    }

    pub(crate) async fn tasks(&self) -> Vec<Task> {
        self.team().await.tasks(0, 100).await.unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("w").join(name)
    }

    /// The file of the board, if there is one.
    pub(crate) fn board(&self) -> PathBuf {
        self.dir.path().join("board.sqlite")
    }

    /// A session that is open in the process.
    pub(crate) fn session_of(&self, id: &str) -> Session {
        self.process.sessions.lock().unwrap().get(id).unwrap().clone()
    }

    pub(crate) fn send(&self, op: Op) {
        self.session.send(op);
    }

    /// The requests of a member's session.
    pub(crate) fn requests_of(&self, name: &str) -> Vec<String> {
        let requests = self.model.requests().into_iter().map(|request| request.to_string());
        requests.filter(|text| text.contains(&format!("You are '{name}'"))).collect()
    }

    /// The process ends; another goes on with what it has kept.
    pub(crate) async fn restarts(self, replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
        let Bench { lead, session, process, mut told, dir, .. } = self;
        drop((lead, session));
        process.sessions.lock().unwrap().clear();
        drop(process);
        // The events end when the last session is gone, and with that the locks on the journals.
        while told.recv().await.is_some() {}
        let past = Sessions::new(&dir.path().join("state")).open("s").unwrap();
        let bench = start_in(dir, replies, |_| {}, Some(past));
        bench.lead.resume().await.unwrap();
        bench
    }
}
