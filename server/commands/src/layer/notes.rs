//! Words for a result about changes that do not become proposals.

use super::{MOST_BYTES, MOST_CHANGES};
use std::collections::BTreeMap;
use std::path::Path;

/// How many names one sentence has.
const NAMED: usize = 10;

/// Kind of a change that becomes no proposal, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NoteKind {
    /// A `.git` that went to another commit or put changes away: then nothing is proposed.
    Elsewhere,
    /// Files with unsaved text that git put back to what the index has.
    PutBack,
    /// In `.git` or its like.
    Git,
    /// Changed outside while the command ran.
    Moved,
    /// Deleted, where what they were moved to is not kept.
    Half,
    /// Other names of open files.
    Alias,
    /// Open files that are no text any more, or in another encoding.
    Encoding,
    /// Files past the bounds.
    Surplus,
    /// Pipes, sockets, devices.
    Special,
    /// Names that are no text.
    Unnamed,
    /// Folders too deep.
    Deep,
    /// Folders that were made and hold nothing.
    Hollow,
    /// Folders that were removed and held no file.
    Removed,
    /// Folders with another mode.
    Modes,
    /// Files that could not be read.
    Unreadable,
}

impl NoteKind {
    /// Words before and after the names.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Elsewhere => (
                "git went to another branch or commit, or moved this one, or stashed changes or took them back, which can't be kept, so nothing that this command changed is kept: all files are as they were before it (",
                "). Leave that to the user, after accepting",
            ),
            Self::PutBack => (
                "not put back, because it has unsaved text in the editor, which would be lost: ",
                "; leave that to the user, or edit the file",
            ),
            Self::Git => {
                ("version control changes are not kept (commit after accepting): ", " is as it was")
            }
            Self::Moved => (
                "conflict: changed on disk while the command ran: ",
                "; what the command made of it was dropped. Look at it and run the command again if it is still wanted",
            ),
            Self::Half => (
                "not deleted, because the place that it was moved to is not kept, and its text would be lost: ",
                ". Move it where it is kept; to delete it all the same, use delete_file",
            ),
            Self::Alias => (
                "not kept, because it is another name of a file that is open in the editor, with unsaved text or deleted by the command: ",
                "; change the file under the name that is open",
            ),
            Self::Encoding => (
                "not kept, because it is open in the editor and the command left it in another encoding or as no text: ",
                "",
            ),
            Self::Surplus => (
                "too much for one review (at most {files} files and {megabytes} MB of a command's are proposed), so it is not proposed; only commands of this session see it: ",
                ". If it is output, add its folder to .gitignore; else let a command write less",
            ),
            Self::Special => (
                "a pipe, socket or device can't be kept; only commands of this session see it: ",
                "",
            ),
            Self::Unnamed => (
                "a name that is not UTF-8 can't be proposed; only commands of this session see it: ",
                "",
            ),
            Self::Deep => (
                "too many folders in each other; only commands of this session see what is in it: ",
                "",
            ),
            Self::Hollow => (
                "empty folders are not kept: the user gets a folder with its first file, and only commands of this session see ",
                "",
            ),
            Self::Removed => (
                "folders without files are not removed: only for commands of this session there is no ",
                "",
            ),
            Self::Modes => ("the mode of a folder is not kept: the user's stays for ", ""),
            Self::Unreadable => ("could not be read, so it was left unchanged: ", ""),
        }
    }
}

/// Names of such changes by kind, as they are shown.
#[derive(Debug, Default)]
pub(super) struct CollectNotes(BTreeMap<NoteKind, Vec<String>>);

impl CollectNotes {
    pub(super) fn add(&mut self, kind: NoteKind, path: &Path) {
        self.add_words(kind, plain(path));
    }

    /// The same of a name with words behind it.
    pub(super) fn add_words(&mut self, kind: NoteKind, name: String) {
        self.0.entry(kind).or_default().push(name);
    }

    pub(super) fn has(&self, kind: NoteKind) -> bool {
        self.0.contains_key(&kind)
    }

    /// The sentences.
    pub(super) fn words(mut self) -> Vec<String> {
        let bounds = |words: &str| {
            let megabytes = (MOST_BYTES >> 20).to_string();
            words.replace("{files}", &MOST_CHANGES.to_string()).replace("{megabytes}", &megabytes)
        };
        let sentence = |(kind, names): (NoteKind, Vec<String>)| {
            let (before, after) = kind.words();
            format!("{}{}{after}", bounds(before), list(names))
        };
        match self.0.remove_entry(&NoteKind::Elsewhere) {
            // Nothing else matters of a command of which nothing is kept.
            Some(elsewhere) => vec![sentence(elsewhere)],
            None => self.0.into_iter().map(sentence).collect(),
        }
    }
}

/// Some names, in their order, and how many more there are.
pub(super) fn list(mut names: Vec<String>) -> String {
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let joined = names.join(", ");
    if more > 0 { format!("{joined} and {more} more") } else { joined }
}

/// A path for people: what is no text or a control character in it is shown as a sign.
pub(super) fn plain(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
