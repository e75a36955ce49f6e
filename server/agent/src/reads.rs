//! Files that the model has read, so that it can be told which have changed when a session goes on.

use ropewalk_workspace::{ContentHash, DocId, FileState, Proposal, ProposedChange, View};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A text of a file that the model has seen.
#[derive(Clone, Debug)]
pub(crate) struct SeenText {
    pub(crate) doc: DocId,
    pub(crate) hash: ContentHash,
    /// True if a call of its own has made it.
    pub(crate) is_made: bool,
}

/// Files that the model knows, each with the text it has seen last.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownFiles {
    files: BTreeMap<DocId, KnownFile>,
    /// Number of the last read.
    last: u64,
}

#[derive(Clone, Debug)]
struct KnownFile {
    hash: ContentHash,
    /// Number of the last read.
    read: u64,
    /// Number of the last read of a text that it has made itself; 0 if there was none.
    made: u64,
}

impl KnownFiles {
    /// The model has seen this text. False if that is what was noted last of all.
    pub(crate) fn note(&mut self, read: &SeenText) -> bool {
        let before = self.files.get(&read.doc);
        let is_known = before.is_some_and(|file| {
            file.hash == read.hash && file.read == self.last && (!read.is_made || file.made > 0)
        });
        if is_known {
            return false;
        }
        let made = before.map_or(0, |file| file.made);
        self.last += 1;
        let made = if read.is_made { self.last } else { made };
        let file = KnownFile { hash: read.hash, read: self.last, made };
        self.files.insert(read.doc.clone(), file);
        true
    }

    /// The files that it has changed or read last, the changed ones first, and how many more there are.
    pub(crate) fn latest(&self, most: usize) -> (Vec<&DocId>, usize) {
        let mut all: Vec<(&DocId, &KnownFile)> = self.files.iter().collect();
        all.sort_by_key(|(_, file)| Reverse((file.made, file.read)));
        let more = all.len().saturating_sub(most);
        (all.into_iter().take(most).map(|(doc, _)| doc).collect(), more)
    }
}

/// Reads of a call that went well: the files that it showed to the model, and the ones that it
/// wrote. O(their texts).
pub(crate) fn shown(view: &View, paths: &[String], proposals: &[Proposal]) -> Vec<SeenText> {
    let read = paths.iter().filter_map(|path| {
        let (place, roots) = view.contain_readable(path).ok()?;
        match view.read_in(&place, roots).ok()? {
            FileState::Text { text, .. } => {
                Some(SeenText { doc: view.id_of(&place, roots), hash: text.hash(), is_made: false })
            }
            FileState::Binary { .. } | FileState::Missing => None,
        }
    });
    let made = proposals.iter().filter_map(|proposal| {
        let doc = view.id_of(&proposal.place, view.roots());
        let text = match &proposal.change {
            ProposedChange::Write(text) => text.clone(),
            ProposedChange::Edit(set) => match view.read(&proposal.place).ok()? {
                FileState::Text { text, .. } => set.apply(&text).ok()?,
                FileState::Binary { .. } | FileState::Missing => return None,
            },
            _ => return None,
        };
        Some(SeenText { doc, hash: text.hash(), is_made: true })
    });
    read.chain(made).collect()
}

/// Names, as shown, the files that are another text now, or gone. O(their texts).
pub(crate) fn changed(known: &KnownFiles, view: &View) -> Vec<String> {
    let now = |id: &DocId| {
        let place = view.roots().place_of(&id.path()?).ok()?;
        let text = match view.read(&place).ok()? {
            FileState::Text { text, .. } => Some(text.hash()),
            FileState::Binary { .. } | FileState::Missing => None,
        };
        Some((place.shown, text))
    };
    let changed = known.files.iter().filter_map(|(id, known)| {
        let (shown, text) = now(id)?;
        (text != Some(known.hash)).then_some(shown)
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_those_that_were_changed_last_then_those_that_were_read_last() {
        let doc = |name: &str| DocId::from_uri(&format!("file:///w/{name}"));
        let mut known = KnownFiles::default();
        let mut note = |name: &str, text: &str, is_made| {
            known.note(&SeenText {
                doc: doc(name),
                hash: ContentHash::of(text.as_bytes()),
                is_made,
            })
        };
        assert!(note("a", "1", false) && note("b", "1", true) && note("c", "1", false));
        assert!(!note("c", "1", false), "as it was noted last");
        assert!(note("b", "1", false), "it is the latest again");
        assert!(note("a", "1", false) && note("d", "1", true) && note("d", "2", true));
        let names = |(docs, more): (Vec<&DocId>, usize)| {
            (docs.iter().map(|doc| doc.to_uri().pop().unwrap()).collect::<String>(), more)
        };
        assert_eq!(names(known.latest(9)), ("dbac".to_owned(), 0));
        assert_eq!(names(known.latest(3)), ("dba".to_owned(), 1));
    }
}
