//! Calls of tools that a model has printed as text, in place of using the tool interface.
//!
//! Small local models do so, and others whose server does not know the form in which they write calls. Only what
//! names a tool that was offered counts: a model may well write JSON, or about such forms, as an answer. So a call
//! counts as meant only where it stands like one: outside of quotes and of code in other languages, and at the end of
//! the reply. Nothing is decided here about what such a call means.

mod body;
mod call;
mod json;
mod python;
mod scan;

use crate::Block;
pub use call::PrintedCall;

use ropewalk_protocol::Content;
use scan::{ScannedCall, scan};

/// The longest sentence that may follow a call which is meant: "Done."
const MOST_AFTER: usize = 40;

/// The calls printed in a text, in order, and the text without them. `is_tool` says which names are those of tools.
/// None where any of them can't be read, or may be an example. Linear in the text.
pub fn printed_calls(text: &str, is_tool: impl Fn(&str) -> bool) -> (Vec<PrintedCall>, String) {
    let items = scan(text, &is_tool);
    if !are_meant(text, &items) {
        return (Vec::new(), text.trim().to_owned());
    }
    let (mut calls, mut rest, mut from) = (Vec::new(), String::new(), 0);
    for item in items {
        rest.push_str(text.get(from..item.range.start).unwrap_or_default());
        from = item.range.end;
        calls.extend(item.calls);
    }
    rest.push_str(text.get(from..).unwrap_or_default());
    (calls, rest.trim().to_owned())
}

/// The first tool of which a text seems to hold a call, also where [`printed_calls`] does not read it: one that is
/// cut off, or whose form is another. None for what stands in the midst of an answer. Linear in the text.
pub fn printed_tool(text: &str, is_tool: impl Fn(&str) -> bool) -> Option<String> {
    let items = scan(text, &is_tool);
    let is_meant = are_meant(text, &items);
    let seems = |item: &&ScannedCall| {
        let is_last = text.get(item.range.end..).unwrap_or_default().trim().is_empty();
        is_meant || item.starts_line && (is_last || item.is_marked && item.ends_line)
    };
    items.iter().find(seems).map(|item| item.tool().to_owned())
}

/// Puts calls in the place of their texts in a reply. Says whether there were any.
pub fn take_printed_calls(blocks: &mut Vec<Block>, is_tool: impl Fn(&str) -> bool) -> bool {
    let mut calls = Vec::new();
    for block in blocks.iter_mut() {
        if let Block::Content(Content::Text { text }) = block {
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

/// True if the calls of a text are to be made: all can be read, nothing stands between them, and after them no more
/// than a short sentence. An example is followed by the explanation.
fn are_meant(text: &str, items: &[ScannedCall]) -> bool {
    let Some(last) = items.last() else { return false };
    let after = text.get(last.range.end..).unwrap_or_default().trim();
    let is_sentence = after.len() <= MOST_AFTER && after.starts_with(char::is_uppercase);
    let gaps = items.iter().zip(items.iter().skip(1));
    let mut between = gaps.map(|(one, next)| text.get(one.range.end..next.range.start));
    (after.is_empty() || is_sentence)
        && between.all(|gap| gap.is_some_and(|gap| gap.trim().is_empty()))
        && items.iter().all(|item| {
            let is_whole = item.range.len() >= text.trim().len();
            (item.is_clear || is_whole)
                && !item.calls.is_empty()
                && (item.starts_line || item.ends_line)
        })
}
