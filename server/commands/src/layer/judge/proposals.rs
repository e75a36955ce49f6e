//! The proposals, when all is judged: deletions and new files with the same content are put together as renames.

use super::{Deleted, Judge, WrittenFile};
use crate::layer::LayerChanges;
use crate::layer::compare::{ContentId, NewContent, content_of, elsewhere};
use crate::layer::notes::{NoteKind, plain};
use ropewalk_workspace::{Place, Proposal, ProposedChange};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

impl Judge<'_, '_> {
    /// The proposals, and the words.
    pub(in crate::layer) fn finish(mut self) -> LayerChanges {
        if self.told.has(NoteKind::Elsewhere) {
            // The command's files stand in the layer until the next one is shown the view again.
            return LayerChanges { proposals: Vec::new(), told: self.told.words() };
        }
        let renames = self.renames();
        let mut proposals = Vec::with_capacity(self.deleted.len() + self.changed.len());
        let place = |path: &Path| self.view.roots().place(path.to_owned());
        let arrived: HashSet<&PathBuf> = renames.values().collect();
        let over: HashMap<ContentId, Place> =
            self.changed.iter().filter_map(|new| Some((new.over?, new.place.clone()))).collect();
        let deleted = std::mem::take(&mut self.deleted);
        let alone = deleted.iter().filter(|deleted| !renames.contains_key(&deleted.place.path));
        let lengths: HashSet<u64> =
            alone.map(|deleted| deleted.len).filter(|len| *len > 0).collect();
        if !lengths.is_empty() {
            self.left_out.look_for(&lengths, self.started);
        }
        for Deleted { place: from, content, len } in deleted {
            let read = || Some(content_of(&elsewhere(self.view, &from)?));
            let over = content.filter(|_| len > 0).and_then(|content| over.get(&content));
            let change = if let Some(to) = renames.get(&from.path) {
                place(to).map(|to| ProposedChange::Rename { to })
            } else if let Some(to) = over {
                Some(ProposedChange::MoveOver { to: to.clone() })
            } else if let Some(now) = self.left_out.holds(content, len, read) {
                self.told.add_words(
                    NoteKind::Half,
                    format!("{} (now {now})", plain(Path::new(&from.shown))),
                );
                None
            } else {
                Some(ProposedChange::Delete)
            };
            proposals.extend(change.map(|change| Proposal { place: from, change }));
        }
        for WrittenFile { place, becomes, mode, .. } in self.changed {
            let change = match becomes {
                Some(_) if arrived.contains(&place.path) => None,
                Some(NewContent::Text(text)) => Some(ProposedChange::Write(text)),
                Some(NewContent::Bytes(bytes)) => Some(ProposedChange::Binary(bytes)),
                Some(NewContent::Link(target)) => Some(ProposedChange::Link(target)),
                None => None,
            };
            let mode = mode.map(ProposedChange::Mode);
            if let (Some(change), Some(_)) = (&change, &mode) {
                proposals.push(Proposal { place: place.clone(), change: change.clone() });
            }
            let last = mode.or(change);
            proposals.extend(last.map(|change| Proposal { place, change }));
        }
        LayerChanges { proposals, told: self.told.words() }
    }

    /// From where to where files went that were deleted and made again with the same content. Those that kept
    /// their file name come first; empty ones are only taken for the same when they did.
    fn renames(&self) -> HashMap<PathBuf, PathBuf> {
        let mut made: HashMap<ContentId, Vec<&Path>> = HashMap::new();
        for changed in self.changed.iter().filter(|_| !self.deleted.is_empty()) {
            if let Some(key) = changed.made {
                made.entry(key).or_default().push(&changed.place.path);
            }
        }
        let mut out = HashMap::new();
        if made.is_empty() {
            return out;
        }
        for same_name in [true, false] {
            for deleted in &self.deleted {
                let (path, Some(key)) = (&deleted.place.path, deleted.content) else { continue };
                if out.contains_key(path) || !same_name && key.1 == 0 {
                    continue;
                }
                let Some(paths) = made.get_mut(&key) else { continue };
                let fits = |to: &&Path| !same_name || to.file_name() == path.file_name();
                if let Some(index) = paths.iter().position(fits) {
                    out.insert(path.clone(), paths.remove(index).to_owned());
                }
            }
        }
        out
    }
}
