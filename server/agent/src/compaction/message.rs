//! The first message of a compacted conversation: what was cut, the user's words, the summary, and what we know ourselves.

use super::cut::Squeeze;
use crate::calls::bounded::sent;
use crate::journal::past::UserWords;
use crate::prompt::PLAN;
use crate::reads::KnownFiles;
use crate::session::parts::SessionParts;
use ropewalk_model::{Block, Message, Role, ToolInput};
use ropewalk_protocol::Mode;
use ropewalk_protocol::content::briefly;
use ropewalk_tools::bounds::{Bounds, bound};
use ropewalk_tools::runner::BackgroundState;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The most names of a list.
const NAMES: usize = 40;

const GO_ON: &str = "Go on with Next. What is decided is decided; repeat nothing that failed.";

const PROMPT_FIRST: &str = "The user's new request below comes first. What is decided is decided; repeat nothing that failed.";

/// Parts of the message.
pub(super) struct MessageParts<'a> {
    pub(super) transcript: Option<&'a Path>,
    /// Words that say who the model is, where the session's system prompt is not all.
    pub(super) identity: Option<&'a str>,
    pub(super) words: &'a [UserWords],
    /// The most bytes of the user's words.
    pub(super) most_words: usize,
    pub(super) summary: &'a str,
    /// Facts that a session knows by itself.
    pub(super) state: &'a str,
    pub(super) next: NextTask,
}

/// Task of the model behind the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextTask {
    /// It waits: no turn runs.
    Nothing,
    /// It goes on with its task.
    Task,
    /// It reads a prompt that it has not seen, which stands whole behind the message.
    Prompt,
}

impl MessageParts<'_> {
    /// The message's text.
    pub(super) fn text(&self, squeeze: Squeeze) -> String {
        let is_halved = squeeze >= Squeeze::Halves;
        let transcript = match self.transcript {
            Some(file) => format!(" Transcript: {}", file.display()),
            None => String::new(),
        };
        let mut out = format!("[Conversation compressed.{transcript}]\n");
        if let Some(identity) = self.identity {
            let _ = write!(out, "\n<identity>\n{identity}\n</identity>\n");
        }
        let most = if is_halved { self.most_words / 2 } else { self.most_words };
        let _ = write!(out, "\nThe user's own words:\n{}\n", own_words(self.words, most));
        let mut summary = self.summary.to_owned();
        if is_halved {
            let bounds = Bounds { max_chars: summary.chars().count() / 2 };
            summary = bound(&summary, bounds, None).to_string();
        }
        let _ = write!(out, "\n<summary>\n{summary}\n</summary>\n");
        if !self.state.is_empty() {
            let bounds = Bounds { max_chars: if is_halved { most } else { usize::MAX } };
            let _ = write!(out, "\n{}", bound(self.state, bounds, None));
        }
        let _ = match self.next {
            NextTask::Nothing => Ok(()),
            NextTask::Task => write!(out, "\n{GO_ON}\n"),
            NextTask::Prompt => write!(out, "\n{PROMPT_FIRST}\n"),
        };
        out
    }
}

/// The first words, and the newest that fit `most` bytes with them.
fn own_words(words: &[UserWords], most: usize) -> String {
    /// The least characters of words that are cut.
    const LEAST: usize = 80;
    let line = |words: &UserWords, most: usize| {
        let max_chars = (most / 2).max(LEAST);
        format!("- {}", bound(words.text.trim(), Bounds { max_chars }, None))
    };
    let Some((first, later)) = words.split_first() else { return "(none)".to_owned() };
    let first = line(first, most);
    let mut left = most.saturating_sub(sent(&first));
    let mut newest = Vec::new();
    for words in later.iter().rev() {
        let line = line(words, most);
        let bytes = sent(&line);
        // The newest stands there in any case: it is what is being done.
        if bytes > left && !newest.is_empty() {
            break;
        }
        left = left.saturating_sub(bytes);
        newest.push(line);
    }
    let gone = later.len() - newest.len();
    let mut lines = vec![first];
    if gone > 0 {
        lines.push(format!("- ({gone} more in between)"));
    }
    lines.extend(newest.into_iter().rev());
    lines.join("\n")
}

/// Facts that a session knows by itself: files read, changes that wait, commands in the background, skills.
pub(super) fn state(parts: &SessionParts, reads: &KnownFiles, skills: &str) -> String {
    let mut out = String::new();
    if parts.settings.get().mode == Mode::Plan {
        out.push_str(PLAN);
    }
    let todos = parts.todos.list();
    // The session's todos are not a subagent's.
    if parts.thread.is_none() && todos.open() > 0 {
        let _ = writeln!(out, "Todos:\n{todos}");
    }
    // A name is looked up on the disk: only those that are told are.
    let (latest, more) = reads.latest(NAMES);
    let mut read: Vec<String> = latest.into_iter().map(|doc| parts.workspace.shown(doc)).collect();
    read.sort_unstable();
    if !read.is_empty() {
        let _ = writeln!(out, "Files read or changed: {}", named(&read, more));
    }
    let mut waits: BTreeMap<String, usize> = BTreeMap::new();
    // A subagent's own changes wait for nobody yet, and those of the session are not its.
    let hunks = if parts.thread.is_none() { parts.changes.hunks() } else { Vec::new() };
    for hunk in hunks {
        *waits.entry(hunk.file).or_default() += 1;
    }
    let waits: Vec<String> =
        waits.into_iter().map(|(file, count)| format!("{file} ({count})")).collect();
    if !waits.is_empty() {
        let _ = writeln!(out, "Changes that wait for the user's review: {}", named(&waits, 0));
    }
    for one in parts.runner.background() {
        if let BackgroundState::Running { .. } = one.state {
            let _ = writeln!(out, "Runs in the background, number {}: {}", one.id, one.command);
        }
    }
    out.push_str(skills);
    out
}

/// The first of these names, and how many there are beside them and `others`.
fn named(all: &[String], others: usize) -> String {
    let joined = all.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMES) + others {
        0 => joined,
        more => format!("{joined} and {more} more"),
    }
}

/// The whole of these messages, for whoever looks it up.
pub(super) fn transcript<'a>(messages: impl Iterator<Item = &'a Message>) -> String {
    let mut out = String::new();
    for message in messages {
        let who = match message.role {
            Role::User => "User",
            Role::Assistant => "Agent",
        };
        let _ = write!(out, "## {who}\n\n");
        for block in &message.content {
            let _ = match block {
                Block::Content(content) => write!(out, "{}\n\n", content.briefly()),
                Block::Thinking { .. } | Block::RedactedThinking { .. } => Ok(()),
                Block::ToolUse { name, input: ToolInput::Json(input), .. } => {
                    write!(out, "Call: {name} {input}\n\n")
                }
                Block::ToolUse { name, input: ToolInput::Broken(text), .. } => {
                    write!(out, "Call: {name} {text}\n\n")
                }
                Block::ToolResult { content, is_error, .. } => {
                    let failed = if *is_error { " (failed)" } else { "" };
                    write!(out, "Result{failed}:\n{}\n\n", briefly(content))
                }
            };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> Vec<UserWords> {
        texts.iter().map(|text| UserWords { turn: 1, text: (*text).to_owned() }).collect()
    }

    #[test]
    fn the_first_words_and_the_newest_stay() {
        let of = |texts: &[&str], most| own_words(&words(texts), most);
        assert_eq!(of(&[], 100), "(none)");
        assert_eq!(of(&["do it"], 100), "- do it");
        assert_eq!(of(&["do it", "no", "yes"], 100), "- do it\n- no\n- yes");
        assert_eq!(of(&["do it", "no", "yes"], 14), "- do it\n- (1 more in between)\n- yes");
        assert_eq!(of(&["do it", "no", "yes"], 0), "- do it\n- (1 more in between)\n- yes");
        let long = "word ".repeat(1_000);
        let both = of(&[&long, &long], 400);
        assert!(both.len() < 1_200 && both.contains("left out"), "{both}");
    }

    #[test]
    fn nothing_is_said_of_going_on_when_no_turn_waits() {
        let words = words(&["do it"]);
        let beginning = |next| MessageParts {
            transcript: Some(Path::new("/o/t.md")),
            identity: None,
            words: &words,
            most_words: 100,
            summary: "**Goal**: it",
            state: "Files read or changed: a.rs\n",
            next,
        };
        let text = beginning(NextTask::Task).text(Squeeze::Steps);
        assert_eq!(
            text,
            "[Conversation compressed. Transcript: /o/t.md]\n\nThe user's own words:\n- do it\n\n<summary>\n**Goal**: \
             it\n</summary>\n\nFiles read or changed: a.rs\n\nGo on with Next. What is decided is decided; repeat nothing \
             that failed.\n"
        );
        assert!(!beginning(NextTask::Nothing).text(Squeeze::Steps).contains("Go on"));
        assert!(beginning(NextTask::Prompt).text(Squeeze::Steps).contains("request below"));
    }
}
