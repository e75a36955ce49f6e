//! Dispatch: one message at a time to the `LspService`, without ever waiting for a handler.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures::{FutureExt, Sink};
use serde_json::json;
use tokio::task::{JoinSet, unconstrained};
use tower::Service;
use tower_lsp::jsonrpc::{ErrorCode, Id, Request, Response};
use tower_lsp::{ClientSocket, ExitedError, LanguageServer, Loopback, LspService};

use super::message::{Incoming, error_reply};
use super::outbox::Outbox;
use super::parent;

type ResponseSink = <ClientSocket as Loopback>::ResponseSink;

/// What a handler ends with: its answer, or what it panicked with.
type Done = Result<Result<Option<Response>, ExitedError>, Box<dyn Any + Send>>;

/// The service with its running handlers.
pub(super) struct Dispatch<S: LanguageServer> {
    service: LspService<S>,
    responses: ResponseSink,
    outbox: Outbox,
    /// Handlers that were not done in their first poll. Each ends with the id of its request if it panicked.
    running: JoinSet<Option<Id>>,
    client_process: Option<i32>,
    after_shutdown: bool,
}

impl<S: LanguageServer> Dispatch<S> {
    pub(super) fn new(service: LspService<S>, responses: ResponseSink, outbox: Outbox) -> Self {
        let running = JoinSet::new();
        Self { service, responses, outbox, running, client_process: None, after_shutdown: false }
    }

    /// Whether a `shutdown` was accepted.
    pub(super) fn after_shutdown(&self) -> bool {
        self.after_shutdown
    }

    /// The process to watch, once `initialize` has named one.
    pub(super) fn client_process(&self) -> Option<i32> {
        self.client_process
    }

    /// Handles a message as far as that is possible without waiting. Breaks at `exit`.
    pub(super) async fn handle(&mut self, message: Incoming) -> ControlFlow<()> {
        while let Some(ended) = self.running.try_join_next() {
            if let Ok(Some(panicked)) = ended {
                self.forget(panicked);
            }
        }
        match message {
            Incoming::Request(request) if request.method() == "exit" => {
                return ControlFlow::Break(());
            }
            Incoming::Request(request) => self.request(request).await,
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

    async fn request(&mut self, request: Request) {
        let id = request.id().cloned();
        let shutdown = request.method() == "shutdown";
        let initialize = request.method() == "initialize";
        if initialize && self.client_process.is_none() {
            self.client_process = request.params().and_then(parent::process_id);
        }
        let request = if shutdown { without_params(request) } else { request };

        let mut call = AssertUnwindSafe(self.service.call(request)).catch_unwind();
        // Nobody is woken by the first poll: a handler that is not done is polled again when it is spawned.
        // It is `unconstrained`, lest a run of many messages end a handler's first poll before its first await.
        let first = std::future::poll_fn(|_| {
            Poll::Ready(call.poll_unpin(&mut Context::from_waker(Waker::noop())))
        });
        match unconstrained(first).await {
            Poll::Ready(done) => {
                let refused = matches!(&done, Ok(Ok(Some(response))) if response.is_error());
                self.after_shutdown |= shutdown && !refused;
                if answer(&self.outbox, id.as_ref(), done)
                    && let Some(id) = id
                {
                    self.forget(id);
                }
            }
            Poll::Pending => {
                self.after_shutdown |= shutdown;
                if initialize {
                    tracing::error!("`initialize` waits; until it is done, notifications are lost");
                }
                let outbox = self.outbox.clone();
                self.running.spawn(async move {
                    let done = call.await;
                    answer(&outbox, id.as_ref(), done).then_some(id).flatten()
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

    /// Frees the id of a request that panicked, which tower-lsp would refuse as a duplicate for ever.
    fn forget(&mut self, id: Id) {
        if let Ok(id) = serde_json::to_value(id) {
            let cancel = Request::build("$/cancelRequest").params(json!({ "id": id })).finish();
            // It never waits: cancelling is a look into a map.
            let _ = self.service.call(cancel).now_or_never();
        }
    }
}

/// Sends the answer, if there is one; true when there is none because the handler panicked.
fn answer(outbox: &Outbox, id: Option<&Id>, done: Done) -> bool {
    match done {
        Ok(Ok(Some(response))) => outbox.answer(&response),
        Ok(Ok(None) | Err(_)) => {}
        Err(_) => {
            tracing::error!("a handler panicked");
            if let Some(id) = id {
                let words = "the server failed on this request, which is a bug in it; it goes on";
                outbox.answer(&error_reply(id.clone(), ErrorCode::InternalError, words));
            }
            return true;
        }
    }
    false
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
