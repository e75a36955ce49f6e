//! One file of a fork: what the user has, and what the fork makes of it.
//!
//! An entry is pure: it knows texts, change sets and marks, no documents and no disk. `fork` brings it up to
//! date, `publish` sends parts of it.

mod kin;

use crate::log::{Cursor, Delta, DeltaLog, Origin};
use crate::{ContentHash, HunkId, PublishId};
use ropewalk_text::decode::FileFormat;
use ropewalk_text::{Bias, Change, ChangeSet, Text, refine};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Who contributed to a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Maker {
    /// A tool call, by its id.
    Call(Arc<str>),
    /// The user, by editing a pending hunk.
    User,
    /// The disk, which moved under a clean buffer.
    Disk,
}

/// What is known of one pending change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    /// Its id, stable while it is pending.
    pub id: HunkId,
    /// The turn it was first made in.
    pub turn: u64,
    /// Who contributed, in order, each once.
    pub makers: Vec<Maker>,
    /// The publish under way that carries it.
    pub sent: Option<PublishId>,
}

/// What lies under an entry: the text as the user has it.
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

/// A pending change that the user's text no longer has a place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Its mark.
    pub mark: Mark,
    /// The lines it was made in, as they were.
    pub old: String,
    /// The same lines as they would have been.
    pub new: String,
    /// What stands there now.
    pub now: String,
}

/// What one pending change replaces, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The change.
    pub id: HunkId,
    /// The text in the base.
    pub old: String,
    /// The text in the fork.
    pub new: String,
}

/// One file of a fork.
#[derive(Debug)]
pub struct Entry {
    /// What the user has.
    pub base: Base,
    /// A change of the file itself.
    pub file: Option<(FileChange, Mark)>,
    /// Other permission bits, beside whatever else is pending.
    pub mode: Option<(u32, Mark)>,
    /// The name it had before a rename.
    pub home: Option<crate::DocId>,
    /// The disk's newer text, while the pending changes bring it to a clean buffer (their maker is the disk).
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

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.file.is_none() && self.mode.is_none()
    }

    /// A place in the fork text's own history, for a frozen view.
    pub fn cursor(&mut self) -> Cursor {
        self.log.cursor()
    }

    /// The user's text moved by `theirs`, to `now`: pending changes move with it; those it reaches into are
    /// set aside. Unless `now` is what the disk brought, that is left: it was for the text as it stood.
    pub fn rebase(&mut self, theirs: &ChangeSet, now: Text) -> Vec<SetAside> {
        if theirs.is_empty() {
            return Vec::new();
        }
        if self.disk.as_ref() == Some(&now) {
            self.landed(now);
            return Vec::new();
        }
        if self.disk.is_some() {
            let mut aside = self.leave_disk();
            aside.extend(self.rebase(theirs, now));
            return aside;
        }
        let before = self.base.text();
        let Ok(rebased) = self.set.rebase(theirs) else {
            // Lengths disagree only if a delta was missed; the difference of the texts has no such gap.
            let theirs = ropewalk_text::diff(&before, &now);
            return if theirs.before_len() == self.set.before_len() {
                self.rebase(&theirs, now)
            } else {
                Vec::new()
            };
        };
        let kin = kin::of(&before, &self.text, &self.set, &rebased.conflicts);
        if kin.len() > rebased.conflicts.len() {
            let mut aside = self.set_aside(&before, &kin, theirs, &now);
            self.take_out(&kin);
            aside.extend(self.rebase(theirs, now));
            return aside;
        }
        let aside = self.set_aside(&before, &rebased.conflicts, theirs, &now);
        let dropped = self.set.invert_some(&before, &rebased.conflicts);
        let step = dropped.compose(&rebased.theirs);
        self.marks = pick(&self.marks, &rebased.kept);
        self.set = rebased.mine;
        if let Ok(text) = self.set.apply(&now) {
            self.text = text;
        }
        if let Ok(change) = step {
            self.log.push(Delta { change, origin: Origin::User });
        }
        self.set_base_text(now);
        aside
    }

    /// The user's text became `now`, which the pending changes have brought along already: the editor read the
    /// disk anew. The fork's text stays as it is; pending is what it has beyond `now`.
    pub fn landed(&mut self, now: Text) {
        self.disk = None;
        let set = ropewalk_text::diff(&now, &self.text);
        self.stand_on(now, set, |mark| mark.makers != [Maker::Disk]);
    }

    /// Takes out what the disk brought and is not on its way. A call's own change that was made in it or beside it
    /// moves as if the user had taken that text away.
    pub fn leave_disk(&mut self) -> Vec<SetAside> {
        let is_free = |mark: &Mark| mark.makers.contains(&Maker::Disk) && mark.sent.is_none();
        let own = self.marks.iter().enumerate().filter(|(_, mark)| mark.makers == [Maker::Disk]);
        let own: Vec<usize> =
            own.filter(|(_, mark)| is_free(mark)).map(|(index, _)| index).collect();
        if !own.is_empty() {
            self.take_out(&own);
        }
        let Some(disk) = self.disk.take() else { return Vec::new() };
        let base = self.base.text();
        let mut brought = ropewalk_text::diff(&base, &disk).into_changes();
        let joined = self.set.changes().iter().zip(&self.marks).filter(|(_, mark)| is_free(mark));
        let joined: Vec<&Range<usize>> = joined.map(|(change, _)| &change.range).collect();
        brought.retain(|theirs| {
            let within = |own: &&Range<usize>| {
                own.start <= theirs.range.start && theirs.range.end <= own.end
            };
            joined.iter().any(within)
        });
        let Some(brought) = ChangeSet::new(base.len(), brought).filter(|set| !set.is_empty())
        else {
            return Vec::new();
        };
        let Ok(with) = brought.apply(&base) else { return Vec::new() };
        let set = self.beyond(&brought, &with);
        self.stand_on(with, set, |_| true);
        for mark in self.marks.iter_mut().filter(|mark| is_free(mark)) {
            mark.makers.retain(|maker| *maker != Maker::Disk);
        }
        self.rebase(&brought.invert(&base), base)
    }

    fn set_aside(
        &self,
        before: &Text,
        which: &[usize],
        theirs: &ChangeSet,
        now: &Text,
    ) -> Vec<SetAside> {
        let changes = self.set.changes().iter().zip(self.set.new_ranges()).zip(&self.marks);
        changes
            .enumerate()
            .filter(|(index, _)| which.binary_search(index).is_ok())
            .map(|(_, ((change, new), mark))| {
                let start = theirs.map_offset(change.range.start, Bias::Before);
                let end = theirs.map_offset(change.range.end, Bias::After);
                SetAside {
                    mark: mark.clone(),
                    old: lines_around(before, change.range.clone()),
                    new: lines_around(&self.text, new),
                    now: lines_around(now, start..end),
                }
            })
            .collect()
    }

    /// Our own edit `made`, carried by `publish`, is in the user's text now, which is `now`: the fork drops
    /// its copy. A change that was altered after it had been sent stays pending, on top of what was sent.
    pub fn published(&mut self, publish: PublishId, made: &ChangeSet, now: Text) {
        let is_sent = |mark: &Mark| mark.sent == Some(publish);
        let sent = self.set.changes().iter().zip(&self.marks).filter(|(_, mark)| is_sent(mark));
        let unaltered = sent.map(|(change, _)| change).eq(made.changes());
        if !unaltered {
            for mark in self.marks.iter_mut().filter(|mark| mark.sent == Some(publish)) {
                mark.sent = None;
            }
            let set = self.beyond(made, &now);
            return self.stand_on(now, set, |_| true);
        }
        let others = self.set.changes().iter().zip(&self.marks).filter(|(_, mark)| !is_sent(mark));
        let (rest, marks): (Vec<Change>, Vec<Mark>) =
            others.map(|(change, mark)| (change.clone(), mark.clone())).unzip();
        let rest = ChangeSet::new(self.set.before_len(), rest).map(|set| set.rebase(made));
        let Some(Ok(rebased)) = rest else {
            let set = self.beyond(made, &now);
            return self.stand_on(now, set, |_| true);
        };
        let text = rebased.mine.apply(&now);
        self.marks = pick(&marks, &rebased.kept);
        self.set = rebased.mine;
        if let Ok(text) = text
            && text != self.text
        {
            let change = ropewalk_text::diff(&self.text, &text);
            self.log.push(Delta { change, origin: Origin::User });
            self.text = text;
        }
        self.set_base_text(now);
    }

    /// What the fork has beyond `now`, which is the base with `made` in it: exact, and no wider than what either
    /// of them touches.
    fn beyond(&self, made: &ChangeSet, now: &Text) -> ChangeSet {
        match made.invert(&self.base.text()).compose(&self.set) {
            Ok(set) => refine(&set, now),
            Err(_) => ropewalk_text::diff(now, &self.text),
        }
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
                self.log.push(Delta { change, origin: Origin::User });
                self.text = now.clone();
                self.set = ChangeSet::identity(now.len());
                self.marks = Vec::new();
            }
        }
        self.set_base_text(now);
    }

    /// Takes in a change that a call made on the text `seen`, at a place of this entry's history if that is
    /// known. The change moves over what happened to the fork's text since; what no longer has a place is
    /// left out and counted.
    pub fn merge(
        &mut self,
        change: &ChangeSet,
        seen: &Text,
        since: Option<&Cursor>,
        mark: &Mark,
        ids: &mut HunkIds,
    ) -> Merged {
        let steps: Vec<ChangeSet> = match since.filter(|cursor| self.log.knows(cursor)) {
            Some(cursor) => self.log.since(cursor).map(|delta| delta.change.clone()).collect(),
            None => vec![ropewalk_text::diff(seen, &self.text)],
        };
        let all = change.changes().len();
        let Some((mut moved, lost)) = over(change, &steps) else {
            return Merged { hunks: Vec::new(), conflicts: all };
        };
        let mut conflicts = lost.len();
        if let (false, Ok(after)) = (lost.is_empty(), change.apply(seen)) {
            let kin = kin::of(seen, &after, change, &lost);
            let rest = change.changes().iter().enumerate();
            let rest = rest.filter(|(index, _)| kin.binary_search(index).is_err());
            let rest = rest.map(|(_, change)| change.clone()).collect();
            if let Some((rest, _)) =
                ChangeSet::new(seen.len(), rest).and_then(|rest| over(&rest, &steps))
            {
                (moved, conflicts) = (rest, kin.len());
            }
        }
        let change = moved;
        let hunks = self.add(&change, mark, ids);
        Merged { hunks, conflicts }
    }

    /// Composes a change of the fork's text as it is now onto what is pending.
    pub fn add(&mut self, change: &ChangeSet, mark: &Mark, ids: &mut HunkIds) -> Vec<HunkId> {
        let base = self.base.text();
        let (Ok(text), Ok(composed)) = (change.apply(&self.text), self.set.compose(change)) else {
            return Vec::new();
        };
        let fresh: Vec<Range<usize>> = change.new_ranges().collect();
        let (mut changes, mut marks, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        for (whole, at) in composed.changes().iter().zip(composed.new_ranges()) {
            let is_new = fresh.iter().any(|range| range.start <= at.end && at.start <= range.end);
            let olds = || {
                let inside = |old: &Change| {
                    old.range.start >= whole.range.start && old.range.end <= whole.range.end
                };
                self.set.changes().iter().zip(&self.marks).filter(move |(old, _)| inside(old))
            };
            if !is_new {
                // Untouched: the changes that were there, as they were (composing joins neighbours).
                for (old, mark) in olds() {
                    changes.push(old.clone());
                    marks.push(mark.clone());
                }
                continue;
            }
            let mut joined = Mark { makers: Vec::new(), ..mark.clone() };
            let mut first = None;
            for (_, old) in olds() {
                first = first.or(Some((old.id, old.turn)));
                join(&mut joined.makers, &old.makers);
                joined.sent = joined.sent.or(old.sent);
            }
            join(&mut joined.makers, &mark.makers);
            let one = ChangeSet::single(base.len(), whole.range.clone(), whole.text.as_str());
            for (index, part) in refine(&one, &base).into_changes().into_iter().enumerate() {
                let (id, turn) = match first {
                    Some(old) if index == 0 => old,
                    _ => (ids.give(), mark.turn),
                };
                touched.push(id);
                changes.push(part);
                marks.push(Mark { id, turn, ..joined.clone() });
            }
        }
        if let Some(set) = ChangeSet::new(base.len(), changes) {
            self.set = set;
            self.marks = marks;
            self.text = text;
            self.log.push(Delta { change: change.clone(), origin: Origin::User });
        }
        touched
    }

    /// Puts one more change of the base beside the pending ones. False, and nothing done, if it overlaps one of
    /// them.
    pub fn insert(&mut self, change: Change, mark: Mark) -> bool {
        let base = self.base.text();
        let at = self.set.changes().partition_point(|own| own.range.end <= change.range.start);
        let mut changes = self.set.changes().to_vec();
        changes.insert(at, change);
        let Some(set) = ChangeSet::new(base.len(), changes) else { return false };
        if set.changes().len() != self.marks.len() + 1 {
            return false;
        }
        let Ok(text) = set.apply(&base) else { return false };
        let change = ropewalk_text::diff(&self.text, &text);
        self.log.push(Delta { change, origin: Origin::User });
        self.marks.insert(at, mark);
        self.set = set;
        self.text = text;
        true
    }

    /// Takes the changes with these ids out of the fork, as if they had never been made. Gives what they
    /// were: their mark, old and new text.
    pub fn remove(&mut self, which: &[HunkId]) -> Vec<SetAside> {
        let base = self.base.text();
        let indexes: Vec<usize> = (0..self.marks.len())
            .filter(|index| self.marks.get(*index).is_some_and(|mark| which.contains(&mark.id)))
            .collect();
        let unchanged = ChangeSet::identity(base.len());
        let removed = self.set_aside(&base, &indexes, &unchanged, &base);
        if removed.iter().any(|one| one.mark.makers.contains(&Maker::Disk)) {
            self.disk = None;
        }
        self.take_out(&indexes);
        removed
    }

    /// Takes the changes at these indexes (ascending) out of the fork, as if they had never been made.
    fn take_out(&mut self, indexes: &[usize]) {
        let base = self.base.text();
        let step = self.set.invert_some(&base, indexes);
        let all = self.set.changes().iter().cloned().zip(self.marks.iter().cloned());
        let (changes, marks) = all
            .enumerate()
            .filter(|(index, _)| indexes.binary_search(index).is_err())
            .map(|(_, one)| one)
            .unzip::<_, _, Vec<_>, Vec<_>>();
        if let (Some(set), Ok(text)) = (ChangeSet::new(base.len(), changes), step.apply(&self.text))
        {
            self.set = set;
            self.marks = marks;
            self.text = text;
            self.log.push(Delta { change: step, origin: Origin::User });
        }
    }

    /// The marks of what is pending beside the text: of the file itself and of its mode.
    pub fn marks_of_file(&self) -> impl Iterator<Item = &Mark> {
        let file = self.file.iter().map(|(_, mark)| mark);
        file.chain(self.mode.iter().map(|(_, mark)| mark))
    }

    /// Takes out what is pending beside the text under these ids.
    pub fn remove_of_file(&mut self, which: impl Fn(HunkId) -> bool) {
        self.file.take_if(|(_, mark)| which(mark.id));
        self.mode.take_if(|(_, mark)| which(mark.id));
    }

    /// Takes out a mode that has no file: there is none, and none is to be made.
    pub fn drop_stray_mode(&mut self) {
        if matches!(self.base, Base::Absent) && self.set.is_empty() && self.file.is_none() {
            self.mode = None;
        }
    }

    /// The file is changed as a whole: no change of its text is left.
    pub fn replace(&mut self, change: FileChange, mark: Mark) {
        let all: Vec<HunkId> = self.marks.iter().map(|mark| mark.id).collect();
        self.remove(&all);
        if matches!(change, FileChange::Delete | FileChange::Link(_)) {
            self.mode = None;
        }
        self.file = Some((change, mark));
    }

    /// The part of the pending changes with these ids, on the base's text. None if there is none.
    pub fn part(&self, which: &[HunkId]) -> Option<ChangeSet> {
        let chosen =
            self.set.changes().iter().zip(&self.marks).filter(|(_, mark)| which.contains(&mark.id));
        let part = ChangeSet::new(
            self.set.before_len(),
            chosen.map(|(change, _)| change.clone()).collect(),
        )?;
        (!part.is_empty()).then_some(part)
    }

    /// The hunk and turn of each change of `made`, which `publish` carried.
    pub fn sent_by(&self, publish: PublishId, made: &ChangeSet) -> Vec<(HunkId, u64)> {
        let sent: Vec<(&Change, &Mark)> = self
            .set
            .changes()
            .iter()
            .zip(&self.marks)
            .filter(|(_, mark)| mark.sent == Some(publish))
            .collect();
        made.changes()
            .iter()
            .filter_map(|change| {
                let exact = sent.iter().find(|(own, _)| *own == change);
                let (_, mark) = exact.or_else(|| sent.first())?;
                Some((mark.id, mark.turn))
            })
            .collect()
    }

    /// Takes out what was sent by a publish of which it will never be known whether it was made: sent again, it
    /// could be made twice.
    pub fn set_aside_lost(&mut self, is_lost: impl Fn(PublishId) -> bool) -> Vec<SetAside> {
        let lost = self.marks.iter().filter(|mark| mark.sent.is_some_and(&is_lost));
        let lost: Vec<HunkId> = lost.map(|mark| mark.id).collect();
        if lost.is_empty() { Vec::new() } else { self.remove(&lost) }
    }

    /// Frees what was sent by a publish of which nothing is expected any more.
    pub fn free_unexpected(&mut self, is_expected: impl Fn(PublishId) -> bool) {
        for mark in &mut self.marks {
            mark.sent = mark.sent.filter(|id| is_expected(*id));
        }
    }

    /// Notes which publish carries these changes, or that none does any more. Gives those that are here.
    pub fn mark_sent(&mut self, which: &[HunkId], publish: Option<PublishId>) -> Vec<HunkId> {
        let marks = self.marks.iter_mut().filter(|mark| which.contains(&mark.id));
        marks
            .map(|mark| {
                mark.sent = publish;
                mark.id
            })
            .collect()
    }

    /// Those of `which` that are changes of the text and not on their way.
    pub fn unsent(&self, which: &[HunkId]) -> Vec<HunkId> {
        let free = self.marks.iter().filter(|mark| mark.sent.is_none()).map(|mark| mark.id);
        free.filter(|id| which.contains(id)).collect()
    }

    /// What these changes replace and put there, as a reviewer sees them now.
    pub fn contents(&self, which: &[HunkId]) -> Vec<Content> {
        let base = self.base.text();
        let chosen = self.set.changes().iter().zip(&self.marks);
        chosen
            .filter(|(_, mark)| which.contains(&mark.id))
            .map(|(change, mark)| Content {
                id: mark.id,
                old: base.slice(change.range.clone()),
                new: change.text.clone(),
            })
            .collect()
    }

    /// Those of `which` that are as they were in `seen`; changes of files always are.
    pub fn unaltered(&self, which: &[HunkId], seen: &[Content]) -> Vec<HunkId> {
        let now = self.contents(which);
        let altered = |id: &HunkId| {
            let of = |contents: &[Content]| contents.iter().find(|c| c.id == *id).cloned();
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

    /// Those of `which` that are still pending here.
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

/// The outcome of [`Entry::merge`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The pending changes that the call made or added to.
    pub hunks: Vec<HunkId>,
    /// How many of its changes had lost their place.
    pub conflicts: usize,
}

/// Gives out hunk ids.
#[derive(Debug, Default)]
pub struct HunkIds(u64);

impl HunkIds {
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

/// The whole lines that `range` touches.
fn lines_around(text: &Text, range: Range<usize>) -> String {
    let start = text.line_feed_start(text.line_feeds_before(range.start));
    let last = range.end.saturating_sub(1).max(range.start);
    text.slice(start..text.line_feed_start(text.line_feeds_before(last) + 1))
}

/// A change moved over steps, and the indexes of those of its changes that had lost their place. None when the
/// steps are of another text.
fn over(change: &ChangeSet, steps: &[ChangeSet]) -> Option<(ChangeSet, Vec<usize>)> {
    let mut left: Vec<usize> = (0..change.changes().len()).collect();
    let (mut change, mut lost) = (change.clone(), Vec::new());
    for step in steps {
        let rebased = change.rebase(step).ok()?;
        lost.extend(rebased.conflicts.iter().filter_map(|index| left.get(*index)));
        left = rebased.kept.iter().filter_map(|index| left.get(*index).copied()).collect();
        change = rebased.mine;
    }
    lost.sort_unstable();
    Some((change, lost))
}

fn pick(marks: &[Mark], indexes: &[usize]) -> Vec<Mark> {
    indexes.iter().filter_map(|index| marks.get(*index).cloned()).collect()
}

fn join(makers: &mut Vec<Maker>, more: &[Maker]) {
    for maker in more {
        if !makers.contains(maker) {
            makers.push(maker.clone());
        }
    }
}
