//! One notification's steps: which of them are edits of ours, and what became of those that are not among them.
//!
//! An editor makes an edit at one moment, between two content changes of the user's, and tells it as changes of its
//! own; so it is looked for in the changes as they were told. Only what is left is the user's, and only of that what
//! is coarse is reduced to the difference of its texts: taken together with an edit of ours, a text that was sorted or
//! reversed has no difference in which the edit could be found again.

use super::{COARSE_LINES, Document, NotificationEffect, Step, settle};
use crate::log::{LogDelta, Origin};
use crate::proof::{Expected, Settled, Sighting, carry};
use ropewalk_text::{ChangeSet, Coordinates, Text, coarse_diff, diff, refine, without_islands};

/// A notification of more content changes than this is compared with the edits under way once.
const BURST: usize = 16;

/// One content change, made in the text.
#[derive(Clone)]
pub(super) struct ToldChange {
    pub(super) set: ChangeSet,
    pub(super) after: Text,
    /// How many bytes it replaced.
    pub(super) deleted: usize,
    /// How many lines it replaced, where they may be many.
    pub(super) deleted_lines: usize,
    /// True if it was told without a range.
    pub(super) whole: bool,
}

/// How much some steps replace together.
#[derive(Default)]
pub(super) struct Extent {
    steps: usize,
    deleted: usize,
    lines: usize,
    whole: bool,
}

impl Extent {
    fn of(steps: &[ToldChange]) -> Self {
        let mut extent = Self::default();
        steps.iter().for_each(|step| extent.add(step));
        extent
    }

    pub(super) fn add(&mut self, step: &ToldChange) {
        self.steps += 1;
        self.deleted += step.deleted;
        self.lines += step.deleted_lines;
        self.whole |= step.whole;
    }

    /// True if so much is deleted that only the difference of the texts says what it was: a formatter, a reload, a
    /// filter.
    pub(super) fn is_coarse(&self, before: &Text) -> bool {
        let Self { steps, deleted, lines, whole } = *self;
        // A filter inserts all that is new first, and then deletes all that is old, however little that is.
        let anew = steps > 1 && deleted > 0 && deleted >= before.len();
        whole || anew || lines > COARSE_LINES || (deleted > 80 && deleted > before.len() / 2)
    }
}

impl Document {
    /// Takes in the steps of one notification: the user's up to an edit of ours, the edit, the user's after it.
    ///
    /// A client that checks versions makes an edit first, in the text it was sent for, or not at all, but for
    /// versions that are never checked; one that checks nothing makes it wherever its positions point by then. So an
    /// edit is looked for at each step, as it was mapped over the steps before and as it was sent. No step
    /// settles an edit as skipped or lost before all were looked at.
    pub(super) fn take_in(
        &mut self,
        before: Text,
        steps: &[ToldChange],
        (coordinates, checks_versions): (Coordinates, bool),
        out: &mut NotificationEffect,
    ) {
        let (mut before, mut rest) = (before, steps);
        loop {
            let Some(found) = self.find(&before, rest, coordinates, checks_versions) else {
                match self.take_part(&before, rest, checks_versions, out) {
                    Some(taken) => (before, rest) = taken,
                    None => break,
                }
                continue;
            };
            let expected = self.expected.remove(found.index);
            let (run, others) = rest.split_at(found.run.to);
            let (users, ours) = run.split_at(found.run.from);
            let Some(last) = ours.last() else { break };
            match found.run.edit {
                Some(edit) => {
                    self.users(&before, users, checks_versions, out);
                    let place = users.last().map_or(&before, |step| &step.after).clone();
                    self.follow(&place, &edit, &last.after, checks_versions);
                    let own = ChangeSet::identity(last.after.len());
                    self.made(Expected { edit, ..expected }, own, &place, &last.after, out);
                }
                // Told as if it had been made first, and then been moved with the text: its place is known then.
                None => {
                    let whole = diff(&before, &last.after);
                    self.follow(&before, &whole, &last.after, checks_versions);
                    let ours = expected.edit.apply(&before).unwrap_or_else(|_| before.clone());
                    let own = diff(&ours, &last.after);
                    self.made(expected, own, &before, &last.after, out);
                }
            }
            before = last.after.clone();
            rest = others;
        }
        self.users(&before, rest, checks_versions, out);
    }

    /// The user's steps, coarse ones as one. From the first that puts an edit of ours in doubt, the rest is judged as
    /// one too: what it destroyed may have come back. So are all steps of a burst, since each look costs O(n).
    pub(super) fn users(
        &mut self,
        before: &Text,
        steps: &[ToldChange],
        checks_versions: bool,
        out: &mut NotificationEffect,
    ) {
        let coarse = Extent::of(steps).is_coarse(before);
        let in_doubt = |seen: &Sighting| matches!(seen, Sighting::Overtaken | Sighting::Gone);
        let (mut before, mut rest) = (before.clone(), steps);
        let is_burst = steps.len() > BURST && !self.expected.is_empty();
        while !coarse
            && !is_burst
            && let [one, _, ..] = rest
        {
            let seen = self.sightings(&before, &one.set, &one.after, checks_versions);
            if seen.iter().any(in_doubt) {
                break;
            }
            let (step, others) = rest.split_at(1);
            self.judge(seen, &before, step, checks_versions, out);
            before = one.after.clone();
            rest = others;
        }
        let whole = |last: &ToldChange| ToldChange {
            set: coarse_diff(&before, &last.after),
            ..last.clone()
        };
        let Some(last) = rest.last() else { return };
        let one = if coarse || rest.len() > 1 { whole(last) } else { last.clone() };
        let seen = self.sightings(&before, &one.set, &one.after, checks_versions);
        let steps = if coarse { &[one] } else { rest };
        self.judge(seen, &before, steps, checks_versions, out);
    }

    /// Takes in steps of which all together this was seen: the user's, or an edit of ours with the user's in it.
    fn judge(
        &mut self,
        seen: Vec<Sighting>,
        before: &Text,
        steps: &[ToldChange],
        checks_versions: bool,
        out: &mut NotificationEffect,
    ) {
        let Some(last) = steps.last() else { return };
        let (seen, steps) = self.as_told(seen, before, steps);
        if let Some((expected, own)) = self.settle_seen(seen, checks_versions) {
            return self.made(expected, own, before, &last.after, out);
        }
        let mut before = before.clone();
        for (set, after) in steps {
            self.record(Origin::User, set, &before, &after, out);
            before = after;
        }
    }

    /// The steps as they are recorded, and what was seen of each edit under way, with its place as they lead to it: by a
    /// difference of the texts it may stand beyond words that the user kept. They are as they were told, or one where
    /// all of them together leave a place alone that one of them destroyed: it has come back.
    fn as_told(
        &self,
        seen: Vec<Sighting>,
        before: &Text,
        steps: &[ToldChange],
    ) -> (Vec<Sighting>, Vec<(ChangeSet, Text)>) {
        let (sets, texts): (Vec<ChangeSet>, Vec<Text>) =
            steps.iter().map(|step| (step.set.clone(), step.after.clone())).unzip();
        let by_each = self.places(&seen, &sets);
        let is_lost = |(seen, place): (&Sighting, &Sighting)| {
            matches!((seen, place), (Sighting::NotYet(_), Sighting::Overtaken))
        };
        if seen.iter().zip(&by_each).any(is_lost)
            && let (Some(Ok(together)), Some(last)) = (ChangeSet::compose_all(&sets), texts.last())
        {
            let together = [without_islands(&refine(&together, before), before, |_| false)];
            let by_one = self.places(&seen, &together);
            if by_each.iter().zip(&by_one).any(|(each, one)| is_lost((one, each))) {
                return (by_one, together.into_iter().map(|set| (set, last.clone())).collect());
            }
        }
        (by_each, sets.into_iter().zip(texts).collect())
    }

    /// Moves the sighting of each edit under way over these steps. One that loses its place counts
    /// as overtaken.
    fn places(&self, seen: &[Sighting], steps: &[ChangeSet]) -> Vec<Sighting> {
        let place =
            |edit: &ChangeSet| steps.iter().try_fold(edit.clone(), |edit, step| over(&edit, step));
        let one = |(expected, seen): (&Expected, &Sighting)| match seen {
            Sighting::NotYet(_) => {
                place(&expected.edit).map_or(Sighting::Overtaken, Sighting::NotYet)
            }
            seen => seen.clone(),
        };
        self.expected.iter().zip(seen).map(one).collect()
    }

    /// Compares one step with each edit under way.
    fn sightings(
        &self,
        before: &Text,
        set: &ChangeSet,
        after: &Text,
        checks_versions: bool,
    ) -> Vec<Sighting> {
        let look = |expected: &Expected| expected.look(before, set, after, checks_versions);
        self.expected.iter().map(look).collect()
    }

    /// Keeps those edits that are still possible, and settles the others but one that was made.
    fn settle_seen(
        &mut self,
        sightings: Vec<Sighting>,
        checks_versions: bool,
    ) -> Option<(Expected, ChangeSet)> {
        let mut made = None;
        let mut kept = Vec::with_capacity(self.expected.len());
        for (mut expected, seen) in self.expected.drain(..).zip(sightings) {
            match seen {
                Sighting::Made(own) if made.is_none() => made = Some((expected, own)),
                Sighting::Overtaken
                    if checks_versions && !expected.unconfirmed && !expected.in_parts =>
                {
                    match expected.answer.is_none() && self.first.1.contains(&expected.id) {
                        true => self.overtaken.push(expected),
                        false => settle(expected.waiter, Settled::Skipped),
                    }
                }
                Sighting::Made(_) | Sighting::Overtaken | Sighting::Gone => {
                    self.lost.push(expected.id);
                    settle(expected.waiter, Settled::Conflict);
                }
                Sighting::NotYet(edit) => {
                    expected.edit = edit;
                    kept.push(expected);
                }
            }
        }
        self.expected = kept;
        made
    }

    /// Carries the other edits under way over a step that is one of ours.
    pub(super) fn follow(
        &mut self,
        before: &Text,
        set: &ChangeSet,
        after: &Text,
        checks_versions: bool,
    ) {
        let sightings = self.sightings(before, set, after, checks_versions);
        // The step is one edit, not two.
        let not_made = |seen| if matches!(seen, Sighting::Made(_)) { Sighting::Gone } else { seen };
        let made = self.settle_seen(sightings.into_iter().map(not_made).collect(), checks_versions);
        debug_assert!(made.is_none());
    }

    /// An edit of ours is in the text, and after it the user's `own` part.
    fn made(
        &mut self,
        expected: Expected,
        own: ChangeSet,
        before: &Text,
        after: &Text,
        out: &mut NotificationEffect,
    ) {
        let ours = expected.edit.apply(before).unwrap_or_else(|_| after.clone());
        self.record(Origin::Publish(expected.id), expected.edit, before, &ours, out);
        self.record(Origin::User, own, &ours, after, out);
        settle(expected.waiter, Settled::Confirmed);
    }

    pub(super) fn record(
        &mut self,
        origin: Origin,
        change: ChangeSet,
        before: &Text,
        after: &Text,
        out: &mut NotificationEffect,
    ) {
        if origin == Origin::User && change.is_empty() {
            return;
        }
        let before = (!change.only_inserts()).then(|| before.clone());
        out.steps.push(Step { origin, change: change.clone(), before, after: after.clone() });
        self.log.push(LogDelta { change, origin });
    }

    /// After a whole notification: what was not in it, although it should have been, was skipped.
    pub(super) fn pass_over(&mut self, trusts_versions: bool) {
        for expected in &mut self.expected {
            expected.passed_over = true;
        }
        self.settle_skipped(trusts_versions);
    }

    /// Settles those edits of which it is now certain that the client skipped them.
    pub(super) fn settle_skipped(&mut self, trusts_versions: bool) {
        let mut index = 0;
        while let Some(expected) = self.expected.get(index) {
            let skipped = match expected.answer {
                Some(false) => true,
                // A client that is at it tells of each place when it comes to it.
                Some(true) if expected.in_parts && !expected.unconfirmed => false,
                Some(true) => expected.passed_over && trusts_versions,
                None => false,
            };
            if skipped {
                let expected = self.expected.remove(index);
                settle(expected.waiter, Settled::Skipped);
            } else {
                index += 1;
            }
        }
    }
}

/// The edit over what the user did, if all of it has its place still.
pub(super) fn over(edit: &ChangeSet, users: &ChangeSet) -> Option<ChangeSet> {
    match carry(edit, users)? {
        Sighting::NotYet(edit) => Some(edit),
        _ => None,
    }
}
