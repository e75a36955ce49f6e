//! Pending hunks of a fork, as a reviewer sees them.

use super::{ForkFile, Hunk, HunkKind, HunkState, base_of};
use crate::DocId;
use crate::document::Document;
use crate::entry::{Base, Entry, FileChange, Maker, Mark};
use crate::log::{Cursor, Origin};
use crate::workspace::lock;
use ropewalk_text::{ChangeSet, Text, line_hunks, unified};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The pending hunks of one file, and the state of the document that they are placed in. It stands for itself: who reads
/// it needs no fork.
#[derive(Clone, Debug)]
pub struct FileHunks {
    /// The document they are placed in: the file's own, or that of the name it is to lose.
    pub source: DocId,
    /// The hunks, in the order of lines.
    pub hunks: Arc<[Hunk]>,
    /// The text that `hunks` count lines of, where there is one, and the place of it in its document's log if it is open.
    pub(super) base: Option<(Text, Option<Cursor>)>,
}

impl FileHunks {
    pub(super) fn new(id: &DocId, file: &ForkFile, left: Option<&str>) -> Self {
        let base = match &file.entry.base {
            Base::Buffer { text, cursor } => Some((text.clone(), Some(cursor.clone()))),
            Base::Disk { text, .. } => Some((text.clone(), None)),
            _ => None,
        };
        let source = base_of(id, &file.entry).clone();
        Self { source, hunks: file.hunks.of(id, file, left), base }
    }

    /// The hunks that still wait in the document as it is now, each with the lines that it replaces there, counted by line
    /// feeds. Of one that was accepted since, the document's log tells.
    pub fn placed_in<'a, 'b>(
        &'a self,
        document: &'b Document,
    ) -> impl Iterator<Item = (&'a Hunk, Range<usize>)> + use<'a, 'b> {
        let log = document.log();
        let base = self.base.as_ref().and_then(|(text, cursor)| Some((text, cursor.as_ref()?)));
        let base =
            base.filter(|(_, cursor)| log.knows(cursor) && log.since(cursor).next().is_some());
        self.hunks.iter().filter_map(move |hunk| {
            let lines = match base {
                Some(base) => lines_now(hunk, base, document)?,
                None => hunk.lines.clone(),
            };
            Some((hunk, lines))
        })
    }
}

/// The lines that a hunk replaces in the document as it is now. None if its edit was made.
fn lines_now(
    hunk: &Hunk,
    (base, cursor): (&Text, &Cursor),
    document: &Document,
) -> Option<Range<usize>> {
    let is_text = matches!(hunk.kind, HunkKind::Text | HunkKind::Create);
    let mut own = hunk.range.clone();
    let mut whole = base.line_feed_start(hunk.lines.start)..base.line_feed_start(hunk.lines.end);
    for delta in document.log().since(cursor) {
        let is_ours = matches!(delta.origin, Origin::Publish(_));
        if is_text && is_ours && delta.change.reaches_inside(&own) {
            return None;
        }
        own = delta.change.map_range(own);
        whole = delta.change.map_range(whole);
    }
    let text = document.text();
    let first = text.line_feeds_before(whole.start);
    let last = text.line_feeds_before(whole.end);
    // A range that ends inside of a line has that line too.
    let is_inside = whole.end > text.line_feed_start(last);
    Some(first..last.max(first) + usize::from(is_inside && !whole.is_empty()))
}

/// The hunks of a file as last made out. They hold as long as the file stays as it was then.
#[derive(Debug, Default)]
pub(crate) struct HunkCache(Mutex<Option<Arc<CachedHunks>>>);

/// The hunks, and all that they were made of.
#[derive(Debug)]
struct CachedHunks {
    id: DocId,
    shown: String,
    left: Option<String>,
    base: BasePart,
    text: Text,
    set: ChangeSet,
    marks: Vec<Mark>,
    file: Option<(FileChange, Mark)>,
    mode: Option<(u32, Mark)>,
    hunks: Arc<[Hunk]>,
}

/// The part of a base that hunks show.
#[derive(Debug)]
enum BasePart {
    Text(Text),
    Link(PathBuf),
    Bytes,
    Nothing,
}

impl Clone for HunkCache {
    fn clone(&self) -> Self {
        Self(Mutex::new(lock(&self.0).clone()))
    }
}

impl HunkCache {
    /// The pending hunks of the file, made out anew only if it has changed. O(its changes) where it has not.
    pub(crate) fn of(&self, id: &DocId, file: &ForkFile, left: Option<&str>) -> Arc<[Hunk]> {
        let mut cached = lock(&self.0);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.is_of(id, file, left)) {
            return cached.hunks.clone();
        }
        let hunks: Arc<[Hunk]> = file_hunks(id, file, left).into();
        let entry = &file.entry;
        let base = match &entry.base {
            Base::Buffer { text, .. } | Base::Disk { text, .. } => BasePart::Text(text.clone()),
            Base::Link { target } => BasePart::Link(target.clone()),
            Base::Binary { .. } => BasePart::Bytes,
            Base::Absent => BasePart::Nothing,
        };
        *cached = Some(Arc::new(CachedHunks {
            id: id.clone(),
            shown: file.shown.clone(),
            left: left.map(str::to_owned),
            base,
            text: entry.text().clone(),
            set: entry.set().clone(),
            marks: entry.marks().to_vec(),
            file: entry.file.clone(),
            mode: entry.mode.clone(),
            hunks: hunks.clone(),
        }));
        hunks
    }
}

impl CachedHunks {
    fn is_of(&self, id: &DocId, file: &ForkFile, left: Option<&str>) -> bool {
        let entry = &file.entry;
        let same_base = match (&self.base, &entry.base) {
            (BasePart::Text(own), Base::Buffer { text, .. } | Base::Disk { text, .. }) => {
                own == text
            }
            (BasePart::Link(own), Base::Link { target }) => own == target,
            (BasePart::Bytes, Base::Binary { .. }) | (BasePart::Nothing, Base::Absent) => true,
            _ => false,
        };
        same_base
            && self.text == *entry.text()
            && (&self.id, &self.shown, self.left.as_deref()) == (id, &file.shown, left)
            && (&*self.marks, &self.file, &self.mode) == (entry.marks(), &entry.file, &entry.mode)
            && self.set == *entry.set()
    }
}

/// The pending hunks of a file: of the file itself, of its mode, of its text. `left` is the name, for people, that it had
/// before a rename.
pub(crate) fn file_hunks(id: &DocId, file: &ForkFile, left: Option<&str>) -> Vec<Hunk> {
    let entry = &file.entry;
    let created = matches!(entry.base, Base::Absent) && !is_renamed(entry);
    let mut out = Vec::new();
    let change = entry.file.as_ref().filter(|(change, _)| *change != FileChange::Away);
    if let Some((change, mark)) = change {
        let kind = match change {
            FileChange::Delete | FileChange::Away => HunkKind::Delete,
            FileChange::Rename { from } => HunkKind::Rename { from: from.as_str().to_owned() },
            FileChange::Binary(bytes) if bytes.is_empty() && created => HunkKind::Create,
            FileChange::Binary(_) => HunkKind::Binary,
            FileChange::Link(target) => HunkKind::Link { target: target.display().to_string() },
        };
        out.push(of_file(id, file, left, (kind, mark)));
    }
    let texts = text_hunks(id, file, created);
    // The mode of a new file goes with the file.
    let mut joined = entry.mode.as_ref().filter(|_| created && out.len() + texts.len() > 0);
    if let (Some((mode, mark)), None) = (&entry.mode, joined) {
        out.push(of_file(id, file, left, (HunkKind::Mode(*mode), mark)));
    }
    out.extend(texts);
    if let (Some(first), Some((mode, mark))) = (out.first_mut(), joined.take()) {
        first.parts.push(mark.id);
        first.diff = format!("{}{}", describe(&HunkKind::Mode(*mode), file, left), first.diff);
    }
    out
}

fn is_renamed(entry: &Entry) -> bool {
    matches!(entry.file, Some((FileChange::Rename { .. }, _)))
}

fn state(marks: &[&Mark]) -> HunkState {
    let is_sent = |mark: &&Mark| mark.sent.is_some();
    if marks.iter().any(is_sent) { HunkState::Sent } else { HunkState::Pending }
}

/// The hunk of a change that is none of the text.
fn of_file(
    id: &DocId,
    file: &ForkFile,
    left: Option<&str>,
    (kind, mark): (HunkKind, &Mark),
) -> Hunk {
    Hunk {
        id: mark.id,
        parts: vec![mark.id],
        doc: id.clone(),
        file: file.shown.clone(),
        diff: describe(&kind, file, left),
        kind,
        range: 0..0,
        lines: 0..0,
        old: String::new(),
        new: String::new(),
        turn: mark.turn,
        makers: mark.makers.clone(),
        state: state(&[mark]),
    }
}

fn text_hunks(id: &DocId, file: &ForkFile, created: bool) -> Vec<Hunk> {
    let entry = &file.entry;
    let base = entry.base.text();
    let mut out = Vec::new();
    for hunk in line_hunks(&base, entry.text(), entry.set()) {
        let marks: Vec<&Mark> =
            entry.marks().get(hunk.changes.clone()).unwrap_or_default().iter().collect();
        let changes = entry.set().changes().get(hunk.changes.clone()).unwrap_or_default();
        let (Some(first), Some(mark)) = (changes.first(), marks.first()) else { continue };
        let end = changes.last().map_or(first.range.end, |last| last.range.end);
        let text_of = |text: &Text, lines: &Range<usize>| {
            text.slice(text.line_feed_start(lines.start)..text.line_feed_start(lines.end))
        };
        let own = ChangeSet::new(base.len(), changes.to_vec());
        let shown = own.and_then(|own| Some(unified(&base, &own.apply(&base).ok()?, &own, 3)));
        let mut makers: Vec<Maker> = Vec::new();
        for maker in marks.iter().flat_map(|mark| &mark.makers) {
            if !makers.contains(maker) {
                makers.push(maker.clone());
            }
        }
        out.push(Hunk {
            id: mark.id,
            parts: marks.iter().map(|mark| mark.id).collect(),
            doc: id.clone(),
            file: file.shown.clone(),
            kind: if created { HunkKind::Create } else { HunkKind::Text },
            range: first.range.start..end,
            old: text_of(&base, &hunk.before),
            new: text_of(entry.text(), &hunk.after),
            lines: hunk.before,
            diff: shown.unwrap_or_default(),
            turn: mark.turn,
            makers,
            state: state(&marks),
        });
    }
    out
}

/// A change that is none of the text, in words.
fn describe(kind: &HunkKind, file: &ForkFile, left: Option<&str>) -> String {
    let (name, base) = (&file.shown, &file.entry.base);
    let led_to = |words: &str| match base {
        Base::Link { target } => format!("{words}{}", target.display()),
        _ => String::new(),
    };
    match kind {
        HunkKind::Delete => format!("delete {name}{}\n", led_to(", a link to ")),
        HunkKind::Rename { from } => format!("rename {} to {name}\n", left.unwrap_or(from)),
        HunkKind::Create => format!("create {name}, empty\n"),
        HunkKind::Binary => format!("replace the bytes of {name}{}\n", led_to(", a link to ")),
        HunkKind::Link { target } => {
            let there = match base {
                Base::Absent => String::new(),
                Base::Link { .. } => led_to("; it leads to "),
                _ => "; it is a file".to_owned(),
            };
            format!("make {name} a link to {target}{there}\n")
        }
        HunkKind::Mode(mode) => format!("set the mode of {name} to {mode:o}\n"),
        HunkKind::Text => String::new(),
    }
}

/// The lines of the fork's text that a hunk made.
pub(super) fn lines_after(entry: &Entry, hunk: &Hunk) -> Range<usize> {
    let base = entry.base.text();
    let found = line_hunks(&base, entry.text(), entry.set())
        .into_iter()
        .find(|lines| lines.before == hunk.lines);
    let text = entry.text();
    found.map_or(0..0, |lines| {
        text.line_feed_start(lines.after.start)..text.line_feed_start(lines.after.end)
    })
}
