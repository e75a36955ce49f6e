//! Inverses of published hunks: their old text, where their new text stands now.

use crate::HunkId;
use crate::entry::moved;
use crate::ledger::{Ledger, Published, UndoSpot};
use ropewalk_text::{Change, ChangeSet, Text};
use std::ops::Range;

/// The inverse of `hunks` on `text`, and those that have no certain place in it or go along with such a one.
pub(super) fn inverse(text: &Text, hunks: &[Published]) -> (ChangeSet, Vec<HunkId>) {
    let (mut free, mut left) = (hunks.to_vec(), Vec::<Published>::new());
    loop {
        let (set, lost) = of_found(text, &free);
        left.extend(free.extract_if(.., |hunk| lost.contains(&hunk.id)));
        let found = left.len();
        while let Some(at) = free.iter().position(|hunk| left.iter().any(|one| are_kin(one, hunk)))
        {
            left.push(free.remove(at));
        }
        if left.len() == found {
            return (set, left.into_iter().map(|hunk| hunk.id).collect());
        }
    }
}

/// True if text moved from one to the other when they were published: with one of them taken back and the other not it
/// would stand twice, or nowhere.
fn are_kin(one: &Published, other: &Published) -> bool {
    one.hash == other.hash && (moved(&one.old, &other.new) || moved(&other.old, &one.new))
}

/// The inverse of those that have a certain place in `text`, and the others.
fn of_found(text: &Text, hunks: &[Published]) -> (ChangeSet, Vec<HunkId>) {
    let (mut changes, mut left): (Vec<Change>, Vec<&Published>) = (Vec::new(), Vec::new());
    for hunk in hunks.iter().rev() {
        let free = |range: &Range<usize>| {
            changes.iter().all(|c| c.range.end <= range.start || range.end <= c.range.start)
        };
        match Ledger::find(hunk, text) {
            UndoSpot::At(range) if free(&range) => {
                changes.push(Change::new(range, hunk.old.clone()));
            }
            _ => left.push(hunk),
        }
    }
    let all = ChangeSet::new(text.len(), changes);
    let mut all = all.unwrap_or_else(|| ChangeSet::identity(text.len()));
    let Ok(mut now) = all.apply(text) else {
        return (ChangeSet::identity(text.len()), hunks.iter().map(|hunk| hunk.id).collect());
    };
    // The others are looked for in the text without those: one may stand under a later one, or between lines that
    // another has changed.
    loop {
        let before = left.len();
        left.retain(|hunk| {
            let loose = Published { anchored: false, ..(*hunk).clone() };
            let UndoSpot::At(range) = Ledger::find(&loose, &now) else { return true };
            let back = ChangeSet::single(now.len(), range, hunk.old.as_str());
            let (Ok(undone), Ok(set)) = (back.apply(&now), all.compose(&back)) else { return true };
            (now, all) = (undone, set);
            false
        });
        if left.is_empty() || left.len() == before {
            return (all, left.into_iter().map(|hunk| hunk.id).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_move_is_not_taken_back() {
        let before = Text::from("one\nwords that move\ntwo\nthree\nfour\n");
        let changes = vec![
            Change::new(4..19, "new"),
            Change::new(20..23, "words that move"),
            Change::new(30..34, "4"),
        ];
        let set = ChangeSet::new(before.len(), changes).unwrap();
        let after = set.apply(&before).unwrap();
        let mut ledger = Ledger::default();
        let about = Published::about("s".into(), crate::DocId::from_uri("untitled:a"), "a".into());
        ledger.record(&about, &before, &set, &after, &[1, 2, 3].map(|id| (HunkId(id), 1)));
        let mut hunks: Vec<Published> = ledger.texts.iter().cloned().collect();
        assert_eq!(inverse(&after, &hunks).0.apply(&after).unwrap(), before);
        // The user has written in one half, or in the other.
        for (typed_in, half) in [(5, 0), (10, 1)] {
            let own = ChangeSet::single(after.len(), typed_in..typed_in, "!");
            let now = own.apply(&after).unwrap();
            for (index, hunk) in hunks.iter_mut().enumerate() {
                hunk.range = own.map_range(hunk.at.clone());
                hunk.anchored = index != half;
            }
            let (set, mut left) = inverse(&now, &hunks);
            left.sort_unstable();
            assert_eq!(left, [HunkId(1), HunkId(2)]);
            let undone = now.to_string().replace('4', "four");
            assert_eq!(set.apply(&now).unwrap().to_string(), undone);
        }
    }
}
