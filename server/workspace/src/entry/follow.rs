//! The user's text has moved, and what is pending moves with it. What is pending is never carried into text that the user
//! has changed: it is set aside.

use super::{Entry, Maker, Mark, SetAside, is_blank, kin, pick};
use crate::log::{Delta, Origin};
use ropewalk_text::{ChangeSet, Text};
use std::ops::Range;

impl Entry {
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
        if self.makes_all() && is_blank(&now) {
            self.stay_upon(now);
            return Vec::new();
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

    /// Whether nothing is pending but what the disk brought, and none of that is on its way.
    pub fn is_of_disk_alone(&self) -> bool {
        let is_of_disk = |mark: &Mark| mark.makers == [Maker::Disk] && mark.sent.is_none();
        self.file.is_none() && self.mode.is_none() && self.marks.iter().all(is_of_disk)
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
}
