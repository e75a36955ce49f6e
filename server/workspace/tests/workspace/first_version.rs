//! An edit for a document's first version may be made after the document is closed: some clients open the file for
//! it, and count from the same number again.

use ropewalk_text::{ChangeSet, Coordinates, Position, Text};
use ropewalk_workspace::{ContentChange, Document, Habits, PublishId};

fn document() -> Document {
    Document::new("untitled:a".to_owned(), "text".to_owned(), 0, Text::from("ab"))
}

#[test]
fn an_edit_for_the_first_version_is_never_sent_again_after_a_close() {
    let mut document = document();
    document.expect(PublishId(1), ChangeSet::single(2, 1..1, "x")).unwrap();
    assert_eq!(document.close(true), [PublishId(1)]);
}

#[test]
fn one_for_a_later_version_is_not_made_once_the_document_is_closed() {
    let mut document = document();
    let at = Some((Position::default(), Position::default()));
    let typed = [ContentChange { range: at, text: "u".to_owned() }];
    document.change(1, &typed, Coordinates::default(), &Habits::of(Some("Emacs")));
    document.expect(PublishId(2), ChangeSet::single(3, 1..1, "x")).unwrap();
    assert_eq!(document.close(true), []);
}
