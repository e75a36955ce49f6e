//! What a command left that does not become a proposal, in words for its result.

use super::{MOST_BYTES, MOST_CHANGES};
use std::path::Path;

/// How many names one sentence has.
const NAMED: usize = 10;

/// What there is to tell, by kind: names as they are shown.
#[derive(Debug, Default)]
pub(super) struct Told {
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
    /// What could not be read.
    pub(super) unreadable: Vec<String>,
}

impl Told {
    /// The sentences.
    pub(super) fn words(self) -> Vec<String> {
        let megabytes = MOST_BYTES >> 20;
        if !self.elsewhere.is_empty() {
            // Nothing else matters of a command of which nothing is kept.
            return vec![format!(
                "git went to another branch or commit, or moved this one, or stashed changes or took them back, which can't be kept, so nothing that this command changed is: all files are as they were before it ({}). Leave that to the user, after accepting",
                list(self.elsewhere)
            )];
        }
        let kinds = [
            (
                self.put_back,
                "not put back, because it has unsaved text in the editor, which would be lost: ".to_owned(),
                "; leave that to the user, or edit the file",
            ),
            (
                self.git,
                "git changes are not kept (commit after accepting): ".to_owned(),
                " is as it was",
            ),
            (
                self.moved,
                "conflict: changed on disk while the command ran: ".to_owned(),
                "; what the command made of it was dropped. Look at it and run the command again if it is still wanted",
            ),
            (
                self.alias,
                "not kept, because it is another name of a file that is open in the editor, with unsaved text or deleted by the command: ".to_owned(),
                "; change the file under the name that is open",
            ),
            (
                self.encoding,
                "not kept, because it is open in the editor and the command left it in another encoding or as no text: ".to_owned(),
                "",
            ),
            (
                self.surplus,
                format!(
                    "too much for one review (at most {MOST_CHANGES} files and {megabytes} MB of a command's are proposed), so left in this session's layer alone, where only its commands see it: "
                ),
                ". If it is output, add its folder to .gitignore; else let a command write less",
            ),
            (
                self.special,
                "a pipe, socket or device is no file that can be kept; only commands of this session see it: ".to_owned(),
                "",
            ),
            (
                self.unnamed,
                "a name that is not UTF-8 can't be proposed; only commands of this session see it: ".to_owned(),
                "",
            ),
            (
                self.deep,
                "too many folders in each other; only commands of this session see what is in it: ".to_owned(),
                "",
            ),
            (
                self.hollow,
                "empty folders are not kept: the user gets a folder with its first file, and only commands of this session see ".to_owned(),
                "",
            ),
            (
                self.removed,
                "folders without files are not removed: only for commands of this session there is no ".to_owned(),
                "",
            ),
            (self.modes, "the mode of a folder is not kept: the user's stays for ".to_owned(), ""),
            (self.unreadable, "could not be read and is not proposed: ".to_owned(), ""),
        ];
        let said = kinds.into_iter().filter(|(names, ..)| !names.is_empty());
        said.map(|(names, before, after)| format!("{before}{}{after}", list(names))).collect()
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
