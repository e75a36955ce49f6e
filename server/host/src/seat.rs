//! The way to a session, from before it has started: requests to it, in order.
//!
//! Work on the disk that a request needs is done before the session gets it, and beside everything else: the session is
//! started, edits of the configuration are taken in, a model is made. Requests that come meanwhile wait in line. An
//! interrupt does not wait for a disk that hangs.

use crate::host::Host;
use crate::snapshot::Snapshot;
use crate::{blocking, lock};
use ropewalk_agent::Session;
use ropewalk_model::Model;
use ropewalk_protocol::{Event, Op, Refusal, Reply, SessionEvent, Status};
use ropewalk_workspace::Hunk;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// See the module. When it is dropped, its session ends.
pub(crate) struct Seat {
    /// The session, once it has started.
    session: Arc<OnceLock<Session>>,
    inputs: mpsc::UnboundedSender<Input>,
    /// Set once it was prompted.
    was_asked: AtomicBool,
    /// The pending hunks as they were shown last.
    hunks: Mutex<Vec<Hunk>>,
    /// The task that serves it; done when the session has ended and all its events were told.
    service: Mutex<Option<JoinHandle<()>>>,
}

struct Input {
    op: Op,
    done: oneshot::Sender<Result<Reply, Refusal>>,
}

impl Seat {
    /// A seat without a session, and where its requests come out.
    pub(crate) fn new() -> (Arc<Self>, Inputs) {
        let (inputs, receiver) = mpsc::unbounded_channel();
        let seat = Arc::new(Self {
            session: Arc::default(),
            inputs,
            was_asked: AtomicBool::new(false),
            hunks: Mutex::default(),
            service: Mutex::default(),
        });
        (seat, Inputs { coming: receiver, waiting: VecDeque::new() })
    }

    /// Its session, if it has started.
    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.get()
    }

    /// Its session as it stands. Never waits.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.session().map(|session| Snapshot::of(session, &self.hunks)).unwrap_or_default()
    }

    pub(crate) fn slot(&self) -> Arc<OnceLock<Session>> {
        self.session.clone()
    }

    /// True if nothing was asked yet and nothing is pending.
    pub(crate) fn is_fresh(&self) -> bool {
        let is_fresh = self.session().is_none_or(Session::is_fresh);
        is_fresh && !self.was_asked.load(Ordering::Relaxed)
    }

    /// True if it takes no requests any more, because it could not be started.
    pub(crate) fn is_broken(&self) -> bool {
        self.inputs.is_closed()
    }

    /// Puts a request in line, now; the future is the answer.
    pub(crate) fn take(
        &self,
        op: Op,
    ) -> impl Future<Output = Result<Reply, Refusal>> + Send + 'static {
        if let Op::Prompt(_) = op {
            self.was_asked.store(true, Ordering::Relaxed);
        }
        let (done, answer) = oneshot::channel();
        let sent = self.inputs.send(Input { op, done });
        async move {
            match sent.map(|()| answer) {
                Ok(answer) => answer.await.unwrap_or_else(|_| Err(BROKEN.into())),
                Err(_) => Err(BROKEN.into()),
            }
        }
    }

    /// Serves it by a task of its own.
    pub(crate) fn serve_by(&self, service: impl Future<Output = ()> + Send + 'static) {
        *lock(&self.service) = Some(tokio::spawn(service));
    }

    /// The task that is done when its session has ended; once.
    pub(crate) fn service(&self) -> Option<JoinHandle<()>> {
        lock(&self.service).take()
    }
}

pub(crate) const BROKEN: &str = "The session has broken down; the log has the details";

/// Requests to a seat, as they came.
pub(crate) struct Inputs {
    coming: mpsc::UnboundedReceiver<Input>,
    /// Requests that came while something else was awaited.
    waiting: VecDeque<Input>,
}

impl Inputs {
    async fn next(&mut self) -> Option<Input> {
        match self.waiting.pop_front() {
            Some(input) => Some(input),
            None => self.coming.recv().await,
        }
    }

    /// Waits for work on the disk, but no longer than until an interrupt comes.
    async fn unless_interrupted<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let stops = |input: &Input| matches!(input.op, Op::Interrupt);
        let mut work = std::pin::pin!(work);
        while !self.waiting.iter().any(stops) {
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                Some(input) = self.coming.recv() => self.waiting.push_back(input),
            }
        }
        None
    }
}

/// Work on the disk that a request needs before the session gets it.
enum Ahead {
    Prompt,
    Status,
    Mode,
    Model(String),
}

impl Ahead {
    fn of(op: &Op) -> Option<Self> {
        match op {
            Op::Prompt(_) => Some(Self::Prompt),
            Op::Status => Some(Self::Status),
            Op::Mode(_) => Some(Self::Mode),
            Op::SetModel(name) => Some(Self::Model(name.clone())),
            _ => None,
        }
    }
}

/// Serves a session until its seat is gone.
pub(crate) async fn serve(host: Weak<Host>, session: Session, mut inputs: Inputs) {
    while let Some(Input { op, done }) = inputs.next().await {
        let Some(host) = host.upgrade() else { break };
        let prepared = match Ahead::of(&op) {
            Some(ahead) => {
                let (host, session) = (host.clone(), session.clone());
                let work = blocking(move || host.prepare(&session, ahead));
                match inputs.unless_interrupted(work).await {
                    Some(prepared) => prepared.and_then(|prepared| prepared),
                    // It starts, for what comes next stops it.
                    None if matches!(op, Op::Prompt(_) | Op::Status) => Ok(None),
                    None => Err("It was interrupted".into()),
                }
            }
            None => Ok(None),
        };
        // Nobody may want to know.
        let _ = done.send(prepared.and_then(|model| host.pass(&session, op, model)));
    }
}

/// Tells what happens in a session until it has ended.
pub(crate) async fn tell(
    host: Weak<Host>,
    session: Arc<str>,
    mut events: UnboundedReceiver<Event>,
) {
    while let Some(event) = events.recv().await {
        let Some(host) = host.upgrade() else { return };
        host.tell(SessionEvent { session: Some(session.clone().into()), event });
    }
}

impl Host {
    /// Does what is needed of the disk; gives the model that was asked for. Blocking.
    fn prepare(&self, session: &Session, ahead: Ahead) -> Result<Option<Arc<dyn Model>>, Refusal> {
        self.tell_all(self.refresh());
        match (ahead, self.configuration.mode_lock()) {
            (Ahead::Prompt, _) => self.make_outputs(session.id()),
            (Ahead::Status, _) | (Ahead::Mode, None) => {}
            (Ahead::Mode, Some(by)) => {
                return Err(format!("The mode can't be changed: it is locked by {by}").into());
            }
            (Ahead::Model(name), _) => return Ok(Some(self.model_named(&name)?)),
        }
        Ok(None)
    }

    /// Hands a request to its session.
    fn pass(
        &self,
        session: &Session,
        op: Op,
        model: Option<Arc<dyn Model>>,
    ) -> Result<Reply, Refusal> {
        let id = || session.id().clone().into();
        Ok(match op {
            Op::Prompt(prompt) => Reply::Turn(id(), session.prompt(prompt)),
            Op::SetModel(_) => {
                model.into_iter().for_each(|model| session.speak_to(model));
                Reply::Taken
            }
            Op::Status => Reply::Status(self.status(session)),
            Op::Rename(title) => {
                session.send(Op::Rename(title.clone()));
                Reply::Renamed(id(), title)
            }
            Op::Rewind(turn) => {
                let prompt = prompt_of(session, turn)?;
                session.send(op);
                Reply::Rewinding(turn, prompt)
            }
            op => {
                session.send(op);
                Reply::Taken
            }
        })
    }

    fn status(&self, session: &Session) -> Status {
        let todos = session.todos();
        Status {
            session: session.id().clone().into(),
            title: session.title(),
            turns: session.turns().len(),
            locks: self.configuration.locks(),
            mode: session.mode(),
            model: session.model(),
            hunks: session.hunks().len(),
            approvals: session.waiting_approvals().iter().map(|asked| asked.id).collect(),
            todos: todos.0.len(),
            todos_done: todos.done(),
            messages: session.messages().len(),
            tokens: session.spent().into(),
            desync_alarms: self.workspace.desync_alarms(),
        }
    }
}

/// The words that a turn had begun with.
fn prompt_of(session: &Session, turn: u64) -> Result<String, String> {
    let turns = session.turns();
    let (Some(first), Some(last)) = (turns.first(), turns.last()) else {
        return Err("There is no turn to take back".to_owned());
    };
    let mark = turns.iter().find(|mark| mark.turn == turn).ok_or_else(|| {
        let (first, last) = (first.turn, last.turn);
        format!("There is no turn {turn} to take back; there are {first} to {last}")
    })?;
    Ok(mark.prompt.clone())
}
