//! JSON in a text: where it ends, how it is read where it is not quite JSON, and the calls that are in it.

use super::{call::PrintedCall, scan::Scanner};
use crate::ToolInput;
use serde_json::{Map, Value};

/// Names of the member that names the tool, and of that which holds the arguments.
const NAMES: &[&str] = &["name", "tool", "tool_name", "function"];
const ARGUMENTS: &[&str] = &["arguments", "parameters", "input", "args"];

/// Names of the member that holds calls, in what is written like a whole reply.
const LISTS: &[&str] = &["tool_calls", "tool_call", "function_call"];

/// How far into a text that is cut off the name of its tool is looked for, in bytes.
const NAME_WITHIN: usize = 400;

/// Where the object or list ends that begins `text`; none where it is cut off.
pub(super) fn end_of(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at.saturating_add(1));
                }
            }
            _ => {}
        }
    }
    None
}

/// Reads JSON, also with raw line ends in its strings and with commas behind the last member.
pub(super) fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&mended(text))).ok()
}

fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut is_escaped) = (false, false);
    for c in text.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            '\n' | '\r' | '\t' if in_string => {
                out.push_str(match c {
                    '\n' => "\\n",
                    '\r' => "\\r",
                    _ => "\\t",
                });
                continue;
            }
            '}' | ']' if !in_string => {
                let kept = out.trim_end().len();
                if out.trim_end().ends_with(',') {
                    out.truncate(kept.saturating_sub(1));
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

/// The calls that are all of a value: one, a list of them, or those of what is written like a reply.
pub(super) fn calls(scanner: &Scanner<'_>, value: &Value) -> Option<Vec<PrintedCall>> {
    let all = |values: &[Value]| {
        let calls: Option<Vec<_>> = values.iter().map(|value| call(scanner, value, 0)).collect();
        calls.filter(|calls| !calls.is_empty())
    };
    if let Value::Array(values) = value {
        return all(values);
    }
    match LISTS.iter().find_map(|name| value.get(name)) {
        Some(Value::Array(values)) => all(values),
        Some(value) => all(std::slice::from_ref(value)),
        None => all(std::slice::from_ref(value)),
    }
}

fn call(scanner: &Scanner<'_>, value: &Value, depth: u32) -> Option<PrintedCall> {
    let member = |names: &[&str]| names.iter().find_map(|name| value.get(name));
    let named = member(NAMES)?;
    if named.is_object() && depth == 0 {
        // As the protocol writes it: {"type": "function", "function": {…}}.
        return call(scanner, named, 1);
    }
    let name = scanner.tool(named.as_str()?)?;
    let input = match member(ARGUMENTS)? {
        Value::String(text) => match self::value(text) {
            Some(value) => ToolInput::Json(value),
            None => ToolInput::parse(text),
        },
        input @ Value::Object(_) => ToolInput::Json(input.clone()),
        _ => return None,
    };
    Some(PrintedCall { name, input })
}

/// Strings by name, as an input.
pub(super) fn input_of(members: Vec<(String, String)>) -> ToolInput {
    let members = members.into_iter().map(|(name, text)| (name, Value::String(text)));
    ToolInput::Json(Value::Object(members.collect::<Map<_, _>>()))
}

/// The tool that a text names like a call, which can't be read: `{"name": "bash", "argum`.
pub(super) fn hint(scanner: &Scanner<'_>, text: &str) -> Option<String> {
    let most = (0..=NAME_WITHIN.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
    let text = text.get(..most)?;
    let mut words = text.split('"').skip(1);
    while let Some(word) = words.next() {
        let is_name = NAMES.contains(&word);
        let colon = words.next()?;
        if is_name && colon.trim() == ":" {
            // The name of a function may be in an object of its own.
            let tool = words.next().and_then(|name| scanner.tool(name));
            if tool.is_some() {
                return tool;
            }
            words.next()?;
        }
    }
    None
}
