//! Reasons for which a bundle is not made, not read, or not taken in.

use super::{MOST_BYTES, VERSION};
use ropewalk_files::disk::FileError;
use std::fmt;

/// A bundle that is not as bundles are. Each message says what to do, or what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// It is larger than a bundle may be.
    #[error(
        "the changes take {bytes} bytes, more than the {MOST_BYTES} that can be handed over at once: split the task"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// It is of another version.
    #[error(
        "the changes were handed over in version {version}, and this Ropewalk reads version {VERSION}: use the same release everywhere"
    )]
    Version {
        /// Its version.
        version: u32,
    },
    /// It is no bundle.
    #[error("the changes can't be read: {why}")]
    Malformed {
        /// The reader's words.
        why: String,
    },
    /// It names a folder that is not open here.
    #[error("one of the changes is of {path}, but no folder named {root} is open here")]
    UnknownRoot {
        /// The folder's name.
        root: String,
        /// The file.
        path: String,
    },
    /// A path that leads out of its folder: absolute, or with `.`, `..` or empty parts.
    #[error("one of the changes is of {path}, which is not a plain path below its folder")]
    Escapes {
        /// The path.
        path: String,
    },
    /// A path that goes through a link here.
    #[error("one of the changes is of {path}, which leads through a link here: {why}")]
    ThroughLink {
        /// The path.
        path: String,
        /// Where it leads.
        why: String,
    },
    /// A link that it makes leads out.
    #[error(
        "one of the changes makes {path} a link to {target}, which is not inside the open folders"
    )]
    LeadsOut {
        /// The link.
        path: String,
        /// Its target.
        target: String,
    },
    /// A file of version control's own.
    #[error(
        "one of the changes is of {path}, which is version control's own data, and no agent changes that"
    )]
    OfStore {
        /// The path.
        path: String,
    },
    /// A file that may hold secrets, or holds a key.
    #[error("one of the changes is of {path}, which holds a key or may hold secrets: leave it out")]
    Secret {
        /// The path.
        path: String,
    },
    /// The hash of a base is not that of its text.
    #[error("the text handed over for {path} does not have the hash that came with it")]
    WrongHash {
        /// The path.
        path: String,
    },
    /// An edit that does not fit the base.
    #[error(
        "the edit of {path} at bytes {start} to {end} doesn't fit its text of {len} bytes or the edit before it"
    )]
    Misplaced {
        /// The path.
        path: String,
        /// Where the edit begins.
        start: usize,
        /// Where it ends.
        end: usize,
        /// The length of the text.
        len: usize,
    },
    /// A change that the base can't have.
    #[error("the change of {path} does not go with what it says was there")]
    Unfit {
        /// The path.
        path: String,
    },
    /// Two changes of one file.
    #[error("{path} is changed twice")]
    Twice {
        /// The path.
        path: String,
    },
}

/// A change of a bundle that has no place in the fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleConflict {
    /// The file as it is shown.
    pub path: String,
    /// The lines that the change replaces, or what was there.
    pub old: String,
    /// The same lines as they would be.
    pub new: String,
    /// Text that stands there now.
    pub now: String,
}

/// The most characters of a text that a conflict says in words.
const QUOTED: usize = 2_000;

impl fmt::Display for BundleConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = |text: &str| -> String {
            let short: String = text.chars().take(QUOTED).collect();
            let more = if short.len() < text.len() { "\n…" } else { "" };
            format!("```\n{}{more}\n```", short.trim_end_matches('\n'))
        };
        let Self { path, old, new, now } = self;
        let (old, new, now) = (quote(old), quote(new), quote(now));
        write!(f, "{path}: the change was from\n{old}\nto\n{new}\nwhere there now stands\n{now}")
    }
}

/// Why a bundle was not taken in. The fork is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TakeError {
    /// It is hostile or broken, or made for other folders.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Changes have lost their place.
    #[error("{}", in_words(.0))]
    Conflict(Vec<BundleConflict>),
    /// These files are being written at this moment: try again.
    #[error("{} is being written; try again", .0.join(", "))]
    Busy(Vec<String>),
    /// A file here could not be read.
    #[error(transparent)]
    File(#[from] FileError),
}

fn in_words(conflicts: &[BundleConflict]) -> String {
    let each: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
    format!("The changes no longer fit, so none was taken in.\n{}", each.join("\n"))
}
