//! Recordings of what went to a model and came back, and models that play them.
//!
//! A recording is JSON lines: a head, then for each request what is new in it, what came back delta by delta, and
//! how it ended. It holds no header and no key, so it can be shown to others as far as the conversation can. What
//! lies below the deltas (bytes, events of the protocol) is not in it.

mod play;

pub use play::{Player, Tape};

use crate::{
    Delta, Keys, Message, Model, ModelError, ModelRequest, Piece, Prelude, ToolDeclaration,
    clean::Clean, listing::Listing,
};
use futures::{
    StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use ropewalk_protocol::{ModelLimits, Price};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// The format's version. A recording of a later one is refused.
pub const VERSION: u32 = 1;

/// Whom a recording is of: enough to write the same requests again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapeHead {
    /// The format.
    pub version: u32,
    /// The provider, by its name in the configuration.
    pub provider: String,
    /// The model, as the server knows it.
    pub model: String,
    /// The protocol, by its name.
    pub protocol: String,
    /// Where the server was: servers differ in what they take.
    pub base_url: String,
    /// Tokens that the model could take.
    pub context: Option<u32>,
    /// Its longest reply.
    pub output: Option<u32>,
    /// Price of its tokens.
    pub price: Option<Price>,
    /// True if calls that it printed as text were run.
    #[serde(default)]
    pub printed_calls: bool,
    /// True if it was configured to get the lean set; none goes by its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lean: Option<bool>,
    /// The date that the model was told.
    pub date: String,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TapeLine<'a> {
    Recording(TapeHead),
    Request {
        /// System prompt and tools; none if they are as in the request before.
        prelude: Option<Cow<'a, str>>,
        /// How many messages it shares with the request before, from the first.
        kept: usize,
        /// Messages that follow.
        messages: Vec<Cow<'a, str>>,
        max_tokens: u32,
    },
    Delta(Cow<'a, Delta>),
    Failed(Cow<'a, ModelError>),
    /// Nothing more comes.
    End,
}

/// A model that writes down what goes to another and comes back.
#[derive(Clone)]
pub struct Recorded {
    model: Arc<dyn Model>,
    recorder: Recorder,
}

/// Where recordings go. Cloning shares it.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<Out>>);

struct Out {
    out: Box<dyn Write + Send>,
    before: Option<(Prelude, Vec<Piece>)>,
    failure: Option<String>,
}

impl Recorder {
    /// Begins a recording. A failure to write is kept for [`Recorder::failure`].
    pub fn begin(out: Box<dyn Write + Send>, head: TapeHead) -> Recorder {
        let recorder = Recorder(Arc::new(Mutex::new(Out { out, before: None, failure: None })));
        let base_url = without_user(head.base_url);
        let head = TapeHead { version: VERSION, base_url, ..head };
        recorder.with(|out| out.write(&TapeLine::Recording(head), &Keys::default()));
        recorder
    }

    /// A model whose exchanges are recorded.
    pub fn of(&self, model: Arc<dyn Model>) -> Recorded {
        Recorded { model, recorder: self.clone() }
    }

    /// Why the recording is not whole, if it is not.
    pub fn failure(&self) -> Option<String> {
        self.with(|out| out.failure.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Out) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The URL without user and password; one that is none is left as it is, since nothing was sent there.
fn without_user(url: String) -> String {
    let Ok(mut parsed) = reqwest::Url::parse(url.trim()) else { return url };
    let is_open = parsed.username().is_empty() && parsed.password().is_none();
    let is_taken = parsed.set_username("").is_ok() && parsed.set_password(None).is_ok();
    if is_taken && !is_open { parsed.into() } else { url }
}

impl Out {
    fn request(&mut self, request: &ModelRequest, keys: &Keys) {
        let (prelude, kept) = match &self.before {
            Some((prelude, pieces)) => {
                let same = pieces.iter().zip(&request.pieces).take_while(|(a, b)| a == b).count();
                let is_other = *prelude != request.prelude;
                (is_other.then(|| request.prelude.as_str()), same)
            }
            None => (Some(request.prelude.as_str()), 0),
        };
        // Redacted before they are serialised, which would spell a key in other ways than it is looked for.
        let prelude = prelude.map(|prelude| keys.redact(prelude));
        let messages = request.pieces.iter().skip(kept).map(|piece| keys.redact(piece)).collect();
        self.write(
            &TapeLine::Request { prelude, kept, messages, max_tokens: request.max_tokens },
            keys,
        );
        self.before = Some((request.prelude.clone(), request.pieces.clone()));
    }

    /// Writes one piece of the reply; none says that nothing more comes.
    fn reply(&mut self, reply: Option<&Result<Delta, ModelError>>, clean: &mut Clean, keys: &Keys) {
        match reply {
            Some(Ok(delta)) => clean.take(delta.clone()),
            _ => clean.close(),
        }
        for delta in clean.ready.drain(..) {
            self.write(&TapeLine::Delta(Cow::Owned(delta)), keys);
        }
        match reply {
            Some(Ok(_)) => {}
            Some(Err(error)) => self.write(&TapeLine::Failed(Cow::Borrowed(error)), keys),
            None => self.write(&TapeLine::End, keys),
        }
    }

    fn write(&mut self, line: &TapeLine<'_>, keys: &Keys) {
        if self.failure.is_some() {
            return;
        }
        let written = serde_json::to_string(line).map_err(std::io::Error::other).and_then(|line| {
            self.out.write_all(keys.redact(&line).as_bytes())?;
            self.out.write_all(b"\n")?;
            self.out.flush()
        });
        self.failure = written.err().map(|error| error.to_string());
    }
}

#[deny(clippy::missing_trait_methods)]
impl Model for Recorded {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn limits(&self) -> ModelLimits {
        self.model.limits()
    }

    fn learn_output(&self, most: Option<u32>) {
        self.model.learn_output(most);
    }

    fn thinking_tokens(&self) -> u32 {
        self.model.thinking_tokens()
    }

    fn price(&self) -> Option<Price> {
        self.model.price()
    }

    fn takes_printed_calls(&self) -> bool {
        self.model.takes_printed_calls()
    }

    fn reads_calls_when(&self) -> Option<String> {
        self.model.reads_calls_when()
    }

    fn lacks_tools(&self) -> Option<String> {
        self.model.lacks_tools()
    }

    fn end_in_words(&self, today: &str) -> Option<String> {
        self.model.end_in_words(today)
    }

    fn is_lean(&self) -> bool {
        self.model.is_lean()
    }

    /// Facts found out on the way would be in no recording: those known at first count.
    fn find_context(&self) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }

    fn more_context(&self) -> Option<String> {
        self.model.more_context()
    }

    fn list(&self) -> BoxFuture<'static, Result<Arc<Listing>, ModelError>> {
        self.model.list()
    }

    fn known_list(&self) -> Option<Arc<Listing>> {
        self.model.known_list()
    }

    fn keys(&self) -> Keys {
        self.model.keys()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        self.model.ready()
    }

    fn encode(&self, message: &Message) -> Piece {
        self.model.encode(message)
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.model.encode_prelude(system, tools)
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        let Recorded { model, recorder } = self.clone();
        stream::once(async move {
            // Before it is known what must not be written, nothing is.
            if let Err(error) = model.ready().await {
                return stream::once(async { Err(error) }).boxed();
            }
            let keys = model.keys();
            recorder.with(|out| out.request(&request, &keys));
            let mut clean = Clean::of(&keys);
            let replies = model.stream(request).map(Some).chain(stream::once(async { None }));
            let heard = replies.inspect(move |reply| {
                recorder.with(|out| out.reply(reply.as_ref(), &mut clean, &keys));
            });
            heard.filter_map(|reply| async { reply }).boxed()
        })
        .flatten()
        .boxed()
    }

    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        self.model.probe()
    }
}
