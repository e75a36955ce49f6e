//! Changes that wait for the user's review in mode `auto` too, because others run or follow the file.
//!
//! Which files these are is data, in `ropewalk_tools::policy`.

use ropewalk_tools::policy::{TrustedFiles, TrustedReader, trusted_below, trusted_by};
use ropewalk_workspace::{DocId, Fork, Hunk, HunkId, HunkKind, Place, Roots};
use std::collections::BTreeMap;
use std::path::Path;

/// How many names above a single file count, which lies in no open folder.
const NAMES_OF_SINGLE: usize = 3;

/// A call's changes, parted into those that may be published at once and those that wait.
#[derive(Debug, Default)]
pub(crate) struct Split {
    /// These.
    pub(crate) now: Vec<HunkId>,
    /// The files in which others wait, as they are shown, and for whom.
    pub(crate) waits: BTreeMap<String, TrustedReader>,
}

/// Finds the program or agent that trusts the file a hunk changes, or the one it is renamed from.
pub(crate) fn reader_of(hunk: &Hunk, roots: &Roots, files: &TrustedFiles) -> Option<TrustedReader> {
    let from = match &hunk.kind {
        HunkKind::Rename { from } => Some(DocId::from_uri(from)),
        _ => None,
    };
    [Some(&hunk.doc), from.as_ref()].into_iter().flatten().find_map(|doc| {
        let path = doc.path()?;
        // The name itself, and what it leads to.
        let places = [roots.place(path.clone()), roots.place_of(&path).ok()];
        let is_link = matches!(hunk.kind, HunkKind::Link { .. });
        let below = |place: &Place| trusted_below(&place.relative.to_string_lossy());
        places.iter().flatten().find_map(|place| {
            reader(place, files).or_else(|| is_link.then(|| below(place)).flatten())
        })
    })
}

fn reader(place: &Place, files: &TrustedFiles) -> Option<TrustedReader> {
    if place.root.is_some() {
        return files.reader(place);
    }
    let names: Vec<_> = place.path.iter().collect();
    let last = names.len().saturating_sub(NAMES_OF_SINGLE);
    let last: std::path::PathBuf = names.get(last..).unwrap_or_default().iter().collect();
    trusted_by(&last.to_string_lossy())
}

/// Parts the hunks of a call. `moves`: from where to where it moves files; one that waits under one of its names
/// waits under both, so that no half of a move is published. Blocking.
pub(crate) fn split(fork: &Fork, roots: &Roots, ids: &[HunkId], moves: &[(Place, Place)]) -> Split {
    let files = TrustedFiles::of(roots);
    let of_move = |path: &Path| {
        let is_one = |(from, to): &&(Place, Place)| from.path == path || to.path == path;
        let both = moves.iter().filter(is_one).flat_map(|(from, to)| [from, to]);
        both.into_iter().find_map(|place| reader(place, &files))
    };
    let mut out = Split::default();
    for hunk in fork.hunks() {
        let own: Vec<HunkId> = hunk.parts.iter().copied().filter(|id| ids.contains(id)).collect();
        if own.is_empty() {
            continue;
        }
        let moved = || hunk.doc.path().and_then(|path| of_move(&path));
        match reader_of(&hunk, roots, &files).or_else(moved) {
            Some(reader) => drop(out.waits.insert(hunk.file, reader)),
            None => out.now.extend(own),
        }
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use ropewalk_workspace::entry::Maker;
    use ropewalk_workspace::{Proposal, ProposedChange, Workspace};

    #[test]
    fn a_link_that_brings_files_under_a_trusted_name_waits() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("conf")).unwrap();
        let workspace = Workspace::new(Roots::new(vec![("w".to_owned(), root.clone())]));
        let roots = workspace.roots();
        let mut fork = Fork::new("s".into());
        let view = fork.view(workspace.snapshot());
        let link = |name: &str| Proposal {
            place: roots.place(root.join(name)).unwrap(),
            change: ProposedChange::Link("conf".into()),
        };
        let names = [".cargo", "a/.github", "cargo", ".cargo-x"];
        let proposals = names.map(link).into();
        let report = fork.merge(&workspace, &view, 1, &Maker::Call("c".into()), proposals);
        let parted = split(&fork, &roots, &report.hunks, &[]);
        assert_eq!(parted.waits.keys().collect::<Vec<_>>(), [".cargo", "a/.github"]);
        assert_eq!(parted.now.len(), 2);
    }
}
