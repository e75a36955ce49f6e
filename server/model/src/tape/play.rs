//! Playing a recording as a model.

use super::{TapeHead, TapeLine, VERSION};
use crate::{
    Delta, Keys, Message, Model, ModelError, ModelRequest, Piece, Prelude, ToolDeclaration,
    listing::Listing,
};
use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use ropewalk_protocol::{ModelLimits, Price};
use std::{
    collections::VecDeque,
    io::BufRead,
    sync::{Arc, Mutex, PoisonError},
};

/// The longest recording that is read, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// How much of a difference is shown, in characters.
const SHOWN: usize = 60;

/// A recording that was read.
#[derive(Debug)]
pub struct Tape {
    /// Whom it is of.
    pub head: TapeHead,
    steps: VecDeque<TapeStep>,
}

/// One request and what came back.
#[derive(Debug, Default)]
struct TapeStep {
    prelude: Arc<str>,
    messages: Vec<Arc<str>>,
    max_tokens: u32,
    replies: Vec<Result<Delta, ModelError>>,
    /// True if it ended, well or badly; else whoever listened went away.
    is_whole: bool,
}

impl TapeStep {
    /// A request that has no answer yet.
    fn new(prelude: Arc<str>, messages: Vec<Arc<str>>, max_tokens: u32) -> Self {
        Self { prelude, messages, max_tokens, ..Self::default() }
    }
}

impl Tape {
    /// Reads a recording. O(bytes).
    ///
    /// # Errors
    /// The fault, in a sentence with the line.
    pub fn read(input: impl BufRead) -> Result<Tape, String> {
        let mut input = input.take(MOST_BYTES + 1);
        let mut head = None;
        let mut steps: VecDeque<TapeStep> = VecDeque::new();
        let (mut text, mut number) = (Vec::new(), 0_usize);
        loop {
            text.clear();
            number = number.saturating_add(1);
            let read = input.read_until(b'\n', &mut text).map_err(|error| error.to_string())?;
            if input.limit() == 0 {
                return Err(format!("it is longer than {} MB", MOST_BYTES >> 20));
            }
            if read == 0 {
                break;
            }
            let wrong = |what: &str| format!("line {number} {what}");
            let line = serde_json::from_slice::<TapeLine<'static>>(&text)
                .map_err(|error| wrong(&format!("can't be read: {error}")))?;
            match (line, &head) {
                (TapeLine::Recording(found), None) if found.version <= VERSION => {
                    head = Some(found)
                }
                (TapeLine::Recording(_), None) => {
                    return Err("it was written by a later version: update to play it".to_owned());
                }
                (_, None) => return Err(wrong("is not the head of a recording")),
                (TapeLine::Recording(_), _) => return Err(wrong("is a second head")),
                (TapeLine::Request { prelude, kept, messages, max_tokens }, _) => {
                    let before = steps.back();
                    let shared = before.map_or(&[][..], |step| &step.messages);
                    let shared = shared.get(..kept).ok_or_else(|| {
                        wrong("shares more messages with the request before than that has")
                    })?;
                    let more = messages.iter().map(|piece| Arc::from(&**piece));
                    let prelude = match (prelude, before) {
                        (Some(prelude), _) => Arc::from(&*prelude),
                        (None, Some(before)) => before.prelude.clone(),
                        (None, None) => return Err(wrong("has no system prompt")),
                    };
                    let messages = shared.iter().cloned().chain(more).collect();
                    steps.push_back(TapeStep::new(prelude, messages, max_tokens));
                }
                (line, _) => {
                    let step = steps.back_mut().ok_or_else(|| wrong("answers no request"))?;
                    if step.is_whole && line != TapeLine::End {
                        return Err(wrong("comes after the end of its answer"));
                    }
                    match line {
                        TapeLine::Delta(delta) => step.replies.push(Ok(delta.into_owned())),
                        TapeLine::Failed(error) => {
                            step.replies.push(Err(error.into_owned()));
                            step.is_whole = true;
                        }
                        _ => step.is_whole = true,
                    }
                }
            }
        }
        let head = head.ok_or_else(|| "it is empty".to_owned())?;
        Ok(Tape { head, steps })
    }
}

/// A model that plays a recording, request by request. Cloning shares its place in it.
#[derive(Clone)]
pub struct Player {
    model: Arc<dyn Model>,
    steps: Arc<Mutex<(VecDeque<TapeStep>, usize)>>,
    is_exact: bool,
}

impl Player {
    /// Plays `tape`. `model` is the one it is of: it serialises, and is never asked. Where `is_exact`, each request
    /// must be the recorded one; else it gets the first answer left to one with the same last message, and the next in
    /// order where there is none, which is logged.
    pub fn new(tape: Tape, model: Arc<dyn Model>, is_exact: bool) -> Player {
        Player { model, steps: Arc::new(Mutex::new((tape.steps, 0))), is_exact }
    }

    fn next(&self, request: &ModelRequest) -> Result<TapeStep, ModelError> {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let (steps, played) = &mut *steps;
        let other = |why: String| Err(ModelError::NotRecorded { why });
        *played = played.saturating_add(1);
        let asks_the_same = |step: &TapeStep| step.messages.last() == request.pieces.last();
        let found = steps.iter().position(asks_the_same).filter(|_| !self.is_exact);
        let Some(step) = steps.remove(found.unwrap_or(0)) else {
            return other(format!("it has no request {played}"));
        };
        match difference(&step, request) {
            Some(why) if self.is_exact => other(format!("request {played} is another: {why}")),
            Some(why) if found.is_none() => {
                tracing::warn!(
                    "the recording has nobody asking what request {played} asks ({why}): it gets the next answer in order"
                );
                Ok(step)
            }
            _ => Ok(step),
        }
    }
}

/// The first difference between what was recorded and what is asked.
fn difference(step: &TapeStep, request: &ModelRequest) -> Option<String> {
    let differ = |what: &str, then: &str, now: &str| {
        let (at, then, now) = first_difference(then, now)?;
        Some(format!("{what}, byte {at}: recorded {then:?}, now {now:?}"))
    };
    let counts = (step.messages.len(), request.pieces.len());
    let messages = step.messages.iter().zip(&request.pieces).enumerate();
    differ("system prompt and tools", &step.prelude, request.prelude.as_str())
        .or_else(|| {
            messages
                .filter_map(|(at, (then, now))| differ(&format!("message {}", at + 1), then, now))
                .next()
        })
        .or_else(|| {
            (counts.0 != counts.1)
                .then(|| format!("recorded with {} messages, now {}", counts.0, counts.1))
        })
        .or_else(|| {
            (step.max_tokens != request.max_tokens).then(|| {
                format!("recorded with max_tokens {}, now {}", step.max_tokens, request.max_tokens)
            })
        })
}

/// Where two texts part, and how each goes on.
fn first_difference<'a>(a: &'a str, b: &'a str) -> Option<(usize, String, String)> {
    if a == b {
        return None;
    }
    let same: usize =
        a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let rest = |text: &str| text.get(same..).unwrap_or_default().chars().take(SHOWN).collect();
    Some((same, rest(a), rest(b)))
}

#[deny(clippy::missing_trait_methods)]
impl Model for Player {
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

    /// Nobody is asked.
    fn list(&self) -> BoxFuture<'static, Result<Arc<Listing>, ModelError>> {
        async { Ok(Arc::default()) }.boxed()
    }

    fn known_list(&self) -> Option<Arc<Listing>> {
        None
    }

    fn keys(&self) -> Keys {
        self.model.keys()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        self.model.ready()
    }

    fn is_lean(&self) -> bool {
        self.model.is_lean()
    }

    /// Nobody is asked.
    fn find_context(&self) -> BoxFuture<'static, ()> {
        async {}.boxed()
    }

    fn more_context(&self) -> Option<String> {
        self.model.more_context()
    }

    fn encode(&self, message: &Message) -> Piece {
        self.model.encode(message)
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.model.encode_prelude(system, tools)
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        let player = self.clone();
        stream::once(async move {
            let replies = match player.next(&request) {
                Ok(step) => {
                    let cut = || ModelError::NotRecorded {
                        why: "its answer was not heard to the end".into(),
                    };
                    let end = (!step.is_whole).then(|| Err(cut()));
                    step.replies.into_iter().chain(end).collect()
                }
                Err(error) => vec![Err(error)],
            };
            stream::iter(replies)
        })
        .flatten()
        .boxed()
    }

    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }
}
