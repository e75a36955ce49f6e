//! One request and its streamed answer, with limits and retries: what all protocols share.
//!
//! A small state machine polled by whoever reads the reply; nothing runs beside it, so dropping it
//! cancels everything. What bytes mean is the protocol's, through [`Wire`].

mod clean;

use crate::{
    Delta, Http, Keys, ModelError, Patience, Retry,
    error::in_brief,
    protocol::Wire,
    reader::ReplyReader,
    refusal::{Refused, refused},
};
use bytes::Bytes;
use clean::Clean;
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER},
};
use std::{collections::VecDeque, error::Error as _, sync::Arc, time::Duration};
use tokio::time::timeout;

/// The longest error body that is looked at.
const MOST_ERROR_BYTES: usize = 64 << 10;
/// How long the rest of a complete reply is waited for, so that its connection can be used again.
const TAIL: Duration = Duration::from_millis(500);
/// How long the last event of a reply is waited for when all that matters has come.
const LINGER: Duration = Duration::from_secs(5);
/// How long [`look`] waits for an answer.
const LOOK: Duration = Duration::from_secs(10);

/// Where and how to send.
pub(crate) struct Line {
    pub(crate) http: Http,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// The model's name, for the server's complaints.
    pub(crate) model: String,
    pub(crate) keys: Keys,
    pub(crate) retry: Retry,
    pub(crate) patience: Patience,
}

impl Line {
    fn host(&self) -> String {
        host_of(&self.url)
    }

    fn first_limit(&self) -> Duration {
        self.patience.first_for(&self.url)
    }

    /// Words from outside, fit to be shown: brief, and without the key.
    fn words(&self, text: &str) -> String {
        // The key goes first: cut in half by the brevity it would not be found.
        in_brief(&self.keys.strike(text))
    }
}

/// Host and port of a URL, without user and password.
pub(crate) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or("?");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Sends `body` and streams the answer.
pub(crate) fn stream(
    line: Arc<Line>,
    wire: Arc<dyn Wire>,
    body: impl FnOnce() -> Result<Bytes, ModelError> + Send + 'static,
) -> BoxStream<'static, Result<Delta, ModelError>> {
    stream::once(async move {
        let (body, failure) = match body() {
            Ok(body) => (body, None),
            Err(error) => (Bytes::new(), Some(error)),
        };
        let state = failure.map_or(State::Send, State::Failed);
        let clean = Clean::new(line.keys.striker());
        let exchange =
            Box::new(Exchange { line, wire, body, tried: 0, out: VecDeque::new(), clean, state });
        stream::unfold(exchange, async |mut exchange| {
            exchange.next().await.map(|delta| (delta, exchange))
        })
    })
    .flatten()
    .boxed()
}

struct Exchange {
    line: Arc<Line>,
    wire: Arc<dyn Wire>,
    body: Bytes,
    /// Tries begun.
    tried: u32,
    out: VecDeque<Delta>,
    clean: Clean,
    state: State,
}

enum State {
    Send,
    Read(Box<Reading>),
    Wait(Duration),
    Failed(ModelError),
    Over,
}

struct Reading {
    response: Response,
    reader: ReplyReader,
}

impl Exchange {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.clean.ready.pop_front() {
                return Some(Ok(delta));
            }
            if let Some(delta) = self.out.pop_front() {
                self.clean.take(delta);
                continue;
            }
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return None,
                State::Failed(error) => {
                    self.clean.close();
                    match self.clean.ready.pop_front() {
                        Some(delta) => {
                            self.state = State::Failed(error);
                            return Some(Ok(delta));
                        }
                        None => return Some(Err(error)),
                    }
                }
                State::Wait(wait) => {
                    tokio::time::sleep(wait).await;
                    self.state = State::Send;
                }
                State::Send => match self.send().await {
                    Ok(reading) => self.state = State::Read(reading),
                    Err(error) => self.fail(error),
                },
                State::Read(mut reading) => match self.read(&mut reading).await {
                    Ok(true) => drain(reading).await,
                    Ok(false) => self.state = State::Read(reading),
                    Err(error) => self.fail(error),
                },
            }
        }
    }

    /// Tries again if that can help. What the failed try said is void, read or not.
    fn fail(&mut self, error: ModelError) {
        let Some(wait) = self.line.retry.wait(self.tried, &error) else {
            self.state = State::Failed(error);
            return;
        };
        tracing::info!(%error, tried = self.tried, ?wait, "the model's reply is asked for again");
        self.out.clear();
        let attempt = self.tried.saturating_add(1);
        self.out.push_back(Delta::Retrying { attempt, wait, reason: error.to_string() });
        self.state = State::Wait(wait);
    }

    async fn send(&mut self) -> Result<Box<Reading>, ModelError> {
        self.tried = self.tried.saturating_add(1);
        let line = &self.line;
        let request = line
            .http
            .client(&line.url)?
            .post(line.url.clone())
            .headers(line.headers.clone())
            .body(self.body.clone());
        let limit = line.first_limit();
        let stalled = ModelError::Stalled { after: limit, begun: false };
        let response = timeout(limit, request.send())
            .await
            .map_err(|_| stalled)?
            .map_err(|error| self.broken(&error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if let Some(kind) = kind
            && !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
        {
            let why = format!("it sends {} in place of an event stream", line.words(kind));
            return Err(ModelError::NotAModelServer { host: line.host(), why });
        }
        Ok(Box::new(Reading { response, reader: ReplyReader::new(self.wire.decoder()) }))
    }

    /// Reads the next bytes; true when the reply is complete.
    async fn read(&mut self, reading: &mut Reading) -> Result<bool, ModelError> {
        let begun = reading.reader.begun();
        let whole = reading.reader.whole();
        let limit = match begun {
            _ if whole => LINGER,
            true => self.line.patience.idle,
            false => self.line.first_limit(),
        };
        let why = match timeout(limit, reading.response.chunk()).await {
            Ok(Ok(Some(chunk))) => {
                let fed = reading.reader.feed(&chunk, &mut self.out);
                return fed.map_err(|error| self.struck(error));
            }
            // However it ended: what is whole stays.
            _ if reading.reader.end(&mut self.out) => return Ok(true),
            Ok(Ok(None)) => "the stream ended before the reply did".to_owned(),
            Ok(Err(error)) => return Err(self.broken(&error)),
            Err(_) => return Err(ModelError::Stalled { after: limit, begun }),
        };
        Err(ModelError::Cut { why })
    }

    /// A failure of the connection, in this room's words.
    fn broken(&self, error: &reqwest::Error) -> ModelError {
        let mut innermost: &dyn std::error::Error = error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        // The outermost sentence holds the whole URL; the innermost is the system's own.
        let why = if error.is_timeout() {
            "no connection within 20 s".to_owned()
        } else if error.source().is_none() {
            "the request could not be sent".to_owned()
        } else {
            self.line.words(&innermost.to_string())
        };
        if error.is_connect() {
            ModelError::Unreachable { host: self.line.host(), why }
        } else {
            ModelError::Cut { why }
        }
    }

    async fn refusal(&self, mut response: Response) -> ModelError {
        let status = response.status();
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = asked.and_then(retry_after);
        let mut body = Vec::new();
        // An error's body is a courtesy: what doesn't come soon is done without.
        let reading = async {
            while let Ok(Some(chunk)) = response.chunk().await {
                body.extend_from_slice(&chunk);
                if body.len() > MOST_ERROR_BYTES {
                    break;
                }
            }
        };
        let _ = timeout(Duration::from_secs(5), reading).await;
        body.truncate(MOST_ERROR_BYTES);
        let body = String::from_utf8_lossy(&body);
        let host = self.line.host();
        let (path, model) = (response.url().path(), self.line.model.as_str());
        let status = status.as_u16();
        self.struck(refused(&Refused {
            status,
            host: &host,
            path,
            model,
            body: &body,
            retry_after,
        }))
    }

    /// The error with its words from outside made brief, and the key struck from them.
    fn struck(&self, mut error: ModelError) -> ModelError {
        match &mut error {
            ModelError::InvalidRequest { message: words }
            | ModelError::ContextLength { message: words }
            | ModelError::NotPermitted { message: words, .. }
            | ModelError::Server { message: words }
            | ModelError::TooLarge { what: words }
            | ModelError::NotAModelServer { why: words, .. } => *words = self.line.words(words),
            _ => {}
        }
        error
    }
}

/// Asks for `url` once, with the headers of every request and no body: whether the server is there and
/// takes the key.
pub(crate) async fn look(line: Arc<Line>, wire: Arc<dyn Wire>, url: Url) -> Result<(), ModelError> {
    let exchange = Exchange {
        line,
        wire,
        body: Bytes::new(),
        tried: 0,
        out: VecDeque::new(),
        clean: Clean::default(),
        state: State::Over,
    };
    let line = &exchange.line;
    let path = url.path().to_owned();
    let request = line.http.client(&url)?.get(url).headers(line.headers.clone());
    let response = timeout(LOOK, request.send())
        .await
        .map_err(|_| ModelError::Stalled { after: LOOK, begun: false })?
        .map_err(|error| exchange.broken(&error))?;
    match response.status() {
        status if status.is_success() => Ok(()),
        // What a protocol's own 404 says of a model does not hold here.
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            Err(ModelError::NotAModelServer {
                host: line.host(),
                why: format!("it has nothing at {path}"),
            })
        }
        _ => Err(exchange.refusal(response).await),
    }
}

/// Reads to the end of a complete reply, so that the connection goes back to the pool.
async fn drain(mut reading: Box<Reading>) {
    let tail = async { while let Ok(Some(_)) = reading.response.chunk().await {} };
    if timeout(TAIL, tail).await.is_err() {
        tracing::debug!("the server holds the connection after the reply; it is closed");
    }
}

/// The seconds of a `retry-after` header; its other form, a date, is not used by model servers.
fn retry_after(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
