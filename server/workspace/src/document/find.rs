//! Search for an edit of ours among the steps of one notification, as it was mapped over the steps before and as it was
//! sent.

use super::Document;
use super::echo::{Extent, ToldChange, over};
use crate::proof::Expected;
use crate::said::as_sent;
use ropewalk_text::{ChangeSet, Coordinates, Text, diff, refine};

/// At least so many content changes are looked at as what an edit of ours may have come in.
const RUN: usize = 16;

/// The most bytes of text whose differences are made to find one edit in one notification.
const MOST_DIFFED: usize = 64 << 20;

/// So many bytes behind each place of an edit are compared first.
const NEXT: usize = 16;

/// An edit of ours that was told.
pub(super) struct EditMatch {
    /// Which of those expected it is.
    pub(super) index: usize,
    pub(super) run: StepRun,
}

/// The steps `from..to`, counted from those that are left, that are an edit of ours.
pub(super) struct StepRun {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The edit on the text before `from`. None if it was made as it was sent, in a text in which its place was gone
    /// or elsewhere.
    pub(super) edit: Option<ChangeSet>,
}

impl Document {
    /// The first of the steps that are exactly an edit of ours.
    pub(super) fn find(
        &self,
        before: &Text,
        steps: &[ToldChange],
        coordinates: Coordinates,
        checks_versions: bool,
    ) -> Option<EditMatch> {
        let possible = |(_, expected): &(usize, &Expected)| {
            expected.edit.before_len() == before.len() && !expected.is_out_of_time(checks_versions)
        };
        let found = self.expected.iter().enumerate().filter(possible).filter_map(|(index, one)| {
            let run = find_run(one, before, steps, coordinates)?;
            Some(EditMatch { index, run })
        });
        found.min_by_key(|found| (found.run.from, found.index))
    }
}

/// The first steps that are exactly this edit. O(steps + n).
fn find_run(
    expected: &Expected,
    before: &Text,
    steps: &[ToldChange],
    coordinates: Coordinates,
) -> Option<StepRun> {
    let grows = |at: &Text, after: &Text| {
        at.len() + expected.edit.after_len() == after.len() + before.len()
    };
    let longest = expected.edit.changes().len().max(RUN);
    let (basis, sent) = &expected.sent;
    let mut mapped = Some(expected.edit.clone());
    let mut at = before;
    let (mut users, mut diffed) = (Extent::default(), 0_usize);
    for (from, step) in steps.iter().enumerate() {
        let window = steps.get(from..).unwrap_or_default();
        let window = window.get(..longest).unwrap_or(window);
        let run = |edit: &ChangeSet| {
            let may_be_it =
                |step: &ToldChange| grows(at, &step.after) && shows(edit, at, &step.after);
            if !window.iter().any(may_be_it) {
                return None;
            }
            let made = edit.apply(at).ok()?;
            window.iter().position(|step| step.after == made).map(|last| from + last + 1)
        };
        if window.iter().any(|step| grows(at, &step.after)) {
            let here = match diffed < MOST_DIFFED && users.is_coarse(before) {
                true => {
                    diffed = diffed.saturating_add(at.len());
                    over(&expected.edit, &diff(before, at))
                }
                false => mapped.clone(),
            };
            if let Some(edit) = &here
                && let Some(to) = run(edit)
            {
                return Some(StepRun { from, to, edit: here });
            }
            // Text that it replaces elsewhere than where it stands now may be other text that reads the same.
            if (here.is_none() || sent.only_inserts())
                && let Some(to) = as_sent(sent, basis, at, coordinates).and_then(|edit| run(&edit))
            {
                return Some(StepRun { from, to, edit: None });
            }
        }
        mapped = mapped.and_then(|edit| over(&edit, &refine(&step.set, at)));
        users.add(step);
        at = &step.after;
    }
    None
}

/// False if `after` is certainly not `before` with the edit: it lacks what the edit puts there, or what follows there. So most
/// of a burst's steps are known for the user's without a look at the whole text. O(places of the edit), and most often O(1).
fn shows(edit: &ChangeSet, before: &Text, after: &Text) -> bool {
    let places = edit.changes();
    let next = places.iter().skip(1).map(|place| place.range.start).chain([before.len()]);
    places.iter().zip(edit.new_ranges()).zip(next).all(|((place, new), next)| {
        let beside = NEXT.min(next.saturating_sub(place.range.end));
        let follows = before.slice(place.range.end..place.range.end + beside);
        after.slice(new.start..new.end + beside) == place.text.clone() + &follows
    })
}
