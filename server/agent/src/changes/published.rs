//! Changes that have reached the user's text, as the ledger has them, on their way to the front end.

use super::Changes;
use crate::shown::{MOST_TEXT, MOST_TEXTS, text_range, written_length};
use ropewalk_model::Keys;
use ropewalk_protocol::{ChangeKind, Event, PublishedHunk, TextRange};
use ropewalk_text::Text;
use ropewalk_workspace::ledger::{FileAfter, FileBefore, Published, PublishedFile};
use ropewalk_workspace::{DocId, FileState, HunkId, Snapshot, View, Workspace};
use std::collections::{BTreeMap, HashSet};

impl Changes {
    /// Events that tell of these published changes, one for each turn. Reads files that are not open. Blocking.
    pub(super) fn published_events(&self, ids: &[HunkId]) -> Vec<Event> {
        if ids.is_empty() {
            return Vec::new();
        }
        let mut texts: BTreeMap<DocId, Vec<HunkId>> = BTreeMap::new();
        let mut files: Vec<PublishedFile> = Vec::new();
        {
            let ledger = self.workspace.ledger();
            for id in ids {
                let own = ledger.files.of_hunk(*id).filter(|file| file.session == self.session);
                let before = files.len();
                files.extend(own.cloned());
                // The text of a new file comes with the file.
                let new: HashSet<DocId> = files
                    .iter()
                    .skip(before)
                    .filter(|file| file.before.is_none())
                    .map(|file| DocId::from_path(&file.path))
                    .collect();
                for text in ledger.texts.of_hunk(*id) {
                    if text.session == self.session && !new.contains(&text.doc) {
                        texts.entry(text.doc.clone()).or_default().push(*id);
                    }
                }
            }
        }
        let mut placing = Placing {
            workspace: &self.workspace,
            session: &self.session,
            keys: self.settings.keys(),
            left: MOST_TEXTS,
            turns: BTreeMap::new(),
        };
        for (doc, mut ids) in texts {
            ids.dedup();
            placing.texts(&doc, &ids);
        }
        placing.files(&files);
        let turns = placing.turns.into_iter();
        turns.map(|(turn, changes)| Event::Published { turn, changes }).collect()
    }
}

/// Published changes that are being placed, by their turns.
struct Placing<'a> {
    workspace: &'a Workspace,
    session: &'a str,
    keys: Keys,
    /// How many bytes of texts there is room for.
    left: usize,
    turns: BTreeMap<u64, Vec<PublishedHunk>>,
}

/// A published change of text, where it stands now.
struct PlacedText {
    id: HunkId,
    turn: u64,
    file: String,
    range: TextRange,
    /// The text before the change.
    old: String,
}

impl Placing<'_> {
    /// Changes of one document's text. Where it is open, its version and their places are of one moment.
    fn texts(&mut self, doc: &DocId, ids: &[HunkId]) {
        let workspace = self.workspace;
        let coordinates = workspace.coordinates();
        let session = self.session;
        let in_text = |text: &Text| {
            let ledger = workspace.ledger();
            let own = |one: &&Published| *one.session == *session && one.doc == *doc;
            let lines = ids.iter().flat_map(|id| ledger.texts.of_hunk(*id)).filter(own);
            let place = |one: &Published| {
                let placed = one.lines(text);
                let range = placed.as_ref().map(|(lines, _)| lines.clone());
                let range = range.map(|lines| text_range(coordinates.line_feed_range(text, lines)));
                let old = placed.map_or_else(|| one.old.clone(), |(_, old)| old);
                let (id, turn, file) = (one.id, one.turn, one.file.clone());
                PlacedText { id, turn, file, range: range.unwrap_or_default(), old }
            };
            lines.map(place).collect::<Vec<_>>()
        };
        let open = workspace
            .with_document(doc, |document| (Some(document.version), in_text(document.text())));
        let (version, placed) = open.unwrap_or_else(|| (None, in_text(&on_disk(workspace, doc))));
        for PlacedText { id, turn, file, range, old } in placed {
            let (hunk, uri, old) = (id.0, doc.to_uri(), self.shown(old));
            let kind = ChangeKind::Text;
            let change = PublishedHunk { hunk, uri, file, kind, version, range, old };
            self.turns.entry(turn).or_default().push(change);
        }
    }

    /// Changes of whole files.
    fn files(&mut self, files: &[PublishedFile]) {
        let is_renamed = |id| {
            let mut names = files.iter().filter(|file| file.id == id);
            names.clone().any(|file| file.after.is_none())
                && names.any(|file| file.before.is_none())
        };
        for file in files {
            let renamed = is_renamed(file.id);
            if renamed && file.after.is_none() {
                continue;
            }
            let kind = if renamed { ChangeKind::Rename } else { kind(file) };
            let doc = DocId::from_path(&file.path);
            let (version, range) = match kind {
                ChangeKind::Create => self.whole(&doc),
                _ => {
                    (self.workspace.with_document(&doc, |open| open.version), TextRange::default())
                }
            };
            let old = match &file.before {
                Some(FileBefore::File { bytes, .. }) if kind == ChangeKind::Delete => {
                    std::str::from_utf8(bytes).ok().map(str::to_owned)
                }
                None => Some(String::new()),
                _ => None,
            };
            let old = old.and_then(|old| self.shown(old));
            let (hunk, uri, file_name) = (file.id.0, doc.to_uri(), file.file.clone());
            let change = PublishedHunk { hunk, uri, file: file_name, kind, version, range, old };
            self.turns.entry(file.turn).or_default().push(change);
        }
    }

    /// All of a document, and its version if it is open.
    fn whole(&self, doc: &DocId) -> (Option<i32>, TextRange) {
        let coordinates = self.workspace.coordinates();
        let all = |text: &Text| {
            text_range(coordinates.line_feed_range(text, 0..text.line_feeds().saturating_add(1)))
        };
        let open = self.workspace.with_document(doc, |open| (Some(open.version), all(open.text())));
        open.unwrap_or_else(|| (None, all(&on_disk(self.workspace, doc))))
    }

    /// A text without keys, unless it is long.
    fn shown(&mut self, text: String) -> Option<String> {
        let text = self.keys.redact(&text).into_owned();
        let rest = self.left.checked_sub(written_length(&text));
        self.left = rest.filter(|_| text.len() <= MOST_TEXT)?;
        Some(text)
    }
}

fn kind(file: &PublishedFile) -> ChangeKind {
    match (&file.before, &file.after) {
        (_, Some(FileAfter::Link { .. })) | (Some(FileBefore::Link { .. }), Some(_)) => {
            ChangeKind::Link
        }
        (_, Some(FileAfter::Mode { .. })) => ChangeKind::Mode,
        (None, _) => ChangeKind::Create,
        (Some(_), None) => ChangeKind::Delete,
        (Some(_), Some(_)) => ChangeKind::Binary,
    }
}

/// The text of a file that is not open; empty if there is none.
fn on_disk(workspace: &Workspace, doc: &DocId) -> Text {
    let place = workspace.place(doc);
    let snapshot = Snapshot { roots: workspace.roots(), ..Snapshot::default() };
    let view = View::new(snapshot, BTreeMap::new());
    match place.and_then(|place| view.read(&place).ok()) {
        Some(FileState::Text { text, .. }) => text,
        _ => Text::default(),
    }
}
