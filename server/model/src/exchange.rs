//! One request and its streamed answer, with limits and retries: what all protocols share.
//!
//! A small state machine polled by whoever reads the reply; nothing runs beside it, so dropping it
//! cancels everything. What bytes mean is the protocol's, through [`Wire`].

mod line;

pub(crate) use line::ServerLine;

use crate::{Delta, ModelError, clean::Clean, reader::ReplyReader, wire::Wire};
use bytes::Bytes;
use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use reqwest::{Response, Url};
use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, timeout, timeout_at},
};

/// How long the rest of a complete reply is waited for, so that its connection can be used again.
const TAIL: Duration = Duration::from_millis(100);
/// How long the last event of a reply is waited for when all that matters has come.
const LINGER: Duration = Duration::from_secs(5);
/// After how long a wait for the server is first told; then each time it has doubled, and
const FIRST_WORD: Duration = Duration::from_secs(5);
/// at least this often.
const NEXT_WORD: Duration = Duration::from_secs(30);
/// How often a wait before the next try is told anew.
const COUNT_DOWN: Duration = Duration::from_secs(5);

/// Host and port of a URL, without user and password.
pub(crate) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or("?");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Sends `body` and streams the answer.
pub(crate) fn stream(
    line: Arc<ServerLine>,
    wire: Arc<dyn Wire>,
    body: impl FnOnce() -> Result<Bytes, ModelError> + Send + 'static,
) -> BoxStream<'static, Result<Delta, ModelError>> {
    stream::once(async move {
        let (body, failure) = match body() {
            Ok(body) => (body, None),
            Err(error) => (Bytes::new(), Some(error)),
        };
        let state = failure.map_or(Phase::Start, Phase::Failed);
        let clean = Clean::of(&line.keys);
        let exchange = Box::new(Exchange {
            line,
            wire,
            body,
            tried: 0,
            begun: Instant::now(),
            failing: None,
            since: Instant::now(),
            told: Duration::ZERO,
            out: VecDeque::new(),
            clean,
            state,
        });
        stream::unfold(exchange, async |mut exchange| {
            exchange.next().await.map(|delta| (delta, exchange))
        })
    })
    .flatten()
    .boxed()
}

struct Exchange {
    line: Arc<ServerLine>,
    wire: Arc<dyn Wire>,
    body: Bytes,
    /// Tries begun.
    tried: u32,
    /// When the last of them began.
    begun: Instant,
    /// Since when errors come that are bounded by a time.
    failing: Option<Instant>,
    /// When the server was asked, or last said something.
    since: Instant,
    /// How much of the wait since then was told.
    told: Duration,
    out: VecDeque<Delta>,
    clean: Clean,
    state: Phase,
}

/// Its turn at a server that answers only so many requests at a time.
type ServerTurn = Option<OwnedSemaphorePermit>;

enum Phase {
    Start,
    Queue(BoxFuture<'static, ServerTurn>),
    Send(BoxFuture<'static, Result<Response, ModelError>>, ServerTurn),
    Read(Box<OpenResponse>),
    /// All of the reply is read; the end of its answer is not.
    Drain(Box<OpenResponse>),
    /// So long until the next try, for this reason.
    Wait(Duration, String),
    Failed(ModelError),
    Over,
}

struct OpenResponse {
    response: Response,
    reader: ReplyReader,
    /// When the last bytes came, whatever they said.
    last: Instant,
    /// Since when all that matters is here.
    whole: Option<Instant>,
    /// Held until the answer is read.
    turn: ServerTurn,
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
            match std::mem::replace(&mut self.state, Phase::Over) {
                Phase::Over => return None,
                Phase::Failed(error) => return Some(self.last_words(error)),
                Phase::Wait(wait, reason) => self.wait_out(wait, reason).await,
                Phase::Start => {
                    self.tried = self.tried.saturating_add(1);
                    self.begun = Instant::now();
                    self.spoken();
                    self.state = Phase::Queue(self.queue());
                }
                Phase::Queue(mut queue) => match timeout_at(self.next_word(), &mut queue).await {
                    Ok(turn) => {
                        self.spoken();
                        self.state = Phase::Send(self.send(), turn);
                    }
                    Err(_) => {
                        self.tell(true);
                        self.state = Phase::Queue(queue);
                    }
                },
                Phase::Send(mut sent, turn) => {
                    match timeout_at(self.next_word(), &mut sent).await {
                        Ok(Ok(response)) => {
                            let reader = ReplyReader::new(self.wire.decoder());
                            let last = Instant::now();
                            let reading =
                                OpenResponse { response, reader, last, whole: None, turn };
                            self.state = Phase::Read(Box::new(reading));
                        }
                        Ok(Err(error)) => self.fail(error),
                        Err(_) => {
                            self.tell(false);
                            self.state = Phase::Send(sent, turn);
                        }
                    }
                }
                Phase::Drain(reading) => drain(*reading).await,
                Phase::Read(mut reading) => match self.read(&mut reading).await {
                    // Whoever reads gets what there is first.
                    Ok(true) => self.state = Phase::Drain(reading),
                    Ok(false) => self.state = Phase::Read(reading),
                    Err(error) => self.fail(error),
                },
            }
        }
    }

    /// The rest of what was said before the failure, then the failure.
    fn last_words(&mut self, error: ModelError) -> Result<Delta, ModelError> {
        self.clean.close();
        let Some(delta) = self.clean.ready.pop_front() else { return Err(error) };
        self.state = Phase::Failed(error);
        Ok(delta)
    }

    /// Tries again if that can help. What the failed try said is void, read or not; what it cost is not.
    fn fail(&mut self, error: ModelError) {
        let retry = &self.line.retry;
        // A try that reaches nobody takes time itself; one that is refused may have waited for its turn, or answered long.
        let since = match error {
            ModelError::Unreachable { .. } => self.begun,
            _ => Instant::now(),
        };
        self.failing = retry.bound_of(&error).map(|_| self.failing.unwrap_or(since));
        let lasting = self.failing.map_or(Duration::ZERO, |since| since.elapsed());
        let Some(wait) = retry.wait_after(self.tried, lasting, &error, chance()) else {
            self.state = Phase::Failed(error);
            return;
        };
        tracing::info!(%error, tried = self.tried, ?wait, "the model's reply is asked for again");
        let used = self.out.drain(..).rfind(|delta| matches!(delta, Delta::Usage(_)));
        self.out.extend(used);
        self.wait(wait, error.reason());
    }

    /// Waits so long before the next try, and says so.
    fn wait(&mut self, wait: Duration, reason: String) {
        let attempt = self.tried.saturating_add(1);
        self.out.push_back(Delta::Retrying { attempt, wait, reason: reason.clone() });
        self.state = Phase::Wait(wait, reason);
    }

    /// Waits until the next try, or until the time that is left is a multiple of [`COUNT_DOWN`] and told anew.
    async fn wait_out(&mut self, wait: Duration, reason: String) {
        let rest = wait.as_nanos().checked_rem(COUNT_DOWN.as_nanos()).unwrap_or(0);
        let rest = u64::try_from(rest).map(Duration::from_nanos).unwrap_or_default();
        let next = if rest.is_zero() { wait.min(COUNT_DOWN) } else { rest };
        if !next.is_zero() {
            tokio::time::sleep(next).await;
        }
        match wait.saturating_sub(next) {
            Duration::ZERO => self.state = Phase::Start,
            left => self.wait(left, reason),
        }
    }

    /// The server has been asked, or has said something: a wait begins anew.
    fn spoken(&mut self) {
        (self.since, self.told) = (Instant::now(), Duration::ZERO);
    }

    fn next_word(&self) -> Instant {
        let next = self.told.saturating_mul(2).min(self.told.saturating_add(NEXT_WORD));
        self.since.checked_add(next.max(FIRST_WORD)).unwrap_or(self.since)
    }

    fn tell(&mut self, is_queued: bool) {
        // Whole seconds: nobody counts finer, and each word is later than the one before.
        self.told = Duration::from_secs(self.since.elapsed().as_secs());
        self.out.push_back(Delta::Waiting { waited: self.told, is_queued });
    }

    fn queue(&self) -> BoxFuture<'static, ServerTurn> {
        let queue = self.line.parallel.map(|most| self.line.http.queue(&self.line.host(), most));
        // It is never closed; if it were, nobody would have to wait.
        async move { queue?.acquire_owned().await.ok() }.boxed()
    }

    fn send(&self) -> BoxFuture<'static, Result<Response, ModelError>> {
        let (line, body) = (self.line.clone(), self.body.clone());
        async move {
            let client = line.http.client(&line.url)?;
            let request = client.post(line.url.clone()).headers(line.headers.clone()).body(body);
            let limit = line.first_limit();
            let response = timeout(limit, request.send())
                .await
                .map_err(|_| ModelError::Stalled { after: limit, begun: false })?
                .map_err(|error| line.broken(&error))?;
            line.accept(response).await
        }
        .boxed()
    }

    /// Reads the next bytes; true when the reply is complete.
    async fn read(&mut self, reading: &mut OpenResponse) -> Result<bool, ModelError> {
        let begun = reading.reader.begun();
        let (first, patience) = (self.line.first_limit(), &self.line.patience);
        let limits = match (reading.whole, begun) {
            (Some(whole), _) => [(whole, LINGER); 2],
            (None, true) => [(reading.last, patience.idle), (self.since, patience.pings)],
            (None, false) => [(self.since, first); 2],
        };
        let left = limits.map(|(from, limit)| (limit.saturating_sub(from.elapsed()), limit));
        let (left, limit) = left.into_iter().min().unwrap_or_default();
        let end = Instant::now().checked_add(left).unwrap_or_else(|| self.next_word());
        // All that matters is here: nobody waits for the rest.
        let word = if reading.whole.is_some() { end } else { end.min(self.next_word()) };
        let why = match timeout_at(word, reading.response.chunk()).await {
            Ok(Ok(Some(chunk))) => {
                reading.last = Instant::now();
                let fed = reading.reader.feed(&chunk, &mut self.out);
                if !self.out.is_empty() {
                    self.spoken();
                }
                if reading.reader.whole() {
                    reading.whole.get_or_insert(reading.last);
                }
                return fed.map_err(|error| self.line.redacted(error));
            }
            Err(_) if word < end => {
                self.tell(false);
                return Ok(false);
            }
            // However it ended: what is whole stays.
            _ if reading.reader.end(&mut self.out) => return Ok(true),
            Ok(Ok(None)) => "the stream ended before the reply did".to_owned(),
            Ok(Err(error)) => return Err(self.line.broken(&error)),
            Err(_) => return Err(ModelError::Stalled { after: limit, begun }),
        };
        Err(ModelError::Cut { why })
    }
}

/// Reads to the end of a complete reply, so that the connection goes back to the pool. The next in turn need not
/// wait for that.
async fn drain(reading: OpenResponse) {
    let OpenResponse { mut response, turn, .. } = reading;
    drop(turn);
    let tail = async { while let Ok(Some(_)) = response.chunk().await {} };
    if timeout(TAIL, tail).await.is_err() {
        tracing::debug!("the server holds the connection after the reply; it is closed");
    }
}

/// Another number each time; hash maps are seeded well enough for that.
fn chance() -> u16 {
    let [low, high, ..] = RandomState::new().hash_one(0).to_le_bytes();
    u16::from_le_bytes([low, high])
}
