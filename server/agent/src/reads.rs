//! What the model has read, so that it can be told what is another text when a session goes on.

use ropewalk_workspace::{ContentHash, DocId, FileState, Proposal, ProposedChange, View};
use std::collections::BTreeMap;

/// A file, and the text that the model knows of it.
pub(crate) type Read = (DocId, ContentHash);

/// What a call that went well has shown to the model of the files it names, and what it made of those it
/// writes. O(their texts).
pub(crate) fn shown(view: &View, paths: &[String], proposals: &[Proposal]) -> Vec<Read> {
    let read = paths.iter().filter_map(|path| {
        let (place, roots) = view.contain_readable(path).ok()?;
        match view.read_in(&place, roots).ok()? {
            FileState::Text { text, .. } => Some((view.id_of(&place, roots), text.hash())),
            FileState::Binary { .. } | FileState::Missing => None,
        }
    });
    let made = proposals.iter().filter_map(|proposal| {
        let id = view.id_of(&proposal.place, view.roots());
        let text = match &proposal.change {
            ProposedChange::Write(text) => text.clone(),
            ProposedChange::Edit(set) => match view.read(&proposal.place).ok()? {
                FileState::Text { text, .. } => set.apply(&text).ok()?,
                FileState::Binary { .. } | FileState::Missing => return None,
            },
            _ => return None,
        };
        Some((id, text.hash()))
    });
    read.chain(made).collect()
}

/// Those of `reads` that are another text now, or gone, as they are shown. O(their texts).
pub(crate) fn changed(reads: &BTreeMap<DocId, ContentHash>, view: &View) -> Vec<String> {
    let now = |id: &DocId| {
        let place = view.roots().place_of(&id.path()?).ok()?;
        let text = match view.read(&place).ok()? {
            FileState::Text { text, .. } => Some(text.hash()),
            FileState::Binary { .. } | FileState::Missing => None,
        };
        Some((place.shown, text))
    };
    let changed = reads.iter().filter_map(|(id, hash)| {
        let (shown, text) = now(id)?;
        (text != Some(*hash)).then_some(shown)
    });
    changed.collect()
}
