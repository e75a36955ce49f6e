//! Composition: `A → B` and `B → C` make `A → C`.
//!
//! The two change sets are walked side by side as streams of kept, deleted and inserted text, the usual way
//! of operational transformation (Ellis and Gibbs, 1989).

use crate::{Change, ChangeSet, LengthMismatch};

/// A step through the old and new text of a change set.
enum TextOp<'a> {
    Keep(usize),
    Delete(usize),
    Insert(&'a str),
}

impl ChangeSet {
    /// `A → C` from `self: A → B` and `next: B → C`. Changes that touch are joined. O(changes of both, and
    /// the length of their texts).
    pub fn compose(&self, next: &ChangeSet) -> Result<ChangeSet, LengthMismatch> {
        if self.after_len() != next.before_len() {
            return Err(LengthMismatch { expected: next.before_len(), found: self.after_len() });
        }
        let (mut firsts, mut seconds) = (ops(self), ops(next));
        let (mut first, mut second) = (firsts.next(), seconds.next());
        let mut out = ChangeSetBuilder::default();
        loop {
            (first, second) = match (first, second) {
                (None, None) => break,
                (Some(TextOp::Delete(n)), s) => {
                    out.delete(n);
                    (firsts.next(), s)
                }
                (f, Some(TextOp::Insert(text))) => {
                    out.insert(text);
                    (f, seconds.next())
                }
                (Some(TextOp::Keep(n)), Some(TextOp::Keep(m))) => {
                    out.keep(n.min(m));
                    rest(&mut firsts, &mut seconds, TextOp::Keep(n), TextOp::Keep(m), n, m)
                }
                (Some(TextOp::Keep(n)), Some(TextOp::Delete(m))) => {
                    out.delete(n.min(m));
                    rest(&mut firsts, &mut seconds, TextOp::Keep(n), TextOp::Delete(m), n, m)
                }
                (Some(TextOp::Insert(text)), Some(TextOp::Keep(m))) => {
                    out.insert(text.get(..m).unwrap_or(text));
                    let n = text.len();
                    rest(&mut firsts, &mut seconds, TextOp::Insert(text), TextOp::Keep(m), n, m)
                }
                (Some(TextOp::Insert(text)), Some(TextOp::Delete(m))) => {
                    let n = text.len();
                    rest(&mut firsts, &mut seconds, TextOp::Insert(text), TextOp::Delete(m), n, m)
                }
                // The lengths agree, so neither stream ends while the other still has old text to walk.
                (Some(_), None) | (None, Some(_)) => break,
            };
        }
        Ok(out.finish(self.before_len()))
    }

    /// All of `sets` one after the other, pairwise, so that n keystrokes cost O(n log n). None if `sets` is
    /// empty.
    pub fn compose_all(sets: &[ChangeSet]) -> Option<Result<ChangeSet, LengthMismatch>> {
        match sets {
            [] => None,
            [one] => Some(Ok(one.clone())),
            _ => {
                let (left, right) = sets.split_at(sets.len() / 2);
                let left = match Self::compose_all(left)? {
                    Ok(set) => set,
                    error => return Some(error),
                };
                let right = match Self::compose_all(right)? {
                    Ok(set) => set,
                    error => return Some(error),
                };
                Some(left.compose(&right))
            }
        }
    }
}

/// Rests of both steps after `min(n, m)` bytes of each were walked.
fn rest<'a>(
    firsts: &mut impl Iterator<Item = TextOp<'a>>,
    seconds: &mut impl Iterator<Item = TextOp<'a>>,
    first: TextOp<'a>,
    second: TextOp<'a>,
    n: usize,
    m: usize,
) -> (Option<TextOp<'a>>, Option<TextOp<'a>>) {
    let walked = n.min(m);
    let first = if n == walked { firsts.next() } else { Some(skip(first, walked)) };
    let second = if m == walked { seconds.next() } else { Some(skip(second, walked)) };
    (first, second)
}

fn skip(op: TextOp<'_>, n: usize) -> TextOp<'_> {
    match op {
        TextOp::Keep(len) => TextOp::Keep(len - n),
        TextOp::Delete(len) => TextOp::Delete(len - n),
        TextOp::Insert(text) => TextOp::Insert(text.get(n..).unwrap_or_default()),
    }
}

fn ops(set: &ChangeSet) -> impl Iterator<Item = TextOp<'_>> {
    let mut at = 0;
    let tail = set.before_len() - set.changes().last().map_or(0, |last| last.range.end);
    set.changes()
        .iter()
        .flat_map(move |change| {
            let keep = change.range.start - at;
            at = change.range.end;
            [
                TextOp::Keep(keep),
                TextOp::Delete(change.range.len()),
                TextOp::Insert(change.text.as_str()),
            ]
        })
        .chain([TextOp::Keep(tail)])
        .filter(|op| match op {
            TextOp::Keep(n) | TextOp::Delete(n) => *n > 0,
            TextOp::Insert(text) => !text.is_empty(),
        })
}

/// Collects steps into changes, joining what touches.
#[derive(Default)]
struct ChangeSetBuilder {
    changes: Vec<Change>,
    at: usize,
    open: bool,
}

impl ChangeSetBuilder {
    fn keep(&mut self, n: usize) {
        self.at += n;
        self.open = false;
    }

    fn delete(&mut self, n: usize) {
        self.at += n;
        let at = self.at;
        if let Some(change) = self.current(at - n) {
            change.range.end = at;
        }
    }

    fn insert(&mut self, text: &str) {
        let at = self.at;
        if let Some(change) = self.current(at) {
            change.text.push_str(text);
        }
    }

    fn current(&mut self, at: usize) -> Option<&mut Change> {
        if !self.open {
            self.open = true;
            self.changes.push(Change::new(at..at, ""));
        }
        self.changes.last_mut()
    }

    fn finish(self, before_len: usize) -> ChangeSet {
        ChangeSet::from_sorted(before_len, self.changes)
    }
}
