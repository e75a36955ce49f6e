//! Echoes in one notification with a text that was sorted, reversed, moved, indented or undone: no edit is taken for
//! skipped that was made, nor for made that was skipped.

#![expect(clippy::string_slice, reason = "tests and their helpers may be blunt")]

use proptest::prelude::*;
use ropewalk_text::{Change, ChangeSet, Coordinates, Text, diff};
use ropewalk_workspace::ledger::{Ledger, Published, UndoSpot};
use ropewalk_workspace::log::Origin;
use ropewalk_workspace::proof::Settled;
use ropewalk_workspace::{ContentChange, DocId, Document, Habits, HunkId, PublishId};
use tokio::sync::oneshot::Receiver;

/// Deed of a user on a whole text.
#[derive(Clone, Debug)]
enum Deed {
    Sort,
    Reverse,
    /// So many lines from one place to another.
    Move(usize, usize, usize),
    Indent,
    /// Something is typed at a place.
    Type(usize, String),
    /// All steps of this notification are taken back, ours too.
    UndoAll,
}

/// How an editor tells a deed.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// The difference, as narrow as it can be.
    Splice,
    /// All new lines at the end, then all old ones deleted: a filter in Neovim.
    Filter,
    /// The whole text, without a range.
    Whole,
}

/// An editor with one document, and what it has not told yet.
struct Desk {
    text: Text,
    held: Vec<ContentChange>,
    past: Vec<Text>,
    coordinates: Coordinates,
}

impl Desk {
    fn tell(&mut self, start: usize, end: usize, new: &str) {
        let place = |at| self.coordinates.byte_to_position(&self.text, at);
        let range = Some((place(start), place(end)));
        self.held.push(ContentChange { range, text: new.to_owned() });
        self.text.replace(start..end, new);
    }

    fn become_text(&mut self, new: &str, shape: Shape) {
        self.past.push(self.text.clone());
        let old = self.text.to_string();
        match shape {
            Shape::Splice => {
                let same = |(a, b): &((usize, char), char)| a.1 == *b;
                let prefix = old.char_indices().zip(new.chars()).take_while(same);
                let prefix: usize = prefix.map(|((_, char), _)| char.len_utf8()).sum();
                let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
                let ends = old_rest.chars().rev().zip(new_rest.chars().rev());
                let suffix: usize =
                    ends.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
                let (end, new_end) = (old.len() - suffix, new.len() - suffix);
                self.tell(prefix, end, &new[prefix..new_end]);
            }
            Shape::Filter => {
                let len = old.len();
                self.tell(len, len, new);
                self.tell(0, len, "");
            }
            Shape::Whole => {
                self.held.push(ContentChange { range: None, text: new.to_owned() });
                self.text = Text::from(new);
            }
        }
        assert_eq!(self.text.to_string(), new);
    }

    fn deed(&mut self, deed: &Deed, shape: Shape) {
        let text = self.text.to_string();
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        match deed {
            Deed::Sort => lines.sort_unstable(),
            Deed::Reverse => lines.reverse(),
            Deed::Move(from, count, to) => {
                let from = from % (lines.len() + 1);
                let count = (*count).min(lines.len() - from);
                let block: Vec<&str> = lines.drain(from..from + count).collect();
                let to = to % (lines.len() + 1);
                lines.splice(to..to, block);
            }
            Deed::Indent => {
                let indented: String = lines.iter().map(|line| format!("\t{line}")).collect();
                return self.become_text(&indented, shape);
            }
            Deed::Type(at, typed) => {
                let at = self.text.floor_boundary(at % (self.text.len() + 1));
                self.past.push(self.text.clone());
                return self.tell(at, at, typed);
            }
            Deed::UndoAll => {
                while let Some(past) = self.past.pop() {
                    self.become_text(&past.to_string(), shape);
                    self.past.pop();
                }
                return;
            }
        }
        self.become_text(&lines.concat(), shape);
    }

    /// Makes the edit at the positions it was sent with for `basis`, each place told apart, from the end backwards.
    fn make(&mut self, edit: &ChangeSet, basis: &Text) {
        self.past.push(self.text.clone());
        let place = |at| {
            let position = self.coordinates.byte_to_position(basis, at);
            self.coordinates.position_to_byte(&self.text, position).byte
        };
        let places: Vec<(usize, usize)> = (edit.changes().iter())
            .map(|change| (place(change.range.start), place(change.range.end)))
            .collect();
        for (change, (start, end)) in edit.changes().iter().zip(places).rev() {
            self.tell(start, end.max(start), &change.text);
        }
    }
}

/// A server's document with an edit under way, and the editor that has it.
struct Bench {
    desk: Desk,
    document: Document,
    habits: Habits,
    edit: ChangeSet,
    settled: Receiver<Settled>,
}

const OURS: PublishId = PublishId(1);

impl Bench {
    fn new(client: &str, text: &str, changes: &[(usize, usize, String)]) -> Self {
        let habits = Habits::of(Some(client));
        let coordinates = Coordinates { line_ends: habits.line_ends, ..Coordinates::default() };
        let text = Text::from(text);
        let changes =
            changes.iter().map(|(start, end, new)| Change::new(*start..*end, new.clone()));
        let edit = ChangeSet::new(text.len(), changes.collect()).unwrap();
        let mut document = Document::new("untitled:a".into(), "text".into(), 1, text.clone());
        let settled = document.expect(OURS, edit.clone()).unwrap();
        let desk = Desk { text, held: Vec::new(), past: Vec::new(), coordinates };
        Self { desk, document, habits, edit, settled }
    }

    fn make(&mut self) {
        let basis = self.document.text().clone();
        self.desk.make(&self.edit.clone(), &basis);
    }

    /// The one notification, and the answer; gives what became of the edit.
    fn told(&mut self, applied: bool) -> (Option<Settled>, Vec<Origin>) {
        let held = std::mem::take(&mut self.desk.held);
        let coordinates = self.desk.coordinates;
        let mut text = self.document.text().clone();
        let changed = self.document.change(2, &held, coordinates, &self.habits);
        assert_eq!(changed.desync_alarms, 0);
        assert_eq!(*self.document.text(), self.desk.text);
        for step in &changed.steps {
            text = step.change.apply(&text).unwrap();
            assert_eq!(text, step.after, "each step leads to the next");
        }
        assert_eq!(text, self.desk.text);
        self.document.answered(OURS, applied, self.habits.trusts_versions());
        let origins = changed.steps.iter().map(|step| step.origin).collect();
        (self.settled.try_recv().ok(), origins)
    }
}

/// Some lines in no order, as many as are asked for.
fn lines(count: usize) -> String {
    (0..count).map(|n| format!("{} line {n}\n", (n * 7 + 3) % count)).collect()
}

fn at_line(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line).map(str::len).sum()
}

#[test]
fn a_line_of_ours_and_then_the_text_reordered() {
    for count in [4, 12, 60] {
        for (deed, shape) in [
            (Deed::Sort, Shape::Splice),
            (Deed::Reverse, Shape::Filter),
            (Deed::Reverse, Shape::Splice),
            (Deed::Sort, Shape::Whole),
            (Deed::Move(1, 2, 7), Shape::Splice),
            (Deed::Indent, Shape::Filter),
        ] {
            let text = lines(count);
            let at = at_line(&text, 2);
            let mut bench = Bench::new("Neovim", &text, &[(at, at, "ours\n".into())]);
            bench.make();
            bench.desk.deed(&deed, shape);
            let (settled, origins) = bench.told(true);
            assert_eq!(settled, Some(Settled::Confirmed), "{count} {deed:?} {shape:?}");
            assert_eq!(origins.first(), Some(&Origin::Publish(OURS)));
        }
    }
}

#[test]
fn the_text_reordered_and_then_a_line_of_ours_as_it_was_sent() {
    for count in [4, 12, 60] {
        for (deed, shape) in [
            (Deed::Sort, Shape::Splice),
            (Deed::Sort, Shape::Whole),
            (Deed::Reverse, Shape::Filter),
            (Deed::Reverse, Shape::Splice),
        ] {
            let text = lines(count);
            let at = at_line(&text, 2);
            let mut bench = Bench::new("who knows", &text, &[(at, at, "ours\n".into())]);
            bench.desk.deed(&deed, shape);
            bench.make();
            bench.desk.deed(&Deed::Type(0, "x".into()), Shape::Splice);
            let (settled, origins) = bench.told(true);
            assert_eq!(settled, Some(Settled::Confirmed), "{count} {deed:?} {shape:?}");
            assert!(origins.contains(&Origin::Publish(OURS)));
        }
    }
}

#[test]
fn an_edit_that_was_skipped_for_a_reordered_text_is_free_again() {
    for (deed, shape) in [(Deed::Sort, Shape::Splice), (Deed::Reverse, Shape::Filter)] {
        let text = lines(60);
        let at = at_line(&text, 2);
        let mut bench = Bench::new("Neovim", &text, &[(at, at, "ours\n".into())]);
        bench.desk.deed(&deed, shape);
        assert_eq!(bench.told(true).0, Some(Settled::Skipped));
    }
}

#[test]
fn a_reordered_text_told_with_our_edit_as_one_change_shows_the_edit() {
    for reorder in [true, false] {
        let text = lines(60);
        let at = at_line(&text, 2);
        let mut bench = Bench::new("Neovim", &text, &[(at, at, "ours\n".into())]);
        if reorder {
            bench.make();
        }
        bench.desk.deed(&Deed::Sort, Shape::Splice);
        let sorted = bench.desk.text.to_string();
        (bench.desk.text, bench.desk.held) = (Text::from(text.as_str()), Vec::new());
        bench.desk.become_text(&sorted, Shape::Splice);
        let expected = if reorder { Settled::Confirmed } else { Settled::Skipped };
        assert_eq!(bench.told(true).0, Some(expected));
    }
}

#[test]
fn what_stood_in_the_edits_place_may_go_and_come_back_before_the_edit_is_made() {
    let mut bench = Bench::new("who knows", "let foo;\n", &[(4, 7, "bar".into())]);
    bench.desk.tell(5, 6, "");
    bench.desk.tell(5, 5, "o");
    bench.make();
    assert_eq!(bench.told(true).0, Some(Settled::Confirmed));
    assert_eq!(bench.document.text().to_string(), "let bar;\n");
}

/// A ledger with one published change, and the text with it.
fn ledger_of(text: &str, change: (usize, usize, &str)) -> (Ledger, DocId, Text) {
    let (before, doc) = (Text::from(text), DocId::from_uri("untitled:a"));
    let set = ChangeSet::single(before.len(), change.0..change.1, change.2);
    let after = set.apply(&before).unwrap();
    let mut ledger = Ledger::default();
    let about = Published::about("s".into(), doc.clone(), "a".to_owned());
    ledger.record(&about, &before, &set, &after, &[(HunkId(1), 1)]);
    (ledger, doc, after)
}

#[test]
fn a_published_line_that_is_moved_with_the_text_is_found_and_was_not_undone() {
    let (mut ledger, doc, before) = ledger_of(&lines(9), (7, 7, "ours\n"));
    let mut sorted: Vec<String> = before.to_string().lines().map(|l| format!("{l}\n")).collect();
    sorted.sort();
    let after = Text::from(sorted.concat().as_str());
    let undone = ledger.moved(&doc, &diff(&before, &after), (Some(&before), &after));
    assert_eq!((undone.len(), ledger.texts.len()), (0, 1));
    let UndoSpot::At(place) = Ledger::find(ledger.texts.iter().next().unwrap(), &after) else {
        panic!("not found")
    };
    assert_eq!(after.slice(place), "ours\n");
}

#[test]
fn a_deleted_line_that_comes_back_in_another_order_was_undone() {
    let text = lines(20);
    let (start, end) = (at_line(&text, 4), at_line(&text, 5));
    let (mut ledger, doc, before) = ledger_of(&text, (start, end, ""));
    let reversed: Vec<String> = text.lines().rev().map(|l| format!("{l}\n")).collect();
    let after = Text::from(reversed.concat().as_str());
    let undone = ledger.moved(&doc, &diff(&before, &after), (Some(&before), &after));
    assert_eq!((undone.len(), ledger.texts.len()), (1, 0));
}

#[test]
fn the_place_of_a_deletion_is_not_known_in_a_text_that_was_reordered() {
    let text = lines(20);
    let (start, end) = (at_line(&text, 4) + 3, at_line(&text, 4) + 6);
    for (order, is_known) in [(true, false), (false, true)] {
        let (mut ledger, doc, before) = ledger_of(&text, (start, end, ""));
        let now = before.to_string();
        let reversed = || now.lines().rev().map(|line| format!("{line}\n")).collect::<String>();
        let indented = || now.lines().map(|line| format!("\t{line}\n")).collect::<String>();
        let after = Text::from(if order { reversed() } else { indented() }.as_str());
        ledger.moved(&doc, &diff(&before, &after), (Some(&before), &after));
        let found = ledger.texts.iter().any(|hunk| hunk.anchored);
        assert_eq!(found, is_known);
    }
}

/// A text of short lines, some of them equal.
fn a_text() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-e ]{0,3}(é|[x-z]{1,12})?", 1..50)
        .prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

fn deeds() -> impl Strategy<Value = Vec<(Deed, Shape)>> {
    let deed = prop_oneof![
        3 => Just(Deed::Sort),
        3 => Just(Deed::Reverse),
        2 => (0..60usize, 1..9usize, 0..60usize).prop_map(|(a, b, c)| Deed::Move(a, b, c)),
        2 => Just(Deed::Indent),
        2 => (0..900usize, "[a-z\n]{1,5}").prop_map(|(at, typed)| Deed::Type(at, typed)),
        1 => Just(Deed::UndoAll),
    ];
    let shape = prop_oneof![Just(Shape::Splice), Just(Shape::Filter), Just(Shape::Whole)];
    prop::collection::vec((deed, shape), 0..4)
}

/// One to three places, each with a token that nobody else has.
fn places() -> impl Strategy<Value = Vec<(usize, usize, bool)>> {
    prop::collection::vec((0..900usize, 0..4usize, any::<bool>()), 1..4)
}

fn changes_of(text: &str, places: &[(usize, usize, bool)]) -> Vec<(usize, usize, String)> {
    let whole = Text::from(text);
    let mut out: Vec<(usize, usize, String)> = Vec::new();
    for (number, (at, len, is_line)) in places.iter().enumerate() {
        let start = whole.floor_boundary(at % (text.len() + 1));
        let end = whole.floor_boundary((start + len).min(text.len())).max(start);
        let (start, end, new) = match is_line {
            true => {
                let line = whole.line_feed_start(whole.line_feeds_before(start));
                (line, line, format!("Ω{number}\n"))
            }
            false => (start, end, format!("Ω{number}")),
        };
        if out.iter().all(|(s, e, _)| end < *s || *e < start) {
            out.push((start, end, new));
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn made_for_its_version_an_edit_is_confirmed_whatever_follows(
        client in prop::sample::select(vec!["Neovim", "Visual Studio Code", "Emacs", "helix", "who knows"]),
        text in a_text(),
        places in places(),
        after in deeds(),
    ) {
        let mut bench = Bench::new(client, &text, &changes_of(&text, &places));
        bench.make();
        after.iter().for_each(|(deed, shape)| bench.desk.deed(deed, *shape));
        prop_assert_eq!(bench.told(true).0, Some(Settled::Confirmed));
    }

    #[test]
    fn skipped_by_a_client_that_checks_versions_an_edit_is_never_taken_for_made(
        client in prop::sample::select(vec!["Neovim", "Visual Studio Code", "Emacs", "helix"]),
        text in a_text(),
        places in places(),
        users in deeds(),
    ) {
        let mut bench = Bench::new(client, &text, &changes_of(&text, &places));
        users.iter().for_each(|(deed, shape)| bench.desk.deed(deed, *shape));
        let (settled, _) = bench.told(bench.habits.trusts_versions());
        prop_assert_ne!(settled, Some(Settled::Confirmed));
    }

    #[test]
    fn made_somewhere_by_a_client_that_checks_nothing_an_edit_is_never_free_to_be_sent_again(
        text in a_text(),
        places in places(),
        before in deeds(),
        after in deeds(),
    ) {
        let mut bench = Bench::new("who knows", &text, &changes_of(&text, &places));
        before.iter().for_each(|(deed, shape)| bench.desk.deed(deed, *shape));
        bench.make();
        after.iter().for_each(|(deed, shape)| bench.desk.deed(deed, *shape));
        let (settled, _) = bench.told(true);
        prop_assert_ne!(settled, Some(Settled::Skipped));
        let inserts = bench.edit.only_inserts();
        prop_assert!(!inserts || settled == Some(Settled::Confirmed), "{:?}", settled);
    }
}
