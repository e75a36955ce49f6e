//! Pending changes at a blank line stay there or are set aside: another blank line reads the same,
//! but is none of its own.

use ropewalk_text::{ChangeSet, Coordinates, Text};
use ropewalk_workspace::entry::{Base, Entry, HunkIdSource, Maker, Mark};
use ropewalk_workspace::{ContentChange, Document, Habits, PublishId};

fn entry(text: &str) -> Entry {
    let text = Text::from(text);
    Entry::new(Base::Disk { hash: text.hash(), text, format: Default::default() })
}

fn mark(ids: &mut HunkIdSource) -> Mark {
    Mark { id: ids.give(), turn: 1, makers: vec![Maker::Call("call".into())], sent: None }
}

/// All lines indented and reversed, and told as a whole.
const BEFORE: &str = "alpha\n\nbeta\ntwo\n  \ngamma\n";
const AFTER: &str = "  gamma\n    \n  two\n  beta\n  \n  alpha\n";

#[test]
fn a_blank_line_is_not_another_one_of_a_text_that_was_reversed() {
    let (mut entry, mut ids) = (entry(BEFORE), HunkIdSource::default());
    let unindents = ChangeSet::single(BEFORE.len(), 16..18, "");
    entry.add(&unindents, &mark(&mut ids), &mut ids);
    let text = Text::from(BEFORE);
    let mut document = Document::new("untitled:a".into(), "text".into(), 1, text);
    let whole = [ContentChange { range: None, text: AFTER.to_owned() }];
    let habits = Habits::of(Some("Emacs"));
    let changed = document.change(2, &whole, Coordinates::default(), &habits);
    let mut aside = 0;
    for step in changed.steps {
        aside += entry.rebase(&step.change, step.after).len();
    }
    assert_eq!((aside, entry.is_empty()), (1, true), "{:?}", entry.set());
}

#[test]
fn an_edit_under_way_at_a_blank_line_is_not_carried_to_another_one() {
    let mut document = Document::new("untitled:a".into(), "text".into(), 1, Text::from(BEFORE));
    let habits = Habits::of(Some("who knows"));
    let mut settled =
        document.expect(PublishId(1), ChangeSet::single(BEFORE.len(), 16..18, "")).unwrap();
    let whole = [ContentChange { range: None, text: AFTER.to_owned() }];
    document.change(2, &whole, Coordinates::default(), &habits);
    assert_eq!(settled.try_recv().ok(), Some(ropewalk_workspace::proof::Settled::Conflict));
}

#[test]
fn a_call_at_a_line_end_is_not_made_at_that_of_another_line() {
    // Changes pending when it looked are gone, and with them the steps from then to now.
    let (seen, now) = ("one more\n\ntwo less\n", "one\ntwo\nlast\n\n");
    let (mut entry, mut ids) = (entry(now), HunkIdSource::default());
    let joins = ChangeSet::single(seen.len(), 8..9, "!");
    let merged = entry.merge(&joins, &Text::from(seen), None, &mark(&mut ids), &mut ids);
    assert_eq!((merged.conflicts, entry.is_empty()), (1, true), "{:?}", entry.set());
}
