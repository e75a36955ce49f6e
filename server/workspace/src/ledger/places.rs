//! Places of a document's published texts while the user types: a key moves only those that it may touch. Those behind it
//! share one shift, which is added when it reaches them or somebody asks for the ledger.

use super::{Indexed, Published};
use ropewalk_text::Change;
use std::ops::Range;

/// Keys of a document's anchored lines, by where they stand from the last key pressed. Each list has the nearest last.
#[derive(Debug, Default)]
pub(super) struct TextPlaces {
    /// Lines before it, with the ends of their reaches.
    before: Vec<(isize, u64)>,
    near: Vec<u64>,
    /// Lines behind it, with the starts of their reaches as they would be without `shift`.
    behind: Vec<(isize, u64)>,
    /// How many bytes those behind it have moved.
    shift: isize,
}

/// The bytes in which a change may concern a published text: its own, and around a deletion as many as it deleted, since
/// an editor may put them back some characters away.
fn reach(hunk: &Published) -> Range<isize> {
    let beside = if hunk.new.is_empty() { signed(hunk.old.len()) } else { 0 };
    signed(hunk.range.start) - beside..signed(hunk.range.end) + beside
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

impl TextPlaces {
    /// Places of a document that is typed in for the first time.
    pub(super) fn new(keys: Vec<u64>) -> Self {
        Self { near: keys, ..Self::default() }
    }

    /// The keys of the lines that a change of `range` may touch, oldest first; their ranges are those of now. O(log n) for each line
    /// between it and the last change.
    pub(super) fn touched(
        &mut self,
        range: &Range<usize>,
        lines: &mut Indexed<Published>,
    ) -> Vec<u64> {
        let (start, end) = (signed(range.start), signed(range.end));
        while let Some((_, key)) = self.before.pop_if(|(reaches, _)| *reaches >= start) {
            self.near.push(key);
        }
        let shift = self.shift;
        while let Some(reached) = self.behind.pop_if(|(begins, _)| *begins + shift <= end) {
            self.near.push(reached.1);
            bring_to_now(reached, shift, lines);
        }
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        self.near.retain(|key| {
            let Some(hunk) = lines.line(*key).filter(|hunk| hunk.anchored) else { return false };
            let reach = reach(hunk);
            if reach.end < start {
                before.push((reach.end, *key));
            } else if reach.start > end {
                behind.push((reach.start - self.shift, *key));
            } else {
                return true;
            }
            false
        });
        before.sort_unstable();
        behind.sort_unstable_by(|one, other| other.cmp(one));
        self.before.extend(before);
        self.behind.extend(behind);
        self.near.sort_unstable();
        self.near.clone()
    }

    /// Moves what is behind a change with it.
    pub(super) fn shift(&mut self, change: &Change) {
        self.shift += signed(change.text.len()) - signed(change.range.len());
    }

    /// Brings the ranges of all lines to now. O(lines behind the last change).
    pub(super) fn settle(self, lines: &mut Indexed<Published>) {
        self.behind.into_iter().for_each(|place| bring_to_now(place, self.shift, lines));
    }
}

/// Adds to a line's range what it has moved since it was noted as behind the last change.
fn bring_to_now((begins, key): (isize, u64), shift: isize, lines: &mut Indexed<Published>) {
    if let Some(hunk) = lines.line_mut(key) {
        let moved = begins + shift - reach(hunk).start;
        let Range { start, end } = hunk.range;
        hunk.range = start.saturating_add_signed(moved)..end.saturating_add_signed(moved);
    }
}

#[cfg(test)]
mod tests {
    use crate::ledger::{Ledger, Published};
    use crate::{DocId, HunkId};
    use proptest::prelude::*;
    use ropewalk_text::{ChangeSet, Text};

    const PIECES: [&str; 7] = ["", "a", "bb", "\n", "é", "one\n", "word word word"];

    /// Where, as a part of the text; how many bytes are taken; which piece is put there.
    type Stroke = (u16, usize, usize);

    fn stroke() -> impl Strategy<Value = Stroke> {
        (any::<u16>(), prop_oneof![Just(0), 0..4_usize, 0..40_usize], 0..PIECES.len())
    }

    fn change((at, taken, put): Stroke, text: &Text) -> ChangeSet {
        let text = text.to_string();
        let stop = |byte: usize| (byte..).find(|byte| text.is_char_boundary(*byte));
        let start = stop(usize::from(at) % (text.len() + 1)).unwrap_or(text.len());
        let end = stop((start + taken).min(text.len())).unwrap_or(text.len());
        ChangeSet::single(text.len(), start..end, *PIECES.get(put).unwrap_or(&""))
    }

    fn made(change: &ChangeSet, text: &Text) -> Text {
        change.apply(text).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Whenever somebody asks, the ledger is as if each change had moved all of it.
        #[test]
        fn typing_moves_the_ledger_as_any_change_does(
            published in prop::collection::vec(stroke(), 0..12),
            strokes in prop::collection::vec((stroke(), prop::bool::weighted(0.2)), 0..40),
            near in any::<bool>(),
        ) {
            let doc = DocId::from_uri("file:///a");
            let about = Published::about("s".into(), doc.clone(), "a".to_owned());
            let (mut typed, mut moved) = (Ledger::default(), Ledger::default());
            let mut text = Text::from("one\ntwo three\n".repeat(8).as_str());
            for (number, stroke) in published.into_iter().enumerate() {
                let change = change(stroke, &text);
                let after = made(&change, &text);
                for ledger in [&mut typed, &mut moved] {
                    ledger.moved(&doc, &change, (Some(&text), &after));
                    ledger.record(&about, &text, &change, &after, &[(HunkId(number as u64), 1)]);
                }
                text = after;
            }
            for ((stroke, asks), place) in strokes.into_iter().zip(0_u16..) {
                let stroke = if near { (300 + place, stroke.1, stroke.2) } else { stroke };
                let change = change(stroke, &text);
                let after = made(&change, &text);
                let texts = (Some(&text), &after);
                prop_assert_eq!(typed.typed(&doc, &change, texts), moved.moved(&doc, &change, texts));
                if asks {
                    typed.settle();
                    prop_assert!(typed.texts.iter().eq(moved.texts.iter()));
                }
                text = after;
            }
            typed.settle();
            prop_assert!(typed.texts.iter().eq(moved.texts.iter()));
        }
    }
}
