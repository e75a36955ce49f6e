//! The cut: which messages stay behind the summary, and how long ones among them are shortened.
//!
//! It lies before a message of the model's, so no pair of call and result is split. What follows the model's last message
//! it has not seen: that stays whatever it takes.

use crate::calls::bounded::sent;
use crate::history::tail::CompactedTail;
use ropewalk_model::{Block, Message, Role, ToolInput};
use ropewalk_protocol::Content;
use ropewalk_tools::Bounds;
use ropewalk_tools::bounds::{bound, preview};
use serde_json::Value;
use std::collections::HashMap;

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
    let is_models = |message: &&Message| message.role == Role::Assistant;
    let Some(last) = messages.iter().rposition(is_models) else { return CompactedTail::default() };
    let from = |at: usize| {
        let kept = messages.get(at..).unwrap_or_default();
        CompactedTail { kept: kept.len(), changed: without_old_results(kept, last - at) }
    };
    let mut best = CompactedTail { kept: messages.len() - last, changed: Vec::new() };
    match squeeze {
        Squeeze::Steps => {
            let earlier = (1..last).rev().filter(|at| messages.get(*at).is_some_and(is_models));
            for at in earlier {
                let tail = from(at);
                let steps = messages.get(at..last).unwrap_or_default();
                if length(steps, &tail) > most {
                    break;
                }
                best = tail;
            }
        }
        Squeeze::LastStep | Squeeze::Halves => {}
        Squeeze::Trimmed => best.changed = trimmed(messages.get(last..).unwrap_or_default()),
    }
    best
}

/// True if there is something before the model's last message that a summary can take the place of.
pub(super) fn is_possible(messages: &[&Message]) -> bool {
    messages.iter().any(|message| message.role == Role::Assistant)
}

/// The length of messages with what changes in them, in bytes, roughly.
fn length(messages: &[&Message], tail: &CompactedTail) -> usize {
    let changed: HashMap<usize, &Vec<Block>> =
        tail.changed.iter().map(|(at, content)| (*at, content)).collect();
    let content = |(at, message): (usize, &&Message)| {
        let content = changed.get(&at).copied().unwrap_or(&message.content);
        content.iter().map(bytes).sum::<usize>()
    };
    messages.iter().enumerate().map(content).sum()
}

/// Bytes of a block on the wire, roughly.
pub(super) fn bytes(block: &Block) -> usize {
    /// Bytes around a block.
    const AROUND: usize = 60;
    let texts = |content: &[Content]| content.iter().map(|part| sent(&part.briefly())).sum();
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

/// The contents of messages in which results give way to a line, all but the last few. `unseen`: the number of the first
/// message whose results the model may not have seen.
fn without_old_results(messages: &[&Message], unseen: usize) -> Vec<(usize, Vec<Block>)> {
    let names = names(messages);
    let (mut whole, mut changed) = (0, Vec::new());
    for (at, message) in messages.iter().enumerate().rev() {
        let mut content = message.content.clone();
        let mut is_changed = false;
        for block in content.iter_mut().rev() {
            let Block::ToolResult { tool_use_id, content, .. } = block else { continue };
            whole += 1;
            let name = names.get(tool_use_id.as_str()).copied().unwrap_or("a tool");
            let line = format!("[Previous: used {name}]");
            if at < unseen && whole > WHOLE_RESULTS && briefly(content).len() > line.len() {
                *content = vec![Content::text(line)];
                is_changed = true;
            }
        }
        if is_changed {
            changed.push((at, content));
        }
    }
    changed
}

fn briefly(content: &[Content]) -> String {
    ropewalk_protocol::content::briefly(content)
}

/// The tools of calls by their ids.
fn names<'a>(messages: &[&'a Message]) -> HashMap<&'a str, &'a str> {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let calls = blocks.filter_map(|block| match block {
        Block::ToolUse { id, name, .. } => Some((id.as_str(), name.as_str())),
        _ => None,
    });
    calls.collect()
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
