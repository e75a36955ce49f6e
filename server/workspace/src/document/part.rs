//! Echoes in parts: a client may tell each place of one edit in a notification of its own.
//!
//! A place that is told so is in the text, and no other: it is recorded as ours at once, and the rest of the edit is waited for.
//! Only steps that are exactly some of the edit's places count; what the user typed beside one is weighed by `proof`.

use super::echo::{ToldChange, over};
use super::{Document, NotificationEffect};
use crate::log::Origin;
use crate::proof::Expected;
use ropewalk_text::{ChangeSet, Text, refine};

/// So many places on each side of a step are compared with it: a difference may be told beside where it was made.
const NEAR: usize = 4;

/// Some places of an edit of ours, told by a step.
struct EchoPart {
    /// Place of its edit among those expected.
    index: usize,
    /// The step.
    at: usize,
    /// The places, on the text before the step.
    made: ChangeSet,
    /// The others, on the text after it.
    left: ChangeSet,
}

impl Document {
    /// Takes in the steps up to the first that is a part of an edit of ours. Gives the text after it and the steps that
    /// are left.
    pub(super) fn take_part<'a>(
        &mut self,
        before: &Text,
        steps: &'a [ToldChange],
        checks_versions: bool,
        out: &mut NotificationEffect,
    ) -> Option<(Text, &'a [ToldChange])> {
        let possible = |(_, expected): &(usize, &Expected)| {
            expected.edit.before_len() == before.len() && !expected.is_out_of_time(checks_versions)
        };
        let found = self.expected.iter().enumerate().filter(possible);
        let found = found.filter_map(|(index, own)| find_part(index, &own.edit, before, steps));
        let EchoPart { index, at, made, left } = found.min_by_key(|part| (part.at, part.index))?;
        let (users, rest) = steps.split_at(at);
        let (step, rest) = rest.split_first()?;
        let mut expected = self.expected.remove(index);
        self.users(before, users, checks_versions, out);
        let place = users.last().map_or(before, |step| &step.after);
        self.follow(place, &made, &step.after, checks_versions);
        self.record(Origin::Publish(expected.id), made, place, &step.after, out);
        expected.sent = (step.after.clone(), left.clone());
        expected.edit = left;
        expected.in_parts = true;
        self.expected.insert(index.min(self.expected.len()), expected);
        Some((step.after.clone(), rest))
    }
}

/// The first of the steps that is a part of the edit. O(steps + n).
fn find_part(
    index: usize,
    edit: &ChangeSet,
    before: &Text,
    steps: &[ToldChange],
) -> Option<EchoPart> {
    let (mut edit, mut text) = (edit.clone(), before);
    for (at, step) in steps.iter().enumerate() {
        if let Some((made, left)) = part_of(&edit, text, step) {
            return Some(EchoPart { index, at, made, left });
        }
        edit = over(&edit, &refine(&step.set, text))?;
        text = &step.after;
    }
    None
}

/// Some of the edit's places, if the step is just those, and the others after it.
fn part_of(edit: &ChangeSet, before: &Text, step: &ToldChange) -> Option<(ChangeSet, ChangeSet)> {
    let told = &step.set.changes().first()?.range;
    let places = edit.changes();
    let first = places.partition_point(|place| place.range.end < told.start);
    let end = places.partition_point(|place| place.range.start <= told.end).max(first);
    let near = first.saturating_sub(NEAR)..(end + NEAR).min(places.len());
    // One step may be several places that stand close together.
    let all = std::iter::once((first..end).collect::<Vec<usize>>());
    all.chain(near.map(|one| vec![one])).find_map(|picked| {
        if picked.is_empty() || picked.len() == places.len() {
            return None;
        }
        let (made, left) = edit.split(&picked);
        let is_it = made.after_len() == step.after.len() && made.apply(before).ok()? == step.after;
        is_it.then_some((made, left))
    })
}
