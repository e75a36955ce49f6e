//! Changes narrowed to single characters, for what is never shown: whose text it is, not how it reads.

use crate::{Change, ChangeSet, Text, refine};
use imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

/// The most bytes of one change, taken out and put together, that are compared character by character.
const LETTERS_LIMIT: usize = 64 * 1024;

/// The same change set with each change narrowed to the characters that differ, so that none is taken out and put back
/// where that can be told. Larger changes are narrowed as [`refine`] does. The result of applying it is the same.
/// O(n · differences) for each change.
pub fn refine_letters(set: &ChangeSet, before: &Text) -> ChangeSet {
    let changes = set.changes().iter().flat_map(|change| {
        let old = before.slice(change.range.clone());
        if old.is_empty() || change.text.is_empty() || old.len() + change.text.len() > LETTERS_LIMIT
        {
            return vec![change.clone()];
        }
        narrowed(&old, &change.text, change.range.start)
    });
    let set = ChangeSet::from_sorted(set.before_len(), changes.collect());
    let is_large = |change: &Change| change.range.len() + change.text.len() > LETTERS_LIMIT;
    if set.changes().iter().any(is_large) { refine(&set, before) } else { set }
}

fn narrowed(old: &str, new: &str, offset: usize) -> Vec<Change> {
    let mut input = InternedInput::default();
    input.update_before(old.chars());
    input.update_after(new.chars());
    let diff = Diff::compute(Algorithm::Myers, &input);
    let (old_starts, new_starts) = (starts(old), starts(new));
    let bytes = |starts: &[usize], chars: Range<u32>| {
        let at = |index: u32| starts.get(index as usize).copied().unwrap_or_default();
        at(chars.start)..at(chars.end)
    };
    let changes = diff.hunks().map(|hunk| {
        let (taken, put) = (bytes(&old_starts, hunk.before), bytes(&new_starts, hunk.after));
        let range = offset + taken.start..offset + taken.end;
        Change::new(range, new.get(put).unwrap_or_default())
    });
    changes.collect()
}

/// The bytes at which characters begin, and the end.
fn starts(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(before: &str, (range, text): (Range<usize>, &str), want: &[(Range<usize>, &str)]) {
        let before = Text::from(before);
        let set = ChangeSet::new(before.len(), vec![Change::new(range, text)]).unwrap();
        let narrow = refine_letters(&set, &before);
        assert_eq!(narrow.apply(&before), set.apply(&before));
        let changes = narrow.changes().iter();
        let changes: Vec<_> = changes.map(|one| (one.range.clone(), one.text.as_str())).collect();
        assert_eq!(changes, want);
    }

    #[test]
    fn what_stands_there_still_is_not_taken_out() {
        check("é P\n", (3..4, "BPB"), &[(3..3, "B"), (4..4, "B")]);
        check("日本語", (0..9, "日B語B"), &[(3..6, "B"), (9..9, "B")]);
        check("ab", (0..2, ""), &[(0..2, "")]);
        check("ab", (1..1, "c"), &[(1..1, "c")]);
    }

    proptest! {
        #[test]
        fn the_result_is_the_same(old in "[aé\n日]{0,12}", new in "[aéb\n日]{0,12}") {
            let before = Text::from(format!("x{old}y").as_str());
            let change = Change::new(1..1 + old.len(), new);
            let set = ChangeSet::new(before.len(), vec![change]).unwrap();
            prop_assert_eq!(refine_letters(&set, &before).apply(&before), set.apply(&before));
        }
    }
}
