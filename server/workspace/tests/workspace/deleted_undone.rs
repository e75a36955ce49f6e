//! A published deletion that the user takes back in the editor is undone, however the editor tells of it: a later undo
//! must not bring the text twice.

use ropewalk_text::{ChangeSet, Text};
use ropewalk_workspace::ledger::{Ledger, Published, UndoSpot};
use ropewalk_workspace::{DocId, HunkId};

/// True if the deletion of `deleted` from `before` is still in the ledger after the user has
/// replaced `replaced` of the rest by `typed`.
fn is_left(
    before: &str,
    deleted: std::ops::Range<usize>,
    replaced: std::ops::Range<usize>,
    typed: &str,
) -> bool {
    !kept(before, deleted, replaced, typed).0.texts.is_empty()
}

/// The ledger then, and the text.
fn kept(
    before: &str,
    deleted: std::ops::Range<usize>,
    replaced: std::ops::Range<usize>,
    typed: &str,
) -> (Ledger, Text) {
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
    (ledger, now)
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

#[test]
fn the_same_word_in_other_text_is_no_undo() {
    let text = "fn a() {\n    unsafe { b() }\n}\n\nfn last() {\n    todo!()\n}\n";
    let typed = "let it = b();\n    // It is not unsafe here, because of what the caller has found out before.\n    it";
    assert!(typed.len() > 80, "so much that it is looked for everywhere");
    let todo = text.find("todo!()").unwrap() - "unsafe ".len();
    assert!(is_left(text, 13..20, todo..todo + 7, typed));
    // The line itself, in another place than it had.
    let typed = format!("{}\n  unsafe {{ b() }}", "one more line\n".repeat(6));
    assert!(!is_left(text, 13..20, todo..todo + 7, &typed));
}

#[test]
fn a_line_that_is_written_anew_beside_a_deletion_does_not_hide_its_place() {
    let text = "one\ntwo\nthree\nfour\nfive\n";
    let place = |replaced, typed: &str| {
        let (ledger, now) = kept(text, 8..14, replaced, typed);
        Ledger::find(ledger.texts.iter().next().unwrap(), &now)
    };
    let long = "what the user has pasted in the place of this line; ".repeat(2);
    let at = 4 + long.len() + 1;
    assert_eq!(place(4..7, &long), UndoSpot::At(at..at));
    assert_eq!(place(8..12, &long), UndoSpot::At(8..8));
    // It stood in the middle of what was written anew, with only a part of what was deleted.
    assert_eq!(place(4..12, &format!("{long}\nthr")), UndoSpot::Conflict);
    // The lines beside it have gone elsewhere, and others are there.
    assert_eq!(place(0..18, &format!("{long}\nfive\nfour\ntwo\none\n")), UndoSpot::Conflict);
}
