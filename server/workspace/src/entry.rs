//! One file of a fork: what the user has, and what the fork makes of it.
//!
//! An entry is pure: it knows texts, change sets and marks, no documents and no disk. `fork` brings it up to
//! date, `publish` sends parts of it.

mod alter;
mod aside;
mod blank;
mod follow;
mod kin;
mod sent;

pub use alter::EntryMerge;
pub use aside::Conflict;
pub(crate) use aside::{lines_around, lines_changed};
pub(crate) use blank::is_blank;
pub(crate) use kin::moved;

use crate::log::{Cursor, DeltaLog, LogDelta, Origin};
use crate::{ContentHash, HunkId, PublishId};
use ropewalk_text::decode::FileFormat;
use ropewalk_text::{ChangeSet, Text};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Contributor to a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Maker {
    /// A tool call, by its id.
    Call(Arc<str>),
    /// A member of a team, by a bundle.
    Member {
        /// Its name.
        name: Arc<str>,
        /// The number of the task that it worked on; None for work without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<u64>,
    },
    /// The user, by editing a pending hunk.
    User,
    /// The disk, which moved under a clean buffer.
    Disk,
}

impl Maker {
    /// The tool call, if it is one.
    pub fn call(&self) -> Option<&Arc<str>> {
        match self {
            Self::Call(call) => Some(call),
            Self::Member { .. } | Self::User | Self::Disk => None,
        }
    }
}

/// Identity and origin of one pending change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    /// Its id, stable while it is pending.
    pub id: HunkId,
    /// The turn it was first made in.
    pub turn: u64,
    /// Contributors in order, each once.
    pub makers: Vec<Maker>,
    /// The publish under way that carries it.
    pub sent: Option<PublishId>,
}

/// Base of an entry: the text as the user has it.
#[derive(Clone, Debug)]
pub enum Base {
    /// An open buffer at a place of its delta log.
    Buffer {
        /// Its text there.
        text: Text,
        /// The place.
        cursor: Cursor,
    },
    /// A text file that is not open.
    Disk {
        /// Its decoded text.
        text: Text,
        /// The hash of its bytes.
        hash: ContentHash,
        /// How it is encoded.
        format: FileFormat,
    },
    /// A file that is no text.
    Binary {
        /// The hash of its bytes.
        hash: ContentHash,
    },
    /// A symbolic link.
    Link {
        /// Where it says that it leads.
        target: PathBuf,
    },
    /// No such file.
    Absent,
}

impl Base {
    /// The text as the user has it; empty where there is none.
    pub fn text(&self) -> Text {
        match self {
            Base::Buffer { text, .. } | Base::Disk { text, .. } => text.clone(),
            Base::Binary { .. } | Base::Link { .. } | Base::Absent => Text::default(),
        }
    }
}

/// A change of the file itself, beside its text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// The file is deleted.
    Delete,
    /// The file goes by another name, whose entry is a [`FileChange::Rename`] with the same mark: it is
    /// reviewed and published there.
    Away,
    /// The file comes from another name, whose own entry is [`FileChange::Away`].
    Rename {
        /// The name it had.
        from: crate::DocId,
    },
    /// Its bytes are replaced as a whole.
    Binary(#[serde(with = "crate::state::wire::bytes")] Arc<[u8]>),
    /// It is a symbolic link with this target, whatever it was.
    Link(#[serde(with = "crate::state::wire::target")] PathBuf),
}

impl FileChange {
    /// True if it leaves nothing of the file's content.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Delete | Self::Binary(_) | Self::Link(_))
    }
}

/// Old and new text of one pending change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeTexts {
    /// The change.
    pub id: HunkId,
    /// The text in the base.
    pub old: String,
    /// The text in the fork.
    pub new: String,
}

/// One file of a fork.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Text or file as the user has it, which the changes are made on.
    pub base: Base,
    /// A change of the file itself.
    pub file: Option<(FileChange, Mark)>,
    /// Other permission bits, beside whatever else is pending.
    pub mode: Option<(u32, Mark)>,
    /// The name it had before a rename.
    pub home: Option<crate::DocId>,
    /// The disk's newer text, while the pending changes bring it to a clean buffer (their maker is the disk), or
    /// while the file is to be changed as a whole, if that was made of it.
    pub disk: Option<Text>,
    set: ChangeSet,
    marks: Vec<Mark>,
    text: Text,
    log: DeltaLog,
}

impl Entry {
    /// An entry without any change.
    pub fn new(base: Base) -> Self {
        let text = base.text();
        Self {
            base,
            file: None,
            mode: None,
            home: None,
            disk: None,
            set: ChangeSet::identity(text.len()),
            marks: Vec::new(),
            text,
            log: DeltaLog::default(),
        }
    }

    /// An entry with these pending changes of the base. None unless there is one mark for each and they fit.
    pub fn with(base: Base, set: ChangeSet, marks: Vec<Mark>) -> Option<Self> {
        let text = set.apply(&base.text()).ok().filter(|_| set.changes().len() == marks.len())?;
        Some(Self { set, marks, text, ..Self::new(base) })
    }

    /// The fork's text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The pending changes, on the base's text.
    pub fn set(&self) -> &ChangeSet {
        &self.set
    }

    /// The marks of the pending changes, one each.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// True if nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.file.is_none() && self.mode.is_none()
    }

    /// True if the file is to be changed as a whole.
    pub fn is_whole(&self) -> bool {
        self.file.as_ref().is_some_and(|(change, _)| change.is_whole())
    }

    /// A place in the fork text's own history, for a frozen view.
    pub fn cursor(&mut self) -> Cursor {
        self.log.cursor()
    }

    /// The user's text is `now`, and the fork's text stays as it is: pending is what it has beyond `now`, under
    /// the marks that pass. Where none passes, nothing is pending.
    fn stand_on(&mut self, now: Text, set: ChangeSet, passes: impl Fn(&Mark) -> bool) {
        let olds: Vec<(Range<usize>, Mark)> =
            self.set.new_ranges().zip(self.marks.clone()).collect();
        let own = || olds.iter().filter(|(_, mark)| passes(mark));
        let near = |at: Range<usize>| {
            let touching = own().find(|(old, _)| old.start <= at.end && at.start <= old.end);
            touching.or_else(|| own().next()).map(|(_, mark)| mark.clone())
        };
        let marks: Option<Vec<Mark>> = set.new_ranges().map(near).collect();
        match marks {
            Some(marks) => {
                self.set = set;
                self.marks = marks;
            }
            None => {
                let change = ropewalk_text::diff(&self.text, &now);
                self.log.push(LogDelta { change, origin: Origin::User });
                self.text = now.clone();
                self.set = ChangeSet::identity(now.len());
                self.marks = Vec::new();
            }
        }
        self.set_base_text(now);
    }

    /// The marks of what is pending beside the text: of the file itself and of its mode.
    pub fn marks_of_file(&self) -> impl Iterator<Item = &Mark> {
        let file = self.file.iter().map(|(_, mark)| mark);
        file.chain(self.mode.iter().map(|(_, mark)| mark))
    }

    /// Old and new texts of these changes, as a reviewer sees them now.
    pub fn contents(&self, which: &[HunkId]) -> Vec<ChangeTexts> {
        let base = self.base.text();
        let chosen = self.set.changes().iter().zip(&self.marks);
        chosen
            .filter(|(_, mark)| which.contains(&mark.id))
            .map(|(change, mark)| ChangeTexts {
                id: mark.id,
                old: base.slice(change.range.clone()),
                new: change.text.clone(),
            })
            .collect()
    }

    /// Picks from `which` the changes that are as they were in `seen`. Changes of files always are.
    pub fn unaltered(&self, which: &[HunkId], seen: &[ChangeTexts]) -> Vec<HunkId> {
        let now = self.contents(which);
        let altered = |id: &HunkId| {
            let of = |contents: &[ChangeTexts]| contents.iter().find(|c| c.id == *id).cloned();
            of(&now) != of(seen)
        };
        let is_altered = |mark: &Mark| which.contains(&mark.id) && altered(&mark.id);
        let marks = self.marks.iter().enumerate();
        let indexes: Vec<usize> =
            marks.filter(|(_, mark)| is_altered(mark)).map(|(index, _)| index).collect();
        let kin = kin::of(&self.base.text(), &self.text, &self.set, &indexes);
        let kin = pick(&self.marks, &kin);
        let goes_along = |id: &HunkId| kin.iter().any(|mark| mark.id == *id);
        which.iter().copied().filter(|id| !altered(id) && !goes_along(id)).collect()
    }

    /// Picks from `which` the changes that are still pending here.
    pub fn pending(&self, which: &[HunkId]) -> Vec<HunkId> {
        let file = self.marks_of_file();
        let here: Vec<HunkId> = self.marks.iter().chain(file).map(|mark| mark.id).collect();
        which.iter().copied().filter(|id| here.contains(id)).collect()
    }

    fn set_base_text(&mut self, now: Text) {
        match &mut self.base {
            Base::Buffer { text, .. } | Base::Disk { text, .. } => *text = now,
            Base::Binary { .. } | Base::Link { .. } | Base::Absent => {}
        }
    }
}

/// Gives out hunk ids.
#[derive(Clone, Debug, Default)]
pub struct HunkIdSource(u64);

impl HunkIdSource {
    /// Gives ids above `last`.
    pub fn after(last: u64) -> Self {
        Self(last)
    }

    /// The last id given; 0 before the first.
    pub fn last(&self) -> u64 {
        self.0
    }

    /// The next id; ids start at 1.
    pub fn give(&mut self) -> HunkId {
        self.0 += 1;
        HunkId(self.0)
    }
}

fn pick(marks: &[Mark], indexes: &[usize]) -> Vec<Mark> {
    indexes.iter().filter_map(|index| marks.get(*index).cloned()).collect()
}
