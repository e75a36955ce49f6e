//! Parts of an entry that are chosen, on their way to the user's text, and there. Nothing here
//! sends them.

use super::{Conflict, Entry, HunkIdSource, Mark, pick};
use crate::log::{LogDelta, Origin};
use crate::{HunkId, PublishId};
use ropewalk_text::{Change, ChangeSet, Text, refine};
use std::collections::HashSet;

impl Entry {
    /// Our own edit `made`, carried by `publish`, or a part of it, is in the user's text now, which is `now`: the fork drops
    /// its copy. A change that was altered after it had been sent stays pending, on top of what was sent; one that the
    /// editor made elsewhere does not.
    pub fn published(&mut self, publish: PublishId, made: &ChangeSet, now: Text) {
        let Some(which) = self.sent_as(publish, made) else {
            for (change, mark) in self.set.changes().iter().zip(&mut self.marks) {
                if mark.sent == Some(publish) && made.touches(&change.range) {
                    mark.sent = None;
                }
            }
            let set = self.beyond(made, &now);
            return self.stand_on(now, set, |_| true);
        };
        let others: Vec<usize> =
            (0..self.marks.len()).filter(|index| which.binary_search(index).is_err()).collect();
        let marks = pick(&self.marks, &others);
        let (own, left) = self.set.split(&which);
        let (rest, marks) = if own == *made {
            (left, marks)
        } else {
            let (rest, _) = self.set.split(&others);
            let Ok(rebased) = rest.rebase(made) else {
                let set = self.beyond(made, &now);
                return self.stand_on(now, set, |_| true);
            };
            (rebased.mine, pick(&marks, &rebased.kept))
        };
        let text = rest.apply(&now);
        self.marks = marks;
        self.set = rest;
        if let Ok(text) = text
            && text != self.text
        {
            let change = ropewalk_text::diff(&self.text, &text);
            self.log.push(LogDelta { change, origin: Origin::User });
            self.text = text;
        }
        self.set_base_text(now);
    }

    /// Gives each pending change an id of its own: what is left of one that was altered on its way may stand in several
    /// places, and who accepts or rejects one of them means no other.
    pub fn tell_apart(&mut self, ids: &mut HunkIdSource) {
        let mut known = HashSet::new();
        for mark in &mut self.marks {
            if !known.insert(mark.id) && mark.sent.is_none() {
                mark.id = ids.give();
            }
        }
    }

    /// Changes that the fork has beyond `now`, which is the base with `made` in it. Exact, and no
    /// wider than the texts that either of them touches.
    pub(super) fn beyond(&self, made: &ChangeSet, now: &Text) -> ChangeSet {
        match made.invert(&self.base.text()).compose(&self.set) {
            Ok(set) => refine(&set, now),
            Err(_) => ropewalk_text::diff(now, &self.text),
        }
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

    /// Indexes of the changes that `made` is: all that `publish` carried, wherever it was made (of two equal texts in a row one can't be
    /// told from the other, and an editor that checks no versions makes an edit where its positions point), or just some
    /// of them. None if it is neither.
    fn sent_as(&self, publish: PublishId, made: &ChangeSet) -> Option<Vec<usize>> {
        let base = self.base.text();
        let old = |change: &Change| base.slice(change.range.clone());
        let sent = self.set.changes().iter().zip(&self.marks).enumerate();
        let sent: Vec<(usize, &Change)> = sent
            .filter(|(_, (_, mark))| mark.sent == Some(publish))
            .map(|(index, (change, _))| (index, change))
            .collect();
        let same = |((_, own), made): (&(usize, &Change), &Change)| {
            own.text == made.text && (own.range == made.range || old(own) == old(made))
        };
        if sent.len() == made.changes().len() && sent.iter().zip(made.changes()).all(same) {
            return Some(sent.into_iter().map(|(index, _)| index).collect());
        }
        let one = |made: &Change| Some(sent.iter().find(|(_, own)| *own == made)?.0);
        made.changes().iter().map(one).collect()
    }

    /// The hunk and turn of each change of `made`, which `publish` carried.
    pub fn sent_by(&self, publish: PublishId, made: &ChangeSet) -> Vec<(HunkId, u64)> {
        if let Some(which) = self.sent_as(publish, made) {
            let marks = pick(&self.marks, &which).into_iter();
            return marks.map(|mark| (mark.id, mark.turn)).collect();
        }
        let sent = self.set.changes().iter().zip(&self.marks);
        let sent: Vec<(&Change, &Mark)> =
            sent.filter(|(_, mark)| mark.sent == Some(publish)).collect();
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
    pub fn set_aside_lost(&mut self, is_lost: impl Fn(PublishId) -> bool) -> Vec<Conflict> {
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

    /// Forgets every publish under way, in a copy for somebody else.
    pub(crate) fn forget_sent(&mut self) {
        let alone = self.file.iter_mut().map(|(_, mark)| mark);
        let alone = alone.chain(self.mode.iter_mut().map(|(_, mark)| mark));
        self.marks.iter_mut().chain(alone).for_each(|mark| mark.sent = None);
    }

    /// Notes that the editor is giving the file its other name, or is so no more.
    pub fn mark_renaming(&mut self, publish: Option<PublishId>) {
        if let Some((_, mark)) = &mut self.file {
            mark.sent = publish;
        }
    }

    /// True while the editor gives the file its other name: until that is known its text stands where it stood.
    pub fn is_being_renamed(&self) -> bool {
        self.file.as_ref().is_some_and(|(_, mark)| mark.sent.is_some())
    }

    /// Picks from `which` the changes of the text that are not on their way.
    pub fn unsent(&self, which: &[HunkId]) -> Vec<HunkId> {
        let free = self.marks.iter().filter(|mark| mark.sent.is_none()).map(|mark| mark.id);
        free.filter(|id| which.contains(id)).collect()
    }
}
