//! Instructions of folders below a root: told behind the first result of a call that reads or writes a file there.
//!
//! Instructions of the roots stand in the system prompt. A file that is another since it was told is told again. The text is the
//! user's, as it is open or on the disk: what the agent itself proposes for such a file, it knows.

use crate::calls::Call;
use crate::hooks::StepHook;
use crate::instructions::{Instructions, told};
use crate::knowledge::Knowledge;
use crate::marks::said;
use crate::session::parts::Parts;
use futures::future::BoxFuture;
use ropewalk_tools::ToolOutput;
use ropewalk_tools::tool::Hides;
use ropewalk_workspace::{ContentHash, FileState, Place, View};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The names of such files; of a folder the first counts.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The most bytes of one file.
const MOST: usize = 8 << 10;

/// The most bytes behind one result.
const MOST_TOGETHER: usize = 32 << 10;

/// See the module.
pub(crate) struct NestedInstructions {
    parts: Arc<Parts>,
}

/// A file of instructions that was found.
struct Found {
    path: PathBuf,
    hash: ContentHash,
    instructions: Instructions,
}

impl NestedInstructions {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self { parts }
    }
}

impl StepHook for NestedInstructions {
    fn after_call<'a>(&'a self, call: &'a Call, output: &'a mut ToolOutput) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let settings = self.parts.settings.get();
            if output.is_error || !settings.mechanisms.instructions {
                return;
            }
            let paths = call.files().to_vec();
            if paths.is_empty() {
                return;
            }
            let lean = settings.model.as_ref().is_ok_and(|model| model.is_lean());
            let (parts, hides) = (self.parts.clone(), self.parts.settings.hides());
            let looking = tokio::task::spawn_blocking(move || {
                let view = View::new(parts.workspace.snapshot(), BTreeMap::new());
                let found = found(&view, &paths, &*hides);
                let named: Vec<Place> =
                    paths.iter().filter_map(|path| view.contain(path).ok()).collect();
                (found, named)
            });
            // Nothing is awaited behind it: what counts as told is told.
            match looking.await {
                Ok((found, named)) => {
                    let new = untold(&mut self.parts.skills.knowledge.lock(), found, &named);
                    output.say(&in_words(&new, lean));
                }
                Err(error) => tracing::error!(%error, "instructions could not be looked at"),
            }
        })
    }
}

/// The files of instructions between the roots and these paths, the nearest to a path last. Blocking.
fn found(view: &View, paths: &[String], hides: &Hides) -> Vec<Found> {
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
fn in_folder(view: &View, folder: &Path, hides: &Hides) -> Option<Found> {
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
        Some(Found { path: place.path, hash, instructions })
    })
}

/// Files that the model does not know. It knows the ones that it has just read or written itself.
fn untold(knowledge: &mut Knowledge, mut found: Vec<Found>, named: &[Place]) -> Vec<Instructions> {
    found.retain(|one| {
        let was_told = knowledge.nested.insert(one.path.clone(), one.hash) == Some(one.hash);
        !was_told && named.iter().all(|place| place.path != one.path)
    });
    found.into_iter().map(|one| one.instructions).collect()
}

/// Words behind the result, the nearest last. What does not fit, and all for a model with little context, is named.
fn in_words(new: &[Instructions], lean: bool) -> String {
    if new.is_empty() {
        return String::new();
    }
    let mut room = if lean { 0 } else { MOST_TOGETHER };
    let mut texts = Vec::new();
    let mut named = Vec::new();
    for one in new.iter().rev() {
        let text = told(&one.file, &one.text, MOST);
        match room.checked_sub(text.len()) {
            Some(left) => {
                room = left;
                texts.push(text);
            }
            None => named.push(one.file.clone()),
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
        let file = |name: &str, bytes: usize| Instructions {
            file: name.to_owned(),
            text: "é".repeat(bytes / 2),
            is_users: false,
        };
        let new: Vec<Instructions> =
            (0..6).map(|at| file(&format!("{at}/AGENTS.md"), 9_000)).collect();
        let words = in_words(&new, false);
        assert!(words.len() < MOST_TOGETHER + 200, "{}", words.len());
        let at = |name: &str| words.find(&format!("<instructions file=\"{name}/AGENTS.md\">"));
        assert!(at("5") > at("4") && at("4") > at("3") && at("3").is_some() && at("0").is_none());
        assert!(
            words.contains("in 0/AGENTS.md, 1/AGENTS.md, 2/AGENTS.md: read it."),
            "{:.300}",
            words
        );
        assert_eq!(words.matches("(cut here: read the file for the rest)").count(), 3);
        let lean = in_words(&new[..1], true);
        assert_eq!(lean, "\n(The repository says how to work there in 0/AGENTS.md: read it.)");
    }
}
