//! A server that answers with the very bytes it is given, faults and all, and what each protocol says.
//!
//! It runs in the test's own thread, so that a stopped clock is stopped for it, too. It checks nothing:
//! what it was asked is for the test to look at.

use futures::StreamExt;
use ropewalk_model::{
    ApiKey, Delta, Http, Message, Model, ModelError, ModelReply, ModelRequest, Protocol,
    ReplyBuilder, ServerConfig, ServerModel,
};
use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
    sync::Notify,
    task::JoinHandle,
};

pub(crate) const KEY: &str = "sk-loopback-0123456789";

/// Steps done with a request, in order.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Sends this again and again, until the other side has had enough.
    Endless(Vec<u8>),
    /// Sends this again and again, so long after the time before, until the other side leaves.
    Every(Duration, Vec<u8>),
    /// Says nothing more, and holds the connection.
    Hang,
    /// Ends the connection: cleanly, so that what was sent arrives.
    Close,
    /// Breaks the connection off.
    Reset,
}

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) requests: Mutex<Vec<String>>,
    pub(crate) accepted: AtomicUsize,
    pub(crate) sent: AtomicUsize,
    pub(crate) hung: Notify,
    answers: Mutex<VecDeque<Vec<Act>>>,
}

impl Seen {
    pub(crate) fn with(answers: impl IntoIterator<Item = Vec<Act>>) -> Seen {
        Seen { answers: Mutex::new(answers.into_iter().collect()), ..Seen::default() }
    }
}

pub(crate) struct Loopback {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Seen>,
    task: JoinHandle<()>,
}

impl Loopback {
    /// A server that gives each request the next of these answers, and hangs when there is none left.
    pub(crate) async fn start(answers: impl IntoIterator<Item = Vec<Act>>) -> Loopback {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::with(answers));
        let shared = seen.clone();
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let _ = socket.set_nodelay(true);
                shared.accepted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(socket, shared.clone()));
            }
        });
        Loopback { address, seen, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn config(&self, protocol: Protocol) -> ServerConfig {
        let mut config = ServerConfig::new(protocol, "m");
        config.base_url = self.url();
        config.key = ApiKey::new(KEY, "KEY").ok();
        config
    }

    pub(crate) fn model(&self, protocol: Protocol) -> ServerModel {
        ServerModel::new(self.config(protocol), Http::new()).unwrap()
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }

    pub(crate) fn accepted(&self) -> usize {
        self.seen.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers the requests of one connection.
pub(crate) async fn answer(mut socket: impl AsyncRead + AsyncWrite + Unpin, seen: Arc<Seen>) {
    while let Some(request) = read_request(&mut socket).await {
        seen.requests.lock().unwrap().push(request);
        let acts = seen.answers.lock().unwrap().pop_front().unwrap_or_else(|| vec![Act::Hang]);
        for act in acts {
            match act {
                Act::Send(bytes) => {
                    if socket.write_all(&bytes).await.is_err() {
                        return;
                    }
                    seen.sent.fetch_add(bytes.len(), Ordering::SeqCst);
                }
                Act::Endless(bytes) => {
                    while socket.write_all(&bytes).await.is_ok() {
                        seen.sent.fetch_add(bytes.len(), Ordering::SeqCst);
                    }
                    return;
                }
                Act::Every(time, bytes) => {
                    let mut left = [0];
                    // Until the other side leaves, or takes no more.
                    while tokio::time::timeout(time, socket.read(&mut left)).await.is_err()
                        && socket.write_all(&bytes).await.is_ok()
                    {}
                    return;
                }
                Act::Hang => {
                    seen.hung.notify_one();
                    // Until the other side leaves.
                    let _ = socket.read(&mut [0]).await;
                    return;
                }
                Act::Close => {
                    let _ = socket.shutdown().await;
                    return;
                }
                // Dropped with bytes unread, a socket is reset.
                Act::Reset => return,
            }
        }
    }
}

/// The head of the next request, and its body; none when the other side has left.
pub(crate) async fn read_request(socket: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut byte = [0];
        socket.read_exact(&mut byte).await.ok()?;
        bytes.push(byte[0]);
        if bytes.ends_with(b"\r\n\r\n") {
            break String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        }
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    socket.read_exact(&mut body).await.ok()?;
    bytes.extend(body);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// An answer of this status, head fields and body.
pub(crate) fn whole(status: u16, fields: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\n{fields}content-length: {length}\r\n\r\n");
    vec![Act::Send((head + body).into_bytes())]
}

/// The beginning of an event stream whose connection can be used again.
pub(crate) fn streaming() -> Act {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    Act::Send(head.into())
}

pub(crate) fn chunk(text: &str) -> Act {
    Act::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

pub(crate) fn end() -> Act {
    Act::Send(b"0\r\n\r\n".to_vec())
}

/// A reply that says `good`, whole.
pub(crate) fn good(protocol: Protocol) -> Vec<Act> {
    let last = last(protocol);
    vec![streaming(), chunk(&says(protocol, "good")), chunk(last), end()]
}

/// The events of a reply that has said `text`, and not ended.
pub(crate) fn says(protocol: Protocol, text: &str) -> String {
    match protocol {
        Protocol::Anthropic => format!(
            "data: {{\"type\":\"message_start\",\"message\":{{\"id\":\"m\"}}}}\n\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
        ),
        Protocol::Chat => format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"{text}\"}}}}]}}\n\n"
        ),
        Protocol::Responses => format!(
            "data: {{\"type\":\"response.created\",\"response\":{{\"id\":\"r\"}}}}\n\ndata: {{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"{text}\"}}\n\n"
        ),
    }
}

/// The last event of a reply.
pub(crate) fn last(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Anthropic => "data: {\"type\":\"message_stop\"}\n\n",
        Protocol::Chat => {
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
        }
        Protocol::Responses => "data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
    }
}

/// An error in mid-stream.
pub(crate) fn error(protocol: Protocol, kind: &str) -> String {
    match protocol {
        Protocol::Anthropic => format!(
            "data: {{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"words\"}}}}\n\n"
        ),
        Protocol::Chat => {
            format!("data: {{\"error\":{{\"type\":\"{kind}\",\"message\":\"words\"}}}}\n\n")
        }
        Protocol::Responses => format!(
            "data: {{\"type\":\"response.failed\",\"response\":{{\"error\":{{\"code\":\"{kind}\",\"message\":\"words\"}}}}}}\n\n"
        ),
    }
}

pub(crate) type Deltas = futures::stream::BoxStream<'static, Result<Delta, ModelError>>;

pub(crate) fn ask(model: &ServerModel) -> Deltas {
    model.stream(ModelRequest {
        prelude: model.encode_prelude("be brief", &[]),
        pieces: vec![model.encode(&Message::user("hi"))],
        max_tokens: 100,
    })
}

/// Reads a reply to its end; waits between tries take no time, but are known to be waited for.
pub(crate) async fn read(mut stream: Deltas) -> (Vec<Delta>, Result<ModelReply, ModelError>) {
    let (mut deltas, mut builder) = (Vec::new(), ReplyBuilder::new());
    while let Some(delta) = stream.next().await {
        let delta = match delta {
            Ok(delta) => delta,
            Err(error) => return (deltas, Err(error)),
        };
        if let Delta::Retrying { wait, .. } = &delta
            && !wait.is_zero()
        {
            let next = futures::poll!(stream.next());
            assert!(next.is_pending(), "{delta:?} is waited for");
            // A long wait is told anew at each multiple of five seconds.
            let rest = Duration::from_nanos((wait.as_nanos() % (5 * SECOND).as_nanos()) as u64);
            advance(if rest.is_zero() { (*wait).min(5 * SECOND) } else { rest }).await;
        }
        builder.push(&delta);
        deltas.push(delta);
    }
    (deltas, Ok(builder.finish()))
}

/// Stops the clock: it goes on only by [`advance`], however idle the test is.
pub(crate) struct Clock(Option<std::sync::mpsc::Sender<()>>);

impl Clock {
    pub(crate) fn stop() -> Clock {
        tokio::time::pause();
        // A stopped clock jumps to the next timer when nothing else is to be done, except while
        // something runs elsewhere.
        let (hold, held) = std::sync::mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || held.recv());
        Clock(Some(hold))
    }
}

/// Lets this time pass, and the next millisecond begin, which is when timers act.
pub(crate) async fn advance(time: Duration) {
    tokio::time::advance(time + Duration::from_millis(1)).await;
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.0.take();
    }
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);
