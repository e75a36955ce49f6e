//! The model's context: how much of it a request takes, how much is left for replies and results, and what the user is
//! told of it.
//!
//! A model with little context gets the lean set ([`Model::is_lean`]); the registry and the prompt say what is in it.

use crate::events::Events;
use ropewalk_model::{ENOUGH_CONTEXT, Model, ModelError, Piece, Prelude};
use ropewalk_protocol::{Level, ModelLimits, Usage};

/// Notices that the user has had of a model, each told once, and the sizes of its requests.
#[derive(Debug, Default)]
pub(crate) struct ContextNotices {
    /// The model of which the user knows that it gets the lean set.
    lean: Option<String>,
    /// The last words about a model without tools.
    tools: Option<String>,
    /// The model of which the user knows that its server cuts requests.
    cut: Option<String>,
    /// The model of which the user knows that it ends.
    ends: Option<String>,
    measured: Option<MeasuredRequest>,
    learnt: Option<LearntContext>,
    /// The room of the last request.
    room: Option<ContextRoom>,
}

/// The last request to a model: its bytes, and the tokens that the server counted.
#[derive(Debug)]
struct MeasuredRequest {
    model: String,
    bytes: usize,
    tokens: u64,
}

/// A model's context, as learnt from requests that its server refused or cut.
#[derive(Debug)]
struct LearntContext {
    model: String,
    tokens: u64,
    /// The context that was configured or reported then. If that changes, what was learnt is void.
    known: Option<u32>,
}

/// A model's context in tokens, and its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContextRoom {
    /// The whole context.
    pub(crate) context: u64,
    /// The part of the system prompt and the tools.
    pub(crate) prelude: u64,
    /// The part that is left for the conversation, after the reply's.
    pub(crate) conversation: u64,
}

/// Tokens that stay free at least, because the size of a request is an estimate.
const LEAST_SPARE: u64 = 128;

/// One part of so many of the context stays free.
const SPARE_PART: u64 = 20;

/// One part of so many of the room goes to all results of a step together.
const STEP_PART: u64 = 3;

/// Bytes for each token where nothing was measured. Words and code have more, so no estimate is too small.
const BYTES_USUAL: u64 = 3;

/// Least bytes for each token: no text has fewer.
const BYTES_LEAST: u64 = 2;

/// Most bytes for each token that are counted on.
const BYTES_MOST: u64 = 6;

/// Bytes from which on a request is checked for a cut.
const LONG: usize = 16_000;

/// Bytes for each counted token from which on most of a prompt was not read: words and code have three to five.
const BYTES_FOR_A_TOKEN: u64 = 12;

/// Most bytes for each token of the context: a longer request can't fit.
const BYTES_AT_MOST: u64 = 6;

/// Least tokens of a cut prompt, since it fills the context. A server with a smaller count counts something else.
const LEAST_READ: u64 = 1_000;

/// Estimates the tokens of a request of so many bytes: by the server's count of the request before if that can be true,
/// else by the length alone.
fn estimate(bytes: usize, before: Option<&MeasuredRequest>) -> u64 {
    let bytes = bytes as u64;
    let known =
        before.map(|before| (before.bytes as u64, before.tokens)).filter(|(bytes, tokens)| {
            tokens.saturating_mul(BYTES_FOR_A_TOKEN) >= *bytes
                && tokens.saturating_mul(BYTES_LEAST) <= *bytes
                && *bytes > 0
        });
    match known {
        Some((then, tokens)) if then <= bytes => {
            let more = bytes - then;
            let by_rate = more.saturating_mul(tokens) / then;
            tokens.saturating_add(by_rate.clamp(more / BYTES_MOST, more / BYTES_LEAST))
        }
        Some((then, tokens)) => tokens.saturating_mul(bytes) / then,
        None => bytes / BYTES_USUAL,
    }
}

/// Bytes of text that count for an image, whose tokens go by its size and not by its bytes.
pub(crate) const IMAGE: usize = 1_500 * BYTES_USUAL as usize;

/// Length of a request in bytes of text; `images` is the pair that [`crate::History::images`] gives.
pub(crate) fn bytes(prelude: &Prelude, pieces: &[Piece], images: (usize, usize)) -> usize {
    let all = pieces.iter().map(|piece| piece.len()).sum::<usize>();
    text_bytes(all, images).saturating_add(prelude.as_str().len())
}

/// Bytes on the wire, converted to bytes of text: `count` images among them have `bytes` bytes.
pub(crate) fn text_bytes(all: usize, (count, bytes): (usize, usize)) -> usize {
    all.saturating_sub(bytes).saturating_add(count.saturating_mul(IMAGE))
}

impl ContextNotices {
    /// Warns the user, once for each model, that its provider ends it within 60 days or has ended it; `today` is
    /// `YYYY-MM-DD`.
    pub(crate) fn tell_of_end(&mut self, events: &Events, model: &dyn Model, today: &str) {
        let name = model.name();
        if self.ends.as_deref() == Some(name) {
            return;
        }
        self.ends = Some(name.to_owned());
        if let Some(words) = model.end_in_words(today) {
            events.warn(words);
        }
    }

    /// Tells the user once that the model gets the lean set, why, and how to change that. Also tells once that its server
    /// has no tools for it.
    pub(crate) fn tell(&mut self, events: &Events, model: &dyn Model) {
        if let Some(words) = model.lacks_tools()
            && self.tools.replace(words.clone()).as_ref() != Some(&words)
        {
            events.warn(words);
        }
        let name = model.name();
        if !model.is_lean() || self.lean.replace(name.to_owned()).as_deref() == Some(name) {
            return;
        }
        events.notice(Level::Info, lean_in_words(name, model.limits(), model.more_context()));
    }

    /// The most tokens of a reply to a request of `sent` bytes, without those for thinking.
    pub(crate) fn longest_reply(&self, model: &dyn Model, wanted: Option<u32>, sent: usize) -> u32 {
        let before = self.measured.as_ref().filter(|before| before.model == model.name());
        let taken = estimate(sent, before);
        let to_think = model.thinking_tokens();
        let wanted = wanted.map(|tokens| tokens.saturating_add(to_think));
        self.limits(model).longest_reply(wanted, taken).saturating_sub(to_think).max(1)
    }

    /// The model's limits, with the context that was learnt.
    fn limits(&self, model: &dyn Model) -> ModelLimits {
        let mut limits = model.limits();
        if let Some(learnt) = &self.learnt
            && learnt.model == model.name()
            && learnt.known == limits.context
        {
            let learnt = u32::try_from(learnt.tokens).unwrap_or(u32::MAX);
            limits.context = Some(limits.context.map_or(learnt, |known| known.min(learnt)));
        }
        limits
    }

    /// Tokens of this model that so many bytes take, estimated.
    pub(crate) fn tokens(&self, model: &dyn Model, bytes: usize) -> u64 {
        estimate(bytes, self.measured.as_ref().filter(|before| before.model == model.name()))
    }

    /// Bytes that so many tokens of this model have, estimated.
    pub(crate) fn bytes_of(&self, model: &dyn Model, tokens: u64) -> usize {
        let million = self.tokens(model, 1_000_000).max(1);
        usize::try_from(tokens.saturating_mul(1_000_000) / million).unwrap_or(usize::MAX)
    }

    /// Learns limits that a server names in a refusal; true if that changes what is known.
    pub(crate) fn learn_told(&mut self, model: &dyn Model, error: &ModelError) -> bool {
        let (before, told) = (self.limits(model), error.told_limits());
        if let Some(context) = told.context {
            self.learn(model, context.into());
        }
        if let Some(output) = told.max_output {
            model.learn_output(Some(output.min(before.max_output.unwrap_or(u32::MAX))));
        }
        self.limits(model) != before
    }

    /// Learns that the server takes no more than so many tokens.
    pub(crate) fn learn(&mut self, model: &dyn Model, tokens: u64) {
        let known = self.limits(model).context.map_or(u64::MAX, u64::from);
        if tokens < known {
            let (name, tokens) = (model.name().to_owned(), tokens.max(LEAST_SPARE));
            let known = model.limits().context;
            self.learnt = Some(LearntContext { model: name, tokens, known });
        }
    }

    /// The parts of a model's context, for a prelude of so many bytes and replies of the wanted length. None where the
    /// context is unknown.
    pub(crate) fn room(
        &self,
        model: &dyn Model,
        wanted: Option<u32>,
        prelude: usize,
    ) -> Option<ContextRoom> {
        let limits = self.limits(model);
        let context = u64::from(limits.context?);
        let prelude = self.tokens(model, prelude);
        let reply = u64::from(limits.longest_reply(wanted, prelude));
        let spare = (context / SPARE_PART).max(LEAST_SPARE);
        let conversation = context.saturating_sub(prelude + reply + spare);
        Some(ContextRoom { context, prelude, conversation })
    }

    /// Keeps the room of a request, which bounds the results of its calls.
    pub(crate) fn keep_room(&mut self, room: Option<ContextRoom>) {
        self.room = room;
    }

    /// The most bytes that all results of a step may have together.
    pub(crate) fn step_bytes(&self, model: &dyn Model) -> Option<usize> {
        let room = self.room?;
        Some(self.bytes_of(model, room.conversation / STEP_PART))
    }

    /// Keeps the server's count of tokens for a request of `sent` bytes. A count above the learnt context voids that.
    pub(crate) fn measure(&mut self, model: &dyn Model, sent: usize, usage: Usage) {
        let (model, tokens) = (model.name().to_owned(), usage.prompt());
        self.learnt.take_if(|learnt| learnt.model == model && learnt.tokens < tokens);
        self.measured = Some(MeasuredRequest { model, bytes: sent, tokens });
    }

    /// Tells the user once that the server has read much less than was sent.
    pub(crate) fn tell_of_cut(
        &mut self,
        events: &Events,
        model: &dyn Model,
        sent: usize,
        usage: Usage,
    ) {
        let name = model.name();
        if !was_cut(sent, usage, model.limits().context) {
            return;
        }
        // A known context outweighs the count: some servers count only what their cache has not.
        if model.limits().context.is_none() {
            self.learn(model, usage.prompt());
        }
        if self.cut.replace(name.to_owned()).as_deref() == Some(name) {
            return;
        }
        let advice = model.more_context().map_or_else(
            || "Give its server more context.".to_owned(),
            |more| format!("To fix it: {more}."),
        );
        events.warn(format!(
            "{name} has read {} tokens of a request of {} kilobytes: its server seems to cut off the beginning of \
             what is too long for its context, the instructions first. {advice}",
            usage.prompt(),
            sent / 1_000
        ));
    }
}

/// True if the counted tokens can't be the whole request. `context` is the model's, in tokens.
fn was_cut(sent: usize, usage: Usage, context: Option<u32>) -> bool {
    let read = usage.prompt();
    let is_full = context.is_some_and(|most| {
        read <= most.into() && u64::from(most).saturating_mul(BYTES_AT_MOST) < sent as u64
    });
    let is_little = read.saturating_mul(BYTES_FOR_A_TOKEN) < sent as u64;
    sent >= LONG && read >= LEAST_READ && (is_little || is_full)
}

fn lean_in_words(name: &str, limits: ModelLimits, more: Option<String>) -> String {
    let provider = name.split('/').next().unwrap_or(name);
    let Some(tokens) = limits.context.filter(|tokens| *tokens < ENOUGH_CONTEXT) else {
        return format!(
            "{name} gets four tools and a short system prompt: `provider.{provider}.lean` says so."
        );
    };
    let advice = match more {
        Some(more) => format!("For more: {more}"),
        None => format!("If it takes more, say so with `provider.{provider}.context`"),
    };
    format!(
        "{name} has {tokens} tokens of context. Below {ENOUGH_CONTEXT} it gets four tools and a short system prompt, and \
         soon forgets how a long task began. {advice}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_takes_is_estimated_by_what_the_one_before_took() {
        let before = |bytes, tokens| MeasuredRequest { model: "m".to_owned(), bytes, tokens };
        for (bytes, measured, tokens) in [
            (3_000, None, 1_000),
            (8_000, Some(before(8_000, 2_000)), 2_000),
            (8_400, Some(before(8_000, 2_000)), 2_100),
            (8_400, Some(before(8_000, 4_000)), 4_200),
            (8_600, Some(before(8_000, 1_000)), 1_100),
            (4_000, Some(before(8_000, 2_000)), 1_000),
            // It counts something else, or counted a failed try too.
            (3_000, Some(before(3_000, 7)), 1_000),
            (3_000, Some(before(3_000, 1_600)), 1_000),
            (3_000, Some(before(0, 0)), 1_000),
            (3_000, Some(before(3_000, u64::MAX)), 1_000),
        ] {
            assert_eq!(estimate(bytes, measured.as_ref()), tokens, "{bytes} {measured:?}");
        }
        let huge = before(usize::MAX, u64::MAX / 4);
        assert!(estimate(usize::MAX, Some(&huge)) > estimate(1_000, Some(&huge)));
    }

    #[test]
    fn only_what_can_t_be_whole_was_cut() {
        let read = |input| Usage { input, ..Usage::default() };
        let cut = |sent, usage| was_cut(sent, usage, None);
        assert!(cut(60_000, read(4_096)));
        assert!(cut(60_000, Usage { cache_read: 4_000, ..read(96) }));
        assert!(!cut(60_000, read(15_000)));
        assert!(!cut(60_000, read(0)) && !cut(60_000, read(10)), "it counts nothing of use");
        assert!(!cut(4_000, read(1)), "too short to tell");
        assert!(!cut(usize::MAX, read(u64::MAX)));
        // A context that is known tells more.
        assert!(!cut(30_000, read(4_000)) && was_cut(30_000, read(4_000), Some(4_096)));
        assert!(!was_cut(24_000, read(4_000), Some(4_096)), "it may just fit");
        assert!(!was_cut(30_000, read(7_500), Some(4_096)), "it has more than was said");
    }

    #[test]
    fn the_words_say_what_is_and_what_to_do() {
        let small = ModelLimits { context: Some(4096), max_output: None };
        let more = Some("start Ollama with `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`".to_owned());
        let words = lean_in_words("ollama/q", small, more);
        for part in ["4096 tokens", "Below 16384", "`OLLAMA_CONTEXT_LENGTH=32768 ollama serve`."] {
            assert!(words.contains(part), "{words}");
        }
        let words = lean_in_words("work/q", small, None);
        assert!(words.contains("`provider.work.context`"), "{words}");
        let forced = lean_in_words("work/q", ModelLimits::default(), None);
        assert!(forced.contains("`provider.work.lean` says so"), "{forced}");
    }
}
