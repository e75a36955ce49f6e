//! Where printed calls stand in a text: the walk over it, and what is code or a quotation.
//!
//! One pass. What opens and is never closed is looked for [`MOST_MISSES`] times at most, so that no text costs more
//! than its length.

use super::{
    body::{PrintedBody, body},
    call::PrintedCall,
};
use std::{collections::HashMap, ops::Range};

/// Searches to the end of the text that may find nothing.
const MOST_MISSES: u32 = 16;

/// The longest name of a tool that is looked at.
const LONGEST_NAME: usize = 64;

/// Marks that open a call, or stand before one, in the words of models' templates.
const WRAPPERS: &[&str] = &[
    "<tool_call>",
    "<tool_calls>",
    "<function_calls>",
    "<|tool_call|>",
    "<|python_tag|>",
    "<|start|>assistant",
    "<|channel|>commentary",
    "<|channel|>analysis",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜DSML｜function_calls>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "[TOOL_CALLS]",
];

/// Marks that may stand after one.
const CLOSERS: &[&str] = &[
    "</tool_call>",
    "</tool_calls>",
    "</function>",
    "</function_calls>",
    "[/TOOL_CALLS]",
    "```",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<｜end▁of▁sentence｜>",
    "</｜DSML｜function_calls>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
    "<|call|>",
    "<|end|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|im_end|>",
    "</s>",
];

/// Languages of fences that hold calls; a fence without one does, too.
const LANGUAGES: &[&str] =
    &["", "json", "tool_call", "tool_calls", "tool_code", "tool", "function_call"];

/// Of these, those in which a call may be Python.
const PYTHON: &[&str] = &["tool_code"];

/// A call in a text, or what seems to be one.
pub(super) struct ScannedCall {
    pub(super) range: Range<usize>,
    /// Empty where none can be read.
    pub(super) calls: Vec<PrintedCall>,
    /// The tool of one that can't be read.
    hint: String,
    /// True if its form is one in which nothing but calls is written.
    pub(super) is_clear: bool,
    /// True if marks stand around it that only calls have.
    pub(super) is_marked: bool,
    /// True if nothing but calls stands before it on its line.
    pub(super) starts_line: bool,
    /// Likewise after it.
    pub(super) ends_line: bool,
}

impl ScannedCall {
    /// Its first tool.
    pub(super) fn tool(&self) -> &str {
        self.calls.first().map_or(&self.hint, |call| &call.name)
    }
}

/// All calls of a text, in order, and what seems to be one.
pub(super) fn scan(text: &str, is_tool: &dyn Fn(&str) -> bool) -> Vec<ScannedCall> {
    let mut scanner = Scanner { text, is_tool, ahead: HashMap::new(), misses: 0 };
    let (mut items, mut at, mut starts_line) = (Vec::new(), 0, true);
    while let Some(next) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let step = match next {
            '\n' => {
                starts_line = true;
                ScanStep::To(at.saturating_add(1))
            }
            // A quotation.
            '>' if starts_line => ScanStep::To(scanner.line_end(at)),
            next if next.is_whitespace() => ScanStep::To(at.saturating_add(next.len_utf8())),
            '`' => scanner.code(at, starts_line),
            '<' | '[' | '{' => scanner.call(at, starts_line),
            next if starts_line && (next.is_ascii_alphabetic() || next == '_') => {
                scanner.call(at, true)
            }
            _ => ScanStep::None,
        };
        match step {
            ScanStep::Call(item) => {
                at = item.range.end.max(at.saturating_add(1));
                items.push(*item);
            }
            ScanStep::To(to) if to > at => {
                starts_line &= next.is_whitespace();
                at = to;
            }
            _ => {
                starts_line = false;
                at = scanner.next_sign(at.saturating_add(next.len_utf8()));
            }
        }
    }
    items
}

enum ScanStep {
    Call(Box<ScannedCall>),
    To(usize),
    None,
}

/// A text, and how far it was searched for what closes something.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    is_tool: &'a dyn Fn(&str) -> bool,
    /// From where each needle was searched for, and where it was.
    ahead: HashMap<&'static str, (usize, Option<usize>)>,
    misses: u32,
}

impl<'a> Scanner<'a> {
    pub(super) fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    /// The place of a needle from `from` on. No part of the text is searched twice for the same one, as long as
    /// `from` grows.
    pub(super) fn find(&mut self, needle: &'static str, from: usize) -> Option<usize> {
        if let Some((searched, found)) = self.ahead.get(needle)
            && from >= *searched
            && found.is_none_or(|found| found >= from)
        {
            return *found;
        }
        let found = self.text.get(from..)?.find(needle).map(|ahead| from.saturating_add(ahead));
        self.ahead.insert(needle, (from, found));
        found
    }

    /// True if one more search to the end of the text may be made. To be asked before each.
    pub(super) fn may_search(&self) -> bool {
        self.misses < MOST_MISSES
    }

    /// One has found nothing.
    pub(super) fn missed(&mut self) {
        self.misses = self.misses.saturating_add(1);
    }

    /// The tool that is meant by a name, which may have the name of a group before it.
    pub(super) fn tool(&self, name: &str) -> Option<String> {
        let name = name.trim();
        if name.is_empty() || name.len() > LONGEST_NAME {
            return None;
        }
        let bare = name.rsplit('.').next().unwrap_or(name);
        [name, bare].into_iter().find(|name| (self.is_tool)(name)).map(str::to_owned)
    }

    /// Where spaces end.
    pub(super) fn skip_space(&self, at: usize) -> usize {
        let rest = self.rest(at);
        at.saturating_add(rest.len().saturating_sub(rest.trim_start().len()))
    }

    /// Behind all of `marks` that stand here, with spaces between; `at` itself where there is none.
    fn skip_marks(&self, mut at: usize, marks: &[&str]) -> usize {
        loop {
            let next = self.skip_space(at);
            let rest = self.rest(next);
            let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) else { return at };
            at = next.saturating_add(mark.len());
        }
    }

    fn line_end(&mut self, at: usize) -> usize {
        self.find("\n", at).unwrap_or(self.text.len())
    }

    /// The next place where a call or code may begin.
    fn next_sign(&self, at: usize) -> usize {
        let rest = self.rest(at).as_bytes();
        let sign = rest.iter().position(|byte| matches!(byte, b'\n' | b'<' | b'[' | b'`'));
        at.saturating_add(sign.unwrap_or(rest.len()))
    }

    /// A call that begins here.
    fn call(&mut self, at: usize, starts_line: bool) -> ScanStep {
        let begin = self.skip_marks(at, WRAPPERS);
        let is_wrapped = begin > at;
        let begin = if is_wrapped { self.skip_space(begin) } else { begin };
        let is_python_alone = !is_wrapped && !self.rest(begin).starts_with(['<', '{']);
        let (calls, hint, end) = match body(self, begin, is_wrapped, starts_line) {
            PrintedBody::Calls(calls, end) => (calls, String::new(), end),
            PrintedBody::Unread(tool, end) => (Vec::new(), tool, end),
            PrintedBody::Skip(end) => return ScanStep::To(end),
            PrintedBody::None if is_wrapped => return ScanStep::To(begin),
            PrintedBody::None => return ScanStep::None,
        };
        let is_list = self.rest(begin).starts_with('[')
            && self.rest(begin.saturating_add(1)).trim_start().starts_with(['{', '[']);
        let is_clear = !is_python_alone || is_list;
        let is_marked = is_wrapped || self.rest(begin).starts_with('<');
        let end = if is_marked { self.skip_marks(end, CLOSERS) } else { end };
        self.item(at..end, (calls, hint), (is_clear, is_marked), starts_line)
    }

    fn item(
        &self,
        range: Range<usize>,
        (calls, hint): (Vec<PrintedCall>, String),
        (is_clear, is_marked): (bool, bool),
        starts_line: bool,
    ) -> ScanStep {
        let after = self.rest(range.end).trim_start_matches([' ', '\t', '\r']);
        let ends_line = after.is_empty()
            || after.starts_with(['\n', '<'])
            || WRAPPERS.iter().any(|mark| after.starts_with(mark));
        let item = ScannedCall { range, calls, hint, is_clear, is_marked, starts_line, ends_line };
        ScanStep::Call(Box::new(item))
    }

    /// Behind the code that begins here, or the call that it is.
    fn code(&mut self, at: usize, starts_line: bool) -> ScanStep {
        let rest = self.rest(at);
        if !rest.starts_with("```") {
            let quote = if rest.starts_with("``") { "``" } else { "`" };
            let after = at.saturating_add(quote.len());
            let line_end = self.line_end(after);
            let close = self.find(quote, after).filter(|close| *close < line_end);
            return ScanStep::To(close.map_or(after, |close| close.saturating_add(quote.len())));
        }
        let inner = at.saturating_add(3);
        let word = self.rest(inner);
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | '#');
        let length = word.find(|c| !is_word(c)).unwrap_or(word.len());
        let language = word.get(..length).unwrap_or_default().to_ascii_lowercase();
        let inner = inner.saturating_add(length);
        let (close, end) = match self.find("```", inner) {
            Some(close) => (close, close.saturating_add(3)),
            None => (self.text.len(), self.text.len()),
        };
        if !LANGUAGES.contains(&language.as_str()) {
            return ScanStep::To(end);
        }
        self.fenced(at, inner..close, end, PYTHON.contains(&&*language), starts_line)
    }

    /// The calls that are all of what stands in a fence.
    fn fenced(
        &self,
        at: usize,
        inner: Range<usize>,
        end: usize,
        is_python: bool,
        starts_line: bool,
    ) -> ScanStep {
        let text = self.text.get(inner).unwrap_or_default().trim();
        let mut part = Scanner { text, is_tool: self.is_tool, ahead: HashMap::new(), misses: 0 };
        let (mut calls, mut from) = (Vec::new(), 0);
        while from < text.len() {
            // Other forms in a fence are shown rather than used.
            let may_be = is_python || part.rest(from).starts_with(['{', '[']);
            match if may_be { body(&mut part, from, is_python, true) } else { PrintedBody::None } {
                PrintedBody::Calls(found, to) if to > from => {
                    calls.extend(found);
                    from = part.skip_space(to);
                }
                PrintedBody::Unread(tool, _) if calls.is_empty() => {
                    return self.item(at..end, (Vec::new(), tool), (false, false), starts_line);
                }
                _ => return ScanStep::To(end),
            }
        }
        match calls.is_empty() {
            true => ScanStep::To(end),
            false => self.item(at..end, (calls, String::new()), (true, is_python), starts_line),
        }
    }
}
