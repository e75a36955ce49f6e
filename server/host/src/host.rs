//! The one value that a front end holds of a process: requests go in, events come out.

use crate::configuration::{Configuration, ModelFactory};
use crate::map::SessionMap;
use crate::questions::Questions;
use crate::reviews::Reviews;
use crate::snapshot::SessionSnapshot;
use crate::teams::Teams;
use crate::{blocking, lock};
use futures::future::BoxFuture;
use ropewalk_agent::{Sessions, text_in};
use ropewalk_config::{Environment, TrustQuestion};
use ropewalk_protocol::plugin::HunkTexts;
use ropewalk_protocol::{Event, Op, Refusal, Reply, Request, SessionEvent};
use ropewalk_tools::Rule;
use ropewalk_workspace::publish::PublishBounds;
use ropewalk_workspace::{DocId, Editor, Patch, Roots, View, Workspace};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

/// Options that the binary gives a host.
#[derive(Clone)]
pub struct HostOptions {
    /// Makes models.
    pub models: ModelFactory,
    /// Where configuration is read from.
    pub environment: Arc<dyn Environment + Send + Sync>,
    /// Flags of the command line, as `key=value`.
    pub flags: Vec<String>,
    /// Where sessions and the whole outputs of their calls are kept. None: nowhere.
    pub sessions: Option<Sessions>,
    /// The bounds of a publish.
    pub publish: PublishBounds,
    /// True if somebody answers what calls ask; else those are refused.
    pub interactive: bool,
    /// True without an editor: the model is told so, no question of trust is asked, and a model that the flags name counts
    /// for more than one that was chosen in the session.
    pub headless: bool,
    /// True if its sessions may lead teams, and those that did go on with them.
    pub leads: bool,
    /// Rules that allow, beside those of the configuration.
    pub allow: Vec<Rule>,
    /// The date that the model is told; None tells it today's.
    pub date: Option<String>,
}

impl HostOptions {
    /// Options of an editor's host that keeps no sessions.
    pub fn new(
        models: ModelFactory,
        environment: Arc<dyn Environment + Send + Sync>,
    ) -> HostOptions {
        HostOptions {
            models,
            environment,
            flags: Vec::new(),
            sessions: None,
            publish: PublishBounds::default(),
            interactive: true,
            headless: false,
            leads: true,
            allow: Vec::new(),
            date: None,
        }
    }
}

/// See the module.
pub struct Host {
    pub(crate) options: HostOptions,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) editor: Arc<dyn Editor>,
    pub(crate) configuration: Configuration,
    pub(crate) questions: Mutex<Questions>,
    pub(crate) map: SessionMap,
    pub(crate) teams: Teams,
    pub(crate) reviews: Reviews,
    /// The number of the last approval of any session.
    pub(crate) approvals: Arc<AtomicU64>,
    subscribers: Mutex<Vec<mpsc::UnboundedSender<SessionEvent>>>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Host")
    }
}

impl Host {
    /// A host without sessions. `editor` makes the edits of all of them, in the documents of `workspace`.
    pub fn new(
        options: HostOptions,
        workspace: Arc<Workspace>,
        editor: Arc<dyn Editor>,
    ) -> Arc<Host> {
        let configuration = Configuration::new(options.flags.clone());
        Arc::new(Self {
            options,
            workspace,
            editor,
            configuration,
            questions: Mutex::default(),
            map: SessionMap::default(),
            teams: Teams::default(),
            reviews: Reviews::default(),
            approvals: Arc::default(),
            subscribers: Mutex::default(),
        })
    }

    /// The documents and files that its sessions work on.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Takes a request. What it is about is taken before this returns, so requests count in the order of their calls; the
    /// disk is touched by the future alone, and never where it is polled. Called on a tokio runtime.
    pub fn handle(
        self: &Arc<Self>,
        request: Request,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let Request { session, member, op } = request;
        let session = match member.map(|name| self.member_session(&name)) {
            None => session,
            Some(Ok(session)) => Some(session),
            Some(Err(refusal)) => return Box::pin(async { Err(refusal) }),
        };
        let host = self.clone();
        match op {
            Op::New { beside } => {
                let switch = (!beside).then(|| self.map.note_switch());
                Box::pin(async move { host.begin(beside, switch).await })
            }
            Op::Resume { beside } => {
                let switch = (!beside).then(|| self.map.note_switch());
                Box::pin(async move { host.resume(session, beside, switch).await })
            }
            Op::Close => host.close(session.as_deref()),
            Op::Sessions { all } => Box::pin(async move { host.list(all).await }),
            Op::Rename(title) => host.rename(session, &title),
            Op::Delete { force } => Box::pin(async move { host.delete(session, force).await }),
            Op::Export(path) => Box::pin(async move { host.export(session, path).await }),
            Op::Rules => Box::pin(async move { host.rules().await }),
            Op::Tasks { page } => Box::pin(async move { host.tasks(page).await }),
            Op::Team(about) => Box::pin(async move { host.team(about).await }),
            Op::Inbox => Box::pin(async move { host.inbox().await }),
            Op::Trust(answer) => Box::pin(async move { host.answer_trust(answer).await }),
            op => self.ask(session.as_deref(), op),
        }
    }

    /// All that happens from now on, in order for each session. What is of no session is about the configuration.
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<SessionEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        lock(&self.subscribers).push(sender);
        receiver
    }

    /// A session as it stands, the current one if none is named; empty if there is none, or it has not started yet. Never
    /// waits.
    pub fn snapshot(&self, session: Option<&str>) -> Arc<SessionSnapshot> {
        let mut snapshot = self.seat(session).map(|seat| seat.snapshot()).unwrap_or_default();
        if let Some(session) = &snapshot.session {
            snapshot.reviewing = self.reviews.of(session);
        }
        Arc::new(snapshot)
    }

    /// The texts of a pending change of the current session as it was shown last, whole.
    pub fn hunk_texts(&self, id: u64) -> Option<HunkTexts> {
        self.running(None)?.hunk_texts(id)
    }

    /// The text that a document would have with all that is proposed for it in the current session; none if there would be
    /// no such file, or none of text.
    ///
    /// # Errors
    /// When the document is none of this workspace, or it can't be read, in words.
    pub fn proposed_text(&self, document: DocId) -> BoxFuture<'_, Result<Option<String>, Refusal>> {
        Box::pin(async move {
            let (session, workspace) = (self.running(None), self.workspace.clone());
            blocking(move || match session {
                Some(session) => session.proposed_text(&document),
                None => text_in(&View::new(workspace.snapshot(), Default::default()), &document),
            })
            .await?
            .map_err(Refusal::from)
        })
    }

    /// The net change that is pending in the current session, as `git apply` takes it.
    ///
    /// # Errors
    /// When there is no session, in words.
    pub fn patch(&self) -> BoxFuture<'_, Result<Patch, Refusal>> {
        Box::pin(async move {
            let session = self.running(None).ok_or("Nothing was asked yet")?;
            blocking(move || session.patch()).await
        })
    }

    /// Takes what the client says of itself: its folders by name, its options, and which of these are no configuration.
    pub fn meet(
        &self,
        folders: Vec<(String, PathBuf)>,
        options: Option<Value>,
        client_keys: Vec<String>,
    ) {
        self.configuration.change(|sources| {
            sources.initialization_options = options;
            sources.known.client_keys = client_keys;
        });
        self.set_folders(folders);
    }

    /// The folders of the workspace from now on, by name.
    pub fn set_folders(&self, folders: Vec<(String, PathBuf)>) {
        let paths = folders.iter().map(|(_, path)| path.clone()).collect();
        self.configuration.change(|sources| sources.roots = paths);
        let roots = if folders.is_empty() { Roots::none() } else { Roots::new(folders) };
        self.workspace.set_roots(roots);
    }

    /// Settings of the client's from now on.
    pub fn set_client_settings(&self, settings: Value) {
        self.configuration.change(|sources| sources.settings = Some(settings));
    }

    /// Reads the configuration, unless it is as it was read last, and gives what is new in it: notices of what is wrong, and
    /// questions of trust, which count as asked. It waits for the disk.
    pub fn configure(self: &Arc<Self>) -> BoxFuture<'_, Vec<Event>> {
        Box::pin(async move {
            let host = self.clone();
            blocking(move || host.read_if_changed()).await.unwrap_or_default()
        })
    }

    /// The questions of trust that were asked and wait for an answer.
    pub fn open_questions(&self) -> Vec<TrustQuestion> {
        lock(&self.questions).open().cloned().collect()
    }

    /// Tells the sessions that a document was saved: a call may be waiting for that.
    pub fn saved(&self) {
        self.each(|session| session.saved());
    }

    /// Tells the sessions that the user's text has moved: pending hunks may stand elsewhere.
    pub fn moved(&self) {
        self.each(|session| session.moved());
    }

    /// A text without the keys of the current session's model.
    pub fn without_keys(&self, text: &str) -> String {
        let keys = self.running(None).map(|session| session.keys()).unwrap_or_default();
        keys.redact(text).into_owned()
    }

    /// Tells those who have subscribed.
    pub(crate) fn tell(&self, event: SessionEvent) {
        self.teams.hear(&event);
        self.reviews.follow(&event);
        lock(&self.subscribers).retain(|subscriber| subscriber.send(event.clone()).is_ok());
    }

    /// Tells them what is of no session.
    pub(crate) fn tell_all(&self, events: Vec<Event>) {
        for event in events {
            self.tell(SessionEvent { session: None, thread: None, member: None, event });
        }
    }
}
