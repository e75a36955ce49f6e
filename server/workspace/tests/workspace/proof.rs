//! Echoes of our edits as a document reads them, however they are cut, merged or late.

use ropewalk_text::{Change, ChangeSet, Coordinates, Position, Text};
use ropewalk_workspace::log::Origin;
use ropewalk_workspace::proof::Settled;
use ropewalk_workspace::{ContentChange, Document, Habits, PublishId};
use tokio::sync::oneshot::Receiver;

struct Bench {
    document: Document,
    habits: Habits,
    edit: Receiver<Settled>,
}

fn bench(client: &str, text: &str, edit: &[(usize, usize, &str)]) -> Bench {
    let mut document = Document::new("untitled:a".into(), "text".into(), 1, Text::from(text));
    let changes = edit.iter().map(|(start, end, new)| Change::new(*start..*end, *new)).collect();
    let edit = document.expect(PublishId(1), ChangeSet::new(text.len(), changes).unwrap()).unwrap();
    Bench { document, habits: Habits::of(Some(client)), edit }
}

impl Bench {
    /// One notification of changes on one line; gives who made each step.
    fn notify(&mut self, changes: &[(u32, u32, &str)]) -> Vec<Origin> {
        let changes: Vec<ContentChange> = changes
            .iter()
            .map(|(start, end, text)| ContentChange {
                range: Some((Position::new(0, *start), Position::new(0, *end))),
                text: (*text).to_owned(),
            })
            .collect();
        let version = self.document.version + 1;
        let changed = self.document.change(version, &changes, Coordinates::default(), &self.habits);
        assert_eq!(changed.desync_alarms, 0);
        changed.steps.iter().map(|step| step.origin).collect()
    }

    fn settled(&mut self) -> Option<Settled> {
        self.edit.try_recv().ok()
    }
}

const OURS: Origin = Origin::Publish(PublishId(1));

#[test]
fn the_users_letter_our_edit_and_its_undo_in_one_notification() {
    let mut bench = bench("Neovim", "let foo;", &[(4, 7, "bar")]);
    let steps = bench.notify(&[(0, 0, "x"), (5, 8, "bar"), (5, 8, "foo")]);
    assert_eq!(steps, [Origin::User, OURS, Origin::User]);
    assert_eq!(bench.settled(), Some(Settled::Confirmed));
    assert_eq!(bench.document.text().to_string(), "xlet foo;");
}

#[test]
fn an_edit_of_several_places_comes_as_several_changes() {
    let mut bench = bench("Visual Studio Code", "a b c", &[(0, 1, "A"), (2, 2, "+"), (4, 5, "")]);
    let steps = bench.notify(&[(5, 5, "!"), (4, 5, ""), (2, 2, "+"), (0, 1, "A"), (0, 0, "?")]);
    assert_eq!(steps, [Origin::User, OURS, Origin::User]);
    assert_eq!(bench.settled(), Some(Settled::Confirmed));
    assert_eq!(bench.document.text().to_string(), "?A +b !");
}

#[test]
fn a_late_echo_merged_with_typing_is_one_edit() {
    let mut bench = bench("Neovim", "one two three four", &[(4, 7, "TWO")]);
    bench.document.answered(PublishId(1), true, true);
    assert_eq!(bench.settled(), None, "an answer proves nothing");
    assert_eq!(bench.notify(&[(2, 7, "EE TWO")]), [OURS, Origin::User]);
    assert_eq!(bench.settled(), Some(Settled::Confirmed));
    assert_eq!(bench.document.text().to_string(), "onEE TWO three four");
}

#[test]
fn the_answer_may_come_before_or_after_the_notification() {
    // Neovim says `applied: true` for what it skipped.
    let mut bench1 = bench("Neovim", "let foo;", &[(4, 7, "bar")]);
    bench1.notify(&[(0, 0, "x")]);
    assert_eq!(bench1.settled(), None);
    bench1.document.answered(PublishId(1), true, true);
    assert_eq!(bench1.settled(), Some(Settled::Skipped));
    let mut bench2 = bench("Neovim", "let foo;", &[(4, 7, "bar")]);
    bench2.document.answered(PublishId(1), true, true);
    assert_eq!(bench2.settled(), None);
    bench2.notify(&[(0, 0, "x")]);
    assert_eq!(bench2.settled(), Some(Settled::Skipped));
}

#[test]
fn typing_inside_makes_a_checked_edit_skipped_and_an_unchecked_one_lost() {
    let edit = [(0, 1, "A"), (4, 7, "bar")];
    let mut checked = bench("Visual Studio Code", "let foo;", &edit);
    checked.notify(&[(5, 5, "x")]);
    // It was for the first version: a client that opens the file again may make it still, until it answers.
    assert_eq!(checked.settled(), None);
    checked.document.answered(PublishId(1), false, true);
    assert_eq!(checked.settled(), Some(Settled::Skipped));
    assert!(!checked.document.is_lost(PublishId(1)));
    let mut closed = bench("Visual Studio Code", "let foo;", &edit);
    closed.notify(&[(5, 5, "x")]);
    assert_eq!(closed.document.close(true), [PublishId(1)]);
    assert_eq!(closed.settled(), Some(Settled::Closed));
    let mut unchecked = bench("who knows", "let foo;", &edit);
    unchecked.notify(&[(5, 5, "x")]);
    assert_eq!(unchecked.settled(), Some(Settled::Conflict));
    assert!(unchecked.document.is_lost(PublishId(1)));
}

#[test]
fn an_equal_letter_typed_and_deleted_beside_a_deletion_is_not_the_deletion() {
    // Each comes in a notification of its own: an edit for the version before is not made any more.
    for (typed, left) in [((4, 4, "o"), (4, 5, "")), ((5, 5, "o"), (5, 6, ""))] {
        let mut emacs = bench("Emacs", "let oX;", &[(4, 5, "")]);
        assert_eq!(emacs.notify(&[typed]), [Origin::User]);
        assert_eq!(emacs.notify(&[left]), [Origin::User]);
        assert_eq!(emacs.settled(), None);
        emacs.document.answered(PublishId(1), false, false);
        assert_eq!(emacs.settled(), Some(Settled::Skipped));
        assert_eq!(emacs.document.text().to_string(), "let oX;");
    }
}

#[test]
fn an_edit_given_up_is_confirmed_when_it_shows_after_all() {
    let mut bench = bench("who knows", "let foo;", &[(4, 7, "bar")]);
    bench.document.give_up_waiting(PublishId(1));
    assert_eq!(bench.settled(), Some(Settled::Unconfirmed));
    assert!(bench.document.is_expected(PublishId(1)));
    assert_eq!(bench.notify(&[(0, 0, "x")]), [Origin::User]);
    assert_eq!(bench.notify(&[(5, 8, "bar")]), [OURS]);
    assert!(!bench.document.is_expected(PublishId(1)));
}

#[test]
fn what_was_given_up_is_lost_when_the_document_closes() {
    let mut given_up = bench("Neovim", "let foo;", &[(4, 7, "bar")]);
    given_up.document.give_up_waiting(PublishId(1));
    assert_eq!(given_up.document.close(true), [PublishId(1)]);
    let mut under_way = bench("Neovim", "let foo;", &[(4, 7, "bar")]);
    // It was for the first version; one for a later version is not made any more, see `first_version`.
    assert_eq!(under_way.document.close(true), [PublishId(1)]);
    assert_eq!(under_way.settled(), Some(Settled::Closed));
    assert_eq!(bench("x", "ab", &[(0, 1, "c")]).document.close(false), [PublishId(1)]);
}

#[test]
fn typing_at_the_border_of_a_deletion_or_an_insertion_is_not_the_edit() {
    for at in [4, 7] {
        let mut bench = bench("who knows", "let foo;", &[(4, 7, "")]);
        assert_eq!(bench.notify(&[(at, at, "x")]), [Origin::User]);
        let from = if at == 4 { 5 } else { 4 };
        assert_eq!(bench.notify(&[(from, from + 3, "")]), [OURS]);
        assert_eq!(bench.document.text().to_string(), "let x;");
    }
    let mut bench = bench("who knows", "let foo;", &[(4, 4, "mut ")]);
    assert_eq!(bench.notify(&[(4, 4, "m")]), [Origin::User]);
    assert_eq!(bench.notify(&[(5, 5, "mut ")]), [OURS]);
    assert_eq!(bench.document.text().to_string(), "let mmut foo;");
}
