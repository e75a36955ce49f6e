//! The user's decisions about pending hunks, but for accepting them.

use super::Changes;
use ropewalk_workspace::{Hunk, HunkId, HunkSelection};

impl Changes {
    /// The hunks that a selection means now.
    pub(crate) fn select(&self, selection: &HunkSelection) -> Vec<HunkId> {
        self.state().fork.select(selection)
    }

    /// Takes pending hunks out. Gives how many, or why none.
    pub(crate) fn reject(
        &self,
        selection: &HunkSelection,
        reason: Option<&str>,
    ) -> Result<usize, &'static str> {
        let mut state = self.state();
        let fork = &mut state.fork;
        let meant = fork.select(selection);
        let of_disk = |hunk: &Hunk| hunk.is_of_disk() && meant.contains(&hunk.id);
        let why = match fork.hunks().iter().any(of_disk) {
            true => {
                "the file has changed on the disk, which can't be rejected: read it anew in the editor, or save over it"
            }
            false => "no such change waits for review",
        };
        match fork.reject(&self.workspace, selection, reason) {
            0 => Err(why),
            done => Ok(done),
        }
    }

    /// Puts the user's own text in a hunk's place, or says why not.
    pub(crate) fn edit(&self, hunk: HunkId, text: &str) -> Result<(), &'static str> {
        let keys = self.settings.keys();
        let mut state = self.state();
        let fork = &mut state.fork;
        // A hunk is shown without keys, and what is shown is where an edit begins.
        let loses_key = |own: &Hunk| {
            let texts = [&own.old, &own.new];
            own.parts.contains(&hunk) && texts.iter().any(|old| keys.would_be_lost(old, text))
        };
        if !keys.is_empty() && fork.hunks().iter().any(loses_key) {
            return Err(
                "the text holds a key that is not shown, and [key] would take its place: accept the change or reject \
                 it, and change the text in the file",
            );
        }
        match fork.edit(&self.workspace, hunk, text) {
            true => Ok(()),
            false => Err("no such change of text waits for review"),
        }
    }

    /// A selection as people read it.
    pub(crate) fn in_words(&self, selection: &HunkSelection) -> String {
        let ids = match selection {
            HunkSelection::Hunks(ids) => ids,
            HunkSelection::File(doc) => return self.workspace.shown(doc),
            HunkSelection::Turn(turn) => return format!("turn {turn}"),
            HunkSelection::All => return "everything".to_owned(),
        };
        let mut hunks = self.state().fork.hunks();
        hunks.retain(|hunk| hunk.parts.iter().any(|part| ids.contains(part)));
        let place = |hunk: &Hunk| format!("{}:{}", hunk.file, hunk.lines.start + 1);
        hunks.iter().map(place).collect::<Vec<_>>().join(", ")
    }
}
