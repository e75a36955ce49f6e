//! Rebase: two change sets of the same text, made without knowing of each other, brought together.
//!
//! Given mine `A → B` and theirs `A → C`, [`ChangeSet::rebase`] gives mine as `C → D`, and theirs as
//! `B' → D`, where B' is A with those of mine that survive. Nothing of theirs is ever lost or moved inside
//! itself: theirs is what the user typed. One of mine that theirs reaches into is a **conflict** and is set
//! aside whole. One of mine that theirs has made too has **melted**: it is in C already.

use crate::{Change, ChangeSet, LengthMismatch};

/// The outcome of [`ChangeSet::rebase`]. Indexes are into the changes of the rebased set (mine), ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebase {
    /// Mine, `C → D`: what survives, in its new place.
    pub mine: ChangeSet,
    /// Theirs, `B' → D`, where B' is A with mine's surviving and melted changes.
    pub theirs: ChangeSet,
    /// For each change of `mine`, its index before.
    pub kept: Vec<usize>,
    /// Changes of mine that theirs reaches into.
    pub conflicts: Vec<usize>,
    /// Changes of mine that theirs makes as well.
    pub melted: Vec<usize>,
}

/// How one of mine and one of theirs lie to each other in A.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    if mine == theirs {
        Order::Same
    } else if m == t && m.is_empty() {
        if mine.text.ends_with('\n') { Order::MineFirst } else { Order::TheirsFirst }
    } else if m.end <= t.start {
        Order::MineFirst
    } else if t.end <= m.start {
        Order::TheirsFirst
    } else {
        Order::Overlap
    }
}

/// Fate of one change of mine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeFate {
    Kept,
    Conflict,
    /// Theirs made it too: the index among theirs.
    Melted(usize),
}

impl ChangeSet {
    /// Brings `self` (mine, `A → B`) over `theirs` (`A → C`). O(changes of both), but for many insertions at
    /// one place, which are compared each with each.
    pub fn rebase(&self, theirs: &ChangeSet) -> Result<Rebase, LengthMismatch> {
        if self.before_len() != theirs.before_len() {
            return Err(LengthMismatch { expected: self.before_len(), found: theirs.before_len() });
        }
        let fates = self.fates(theirs);
        let at = |wanted: fn(&ChangeFate) -> bool| {
            let found = fates.iter().enumerate().filter(move |(_, fate)| wanted(fate));
            found.map(|(index, _)| index).collect::<Vec<_>>()
        };
        let kept = at(|fate| *fate == ChangeFate::Kept);
        let conflicts = at(|fate| *fate == ChangeFate::Conflict);
        let melted = at(|fate| matches!(fate, ChangeFate::Melted(_)));
        let (mine, theirs) = self.merged(theirs, &fates);
        Ok(Rebase { mine, theirs, kept, conflicts, melted })
    }

    /// Fates of my changes. Both lists are sorted, so a window slides over theirs.
    fn fates(&self, theirs: &ChangeSet) -> Vec<ChangeFate> {
        let (mut window, mut unmelted) = (0, 0);
        let fate = |mine: &Change| {
            while theirs.changes().get(window).is_some_and(|t| t.range.end < mine.range.start) {
                window += 1;
            }
            let near = theirs.changes().iter().enumerate().skip(window);
            let mut fate = ChangeFate::Kept;
            for (index, t) in near.take_while(|(_, t)| t.range.start <= mine.range.end) {
                match order(mine, t) {
                    Order::Overlap => return ChangeFate::Conflict,
                    // One of theirs melts with one of mine, and in order: pairs must not cross.
                    Order::Same if fate == ChangeFate::Kept && index >= unmelted => {
                        fate = ChangeFate::Melted(index);
                    }
                    Order::Same | Order::MineFirst | Order::TheirsFirst => {}
                }
            }
            if let ChangeFate::Melted(index) = fate {
                unmelted = index + 1;
            }
            fate
        };
        self.changes().iter().map(fate).collect()
    }

    /// Mine in C and theirs in B'. All that is in D is walked once in its order, so that both agree on it.
    fn merged(&self, theirs: &ChangeSet, fates: &[ChangeFate]) -> (ChangeSet, ChangeSet) {
        let mut mine =
            self.changes().iter().zip(fates).filter(|(_, f)| **f != ChangeFate::Conflict);
        let mut others = theirs.changes().iter().enumerate();
        let mut pairs = fates.iter().filter_map(|fate| match fate {
            ChangeFate::Melted(pair) => Some(*pair),
            ChangeFate::Kept | ChangeFate::Conflict => None,
        });
        let mut next_pair = pairs.next();
        let (mut next_mine, mut next_theirs) = (mine.next(), others.next());
        // How far what stands here in A has moved in B' and in C.
        let (mut in_b, mut in_c) = (0isize, 0isize);
        let (mut mine_in_c, mut theirs_in_b) = (Vec::new(), Vec::new());
        loop {
            match (next_mine, next_theirs) {
                (Some((m, ChangeFate::Melted(pair))), Some((index, _))) if index == *pair => {
                    in_b += m.delta();
                    in_c += m.delta();
                    next_pair = pairs.next();
                    (next_mine, next_theirs) = (mine.next(), others.next());
                }
                (Some((m, ChangeFate::Kept)), t)
                    if t.is_none_or(|(index, t)| {
                        next_pair == Some(index) || order(m, t) == Order::MineFirst
                    }) =>
                {
                    mine_in_c.push(shifted(m, in_c));
                    in_b += m.delta();
                    next_mine = mine.next();
                }
                // Also what comes before the other half of a melted pair.
                (_, Some((_, t))) => {
                    theirs_in_b.push(shifted(t, in_b));
                    in_c += t.delta();
                    next_theirs = others.next();
                }
                (_, None) => break,
            }
        }
        (
            ChangeSet::from_sorted(theirs.after_len(), mine_in_c),
            ChangeSet::from_sorted(self.before_len().saturating_add_signed(in_b), theirs_in_b),
        )
    }

    /// True if this set (`A → C`) leaves the changed places of `edit` (`A → B`) alone, so that `edit` could
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

impl Rebase {
    /// True if every change of mine survived or was made by theirs.
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
        check("ab", &[(1, 1, "x\n")], &[(1, 1, "u"), (1, 1, "x\n")], "aux\nb", 0);
        check("ab", &[(1, 1, "x"), (1, 1, "y")], &[(1, 1, "y"), (1, 1, "x")], "ayxyb", 0);
        check("ab", &[(1, 1, "x"), (1, 1, "x")], &[(1, 1, "x")], "axxb", 0);
        check("ab", &[(1, 1, "x"), (1, 1, "y")], &[(1, 1, "y")], "axyb", 0);
    }

    #[test]
    fn insertions_at_one_place_keep_the_users_text_on_its_line() {
        check("a\nb\n", &[(2, 2, "new\n")], &[(2, 2, "x")], "a\nnew\nxb\n", 0);
        check("a\nb\n", &[(1, 1, " // c")], &[(1, 1, "x")], "ax // c\nb\n", 0);
    }
}
