//! Instructions of folders below a root: told behind the first result of a call that reads or writes a file there, in a
//! room of their own, so that nothing cuts them.
//!
//! Instructions of the roots stand in the system prompt. A file that is another since it was told is told again. The text is the
//! user's, as it is open or on the disk: what the agent itself proposes for such a file, it knows.

use crate::calls::ModelCall;
use crate::calls::bounded::sent;
use crate::hooks::{RoomBehind, StepHook};
use crate::knowledge::Knowledge;
use crate::session::parts::SessionParts;
use futures::future::BoxFuture;
use ropewalk_guidance::instructions::{Instructions, told};
use ropewalk_guidance::marks::said;
use ropewalk_tools::ToolOutput;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_tools::tool::ReadFilter;
use ropewalk_workspace::{ContentHash, FileState, Place, View};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The names of such files; of a folder the first counts.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The most bytes of one file.
const MOST: usize = 8 << 10;

/// Bytes for the words around them.
const WORDS: usize = 400;

/// See the module.
pub(crate) struct NestedInstructions {
    parts: Arc<SessionParts>,
}

/// A file of instructions that was found.
struct InstructionFile {
    path: PathBuf,
    hash: ContentHash,
    instructions: Instructions,
}

impl NestedInstructions {
    pub(crate) fn new(parts: Arc<SessionParts>) -> Self {
        Self { parts }
    }
}

impl StepHook for NestedInstructions {
    fn behind_result<'a>(
        &'a self,
        call: &'a ModelCall,
        output: &'a ToolOutput,
        room: RoomBehind,
    ) -> BoxFuture<'a, String> {
        Box::pin(async move {
            let settings = self.parts.settings.get();
            if output.is_error || !settings.mechanisms.instructions {
                return String::new();
            }
            let paths = call.files().to_vec();
            if paths.is_empty() {
                return String::new();
            }
            let lean = settings.model.as_ref().is_ok_and(|model| model.is_lean());
            let (parts, hides) = (self.parts.clone(), self.parts.settings.hides());
            let looking = spawn_blocking(move || {
                let view = View::new(parts.workspace.snapshot(), BTreeMap::new());
                let found = found(&view, &paths, &*hides);
                let named: Vec<Place> =
                    paths.iter().filter_map(|path| view.contain(path).ok()).collect();
                (found, named)
            });
            // Nothing is awaited behind it: what counts as told is told.
            match looking.await {
                Ok((found, named)) => {
                    let knowledge = &mut self.parts.skills.knowledge.lock();
                    let new = untold(knowledge, found, &named);
                    let room = if lean { None } else { Some(room) };
                    in_words(new, room, |one| knowledge.knows(one))
                }
                Err(error) => {
                    tracing::error!(%error, "instructions could not be looked at");
                    String::new()
                }
            }
        })
    }
}

/// The files of instructions between the roots and these paths, the nearest to a path last. Blocking.
fn found(view: &View, paths: &[String], hides: &ReadFilter) -> Vec<InstructionFile> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for place in paths.iter().filter_map(|path| view.contain(path).ok()) {
        let Some(root) = place.root.and_then(|root| view.roots().get(root)) else { continue };
        let mut between: Vec<&Path> = place.relative.ancestors().skip(1).collect();
        between.retain(|folder| !folder.as_os_str().is_empty());
        let between = between.into_iter().rev().map(|folder| root.path().join(folder));
        for folder in between {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    folders.iter().filter_map(|folder| in_folder(view, folder, hides)).collect()
}

/// The first file of a folder that says anything.
fn in_folder(view: &View, folder: &Path, hides: &ReadFilter) -> Option<InstructionFile> {
    NAMES.iter().find_map(|name| {
        let place = view.roots().place_of(&folder.join(name)).ok()?;
        let FileState::Text { text, .. } = view.read(&place).ok()? else { return None };
        if hides(&place, None) {
            return None;
        }
        let hash = text.hash();
        let text = said(&text.slice(0..text.floor_boundary(text.len().min(2 * MOST))));
        if text.trim().is_empty() {
            return None;
        }
        let instructions = Instructions { file: place.shown.clone(), text, is_users: false };
        Some(InstructionFile { path: place.path, hash, instructions })
    })
}

impl Knowledge {
    /// The model has the text of this file.
    fn knows(&mut self, one: &InstructionFile) {
        self.nested.insert(one.path.clone(), one.hash);
    }
}

/// Files that the model does not know. It knows the ones that it has just read or written itself.
fn untold(
    knowledge: &mut Knowledge,
    mut found: Vec<InstructionFile>,
    named: &[Place],
) -> Vec<InstructionFile> {
    found.retain(|one| {
        let is_own = named.iter().any(|place| place.path == one.path);
        if is_own {
            knowledge.knows(one);
        }
        !is_own && knowledge.nested.get(&one.path) != Some(&one.hash)
    });
    found
}

/// Words behind the result, the nearest last. What does not fit is named, and so is all where there is no room. `is_told`
/// hears of each that is whole, and of those that only ever can be named; the others are told another time.
fn in_words(
    new: Vec<InstructionFile>,
    room: Option<RoomBehind>,
    mut is_told: impl FnMut(&InstructionFile),
) -> String {
    if new.is_empty() {
        return String::new();
    }
    let room = room.unwrap_or(RoomBehind { whole: 0, left: 0 });
    let (whole, mut left) = (room.whole.saturating_sub(WORDS), room.left.saturating_sub(WORDS));
    let mut texts = Vec::new();
    let mut named = Vec::new();
    for one in new.iter().rev() {
        let text = told(&one.instructions.file, &one.instructions.text, MOST);
        let bytes = sent(&text);
        let fits = bytes <= left;
        if fits || bytes > whole {
            is_told(one);
        }
        if fits {
            left -= bytes;
            texts.push(text);
        } else {
            named.push(one.instructions.file.clone());
        }
    }
    let mut out = String::new();
    if !named.is_empty() {
        named.reverse();
        let named = named.join(", ");
        out.push_str(&format!("\n(The repository says how to work there in {named}: read it.)"));
    }
    if !texts.is_empty() {
        texts.reverse();
        out.push_str("\n\nHow to work there, by the repository and not by the user:\n");
        out.push_str(texts.concat().trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_last_and_are_kept_where_room_is_short() {
        let file = |name: &str, bytes: usize| InstructionFile {
            path: name.into(),
            hash: ContentHash::of(b""),
            instructions: Instructions {
                file: name.to_owned(),
                text: "é".repeat(bytes / 2),
                is_users: false,
            },
        };
        let new = || -> Vec<InstructionFile> {
            (0..6).map(|at| file(&format!("{at}/AGENTS.md"), 9_000)).collect()
        };
        let room = |whole, left| Some(RoomBehind { whole, left });
        let mut known = Vec::new();
        let mut say = |new: Vec<InstructionFile>, room: Option<RoomBehind>| {
            known.clear();
            let words = in_words(new, room, |one| known.push(one.instructions.file.clone()));
            (words, known.join(" "))
        };
        let most = 32 << 10;
        let (words, known) = say(new(), room(most, most));
        assert_eq!(known, "5/AGENTS.md 4/AGENTS.md 3/AGENTS.md", "the others are told later");
        assert!(words.len() <= most, "{}", words.len());
        let at = |name: &str| words.find(&format!("<instructions file=\"{name}/AGENTS.md\">"));
        assert!(at("5") > at("4") && at("4") > at("3") && at("3").is_some() && at("0").is_none());
        assert!(
            words.contains("in 0/AGENTS.md, 1/AGENTS.md, 2/AGENTS.md: read it."),
            "{:.300}",
            words
        );
        assert_eq!(words.matches("(cut here: read the file for the rest)").count(), 3);
        let one = || vec![file("0/AGENTS.md", 9_000)];
        let named = "\n(The repository says how to work there in 0/AGENTS.md: read it.)";
        assert_eq!(say(one(), None), (named.to_owned(), "0/AGENTS.md".to_owned()));
        let (words, known) = say(one(), room(most, 100));
        assert_eq!((&*words, &*known), (named, ""), "the next call has room for it");
        let (words, known) = say(one(), room(5_000, 5_000));
        assert_eq!((&*words, &*known), (named, "0/AGENTS.md"), "no call ever has");
    }
}
