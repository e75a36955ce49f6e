//! News for the model: what happened to its changes while it was not looking.
//!
//! Notes are gathered by the fork and the ledger and handed over with the model's next message. Their
//! words are made here, so that every way to the model says the same.

use crate::entry::Maker;
use std::fmt;

/// One piece of news.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// A pending or sent change lost its place: the user changed the text it replaces, or made the file it makes.
    Conflict {
        /// The file as it is shown.
        file: String,
        /// Text that the change would have put there.
        new: String,
        /// Text that stands there now.
        now: String,
    },
    /// The user rejected changes.
    Rejected {
        /// The file as it is shown.
        file: String,
        /// Text that the change replaced.
        old: String,
        /// Text that it would have put there.
        new: String,
        /// Why, in the user's words.
        reason: Option<String>,
        /// The members of a team that made it; empty for a change of the session's own.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        members: Vec<Maker>,
    },
    /// The user put their own words in the place of a pending change.
    Edited {
        /// The file as it is shown.
        file: String,
        /// Text that was proposed.
        proposed: String,
        /// Text that the user made of it.
        text: String,
    },
    /// The user undid a change that was in their text.
    Undone {
        /// The file as it is shown.
        file: String,
        /// Text that stands there again.
        old: String,
        /// Text that is gone.
        new: String,
    },
    /// The editor never showed an edit that was sent to it.
    Unconfirmed {
        /// The file as it is shown.
        file: String,
    },
    /// The editor did not make an edit.
    Refused {
        /// The file as it is shown.
        file: String,
        /// Why, as far as is known.
        why: String,
    },
    /// A file got another name, and the editor still has it open under the old one.
    OldName {
        /// The name it has now, as it is shown.
        file: String,
        /// The name that the editor shows.
        old: String,
    },
    /// A pending change could not be brought back after Ropewalk had ended.
    NotRestored {
        /// The file as it is shown.
        file: String,
        /// Why.
        why: String,
    },
    /// Between two runs of a session, files that the model knows have become other texts, or are gone.
    ChangedMeanwhile {
        /// The files as they are shown.
        files: Vec<String>,
    },
    /// A command that ran in the background has ended.
    BackgroundEnded {
        /// Its number.
        id: u64,
        /// The turn that has started it; older journals don't say.
        #[serde(default)]
        turn: u64,
        /// The command, short.
        command: String,
        /// Account of the end, in the command's own words.
        text: String,
    },
    /// The disk and an unsaved buffer have both moved on.
    DiskConflict {
        /// The file as it is shown.
        file: String,
    },
}

/// How much of a lost change is said to the user, in characters.
const LOSS: usize = 60;

impl Note {
    /// Loss of the agent's changes, for the user: the file, and its first words. None for other
    /// news.
    pub fn loss(&self) -> Option<String> {
        let (file, what) = match self {
            Self::Conflict { file, new, now } => {
                // Lines that stand there all the same tell nothing.
                let is_new = |line: &&str| {
                    !line.trim().is_empty() && !now.lines().any(|own| own.trim() == line.trim())
                };
                let line = new.lines().find(is_new);
                (file, line.map_or_else(|| "a deletion".to_owned(), shortened))
            }
            Self::NotRestored { file, why } => (file, why.clone()),
            _ => return None,
        };
        Some(format!("{file}: {what}"))
    }
}

/// A line of a text in quotes, cut where it is long.
pub(crate) fn shortened(line: &str) -> String {
    let line = line.trim();
    let mut short: String = line.chars().take(LOSS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    format!("“{short}”")
}

/// How many files a note names.
const FILES_NAMED: usize = 50;

/// How much of a text a note quotes.
const QUOTED: usize = 400;

fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short.push_str(" …");
    }
    if short.is_empty() {
        "(nothing)".to_owned()
    } else {
        format!("```\n{}\n```", short.trim_end_matches('\n'))
    }
}

/// Whose a change is, if it is a member's.
fn by_members(members: &[Maker]) -> String {
    let named = |maker: &Maker| match maker {
        Maker::Member { name, task: Some(task) } => Some(format!("{name}, task #{task}")),
        Maker::Member { name, task: None } => Some(name.to_string()),
        Maker::Call(_) | Maker::User | Maker::Disk => None,
    };
    let names: Vec<String> = members.iter().filter_map(named).collect();
    if names.is_empty() { String::new() } else { format!(" (by {})", names.join(" and ")) }
}

/// The first of them, and how many more there are.
fn some_of(files: &[String]) -> String {
    let named: Vec<&str> = files.iter().take(FILES_NAMED).map(String::as_str).collect();
    match files.len().saturating_sub(FILES_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The reason of a rejection, for the model.
fn in_words(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("Their reason: {reason}"),
        None => "They gave no reason. Do not make it again unless asked.".to_owned(),
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Conflict { file, new, now } => write!(
                f,
                "Conflict in {file}: the user changed the text that one of your changes replaces, or made the file \
                 that it makes, so it was set aside. Your change was:\n{}\nThere now stands:\n{}\nRead the file before you change it again.",
                quote(new),
                quote(now)
            ),
            Note::Rejected { file, old, new, reason, members } => {
                let (by, reason) = (by_members(members), in_words(reason.as_deref()));
                let (old, new) = (quote(old), quote(new));
                write!(
                    f,
                    "The user rejected a change{by} in {file}, from:\n{old}\nto:\n{new}\n{reason}"
                )
            }
            Note::Edited { file, proposed, text } => write!(
                f,
                "The user edited one of your proposed changes in {file}. You proposed:\n{}\nThey made it:\n{}\nKeep \
                 their version.",
                quote(proposed),
                quote(text)
            ),
            Note::Undone { file, old, new } => write!(
                f,
                "The user undid a change of yours in {file}. Gone is:\n{}\nThere stands again:\n{}",
                quote(new),
                quote(old)
            ),
            Note::Unconfirmed { file } => write!(
                f,
                "The editor has not confirmed an edit of {file}. It may or may not be in the user's text."
            ),
            Note::Refused { file, why } => {
                write!(f, "The editor did not make an edit of {file}: {why}.")
            }
            Note::OldName { file, old } => write!(
                f,
                "{old} is {file} now, but the user's editor still has it open as {old}. They were told to close that. \
                 Work on {file}."
            ),
            Note::NotRestored { file, why } => write!(
                f,
                "A pending change of yours in {file} could not be brought back after Ropewalk was started anew: {why}. \
                 Read the file before you change it again."
            ),
            Note::ChangedMeanwhile { files } => write!(
                f,
                "This session was interrupted and goes on now. Meanwhile files that you have read were changed or \
                 removed: {}. Read them again before you rely on them.",
                some_of(files)
            ),
            Note::BackgroundEnded { id, command, text, .. } => {
                write!(f, "The command in the background number {id} has ended: {command}\n{text}")
            }
            Note::DiskConflict { file } => write!(
                f,
                "{file} has unsaved text in the editor and was changed on the disk too. You work on the editor's text."
            ),
        }
    }
}
