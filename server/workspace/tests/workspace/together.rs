//! Changes between which text moves are made together or not at all: else the user's text would be doubled or gone.

use ropewalk_text::{Change, ChangeSet, Text, diff};
use ropewalk_workspace::entry::{Base, Entry, HunkIdSource, Maker, Mark};
use ropewalk_workspace::{HunkId, PublishId};

/// A line is put before two others, and the lines are told of one by one: the first is replaced, and stands where
/// the second stood.
const BEFORE: &str = "start\nalpha beta\ngamma\nend\n";
const AFTER: &str = "start\nfresh\nalpha beta gamma\nend\n";

fn mark() -> Mark {
    Mark { id: HunkId(1), turn: 1, makers: vec![Maker::Call("call".into())], sent: None }
}

fn moved() -> ChangeSet {
    let set = diff(&Text::from(BEFORE), &Text::from(AFTER));
    assert_eq!(set.changes().len(), 2, "the difference is told line by line: {set:?}");
    set
}

fn entry(ids: &mut HunkIdSource) -> Entry {
    let text = Text::from(BEFORE);
    let base = Base::Disk { hash: text.hash(), text, format: Default::default() };
    let mut entry = Entry::new(base);
    entry.add(&moved(), &mark(), ids);
    assert_eq!(entry.text().to_string(), AFTER);
    entry
}

/// The user types into the line that is replaced.
fn typed() -> (ChangeSet, Text) {
    let set = ChangeSet::single(BEFORE.len(), 8..8, "U");
    let now = set.apply(&Text::from(BEFORE)).unwrap();
    (set, now)
}

#[test]
fn a_conflict_sets_aside_what_moves_with_it() {
    let mut entry = entry(&mut HunkIdSource::default());
    let (theirs, now) = typed();
    let aside = entry.rebase(&theirs, now.clone());
    assert_eq!(aside.len(), 2);
    assert_eq!(*entry.text(), now);
}

#[test]
fn a_merge_leaves_out_what_moves_with_a_conflict() {
    let mut ids = HunkIdSource::default();
    let (_, now) = typed();
    let base = Base::Disk { hash: now.hash(), text: now.clone(), format: Default::default() };
    let mut entry = Entry::new(base);
    let merged = entry.merge(&moved(), &Text::from(BEFORE), None, &mark(), &mut ids);
    assert_eq!(merged.conflicts, 2);
    assert_eq!(*entry.text(), now);
}

#[test]
fn what_is_altered_holds_back_what_moves_with_it() {
    let mut ids = HunkIdSource::default();
    let mut entry = entry(&mut ids);
    let all: Vec<HunkId> = entry.marks().iter().map(|mark| mark.id).collect();
    let seen = entry.contents(&all);
    let at = AFTER.find("gamma").unwrap();
    let more = ChangeSet::new(AFTER.len(), vec![Change::new(at..at, "more ")]).unwrap();
    entry.add(&more, &mark(), &mut ids);
    assert_eq!(entry.unaltered(&all, &seen), []);
}

#[test]
fn what_is_left_of_one_that_was_altered_on_its_way_is_accepted_place_by_place() {
    let mut ids = HunkIdSource::default();
    let text = Text::from("one\ntwo\nthree\n");
    let base = Base::Disk { hash: text.hash(), text: text.clone(), format: Default::default() };
    let mut entry = Entry::new(base);
    let sent = ChangeSet::single(text.len(), 4..7, "first\nkept\nlast");
    let which = entry.add(&sent, &Mark { id: ids.give(), ..mark() }, &mut ids);
    entry.mark_sent(&which, Some(PublishId(1)));
    let altered = vec![Change::new(4..9, "1st"), Change::new(15..19, "final")];
    let altered = ChangeSet::new(entry.text().len(), altered).unwrap();
    entry.add(&altered, &mark(), &mut ids);
    entry.published(PublishId(1), &sent, sent.apply(&text).unwrap());
    entry.tell_apart(&mut ids);
    assert_eq!(entry.text().to_string(), "one\n1st\nkept\nfinal\nthree\n");
    let marks: Vec<HunkId> = entry.marks().iter().map(|mark| mark.id).collect();
    let alone = |id: &HunkId| entry.part(&[*id]).unwrap().changes().len();
    assert_eq!(marks.iter().map(alone).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(marks.first(), which.first());
}
