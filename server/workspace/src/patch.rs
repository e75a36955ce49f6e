//! The net change of a fork as a patch in git's own format: `git apply` makes of the user's files what accepting all
//! would make of them.
//!
//! Renames, modes, links, empty files and bytes that are no text are in it, and names are quoted as git quotes them, so
//! that no name and no text can pass for another file's change. What the format can't say is told beside it.

mod binary;
mod names;

use crate::Place;
use crate::fork::{Fork, NetChange, NetContent, Side};
use crate::workspace::Workspace;
use names::PlaceNames;
use ropewalk_text::{Text, diff, unified};
use std::path::PathBuf;

/// Lines around a change.
const CONTEXT: usize = 3;
/// Hex digits of an id where a few will do.
const SHORT_ID: usize = 10;
/// The modes that git's format can say, with a group that may write or not.
const GIT_MODES: [u32; 4] = [0o644, 0o664, 0o755, 0o775];

/// A patch of several files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The changes, one or two for each file, in the order of names.
    pub files: Vec<PatchFile>,
    /// Files that are not in the patch: their names as shown to people, and why.
    pub left_out: Vec<(String, String)>,
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchFile {
    /// The lines before the change of the content, from `diff --git` on.
    pub header: Vec<u8>,
    /// Hunks of lines, or a `GIT binary patch`; empty where the content stays as it is.
    pub body: Vec<u8>,
    /// Of content that is no text: its length in bytes before and after.
    pub binary: Option<(usize, usize)>,
    /// The files it is about, absolute: of a rename the old name and the new one.
    pub paths: Vec<PathBuf>,
}

impl Patch {
    /// The patch as `git apply` reads it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = self.files.iter().flat_map(|file| [&*file.header, &*file.body]);
        parts.collect::<Vec<_>>().concat()
    }
}

impl Fork {
    /// All that is pending as a patch, on the base as of the last sync. Names are relative to the top of the repository
    /// that the first root is in, where there is one, since git takes them so. Reads the disk. O(bytes of the files).
    pub fn patch(&self, workspace: &Workspace) -> Patch {
        let names = PlaceNames::of(&workspace.roots());
        let (changes, left_out) = self.net(workspace);
        let mut patch = Patch { files: Vec::new(), left_out };
        for NetChange { old, new, mode } in changes {
            if let (Some(mode), Some(side)) = (mode, &new)
                && !GIT_MODES.contains(&mode)
                && old.as_ref().is_none_or(|old| old.mode != mode)
            {
                let why = format!("its mode {mode:o} can't be said in a patch; accepting sets it");
                patch.left_out.push((side.place.shown.clone(), why));
            }
            match (&old, &new) {
                (Some(old), Some(new)) if old.is_link() == new.is_link() => {
                    patch.files.extend(change(&names, old, new));
                }
                // A link in the place of a file, or the other way round, is two changes.
                _ => {
                    patch.files.extend(old.iter().map(|old| removal(&names, old)));
                    patch.files.extend(new.iter().map(|new| creation(&names, new)));
                }
            }
        }
        patch
    }
}

impl Side {
    fn is_link(&self) -> bool {
        matches!(self.content, NetContent::Link(_))
    }

    fn bytes(&self) -> &[u8] {
        match &self.content {
            NetContent::File(bytes) | NetContent::Link(bytes) => bytes,
        }
    }

    /// The mode as git has it: a link, a program, or any other file.
    fn git_mode(&self) -> &'static str {
        match &self.content {
            NetContent::Link(_) => "120000",
            NetContent::File(_) if self.mode & 0o100 != 0 => "100755",
            NetContent::File(_) => "100644",
        }
    }
}

/// A file that stays one. None if nothing of it changes that the format can say.
fn change(names: &PlaceNames, old: &Side, new: &Side) -> Option<PatchFile> {
    let is_renamed = old.place.path != new.place.path;
    let (was, is) = (old.git_mode(), new.git_mode());
    let same_bytes = old.bytes() == new.bytes();
    if same_bytes && was == is && !is_renamed {
        return None;
    }
    let mut header = first_line(names, &old.place, &new.place);
    if was != is {
        header.extend(format!("old mode {was}\nnew mode {is}\n").into_bytes());
    }
    if is_renamed {
        let percent = similarity(old.bytes(), new.bytes());
        header.extend(format!("similarity index {percent}%\n").into_bytes());
        for (verb, place) in [("rename from ", &old.place), ("rename to ", &new.place)] {
            header.extend(verb.as_bytes());
            header.extend(names.quoted("", place));
            header.push(b'\n');
        }
    }
    let mode = if was == is { format!(" {is}") } else { String::new() };
    Some(with_body(header, names, (Some(old), Some(new)), &mode))
}

fn creation(names: &PlaceNames, new: &Side) -> PatchFile {
    let mut header = first_line(names, &new.place, &new.place);
    header.extend(format!("new file mode {}\n", new.git_mode()).into_bytes());
    with_body(header, names, (None, Some(new)), "")
}

fn removal(names: &PlaceNames, old: &Side) -> PatchFile {
    let mut header = first_line(names, &old.place, &old.place);
    header.extend(format!("deleted file mode {}\n", old.git_mode()).into_bytes());
    with_body(header, names, (Some(old), None), "")
}

fn first_line(names: &PlaceNames, old: &Place, new: &Place) -> Vec<u8> {
    [b"diff --git ", &*names.quoted("a/", old), b" ", &names.quoted("b/", new), b"\n"].concat()
}

/// The rest of the header, and the body. `mode`: what stands behind the ids.
fn with_body(
    mut header: Vec<u8>,
    names: &PlaceNames,
    (old, new): (Option<&Side>, Option<&Side>),
    mode: &str,
) -> PatchFile {
    let paths: Vec<PathBuf> =
        [old, new].into_iter().flatten().map(|side| side.place.path.clone()).collect();
    let bytes = |side: Option<&Side>| side.map(Side::bytes).unwrap_or_default().to_vec();
    let (before, after) = (bytes(old), bytes(new));
    if old.is_some() && new.is_some() && before == after {
        return PatchFile { header, body: Vec::new(), binary: None, paths };
    }
    let is_binary = [&before, &after].iter().any(|bytes| bytes.contains(&0));
    let id = |side: Option<&Side>| {
        let id = side.map_or_else(binary::no_id, |side| binary::blob_id(side.bytes()));
        // Only bytes are checked by their ids.
        let length = if is_binary { id.len() } else { SHORT_ID };
        id.chars().take(length).collect::<String>()
    };
    header.extend(format!("index {}..{}{mode}\n", id(old), id(new)).into_bytes());
    if is_binary {
        let body = binary::patch(&before, &after);
        return PatchFile { header, body, binary: Some((before.len(), after.len())), paths };
    }
    if before != after {
        for (mark, prefix, side) in [("--- ", "a/", old), ("+++ ", "b/", new)] {
            header.extend(mark.as_bytes());
            header.extend(side.map_or(b"/dev/null".to_vec(), |side| {
                let mut name = names.quoted(prefix, &side.place);
                // The end of a name with spaces in it, which `patch` would cut.
                name.extend(name.contains(&b' ').then_some(b'\t'));
                name
            }));
            header.push(b'\n');
        }
    }
    PatchFile { header, body: hunks(&before, &after), binary: None, paths }
}

/// The changed lines with those around them. Bytes that are no UTF-8 stay as they are.
fn hunks(before: &[u8], after: &[u8]) -> Vec<u8> {
    let ComparedTexts { old, new, is_utf8 } = texts(before, after);
    let lines = unified(&old, &new, &diff(&old, &new), CONTEXT);
    if is_utf8 {
        return lines.into_bytes();
    }
    lines.chars().filter_map(|char| u8::try_from(char).ok()).collect()
}

/// Two contents as texts with the same lines.
struct ComparedTexts {
    old: Text,
    new: Text,
    /// False if each char stands for one byte.
    is_utf8: bool,
}

fn texts(before: &[u8], after: &[u8]) -> ComparedTexts {
    if let (Ok(old), Ok(new)) = (std::str::from_utf8(before), std::str::from_utf8(after)) {
        return ComparedTexts { old: Text::from(old), new: Text::from(new), is_utf8: true };
    }
    let wide = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
    let (old, new) = (Text::from(wide(before).as_str()), Text::from(wide(after).as_str()));
    ComparedTexts { old, new, is_utf8: false }
}

/// How much of a file stays, in percent; 100 only if all does.
fn similarity(before: &[u8], after: &[u8]) -> usize {
    if before == after {
        return 100;
    }
    let ComparedTexts { old, new, .. } = texts(before, after);
    let set = diff(&old, &new);
    let gone: usize = set.changes().iter().map(|change| change.range.len()).sum();
    let kept = old.len().saturating_sub(gone);
    (kept * 100 / old.len().max(new.len()).max(1)).min(99)
}
