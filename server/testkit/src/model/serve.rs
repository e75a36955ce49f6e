//! The HTTP side: connections, requests, and replies sent step by step.
//!
//! Rules for requests are [`super::check`]'s business, the words of replies the script's.

use super::{
    RecordedRequest,
    check::Checker,
    counting::{CountedContext, CountedRequest, Counter},
    gates::Gates,
    script::{Act, ReplyPlace, ScriptedReply, StatusAnswer, StatusBody},
    speech::{Speech, SpeechStep, steps},
    spoken::speech_of,
};
use crate::planted;
use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt, Full, Limited, StreamBody, combinators::BoxBody};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Frame, Incoming},
    header::{CONTENT_TYPE, HeaderName, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use ropewalk_model::Protocol;
use serde_json::Value;
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

/// The longest request that is read.
const MOST_BYTES: usize = 64 << 20;

type ReplyBody = BoxBody<Bytes, io::Error>;

/// State that the server's thread and its owner share.
pub(super) struct SharedScript {
    protocol: Protocol,
    speech: &'static dyn Speech,
    key: Option<String>,
    gates: Gates,
    connections: AtomicUsize,
    state: Mutex<ServeState>,
}

struct ServeState {
    script: VecDeque<ScriptedReply>,
    /// Replies given.
    given: usize,
    requests: Vec<RecordedRequest>,
    violations: Vec<String>,
    checker: Checker,
    counter: Option<Counter>,
}

/// Answer to a request.
enum ServedAnswer {
    Reply { reply: Box<ScriptedReply>, request: usize },
    Refusal { code: u16, kind: &'static str, words: String },
}

impl SharedScript {
    pub(super) fn new(
        protocol: Protocol,
        script: VecDeque<ScriptedReply>,
        key: Option<String>,
        context: Option<CountedContext>,
    ) -> SharedScript {
        let state = ServeState {
            script,
            given: 0,
            requests: Vec::new(),
            violations: Vec::new(),
            checker: Checker::new(protocol),
            counter: context.map(Counter::new),
        };
        let (gates, connections) = (Gates::new(), AtomicUsize::new(0));
        let speech = speech_of(protocol);
        SharedScript { protocol, speech, key, gates, connections, state: Mutex::new(state) }
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    pub(super) fn gates(&self) -> &Gates {
        &self.gates
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(super) fn recorded(&self) -> Vec<RecordedRequest> {
        self.state().requests.clone()
    }

    pub(super) fn counted(&self) -> Vec<CountedRequest> {
        self.state().counter.as_ref().map(|counter| counter.requests().to_vec()).unwrap_or_default()
    }

    /// Takes what went wrong so far, and the replies that nobody asked for.
    pub(super) fn claim(&self) -> Vec<String> {
        let mut state = self.state();
        let mut faults = std::mem::take(&mut state.violations);
        let given = state.given;
        let left = std::mem::take(&mut state.script).into_iter().filter(|reply| !reply.forever);
        faults.extend(left.enumerate().map(|(at, reply)| {
            format!("reply {} was never asked for: {reply:?}", given.saturating_add(at))
        }));
        faults
    }

    /// A test that panics with the state in hand has already failed.
    fn state(&self) -> MutexGuard<'_, ServeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, recorded: RecordedRequest, is_post: bool) -> ServedAnswer {
        let mut state = self.state();
        let request = state.requests.len();
        let (mut faults, is_wrong_key) = self.faults(&recorded, is_post);
        if let Some(refusal) = state.count(self.protocol, self.speech, &recorded) {
            state.requests.push(recorded);
            return refusal;
        }
        let reply = state.next_reply(&recorded.said);
        match &reply {
            Some(reply) => {
                let ServeState { given, checker, .. } = &mut *state;
                *given = given.saturating_add(1);
                reply.known_ids.iter().for_each(|id| checker.gave_id(id.as_str()));
                let conversation = reply.conversation_of(&recorded.said);
                faults.extend(checker.check(&conversation, &recorded.raw));
                faults.extend(reply.unmet(&recorded.said));
            }
            None => faults.push(format!("the script has only {} replies", state.given)),
        }
        let numbered = faults.iter().map(|fault| format!("request {request}: {fault}"));
        state.violations.extend(numbered);
        state.requests.push(recorded);
        match reply {
            Some(reply) if faults.is_empty() => {
                ServedAnswer::Reply { reply: Box::new(reply), request }
            }
            _ if is_wrong_key => ServedAnswer::Refusal {
                code: 401,
                kind: "authentication_error",
                words: "invalid x-api-key".to_owned(),
            },
            _ => ServedAnswer::Refusal {
                code: 400,
                kind: "invalid_request_error",
                words: faults.join("; "),
            },
        }
    }

    /// Faults of a request apart from its body, and true if its key is wrong.
    fn faults(&self, recorded: &RecordedRequest, is_post: bool) -> (Vec<String>, bool) {
        let RecordedRequest { path, headers, .. } = recorded;
        let mut faults = Vec::new();
        let place = self.speech.path();
        if !is_post || path != place {
            faults.push(format!("the request goes to {path}, not by POST to {place}"));
        }
        faults.extend(header_faults(self.speech.headers(), headers));
        let (name, before) = self.speech.key();
        faults.extend(leaks(name, recorded));
        let key =
            headers.get(name).and_then(|value| value.strip_prefix(before)).unwrap_or_default();
        let is_wrong = match &self.key {
            Some(expected) => key != expected,
            None => key.is_empty(),
        };
        if is_wrong {
            faults.push(format!("{name} is missing or is not the expected key"));
        }
        (faults, is_wrong)
    }

    /// An error in the protocol's form.
    fn refusal(&self, code: u16, kind: &str, words: &str) -> Response<ReplyBody> {
        let code = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_REQUEST);
        whole(code, self.speech.error(kind, words).to_string())
    }

    /// An answer that the script gives in place of a stream.
    fn status(&self, status: &StatusAnswer) -> Response<ReplyBody> {
        let body = match &status.body {
            StatusBody::Words(words) => words.clone(),
            StatusBody::Error { kind, message } => self.speech.error(kind, message).to_string(),
        };
        let mut response = match StatusCode::from_u16(status.code) {
            Ok(code) => whole(code, body),
            Err(error) => return self.refusal(400, "script", &format!("bad status: {error}")),
        };
        for (name, value) in &status.headers {
            let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
            else {
                self.violation(format!("the script's header {name}: {value} is no header"));
                continue;
            };
            response.headers_mut().insert(name, value);
        }
        response
    }

    fn violation(&self, words: String) {
        self.state().violations.push(words);
    }
}

impl ServeState {
    /// Counts a request; its refusal, if it is too long.
    fn count(
        &mut self,
        protocol: Protocol,
        speech: &dyn Speech,
        recorded: &RecordedRequest,
    ) -> Option<ServedAnswer> {
        let sent = speech.read(&recorded.raw, &recorded.body).sent?;
        let (code, kind, words) = self.counter.as_mut()?.take(protocol, &sent).err()?;
        Some(ServedAnswer::Refusal { code, kind, words })
    }

    /// The script's next reply to a request: the first that is kept for its conversation, else the first that is kept for
    /// none.
    fn next_reply(&mut self, said: &Value) -> Option<ScriptedReply> {
        let kept = self.script.iter().position(|reply| reply.is_kept_for(said));
        let any = || self.script.iter().position(|reply| reply.begins_with.is_none());
        let at = kept.or_else(any)?;
        match self.script.get(at) {
            Some(reply) if reply.forever => Some(reply.clone()),
            _ => self.script.remove(at),
        }
    }
}

fn header_faults<'a>(
    wanted: &'static [(&'static str, &'static str)],
    headers: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = String> + 'a {
    wanted.iter().filter_map(|(name, start)| {
        let fits = headers.get(*name).is_some_and(|value| value.starts_with(start));
        (!fits).then(|| format!("the header {name} is missing or wrong"))
    })
}

/// A key has one place, its header.
fn leaks<'a>(key: &'static str, request: &'a RecordedRequest) -> impl Iterator<Item = String> + 'a {
    let others = request.headers.iter().filter(move |(name, _)| *name != key);
    let headers = others.map(|(name, value)| (name.as_str(), value));
    let places =
        [("the path", &request.path), ("the body", &request.raw)].into_iter().chain(headers);
    places.filter_map(|(place, text)| {
        Some(format!("{place} shows {}", planted::find(text.as_bytes())?))
    })
}

/// Accepts connections until it is dropped.
pub(super) async fn serve(listener: std::net::TcpListener, shared: Arc<SharedScript>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return shared.violation(format!("cannot listen: {error}")),
    };
    loop {
        let socket = match listener.accept().await {
            Ok((socket, _)) => socket,
            Err(error) => return shared.violation(format!("cannot accept: {error}")),
        };
        // Small pieces must go out as they are made, not when the other side has acknowledged.
        let _ = socket.set_nodelay(true);
        shared.connections.fetch_add(1, Ordering::SeqCst);
        let shared = shared.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| handle(request, shared.clone()));
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service);
            // Broken connections are part of the script, and clients may leave.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the scripted model ended");
            }
        });
    }
}

async fn handle(
    request: Request<Incoming>,
    shared: Arc<SharedScript>,
) -> Result<Response<ReplyBody>, io::Error> {
    let (parts, body) = request.into_parts();
    if parts.method == Method::GET {
        // It lists nothing and tells nothing of itself, as many servers don't; that is no part of the script.
        return Ok(whole(StatusCode::NOT_FOUND, String::new()));
    }
    let raw = match Limited::new(body, MOST_BYTES).collect().await {
        Ok(body) => String::from_utf8_lossy(&body.to_bytes()).into_owned(),
        Err(error) => {
            let words = format!("the request cannot be read: {error}");
            shared.violation(words.clone());
            return Ok(shared.refusal(400, "invalid_request_error", &words));
        }
    };
    let at = Instant::now();
    let body: serde_json::Value = serde_json::from_str(&raw).unwrap_or_default();
    let said = shared.speech.read(&raw, &body).said;
    let recorded = RecordedRequest {
        at,
        path: parts.uri.path().to_owned(),
        headers: header_map(&parts.headers),
        said: said.clone(),
        body,
        raw,
    };
    match shared.answer(recorded, parts.method == Method::POST) {
        ServedAnswer::Refusal { code, kind, words } => Ok(shared.refusal(code, kind, &words)),
        ServedAnswer::Reply { reply, request } => {
            // Outside of the lock: the closure is the test's.
            let mut reply = match &reply.from_request {
                Some(make) => Box::new(make(&said)),
                None => reply,
            };
            {
                let mut state = shared.state();
                state.checker.gave(request, &reply);
                state.counter.iter_mut().for_each(|counter| counter.count(request, &mut reply));
            }
            send(*reply, request, shared).await
        }
    }
}

fn header_map(headers: &HeaderMap) -> BTreeMap<String, String> {
    let texts = headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    texts.collect()
}

fn whole(code: StatusCode, body: String) -> Response<ReplyBody> {
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response
}

async fn send(
    reply: ScriptedReply,
    request: usize,
    shared: Arc<SharedScript>,
) -> Result<Response<ReplyBody>, io::Error> {
    // The client may leave while the answer waits at a gate: this future is dropped then.
    let mut watch = ReplyWatch { shared: shared.clone(), is_complete: false };
    for (_, act) in reply.acts.iter().filter(|(place, _)| *place == ReplyPlace::Answer) {
        match act {
            Act::Gate(name) => shared.gates.pass(name).await,
            Act::Drop | Act::Finish => {
                watch.complete();
                return Err(dropped());
            }
            Act::Event(_) | Act::Error { .. } => {}
        }
    }
    if let Some(status) = &reply.status {
        watch.complete();
        return Ok(shared.status(status));
    }
    let steps: VecDeque<SpeechStep> = steps(shared.speech, &reply, request).into();
    let frames = stream::unfold((steps, watch), |(steps, watch)| next_frame(steps, watch));
    let mut response = Response::new(StreamBody::new(frames).boxed());
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

/// Goes on with the script until something is sent; None at its end.
async fn next_frame(
    mut steps: VecDeque<SpeechStep>,
    mut watch: ReplyWatch,
) -> Option<(io::Result<Frame<Bytes>>, (VecDeque<SpeechStep>, ReplyWatch))> {
    loop {
        match steps.pop_front() {
            Some(SpeechStep::Send(bytes)) => {
                let frame = Ok(Frame::data(Bytes::from(bytes)));
                if steps.is_empty() {
                    watch.complete();
                }
                return Some((frame, (steps, watch)));
            }
            Some(SpeechStep::Gate(name)) => watch.shared.gates.pass(&name).await,
            Some(SpeechStep::Drop) => {
                watch.complete();
                // Bytes sent before go out when the body pauses, and not otherwise.
                tokio::task::yield_now().await;
                return Some((Err(dropped()), (VecDeque::new(), watch)));
            }
            None => {
                watch.complete();
                return None;
            }
        }
    }
}

fn dropped() -> io::Error {
    io::Error::other("the script drops the connection here")
}

/// Notices a reply that ends before its end.
struct ReplyWatch {
    shared: Arc<SharedScript>,
    is_complete: bool,
}

impl ReplyWatch {
    fn complete(&mut self) {
        self.is_complete = true;
    }
}

impl Drop for ReplyWatch {
    fn drop(&mut self) {
        if !self.is_complete {
            self.shared.gates.abandon();
        }
    }
}
