//! The client's sessions: which one is current, and how another takes its place.
//!
//! One is current at a time: prompts join it, and its hunks are on the screen. When another takes its place, its
//! turn is interrupted, and what is pending in it stays in its journal. The commands are in `commands`, what
//! happens when a client has started in `greet`. What a session is, and how it is kept, is the agent's.

pub(crate) mod commands;
pub(crate) mod greet;
mod words;

pub(crate) use words::{named, shortened};

use crate::editor::LspEditor;
use crate::state::{State, lock};
use ropewalk_agent::journal::store::{Listed, make_private_folder};
use ropewalk_agent::session::SessionConfig;
use ropewalk_agent::tools::registry;
use ropewalk_agent::{Journal, Past, Session, SessionError, Sessions};
use ropewalk_commands::Commands;
use ropewalk_protocol::{Event, Prompt};
use ropewalk_tools::diagnostics::Diagnostics;
use ropewalk_tools::{CommandRunner, TypedTool as _};
use ropewalk_workspace::{Editor, Roots};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use words::{Left, Resumed, sentence};

/// The most digits of a number in a list; what is longer is an id.
const MOST_DIGITS: usize = 3;

/// How long is waited for a session that was left to write its last lines.
const ENDS: Duration = Duration::from_secs(5);

/// The current session, and what changing it needs.
#[derive(Default)]
pub(crate) struct Slot {
    current: Mutex<Option<Current>>,
    /// Held while another session takes the place of the current one. The disk is waited for, never the client.
    changing: tokio::sync::Mutex<()>,
    /// What shows the events of sessions that were left.
    ending: Mutex<Vec<JoinHandle<()>>>,
    /// The ids of sessions that were left: a lock of theirs that is still held is our own.
    left: Mutex<BTreeSet<String>>,
    /// The sessions that code actions offer to resume.
    offered: Mutex<Vec<Listed>>,
    /// The ids of the sessions that were listed last, which the user names by their numbers.
    listed: Mutex<Vec<String>>,
    /// Set once this client has asked for something.
    was_asked: AtomicBool,
    follows_moves: AtomicBool,
}

struct Current {
    session: Session,
    /// What shows its events; done when it has ended.
    events: JoinHandle<()>,
    /// Whether the folder for its outputs is there.
    has_outputs: bool,
}

/// A session that is not current yet.
struct Started {
    session: Session,
    events: UnboundedReceiver<Event>,
}

/// Why a session doesn't go on.
pub(crate) struct NotResumed {
    /// A sentence.
    why: String,
    /// Another window has it.
    in_use: bool,
}

impl From<String> for NotResumed {
    fn from(why: String) -> Self {
        Self { why, in_use: false }
    }
}

impl From<SessionError> for NotResumed {
    fn from(error: SessionError) -> Self {
        Self { why: sentence(&error), in_use: matches!(error, SessionError::InUse(_)) }
    }
}

/// The refusal where there is no place for sessions.
pub(crate) const NOT_KEPT: &str = "There is no home folder, so sessions are not kept";

impl State {
    /// The current session, started now if there was none. That leaves nothing behind on the disk.
    pub(crate) fn session(self: &Arc<Self>) -> Session {
        self.current(&mut lock(&self.slot.current)).session.clone()
    }

    /// The current session, if there is one.
    pub(crate) fn running_session(&self) -> Option<Session> {
        lock(&self.slot.current).as_ref().map(|current| current.session.clone())
    }

    /// Whether this is the current session's id.
    pub(crate) fn is_current(&self, id: &str) -> bool {
        lock(&self.slot.current).as_ref().is_some_and(|current| **current.session.id() == *id)
    }

    /// Prompts the current session, started now if there was none. Gives its id and the turn.
    pub(crate) fn prompt(self: &Arc<Self>, prompt: Prompt) -> (Arc<str>, u64) {
        // Under the lock, so that no other session takes its place in between.
        let mut slot = lock(&self.slot.current);
        let current = self.current(&mut slot);
        if !current.has_outputs
            && let Some(sessions) = &self.options.sessions
        {
            let folder = sessions.outputs(current.session.id());
            // Only a folder that exists is a root; until then there is nothing in it to read.
            current.has_outputs = make_private_folder(&folder).is_ok();
            self.read_outputs(current.session.id());
        }
        let turn = current.session.prompt(prompt);
        let id = current.session.id().clone();
        drop(slot);
        let mut offered = lock(&self.slot.offered);
        self.slot.was_asked.store(true, Ordering::Relaxed);
        offered.clear();
        (id, turn)
    }

    /// Offers sessions to be resumed, until something is asked.
    fn offer(&self, sessions: Vec<Listed>) {
        let mut offered = lock(&self.slot.offered);
        if !self.slot.was_asked.load(Ordering::Relaxed) {
            *offered = sessions;
        }
    }

    /// The sessions that are offered to be resumed.
    pub(crate) fn offered(&self) -> Vec<Listed> {
        lock(&self.slot.offered).clone()
    }

    /// The folders a session of this client works in, as journals have them.
    pub(crate) fn root_names(&self) -> Vec<String> {
        let roots = self.workspace.roots();
        roots.iter().map(|root| root.path().to_string_lossy().into_owned()).collect()
    }

    fn current<'a>(self: &Arc<Self>, slot: &'a mut Option<Current>) -> &'a mut Current {
        match slot {
            Some(current) => current,
            slot => slot.insert(self.follow(self.start(None))),
        }
    }

    /// Starts a session. It reads the configuration, and says and asks what is new in it; one that goes on reads its
    /// files: blocking then.
    fn start(self: &Arc<Self>, past: Option<(Arc<str>, Journal, Past)>) -> Started {
        let (id, journal, past) = match past {
            Some((id, journal, past)) => (id, journal, Some(past)),
            None => {
                let kept = self.options.sessions.as_ref();
                let id: Arc<str> = kept.map_or_else(Sessions::new_id, Sessions::free_id).into();
                let journal = kept.map(|sessions| sessions.begin(&id, self.root_names()));
                (id, journal.unwrap_or_default(), None)
            }
        };
        let editor: Arc<dyn Editor> = Arc::new(LspEditor {
            client: self.client.clone(),
            workspace: self.workspace.clone(),
            habits: self.habits(),
            configuration: self.facts().configuration,
            plugin: self.facts().options.plugin,
        });
        let outputs = self.options.sessions.as_ref().map(|sessions| sessions.outputs(&id));
        let (sender, events) = tokio::sync::mpsc::unbounded_channel();
        let (mut settings, commands, mut problems) = self.settings_now();
        if let Some(choice) = past.as_ref().and_then(Past::model_choice) {
            problems.extend(self.choose_again(choice.clone(), &mut settings));
        }
        crate::show::tell_problems(self, problems);
        crate::trust::ask(self);
        let runner: Arc<dyn CommandRunner> = Arc::new(Commands::new(commands));
        let mut tools = registry(runner.clone(), editor.clone());
        if !self.facts().options.plugin {
            // Nobody would answer it.
            tools = tools.only(|name| name != Diagnostics::NAME);
        }
        let publish = self.options.publish;
        let config = SessionConfig { id, settings, tools, runner, outputs, publish, journal, past };
        let session = Session::start(config, self.workspace.clone(), editor, sender);
        Started { session, events }
    }

    /// Shows what happens in a session that is about to be current.
    fn follow(self: &Arc<Self>, started: Started) -> Current {
        let Started { session, events } = started;
        self.read_outputs(session.id());
        let events =
            tokio::spawn(crate::show::show_events(self.clone(), session.id().clone(), events));
        if !self.slot.follows_moves.swap(true, Ordering::Relaxed) {
            tokio::spawn(crate::show::follow_moves(self.clone()));
        }
        Current { session, events, has_outputs: false }
    }

    /// Lets the outputs of this session be read, if there are any.
    fn read_outputs(&self, id: &str) {
        let folder = self.options.sessions.as_ref().map(|sessions| sessions.outputs(id));
        let there = folder.filter(|folder| folder.is_dir());
        let roots = there.map(|folder| Roots::new(vec![("outputs".to_owned(), folder)]));
        self.workspace.set_outputs(roots);
    }

    /// Puts a session in the place of the current one, unless that may not be left. Blocking.
    fn replace(
        self: &Arc<Self>,
        started: Started,
        may_leave: impl FnOnce(&Session) -> bool,
    ) -> Result<Option<Left>, NotResumed> {
        let old = {
            let mut slot = lock(&self.slot.current);
            if slot.as_ref().is_some_and(|current| !may_leave(&current.session)) {
                return Err(busy());
            }
            lock(&self.slot.left).remove(&**started.session.id());
            lock(&self.slot.offered).retain(|listed| *listed.id != **started.session.id());
            let new = self.follow(started);
            slot.replace(new)
        };
        let Some(Current { session, events, .. }) = old else { return Ok(None) };
        let left = Left { title: session.title(), pending: session.hunks().len() };
        lock(&self.slot.left).insert(session.id().to_string());
        let mut ending = lock(&self.slot.ending);
        ending.retain(|events| !events.is_finished());
        ending.push(events);
        // With its last handle it ends.
        Ok(Some(left))
    }

    /// Waits until the sessions that were left have written their last lines, within a bound.
    async fn left_ones_end(&self) {
        let ending = std::mem::take(&mut *lock(&self.slot.ending));
        let all = futures::future::join_all(ending);
        if tokio::time::timeout(ENDS, all).await.is_err() {
            tracing::warn!("a session that was left has not ended yet");
        }
    }

    /// Starts another session in the place of the current one. Nothing happens if nothing was asked there yet.
    pub(crate) async fn begin(self: &Arc<Self>) -> Result<(Arc<str>, Option<Left>), String> {
        let _changing = self.slot.changing.lock().await;
        let state = self.clone();
        blocking(move || {
            lock(&state.slot.offered).clear();
            if let Some(fresh) = state.running_session().filter(Session::is_fresh) {
                return (fresh.id().clone(), None);
            }
            let started = state.start(None);
            let id = started.session.id().clone();
            // There is nothing that may not be left.
            let left = state.replace(started, |_| true).ok().flatten();
            (id, left)
        })
        .await
    }

    /// Goes on with a session: the one of this number in the list, or whose id begins so, or the last one of these
    /// roots. The error is a sentence.
    pub(crate) async fn resume(self: &Arc<Self>, start: Option<String>) -> Result<Resumed, String> {
        let sessions = self.options.sessions.clone().ok_or(NOT_KEPT)?;
        let _changing = self.slot.changing.lock().await;
        self.left_ones_end().await;
        let state = self.clone();
        blocking(move || {
            let id = match start {
                Some(start) => state.find(&sessions, &start).map_err(|error| sentence(&error))?,
                None => {
                    match state.others(sessions.of_roots(&state.root_names())).into_iter().next() {
                        Some((_, listed)) => listed.id,
                        None => return Err(state.nothing_to_resume()),
                    }
                }
            };
            state.resume_now(&sessions, &id, |_| true).map_err(|not| not.why)
        })
        .await?
    }

    /// The sessions of a list but the current one that nobody else has, with their numbers in it.
    fn others(&self, list: Vec<Listed>) -> Vec<(usize, Listed)> {
        let left = lock(&self.slot.left).clone();
        let list = list.into_iter().enumerate().filter(|(_, listed)| {
            let is_free = !listed.in_use || left.contains(&listed.id);
            is_free && listed.summary.turns > 0 && !self.is_current(&listed.id)
        });
        list.map(|(at, listed)| (at + 1, listed)).collect()
    }

    /// The sessions of these roots, the last used first. From now on their numbers count. Blocking.
    fn list(&self, sessions: &Sessions) -> Vec<Listed> {
        let list = sessions.of_roots(&self.root_names());
        self.number(&list);
        list
    }

    fn number(&self, list: &[Listed]) {
        *lock(&self.slot.listed) = list.iter().map(|listed| listed.id.clone()).collect();
    }

    /// The whole id of a session that the user names: by its number in the last list, or by how its id begins. Blocking.
    fn find(&self, sessions: &Sessions, named: &str) -> Result<String, SessionError> {
        let number = Some(named).filter(|named| named.len() <= MOST_DIGITS);
        if let Some(number) = number.and_then(|named| named.parse::<usize>().ok()) {
            if lock(&self.slot.listed).is_empty() {
                self.list(sessions);
            }
            let listed = lock(&self.slot.listed);
            if let Some(id) = number.checked_sub(1).and_then(|at| listed.get(at)) {
                return Ok(id.clone());
            }
        }
        sessions.find(named)
    }

    fn nothing_to_resume(&self) -> String {
        let roots = self.root_names();
        let of = if roots.is_empty() {
            "without a folder".to_owned()
        } else {
            format!("of {}", roots.join(", "))
        };
        format!(
            "There is no other session {of} to resume; `ropewalk sessions --all` in a terminal lists those of other folders"
        )
    }

    /// Opens a session and makes it the current one, if the one there may be left. Blocking.
    fn resume_now(
        self: &Arc<Self>,
        sessions: &Sessions,
        id: &str,
        may_leave: impl Fn(&Session) -> bool,
    ) -> Result<Resumed, NotResumed> {
        let current = self.running_session();
        if let Some(session) = current.as_ref().filter(|session| **session.id() == *id) {
            let title = named(&session.title());
            return Err(format!("The session {title} is the current one already").into());
        }
        if current.is_some_and(|session| !may_leave(&session)) {
            return Err(busy());
        }
        let (journal, mut past) = sessions.open(id)?;
        if !past.head.is_of(&self.root_names()) {
            let title = named(&past.shown_title());
            let of = match past.head.roots.join(", ") {
                none if none.is_empty() => "works without a folder".to_owned(),
                roots => format!("is of {roots}"),
            };
            return Err(format!("The session {title} {of}; other folders are open here").into());
        }
        let closed = self.closed_documents(&past);
        if !closed.is_empty() {
            let title = named(&past.shown_title());
            let words = format!(
                "Without a folder only open files can be changed: open {} first, where changes wait in {title}",
                closed.join(", ")
            );
            return Err(words.into());
        }
        let summary = past.summary();
        let waiting = std::mem::take(&mut past.waiting);
        let problems = std::mem::take(&mut past.problems);
        let id: Arc<str> = id.into();
        let started = self.start(Some((id.clone(), journal, past)));
        let session = started.session.clone();
        // Asked again there: a prompt may have come while the disk was read.
        let left = self.replace(started, may_leave)?;
        Ok(Resumed {
            id,
            title: summary.title,
            at: summary.at,
            turns: summary.turns,
            pending: session.hunks().len(),
            lost: session.not_restored().to_vec(),
            waiting,
            problems,
            left,
        })
    }

    /// Without a folder, only what is open is inside: the documents that are not, and in which something waits.
    fn closed_documents(&self, past: &Past) -> Vec<String> {
        if !self.root_names().is_empty() {
            return Vec::new();
        }
        let open = self.workspace.open_documents();
        let closed = past.pending_documents().filter(|document| !open.contains(document));
        closed.map(|document| document.as_str().to_owned()).collect()
    }
}

fn busy() -> NotResumed {
    "Your request came first; /resume brings them back".to_owned().into()
}

/// Runs what touches the disk where it blocks nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "work on the disk panicked");
        "Ropewalk has a bug; the log has the details".to_owned()
    })
}
