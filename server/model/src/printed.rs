//! Calls of tools that a model has printed as text, in place of using the tool interface.
//!
//! Small local models do so: as JSON between `<tool_call>` tags, in a fence, or as all they say. Only what
//! names a tool that was offered counts: a model may well write JSON as an answer. Nothing is decided
//! here about what such a call means.

use crate::{Block, ToolInput};
use serde_json::Value;
use std::ops::Range;

/// What opens and closes a printed call. One that is never closed goes to the end of the text.
const BRACKETS: [(&str, &str); 3] =
    [("<tool_call>", "</tool_call>"), ("[TOOL_CALLS]", "\n"), ("```", "```")];

/// Names of the member that names the tool, and of that which holds the arguments.
const NAMES: &[&str] = &["name", "tool", "tool_name", "function"];
const ARGUMENTS: &[&str] = &["arguments", "parameters", "input", "args"];

/// A call that was printed.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedCall {
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: ToolInput,
}

/// The calls printed in a text, in order, and the text without them. `is_tool` says which names are those
/// of tools. Linear in the text, but for names.
pub fn printed_calls(text: &str, is_tool: impl Fn(&str) -> bool) -> (Vec<PrintedCall>, String) {
    let mut calls = read(text, &is_tool);
    if !calls.is_empty() {
        return (calls, String::new());
    }
    let (mut rest, mut from) = (String::new(), 0);
    let mut opened = BRACKETS.map(|(open, _)| text.find(open));
    while let Some((inner, after)) = bracketed(text, from, &mut opened) {
        let found =
            text.get(inner.1.clone()).map(|inner| read(inner, &is_tool)).unwrap_or_default();
        let kept = if found.is_empty() { after } else { inner.0 };
        rest.push_str(text.get(from..kept).unwrap_or_default());
        calls.extend(found);
        from = after;
    }
    rest.push_str(text.get(from..).unwrap_or_default());
    (calls, rest.trim().to_owned())
}

/// Puts calls in the place of their texts in a reply. Says whether there were any.
pub fn take_printed_calls(blocks: &mut Vec<Block>, is_tool: impl Fn(&str) -> bool) -> bool {
    let mut calls = Vec::new();
    for block in blocks.iter_mut() {
        if let Block::Text { text } = block {
            let (found, rest) = printed_calls(text, &is_tool);
            if !found.is_empty() {
                *text = rest;
                calls.extend(found);
            }
        }
    }
    let any = !calls.is_empty();
    blocks.retain(|block| !block.is_blank());
    blocks.extend(calls.into_iter().enumerate().map(|(number, call)| Block::ToolUse {
        id: format!("printed_{number}"),
        name: call.name,
        input: call.input,
    }));
    any
}

/// The next bracketed part from `from` on: where its bracket begins and what is inside, and where it ends.
/// `opened` is where each bracket was last seen to open: no part of the text is searched twice for the same one.
fn bracketed(
    text: &str,
    from: usize,
    opened: &mut [Option<usize>; 3],
) -> Option<((usize, Range<usize>), usize)> {
    for (at, (open, _)) in opened.iter_mut().zip(BRACKETS) {
        if at.is_some_and(|at| at < from) {
            *at = text.get(from..)?.find(open).map(|ahead| from.saturating_add(ahead));
        }
    }
    let opened = opened.iter().zip(BRACKETS).filter_map(|(at, pair)| Some(((*at)?, pair)));
    let (start, (open, close)) = opened.min_by_key(|(at, _)| *at)?;
    let mut inner = start.saturating_add(open.len());
    if open == "```" {
        // The language of a fence.
        let line = text.get(inner..)?;
        let word =
            line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
        inner = inner.saturating_add(word);
    }
    let body = text.get(inner..)?;
    let len = body.find(close).unwrap_or(body.len());
    let end = inner.saturating_add(len);
    let after = end.saturating_add(close.len()).min(text.len());
    Some(((start, inner..end), after))
}

/// The calls in a JSON text: one, a list of them, or one behind the other. None unless all of it is calls.
fn read(text: &str, is_tool: &impl Fn(&str) -> bool) -> Vec<PrintedCall> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Vec::new();
    }
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let values = match value {
            Ok(Value::Array(values)) => values,
            Ok(value) => vec![value],
            Err(_) => return Vec::new(),
        };
        for value in &values {
            match call(value, is_tool) {
                Some(call) => calls.push(call),
                None => return Vec::new(),
            }
        }
    }
    calls
}

fn call(value: &Value, is_tool: &impl Fn(&str) -> bool) -> Option<PrintedCall> {
    let member = |names: &[&str]| names.iter().find_map(|name| value.get(name));
    let named = member(NAMES)?;
    if named.is_object() {
        // As the protocol writes it: {"type": "function", "function": {…}}.
        return call(named, is_tool);
    }
    let name = named.as_str().filter(|name| is_tool(name))?.to_owned();
    let input = match member(ARGUMENTS)? {
        Value::String(text) => ToolInput::parse(text),
        input @ Value::Object(_) => ToolInput::Json(input.clone()),
        _ => return None,
    };
    Some(PrintedCall { name, input })
}
