//! One compaction, from the look at what there is to the history that replaces it.

use super::ask::{SummaryAuthor, summary};
use super::cut::{Squeeze, is_possible, tail};
use super::message::{MessageParts, NextTask, state, transcript};
use super::room::Load;
use super::skills::{self, KeptSkills};
use super::unseen::Unseen;
use crate::calls::bounded::{sent, write_whole};
use crate::context::ContextRoom;
use crate::conversation::Conversation;
use crate::history::tail::CompactedTail;
use crate::hooks::TurnOutcome;
use crate::journal::record::Record;
use crate::session::parts::SessionParts;
use ropewalk_model::{Block, Message, Role};
use ropewalk_protocol::{CompactionCause, Event, Level, StopReason};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The part of the room that kept steps may have: one of so many.
const STEPS_PART: u64 = 4;

/// The most tokens of them.
const MOST_STEPS: u64 = 20_000;

/// The part of the context that the user's words may have: one of so many.
const WORDS_PART: u64 = 10;

/// Most tries of cutting the unseen part; each try after the first allows half as many bytes.
const CUTS: u32 = 4;

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
    /// Its first message.
    first: Vec<Block>,
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
        return not_possible(parts, conversation, &load, &occasion).await;
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
    let compacted = match fitting(conversation, &load, material, (&occasion, identity.as_deref())) {
        Ok(compacted) => compacted,
        Err(shortest) => {
            let unseen = match occasion.is_idle {
                true => Unseen::default(),
                false => Unseen::of(&conversation.messages().collect::<Vec<_>>()),
            };
            with_cut(parts, conversation, &load, (Some(shortest), &unseen)).await?
        }
    };
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

/// The first of the new histories that fits. The error is the beginning of the shortest.
fn fitting(
    conversation: &Conversation,
    load: &Load,
    CompactionMaterial { summary, transcript, state, tails }: CompactionMaterial<'_>,
    (occasion, identity): (&Occasion, Option<&str>),
) -> Result<Compacted, String> {
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
            return Ok(Compacted { first: vec![Block::text(text)], tail, tokens });
        }
    }
    Err(beginning.text(Squeeze::Trimmed))
}

/// Makes a history of the summary (`beginning`) and the unseen part, cut until both fit, and tells the user where it was cut.
///
/// # Errors
/// An outcome that ends the turn, where not even the shortest cut fits.
async fn with_cut(
    parts: &SessionParts,
    conversation: &Conversation,
    load: &Load,
    (beginning, unseen): (Option<String>, &Unseen),
) -> Result<Compacted, TurnOutcome> {
    let whole = match unseen.is_empty() {
        true => None,
        false => keep(parts, conversation, "message", &unseen.whole()).await,
    };
    let room = load.room();
    let most = conversation.context.bytes_of(&*load.model, room.conversation / 4 * 3);
    let mut most = most.saturating_sub(beginning.as_deref().map_or(0, sent));
    for _ in 0..CUTS {
        let cut = (!unseen.is_empty()).then(|| unseen.cut(most, whole.as_deref()));
        let is_cut = cut.as_ref().is_some_and(|cut| *cut != unseen.whole());
        let first: Vec<Block> = beginning.iter().cloned().chain(cut).map(Block::text).collect();
        let mut history = conversation.history.clone();
        history.compact(first.clone(), &CompactedTail::default());
        let tokens = load.with(conversation, history.bytes());
        if tokens.saturating_sub(room.prelude) <= room.conversation {
            if is_cut {
                parts.events.warn(cut_in_words(whole.as_deref()));
            }
            return Ok(Compacted { first, tail: CompactedTail::default(), tokens });
        }
        most /= 2;
    }
    Err(full(load))
}

/// Words for the user about an unseen part that was cut.
fn cut_in_words(whole: Option<&Path>) -> String {
    let whole =
        whole.map(|file| format!(" The whole is in {}, which the model can read.", file.display()));
    format!(
        "What the model has not read yet is longer than its context has room for, so it gets the beginning and the end.{}",
        whole.unwrap_or_default()
    )
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
    let Compacted { first, tail, tokens } = compacted;
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

/// Writes what is cut where it can be looked up: the messages that go.
async fn keep_transcript(
    parts: &SessionParts,
    conversation: &Conversation,
    count: usize,
) -> Option<PathBuf> {
    let text = transcript(conversation.messages().take(count));
    keep(parts, conversation, "transcript", &text).await
}

/// Writes a text of this compaction among the session's outputs.
async fn keep(
    parts: &SessionParts,
    conversation: &Conversation,
    what: &str,
    text: &str,
) -> Option<PathBuf> {
    let folder = parts.outputs.as_ref()?;
    let of_thread = parts.thread.as_ref().map(|thread| format!("{}-", thread.id));
    let era = conversation.history.era() + 1;
    let file = folder.join(format!("{what}-{}{era}.md", of_thread.unwrap_or_default()));
    match write_whole(folder, &file, text).await {
        Ok(()) => Some(file),
        Err(error) => {
            tracing::warn!(%error, "what is compacted can't be kept");
            None
        }
    }
}

/// Looks at a conversation in which the model has said nothing yet: where it is too long, it is cut.
async fn not_possible(
    parts: &SessionParts,
    conversation: &mut Conversation,
    load: &Load,
    occasion: &Occasion,
) -> Result<(), TurnOutcome> {
    match occasion.why {
        CompactionCause::Asked => {
            parts.events.notice(Level::Info, "There is nothing to sum up yet.");
            return Ok(());
        }
        // It may take it all the same.
        CompactionCause::Full if load.request <= load.room().context => return Ok(()),
        CompactionCause::Full | CompactionCause::Refused => {}
    }
    let unseen = Unseen::of(&conversation.messages().collect::<Vec<_>>());
    let cut = with_cut(parts, conversation, load, (None, &unseen)).await;
    match cut {
        Ok(cut) => enter(conversation, cut, KeptSkills::default(), load.request),
        // The server says best what is wrong with it.
        Err(_) if occasion.why == CompactionCause::Refused => {}
        Err(full) => return Err(full),
    }
    Ok(())
}

/// The end of a turn for which there is no room: the system prompt, the tools and the reply fill the context.
fn full(load: &Load) -> TurnOutcome {
    let ContextRoom { context, prelude, conversation } = load.room();
    let kept = context.saturating_sub(prelude).saturating_sub(conversation);
    let message = format!(
        "The context of {} is full: of its {context} tokens the system prompt and the tools take about {prelude}, {kept} \
         are kept for the reply, and {conversation} are left for the conversation, which are too few. Give the model more \
         context, shorten the instructions, or use /rewind to take back the last turn and /compact to sum up the others.",
        load.model.name(),
    );
    TurnOutcome::told(StopReason::Error, message)
}
