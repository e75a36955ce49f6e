//! How much context the model has: found out beside the requests, told once, and kept to.
//!
//! A model with little gets the lean set, which [`Model::is_lean`] says; what the lean set is, is the registry's
//! and the prompt's. Here is what the user is told of it, and what it means for replies.

use crate::events::Events;
use ropewalk_model::{ENOUGH_CONTEXT, Model, Piece, Prelude};
use ropewalk_protocol::{Level, ModelLimits, Usage};

/// Notices the user has had, each once for a model, and the size of its last request.
#[derive(Debug, Default)]
pub(crate) struct ContextNotices {
    lean: Option<String>,
    tools: Option<String>,
    cut: Option<String>,
    measured: Option<Measured>,
    learnt: Option<LearntContext>,
    /// The room of the last request.
    room: Option<ContextRoom>,
}

/// A request to the model of this name: its bytes, and the tokens that the server counted.
#[derive(Debug)]
struct Measured {
    model: String,
    bytes: usize,
    tokens: u64,
}

/// The context that a model of this name has by what its server refused or cut.
#[derive(Debug)]
struct LearntContext {
    model: String,
    tokens: u64,
    /// Context that was known of the model then: with another, this counts no more.
    known: Option<u32>,
}

/// Tokens of a model's context, and what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContextRoom {
    /// All of it.
    pub(crate) context: u64,
    /// Taken by the system prompt and the tools.
    pub(crate) prelude: u64,
    /// Left for the conversation, once the reply has its part.
    pub(crate) conversation: u64,
}

/// The least tokens that stay free, since what a request takes is an estimate.
const LEAST_SPARE: u64 = 128;

/// The part of the context that stays free: one of so many.
const SPARE_PART: u64 = 20;

/// The part of the room that all results of one step get together: one of so many.
const STEP_PART: u64 = 3;

/// Words and code in requests have more bytes for each token; so nothing is taken for less than it is.
const BYTES_USUAL: u64 = 3;

/// Fewer bytes for a token than any text has.
const BYTES_LEAST: u64 = 2;

/// More bytes for a token than are counted on.
const BYTES_MOST: u64 = 6;

/// From so many bytes on it is looked at whether a prompt was cut.
const LONG: usize = 16_000;

/// Words and code have three to five bytes for each token; that many for each is a prompt of which most was not read.
const BYTES_FOR_A_TOKEN: u64 = 12;

/// More bytes than this for each token of the context are more than it holds.
const BYTES_AT_MOST: u64 = 6;

/// No server reads less of a prompt that is cut: its context is full then. Smaller numbers count something else.
const LEAST_READ: u64 = 1_000;

/// Estimates the tokens of context that a request of so many bytes takes: by the count of the one before, if the server's count
/// can be true, else by its length.
fn estimate(bytes: usize, before: Option<&Measured>) -> u64 {
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

/// Tokens of an image in bytes of text: they go by its size, not by its bytes.
pub(crate) const IMAGE: usize = 1_500 * BYTES_USUAL as usize;

/// Length of a request in bytes of text; `images` is what [`crate::History::images`] gives.
pub(crate) fn bytes(prelude: &Prelude, pieces: &[Piece], images: (usize, usize)) -> usize {
    let all = pieces.iter().map(|piece| piece.len()).sum::<usize>();
    text_bytes(all, images).saturating_add(prelude.as_str().len())
}

/// So many bytes on the wire in bytes of text, by the number of images among them and the bytes that those have.
pub(crate) fn text_bytes(all: usize, (count, bytes): (usize, usize)) -> usize {
    all.saturating_sub(bytes).saturating_add(count.saturating_mul(IMAGE))
}

impl ContextNotices {
    /// Says once that the lean set is sent, why, and how to change that; and that the server has no tools for the model.
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

    /// How many tokens a reply to a request of so many bytes is asked for, beside thinking.
    pub(crate) fn longest_reply(&self, model: &dyn Model, wanted: Option<u32>, sent: usize) -> u32 {
        let before = self.measured.as_ref().filter(|before| before.model == model.name());
        let taken = estimate(sent, before);
        let to_think = model.thinking_tokens();
        let wanted = wanted.map(|tokens| tokens.saturating_add(to_think));
        self.limits(model).longest_reply(wanted, taken).saturating_sub(to_think).max(1)
    }

    /// The model's limits, as far as is known by now.
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

    /// How many tokens of this model so many bytes are.
    pub(crate) fn tokens(&self, model: &dyn Model, bytes: usize) -> u64 {
        estimate(bytes, self.measured.as_ref().filter(|before| before.model == model.name()))
    }

    /// How many bytes so many tokens of this model have, at the least that is counted on.
    pub(crate) fn bytes_of(&self, model: &dyn Model, tokens: u64) -> usize {
        let million = self.tokens(model, 1_000_000).max(1);
        usize::try_from(tokens.saturating_mul(1_000_000) / million).unwrap_or(usize::MAX)
    }

    /// The server takes no more than so many tokens.
    pub(crate) fn learn(&mut self, model: &dyn Model, tokens: u64) {
        let known = self.limits(model).context.map_or(u64::MAX, u64::from);
        if tokens < known {
            let (name, tokens) = (model.name().to_owned(), tokens.max(LEAST_SPARE));
            let known = model.limits().context;
            self.learnt = Some(LearntContext { model: name, tokens, known });
        }
    }

    /// The room that a model's context has beside a prelude of so many bytes, for replies as long as are wanted; none where
    /// nobody knows how much it has.
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

    /// Keeps the room of a request, by which the results of its calls are measured.
    pub(crate) fn keep_room(&mut self, room: Option<ContextRoom>) {
        self.room = room;
    }

    /// The most bytes that all results of a step may have together.
    pub(crate) fn step_bytes(&self, model: &dyn Model) -> Option<usize> {
        let room = self.room?;
        Some(self.bytes_of(model, room.conversation / STEP_PART))
    }

    /// Keeps the server's count of tokens for a request of so many bytes. One that takes more than was thought shows that
    /// there is more.
    pub(crate) fn measure(&mut self, model: &dyn Model, sent: usize, usage: Usage) {
        let (model, tokens) = (model.name().to_owned(), usage.prompt());
        self.learnt.take_if(|learnt| learnt.model == model && learnt.tokens < tokens);
        self.measured = Some(Measured { model, bytes: sent, tokens });
    }

    /// Says once that the server has read much less than was sent.
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
        // Some servers count what their cache has not: a context that somebody has told outweighs that.
        if model.limits().context.is_none() {
            self.learn(model, usage.prompt());
        }
        if self.cut.replace(name.to_owned()).as_deref() == Some(name) {
            return;
        }
        let mend = model.more_context().map_or_else(
            || "Give its server more context.".to_owned(),
            |more| format!("To fix it: {more}."),
        );
        events.warn(format!(
            "{name} has read {} tokens of a request of {} kilobytes: its server seems to cut off the beginning of \
             what is too long for its context, the instructions first. {mend}",
            usage.prompt(),
            sent / 1_000
        ));
    }
}

/// True if so many tokens can't be the whole of the request, to a model that takes so many.
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
    let mend = match more {
        Some(more) => format!("For more: {more}"),
        None => format!("If it takes more, say so with `provider.{provider}.context`"),
    };
    format!(
        "{name} has {tokens} tokens of context. Below {ENOUGH_CONTEXT} it gets four tools and a short system prompt, and \
         soon forgets how a long task began. {mend}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_takes_is_estimated_by_what_the_one_before_took() {
        let before = |bytes, tokens| Measured { model: "m".to_owned(), bytes, tokens };
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
