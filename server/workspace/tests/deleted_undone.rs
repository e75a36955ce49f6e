//! A published deletion that the user takes back in the editor is undone: a later undo must not bring the text twice.

use ropewalk_text::{ChangeSet, Text};
use ropewalk_workspace::ledger::{Ledger, Published};
use ropewalk_workspace::{DocId, HunkId};

/// The hunks that are left after the user has put `typed` where "cd" was deleted.
fn left(typed: &str) -> usize {
    let doc = DocId::from_uri("untitled:a");
    let about = Published::about("one".into(), doc.clone(), "a".to_owned());
    let (before, after) = (Text::from("abcdef"), Text::from("abef"));
    let mut ledger = Ledger::default();
    let set = ChangeSet::single(6, 2..4, "");
    ledger.record(&about, &before, &set, &after, &[(HunkId(1), 1)]);
    let change = ChangeSet::single(4, 2..2, typed);
    let now = Text::from(format!("ab{typed}ef").as_str());
    ledger.moved(&doc, &change, &now);
    ledger.texts.len()
}

#[test]
fn what_the_user_puts_back_is_undone() {
    assert_eq!(left("cd"), 0);
    assert_eq!(left("c"), 1);
    assert_eq!(left("x"), 1);
}
