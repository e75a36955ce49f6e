//! The cut: which messages stay behind the summary, and how long ones among them are shortened.
//!
//! It lies before a message of the model's, so no pair of call and result is split. What follows the model's last message
//! it has not seen: that stays, and where nothing is short enough with it [`super::unseen`] cuts it.

use crate::calls::bounded::sent;
use crate::context::IMAGE;
use crate::history::tail::CompactedTail;
use ropewalk_model::{Block, Message, Role, ToolInput};
use ropewalk_protocol::Content;
use ropewalk_tools::Bounds;
use ropewalk_tools::bounds::{bound, preview};
use serde_json::Value;

/// How much is given up so that the rest fits, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Squeeze {
    /// As many whole steps stay as have a place.
    Steps,
    /// Only the last step.
    LastStep,
    /// The user's words and the summary are halved too.
    Halves,
    /// The last step's long inputs are cut, its results halved.
    Trimmed,
}

impl Squeeze {
    pub(super) const ALL: [Squeeze; 4] =
        [Squeeze::Steps, Squeeze::LastStep, Squeeze::Halves, Squeeze::Trimmed];
}

/// So many results, the newest, stay as they are.
const WHOLE_RESULTS: usize = 3;

/// The most characters of one text of an input that is cut.
const LONGEST_INPUT: usize = 300;

/// The messages that stay of these; `most` is the bytes that steps before the last may have. Nothing stays if the model has not
/// spoken, which [`is_possible`] says before.
pub(super) fn tail(messages: &[&Message], squeeze: Squeeze, most: usize) -> CompactedTail {
    let Some(last) = last_of_model(messages) else { return CompactedTail::default() };
    let unseen = messages.get(last..).unwrap_or_default();
    match squeeze {
        Squeeze::Steps => with_earlier_steps(messages, last, most),
        Squeeze::LastStep | Squeeze::Halves => {
            CompactedTail { kept: unseen.len(), changed: Vec::new() }
        }
        Squeeze::Trimmed => CompactedTail { kept: unseen.len(), changed: trimmed(unseen) },
    }
}

/// The number of the model's last message among these.
pub(super) fn last_of_model(messages: &[&Message]) -> Option<usize> {
    messages.iter().rposition(|message| message.role == Role::Assistant)
}

/// Keeps the messages from the model's `last` on, and as many whole steps before as fit. All but
/// the last few results give way to a line. O(what stays).
fn with_earlier_steps(messages: &[&Message], last: usize, most: usize) -> CompactedTail {
    let (mut from, mut used) = (last, 0);
    let mut whole: usize = messages.iter().skip(last).map(|message| results(message)).sum();
    // By their numbers among all messages, the newest first.
    let mut changed: Vec<(usize, Vec<Block>)> = Vec::new();
    for at in (1..last).rev() {
        let Some(message) = messages.get(at) else { break };
        let shorter = without_old_results(message, messages.get(at - 1).copied(), &mut whole);
        let content = shorter.as_ref().unwrap_or(&message.content);
        used += content.iter().map(bytes).sum::<usize>();
        if used > most {
            break;
        }
        changed.extend(shorter.map(|content| (at, content)));
        if message.role == Role::Assistant {
            from = at;
        }
    }
    changed.retain(|(at, _)| *at >= from);
    let changed = changed.into_iter().rev().map(|(at, content)| (at - from, content)).collect();
    CompactedTail { kept: messages.len() - from, changed }
}

fn results(message: &Message) -> usize {
    let is_result = |block: &&Block| matches!(block, Block::ToolResult { .. });
    message.content.iter().filter(is_result).count()
}

/// True if there is something before the model's last message that a summary can take the place of.
pub(super) fn is_possible(messages: &[&Message]) -> bool {
    last_of_model(messages).is_some()
}

/// Bytes of a block on the wire, roughly.
pub(super) fn bytes(block: &Block) -> usize {
    /// Bytes around a block.
    const AROUND: usize = 60;
    let of = |part: &Content| match part {
        Content::Image { .. } => IMAGE,
        part => sent(&part.briefly()),
    };
    let texts = |content: &[Content]| content.iter().map(of).sum();
    AROUND
        + match block {
            Block::Thinking { thinking, signature } => sent(thinking) + signature.len(),
            Block::RedactedThinking { data } => data.len(),
            Block::ToolUse { name, input: ToolInput::Json(input), .. } => {
                name.len() + input.to_string().len()
            }
            Block::ToolUse { name, input: ToolInput::Broken(text), .. } => name.len() + sent(text),
            Block::ToolResult { content, .. } => texts(content),
            Block::Content(content) => texts(std::slice::from_ref(content)),
        }
}

/// The content of a message in which results give way to a line, if any do: `whole` is the number of results behind it that
/// stay, with which its own are counted. `calls`: the message before it.
fn without_old_results(
    message: &Message,
    calls: Option<&Message>,
    whole: &mut usize,
) -> Option<Vec<Block>> {
    let mut shorter: Option<Vec<Block>> = None;
    for (at, block) in message.content.iter().enumerate().rev() {
        let Block::ToolResult { tool_use_id, content, .. } = block else { continue };
        *whole += 1;
        let name = calls.and_then(|calls| tool(calls, tool_use_id)).unwrap_or("a tool");
        let line = format!("[Previous: used {name}]");
        if *whole <= WHOLE_RESULTS || briefly(content).len() <= line.len() {
            continue;
        }
        let all = shorter.get_or_insert_with(|| message.content.clone());
        if let Some(Block::ToolResult { content, .. }) = all.get_mut(at) {
            *content = vec![Content::text(line)];
        }
    }
    shorter
}

fn briefly(content: &[Content]) -> String {
    ropewalk_protocol::content::briefly(content)
}

/// The tool that the call of this id is made of.
fn tool<'a>(message: &'a Message, id: &str) -> Option<&'a str> {
    message.content.iter().find_map(|block| match block {
        Block::ToolUse { id: own, name, .. } if own == id => Some(name.as_str()),
        _ => None,
    })
}

/// The contents of a step whose long inputs are cut and whose results are halved.
fn trimmed(messages: &[&Message]) -> Vec<(usize, Vec<Block>)> {
    let trim = |block: &mut Block| match block {
        Block::ToolUse { input: ToolInput::Json(input), .. } => cut_texts(input),
        Block::ToolUse { input: ToolInput::Broken(text), .. } => *text = cut_text(text),
        Block::ToolResult { content, .. } => {
            for text in content.iter_mut().flat_map(Content::texts_mut) {
                let bounds = Bounds { max_chars: text.chars().count() / 2 };
                *text = bound(text, bounds, None).to_string();
            }
        }
        _ => {}
    };
    let content = |message: &&Message| {
        let mut content = message.content.clone();
        content.iter_mut().for_each(trim);
        content
    };
    messages.iter().map(content).enumerate().collect()
}

fn cut_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = cut_text(text),
        Value::Array(values) => values.iter_mut().for_each(cut_texts),
        Value::Object(members) => members.values_mut().for_each(cut_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn cut_text(text: &str) -> String {
    match text.chars().count() > LONGEST_INPUT {
        true => format!("{} (cut here)", preview(text, LONGEST_INPUT)),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Steps with one result each, of so many characters, behind a prompt.
    fn steps(count: usize, chars: usize) -> Vec<Message> {
        let step = |at: usize| {
            let (id, input) = (format!("c{at}"), ToolInput::Json(json!({ "path": "a.rs" })));
            let call = Block::ToolUse { id: id.clone(), name: "read_file".into(), input };
            let result = Block::result(id, "x".repeat(chars), false);
            [(Role::Assistant, call), (Role::User, result)]
                .map(|(role, block)| Message { role, content: vec![block] })
        };
        [Message::user("Read.")].into_iter().chain((0..count).flat_map(step)).collect()
    }

    fn tail_of(messages: &[Message], squeeze: Squeeze, most: usize) -> CompactedTail {
        tail(&messages.iter().collect::<Vec<_>>(), squeeze, most)
    }

    #[test]
    fn whole_steps_stay_as_they_fit_and_old_results_give_way() {
        let messages = steps(10, 1_000);
        // A step that stays whole takes about 1,150 bytes, one whose result gives way about 170.
        for (most, kept, changed) in [
            (0, 2, vec![]),
            (1_000, 2, vec![]),
            (1_200, 4, vec![]),
            (2_400, 6, vec![]),
            (2_600, 8, vec![1]),
            (2_700, 10, vec![1, 3]),
            (usize::MAX, 20, vec![1, 3, 5, 7, 9, 11, 13]),
        ] {
            let tail = tail_of(&messages, Squeeze::Steps, most);
            let numbers: Vec<usize> = tail.changed.iter().map(|(at, _)| *at).collect();
            assert_eq!((tail.kept, numbers), (kept, changed), "{most}");
            for (_, content) in &tail.changed {
                let Some(Block::ToolResult { content, .. }) = content.first() else { panic!() };
                assert_eq!(briefly(content), "[Previous: used read_file]");
            }
        }
    }

    #[test]
    fn the_last_step_stays_and_gives_up_what_is_long_in_it() {
        let messages = steps(3, 1_000);
        let last = tail_of(&messages, Squeeze::LastStep, usize::MAX);
        assert_eq!(last, CompactedTail { kept: 2, changed: vec![] });
        let trimmed = tail_of(&messages, Squeeze::Trimmed, usize::MAX);
        assert_eq!((trimmed.kept, trimmed.changed.len()), (2, 2));
        assert_eq!(tail_of(&messages[..1], Squeeze::Steps, 9), CompactedTail::default());
    }
}
