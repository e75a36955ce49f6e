//! The instructions that the user's own folder and a repository bring: `AGENTS.md` and the like. They are text for the
//! model and grant nothing. They are read and cleaned here; how they are told to the model is the agent's.

use std::io;
use std::path::{Path, PathBuf};

use crate::problem::turns_text;
use crate::sources::Environment;

/// The file's name in the user's own folder.
const NAME: &str = "AGENTS.md";

/// The file's names in a folder of a repository: the first that says anything counts.
const NAMES: [&str; 3] = [NAME, "CLAUDE.md", ".github/copilot-instructions.md"];

/// Bytes of it that are told; more is cut, and the text says so.
pub const MAX_INSTRUCTIONS_BYTES: u64 = 32 * 1024;

/// The text of one such file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionText {
    /// The file, as shown.
    pub file: String,
    /// Its text: no control characters but newlines and tabs, none that hide or turn text; not empty.
    pub text: String,
    /// True if it is the user's own; else it is the repository's.
    pub is_users: bool,
}

/// Path of the user's.
pub(crate) fn own_file(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// The folders whose instructions hold in a root, the outermost first: those from the top of the repository down to it, or the
/// root alone where it lies in none. What others have put above a root says nothing.
pub(crate) fn folders(environment: &dyn Environment, root: &Path) -> Vec<PathBuf> {
    let is_own = |path: &Path| environment.is_of_owner(path, root);
    // A file or a folder: only where nothing is there, it is not found.
    let has_git = |folder: &Path| match environment.read(&folder.join(".git"), 1) {
        Ok(_) => true,
        Err(error) => {
            !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    };
    let is_top = |folder: &Path| has_git(folder) && is_own(&folder.join(".git"));
    let above = root.ancestors().take_while(|folder| *folder == root || is_own(folder));
    let depth = above.clone().position(is_top).unwrap_or_default();
    let mut folders: Vec<PathBuf> = above.take(depth + 1).map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Paths of a folder's, the first before the others.
pub(crate) fn files(root: &Path) -> [PathBuf; 3] {
    NAMES.map(|name| root.join(name))
}

/// The text of a file, if there is one that says anything. A folder's must lie in it.
pub(crate) fn read(
    environment: &dyn Environment,
    root: Option<&Path>,
    file: &Path,
) -> io::Result<Option<String>> {
    let read = match root {
        Some(root) => environment.read_inside(root, file, MAX_INSTRUCTIONS_BYTES + 1),
        None => environment.read(file, MAX_INSTRUCTIONS_BYTES + 1),
    };
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let most = usize::try_from(MAX_INSTRUCTIONS_BYTES).unwrap_or(usize::MAX);
    let whole = bytes.len() <= most;
    let kept = bytes.get(..most.min(bytes.len())).unwrap_or_default();
    let text = String::from_utf8_lossy(kept);
    // A cut may lie within a character.
    let text = if whole { &text } else { text.trim_end_matches('\u{fffd}') };
    let mut text: String = text.chars().filter(|c| is_said(*c)).collect();
    if text.trim().is_empty() {
        return Ok(None);
    }
    if !whole {
        text.push_str("\n[The file is longer; the rest of it is not shown here.]");
    }
    Ok(Some(text))
}

/// A person who reads the file and the model are to see the same.
fn is_said(c: char) -> bool {
    matches!(c, '\n' | '\t') || !(c.is_control() || turns_text(c) || is_tag(c) || c == '\u{feff}')
}

/// Unicode's tag characters, which show nothing.
fn is_tag(c: char) -> bool {
    ('\u{e0000}'..='\u{e007f}').contains(&c)
}
