//! An edit whose places are told in notifications of their own, with the user's typing between them: each place counts as
//! made when it is told, none is sent twice, and what was typed stays where it was typed.

use proptest::prelude::*;
use ropewalk_text::{Change, ChangeSet, Coordinates, PositionEncoding, Text};
use ropewalk_workspace::entry::{Base, Entry, HunkIdSource, Maker, Mark};
use ropewalk_workspace::log::Origin;
use ropewalk_workspace::proof::Settled;
use ropewalk_workspace::{ContentChange, Document, Habits, HunkId, PublishId};
use tokio::sync::oneshot::Receiver;

const OURS: PublishId = PublishId(1);

/// An editor that is making an edit place by place, the server's document, and what is pending.
struct Desk {
    text: Text,
    document: Document,
    habits: Habits,
    coordinates: Coordinates,
    settled: Receiver<Settled>,
    entry: Entry,
    /// Where the places that are not made yet stand in the text, with their text.
    left: Vec<Change>,
    /// Hunks that were recorded as made.
    made: Vec<HunkId>,
    aside: usize,
}

impl Desk {
    fn new(client: &str, encoding: PositionEncoding, text: &str, places: Vec<Change>) -> Self {
        let text = Text::from(text);
        let edit = ChangeSet::new(text.len(), places.clone()).unwrap();
        let base = Base::Disk { hash: text.hash(), text: text.clone(), format: Default::default() };
        let (mut entry, mut ids) = (Entry::new(base), HunkIdSource::default());
        let makers = vec![Maker::Call("call".into())];
        for place in places.iter().cloned() {
            let mark = Mark { id: ids.give(), turn: 1, makers: makers.clone(), sent: Some(OURS) };
            assert!(entry.insert(place, mark));
        }
        let habits = Habits::of(Some(client));
        let coordinates = Coordinates { encoding, line_ends: habits.line_ends };
        let mut document = Document::new("untitled:a".into(), "text".into(), 1, text.clone());
        // Past the first version: for an edit of that the client may open the file again.
        document.change(2, &[], coordinates, &habits);
        let settled = document.expect(OURS, edit).unwrap();
        let (made, aside, left) = (Vec::new(), 0, places);
        Self { text, document, habits, coordinates, settled, entry, left, made, aside }
    }

    fn change(&self, start: usize, end: usize, new: &str) -> ContentChange {
        let place = |at| self.coordinates.byte_to_position(&self.text, at);
        ContentChange { range: Some((place(start), place(end))), text: new.into() }
    }

    /// One notification of one change.
    fn tell(&mut self, start: usize, end: usize, new: &str) {
        let change = self.change(start, end, new);
        let set = ChangeSet::single(self.text.len(), start..end, new);
        for place in &mut self.left {
            place.range = set.map_range(place.range.clone());
        }
        self.text.replace(start..end, new);
        let version = self.document.version + 1;
        let changed = self.document.change(version, &[change], self.coordinates, &self.habits);
        assert_eq!(*self.document.text(), self.text);
        for step in &changed.steps {
            match step.origin {
                Origin::Publish(id) => {
                    let made = self.entry.sent_by(id, &step.change);
                    assert_eq!(made.len(), step.change.changes().len());
                    self.made.extend(made.into_iter().map(|(hunk, _)| hunk));
                    self.entry.published(id, &step.change, step.after.clone());
                }
                Origin::User => {
                    self.aside += self.entry.rebase(&step.change, step.after.clone()).len();
                }
            }
        }
        assert_eq!(self.entry.base.text(), self.text);
        let lost = self.entry.set_aside_lost(|id| self.document.is_lost(id)).len();
        self.aside += lost;
    }

    /// The editor makes one place of those that are left.
    fn make(&mut self, which: usize) {
        let place = self.left.remove(which % self.left.len());
        self.tell(place.range.start, place.range.end, &place.text);
    }

    /// True if a change of this range leaves the places that are left alone, and does not even touch them.
    fn is_apart(&self, start: usize, end: usize) -> bool {
        self.left.iter().all(|place| end < place.range.start || place.range.end < start)
    }

    fn settled(&mut self) -> Option<Settled> {
        self.settled.try_recv().ok()
    }
}

/// Places in a text, far enough from each other that something can be typed between them.
fn places(text: &str, wanted: &[(usize, usize, bool)]) -> Vec<Change> {
    let whole = Text::from(text);
    let mut places: Vec<Change> = Vec::new();
    for (number, (at, letters, is_line)) in wanted.iter().enumerate() {
        let start = snap(&whole, at % (text.len() + 1));
        let end = snap(&whole, (start + letters).min(text.len())).max(start);
        let line = text.get(..start).unwrap().rfind('\n').map_or(0, |at| at + 1);
        let one = match is_line {
            true => Change::new(line..line, format!("Ω{number}\r\n")),
            false => Change::new(start..end, format!("Ω{number}")),
        };
        let apart =
            |own: &Change| own.range.end < one.range.start || one.range.end < own.range.start;
        if places.iter().all(apart) {
            places.push(one);
        }
    }
    places.sort_by_key(|place| place.range.start);
    places
}

/// A place that positions can name: not inside of a character or of a line end.
fn snap(text: &Text, at: usize) -> usize {
    let at = text.floor_boundary(at.min(text.len()));
    let splits = at > 0 && text.byte(at) == Some(b'\n') && text.byte(at - 1) == Some(b'\r');
    at - usize::from(splits)
}

fn lines() -> impl Strategy<Value = String> {
    prop::collection::vec("[ab😀é ]{0,6}(\r\n|\n)", 4..20).prop_map(|lines| lines.concat())
}

fn wanted() -> impl Strategy<Value = Vec<(usize, usize, bool)>> {
    prop::collection::vec((0..200usize, 0..9usize, any::<bool>()), 2..6)
}

/// Typing between two parts: where, how much it deletes, and what it is.
fn typing() -> impl Strategy<Value = Vec<Vec<(usize, usize, String)>>> {
    let one = (0..250usize, 0..4usize, "[ab😀\n ]{0,3}");
    prop::collection::vec(prop::collection::vec(one, 0..3), 6)
}

fn encoding() -> impl Strategy<Value = PositionEncoding> {
    prop::sample::select(vec![PositionEncoding::Utf8, PositionEncoding::Utf16])
}

#[test]
fn a_part_is_no_proof_of_the_rest() {
    for client in ["Neovim", "Visual Studio Code", "who knows"] {
        let edit =
            vec![Change::new(0..3, "ONE"), Change::new(4..7, ""), Change::new(8..13, "THREE")];
        let mut desk = Desk::new(client, PositionEncoding::Utf16, "one two three", edit);
        desk.make(2);
        desk.document.answered(OURS, true, desk.habits.trusts_versions());
        desk.make(0);
        assert_eq!(desk.settled(), None);
        assert_eq!((desk.made.len(), desk.entry.set().changes().len()), (2, 1), "{client}");
        desk.make(0);
        assert_eq!(desk.settled(), Some(Settled::Confirmed));
        assert!(desk.entry.is_empty());
    }
}

#[test]
fn of_an_edit_that_ends_halfway_only_the_rest_is_free() {
    let edit = vec![Change::new(0..3, "ONE"), Change::new(8..13, "THREE")];
    let mut desk = Desk::new("Visual Studio Code", PositionEncoding::Utf16, "one two three", edit);
    desk.make(1);
    // The client says that it made nothing: what was told was the user's, letter by letter the same.
    desk.document.answered(OURS, false, false);
    assert_eq!(desk.settled(), Some(Settled::Skipped));
    assert_eq!(desk.entry.set(), &ChangeSet::single(13, 0..3, "ONE"));
}

#[test]
fn typing_inside_of_a_place_that_is_still_to_come_is_never_answered_by_the_edit_again() {
    for client in ["Neovim", "Visual Studio Code", "Emacs", "who knows"] {
        let edit = vec![Change::new(0..3, "ONE"), Change::new(8..13, "THREE")];
        let mut desk = Desk::new(client, PositionEncoding::Utf16, "one two three", edit);
        desk.make(1);
        desk.tell(1, 1, "!");
        assert_eq!(desk.settled(), Some(Settled::Conflict), "{client}");
        assert!(desk.entry.is_empty());
        assert_eq!(desk.aside, 1);
    }
}

#[test]
fn places_close_together_may_be_told_as_one_change() {
    let edit = vec![Change::new(0..1, "A"), Change::new(4..5, "B"), Change::new(6..7, "C")];
    let mut desk = Desk::new("Neovim", PositionEncoding::Utf8, "a x b c d", edit);
    desk.left.truncate(1);
    desk.tell(4, 7, "B C");
    assert_eq!((desk.made.len(), desk.settled()), (2, None));
    desk.make(0);
    assert_eq!(desk.settled(), Some(Settled::Confirmed));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn all_places_are_made_once_whatever_is_typed_beside_them(
        client in prop::sample::select(vec!["Neovim", "Visual Studio Code", "Emacs", "who knows"]),
        encoding in encoding(),
        text in lines(),
        wanted in wanted(),
        order in prop::collection::vec(0..6usize, 6),
        typing in typing(),
    ) {
        let places = places(&text, &wanted);
        prop_assume!(places.len() > 1);
        let all = places.len();
        let mut desk = Desk::new(client, encoding, &text, places);
        for (which, typed) in order.iter().zip(&typing) {
            if desk.left.is_empty() {
                break;
            }
            desk.make(*which);
            prop_assert_eq!(desk.made.len(), all - desk.left.len());
            for (at, deleted, new) in typed {
                let start = snap(&desk.text, at % (desk.text.len() + 1));
                let end = snap(&desk.text, start + deleted).max(start);
                if !desk.left.is_empty() && desk.is_apart(start, end) {
                    desk.tell(start, end, new);
                    prop_assert_eq!(desk.settled(), None);
                }
            }
        }
        prop_assert_eq!(desk.settled(), Some(Settled::Confirmed));
        prop_assert!(desk.entry.is_empty() && desk.aside == 0, "{:?}", desk.entry.set());
        desk.made.sort_unstable();
        desk.made.dedup();
        prop_assert_eq!(desk.made.len(), all);
    }

    #[test]
    fn whatever_is_typed_between_the_parts_nothing_is_doubled_or_moved(
        client in prop::sample::select(vec!["Neovim", "Visual Studio Code", "Emacs", "who knows"]),
        encoding in encoding(),
        text in lines(),
        wanted in wanted(),
        order in prop::collection::vec(0..6usize, 6),
        typing in typing(),
    ) {
        let places = places(&text, &wanted);
        prop_assume!(places.len() > 1);
        let mut desk = Desk::new(client, encoding, &text, places.clone());
        for (which, typed) in order.iter().zip(&typing) {
            if desk.left.is_empty() {
                break;
            }
            desk.make(*which);
            for (at, deleted, new) in typed {
                let start = snap(&desk.text, at % (desk.text.len() + 1));
                let end = snap(&desk.text, start + deleted).max(start);
                desk.tell(start, end, new);
            }
            // Of two insertions at one place nobody knows which was first: one may look as if it were still to come, but
            // nothing that stands in the text may be sent again.
            desk.entry.free_unexpected(|id| desk.document.is_expected(id));
            let now = desk.text.to_string();
            for (own, mark) in desk.entry.set().changes().iter().zip(desk.entry.marks()) {
                prop_assert!(mark.sent.is_some() || !now.contains(&own.text), "{own:?} in {now:?}");
            }
            // Without what is pending the fork's text is the user's.
            let set = desk.entry.set();
            let back = set.invert(&desk.text).apply(desk.entry.text()).unwrap();
            prop_assert_eq!(&back, &desk.text);
        }
        if desk.settled() == Some(Settled::Confirmed) {
            prop_assert!(desk.entry.marks().iter().all(|mark| mark.sent != Some(OURS)));
        }
    }
}
