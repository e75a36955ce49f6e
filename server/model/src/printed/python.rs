//! Calls written in Python: `bash(command="ls")`, `[read_file(path='a'), …]`, `print(default_api.bash(…))`.
//!
//! Only what can mean one thing is read: arguments by name, whose values are written out.

use super::call::PrintedCall;
use crate::ToolInput;
use serde_json::{Map, Number, Value};

/// The deepest nesting of lists and dictionaries.
const DEEPEST: u32 = 64;

/// The thing at the beginning of a text.
pub(super) enum PythonRead {
    /// Calls, and their length in bytes.
    Calls(Vec<PrintedCall>, usize),
    /// A call of this tool that is none of those that can be read; true if the text ends in its midst.
    Unread(String, bool),
    /// No call.
    None,
}

/// Reads a call, or a list of calls and nothing else.
pub(super) fn calls(text: &str, tool: &dyn Fn(&str) -> Option<String>) -> PythonRead {
    let mut reader = PythonReader { text, at: 0 };
    if !text.starts_with('[') {
        return match reader.call(tool) {
            Ok(call) => PythonRead::Calls(vec![call], reader.at),
            Err(tool) => reader.unread(tool),
        };
    }
    reader.at = 1;
    let mut calls = Vec::new();
    loop {
        reader.skip_space();
        if !calls.is_empty() && reader.take("]") {
            return PythonRead::Calls(calls, reader.at);
        }
        match reader.call(tool) {
            Ok(call) => calls.push(call),
            Err(tool) => return reader.unread(tool),
        }
        reader.skip_space();
        if !reader.take(",") && !reader.rest().starts_with(']') {
            return reader.unread(calls.pop().map(|call| call.name));
        }
    }
}

/// Of a call that can't be read: its tool, if that is known.
type PrintedFailure = Option<String>;

struct PythonReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> PythonReader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn unread(&self, tool: PrintedFailure) -> PythonRead {
        let is_cut = self.rest().trim().is_empty();
        tool.map_or(PythonRead::None, |tool| PythonRead::Unread(tool, is_cut))
    }

    fn take(&mut self, mark: &str) -> bool {
        let is_there = self.rest().starts_with(mark);
        if is_there {
            self.at = self.at.saturating_add(mark.len());
        }
        is_there
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at = self.at.saturating_add(rest.len().saturating_sub(rest.trim_start().len()));
    }

    /// A name, perhaps with dots.
    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let name = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        let name = name.unwrap_or_default();
        self.at = self.at.saturating_add(name.len());
        name
    }

    fn call(
        &mut self,
        tool: &dyn Fn(&str) -> Option<String>,
    ) -> Result<PrintedCall, PrintedFailure> {
        let is_printed = self.take("print(");
        let name = self.name();
        // Llama's own tools are called by a method.
        let name = name.strip_suffix(".call").unwrap_or(name);
        if !self.take("(") {
            return Err(None);
        }
        let tool = tool(name).ok_or(None)?;
        let cut = || Some(tool.clone());
        let mut members = Map::new();
        loop {
            self.skip_space();
            if self.take(")") {
                break;
            }
            let key = self.name();
            self.skip_space();
            if key.is_empty() || !self.take("=") {
                return Err(cut());
            }
            let value = self.value(0).ok_or_else(cut)?;
            members.insert(key.to_owned(), value);
            self.skip_space();
            if !self.take(",") && !self.rest().starts_with(')') {
                return Err(cut());
            }
        }
        if is_printed && !self.take(")") {
            return Err(cut());
        }
        Ok(PrintedCall { name: tool, input: ToolInput::Json(Value::Object(members)) })
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        self.skip_space();
        let rest = self.rest();
        for (word, value) in [
            ("True", Value::Bool(true)),
            ("true", Value::Bool(true)),
            ("False", Value::Bool(false)),
            ("false", Value::Bool(false)),
            ("None", Value::Null),
            ("null", Value::Null),
        ] {
            if self.take(word) {
                return Some(value);
            }
        }
        match rest.chars().next()? {
            '"' | '\'' => self.string().map(Value::String),
            '[' if depth < DEEPEST => self.list(depth),
            '{' if depth < DEEPEST => self.dictionary(depth),
            _ => self.number().map(Value::Number),
        }
    }

    fn list(&mut self, depth: u32) -> Option<Value> {
        self.take("[");
        let mut values = Vec::new();
        loop {
            self.skip_space();
            if self.take("]") {
                return Some(Value::Array(values));
            }
            values.push(self.value(depth.saturating_add(1))?);
            self.skip_space();
            if !self.take(",") && !self.rest().starts_with(']') {
                return None;
            }
        }
    }

    fn dictionary(&mut self, depth: u32) -> Option<Value> {
        self.take("{");
        let mut members = Map::new();
        loop {
            self.skip_space();
            if self.take("}") {
                return Some(Value::Object(members));
            }
            let key = self.string()?;
            self.skip_space();
            if !self.take(":") {
                return None;
            }
            members.insert(key, self.value(depth.saturating_add(1))?);
            self.skip_space();
            if !self.take(",") && !self.rest().starts_with('}') {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<Number> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let text = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len()))?;
        self.at = self.at.saturating_add(text.len());
        serde_json::from_str(text).ok()
    }

    /// A string in any quotes. One in single quotes ends on its line.
    fn string(&mut self) -> Option<String> {
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| self.take(quote))?;
        let is_long = quote.len() == 3;
        let mut out = String::new();
        loop {
            if self.take(quote) {
                return Some(out);
            }
            let c = self.rest().chars().next()?;
            self.at = self.at.saturating_add(c.len_utf8());
            match c {
                '\n' if !is_long => return None,
                '\\' => self.escape(&mut out)?,
                c => out.push(c),
            }
        }
    }

    /// Reads the rest of an escape, as Python has it.
    fn escape(&mut self, out: &mut String) -> Option<()> {
        let c = self.rest().chars().next()?;
        self.at = self.at.saturating_add(c.len_utf8());
        let digits = match c {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            c => {
                match c {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    '\\' | '\'' | '"' => out.push(c),
                    // A line that goes on.
                    '\n' => {}
                    c => out.extend(['\\', c]),
                }
                return Some(());
            }
        };
        let number = self.rest().get(..digits)?;
        self.at = self.at.saturating_add(digits);
        out.push(char::from_u32(u32::from_str_radix(number, 16).ok()?)?);
        Some(())
    }
}
