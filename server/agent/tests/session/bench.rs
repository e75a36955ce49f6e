//! Bench of every test here: a folder, an editor in memory, a session and its events.

use futures::future::BoxFuture;
use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::Settings;
use ropewalk_agent::{Journal, Past, Session, SessionConfig, Sessions, StepHook};
use ropewalk_commands::CommandSettings;
use ropewalk_commands::Commands;
use ropewalk_model::{Block, Http, Model, ServerModel};
use ropewalk_protocol::content::briefly;
use ropewalk_protocol::{
    Event, Mechanisms, Mode, Op, OverFork, Prompt, SessionEvent, SessionLimits, StopReason, Verdict,
};
pub(crate) use ropewalk_testkit::model::{
    CountedContext, Overflow, ReplyPlace, ScriptedModel, ScriptedReply,
};
use ropewalk_text::Coordinates;
use ropewalk_tools::{CommandRunner, Registry, Rules, Tool};
use ropewalk_workspace::publish::PublishBounds;
use ropewalk_workspace::{
    ContentChange, DocId, DocumentEdit, Editor, EditorError, Habits, Roots, Workspace,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// An echo comes at once, or a test holds it.
const PATIENT: PublishBounds = PublishBounds { echo: Duration::from_secs(60) };

/// After this long a test is wrong, not slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// Applies edits to the workspace's own documents and echoes them at once, unless it is told otherwise.
pub(crate) struct Echo {
    workspace: Arc<Workspace>,
    /// Says no to every edit.
    pub(crate) refuses: AtomicBool,
    /// Holds edits until `go` is told.
    pub(crate) holds: AtomicBool,
    pub(crate) held: Notify,
    pub(crate) go: Arc<Notify>,
    /// Told when a turn is about to make a view.
    pub(crate) synced: Notify,
    /// Diagnostics that it shows, as a client with our plugin tells it.
    pub(crate) diagnostics: Mutex<Option<String>>,
}

impl Editor for Echo {
    fn habits(&self) -> Habits {
        Habits::of(Some("Visual Studio Code"))
    }
    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        let held = self.holds.load(Ordering::SeqCst).then(|| self.go.clone());
        if held.is_some() {
            self.held.notify_one();
        }
        let (workspace, refuses) = (self.workspace.clone(), self.refuses.load(Ordering::SeqCst));
        Box::pin(async move {
            if let Some(go) = held {
                go.notified().await;
            }
            let id = DocId::from_uri(&edit.uri);
            let version = workspace.with_document(&id, |document| document.version);
            if refuses || version != Some(edit.version) {
                return Err(EditorError::Declined(String::new()));
            }
            let change = |(start, end, text)| ContentChange { range: Some((start, end)), text };
            let changes: Vec<ContentChange> = edit.edits.into_iter().rev().map(change).collect();
            workspace.change(&edit.uri, edit.version + 1, &changes);
            Ok(())
        })
    }
    fn barrier(&self) -> BoxFuture<'static, ()> {
        self.synced.notify_one();
        Box::pin(async {})
    }
    fn save(&self, _: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(async { Ok(()) })
    }
    fn gives_diagnostics(&self) -> bool {
        self.diagnostics.lock().unwrap().is_some()
    }
    fn diagnostics(&self, _: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        let told = self.diagnostics.lock().unwrap().clone().unwrap_or_default();
        Box::pin(async { Ok(told) })
    }
}

/// A session and all around it.
pub(crate) struct Bench {
    pub(crate) session: Session,
    pub(crate) events: mpsc::UnboundedReceiver<SessionEvent>,
    /// The events taken so far.
    pub(crate) seen: Vec<Event>,
    /// Events of subagents, each with the subagent's id.
    pub(crate) of_threads: Vec<(String, Event)>,
    pub(crate) model: ScriptedModel,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) editor: Arc<Echo>,
    pub(crate) dir: tempfile::TempDir,
}

pub(crate) fn reply() -> ScriptedReply {
    ScriptedReply::new()
}

pub(crate) fn says(text: &str) -> ScriptedReply {
    reply().text(text)
}

/// A reply that calls one tool.
pub(crate) fn calls(tool: &str, input: serde_json::Value) -> ScriptedReply {
    reply().call(tool, input)
}

pub(crate) fn bash(command: &str) -> ScriptedReply {
    calls("bash", serde_json::json!({ "command": command }))
}

/// A model at a scripted server.
pub(crate) fn client(server: &ScriptedModel) -> Arc<dyn Model> {
    let mut config = server.config();
    // Else a server on this machine is asked one thing at a time.
    config.parallel = Some(8);
    Arc::new(ServerModel::new(config, Http::new()).unwrap())
}

/// Settings that a session begins with unless a test says otherwise: the standard tools, review,
/// somebody to ask.
pub(crate) fn settings(model: Arc<dyn Model>) -> Settings {
    Settings {
        model: Ok(model),
        configured_model: None,
        model_choice: None,
        tools: None,
        mode: Mode::Review,
        rules: Rules::default(),
        always: None,
        limits: SessionLimits::default(),
        mechanisms: Mechanisms::default(),
        verify: None,
        check_self: false,
        models: None,
        user_folders: Arc::default(),
        facts: PromptFacts {
            date: "2026-01-31".into(),
            platform: "linux".into(),
            ..PromptFacts::default()
        },
        interactive: true,
        secrets: Arc::default(),
    }
}

pub(crate) fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    start_with(replies, |_| {})
}

/// The same over another protocol.
pub(crate) fn start_over(
    protocol: ropewalk_model::Protocol,
    replies: impl IntoIterator<Item = ScriptedReply>,
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    let model = ScriptedModel::start_over(protocol, replies).unwrap();
    start_in(dir, model, |_| {}, (Journal::none(), None), Vec::new())
}

/// A session that is kept, with a model that counts tokens. `knows`: the agent is told how many it takes.
pub(crate) fn start_counting(
    protocol: ropewalk_model::Protocol,
    replies: impl IntoIterator<Item = ScriptedReply>,
    (context, knows): (CountedContext, bool),
    change: impl FnOnce(&mut Settings),
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    let journal = sessions(&dir).begin("s", vec!["w".to_owned()]);
    let model = ScriptedModel::start_counting(protocol, replies, context).unwrap();
    let mut config = model.config();
    config.limits.context = knows.then(|| u32::try_from(context.tokens).unwrap());
    let counted: Arc<dyn Model> = Arc::new(ServerModel::new(config, Http::new()).unwrap());
    let change = |settings: &mut Settings| {
        settings.model = Ok(counted);
        change(settings);
    };
    start_in(dir, model, change, (journal, None), Vec::new())
}

/// Everything that runs needs no asking.
pub(crate) fn start_allowing(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    start_with(replies, |settings| settings.rules.allow = vec!["bash(*)".parse().unwrap()])
}

/// A session that is kept in the journal `s`.
pub(crate) fn start_kept(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    let allow = |settings: &mut Settings| settings.rules.allow = vec!["bash(*)".parse().unwrap()];
    start_kept_over(ropewalk_model::Protocol::Anthropic, replies, allow)
}

/// The same over a protocol and with other settings.
pub(crate) fn start_kept_over(
    protocol: ropewalk_model::Protocol,
    replies: impl IntoIterator<Item = ScriptedReply>,
    change: impl FnOnce(&mut Settings),
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    let journal = sessions(&dir).begin("s", vec!["w".to_owned()]);
    let model = ScriptedModel::start_over(protocol, replies).unwrap();
    start_in(dir, model, change, (journal, None), Vec::new())
}

/// A session that is kept in the journal `s`, with hooks.
pub(crate) fn start_hooked(
    replies: impl IntoIterator<Item = ScriptedReply>,
    hooks: Vec<Arc<dyn StepHook>>,
) -> Bench {
    start_hooked_with(replies, hooks, |_| {})
}

/// The same with other settings.
pub(crate) fn start_hooked_with(
    replies: impl IntoIterator<Item = ScriptedReply>,
    hooks: Vec<Arc<dyn StepHook>>,
    change: impl FnOnce(&mut Settings),
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    let journal = sessions(&dir).begin("s", vec!["w".to_owned()]);
    let model = ScriptedModel::start(replies).unwrap();
    start_in(dir, model, change, (journal, None), hooks)
}

/// Switches it off.
pub(crate) fn without_compaction(settings: &mut Settings) {
    settings.mechanisms.compaction = false;
}

/// A session whose commands run on a copy, without asking.
pub(crate) fn start_on_a_copy(
    replies: impl IntoIterator<Item = ScriptedReply>,
    change: impl FnOnce(&mut Settings),
) -> Bench {
    start_on_a_copy_in(tempfile::tempdir().unwrap(), Journal::none(), replies, change)
}

/// The same, kept in the journal `s`.
pub(crate) fn start_kept_on_a_copy(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let journal = sessions(&dir).begin("s", vec!["w".to_owned()]);
    start_on_a_copy_in(dir, journal, replies, |_| {})
}

fn start_on_a_copy_in(
    dir: tempfile::TempDir,
    journal: Journal,
    replies: impl IntoIterator<Item = ScriptedReply>,
    change: impl FnOnce(&mut Settings),
) -> Bench {
    std::fs::create_dir(dir.path().join("w")).unwrap();
    let model = ScriptedModel::start(replies).unwrap();
    let change = |settings: &mut Settings| {
        settings.rules.allow = vec!["bash(*)".parse().unwrap()];
        change(settings);
    };
    let more = (Vec::new(), OverFork::Copy, |tools| tools);
    start_having(dir, model, change, (journal, None), more)
}

/// The sessions that tests keep.
pub(crate) fn sessions(dir: &tempfile::TempDir) -> Sessions {
    Sessions::new(&dir.path().join("state"))
}

/// Goes on with the session `s` of this folder, as after a restart: no document is open.
pub(crate) fn resume(
    dir: tempfile::TempDir,
    replies: impl IntoIterator<Item = ScriptedReply>,
) -> Bench {
    resume_over(ropewalk_model::Protocol::Anthropic, dir, replies)
}

/// The same with other settings.
pub(crate) fn resume_with(
    dir: tempfile::TempDir,
    replies: impl IntoIterator<Item = ScriptedReply>,
    change: impl FnOnce(&mut Settings),
) -> Bench {
    let (journal, past) = sessions(&dir).open("s").unwrap();
    assert_eq!(past.problems, Vec::<String>::new());
    start_in(dir, ScriptedModel::start(replies).unwrap(), change, (journal, Some(past)), Vec::new())
}

/// The same with a model over this protocol: another provider than before, unless it is Anthropic.
pub(crate) fn resume_over(
    protocol: ropewalk_model::Protocol,
    dir: tempfile::TempDir,
    replies: impl IntoIterator<Item = ScriptedReply>,
) -> Bench {
    let (journal, past) = sessions(&dir).open("s").unwrap();
    assert_eq!(past.problems, Vec::<String>::new());
    let model = ScriptedModel::start_over(protocol, replies).unwrap();
    start_in(dir, model, |_| {}, (journal, Some(past)), Vec::new())
}

pub(crate) fn start_with(
    replies: impl IntoIterator<Item = ScriptedReply>,
    change: impl FnOnce(&mut Settings),
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    start_in(
        dir,
        ScriptedModel::start(replies).unwrap(),
        change,
        (Journal::none(), None),
        Vec::new(),
    )
}

/// A session that has one more tool.
pub(crate) fn start_with_tool(
    protocol: ropewalk_model::Protocol,
    replies: impl IntoIterator<Item = ScriptedReply>,
    tool: impl Tool + 'static,
    change: impl FnOnce(&mut Settings),
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    let journal = sessions(&dir).begin("s", vec!["w".to_owned()]);
    let model = ScriptedModel::start_over(protocol, replies).unwrap();
    start_having(
        dir,
        model,
        change,
        (journal, None),
        (Vec::new(), OverFork::Off, |tools| tools.with(tool)),
    )
}

/// A session whose commands this runs.
pub(crate) fn start_running(
    replies: impl IntoIterator<Item = ScriptedReply>,
    runner: Arc<dyn CommandRunner>,
    change: impl FnOnce(&mut Settings),
) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    let model = ScriptedModel::start(replies).unwrap();
    let more = |tools| tools;
    start_over_runner(dir, model, change, (Journal::none(), None), (Vec::new(), more), runner)
}

fn start_in(
    dir: tempfile::TempDir,
    model: ScriptedModel,
    change: impl FnOnce(&mut Settings),
    (journal, past): (Journal, Option<Past>),
    hooks: Vec<Arc<dyn StepHook>>,
) -> Bench {
    start_having(dir, model, change, (journal, past), (hooks, OverFork::Off, |tools| tools))
}

/// Runner of commands there.
fn runner(over_fork: OverFork) -> Arc<dyn CommandRunner> {
    let settings = CommandSettings { over_fork, ..CommandSettings::default() };
    Arc::new(Commands::new(settings))
}

fn start_having(
    dir: tempfile::TempDir,
    model: ScriptedModel,
    change: impl FnOnce(&mut Settings),
    (journal, past): (Journal, Option<Past>),
    (hooks, over_fork, more): (Vec<Arc<dyn StepHook>>, OverFork, impl FnOnce(Registry) -> Registry),
) -> Bench {
    let runner = runner(over_fork);
    start_over_runner(dir, model, change, (journal, past), (hooks, more), runner)
}

fn start_over_runner(
    dir: tempfile::TempDir,
    model: ScriptedModel,
    change: impl FnOnce(&mut Settings),
    (journal, past): (Journal, Option<Past>),
    (hooks, more): (Vec<Arc<dyn StepHook>>, impl FnOnce(Registry) -> Registry),
    runner: Arc<dyn CommandRunner>,
) -> Bench {
    let root = dir.path().join("w");
    let workspace = Arc::new(Workspace::new(Roots::new(vec![("w".to_owned(), root)])));
    workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
    let outputs = dir.path().join("outputs");
    std::fs::create_dir_all(&outputs).unwrap();
    let readable = Roots::new(vec![("outputs".to_owned(), outputs.clone())]);
    workspace.set_outputs(Some(readable));
    let editor = Arc::new(Echo {
        workspace: workspace.clone(),
        refuses: AtomicBool::new(false),
        holds: AtomicBool::new(false),
        held: Notify::new(),
        go: Arc::default(),
        synced: Notify::new(),
        diagnostics: Mutex::default(),
    });
    let mut settings = settings(client(&model));
    change(&mut settings);
    let tools = Registry::standard(runner.clone(), editor.clone());
    let config = SessionConfig {
        id: "s".into(),
        settings,
        tools: more(tools),
        runner,
        outputs: Some(outputs),
        publish: PATIENT,
        journal,
        past,
        approvals: Arc::default(),
    };
    let (sender, events) = mpsc::unbounded_channel();
    let session = Session::start_with(config, workspace.clone(), editor.clone(), sender, hooks);
    Bench {
        session,
        events,
        seen: Vec::new(),
        of_threads: Vec::new(),
        model,
        workspace,
        editor,
        dir,
    }
}

/// One more session.
pub(crate) fn session(
    id: &str,
    settings: Settings,
    workspace: &Arc<Workspace>,
    editor: &Arc<Echo>,
    outputs: Option<PathBuf>,
) -> (Session, mpsc::UnboundedReceiver<SessionEvent>) {
    let runner = runner(OverFork::Off);
    let tools = Registry::standard(runner.clone(), editor.clone());
    let config = SessionConfig {
        id: id.into(),
        settings,
        tools,
        runner,
        outputs,
        publish: PATIENT,
        journal: Journal::none(),
        past: None,
        approvals: Arc::default(),
    };
    let (sender, events) = mpsc::unbounded_channel();
    (Session::start(config, workspace.clone(), editor.clone(), sender), events)
}

impl Bench {
    /// The server dies: nothing more of it happens. The folder, and with it the journal, stays.
    pub(crate) async fn dies(self) -> tempfile::TempDir {
        let Bench { session, mut events, dir, .. } = self;
        drop(session);
        // Its events end when the last of it is gone, and with that the lock on its journal.
        while events.recv().await.is_some() {}
        dir
    }

    /// The disk as a process leaves it that is killed now.
    pub(crate) fn killed(&self) -> tempfile::TempDir {
        let left = tempfile::tempdir().unwrap();
        copy(self.dir.path(), left.path());
        left
    }

    /// One more session beside the first.
    pub(crate) fn another(&self, id: &str) -> (Session, mpsc::UnboundedReceiver<SessionEvent>) {
        session(id, settings(client(&self.model)), &self.workspace, &self.editor, None)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("w").join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub(crate) fn disk(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The approvals that wait.
    pub(crate) fn waiting(&self) -> Vec<u64> {
        self.session.waiting_approvals().iter().map(|asked| asked.id).collect()
    }

    /// Opens a document with this text, saved or not.
    pub(crate) fn open(&self, name: &str, text: &str) -> String {
        let root = self.path("").canonicalize().unwrap();
        let uri = DocId::from_path(&root.join(name)).to_uri();
        self.workspace.open(&uri, "text", 1, text);
        uri
    }

    pub(crate) fn buffer(&self, uri: &str) -> String {
        let id = DocId::from_uri(uri);
        self.workspace.with_document(&id, |document| document.text().to_string()).unwrap()
    }

    /// The user replaces the whole text of a document.
    pub(crate) fn types(&self, uri: &str, text: &str) {
        let id = DocId::from_uri(uri);
        let version = self.workspace.with_document(&id, |document| document.version).unwrap();
        let change = ContentChange { range: None, text: text.to_owned() };
        self.workspace.change(uri, version + 1, &[change]).unwrap();
    }

    pub(crate) async fn next(&mut self) -> Event {
        loop {
            let event = tokio::time::timeout(PATIENCE, self.events.recv()).await;
            let event = event.unwrap_or_else(|_| panic!("no event after {:#?}", self.seen));
            let SessionEvent { thread, event, .. } = event.expect("the session goes on");
            if let Some(thread) = &thread {
                self.of_threads.push((thread.clone(), event.clone()));
            }
            let is_for_all = matches!(
                event,
                Event::Thread { .. }
                    | Event::ApprovalRequested { .. }
                    | Event::ApprovalResolved { .. }
            );
            if thread.is_none() || is_for_all {
                self.seen.push(event.clone());
                return event;
            }
        }
    }

    /// Takes events until one gives something.
    pub(crate) async fn until<T>(&mut self, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        loop {
            let event = self.next().await;
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    }

    /// Takes events up to the end of a turn.
    pub(crate) async fn end(&mut self) -> (u64, StopReason, Option<String>) {
        self.until(|event| match event {
            Event::TurnEnded { turn, stop_reason, message } => {
                Some((*turn, *stop_reason, message.clone()))
            }
            _ => None,
        })
        .await
    }

    /// Prompts, and waits for the turn to end.
    pub(crate) async fn run(&mut self, prompt: &str) -> StopReason {
        let turn = self.session.prompt(Prompt::new(prompt));
        let (ended, stop, _) = self.end().await;
        assert_eq!(ended, turn);
        stop
    }

    /// The id of the next approval that is asked for.
    pub(crate) async fn approval(&mut self) -> u64 {
        self.until(|event| match event {
            Event::ApprovalRequested { approval, .. } => Some(approval.id),
            _ => None,
        })
        .await
    }

    /// Waits for the next review, and gives its outcome.
    pub(crate) async fn reviewed(&mut self) -> (&'static str, usize, Vec<String>) {
        self.until(|event| match event {
            Event::Reviewed { action, done, failed } => {
                Some((action.as_str(), *done, failed.clone()))
            }
            _ => None,
        })
        .await
    }

    pub(crate) fn approve(&self, id: u64, verdict: Verdict) {
        self.session.send(Op::Approve(Some(id), verdict));
    }

    /// Every result so far, in order: text and whether it failed.
    pub(crate) fn results(&self) -> Vec<(String, bool)> {
        let messages = self.session.messages();
        let blocks = messages.into_iter().flat_map(|message| message.content);
        blocks
            .filter_map(|block| match block {
                Block::ToolResult { content, is_error, .. } => Some((briefly(&content), is_error)),
                _ => None,
            })
            .collect()
    }

    /// The names of the events so far, runs of deltas as one.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let kind = |event: &Event| {
            let json = serde_json::to_value(event).unwrap();
            json["type"].as_str().unwrap().to_owned()
        };
        let mut kinds: Vec<String> = self.seen.iter().map(kind).collect();
        kinds.dedup();
        kinds
    }
}

/// The texts and results of the last message that a request to the model had.
pub(crate) fn last_message(request: &serde_json::Value) -> String {
    let last = request["messages"].as_array().and_then(|messages| messages.last()).unwrap();
    let blocks = last["content"].as_array().unwrap();
    let texts = blocks
        .iter()
        .map(|b| b["text"].as_str().or(b["content"].as_str()).unwrap_or_default().to_owned());
    texts.collect::<Vec<_>>().join("\n---\n")
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
