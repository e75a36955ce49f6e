//! What a user types while an edit of ours is under way is taken in step by step, as they told it: a difference of the
//! texts may tell of other words, and what is pending beside them would jump over a line that they kept. And what was
//! made is pending no more, wherever it was made.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

use proptest::prelude::*;
use ropewalk_text::{Bias, Change, ChangeSet, Coordinates, Text};
use ropewalk_workspace::entry::{Base, Entry, HunkIds, Maker, Mark};
use ropewalk_workspace::log::Origin;
use ropewalk_workspace::proof::Settled;
use ropewalk_workspace::{ContentChange, Document, Habits, HunkId, PublishId};
use tokio::sync::oneshot::Receiver;

const OURS: PublishId = PublishId(1);

/// A document with an edit under way, and what its user has done since in one notification.
struct Desk {
    document: Document,
    habits: Habits,
    settled: Receiver<Settled>,
    text: Text,
    held: Vec<ContentChange>,
    steps: Vec<ChangeSet>,
    /// The edit, with the text that it was sent for.
    sent: (Text, ChangeSet),
    /// What is pending: the edit.
    entry: Entry,
    /// How many of its changes the user has reached into.
    aside: usize,
}

impl Desk {
    fn new(client: &str, text: &str, edit: (usize, usize, &str)) -> Self {
        Self::with(client, text, vec![Change::new(edit.0..edit.1, edit.2)])
    }

    fn with(client: &str, text: &str, edit: Vec<Change>) -> Self {
        let text = Text::from(text);
        let edit = ChangeSet::new(text.len(), edit).unwrap();
        let base = Base::Disk { hash: text.hash(), text: text.clone(), format: Default::default() };
        let (mut entry, mut ids) = (Entry::new(base), HunkIds::default());
        let makers = vec![Maker::Call("call".into())];
        let mark = Mark { id: ids.give(), turn: 1, makers, sent: None };
        let which: Vec<HunkId> = entry.add(&edit, &mark, &mut ids);
        entry.mark_sent(&which, Some(OURS));
        let mut document = Document::new("untitled:a".into(), "text".into(), 1, text.clone());
        let settled = document.expect(OURS, edit.clone()).unwrap();
        let (habits, sent) = (Habits::of(Some(client)), (text.clone(), edit));
        Self {
            document,
            habits,
            settled,
            text,
            held: Vec::new(),
            steps: Vec::new(),
            sent,
            entry,
            aside: 0,
        }
    }

    fn coordinates(&self) -> Coordinates {
        Coordinates { line_ends: self.habits.line_ends, ..Coordinates::default() }
    }

    fn replace(&mut self, start: usize, end: usize, new: &str) {
        let place = |at| self.coordinates().byte_to_position(&self.text, at);
        self.held.push(ContentChange { range: Some((place(start), place(end))), text: new.into() });
        self.steps.push(ChangeSet::single(self.text.len(), start..end, new));
        self.text.replace(start..end, new);
    }

    /// Makes the edit at the positions that it was sent with, from the end backwards.
    fn make(&mut self) {
        let (basis, edit) = self.sent.clone();
        let coordinates = self.coordinates();
        let place = |at| {
            let position = coordinates.byte_to_position(&basis, at);
            coordinates.position_to_byte(&self.text, position).byte
        };
        let one = |change: &Change| (place(change.range.start), place(change.range.end));
        let places: Vec<(usize, usize)> = edit.changes().iter().map(one).collect();
        for (change, (start, end)) in edit.changes().iter().zip(places).rev() {
            self.replace(start, end.max(start), &change.text);
        }
    }

    /// The one notification: what became of the edit, and the steps that were taken in, by what is pending too.
    fn tell(&mut self) -> (Option<Settled>, Vec<ChangeSet>) {
        let coordinates = self.coordinates();
        let changed = self.document.change(2, &self.held, coordinates, &self.habits);
        assert_eq!(*self.document.text(), self.text);
        for step in &changed.steps {
            match step.origin {
                Origin::Publish(id) => self.entry.published(id, &step.change, step.after.clone()),
                Origin::User => {
                    self.aside += self.entry.rebase(&step.change, step.after.clone()).len();
                }
            }
        }
        assert_eq!(self.entry.base.text(), self.text);
        (self.settled.try_recv().ok(), changed.steps.into_iter().map(|step| step.change).collect())
    }
}

/// Where these steps lead what stands before or after each character.
fn places(steps: &[ChangeSet], text: &str) -> Vec<[usize; 2]> {
    let lead = |at: usize, bias| steps.iter().fold(at, |at, step| step.map_offset(at, bias));
    let all = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    all.map(|at| [Bias::Before, Bias::After].map(|bias| lead(at, bias))).collect()
}

#[test]
fn an_overtaken_edit_leaves_each_step_where_it_was_made() {
    let text = "one two\nthree\nab\nab\nab\nlast\n";
    let mut desk = Desk::new("Neovim", text, (4, 7, "2"));
    // Into the edit's place; then one of the equal lines, the last, which the difference of the texts takes for the first.
    desk.replace(5, 5, "!");
    desk.replace(21, 24, "");
    let (settled, steps) = desk.tell();
    assert_eq!(settled, Some(Settled::Skipped));
    assert_eq!(places(&steps, text), places(&desk.steps, text));
}

#[test]
fn a_line_made_at_the_place_that_it_was_sent_for_is_pending_no_more() {
    let mut desk = Desk::new("who knows", "one\ntwo\n", (4, 4, "ours\n"));
    // An empty line, before the line end: it may as well have come after it, where ours is to stand.
    desk.replace(3, 3, "\n");
    desk.make();
    assert_eq!(desk.text.to_string(), "one\nours\n\ntwo\n");
    assert_eq!(desk.tell().0, Some(Settled::Confirmed));
    assert!(desk.entry.is_empty(), "{:?}", desk.entry.set());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn whatever_is_typed_while_an_edit_is_overtaken_stays_where_it_was_typed(
        client in prop::sample::select(vec!["Neovim", "Visual Studio Code", "Emacs", "helix"]),
        lines in prop::collection::vec("[a-c ]{0,6}(é|ab)?", 30..60),
        edit in (0..90usize, 1..9usize),
        inside in 0..30usize,
        deeds in prop::collection::vec((0..900usize, prop_oneof![2 => Just(0usize), 1 => 1..4usize], 1..4usize), 1..40),
    ) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let whole = Text::from(text.as_str());
        let start = whole.floor_boundary(edit.0 % text.len());
        let end = whole.floor_boundary(start + edit.1).min(text.len());
        let mut desk = Desk::new(client, &text, (start, end, "Ω"));
        // Each typed character is new, so that nothing that was deleted comes back.
        let mut fresh = (0x4E00..).filter_map(char::from_u32);
        for (number, (at, deleted, typed)) in deeds.iter().enumerate() {
            let at = if number == inside % deeds.len() { start + 1 } else { at % (desk.text.len() + 1) };
            let at = desk.text.floor_boundary(at);
            let until = desk.text.floor_boundary((at + deleted).min(desk.text.len())).max(at);
            let old = desk.text.slice(at..until);
            let until = if old.chars().any(|char| char >= '\u{4E00}') { at } else { until };
            let new: String = fresh.by_ref().take(*typed).collect();
            desk.replace(at, until, &new);
        }
        let (settled, steps) = desk.tell();
        if settled == Some(Settled::Skipped) {
            prop_assert_eq!(places(&steps, &text), places(&desk.steps, &text));
        }
    }

    #[test]
    fn whatever_is_typed_before_and_after_it_what_is_confirmed_is_pending_no_more(
        client in prop::sample::select(vec!["Neovim", "Visual Studio Code", "who knows"]),
        lines in prop::collection::vec("[ab ]{0,3}", 2..20),
        places in prop::collection::vec((0..90usize, 0..4usize, any::<bool>()), 1..3),
        before in prop::collection::vec((0..100usize, 0..3usize, "[ab\n ]{0,3}"), 0..4),
        after in prop::collection::vec((0..100usize, 0..3usize, "[ab\n ]{0,3}"), 0..4),
    ) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let mut edit: Vec<Change> = Vec::new();
        for (number, (at, len, is_line)) in places.iter().enumerate() {
            let start = at % (text.len() + 1);
            let end = (start + len).min(text.len());
            let line = text.get(..start).unwrap().rfind('\n').map_or(0, |at| at + 1);
            let one = match is_line {
                true => Change::new(line..line, format!("Ω{number}\n")),
                false => Change::new(start..end, format!("Ω{number}")),
            };
            let apart = |own: &Change| own.range.end < one.range.start || one.range.end < own.range.start;
            if edit.iter().all(apart) {
                edit.push(one);
            }
        }
        edit.sort_by_key(|change| change.range.start);
        let mut desk = Desk::with(client, &text, edit);
        let checks = desk.habits.checks_versions;
        let type_all = |desk: &mut Desk, deeds: &[(usize, usize, String)]| {
            for (at, deleted, typed) in deeds {
                let at = desk.text.floor_boundary(at % (desk.text.len() + 1));
                let until = desk.text.floor_boundary((at + deleted).min(desk.text.len())).max(at);
                desk.replace(at, until, typed);
            }
        };
        if !checks {
            type_all(&mut desk, &before);
        }
        desk.make();
        type_all(&mut desk, &after);
        if desk.tell().0 == Some(Settled::Confirmed) && desk.aside == 0 {
            prop_assert!(desk.entry.is_empty(), "{:?} in {:?}", desk.entry.set(), desk.text.to_string());
        }
    }
}
