//! The ledger: what was published, kept so that it can be undone later.
//!
//! A hunk's place moves with every delta of its document, so it is known without a search. Where that chain
//! is broken (the file was closed, or changed elsewhere), the file's hash makes it exact, and else its text
//! with the lines around it finds it, if it stands there once.

mod follow;
mod indexed;
mod lines;
mod places;

pub use follow::rename_of;
pub use indexed::{Indexed, LedgerLine};

use crate::note::Note;
use crate::proof::{self, Sighting};
use crate::{ContentHash, DocId, HunkId};
use places::TextPlaces;
use ropewalk_text::decode::FileFormat;
use ropewalk_text::{Bias, Change, ChangeSet, LineEndSearch, Text, find_all};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Text of fewer bytes than this may turn up anywhere.
const WORD: usize = 3;

/// How many lines around a hunk are kept to find it again.
const CONTEXT: usize = 3;

/// A published change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Published {
    /// The hunk it was.
    pub id: HunkId,
    /// The session that made it. It is not written: what is kept belongs to the session that keeps it.
    #[serde(skip)]
    pub session: Arc<str>,
    /// The turn it belongs to.
    pub turn: u64,
    /// The file.
    pub doc: DocId,
    /// The file as it is shown.
    pub file: String,
    /// Where the new text stood right after.
    pub at: Range<usize>,
    /// Where the new text stands in today's text of the file.
    #[serde(skip)]
    pub range: Range<usize>,
    /// True if `range` was followed through every change since. If not, the text must be looked
    /// for.
    #[serde(skip)]
    pub anchored: bool,
    /// Text that it replaced.
    pub old: String,
    /// Text that it put there.
    pub new: String,
    /// The lines before and after it when it was published.
    pub around: (String, String),
    /// The lines before and after what it replaced, right before it was published.
    pub around_old: (String, String),
    /// The hash of the file's text right after.
    #[serde(with = "crate::state::wire::hash")]
    pub hash: ContentHash,
    /// True if it has been in the file on the disk. An unsaved one is gone when the editor dies.
    pub saved: bool,
    /// The last edit that was sent to take it back.
    pub undoing: Option<crate::PublishId>,
    /// The renames that took its file along since, oldest first: they are undone before it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renames: Vec<HunkId>,
    /// How the file was encoded, if it was written on the disk: a text without it may look like another.
    #[serde(
        default,
        skip_serializing_if = "crate::state::wire::is_usual",
        with = "crate::state::wire::FormatWire"
    )]
    pub format: FileFormat,
}

impl Published {
    /// True if it is among `hunks`.
    pub fn is_one_of(&self, hunks: &[Published]) -> bool {
        let same = |hunk: &Published| {
            hunk.id == self.id && hunk.session == self.session && hunk.doc == self.doc
        };
        hunks.iter().any(same)
    }

    /// The news that it was taken back.
    pub fn undone(&self) -> Note {
        Note::Undone { file: self.file.clone(), old: self.old.clone(), new: self.new.clone() }
    }

    /// Moves an anchored hunk with a change of its text. True if the change undid it.
    fn is_undone_by(
        &mut self,
        change: &ChangeSet,
        (before, after): (Option<&Text>, &Text),
    ) -> bool {
        // Where text was only deleted nothing is left to reach into: it is undone by putting it back.
        if self.new.is_empty() && puts_back(self, change, before, after) {
            return true;
        }
        if self.new.is_empty() && is_torn(self, change, before, after) {
            self.anchored = false;
            return false;
        }
        if !change.reaches_inside(&self.range) {
            self.range = change.map_range(self.range.clone());
            return false;
        }
        let start = change.map_offset(self.range.start, Bias::Before);
        self.range = start..change.map_offset(self.range.end, Bias::After).max(start);
        if self.old == self.new {
            return false;
        }
        if after.slice(self.range.clone()) == self.old {
            let place = elsewhere(self, before, after);
            let is_undone = place.is_none();
            self.range = place.unwrap_or_else(|| self.range.clone());
            return is_undone;
        }
        self.anchored = after.slice(self.range.clone()) == self.new;
        false
    }

    /// Makes the fields that all hunks of one publish of a file share; [`Ledger::record`] fills in
    /// the rest.
    pub fn about(session: Arc<str>, doc: DocId, file: String) -> Self {
        Self {
            id: HunkId(0),
            session,
            turn: 0,
            doc,
            file,
            at: 0..0,
            range: 0..0,
            anchored: true,
            old: String::new(),
            new: String::new(),
            around: Default::default(),
            around_old: Default::default(),
            hash: ContentHash(0),
            saved: false,
            undoing: None,
            renames: Vec::new(),
            format: FileFormat::default(),
        }
    }
}

/// State of a name before it was changed, as undo puts it back.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged, from = "crate::state::wire::StoodWire")]
pub enum FileBefore {
    /// A file.
    File {
        /// Its bytes.
        #[serde(with = "crate::state::wire::bytes")]
        bytes: Arc<[u8]>,
        /// Its permission bits, where they are known.
        #[serde(skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// A symbolic link.
    Link {
        /// Its target.
        #[serde(with = "crate::state::wire::target")]
        link: PathBuf,
    },
    /// A file of which only the permission bits were changed.
    Mode {
        /// Bits that it had.
        mode: u32,
    },
}

/// State of a name after it was changed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum FileAfter {
    /// A file whose bytes have this hash.
    File(#[serde(with = "crate::state::wire::hash")] ContentHash),
    /// A symbolic link.
    Link {
        /// Its target.
        #[serde(with = "crate::state::wire::target")]
        link: PathBuf,
    },
    /// A file of which only the permission bits were changed.
    Mode {
        /// Bits that it has.
        mode: u32,
    },
}

/// A file that was created, deleted, renamed or given another mode on the disk, to be put back on undo.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PublishedFile {
    /// The hunk it was.
    pub id: HunkId,
    /// The session that made it. It is not written: what is kept belongs to the session that keeps it.
    #[serde(skip)]
    pub session: Arc<str>,
    /// The turn it belongs to.
    pub turn: u64,
    /// The file, as a path inside the roots.
    #[serde(with = "crate::state::wire::path")]
    pub path: std::path::PathBuf,
    /// The file as it is shown.
    pub file: String,
    /// State of the name before; None when there was nothing.
    pub before: Option<FileBefore>,
    /// State of the name after; None when nothing is there any more.
    pub after: Option<FileAfter>,
    /// The modes of the folders that went with a file that is gone, the innermost first. Of a file that is
    /// new, of those that came with it: there only how many they are counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<u32>,
    /// True if it is about to be put back.
    pub undoing: bool,
}

impl PublishedFile {
    /// The news that it was put back.
    pub fn undone(&self) -> Note {
        let (old, new) = match (&self.before, &self.after) {
            (Some(FileBefore::File { .. }), _) => {
                ("(the file as it was)".to_owned(), String::new())
            }
            (Some(FileBefore::Link { link }), _) => {
                (format!("(the link to {})", link.display()), String::new())
            }
            (Some(FileBefore::Mode { mode }), Some(FileAfter::Mode { mode: after })) => {
                (format!("(mode {mode:o})"), format!("(mode {after:o})"))
            }
            (Some(FileBefore::Mode { mode }), _) => (format!("(mode {mode:o})"), String::new()),
            (None, _) => (String::new(), "(the file)".to_owned()),
        };
        Note::Undone { file: self.file.clone(), old, new }
    }

    /// True if it is the same change of the same file, whatever is under way with it.
    pub fn is(&self, other: &PublishedFile) -> bool {
        self.id == other.id
            && self.session == other.session
            && self.path == other.path
            && self.after == other.after
    }
}

/// Where a published change stands now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoSpot {
    /// Here, exactly.
    At(Range<usize>),
    /// The text around it has changed so that it can't be undone without guessing.
    Conflict,
}

/// Match of a published change with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextMatch {
    /// Range of its new text, found between the lines it was put between.
    New(Range<usize>),
    /// Range of its old text, found between the lines it was replaced in.
    Old(Range<usize>),
    /// Neither is there for certain.
    Unclear,
}

/// All that was published and not undone.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Changes of texts, oldest first.
    pub texts: Indexed<Published>,
    /// Changes of files, oldest first.
    pub files: Indexed<PublishedFile>,
    /// Places in documents that were typed in since [`Ledger::settle`].
    places: HashMap<DocId, TextPlaces>,
}

impl LedgerLine for Published {
    fn session(&self) -> &Arc<str> {
        &self.session
    }

    fn hunk(&self) -> HunkId {
        self.id
    }

    fn doc(&self) -> DocId {
        self.doc.clone()
    }
}

impl LedgerLine for PublishedFile {
    fn session(&self) -> &Arc<str> {
        &self.session
    }

    fn hunk(&self) -> HunkId {
        self.id
    }

    fn doc(&self) -> DocId {
        DocId::from_path(&self.path)
    }
}

/// The numbers of the last changes of a ledger that somebody has taken in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Revisions {
    texts: u64,
    files: u64,
}

impl Ledger {
    /// The numbers of the last changes.
    pub fn revisions(&self) -> Revisions {
        Revisions { texts: self.texts.revision(), files: self.files.revision() }
    }

    /// The hunks of a session of which something has changed since, or is gone.
    pub fn changed_since(&self, session: &str, since: Revisions) -> BTreeSet<HunkId> {
        let texts = self.texts.changed_since(session, since.texts);
        texts.chain(self.files.changed_since(session, since.files)).collect()
    }

    /// Notes that `set` (on `before`) is in the document's text now, which is `after`. `ids` are its changes'
    /// hunks with their turns.
    pub fn record(
        &mut self,
        entry: &Published,
        before: &Text,
        set: &ChangeSet,
        after: &Text,
        ids: &[(HunkId, u64)],
    ) {
        let hash = after.hash();
        for ((change, range), (id, turn)) in set.changes().iter().zip(set.new_ranges()).zip(ids) {
            self.texts.push(Published {
                id: *id,
                turn: *turn,
                old: before.slice(change.range.clone()),
                new: change.text.clone(),
                around: around(after, &range),
                around_old: around(before, &change.range),
                at: range.clone(),
                range,
                anchored: true,
                hash,
                ..entry.clone()
            });
        }
    }

    /// Moves the places in `doc` with a change of its text. Gives the hunks that this change undid: they
    /// leave the ledger. `before` may be left out where the change only inserts. O(hunks of the document), and O(n)
    /// for each deletion beside which enough text is put to be what was deleted.
    pub fn moved(
        &mut self,
        doc: &DocId,
        change: &ChangeSet,
        texts: (Option<&Text>, &Text),
    ) -> Vec<Published> {
        let mut undone = Vec::new();
        self.texts.retain_of_doc(doc, |hunk| {
            let is_undone = hunk.anchored && hunk.is_undone_by(change, texts);
            undone.extend(is_undone.then(|| hunk.clone()));
            !is_undone
        });
        undone
    }

    /// The same for a change of the user's, who types in one place for long: of hunks that it can't touch, and that the
    /// last one could not either, it costs nothing. Ranges behind it are stale until [`Ledger::settle`].
    pub(crate) fn typed(
        &mut self,
        doc: &DocId,
        change: &ChangeSet,
        texts: (Option<&Text>, &Text),
    ) -> Vec<Published> {
        let one = match change.changes() {
            [one] if !inserts_much(change) => one,
            _ => {
                self.settle();
                return self.moved(doc, change, texts);
            }
        };
        let lines = &mut self.texts;
        if !self.places.contains_key(doc) {
            self.places.insert(doc.clone(), TextPlaces::new(lines.keys_of_doc(doc)));
        }
        let Some(places) = self.places.get_mut(doc) else { return Vec::new() };
        let undone = places.touched(&one.range, lines).into_iter().filter_map(|key| {
            let is_undone = lines.line_mut(key)?.is_undone_by(change, texts);
            is_undone.then(|| lines.remove(key))?
        });
        let undone = undone.collect();
        places.shift(one);
        undone
    }

    /// Brings the ranges of all hunks to now. O(hunks of the documents that were typed in since).
    pub(crate) fn settle(&mut self) {
        for (_, places) in self.places.drain() {
            places.settle(&mut self.texts);
        }
    }

    /// The latest turn of a session of which something is here; 0 if nothing is.
    pub fn latest_turn(&self, session: &str) -> u64 {
        let texts =
            self.texts.iter().filter(|hunk| *hunk.session == *session).map(|hunk| hunk.turn);
        let files =
            self.files.iter().filter(|file| *file.session == *session).map(|file| file.turn);
        texts.chain(files).max().unwrap_or(0)
    }

    /// The document was closed, or a file changed unseen: its hunks must be looked for from now on.
    pub fn loosen(&mut self, doc: &DocId) {
        self.texts.place_of_doc(doc, |hunk| hunk.anchored = false);
    }

    /// The document was saved with this text.
    pub fn saved(&mut self, doc: &DocId, text: &Text) {
        let whole = SearchText::of(text);
        self.texts.change_of_doc(doc, |hunk| {
            hunk.saved = hunk.saved
                || hunk.anchored
                || matches!(Self::stands_in(hunk, &whole), TextMatch::New(_));
        });
    }

    /// Marks as saved each hunk that stands in `text`, which the disk holds.
    pub fn found_saved(&mut self, text: &Text) {
        let whole = SearchText::of(text);
        self.texts.change_all(|hunk| {
            hunk.saved = hunk.saved || matches!(Self::stands_in(hunk, &whole), TextMatch::New(_));
        });
    }

    /// Looks for `hunk` in `text`, by the lines around it alone; O(n). The longer of its two forms
    /// is looked for first: at the ends of a file it may hold the other.
    pub fn stands(hunk: &Published, text: &Text) -> TextMatch {
        Self::stands_in(hunk, &SearchText::of(text))
    }

    fn stands_in(hunk: &Published, whole: &SearchText<'_>) -> TextMatch {
        let text = whole.text;
        let exact = text.slice(hunk.at.clone()) == hunk.new && hunk.at.len() == hunk.new.len();
        if exact && whole.hash() == hunk.hash {
            return TextMatch::New(hunk.at.clone());
        }
        let whole = whole.string();
        let (new, old) =
            (HunkForm::of(&hunk.around, &hunk.new), HunkForm::of(&hunk.around_old, &hunk.old));
        let at = |start: usize, place: &Range<usize>| start + place.start..start + place.end;
        let is_new = |start: usize| TextMatch::New(at(start, &new.place));
        let is_old = |start: usize| TextMatch::Old(at(start, &old.place));
        let found = if new.text.len() >= old.text.len() {
            match new.only(whole) {
                Count::One(start) => Some(is_new(start)),
                Count::Many => None,
                Count::None => old.only(whole).one().map(is_old),
            }
        } else {
            match old.only(whole) {
                Count::One(start) => Some(is_old(start)),
                Count::Many => None,
                Count::None => new.only(whole).one().map(is_new),
            }
        };
        found.unwrap_or(TextMatch::Unclear)
    }

    /// Where what `hunk` replaced stands in `text`, judged by the lines on one side of it: those on the other were
    /// the user's own and unsaved. None unless it is the only place, and what it put there has none; an insertion has
    /// no place of its own. O(n).
    pub fn stood(hunk: &Published, text: &Text) -> Option<Range<usize>> {
        let only = |needle: &str| {
            let mut places = find_all(text, needle, LineEndSearch::Exact);
            (places.next(), places.next())
        };
        let ((before, after), (old_before, old_after)) = (&hunk.around, &hunk.around_old);
        let sides = [
            (format!("{}{after}", hunk.new), format!("{}{old_after}", hunk.old), 0, old_after),
            (
                format!("{before}{}", hunk.new),
                format!("{old_before}{}", hunk.old),
                old_before.len(),
                old_before,
            ),
        ];
        sides.into_iter().find_map(|(new, old, start, lines)| {
            let weak = hunk.old.is_empty() || lines.trim().is_empty() || !lines.contains('\n');
            if weak || only(&new).0.is_some() {
                return None;
            }
            let (Some(place), None) = only(&old) else { return None };
            let at = place.start + start;
            Some(at..at + hunk.old.len())
        })
    }

    /// Where `hunk` stands in `text`.
    pub fn find(hunk: &Published, text: &Text) -> UndoSpot {
        let here = |range: &Range<usize>| {
            text.slice(range.clone()) == hunk.new && range.len() == hunk.new.len()
        };
        if hunk.anchored && here(&hunk.range) {
            return UndoSpot::At(hunk.range.clone());
        }
        if text.hash() == hunk.hash && here(&hunk.at) {
            return UndoSpot::At(hunk.at.clone());
        }
        let needle = format!("{}{}{}", hunk.around.0, hunk.new, hunk.around.1);
        let mut places = find_all(text, &needle, LineEndSearch::Exact);
        match (places.next(), places.next()) {
            (Some(place), None) => {
                let start = place.start + hunk.around.0.len();
                UndoSpot::At(start..start + hunk.new.len())
            }
            _ => UndoSpot::Conflict,
        }
    }
}

/// Where what `hunk` put there stands now, if it was moved with its line: the only one of its kind before and after. O(n).
fn elsewhere(hunk: &Published, before: Option<&Text>, after: &Text) -> Option<Range<usize>> {
    let only = |text: &Text| {
        let mut places = find_all(text, &hunk.new, LineEndSearch::Exact);
        let place = places.next().filter(|_| !hunk.new.is_empty())?;
        places.next().is_none().then_some(place)
    };
    only(before?)?;
    only(after)
}

/// True if so much is inserted that single places of it say little.
fn inserts_much(change: &ChangeSet) -> bool {
    change.changes().iter().map(|change| change.text.len()).sum::<usize>() > proof::MUCH
}

/// True if a change of much of the text has taken the lines beside the place of a deletion elsewhere: nothing of its own
/// is there to follow, so it must be looked for. Lines that are gone or have come do not say that it has moved; indents
/// tell nothing. O(n) where other lines stand beside it.
fn is_torn(hunk: &Published, change: &ChangeSet, before: Option<&Text>, after: &Text) -> bool {
    let Some(before) = before.filter(|_| inserts_much(change)) else { return false };
    let beside = |text: &Text, range: Range<usize>| {
        let (above, below) = around(text, &range);
        let says = |line: &&str| !line.trim().is_empty();
        let above = above.lines().rev().find(says).map(|line| line.trim().to_owned());
        (above, below.lines().find(says).map(|line| line.trim().to_owned()))
    };
    // Nothing is left of what it stood between.
    let at = hunk.range.start;
    if change.changes().iter().any(|own| own.range.start < at && at < own.range.end) {
        return true;
    }
    let (above, below) = beside(before, hunk.range.clone());
    let now = beside(after, change.map_range(hunk.range.clone()));
    let stands = |line: &str| find_all(after, line, LineEndSearch::Exact).next().is_some();
    let is_elsewhere = |(was, is): (Option<String>, Option<String>)| {
        was != is && was.is_some_and(|line| stands(&line))
    };
    is_elsewhere((above, now.0)) || is_elsewhere((below, now.1))
}

/// The text that `hunk` deleted, with what stood before and behind it in its lines, indents aside: a word alone may be written
/// anywhere.
fn in_its_lines(hunk: &Published) -> String {
    let (above, below) = &hunk.around_old;
    let (start, end) = (above.rsplit('\n').next(), below.split('\n').next());
    let start = start.filter(|_| !hunk.old.starts_with(['\r', '\n'])).unwrap_or_default();
    let end = end.filter(|_| !hunk.old.ends_with('\n')).unwrap_or_default();
    format!("{}{}{}", start.trim_start(), hunk.old, end.trim_end())
}

/// True if `change` puts back what `hunk` deleted: the user has less to do then than without it. An
/// editor may tell it with other places, or some characters away, where the text reads alike.
fn puts_back(hunk: &Published, change: &ChangeSet, before: Option<&Text>, after: &Text) -> bool {
    let (place, len) = (hunk.range.start, hunk.old.len());
    let may_hold = |c: &Change| {
        c.text.len() >= len && c.range.start <= place + len && place <= c.range.end + len
    };
    if len == 0 {
        return false;
    }
    // A text that was taken back as a whole, or read anew, may hold it in another order.
    if let Some(before) = before.filter(|_| inserts_much(change) && hunk.old.trim().len() >= WORD) {
        let wanted = in_its_lines(hunk);
        let stands = |text: &Text| find_all(text, &wanted, LineEndSearch::Exact).next().is_some();
        if stands(after) && !stands(before) {
            return true;
        }
    }
    if !change.changes().iter().any(may_hold) {
        return false;
    }
    let before = before.cloned().unwrap_or_else(|| {
        let mut text = after.clone();
        let inserted: Vec<Range<usize>> = change.new_ranges().collect();
        inserted.into_iter().rev().for_each(|range| text.replace(range, ""));
        text
    });
    let back = ChangeSet::single(before.len(), place..place, hunk.old.as_str());
    matches!(proof::look(&back, &before, change, after, false), Sighting::Made(_))
}

/// A text that many hunks are looked for in: what costs all of it is made once, when it is first needed.
struct SearchText<'t> {
    text: &'t Text,
    hash: OnceCell<ContentHash>,
    string: OnceCell<String>,
}

impl<'t> SearchText<'t> {
    fn of(text: &'t Text) -> Self {
        Self { text, hash: OnceCell::new(), string: OnceCell::new() }
    }

    fn hash(&self) -> ContentHash {
        *self.hash.get_or_init(|| self.text.hash())
    }

    fn string(&self) -> &str {
        self.string.get_or_init(|| self.text.to_string())
    }
}

/// How often something occurs.
enum Count {
    None,
    One(usize),
    Many,
}

impl Count {
    fn one(self) -> Option<usize> {
        match self {
            Count::One(start) => Some(start),
            Count::None | Count::Many => None,
        }
    }
}

/// Old or new text of a change, with the lines around it.
struct HunkForm {
    text: String,
    /// Where what was replaced or put there is in it.
    place: Range<usize>,
    /// True for each end of the text at which it must stand: its begin, its end. With nothing of
    /// its own it is only a gap, and the lines on one side are no gap.
    ends: (bool, bool),
}

impl HunkForm {
    fn of((before, after): &(String, String), middle: &str) -> Self {
        let short = |lines: &str| middle.is_empty() && lines.lines().count() < CONTEXT;
        Self {
            text: format!("{before}{middle}{after}"),
            place: before.len()..before.len() + middle.len(),
            ends: (short(before), short(after)),
        }
    }

    /// Where its only occurrence in whole lines is; occurrences may overlap. An empty one is all of an empty text.
    fn only(&self, text: &str) -> Count {
        let needle = self.text.as_str();
        if needle.is_empty() {
            return if text.is_empty() { Count::One(0) } else { Count::Many };
        }
        let (mut from, mut found) = (0, Count::None);
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(needle)) {
            let start = from + at;
            let head = text.get(..start).unwrap_or_default();
            let rest = text.get(start + needle.len()..).unwrap_or_default();
            let starts = head.is_empty() || (head.ends_with('\n') && !self.ends.0);
            let line_ends = needle.ends_with('\n') || rest.starts_with(['\r', '\n']);
            let ends = rest.is_empty() || (line_ends && !self.ends.1);
            if starts && ends {
                if let Count::One(_) = found {
                    return Count::Many;
                }
                found = Count::One(start);
            }
            from = start + needle.chars().next().map_or(1, char::len_utf8);
        }
        found
    }
}

/// The text of [`CONTEXT`] lines before and after `range`: from a line's start, and to a line's end.
fn around(text: &Text, range: &Range<usize>) -> (String, String) {
    let first = text.line_feeds_before(range.start);
    let last = text.line_feeds_before(range.end);
    let start = text.line_feed_start(first.saturating_sub(CONTEXT));
    let end = text.line_feed_start(last + CONTEXT + 1);
    (text.slice(start..range.start), text.slice(range.end..end))
}
