//! Words for a result about changes that do not become proposals.

use super::{MOST_BYTES, MOST_CHANGES};
use std::path::Path;

/// How many names one sentence has.
const NAMED: usize = 10;

/// Names of such changes by kind, as they are shown.
#[derive(Debug, Default)]
pub(super) struct CollectNotes {
    /// In `.git`.
    pub(super) git: Vec<String>,
    /// Files with unsaved text that git put back to what the index has.
    pub(super) put_back: Vec<String>,
    /// Folders that were made and hold nothing.
    pub(super) hollow: Vec<String>,
    /// Folders that were removed and held no file.
    pub(super) removed: Vec<String>,
    /// Folders with another mode.
    pub(super) modes: Vec<String>,
    /// A `.git` that went to another commit or put changes away: then nothing is proposed.
    pub(super) elsewhere: Vec<String>,
    /// Changed outside while the command ran.
    pub(super) moved: Vec<String>,
    /// Deleted, where what they were moved to is not kept.
    pub(super) half: Vec<String>,
    /// Other names of open files.
    pub(super) alias: Vec<String>,
    /// Pipes, sockets, devices.
    pub(super) special: Vec<String>,
    /// Names that are no text.
    pub(super) unnamed: Vec<String>,
    /// Open files that are no text any more, or in another encoding.
    pub(super) encoding: Vec<String>,
    /// Files past the bounds.
    pub(super) surplus: Vec<String>,
    /// Folders too deep.
    pub(super) deep: Vec<String>,
    pub(super) unreadable: Vec<String>,
}

/// Gives the names of one kind.
type NameGiver = fn(&CollectNotes) -> &Vec<String>;

/// Words before and after the names of each kind that there are some of.
const KINDS: &[(NameGiver, &str, &str)] = &[
    (
        |told| &told.put_back,
        "not put back, because it has unsaved text in the editor, which would be lost: ",
        "; leave that to the user, or edit the file",
    ),
    (|told| &told.git, "git changes are not kept (commit after accepting): ", " is as it was"),
    (
        |told| &told.moved,
        "conflict: changed on disk while the command ran: ",
        "; what the command made of it was dropped. Look at it and run the command again if it is still wanted",
    ),
    (
        |told| &told.half,
        "not deleted, because the place that it was moved to is not kept, and its text would be lost: ",
        "",
    ),
    (
        |told| &told.alias,
        "not kept, because it is another name of a file that is open in the editor, with unsaved text or deleted by the command: ",
        "; change the file under the name that is open",
    ),
    (
        |told| &told.encoding,
        "not kept, because it is open in the editor and the command left it in another encoding or as no text: ",
        "",
    ),
    (
        |told| &told.surplus,
        "too much for one review (at most {files} files and {megabytes} MB of a command's are proposed), so it is not proposed; only commands of this session see it: ",
        ". If it is output, add its folder to .gitignore; else let a command write less",
    ),
    (
        |told| &told.special,
        "a pipe, socket or device can't be kept; only commands of this session see it: ",
        "",
    ),
    (
        |told| &told.unnamed,
        "a name that is not UTF-8 can't be proposed; only commands of this session see it: ",
        "",
    ),
    (
        |told| &told.deep,
        "too many folders in each other; only commands of this session see what is in it: ",
        "",
    ),
    (
        |told| &told.hollow,
        "empty folders are not kept: the user gets a folder with its first file, and only commands of this session see ",
        "",
    ),
    (
        |told| &told.removed,
        "folders without files are not removed: only for commands of this session there is no ",
        "",
    ),
    (|told| &told.modes, "the mode of a folder is not kept: the user's stays for ", ""),
    (|told| &told.unreadable, "could not be read, so it was left unchanged: ", ""),
];

impl CollectNotes {
    /// The sentences.
    pub(super) fn words(self) -> Vec<String> {
        if !self.elsewhere.is_empty() {
            // Nothing else matters of a command of which nothing is kept.
            return vec![format!(
                "git went to another branch or commit, or moved this one, or stashed changes or took them back, which can't be kept, so nothing that this command changed is kept: all files are as they were before it ({}). Leave that to the user, after accepting",
                list(self.elsewhere)
            )];
        }
        let bounds = |words: &str| {
            let megabytes = (MOST_BYTES >> 20).to_string();
            words.replace("{files}", &MOST_CHANGES.to_string()).replace("{megabytes}", &megabytes)
        };
        let said = KINDS.iter().map(|(names, before, after)| (names(&self), before, after));
        said.filter(|(names, ..)| !names.is_empty())
            .map(|(names, before, after)| {
                format!("{}{}{after}", bounds(before), list(names.clone()))
            })
            .collect()
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
