//! Dispatch: one message at a time to the `LspService`, without ever waiting for a handler. Document
//! notifications go past it to the server itself, when it would let them.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use futures::{FutureExt, Sink};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, unconstrained};
use tower::Service;
use tower_lsp::jsonrpc::{ErrorCode, Id, Request, Response};
use tower_lsp::{ClientSocket, ExitedError, LanguageServer, Loopback, LspService};

use super::documents::{DocumentNotification, Documents};
use super::message::{Incoming, Unread, error_reply};
use super::outbox::Outbox;
use super::parent;

type ResponseSink = <ClientSocket as Loopback>::ResponseSink;

/// End of a handler: its answer, or the payload of its panic.
type Done = Result<Result<Option<Response>, ExitedError>, Box<dyn Any + Send>>;

/// The service with its running handlers.
pub(super) struct Dispatch<S: LanguageServer> {
    service: LspService<S>,
    responses: ResponseSink,
    outbox: Outbox,
    /// Handlers that were not done in their first poll.
    running: JoinSet<()>,
    /// The ids of requests whose handlers panicked in a later one.
    panicked: (mpsc::UnboundedSender<Id>, mpsc::UnboundedReceiver<Id>),
    client_process: Option<i32>,
    /// Set when `initialize` has been answered with success.
    initialized: Arc<AtomicBool>,
    after_shutdown: bool,
}

impl<S: LanguageServer + Documents> Dispatch<S> {
    pub(super) fn new(service: LspService<S>, responses: ResponseSink, outbox: Outbox) -> Self {
        Self {
            service,
            responses,
            outbox,
            running: JoinSet::new(),
            panicked: mpsc::unbounded_channel(),
            client_process: None,
            initialized: Arc::default(),
            after_shutdown: false,
        }
    }

    /// True if a `shutdown` was accepted.
    pub(super) fn after_shutdown(&self) -> bool {
        self.after_shutdown
    }

    /// The process to watch, once `initialize` has named one.
    pub(super) fn client_process(&self) -> Option<i32> {
        self.client_process
    }

    /// Handles a message as far as that is possible without waiting. Breaks at `exit`.
    pub(super) async fn handle(&mut self, message: Incoming) -> ControlFlow<()> {
        while self.running.try_join_next().is_some() {}
        match message {
            Incoming::Request(request) if request.method() == "exit" => {
                return ControlFlow::Break(());
            }
            Incoming::Request(request) => self.request(request).await,
            Incoming::Document(notification) => self.document(notification),
            Incoming::Unread(Unread { uri, of_text, why, refusal }) => {
                let document = uri.as_deref().unwrap_or("unknown");
                tracing::warn!(document, "a document notification can't be read: {why}");
                if of_text {
                    self.unread(uri.as_deref());
                }
                if let Some(refusal) = refusal {
                    self.outbox.answer(&refusal);
                }
            }
            Incoming::Response(response) => self.response(response),
            Incoming::Refused(refusal) => {
                tracing::warn!("a message was refused: {refusal:?}");
                self.outbox.answer(&refusal);
            }
        }
        ControlFlow::Continue(())
    }

    /// Drops what is running. Whoever still sends through the `Client` gets an error from now on.
    pub(super) fn end(mut self) {
        self.outbox.close();
        // The service marks itself as exited when it is called, not when the future is polled.
        drop(self.service.call(Request::build("exit").finish()));
    }

    /// As `LspService` would have it: nothing before `initialize` and after `shutdown`.
    fn document(&self, notification: DocumentNotification) {
        if !self.initialized.load(Ordering::Relaxed) || self.after_shutdown {
            return tracing::warn!("a document notification outside the session was dropped");
        }
        let server = self.service.inner();
        let uri = notification.uri().clone();
        if catch_unwind(AssertUnwindSafe(|| notification.tell(server))).is_err() {
            tracing::error!("a document notification's handler panicked");
            self.unread(Some(uri.as_str()));
        }
    }

    /// Tells the server of a notification whose content is lost.
    fn unread(&self, uri: Option<&str>) {
        if self.initialized.load(Ordering::Relaxed) && !self.after_shutdown {
            let server = self.service.inner();
            if catch_unwind(AssertUnwindSafe(|| server.unread(uri))).is_err() {
                tracing::error!("the handler of an unread notification panicked");
            }
        }
    }

    async fn request(&mut self, request: Request) {
        let id = request.id().cloned();
        let shutdown = request.method() == "shutdown";
        let initialize = request.method() == "initialize";
        if initialize && self.client_process.is_none() {
            self.client_process = request.params().and_then(parent::process_id);
        }
        self.after_shutdown |= shutdown && self.initialized.load(Ordering::Relaxed);
        let request = if shutdown { without_params(request) } else { request };

        // Params are read in the call itself, and reading them is the backend's code too.
        let Ok(call) = catch_unwind(AssertUnwindSafe(|| self.service.call(request))) else {
            if let Some(id) = id {
                self.answer_panic(id);
            }
            return;
        };
        let initialized = initialize.then(|| self.initialized.clone());
        let call = call.inspect(move |done| {
            if let (Some(initialized), Ok(Some(response))) = (initialized, done) {
                initialized.fetch_or(response.is_ok(), Ordering::Relaxed);
            }
        });
        let mut call = AssertUnwindSafe(call).catch_unwind();
        // Nobody is woken by the first poll: a handler that is not done is polled again when it is spawned.
        // It is `unconstrained`, lest a run of many messages end a handler's first poll before its first await.
        let first = std::future::poll_fn(|_| {
            Poll::Ready(call.poll_unpin(&mut Context::from_waker(Waker::noop())))
        });
        match unconstrained(first).await {
            Poll::Ready(done) => {
                if let (Err(Panicked), Some(id)) = (answer(&self.outbox, done), id) {
                    self.answer_panic(id);
                }
            }
            Poll::Pending => {
                if initialize {
                    tracing::error!("`initialize` waits; until it is done, notifications are lost");
                }
                let (outbox, panicked) = (self.outbox.clone(), self.panicked.0.clone());
                self.running.spawn(async move {
                    if let (Err(Panicked), Some(id)) = (answer(&outbox, call.await), id) {
                        // Nobody is there to answer once serving has ended.
                        let _ = panicked.send(id);
                    }
                });
            }
        }
    }

    /// Gives the client's answer to whoever waits for it.
    fn response(&mut self, response: Response) {
        let id = response.id().clone();
        // tower-lsp panics when nobody waits any more, as after a timeout.
        let routed =
            catch_unwind(AssertUnwindSafe(|| Pin::new(&mut self.responses).start_send(response)));
        if !matches!(routed, Ok(Ok(()))) {
            tracing::debug!("the client's answer to request {id} came when nobody waited for it");
        }
    }

    /// Resolves when a handler has panicked behind its first poll, with the request to answer.
    pub(super) async fn panicked(&mut self) -> Id {
        match self.panicked.1.recv().await {
            Some(id) => id,
            // Not reached: `self` keeps a sender.
            None => std::future::pending().await,
        }
    }

    /// Answers a request whose handler panicked.
    pub(super) fn answer_panic(&mut self, id: Id) {
        // tower-lsp still counts the request as running, and would refuse its id for ever. Freed before the
        // answer is sent, since the client may use it again then. Cancelling never waits.
        if let Ok(params) = serde_json::to_value(&id) {
            let params = json!({ "id": params });
            let cancel = Request::build("$/cancelRequest").params(params).finish();
            let _ = self.service.call(cancel).now_or_never();
        }
        let words = "the server failed on this request, which is a bug in it; it goes on";
        self.outbox.answer(&error_reply(id, ErrorCode::InternalError, words));
    }
}

struct Panicked;

/// Sends the answer, if the handler gave one.
fn answer(outbox: &Outbox, done: Done) -> Result<(), Panicked> {
    match done {
        Ok(Ok(Some(response))) => outbox.answer(&response),
        Ok(Ok(None) | Err(_)) => {}
        Err(_) => {
            tracing::error!("a handler panicked");
            return Err(Panicked);
        }
    }
    Ok(())
}

/// `shutdown` has no params; some clients send `null`, which tower-lsp would refuse.
fn without_params(request: Request) -> Request {
    let (method, id, _) = request.into_parts();
    let request = Request::build(method);
    match id {
        Some(id) => request.id(id),
        None => request,
    }
    .finish()
}
