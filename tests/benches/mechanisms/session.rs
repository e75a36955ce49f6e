//! A session in this process: a folder of its own, a journal, no editor and no commands.

use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::Settings;
use ropewalk_agent::{Session, SessionConfig, Sessions};
use ropewalk_model::Model;
use ropewalk_protocol::{Event, Mechanisms, Mode, Prompt, SessionEvent, SessionLimits, StopReason};
use ropewalk_tools::{NoCommands, Registry, Rules};
use ropewalk_workspace::{NoEditor, Roots, Workspace};
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// See the module.
pub(crate) struct Bench {
    pub(crate) session: Session,
    events: mpsc::UnboundedReceiver<SessionEvent>,
    /// Outlives the session.
    _dir: TempDir,
}

/// A folder for a session, with a root in it.
pub(crate) fn folder() -> TempDir {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    fs::create_dir(root(&dir)).expect("a root");
    dir
}

/// The root in such a folder.
pub(crate) fn root(dir: &TempDir) -> PathBuf {
    dir.path().join("w")
}

/// Writes files of about so many bytes of code, `0.rs` and so on, an hour ago: files that were just written are read again.
pub(crate) fn write_files(dir: &TempDir, count: usize, bytes: usize) {
    let text = crate::harness::code(bytes, "\n");
    for number in 0..count {
        let path = root(dir).join(format!("{number}.rs"));
        fs::write(&path, format!("// File {number}.\n{text}")).expect("a file");
        let file = File::options().write(true).open(path).expect("a file");
        let earlier = SystemTime::now() - Duration::from_secs(3_600);
        file.set_modified(earlier).expect("times can be set");
    }
}

impl Bench {
    /// Starts a session that is kept. Within a tokio runtime.
    pub(crate) fn start(
        dir: TempDir,
        model: Arc<dyn Model>,
        change: impl FnOnce(&mut Settings),
    ) -> Bench {
        let roots = Roots::new(vec![("w".to_owned(), root(&dir))]);
        let workspace = Arc::new(Workspace::new(roots));
        let journal = Sessions::new(&dir.path().join("state")).begin("s", vec!["w".to_owned()]);
        let outputs = dir.path().join("outputs");
        fs::create_dir(&outputs).expect("a folder");
        let mut settings = settings(model);
        change(&mut settings);
        let config = SessionConfig {
            id: "s".into(),
            settings,
            tools: Registry::standard(Arc::new(NoCommands), Arc::new(NoEditor)),
            runner: Arc::new(NoCommands),
            outputs: Some(outputs),
            publish: Default::default(),
            journal,
            past: None,
            approvals: Arc::default(),
        };
        let (sender, events) = mpsc::unbounded_channel();
        let session = Session::start(config, workspace, Arc::new(NoEditor), sender);
        Bench { session, events, _dir: dir }
    }

    /// The next event.
    pub(crate) async fn next(&mut self) -> SessionEvent {
        self.events.recv().await.expect("the session goes on")
    }

    /// Prompts, and shows each event of the turn to `look`, which must end well.
    pub(crate) async fn run(&mut self, prompt: &str, mut look: impl FnMut(&SessionEvent)) {
        self.session.prompt(Prompt::new(prompt));
        loop {
            let event = self.next().await;
            look(&event);
            if let SessionEvent {
                thread: None,
                event: Event::TurnEnded { stop_reason, message, .. },
                ..
            } = event
            {
                assert_eq!(stop_reason, StopReason::EndTurn, "{message:?}");
                return;
            }
        }
    }
}

fn settings(model: Arc<dyn Model>) -> Settings {
    Settings {
        model: Ok(model),
        configured_model: None,
        model_choice: None,
        models: None,
        tools: None,
        mode: Mode::Review,
        rules: Rules::default(),
        always: None,
        limits: SessionLimits::default(),
        mechanisms: Mechanisms::default(),
        verify: None,
        check_self: false,
        user_folders: Arc::default(),
        facts: PromptFacts {
            date: "2026-01-31".into(),
            platform: "linux".into(),
            ..PromptFacts::default()
        },
        interactive: false,
        secrets: Arc::default(),
    }
}
