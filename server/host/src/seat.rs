//! The way to a session, from before it has started: requests to it, in order.
//!
//! A request is in line as soon as it is taken; `serve` does what it needs. An interrupt does not wait for a disk that
//! hangs.

use crate::lock;
use crate::snapshot::SessionSnapshot;
use ropewalk_agent::Session;
use ropewalk_protocol::{Op, Refusal, Reply};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// See the module. When it is dropped, its session ends.
pub(crate) struct Seat {
    /// The session, once it has started.
    session: Arc<OnceLock<Session>>,
    ops: mpsc::UnboundedSender<QueuedOp>,
    /// Set once it was prompted.
    was_asked: AtomicBool,
    /// The task that serves it; done when the session has ended and all its events were told.
    service: Mutex<Option<JoinHandle<()>>>,
}

/// A request in line, and the way for its answer.
pub(crate) struct QueuedOp {
    pub(crate) op: Op,
    pub(crate) done: oneshot::Sender<Result<Reply, Refusal>>,
}

impl Seat {
    /// A seat without a session, and where its requests come out.
    pub(crate) fn new() -> (Arc<Self>, OpQueue) {
        let (ops, receiver) = mpsc::unbounded_channel();
        let seat = Arc::new(Self {
            session: Arc::default(),
            ops,
            was_asked: AtomicBool::new(false),
            service: Mutex::default(),
        });
        (seat, OpQueue { receiver, waiting: VecDeque::new() })
    }

    /// Its session, if it has started.
    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.get()
    }

    /// Its session as it stands. Never waits.
    pub(crate) fn snapshot(&self) -> SessionSnapshot {
        self.session().map(SessionSnapshot::of).unwrap_or_default()
    }

    /// The cell that the session is put into once it has started.
    pub(crate) fn session_cell(&self) -> Arc<OnceLock<Session>> {
        self.session.clone()
    }

    /// True if nothing was asked yet and nothing is pending.
    pub(crate) fn is_fresh(&self) -> bool {
        let is_fresh = self.session().is_none_or(Session::is_fresh);
        is_fresh && !self.was_asked.load(Ordering::Relaxed)
    }

    /// True if it takes no requests any more, because it could not be started.
    pub(crate) fn is_broken(&self) -> bool {
        self.ops.is_closed()
    }

    /// Puts a request in line, now; the future is the answer.
    pub(crate) fn enqueue(
        &self,
        op: Op,
    ) -> impl Future<Output = Result<Reply, Refusal>> + Send + 'static {
        if let Op::Prompt(_) = op {
            self.was_asked.store(true, Ordering::Relaxed);
        }
        let (done, answer) = oneshot::channel();
        let sent = self.ops.send(QueuedOp { op, done });
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

    /// Takes the task that is done when its session has ended. None if it was taken before.
    pub(crate) fn take_service(&self) -> Option<JoinHandle<()>> {
        lock(&self.service).take()
    }
}

pub(crate) const BROKEN: &str = "The session has broken down; the log has the details";

/// Requests to a seat, as they came.
pub(crate) struct OpQueue {
    receiver: mpsc::UnboundedReceiver<QueuedOp>,
    /// Requests that came while something else was awaited.
    waiting: VecDeque<QueuedOp>,
}

impl OpQueue {
    pub(crate) async fn next(&mut self) -> Option<QueuedOp> {
        match self.waiting.pop_front() {
            Some(one) => Some(one),
            None => self.receiver.recv().await,
        }
    }

    /// Waits for work on the disk, but no longer than until an interrupt comes.
    pub(crate) async fn unless_interrupted<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let stops = |one: &QueuedOp| matches!(one.op, Op::Interrupt(None));
        let mut work = std::pin::pin!(work);
        while !self.waiting.iter().any(stops) {
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                Some(one) = self.receiver.recv() => self.waiting.push_back(one),
            }
        }
        None
    }
}
