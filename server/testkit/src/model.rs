//! A model server that says what a script tells it, over the real protocol on a real socket.
//!
//! It answers each request with the script's next reply, and holds every request against the rules
//! of the protocol and against what was sent before ([`check`]). What breaks a rule is answered
//! with a 400 in words, and kept: a [`ScriptedModel`] that is dropped with violations nobody has
//! claimed fails the test. It speaks every protocol, and only streaming; no reply is invented: beyond the
//! script there is nothing.

mod anthropic;
mod chat;
pub mod check;
mod counting;
mod gates;
mod responses;
mod script;
mod serve;
mod speech;
mod spoken;

pub use counting::{CountedContext, CountedRequest, Overflow};
pub use script::{ReplyPlace, ScriptedReply};

use gates::Gates;
use ropewalk_model::{ApiKey, Protocol, Retry, ServerConfig};
use serde_json::Value;
use serve::SharedScript;
use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// A request as it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// The time at which all of it was there, before any rule was looked at.
    pub at: Instant,
    /// The path, as `/v1/messages`.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body as sent.
    pub raw: String,
    /// The body parsed; null when it is no JSON.
    pub body: Value,
    /// Request in the form of Anthropic's Messages, whatever the protocol. Scripts look at requests
    /// in this form.
    pub said: Value,
}

/// A running server. It listens on a free port of 127.0.0.1, in a thread of its own, and stops when
/// dropped.
pub struct ScriptedModel {
    protocol: Protocol,
    address: SocketAddr,
    shared: Arc<SharedScript>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl ScriptedModel {
    /// Starts a server that gives these replies, in order, to any key. It speaks Anthropic's Messages.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> io::Result<ScriptedModel> {
        ScriptedModel::launch(Protocol::Anthropic, replies, None, None)
    }

    /// Starts a server that speaks this protocol.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub fn start_over(
        protocol: Protocol,
        replies: impl IntoIterator<Item = ScriptedReply>,
    ) -> io::Result<ScriptedModel> {
        ScriptedModel::launch(protocol, replies, None, None)
    }

    /// Starts a server that takes only this key, as [`ScriptedModel::start`] does.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub fn start_with_key(
        replies: impl IntoIterator<Item = ScriptedReply>,
        key: &str,
    ) -> io::Result<ScriptedModel> {
        ScriptedModel::launch(Protocol::Anthropic, replies, Some(key.to_owned()), None)
    }

    /// Starts a server that counts tokens, four bytes each, and takes only so many. The usage it tells is what it counted.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub fn start_counting(
        protocol: Protocol,
        replies: impl IntoIterator<Item = ScriptedReply>,
        context: CountedContext,
    ) -> io::Result<ScriptedModel> {
        ScriptedModel::launch(protocol, replies, None, Some(context))
    }

    fn launch(
        protocol: Protocol,
        replies: impl IntoIterator<Item = ScriptedReply>,
        key: Option<String>,
        context: Option<CountedContext>,
    ) -> io::Result<ScriptedModel> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared =
            Arc::new(SharedScript::new(protocol, replies.into_iter().collect(), key, context));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let serving = serve::serve(listener, shared.clone());
        let thread = thread::Builder::new().name("scripted-model".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(ScriptedModel { protocol, address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens, as `http://127.0.0.1:40000`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Protocol that it speaks.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The config of a client for it: a model `scripted`, the server's key, waits of milliseconds
    /// between tries.
    pub fn config(&self) -> ServerConfig {
        let mut config = ServerConfig::new(self.protocol, "scripted");
        config.base_url = self.base_url();
        let key = self.shared.key().unwrap_or("scripted-key");
        config.key = ApiKey::new(key, "the script").ok();
        config.retry = Retry {
            first_wait: Duration::from_millis(1),
            overload: Duration::ZERO,
            ..Retry::default()
        };
        config
    }

    /// The parsed bodies of all requests so far, the refused ones included.
    pub fn requests(&self) -> Vec<Value> {
        self.recorded().into_iter().map(|request| request.body).collect()
    }

    /// All requests so far, whole.
    pub fn recorded(&self) -> Vec<RecordedRequest> {
        self.shared.recorded()
    }

    /// All requests so far as a server that counts saw them, the refused ones included; none of any other.
    pub fn counted(&self) -> Vec<CountedRequest> {
        self.shared.counted()
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.shared.connections()
    }

    /// Lets the replies that stop at this gate go on, now and whenever they come to it.
    pub fn open_gate(&self, name: &str) {
        self.gates().open(name);
    }

    /// Waits until a reply stands at this gate.
    ///
    /// # Panics
    /// After 30 seconds.
    pub async fn wait_until_reached(&self, name: &str) {
        self.gates().reached(name).await;
    }

    /// Like [`wait_until_reached`](Self::wait_until_reached), outside of async code.
    ///
    /// # Panics
    /// After 30 seconds.
    pub fn wait_until_reached_blocking(&self, name: &str) {
        self.gates().block_on(self.gates().reached(name));
    }

    /// Waits until clients have left this many replies unread.
    ///
    /// # Panics
    /// After 30 seconds.
    pub async fn wait_until_abandoned(&self, replies: usize) {
        self.gates().abandoned(replies).await;
    }

    /// Like [`wait_until_abandoned`](Self::wait_until_abandoned), outside of async code.
    ///
    /// # Panics
    /// After 30 seconds.
    pub fn wait_until_abandoned_blocking(&self, replies: usize) {
        self.gates().block_on(self.gates().abandoned(replies));
    }

    /// Claims what went wrong so far.
    ///
    /// # Errors
    /// Each violation, and each reply that was never asked for, in words. What is reported once is
    /// not reported again.
    pub fn finish(&self) -> Result<(), Vec<String>> {
        let faults = self.shared.claim();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn gates(&self) -> &Gates {
        self.shared.gates()
    }
}

impl Drop for ScriptedModel {
    /// # Panics
    /// When [`finish`](ScriptedModel::finish) would report something, unless a panic is under way.
    #[expect(clippy::panic, reason = "a violation nobody looks at must fail the test")]
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Err(faults) = self.finish()
            && !thread::panicking()
        {
            panic!("the scripted model saw faults:\n- {}", faults.join("\n- "));
        }
    }
}
