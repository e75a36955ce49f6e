//! The outbox: everything that goes to the client passes here, in order, and is written by one thread.
//!
//! Order: what a handler sent before it answered is written before its answer, and what was sent after an
//! answer is written after it. Memory: a client that does not read stops the writing thread, and with it
//! whoever sends through `tower_lsp::Client` (their `await` lasts until there is room); answers can't wait
//! like that, since the loop must go on reading, so they queue up to a limit, and beyond it serving ends.
//! It knows nothing of what the messages mean.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::{future, io, thread};

use futures::{FutureExt, StreamExt};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tower_lsp::jsonrpc::{Request, Response};
use tower_lsp::{ClientSocket, Loopback};

use super::end::Reason;

/// Frames that are waiting anyway are written together, up to about this many bytes.
const BATCH: usize = 64 * 1024;

type RequestStream = <ClientSocket as Loopback>::RequestStream;

/// A handle on the queue; clones share it.
#[derive(Clone)]
pub(super) struct Outbox {
    queue: Arc<Mutex<Queue>>,
    broken: watch::Sender<Option<Reason>>,
    limit: usize,
}

struct Queue {
    frames: VecDeque<Vec<u8>>,
    /// The sum of the lengths of `frames`.
    bytes: usize,
    /// Messages sent through `tower_lsp::Client`; at most one for each task that is sending waits in it.
    requests: RequestStream,
    /// The writing thread's, while it waits.
    waker: Option<Waker>,
    closed: bool,
}

enum NextMessage {
    Frame(Vec<u8>),
    Request(Request),
}

impl Outbox {
    /// Starts the writing thread. The receiver resolves when the thread has ended, with everything written or
    /// the output broken.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn start(
        output: impl Write + Send + 'static,
        requests: RequestStream,
        limit: usize,
    ) -> io::Result<(Self, oneshot::Receiver<()>)> {
        let queue =
            Queue { frames: VecDeque::new(), bytes: 0, requests, waker: None, closed: false };
        let outbox =
            Self { queue: Arc::new(Mutex::new(queue)), broken: watch::Sender::new(None), limit };
        let (done, ended) = oneshot::channel();
        let (writer, runtime) = (outbox.clone(), Handle::current());
        thread::Builder::new().name("lsp-writer".into()).spawn(move || {
            if let Err(error) = runtime.block_on(writer.write(output)) {
                tracing::warn!("can't write to the client: {error}");
                writer.broken.send_replace(Some(Reason::OutputClosed));
            }
            // Nobody listens once serving has ended.
            let _ = done.send(());
        })?;
        Ok((outbox, ended))
    }

    /// Queues an answer, behind everything that was sent before. Never waits.
    pub(super) fn answer(&self, response: &Response) {
        let frame = frame(response);
        let mut queue = self.lock();
        queue.take_requests();
        queue.push(frame);
        if queue.bytes > self.limit {
            self.broken.send_replace(Some(Reason::OutputUnread));
        }
    }

    /// Ends the queue: what is in it is written still, nothing more is taken.
    pub(super) fn close(&self) {
        let mut queue = self.lock();
        queue.take_requests();
        queue.closed = true;
        queue.wake();
    }

    /// Why nothing more can be written, if that is so.
    pub(super) fn broken(&self) -> Option<Reason> {
        *self.broken.borrow()
    }

    /// Resolves when nothing more can be written.
    pub(super) async fn until_broken(&self) -> Reason {
        let mut broken = self.broken.subscribe();
        match broken.wait_for(Option::is_some).await.map(|broken| *broken) {
            Ok(Some(broken)) => broken,
            // Not reached: `self` keeps the sender.
            Ok(None) | Err(_) => future::pending().await,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn next(&self) -> Option<NextMessage> {
        future::poll_fn(|context| self.lock().poll_next(context)).await
    }

    /// The writing thread. Its writes block, so it must have its thread to itself.
    async fn write(&self, mut output: impl Write) -> io::Result<()> {
        let mut batch = Vec::new();
        while let Some(next) = self.next().await {
            batch.clear();
            batch.shrink_to(BATCH);
            next.append_to(&mut batch);
            while batch.len() < BATCH
                && let Some(Some(next)) = self.next().now_or_never()
            {
                next.append_to(&mut batch);
            }
            output.write_all(&batch)?;
            output.flush()?;
        }
        Ok(())
    }
}

impl Queue {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<NextMessage>> {
        if let Some(frame) = self.frames.pop_front() {
            self.bytes -= frame.len();
            return Poll::Ready(Some(NextMessage::Frame(frame)));
        }
        if self.closed {
            return Poll::Ready(None);
        }
        if let Poll::Ready(Some(request)) = self.requests.poll_next_unpin(context) {
            return Poll::Ready(Some(NextMessage::Request(request)));
        }
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Moves what has been sent into the queue, so that the order is that of sending. It takes the writer's
    /// place as the one to be woken, so whoever calls this wakes the writer.
    fn take_requests(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        while !self.closed
            && let Poll::Ready(Some(request)) = self.requests.poll_next_unpin(&mut context)
        {
            self.push(frame(&request));
        }
    }

    fn push(&mut self, frame: Vec<u8>) {
        if !self.closed {
            self.bytes += frame.len();
            self.frames.push_back(frame);
        }
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl NextMessage {
    fn append_to(self, batch: &mut Vec<u8>) {
        match self {
            NextMessage::Frame(frame) => batch.extend_from_slice(&frame),
            NextMessage::Request(request) => batch.extend_from_slice(&frame(&request)),
        }
    }
}

/// The message with its header; empty for a message that can't be JSON, which the types don't allow.
fn frame(message: &impl Serialize) -> Vec<u8> {
    let body = serde_json::to_vec(message).unwrap_or_else(|error| {
        tracing::error!("a message can't be written as JSON: {error}");
        Vec::new()
    });
    if body.is_empty() {
        return body;
    }
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(&body);
    frame
}
