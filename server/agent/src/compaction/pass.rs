//! One compaction, from the look at what there is to the history that replaces it.

use super::ask::{SummaryAuthor, summary};
use super::cut::{Squeeze, is_possible, tail};
use super::message::{MessageParts, NextTask, state, transcript};
use super::room::Load;
use super::skills::{self, KeptSkills};
use crate::calls::bounded::write_whole;
use crate::conversation::Conversation;
use crate::history::tail::CompactedTail;
use crate::hooks::TurnOutcome;
use crate::journal::record::Record;
use crate::session::parts::SessionParts;
use ropewalk_model::{Block, Message, Role};
use ropewalk_protocol::{CompactionCause, Event, Level, StopReason};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// The part of the room that kept steps may have: one of so many.
const STEPS_PART: u64 = 4;

/// The most tokens of them.
const MOST_STEPS: u64 = 20_000;

/// The part of the context that the user's words may have: one of so many.
const WORDS_PART: u64 = 10;

/// Occasion of a compaction.
pub(crate) struct Occasion {
    pub(crate) why: CompactionCause,
    /// Words to keep in view.
    pub(crate) focus: Option<String>,
    /// True if no turn runs: then nothing is unseen, and all of it is summed up.
    pub(crate) is_idle: bool,
}

/// The new history.
struct Compacted {
    text: String,
    tail: CompactedTail,
    /// Tokens of the request with it.
    tokens: u64,
}

/// Compacts a conversation. Dropped before it is done, it has changed nothing. The error ends the turn: what is left does
/// not fit either.
pub(crate) async fn compact(
    parts: &Arc<SessionParts>,
    conversation: &mut Conversation,
    occasion: Occasion,
) -> Result<(), TurnOutcome> {
    let view = skills::look(parts).await;
    let Some(load) = Load::of(parts, conversation) else { return Ok(()) };
    let messages: Vec<&Message> = conversation.messages().collect();
    if !is_possible(&messages) {
        return not_possible(parts, conversation, &load, &occasion);
    }
    let turn = conversation.turns.last().map_or(0, |mark| mark.turn);
    parts.events.tell(Event::Compacting { turn, why: occasion.why });
    let most = (load.room().conversation / STEPS_PART).min(MOST_STEPS);
    let most = conversation.context.bytes_of(&*load.model, most);
    let kept = |squeeze| match occasion.is_idle {
        true => CompactedTail::default(),
        false => tail(&messages, squeeze, most),
    };
    let tails = Squeeze::ALL.map(|squeeze| (squeeze, kept(squeeze)));
    // Steps that stay are summed up too: of some the results go, and the shortest tail may be the one that fits.
    let last = tails.iter().map(|(_, tail)| tail.kept).min().unwrap_or_default();
    let count = messages.len() - last;
    let focus = occasion.focus.as_deref();
    let summary = summary(parts, conversation, &load, (count, focus)).await?;
    let transcript = keep_transcript(parts, conversation, count).await;
    let skills = skills::kept(parts, conversation, &load, view).await;
    let state = state(parts, &conversation.reads, &skills.words);
    let summed_up = &*summary.text;
    let material = CompactionMaterial { summary: summed_up, transcript, state: &state, tails };
    let identity = match &parts.thread {
        Some(thread) => Some(thread.identity.clone()),
        None => parts.settings.get().facts.identity.clone(),
    };
    let compacted = fitting(conversation, &load, material, (&occasion, identity.as_deref()));
    let compacted = compacted.map_err(|tokens| full(conversation, &load, tokens))?;
    let before = load.request;
    enter(conversation, compacted, skills, before);
    let after = Load::of(parts, conversation).map_or(0, |load| load.request);
    let by = match summary.by {
        SummaryAuthor::Model => load.model.name().to_owned(),
        SummaryAuthor::List => "ropewalk".to_owned(),
    };
    parts.events.tell(Event::Compacted { turn, before, after, by });
    if summary.by == SummaryAuthor::List {
        parts.events.warn(format!(
            "{} gave no summary, so a list of the calls stands in its place.",
            load.model.name()
        ));
    }
    Ok(())
}

/// Texts that a new history is made of.
struct CompactionMaterial<'a> {
    summary: &'a str,
    /// The file that has the conversation until then.
    transcript: Option<PathBuf>,
    state: &'a str,
    /// The tails that may stay, the longest first.
    tails: [(Squeeze, CompactedTail); 4],
}

/// The first of the new histories that fits. The error is the tokens of the shortest.
fn fitting(
    conversation: &Conversation,
    load: &Load,
    CompactionMaterial { summary, transcript, state, tails }: CompactionMaterial<'_>,
    (occasion, identity): (&Occasion, Option<&str>),
) -> Result<Compacted, u64> {
    let room = load.room();
    let most_words = conversation.context.bytes_of(&*load.model, room.context / WORDS_PART);
    let next = next(conversation, occasion);
    let turn = conversation.turns.last().map_or(0, |mark| mark.turn);
    // A prompt that is still to be read stands behind the message.
    let words = match (next, conversation.words.split_last()) {
        (NextTask::Prompt, Some((last, earlier))) if last.turn == turn => earlier,
        _ => &conversation.words,
    };
    let beginning = MessageParts {
        transcript: transcript.as_deref(),
        identity,
        words,
        most_words,
        summary,
        state,
        next,
    };
    let mut shortest = u64::MAX;
    // A server's bound is known by an estimate alone: the shortest is tried, if it is much shorter.
    let is_tried = |squeeze, tokens: u64| {
        let is_last = squeeze == Squeeze::Trimmed && occasion.why == CompactionCause::Refused;
        is_last && tokens < load.request / 10 * 9
    };
    for (squeeze, tail) in tails {
        let text = beginning.text(squeeze);
        let mut history = conversation.history.clone();
        history.compact(vec![Block::text(text.clone())], &tail);
        let bytes = history.bytes();
        let tokens = load.with(conversation, bytes);
        // A history that fits only just is full again after one more step.
        let most = match squeeze {
            Squeeze::Steps => room.conversation / 4 * 3,
            _ => room.conversation,
        };
        let fits = tokens.saturating_sub(room.prelude) <= most || !load.is_known();
        if fits || is_tried(squeeze, tokens) {
            return Ok(Compacted { text, tail, tokens });
        }
        shortest = shortest.min(tokens);
    }
    Err(shortest)
}

/// The model's task once the conversation is compacted.
fn next(conversation: &Conversation, occasion: &Occasion) -> NextTask {
    let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
    let is_prompt =
        |message: &Message| message.role == Role::User && !message.content.iter().any(is_result);
    match conversation.messages().next_back() {
        _ if occasion.is_idle => NextTask::Nothing,
        Some(last) if is_prompt(last) => NextTask::Prompt,
        _ => NextTask::Task,
    }
}

/// Journals the new history and puts it in the place of the old one.
fn enter(conversation: &mut Conversation, compacted: Compacted, skills: KeptSkills, before: u64) {
    let Compacted { text, tail, tokens } = compacted;
    let first = vec![Block::text(text)];
    conversation.journal.write(&Record::Compacted {
        message: Cow::Borrowed(&first),
        tail: Cow::Borrowed(&tail),
        before,
        after: tokens,
    });
    conversation.history.compact(first, &tail);
    // Instructions and skills that have changed enter it.
    conversation.forget_told();
    conversation.knowledge.keep_skills(skills.skills);
    conversation.publish();
}

/// Writes what is cut where it can be looked up.
async fn keep_transcript(
    parts: &SessionParts,
    conversation: &Conversation,
    count: usize,
) -> Option<PathBuf> {
    let folder = parts.outputs.as_ref()?;
    let text = transcript(conversation.messages().take(count));
    let of_thread = parts.thread.as_ref().map(|thread| format!("{}-", thread.id));
    let era = conversation.history.era() + 1;
    let file = folder.join(format!("transcript-{}{era}.md", of_thread.unwrap_or_default()));
    match write_whole(folder, &file, &text).await {
        Ok(()) => Some(file),
        Err(error) => {
            tracing::warn!(%error, "what is compacted can't be kept");
            None
        }
    }
}

/// Outcome for a conversation in which the model has said nothing yet.
fn not_possible(
    parts: &SessionParts,
    conversation: &Conversation,
    load: &Load,
    occasion: &Occasion,
) -> Result<(), TurnOutcome> {
    match occasion.why {
        CompactionCause::Asked => {
            parts.events.notice(Level::Info, "There is nothing to sum up yet.");
            Ok(())
        }
        // The server says best what is wrong with it.
        CompactionCause::Refused => Ok(()),
        // It may take it all the same.
        CompactionCause::Full if load.request <= load.room().context => Ok(()),
        _ => Err(full(conversation, load, load.request)),
    }
}

/// The end of a turn whose context can't be made free, with what fills it.
fn full(conversation: &Conversation, load: &Load, tokens: u64) -> TurnOutcome {
    let room = load.room();
    let last = conversation.messages().next_back().map(|message| message.content.iter());
    let last: usize = last.into_iter().flatten().map(super::cut::bytes).sum();
    let last = conversation.context.tokens(&*load.model, last);
    let prelude = room.prelude;
    let rest = tokens.saturating_sub(prelude).saturating_sub(last);
    let message = format!(
        "The context of {} is full, and nothing more can be left out: of its {} tokens the system prompt and the tools \
         take about {prelude}, the last message {last}, the rest of the conversation {rest}. Give the model more context, \
         ask for less at a time, or begin another session.",
        load.model.name(),
        room.context,
    );
    TurnOutcome::told(StopReason::Error, message)
}
