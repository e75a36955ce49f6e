//! Rebase: two change sets of the same text, made without knowing of each other, brought together.
//!
//! Given mine `A → B` and theirs `A → C`, [`ChangeSet::rebase`] gives mine as `C → D`, and theirs as
//! `B' → D`, where B' is A with those of mine that survive. Nothing of theirs is ever lost or moved inside
//! itself: theirs is what the user typed. One of mine that theirs reaches into is a **conflict** and is set
//! aside whole. One of mine that theirs has made too has **melted**: it is in C already.

use crate::{Change, ChangeSet, LengthMismatch};

/// The outcome of [`ChangeSet::rebase`]. Indexes are into the changes of the rebased set (mine), ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebased {
    /// Mine, `C → D`: what survives, in its new place.
    pub mine: ChangeSet,
    /// Theirs, `B' → D`, where B' is A with mine's surviving and melted changes.
    pub theirs: ChangeSet,
    /// For each change of `mine`, its index before.
    pub kept: Vec<usize>,
    /// Those of mine that theirs reaches into.
    pub conflicts: Vec<usize>,
    /// Those of mine that theirs makes as well.
    pub melted: Vec<usize>,
}

/// How one of mine and one of theirs lie to each other in A.
enum Order {
    MineFirst,
    TheirsFirst,
    Same,
    Overlap,
}

/// Where both insert at the same place, whole lines of mine go before what the user types there: the
/// user's text then stays on the line it was typed on. Anything else of mine goes after it, as if it had
/// been inserted when the user was done.
fn order(mine: &Change, theirs: &Change) -> Order {
    let (m, t) = (&mine.range, &theirs.range);
    if m == t && (!m.is_empty() || mine.text == theirs.text) {
        return if mine.text == theirs.text { Order::Same } else { Order::Overlap };
    }
    if m.end == t.start && m.is_empty() && t.is_empty() {
        return if mine.text.ends_with('\n') { Order::MineFirst } else { Order::TheirsFirst };
    }
    if m.end <= t.start {
        Order::MineFirst
    } else if t.end <= m.start {
        Order::TheirsFirst
    } else {
        Order::Overlap
    }
}

impl ChangeSet {
    /// Brings `self` (mine, `A → B`) over `theirs` (`A → C`). O(changes of both).
    pub fn rebase(&self, theirs: &ChangeSet) -> Result<Rebased, LengthMismatch> {
        if self.before_len() != theirs.before_len() {
            return Err(LengthMismatch { expected: self.before_len(), found: theirs.before_len() });
        }
        let (mut kept, mut conflicts, mut melted) = (Vec::new(), Vec::new(), Vec::new());
        let mut their_melted = vec![false; theirs.changes().len()];
        // First decide the fate of each of mine. Both lists are sorted, so a window slides over theirs.
        let mut window = 0;
        for (index, mine) in self.changes().iter().enumerate() {
            while theirs.changes().get(window).is_some_and(|t| t.range.end < mine.range.start) {
                window += 1;
            }
            let near = theirs.changes().iter().enumerate().skip(window);
            let (mut conflict, mut same) = (false, None);
            for (their_index, t) in near.take_while(|(_, t)| t.range.start <= mine.range.end) {
                match order(mine, t) {
                    Order::Same => same = Some(their_index),
                    Order::Overlap => conflict = true,
                    Order::MineFirst | Order::TheirsFirst => {}
                }
            }
            match (same, conflict) {
                // Two of mine can't both be the one that theirs made.
                (Some(at), false) if their_melted.get(at) == Some(&false) => {
                    if let Some(flag) = their_melted.get_mut(at) {
                        *flag = true;
                    }
                    melted.push(index);
                }
                (None, false) => kept.push(index),
                _ => conflicts.push(index),
            }
        }
        let mine = self.placed_over(theirs, &kept);
        let theirs = theirs.placed_over_mine(self, &kept, &melted, &their_melted);
        Ok(Rebased { mine, theirs, kept, conflicts, melted })
    }

    /// The kept of mine in C: each is shifted by those of theirs that come before it.
    fn placed_over(&self, theirs: &ChangeSet, kept: &[usize]) -> ChangeSet {
        let mut shift = 0isize;
        let mut next = theirs.changes().iter().peekable();
        let changes = kept.iter().filter_map(|index| self.changes().get(*index)).map(|mine| {
            while let Some(t) = next.next_if(|t| matches!(order(mine, t), Order::TheirsFirst)) {
                shift += t.delta();
            }
            shifted(mine, shift)
        });
        let changes = changes.collect();
        ChangeSet::from_sorted(theirs.after_len(), changes)
    }

    /// Theirs (`self`) in B': each is shifted by the kept and melted of mine that come before it.
    fn placed_over_mine(
        &self,
        mine: &ChangeSet,
        kept: &[usize],
        melted: &[usize],
        their_melted: &[bool],
    ) -> ChangeSet {
        let mut applied: Vec<usize> = kept.iter().chain(melted).copied().collect();
        applied.sort_unstable();
        let total: isize =
            applied.iter().filter_map(|i| mine.changes().get(*i)).map(Change::delta).sum();
        let mut next = applied.iter().filter_map(|index| mine.changes().get(*index)).peekable();
        let mut shift = 0isize;
        let mut changes = Vec::new();
        for (t, melted) in self.changes().iter().zip(their_melted) {
            let before = |m: &&Change| matches!(order(m, t), Order::MineFirst);
            while let Some(m) = next.next_if(before) {
                shift += m.delta();
            }
            if *melted {
                if let Some(m) = next.next() {
                    shift += m.delta();
                }
            } else {
                changes.push(shifted(t, shift));
            }
        }
        ChangeSet::from_sorted(self.before_len().saturating_add_signed(total), changes)
    }

    /// Whether this set (`A → C`) leaves the changed places of `edit` (`A → B`) alone, so that `edit` could
    /// still be made in C.
    pub fn leaves_alone(&self, ranges: impl IntoIterator<Item = std::ops::Range<usize>>) -> bool {
        !ranges.into_iter().any(|range| self.reaches_inside(&range))
    }

    /// The inverse of only those changes at `indexes` (ascending), as a set on B, given A.
    pub fn invert_some(&self, before: &crate::Text, indexes: &[usize]) -> ChangeSet {
        let changes = self
            .changes()
            .iter()
            .zip(self.new_ranges())
            .enumerate()
            .filter(|(index, _)| indexes.binary_search(index).is_ok())
            .map(|(_, (change, range))| Change { range, text: before.slice(change.range.clone()) })
            .collect();
        ChangeSet::from_sorted(self.after_len(), changes)
    }
}

fn shifted(change: &Change, shift: isize) -> Change {
    let range = &change.range;
    Change {
        range: range.start.saturating_add_signed(shift)..range.end.saturating_add_signed(shift),
        text: change.text.clone(),
    }
}

impl Rebased {
    /// Whether every change of mine survived or was made by theirs.
    pub fn is_clean(&self) -> bool {
        self.conflicts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Text;

    fn set(len: usize, changes: &[(usize, usize, &str)]) -> ChangeSet {
        ChangeSet::new(len, changes.iter().map(|(s, e, t)| Change::new(*s..*e, *t)).collect())
            .unwrap()
    }

    /// A, mine, theirs → the text D, and how many conflicts.
    fn check(
        a: &str,
        mine: &[(usize, usize, &str)],
        theirs: &[(usize, usize, &str)],
        d: &str,
        conflicts: usize,
    ) {
        let text = Text::from(a);
        let (mine, theirs) = (set(a.len(), mine), set(a.len(), theirs));
        let rebased = mine.rebase(&theirs).unwrap();
        let c = theirs.apply(&text).unwrap();
        assert_eq!(rebased.mine.apply(&c).unwrap().to_string(), d);
        assert_eq!(rebased.conflicts.len(), conflicts);
        let dropped = mine.invert_some(&text, &rebased.conflicts);
        let b = dropped.apply(&mine.apply(&text).unwrap()).unwrap();
        assert_eq!(rebased.theirs.apply(&b).unwrap().to_string(), d, "by the other way");
    }

    #[test]
    fn borders_shift_and_insides_conflict() {
        check("abcdef", &[(2, 4, "X")], &[(0, 0, "u")], "uabXef", 0);
        check("abcdef", &[(2, 4, "X")], &[(2, 2, "u")], "abuXef", 0);
        check("abcdef", &[(2, 4, "X")], &[(4, 4, "u")], "abXuef", 0);
        check("abcdef", &[(2, 4, "X")], &[(3, 3, "u")], "abcudef", 1);
        check("abcdef", &[(2, 4, "X")], &[(0, 2, ""), (4, 6, "")], "X", 0);
        check("abcdef", &[(3, 3, "X")], &[(2, 4, "u")], "abuef", 1);
        check("abcdef", &[(1, 2, "X"), (4, 5, "Y")], &[(1, 3, "")], "adYf", 1);
    }

    #[test]
    fn what_both_made_melts() {
        check("abcdef", &[(2, 4, "X"), (5, 6, "Z")], &[(2, 4, "X"), (0, 1, "")], "bXeZ", 0);
        check("ab", &[(1, 1, "x")], &[(1, 1, "x")], "axb", 0);
    }

    #[test]
    fn insertions_at_one_place_keep_the_users_text_on_its_line() {
        check("a\nb\n", &[(2, 2, "new\n")], &[(2, 2, "x")], "a\nnew\nxb\n", 0);
        check("a\nb\n", &[(1, 1, " // c")], &[(1, 1, "x")], "ax // c\nb\n", 0);
    }
}
