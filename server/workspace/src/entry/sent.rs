//! What of an entry is chosen, on its way to the user's text, and there. Nothing here sends it.

use super::{Entry, HunkIds, Mark, SetAside, pick};
use crate::log::{Delta, Origin};
use crate::{HunkId, PublishId};
use ropewalk_text::{Change, ChangeSet, Text, refine};
use std::collections::HashSet;

impl Entry {
    /// Our own edit `made`, carried by `publish`, is in the user's text now, which is `now`: the fork drops
    /// its copy. A change that was altered after it had been sent stays pending, on top of what was sent; one that the
    /// editor made elsewhere does not.
    pub fn published(&mut self, publish: PublishId, made: &ChangeSet, now: Text) {
        let is_sent = |mark: &Mark| mark.sent == Some(publish);
        let unaltered = self.sent_as(publish, made).is_some();
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

    /// Gives each pending change an id of its own: what is left of one that was altered on its way may stand in several
    /// places, and who accepts or rejects one of them means no other.
    pub fn tell_apart(&mut self, ids: &mut HunkIds) {
        let mut known = HashSet::new();
        for mark in &mut self.marks {
            if !known.insert(mark.id) && mark.sent.is_none() {
                mark.id = ids.give();
            }
        }
    }

    /// What the fork has beyond `now`, which is the base with `made` in it: exact, and no wider than what either
    /// of them touches.
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

    /// The marks of what `publish` carried, if `made` is all of that and no more, wherever it was made: of two equal texts
    /// in a row one can't be told from the other, and an editor that checks no versions makes an edit where its positions
    /// point.
    fn sent_as(&self, publish: PublishId, made: &ChangeSet) -> Option<Vec<&Mark>> {
        let base = self.base.text();
        let old = |change: &Change| base.slice(change.range.clone());
        let sent = self.set.changes().iter().zip(&self.marks);
        let sent: Vec<(&Change, &Mark)> =
            sent.filter(|(_, mark)| mark.sent == Some(publish)).collect();
        let same = |((own, _), made): (&(&Change, &Mark), &Change)| {
            own.text == made.text && (own.range == made.range || old(own) == old(made))
        };
        let all = sent.len() == made.changes().len() && sent.iter().zip(made.changes()).all(same);
        all.then(|| sent.into_iter().map(|(_, mark)| mark).collect())
    }

    /// The hunk and turn of each change of `made`, which `publish` carried.
    pub fn sent_by(&self, publish: PublishId, made: &ChangeSet) -> Vec<(HunkId, u64)> {
        if let Some(marks) = self.sent_as(publish, made) {
            return marks.into_iter().map(|mark| (mark.id, mark.turn)).collect();
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

    /// Those of `which` that are changes of the text and not on their way.
    pub fn unsent(&self, which: &[HunkId]) -> Vec<HunkId> {
        let free = self.marks.iter().filter(|mark| mark.sent.is_none()).map(|mark| mark.id);
        free.filter(|id| which.contains(id)).collect()
    }
}
