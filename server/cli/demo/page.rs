//! The demo's page: what is printed, gathered first and printed at once. Colours only on a terminal that has
//! not been asked to do without (`NO_COLOR`).

use serde_json::Value;
use std::collections::HashMap;
use std::io::{IsTerminal, Write};

/// Ways to draw a line.
#[derive(Clone, Copy)]
enum Ink {
    Plain,
    Strong,
    Faint,
    Old,
    New,
}

/// Tools whose calls say all there is to say.
const BY_TITLE: [&str; 2] = ["load_skill", "compact"];

/// Tools whose calls are not shown: the plan is its own result, and what a check found is told by itself.
const BY_RESULT: [&str; 2] = ["todo_write", "verify"];

/// See the module.
#[derive(Default)]
pub(super) struct DemoPage(Vec<(Ink, String)>);

impl DemoPage {
    pub(super) fn title(&mut self, words: &str) {
        if !self.0.is_empty() {
            self.put(Ink::Plain, "");
        }
        self.put(Ink::Strong, words);
    }

    pub(super) fn words(&mut self, words: &str) {
        self.put(Ink::Plain, words);
    }

    /// A text with its lines numbered.
    pub(super) fn code(&mut self, text: &str) {
        for (number, line) in text.lines().enumerate() {
            self.put(Ink::Faint, &format!("{:4}  {line}", number + 1));
        }
    }

    /// Something that was verified.
    pub(super) fn checked(&mut self, words: &str) {
        self.put(Ink::Plain, &format!("  ✓ {words}"));
    }

    /// A pending hunk: its changed lines and where they are.
    pub(super) fn diff(&mut self, hunk: &Value) {
        let text = |key: &str| hunk[key].as_str().unwrap_or_default();
        let line = hunk["line"].as_u64().unwrap_or(0) + 1;
        self.put(Ink::Faint, &format!("  {}, line {line}", text("file")));
        for line in text("diff").lines() {
            let ink = match line.as_bytes().first() {
                Some(b'+') if !line.starts_with("+++") => Ink::New,
                Some(b'-') if !line.starts_with("---") => Ink::Old,
                Some(b' ') if !line.trim().is_empty() => Ink::Faint,
                _ => continue,
            };
            self.put(ink, &format!("    {line}"));
        }
    }

    /// Requests, answers, and the calls between them with the first line of their results.
    pub(super) fn conversation(&mut self, events: &[Value]) {
        let mut said = String::new();
        let mut tools = HashMap::new();
        for event in events {
            let text = |key: &str| event[key].as_str().unwrap_or_default();
            if text("type") != "text_delta" && !said.is_empty() {
                let words = std::mem::take(&mut said);
                self.put(Ink::Plain, &format!("  model: {words}"));
            }
            match text("type") {
                "turn_started" => self.put(Ink::Strong, &format!("  you:   {}", text("prompt"))),
                "text_delta" => said.push_str(text("text")),
                "tool_call" => {
                    let tool = text("tool");
                    tools.insert(text("call"), tool);
                    if !BY_RESULT.contains(&tool) {
                        self.put(Ink::Plain, &format!("    → {tool} {}", text("title")));
                    }
                }
                "tool_result" => {
                    let first = text("preview").lines().next().unwrap_or_default();
                    let short: String = first.chars().take(70).collect();
                    match tools.get(text("call")).copied().unwrap_or_default() {
                        "todo_write" => self.put(Ink::Plain, &format!("    → plan: {short}")),
                        tool if BY_TITLE.contains(&tool) || BY_RESULT.contains(&tool) => {}
                        _ => self.put(Ink::Faint, &format!("      {short}")),
                    }
                }
                "compacted" => {
                    self.put(Ink::Plain, "    (the conversation is summed up, the end of it stays)")
                }
                "check" => {
                    let found = text("verify").lines().next();
                    let words =
                        found.map_or("passed".to_owned(), |found| format!("failed: {found}"));
                    self.put(Ink::Plain, &format!("    check {words}"));
                }
                "turn_ended" => {
                    let ended = match text("stopReason") {
                        "end_turn" => "Done".to_owned(),
                        other => other.replace('_', " "),
                    };
                    self.put(Ink::Faint, &format!("  {ended}"));
                }
                _ => {}
            }
        }
    }

    /// Prints it. A standard output that is closed is nobody's loss.
    pub(super) fn print(&self) {
        let mut out = std::io::stdout().lock();
        let colours = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
        for (ink, line) in &self.0 {
            let code = match ink {
                _ if !colours => "",
                Ink::Plain => "",
                Ink::Strong => "\x1b[1m",
                Ink::Faint => "\x1b[2m",
                Ink::Old => "\x1b[31m",
                Ink::New => "\x1b[32m",
            };
            let end = if code.is_empty() { "" } else { "\x1b[0m" };
            if writeln!(out, "{code}{line}{end}").is_err() {
                return;
            }
        }
    }

    fn put(&mut self, ink: Ink, line: &str) {
        self.0.push((ink, line.to_owned()));
    }
}
