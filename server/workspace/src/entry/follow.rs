//! The user's text has moved, and what is pending moves with it. What is pending is never carried into text that the user
//! has changed: it is set aside.

use super::alter::join;
use super::{Conflict, Entry, HunkIdSource, Maker, Mark, is_blank, kin, pick};
use crate::HunkId;
use crate::log::{LogDelta, Origin};
use ropewalk_text::{Change, ChangeSet, Text, diff, without_islands};
use std::ops::Range;

impl Entry {
    /// The user's text moved by `theirs`, to `now`: pending changes move with it; those it reaches into are
    /// set aside. Unless `now` is what the disk brought, that is left: it was for the text as it stood.
    pub fn rebase(&mut self, theirs: &ChangeSet, now: Text) -> Vec<Conflict> {
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
            let theirs = ropewalk_text::coarse_diff(&before, &now);
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
            self.log.push(LogDelta { change, origin: Origin::User });
        }
        self.set_base_text(now);
        aside
    }

    /// The same where only the texts are known: the user's text became `now`. A change of it that is pending too tells by
    /// itself where it is, whatever stands beside it.
    pub fn rebase_to(&mut self, now: Text) -> Vec<Conflict> {
        let was = self.base.text();
        let is_own = |change: &Change| self.set.changes().contains(change);
        let theirs = without_islands(&diff(&was, &now), &was, is_own);
        self.rebase(&theirs, now)
    }

    /// The user's text became `now`, which the pending changes have brought along already: the editor read the
    /// disk anew. The fork's text stays as it is; pending is what it has beyond `now`.
    pub fn landed(&mut self, now: Text) {
        self.disk = None;
        let set = diff(&now, &self.text);
        self.stand_on(now, set, |mark| mark.makers != [Maker::Disk]);
    }

    /// True if nothing is pending but changes from the disk, and none of them is on its way.
    pub fn is_of_disk_alone(&self) -> bool {
        let is_of_disk = |mark: &Mark| mark.makers == [Maker::Disk] && mark.sent.is_none();
        self.file.is_none() && self.mode.is_none() && self.marks.iter().all(is_of_disk)
    }

    /// Takes out what the disk brought and is not on its way. A call's own change that was made in it or beside it
    /// moves as if the user had taken that text away.
    pub fn leave_disk(&mut self) -> Vec<Conflict> {
        let of_disk = |mark: &&Mark| mark.makers.contains(&Maker::Disk);
        let is_sent = self.marks.iter().filter(of_disk).any(|mark| mark.sent.is_some());
        let is_joined = |mark: &Mark| mark.makers != [Maker::Disk];
        if !is_sent
            && self.marks.iter().filter(of_disk).any(is_joined)
            && let Some(disk) = self.disk.take()
        {
            return self.leave_joined(disk);
        }
        let is_free = |mark: &Mark| mark.makers.contains(&Maker::Disk) && mark.sent.is_none();
        let own = self.marks.iter().enumerate().filter(|(_, mark)| mark.makers == [Maker::Disk]);
        let own: Vec<usize> =
            own.filter(|(_, mark)| is_free(mark)).map(|(index, _)| index).collect();
        if !own.is_empty() {
            self.take_out(&own);
        }
        let Some(disk) = self.disk.take() else { return Vec::new() };
        let base = self.base.text();
        let mut brought = diff(&base, &disk).into_changes();
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

    /// The same where a call's change was made of the disk's text too: only what the fork has beyond all of that text
    /// is the call's, wherever the two begin and end.
    fn leave_joined(&mut self, disk: Text) -> Vec<Conflict> {
        let base = self.base.text();
        let brought = diff(&base, &disk);
        self.landed(disk);
        for mark in &mut self.marks {
            mark.makers.retain(|maker| *maker != Maker::Disk);
        }
        self.rebase(&brought.invert(&base), base)
    }

    /// Takes these changes out, as the user says. What the disk has made of them stays, or what else was made of its text
    /// would stand beside it as soon as the editor has read it.
    pub fn reject(&mut self, which: &[HunkId], ids: &mut HunkIdSource) {
        let of_disk = |mark: &Mark| mark.makers.contains(&Maker::Disk) && which.contains(&mark.id);
        // A change on its way is found again only as it was sent.
        let is_free = self.marks.iter().all(|mark| mark.sent.is_none());
        let stays = is_free && self.marks.iter().any(of_disk);
        match self.disk.take_if(|_| stays) {
            Some(disk) => self.reject_on(disk, which, ids),
            None => drop(self.remove(which)),
        }
    }

    fn reject_on(&mut self, disk: Text, which: &[HunkId], ids: &mut HunkIdSource) {
        let base = self.base.text();
        let brought = diff(&base, &disk);
        let set = self.beyond(&brought, &disk);
        self.stand_on(disk.clone(), set, |mark| mark.makers != [Maker::Disk]);
        let chosen = self.marks.iter().enumerate().filter(|(_, mark)| which.contains(&mark.id));
        let chosen: Vec<usize> = chosen.map(|(index, _)| index).collect();
        self.take_out(&chosen);
        let Ok(set) = brought.compose(&self.set) else {
            self.rebase(&brought.invert(&base), base);
            return;
        };
        let own: Vec<(Range<usize>, Mark)> =
            self.set.new_ranges().zip(std::mem::take(&mut self.marks)).collect();
        let touch = |one: &Range<usize>, other: &Range<usize>| {
            one.start <= other.end && other.start <= one.end
        };
        for (change, new) in set.changes().iter().zip(set.new_ranges()) {
            let near = || own.iter().filter(|(range, _)| touch(range, &new)).map(|(_, mark)| mark);
            let of_disk = brought.changes().iter().any(|own| touch(&own.range, &change.range));
            let mut makers = if of_disk { vec![Maker::Disk] } else { Vec::new() };
            near().for_each(|mark| join(&mut makers, &mark.makers));
            let first = near().next().map(|mark| (mark.id, mark.turn));
            let (id, turn) = first.unwrap_or_else(|| (ids.give(), 0));
            self.marks.push(Mark { id, turn, makers, sent: None });
        }
        self.set = set;
        self.disk = Some(disk);
        self.set_base_text(base);
    }
}
