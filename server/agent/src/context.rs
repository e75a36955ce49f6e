//! How much context the model has: found out beside the requests, told once, and kept to.
//!
//! A model with little gets the lean set, which [`Model::is_lean`] says; what the lean set is, is the registry's
//! and the prompt's. Here is what the user is told of it, and what it means for replies and results.

use crate::event::Level;
use crate::session::shared::{Shared, lock};
use crate::turn::Turn;
use ropewalk_model::{ENOUGH_CONTEXT, Limits, Model, Piece, Prelude, Usage};
use std::time::Duration;

/// What was said to the user, each once for a model.
#[derive(Debug, Default)]
pub(crate) struct ToldOfContext {
    lean: Option<String>,
    cut: Option<String>,
}

/// How long the end of a turn waits for what is being found out.
const PATIENCE: Duration = Duration::from_millis(500);

/// From so many bytes on it is looked at whether a prompt was cut.
const LONG: usize = 16_000;

/// Words and code have three to five bytes for each token; that many for each is a prompt of which most was not read.
const BYTES_FOR_A_TOKEN: u64 = 12;

/// More bytes than this for each token of the context are more than it holds.
const BYTES_AT_MOST: u64 = 6;

/// No server reads less of a prompt that is cut: its context is full then. Smaller numbers count something else.
const LEAST_READ: u64 = 1_000;

/// The least characters of a result that a model is given, however small its context is.
const LEAST_OUTPUT: usize = 1_000;

/// How long a reply may be: half of the context stays for what is asked.
pub(crate) fn longest_reply(limits: Limits) -> u32 {
    let half = limits.context.map_or(u32::MAX, |tokens| (tokens / 2).max(1));
    limits.max_output.unwrap_or(u32::MAX).min(half)
}

/// How long a request is.
pub(crate) fn bytes(prelude: &Prelude, pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum::<usize>().saturating_add(prelude.as_str().len())
}

impl Shared {
    /// Says once that the lean set is sent, why, and how to change that.
    pub(crate) fn tell_of_context(&self, model: &dyn Model) {
        if !model.is_lean() {
            return;
        }
        let name = model.name();
        if lock(&self.told_of_context).lean.replace(name.to_owned()).as_deref() == Some(name) {
            return;
        }
        let message = lean_in_words(name, model.limits(), model.more_context());
        self.notice(Level::Info, message);
    }

    /// Says once that the server has read much less than was sent.
    pub(crate) fn tell_of_cut(&self, model: &dyn Model, sent: usize, usage: Usage) {
        if !was_cut(sent, usage, model.limits().context) {
            return;
        }
        let name = model.name();
        if lock(&self.told_of_context).cut.replace(name.to_owned()).as_deref() == Some(name) {
            return;
        }
        let mend = model.more_context().map_or_else(
            || "Give its server more context.".to_owned(),
            |more| format!("To mend it: {more}."),
        );
        let message = format!(
            "{name} has read {} tokens of a request of {} kilobytes: its server seems to cut off the beginning of \
             what is too long for its context, the instructions first. {mend}",
            usage.prompt(),
            sent / 1_000
        );
        self.notice(Level::Warning, message);
    }
}

/// Whether so many tokens can't be the whole of what was sent, to a model that takes so many.
fn was_cut(sent: usize, usage: Usage, context: Option<u32>) -> bool {
    let read = usage.prompt();
    let is_full = context.is_some_and(|most| {
        read <= most.into() && u64::from(most).saturating_mul(BYTES_AT_MOST) < sent as u64
    });
    let is_little = read.saturating_mul(BYTES_FOR_A_TOKEN) < sent as u64;
    sent >= LONG && read >= LEAST_READ && (is_little || is_full)
}

fn lean_in_words(name: &str, limits: Limits, more: Option<String>) -> String {
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

impl Turn {
    /// Finds out how much context the model has, beside what else is done, and says so if it is little.
    pub(crate) fn look_for_context(&mut self) {
        let settings = self.shared.settings();
        let Ok(model) = &settings.model else { return };
        if self.looking.as_ref().is_some_and(|looking| !looking.is_finished()) {
            return;
        }
        let (model, shared) = (model.clone(), self.shared.clone());
        let finding = model.find_context();
        self.looking = Some(tokio::spawn(async move {
            finding.await;
            shared.tell_of_context(&*model);
        }));
    }

    /// At the end of a turn: what is found out soon is still said.
    pub(crate) async fn context_is_found(&mut self) {
        if let Some(looking) = self.looking.take() {
            // An error means that it takes long, or broke down, and nothing depends on it.
            let _ = self.or_interrupted(tokio::time::timeout(PATIENCE, looking)).await;
        }
    }

    /// The most characters of a result: with a small context, as many as it has tokens, which is about a quarter
    /// of it.
    pub(crate) fn tool_output(&self) -> usize {
        let settings = self.shared.settings();
        let most = settings.limits.tool_output;
        let Ok(model) = &settings.model else { return most };
        let small = model.limits().context.filter(|tokens| *tokens < ENOUGH_CONTEXT);
        small.map_or(most, |tokens| most.min(LEAST_OUTPUT.max(tokens as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_leaves_room_for_what_is_asked() {
        let limits = |context, max_output| Limits { context, max_output };
        assert_eq!(longest_reply(limits(None, None)), u32::MAX);
        assert_eq!(longest_reply(limits(Some(4096), None)), 2048);
        assert_eq!(longest_reply(limits(Some(200_000), Some(8_192))), 8_192);
        assert_eq!(longest_reply(limits(Some(1), None)), 1);
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
        let small = Limits { context: Some(4096), max_output: None };
        let more = Some("start Ollama with `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`".to_owned());
        let words = lean_in_words("ollama/q", small, more);
        for part in ["4096 tokens", "Below 16384", "`OLLAMA_CONTEXT_LENGTH=32768 ollama serve`."] {
            assert!(words.contains(part), "{words}");
        }
        let words = lean_in_words("work/q", small, None);
        assert!(words.contains("`provider.work.context`"), "{words}");
        let forced = lean_in_words("work/q", Limits::default(), None);
        assert!(forced.contains("`provider.work.lean` says so"), "{forced}");
    }
}
