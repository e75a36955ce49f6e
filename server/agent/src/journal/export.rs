//! A session as Markdown, for people: what was asked, said, called and decided.
//!
//! Results are shown by their start; the journal has the whole. Calls that read what may hold secrets are
//! marked.

use super::past::title_of;
use super::record::Record;
use crate::audit::Audit;
use crate::time::minute;
use ropewalk_model::{Block, Role, ToolInput};
use ropewalk_protocol::content::briefly;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// Takes the records of a journal in order.
#[derive(Debug, Default)]
pub struct Markdown {
    title: Option<String>,
    first: Option<String>,
    head: String,
    body: String,
    /// Decisions about calls that have no result yet, by their ids.
    decided: HashMap<String, String>,
    /// Subagents at work, by the calls that have started them.
    threads: BTreeMap<String, Markdown>,
}

impl Markdown {
    /// Takes the next record.
    pub fn take(&mut self, record: &Record<'_>) {
        // Writing to a string can't fail.
        let out = &mut self.body;
        match record {
            Record::Journal(head) => {
                let roots = head.roots.iter().map(|root| code(root)).collect::<Vec<_>>().join(", ");
                let (id, began) = (code(&head.session), minute(head.at));
                self.head = format!("Session {id}, begun {began}, in {roots}.\n");
            }
            Record::Title(title) => self.title = Some(title.clone()),
            Record::Turn { turn, at, prompt } => {
                self.first.get_or_insert_with(|| title_of(prompt));
                let _ = write!(out, "\n## Turn {turn}, {}\n\n{}\n", minute(*at), quoted(prompt));
            }
            Record::Said { id, role, content } => {
                if let Some(id) = id {
                    let _ = write!(out, "\n<a id=\"{}\"></a>\n", name(id));
                }
                for block in content.iter() {
                    self.block(*role, block);
                }
            }
            Record::Decision(audit) => {
                if let Some(words) = decision(audit) {
                    self.decided.insert(audit.call.to_string(), words);
                }
            }
            Record::Words { text, .. } => {
                let _ = write!(out, "\n{}\n", quoted(text));
            }
            Record::Thread { call, record, .. } => {
                self.threads.entry(call.to_string()).or_default().take(record);
            }
            record => {
                if let Some(line) = line(record) {
                    let _ = writeln!(out, "\n*{line}*");
                }
            }
        }
    }

    fn block(&mut self, role: Role, block: &Block) {
        let out = &mut self.body;
        match block {
            // The user's words stand at the head of the turn; what is put around them is for the model.
            Block::Content(_) if role == Role::User => {}
            Block::Content(content) => {
                let _ = write!(out, "\n{}\n", content.briefly().trim());
            }
            Block::Thinking { thinking, .. } if !thinking.trim().is_empty() => {
                let _ = write!(out, "\n*Thought:* {}\n", preview(thinking, PREVIEW_CHARS));
            }
            Block::Thinking { .. } | Block::RedactedThinking { .. } => {}
            Block::ToolUse { name, input, .. } => {
                let input = match input {
                    ToolInput::Json(input) => input.to_string(),
                    ToolInput::Broken(text) => text.clone(),
                };
                let _ =
                    writeln!(out, "\n- {} {}", code(name), code(&preview(&input, PREVIEW_CHARS)));
            }
            Block::ToolResult { tool_use_id, content, is_error } => {
                if let Some(thread) = self.threads.remove(tool_use_id) {
                    out.push_str(&thread.folded());
                }
                let failed = if *is_error { " failed" } else { "" };
                let _ = write!(out, "\n- Result{failed}");
                if let Some(decided) = self.decided.remove(tool_use_id) {
                    let _ = write!(out, " ({decided})");
                }
                let _ = writeln!(out, ": {}", code(&preview(&briefly(content), PREVIEW_CHARS)));
            }
        }
    }

    /// Steps of a subagent, folded.
    fn folded(self) -> String {
        let body = self.body.replace("\n## Turn", "\n### Task of turn");
        format!("\n<details><summary>The subagent's steps</summary>\n{body}\n</details>\n")
    }

    /// The document.
    pub fn finish(mut self) -> String {
        for thread in std::mem::take(&mut self.threads).into_values() {
            self.body.push_str(&thread.folded());
        }
        let title = self.title.or(self.first).unwrap_or_default();
        let title = if title.is_empty() { "Session".to_owned() } else { plain(&title) };
        format!("# {title}\n\n{}{}", self.head, self.body)
    }
}

/// One line for a record; none where it says nothing to people.
fn line(record: &Record<'_>) -> Option<String> {
    Some(match record {
        Record::Review { at, action, what } => {
            format!("{}: {}: {}", minute(*at), action.as_str(), plain(what))
        }
        Record::Granted(rule) => format!("Allowed for the session: {}", code(rule)),
        Record::Model(model) => format!("Model: {}", code(model)),
        Record::Mode(mode) => format!("Mode: {mode}"),
        Record::Ended { stop_reason, .. } => stop_reason.in_words().to_owned(),
        Record::Compacted { before, after, .. } => {
            format!("The conversation was summed up: {before} tokens became {after}")
        }
        Record::Check { report, .. } if report.passed => "Check passed".to_owned(),
        Record::Check { .. } => "Check failed".to_owned(),
        Record::Rewound { turn } => format!("Turn {turn} and what came after it are taken back"),
        _ => return None,
    })
}

/// The decision about a call, in words. None where it ran as such calls do.
fn decision(audit: &Audit) -> Option<String> {
    let done = match &*audit.decision {
        "allow" => "allowed",
        "ask" => "asked",
        "deny" => "refused",
        other => other,
    };
    let mut parts = Vec::new();
    match &*audit.by {
        "effect" if audit.decision == "allow" => {}
        "effect" => parts.push(plain(done)),
        by => parts.push(format!("{}: {}", plain(done), plain(by))),
    }
    parts.extend(audit.verdict.iter().map(|said| format!("the user said: {}", plain(said))));
    parts.extend(audit.secret.iter().map(|name| format!("**may hold secrets: {}**", code(name))));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// One line, without control characters and what they could do to a terminal.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A code span that nothing in the text can end.
fn code(text: &str) -> String {
    let text = plain(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// An id in characters that end no attribute.
fn name(id: &str) -> String {
    id.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect()
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
