//! The algebra of change sets: apply, invert, map, compose, and rebase, the last against an oracle in which
//! every char has an identity of its own.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests may be blunt"
)]

use proptest::prelude::*;
use ropewalk_text::{Bias, Change, ChangeSet, Text, line_hunks, refine};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A text of at most a few dozen chars, so that changes meet often.
fn text() -> impl Strategy<Value = String> {
    let char = prop::sample::select(vec!["a", "b", "\n", "\r\n", "é", "日", "😀"]);
    prop::collection::vec(char, 0..16).prop_map(|chars| chars.concat())
}

/// Inserted texts: few different ones, so that both sides often make the same change.
fn new_text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "x", "y", "x\n", "é", "long 😀 text\n", "\r\n"])
}

/// A set on `before`: cuts in pairs are ranges, often empty or touching.
fn set_on(before: &str) -> BoxedStrategy<ChangeSet> {
    let cuts: Vec<usize> = (0..=before.len()).filter(|at| before.is_char_boundary(*at)).collect();
    let len = before.len();
    let cut = prop::sample::select(cuts);
    prop::collection::vec(
        (cut.clone(), prop_oneof![cut.clone(), cut], new_text(), any::<bool>()),
        0..5,
    )
    .prop_map(move |edits| {
        let mut points: Vec<usize> = edits.iter().flat_map(|(a, b, _, _)| [*a, *b]).collect();
        points.sort_unstable();
        let changes = points.chunks_exact(2).zip(&edits).map(|(pair, (_, _, new, insert))| {
            let end = if *insert { pair[0] } else { pair[1] };
            Change::new(pair[0]..end, *new)
        });
        ChangeSet::new(len, changes.collect()).expect("sorted cuts are disjoint")
    })
    .boxed()
}

fn case() -> impl Strategy<Value = (String, ChangeSet)> {
    text().prop_flat_map(|before| {
        let set = set_on(&before);
        (Just(before), set)
    })
}

fn apply(set: &ChangeSet, before: &str) -> String {
    set.apply(&Text::from(before)).unwrap().to_string()
}

/// The plain meaning of a set.
fn apply_to_string(set: &ChangeSet, before: &str) -> String {
    let mut out = before.to_owned();
    for change in set.changes().iter().rev() {
        out.replace_range(change.range.clone(), &change.text);
    }
    out
}

/// A byte of a text, by where it is from: so that no two are the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Tag {
    Old(usize),
    Mine(usize, usize),
    Theirs(usize, usize),
}

fn tagged(set: &ChangeSet, before: &[Tag], tag: impl Fn(usize, usize) -> Tag) -> Vec<Tag> {
    let mut out = before.to_vec();
    for (index, change) in set.changes().iter().enumerate().rev() {
        out.splice(change.range.clone(), (0..change.text.len()).map(|at| tag(index, at)));
    }
    out
}

/// Only those of `set` at `indexes`.
fn only(set: &ChangeSet, indexes: &[usize]) -> ChangeSet {
    let changes = indexes.iter().map(|index| set.changes()[*index].clone()).collect();
    ChangeSet::new(set.before_len(), changes).unwrap()
}

/// `a` without what `b` doesn't hold is the same sequence as `b` without what `a` doesn't hold.
fn same_order(a: &[Tag], b: &[Tag]) -> bool {
    let in_a: HashSet<_> = a.iter().collect();
    let in_b: HashSet<_> = b.iter().collect();
    a.iter().filter(|t| in_b.contains(t)).eq(b.iter().filter(|t| in_a.contains(t)))
}

/// True if theirs reaches inside mine: they share bytes, or one inserts strictly inside the other.
fn reaches(m: &Range<usize>, t: &Range<usize>) -> bool {
    m.start < t.end && t.start < m.end
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn apply_is_that_of_a_string((before, set) in case()) {
        let after = apply(&set, &before);
        prop_assert_eq!(&after, &apply_to_string(&set, &before));
        prop_assert_eq!(after.len(), set.after_len());
        for (change, new) in set.changes().iter().zip(set.new_ranges()) {
            prop_assert_eq!(after.get(new), Some(change.text.as_str()));
        }
    }

    #[test]
    fn invert_goes_back((before, set) in case()) {
        let text = Text::from(before.as_str());
        let inverse = set.invert(&text);
        let after = set.apply(&text).unwrap();
        prop_assert_eq!(inverse.apply(&after).unwrap(), text);
        prop_assert_eq!(&inverse.invert(&after), &set);
    }

    #[test]
    fn some_can_be_taken_back((before, set) in case(), pick in any::<u8>()) {
        let (gone, left): (Vec<_>, Vec<_>) =
            (0..set.changes().len()).partition(|index| pick >> index & 1 == 1);
        let text = Text::from(before.as_str());
        let after = set.apply(&text).unwrap();
        let back = set.invert_some(&text, &gone).apply(&after).unwrap();
        prop_assert_eq!(back.to_string(), apply(&only(&set, &left), &before));
    }

    #[test]
    fn composition_has_the_effect_of_both(
        (before, first, second, third) in case().prop_flat_map(|(before, first)| {
            let after = apply(&first, &before);
            let second = set_on(&after);
            (Just(before), Just(first), second.prop_flat_map(move |second| {
                let third = set_on(&apply(&second, &after));
                (Just(second), third)
            }))
        }).prop_map(|(before, first, (second, third))| (before, first, second, third)),
    ) {
        let both = first.compose(&second).unwrap();
        let middle = apply(&first, &before);
        let after = apply(&second, &middle);
        prop_assert_eq!(apply(&both, &before), &after[..]);
        prop_assert_eq!(both.after_len(), after.len());
        // Nothing touches in a composition.
        prop_assert!(both.changes().windows(2).all(|w| w[0].range.end < w[1].range.start));
        let left = both.compose(&third).unwrap();
        let right = first.compose(&second.compose(&third).unwrap()).unwrap();
        prop_assert_eq!(&left, &right);
        let all = ChangeSet::compose_all(&[first.clone(), second.clone(), third.clone()]);
        prop_assert_eq!(all.unwrap().unwrap(), left);
        // An offset that no change comes near of maps through both as through the one.
        for at in (0..=before.len()).filter(|at| !first.touches(&(*at..*at))) {
            let once = first.map_offset(at, Bias::Before);
            if !second.touches(&(once..once)) {
                for bias in [Bias::Before, Bias::After] {
                    prop_assert_eq!(both.map_offset(at, bias), second.map_offset(once, bias));
                }
            }
        }
        // The identity is one.
        let identity = ChangeSet::identity(before.len());
        prop_assert_eq!(apply(&identity.compose(&first).unwrap(), &before), &middle[..]);
        // Other lengths are refused.
        let longer = ChangeSet::identity(middle.len() + 1);
        prop_assert!(first.compose(&longer).is_err() && first.rebase(&ChangeSet::identity(before.len() + 1)).is_err());
    }

    #[test]
    fn offsets_map_with_their_neighbours((before, set) in case()) {
        let after = apply(&set, &before);
        let old: Vec<Tag> = (0..before.len()).map(Tag::Old).collect();
        let new = tagged(&set, &old, Tag::Mine);
        let place: HashMap<Tag, usize> = new.iter().enumerate().map(|(at, tag)| (*tag, at)).collect();
        let map = |at, bias| set.map_offset(at, bias);
        for at in 0..=before.len() {
            prop_assert!(map(at, Bias::Before) <= map(at, Bias::After));
            prop_assert!(map(at, Bias::After) <= after.len());
            // After everything before it that is left, before everything after it.
            for bias in [Bias::Before, Bias::After] {
                let to = map(at, bias);
                prop_assert!((0..at).filter_map(|b| place.get(&Tag::Old(b))).all(|b| *b < to));
                prop_assert!((at..before.len()).filter_map(|b| place.get(&Tag::Old(b))).all(|b| *b >= to));
            }
            if at < before.len() {
                for bias in [Bias::Before, Bias::After] {
                    prop_assert!(map(at, bias) <= map(at + 1, bias));
                }
            }
            for end in at..=before.len() {
                let range = set.map_range(at..end);
                prop_assert!(range.start <= range.end && range.end <= after.len());
                if !set.reaches_inside(&(at..end)) && at < end {
                    prop_assert_eq!(after.as_bytes().get(range), before.as_bytes().get(at..end));
                }
            }
        }
    }

    #[test]
    fn rebase_brings_both_together(
        (before, mine, theirs) in text().prop_flat_map(|before| {
            let sets = (set_on(&before), set_on(&before));
            (Just(before), sets).prop_map(|(before, (mine, theirs))| (before, mine, theirs))
        }),
    ) {
        let rebased = mine.rebase(&theirs).unwrap();
        let c = apply(&theirs, &before);
        let d = apply(&rebased.mine, &c);
        let mut applied: Vec<usize> = [rebased.kept.as_slice(), &rebased.melted].concat();
        applied.sort_unstable();
        let b = apply(&only(&mine, &applied), &before);
        prop_assert_eq!(&d, &apply(&rebased.theirs, &b), "both ways lead to D");

        // Each of mine has one fate.
        let mut all = [applied.as_slice(), &rebased.conflicts].concat();
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..mine.changes().len()));
        prop_assert_eq!(rebased.is_clean(), rebased.conflicts.is_empty());
        prop_assert_eq!(rebased.mine.changes().len(), rebased.kept.len());
        for (index, m) in mine.changes().iter().enumerate() {
            let same = theirs.changes().contains(m);
            let inside = theirs.changes().iter().any(|t| t != m && reaches(&m.range, &t.range));
            prop_assert_eq!(rebased.conflicts.contains(&index), inside, "conflict of {:?}", m);
            prop_assert!(!rebased.melted.contains(&index) || same, "melted only what is equal");
            // Only insertions at one place come in numbers; of them, one melts with one.
            if same && !inside && !m.range.is_empty() {
                prop_assert!(rebased.melted.contains(&index));
            }
        }
        for (index, m) in rebased.kept.iter().zip(rebased.mine.changes()) {
            let was = &mine.changes()[*index];
            prop_assert_eq!(&m.text, &was.text, "kept as it was");
            prop_assert_eq!(c.get(m.range.clone()), before.get(was.range.clone()), "over the same text");
        }

        // Identities: D holds every byte of C but those that kept ones of mine replace, and those of mine.
        let old: Vec<Tag> = (0..before.len()).map(Tag::Old).collect();
        let tags_c = tagged(&theirs, &old, Tag::Theirs);
        let tags_d = tagged(&rebased.mine, &tags_c, |at, byte| Tag::Mine(rebased.kept[at], byte));
        let tags_b = tagged(&mine, &old, Tag::Mine);
        prop_assert_eq!(tags_d.iter().collect::<HashSet<_>>().len(), tags_d.len());
        let in_d: HashSet<_> = tags_d.iter().collect();
        for tag in &tags_c {
            let replaced = matches!(tag, Tag::Old(at)
                if rebased.kept.iter().any(|m| mine.changes()[*m].range.contains(at)));
            prop_assert_eq!(in_d.contains(tag), !replaced, "{:?}", tag);
        }
        for tag in &tags_d {
            if let Tag::Old(at) = tag {
                prop_assert!(!theirs.changes().iter().any(|t| t.range.contains(at)), "stays deleted");
            }
        }
        // Nothing is misplaced: seen from either side, everything is in its order.
        prop_assert!(same_order(&tags_d, &tags_c));
        prop_assert!(same_order(&tags_d, &tags_b));
        // Whole lines of mine go before what they insert at that place, the rest of mine after it.
        let place: HashMap<Tag, usize> = tags_d.iter().enumerate().map(|(at, tag)| (*tag, at)).collect();
        if let ([m], [t]) = (mine.changes(), theirs.changes())
            && m.range.is_empty() && m.range == t.range && m != t
        {
            let (m_at, t_at) = (place[&Tag::Mine(0, 0)], place[&Tag::Theirs(0, 0)]);
            prop_assert_eq!(m_at < t_at, m.text.ends_with('\n'));
        }
    }

    #[test]
    fn hunks_are_all_that_differs_by_lines((before, set) in case()) {
        let after = apply(&set, &before);
        let (a, b) = (Text::from(before.as_str()), Text::from(after.as_str()));
        let hunks = line_hunks(&a, &b, &set);
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let new: Vec<&str> = after.split_inclusive('\n').collect();
        let (mut out, mut at, mut change) = (Vec::new(), 0, 0);
        for hunk in &hunks {
            prop_assert_eq!(hunk.changes.start, change, "every change is in one hunk");
            change = hunk.changes.end;
            // Hunks that touch are one, so there is a line between them.
            prop_assert!(at == 0 || hunk.before.start > at);
            out.extend_from_slice(&old[at..hunk.before.start]);
            prop_assert_eq!(out.len(), hunk.after.start);
            out.extend_from_slice(&new[hunk.after.clone()]);
            at = hunk.before.end;
        }
        prop_assert_eq!(change, set.changes().len());
        out.extend_from_slice(&old[at..]);
        prop_assert_eq!(out, new);
    }

    #[test]
    fn refine_keeps_the_effect((before, set) in case()) {
        let fine = refine(&set, &Text::from(before.as_str()));
        prop_assert_eq!(apply(&fine, &before), apply(&set, &before));
        let reach = |set: &ChangeSet| set.changes().iter().map(|c| c.range.len() + c.text.len()).sum::<usize>();
        prop_assert!(reach(&fine) <= reach(&set));
    }

    #[test]
    fn over_itself_all_melts((_, set) in case()) {
        let rebased = set.rebase(&set).unwrap();
        prop_assert!(rebased.mine.is_empty() && rebased.theirs.is_empty());
        prop_assert_eq!(rebased.melted.len(), set.changes().len());
        let nothing = ChangeSet::identity(set.before_len());
        let rebased = set.rebase(&nothing).unwrap();
        prop_assert_eq!(&rebased.mine, &set);
        let rebased = nothing.rebase(&set).unwrap();
        prop_assert_eq!(&rebased.theirs, &set);
    }
}

#[test]
fn a_thousand_keystrokes_compose_to_what_they_typed() {
    let mut text = Text::from("start\n");
    let before = text.clone();
    let mut sets = Vec::new();
    for n in 0..1000usize {
        let at = (n * 7919) % (text.len() + 1);
        let end = if n % 5 == 0 { (at + 3).min(text.len()) } else { at };
        let set = ChangeSet::single(text.len(), at..end, format!("{n}"));
        text = set.apply(&text).unwrap();
        sets.push(set);
    }
    let all = ChangeSet::compose_all(&sets).unwrap().unwrap();
    assert_eq!(all.apply(&before).unwrap(), text);
    assert!(ChangeSet::compose_all(&[]).is_none());
}
