//! A published deletion that the user takes back in the editor is undone, however the editor tells of it: a later undo
//! must not bring the text twice.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

use ropewalk_text::{ChangeSet, Text};
use ropewalk_workspace::ledger::{Ledger, Published};
use ropewalk_workspace::{DocId, HunkId};

/// Whether the deletion of `deleted` from `before` is still in the ledger after the user has replaced `replaced` of the
/// rest by `typed`.
fn is_left(
    before: &str,
    deleted: std::ops::Range<usize>,
    replaced: std::ops::Range<usize>,
    typed: &str,
) -> bool {
    let doc = DocId::from_uri("untitled:a");
    let about = Published::about("one".into(), doc.clone(), "a".to_owned());
    let before = Text::from(before);
    let mut ledger = Ledger::default();
    let set = ChangeSet::single(before.len(), deleted, "");
    let after = set.apply(&before).unwrap();
    ledger.record(&about, &before, &set, &after, &[(HunkId(1), 1)]);
    let change = ChangeSet::single(after.len(), replaced, typed);
    let now = change.apply(&after).unwrap();
    let known = (!change.only_inserts()).then_some(&after);
    ledger.moved(&doc, &change, (known, &now));
    !ledger.texts.is_empty()
}

#[test]
fn what_the_user_puts_back_is_undone() {
    assert!(!is_left("abcdef", 2..4, 2..2, "cd"));
    assert!(is_left("abcdef", 2..4, 2..2, "c"));
    assert!(is_left("abcdef", 2..4, 2..2, "x"));
    assert!(is_left("abcdef", 2..4, 2..2, "xy"));
}

#[test]
fn what_is_put_back_together_with_other_text_is_undone() {
    // One undo of an edit of two places, told as the one difference between the texts: it ends where the text
    // was deleted, or begins there.
    assert!(!is_left("new\none two three\n", 11..17, 0..11, "one two three"));
    assert!(!is_left("one two three\nnew\n", 3..7, 3..14, " two three\n"));
    assert!(!is_left("new\none two three\nlast\n", 7..11, 0..18, "one two three\n"));
    assert!(is_left("new\none two three\n", 11..17, 0..11, "one twothree"));
}

#[test]
fn what_is_put_back_is_undone_where_the_text_beside_it_reads_the_same() {
    // "a| b c": the difference is found after the space.
    assert!(!is_left("a b c", 1..3, 2..2, "b "));
    assert!(!is_left("one\ntwo\nthree\n", 3..7, 4..4, "two\n"));
    assert!(!is_left("one\ntwo\nthree\n", 4..8, 3..3, "\ntwo"));
}
