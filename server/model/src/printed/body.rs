//! The forms of a printed call, without what stands around it: JSON, tags, a name before JSON, Python.

use super::{call::PrintedCall, json, python, scan::Scanner};
use crate::ToolInput;
use serde_json::Value;

/// The thing at a place in a text.
pub(super) enum PrintedBody {
    /// Calls, and where they end.
    Calls(Vec<PrintedCall>, usize),
    /// A call of this tool that can't be read, and where it ends.
    Unread(String, usize),
    /// No call, up to there.
    Skip(usize),
    /// Nothing.
    None,
}

/// Marks of a call in tags: before its name, before the name of a parameter, after a parameter, after the call.
struct Tags {
    call: &'static str,
    parameter: &'static str,
    parameter_end: &'static str,
    end: &'static str,
}

/// Qwen3-Coder and Llama; Anthropic, twice; DeepSeek.
const TAGS: &[Tags] = &[
    Tags {
        call: "<function=",
        parameter: "<parameter=",
        parameter_end: "</parameter>",
        end: "</function>",
    },
    Tags {
        call: "<invoke name=\"",
        parameter: "<parameter name=\"",
        parameter_end: "</parameter>",
        end: "</invoke>",
    },
    Tags {
        call: "<antml:invoke name=\"",
        parameter: "<antml:parameter name=\"",
        parameter_end: "</antml:parameter>",
        end: "</antml:invoke>",
    },
    Tags {
        call: "<｜DSML｜invoke name=\"",
        parameter: "<｜DSML｜parameter name=\"",
        parameter_end: "</｜DSML｜parameter>",
        end: "</｜DSML｜invoke>",
    },
];

/// Marks between the mark of a call and the name of its tool.
const BEFORE_NAME: &[&str] = &["function<｜tool▁sep｜>", "to=", "functions."];

/// Marks between the name of a tool and its arguments. A number is that of the call.
const BEFORE_ARGUMENTS: &[&str] = &[
    "[ARGS]",
    "[CALL_ID]",
    "<｜tool▁sep｜>",
    "```json",
    "```",
    "<|constrain|>",
    "<|channel|>commentary",
    "<|message|>",
    "<|tool_call_argument_begin|>",
    "json",
    "code",
    ":",
];

/// The longest name in a tag that is looked at, and the rest of the tag.
const LONGEST_TAG: usize = 128;

/// Reads what stands at `at`. `is_wrapped`: marks of a call stand before it; `starts_line`: nothing does.
pub(super) fn body(
    scanner: &mut Scanner<'_>,
    at: usize,
    is_wrapped: bool,
    starts_line: bool,
) -> PrintedBody {
    let rest = scanner.rest(at);
    if let Some(tags) = TAGS.iter().find(|tags| rest.starts_with(tags.call)) {
        return tagged(scanner, at, tags);
    }
    if !is_wrapped && !starts_line {
        return PrintedBody::None;
    }
    if rest.starts_with(['{', '[']) {
        return match python(scanner, at) {
            PrintedBody::None => values(scanner, at),
            read => read,
        };
    }
    match if is_wrapped { named(scanner, at) } else { PrintedBody::None } {
        PrintedBody::None => python(scanner, at),
        read => read,
    }
}

/// JSON, or one behind the other.
fn values(scanner: &mut Scanner<'_>, at: usize) -> PrintedBody {
    let (mut calls, mut end) = (Vec::new(), at);
    let mut next = at;
    while scanner.rest(next).starts_with(['{', '[']) && scanner.may_search() {
        let rest = scanner.rest(next);
        let hint = |scanner: &Scanner<'_>, end| match json::hint(scanner, rest) {
            Some(tool) => PrintedBody::Unread(tool, end),
            None => PrintedBody::Skip(end),
        };
        let Some(length) = json::end_of(rest) else {
            scanner.missed();
            return match json::hint(scanner, rest) {
                Some(tool) => PrintedBody::Unread(tool, scanner.text.len()),
                None if calls.is_empty() => PrintedBody::None,
                None => PrintedBody::Calls(calls, end),
            };
        };
        let to = next.saturating_add(length);
        let value = rest.get(..length).and_then(json::value);
        match value.as_ref().map(|value| json::calls(scanner, value)) {
            Some(Some(found)) => calls.extend(found),
            _ if !calls.is_empty() => break,
            Some(None) => return PrintedBody::Skip(to),
            None => return hint(scanner, to),
        }
        end = to;
        next = scanner.skip_space(to);
        if scanner.rest(next).starts_with([',', ';']) {
            next = scanner.skip_space(next.saturating_add(1));
        }
    }
    if calls.is_empty() { PrintedBody::None } else { PrintedBody::Calls(calls, end) }
}

/// The name in a tag behind `at`, which is the end of its mark, and where the tag ends.
fn name_in_tag<'a>(scanner: &Scanner<'a>, at: usize) -> Option<(&'a str, usize)> {
    let rest = scanner.rest(at);
    let bytes = rest.as_bytes().iter().take(LONGEST_TAG);
    let length = bytes.clone().position(|byte| matches!(byte, b'"' | b'>' | b' ' | b'\n'))?;
    let close = bytes.clone().position(|byte| *byte == b'>')?;
    Some((rest.get(..length)?, at.saturating_add(close).saturating_add(1)))
}

/// A call in tags, whose arguments are tags, too, or JSON.
fn tagged(scanner: &mut Scanner<'_>, at: usize, tags: &'static Tags) -> PrintedBody {
    let name = name_in_tag(scanner, at.saturating_add(tags.call.len()));
    let Some((name, mut next)) = name else { return PrintedBody::None };
    let Some(tool) = scanner.tool(name) else { return PrintedBody::Skip(next) };
    next = scanner.skip_space(next);
    if scanner.rest(next).starts_with('{') {
        return arguments(scanner, next, tool, tags.end);
    }
    let mut members = Vec::new();
    loop {
        let rest = scanner.rest(next);
        if rest.starts_with(tags.end) {
            let call = PrintedCall { name: tool, input: json::input_of(members) };
            return PrintedBody::Calls(vec![call], next.saturating_add(tags.end.len()));
        }
        let value = rest
            .starts_with(tags.parameter)
            .then(|| name_in_tag(scanner, next.saturating_add(tags.parameter.len())))
            .flatten();
        let Some((key, from)) = value else { return PrintedBody::Unread(tool, next) };
        let Some(to) = scanner.find(tags.parameter_end, from) else {
            return PrintedBody::Unread(tool, scanner.text.len());
        };
        members.push((key.to_owned(), lines(scanner.text.get(from..to).unwrap_or_default())));
        next = scanner.skip_space(to.saturating_add(tags.parameter_end.len()));
    }
}

/// A value without the line ends that the form puts around it.
fn lines(value: &str) -> String {
    let value = value.strip_prefix('\n').unwrap_or(value);
    value.strip_suffix('\n').unwrap_or(value).to_owned()
}

/// The arguments of a known tool, which are an object.
fn arguments(scanner: &mut Scanner<'_>, at: usize, tool: String, end: &str) -> PrintedBody {
    let rest = scanner.rest(at);
    if !scanner.may_search() {
        return PrintedBody::None;
    }
    let Some(length) = json::end_of(rest) else {
        scanner.missed();
        return PrintedBody::Unread(tool, scanner.text.len());
    };
    let to = at.saturating_add(length);
    match rest.get(..length).and_then(json::value) {
        Some(input @ Value::Object(_)) => {
            let call = PrintedCall { name: tool, input: ToolInput::Json(input) };
            let after = scanner.skip_space(to);
            let is_ended = !end.is_empty() && scanner.rest(after).starts_with(end);
            PrintedBody::Calls(
                vec![call],
                if is_ended { after.saturating_add(end.len()) } else { to },
            )
        }
        _ => PrintedBody::Unread(tool, to),
    }
}

/// A name, and behind it the arguments: an object, or GLM's pairs of tags.
fn named(scanner: &mut Scanner<'_>, at: usize) -> PrintedBody {
    let mut next = at;
    while let Some(mark) = BEFORE_NAME.iter().find(|mark| scanner.rest(next).starts_with(**mark)) {
        next = next.saturating_add(mark.len());
    }
    let rest = scanner.rest(next);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let Some(tool) = rest.get(..length).and_then(|name| scanner.tool(name)) else {
        return PrintedBody::None;
    };
    next = next.saturating_add(length);
    let pairs = scanner.skip_space(next);
    if scanner.rest(pairs).starts_with("<arg_key>") {
        return in_pairs(scanner, pairs, tool);
    }
    if scanner.rest(pairs).starts_with("</tool_call>") {
        let input = json::input_of(Vec::new());
        return PrintedBody::Calls(vec![PrintedCall { name: tool, input }], pairs);
    }
    loop {
        next = scanner.skip_space(next);
        let rest = scanner.rest(next);
        if rest.starts_with('{') {
            return arguments(scanner, next, tool, "");
        }
        let mark = BEFORE_ARGUMENTS.iter().find(|mark| rest.starts_with(**mark));
        let Some(mark) = mark else { break };
        next = next.saturating_add(mark.len());
        if matches!(*mark, "[CALL_ID]" | ":") {
            let rest = scanner.rest(next);
            let id = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            next = next.saturating_add(id);
        }
    }
    match scanner.rest(next) {
        // It may be Python.
        rest if rest.starts_with(['(', '.']) => PrintedBody::None,
        "" => PrintedBody::Unread(tool, next),
        // A tool's name in words that are none of the forms.
        _ if next == pairs => PrintedBody::Skip(next),
        _ => PrintedBody::Unread(tool, next),
    }
}

/// `<arg_key>…</arg_key><arg_value>…</arg_value>`, again and again.
fn in_pairs(scanner: &mut Scanner<'_>, at: usize, tool: String) -> PrintedBody {
    let (mut members, mut next) = (Vec::new(), at);
    loop {
        next = scanner.skip_space(next);
        if !scanner.rest(next).starts_with("<arg_key>") {
            break;
        }
        let key = next.saturating_add("<arg_key>".len());
        let Some(key_end) = scanner.find("</arg_key>", key) else { break };
        let value = scanner.skip_space(key_end.saturating_add("</arg_key>".len()));
        let from = value.saturating_add("<arg_value>".len());
        let end = match scanner.rest(value).starts_with("<arg_value>") {
            true => scanner.find("</arg_value>", from),
            false => None,
        };
        let Some(end) = end else { return PrintedBody::Unread(tool, scanner.text.len()) };
        let part = |from, to| scanner.text.get(from..to).unwrap_or_default();
        members.push((part(key, key_end).trim().to_owned(), lines(part(from, end))));
        next = end.saturating_add("</arg_value>".len());
    }
    let is_ended = scanner.rest(next).starts_with("</tool_call>");
    if members.is_empty() || !is_ended {
        return PrintedBody::Unread(tool, next.max(at.saturating_add(1)));
    }
    PrintedBody::Calls(vec![PrintedCall { name: tool, input: json::input_of(members) }], next)
}

/// A call in Python, or a list of them.
fn python(scanner: &mut Scanner<'_>, at: usize) -> PrintedBody {
    if !scanner.may_search() {
        return PrintedBody::None;
    }
    match python::calls(scanner.rest(at), &|name| scanner.tool(name)) {
        python::PythonRead::Calls(calls, length) => {
            PrintedBody::Calls(calls, at.saturating_add(length))
        }
        python::PythonRead::Unread(tool, true) => {
            scanner.missed();
            PrintedBody::Unread(tool, scanner.text.len())
        }
        python::PythonRead::Unread(tool, false) => {
            let rest = scanner.rest(at);
            let line = rest.split_once('\n').map_or(rest, |(line, _)| line).trim_end();
            // Else it is a sentence: "bash(1) is a manual page".
            match line.ends_with([')', ']']) {
                true => PrintedBody::Unread(tool, at.saturating_add(line.len())),
                false => PrintedBody::None,
            }
        }
        python::PythonRead::None => PrintedBody::None,
    }
}
