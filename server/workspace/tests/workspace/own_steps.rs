//! Typing while an edit of ours is under way is taken in step by step, as it was told. A difference
//! of the texts may tell of other words, and move pending changes over a line that the user kept. A
//! change that was made is pending no more, wherever it was made.

use proptest::prelude::*;
use ropewalk_text::{Bias, Change, ChangeSet, Coordinates, Text};
use ropewalk_workspace::entry::{Base, Entry, HunkIdSource, Maker, Mark};
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
    /// Entry with the edit pending.
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
        let (mut entry, mut ids) = (Entry::new(base), HunkIdSource::default());
        let makers = vec![Maker::Call("call".into())];
        let mark = Mark { id: ids.give(), turn: 1, makers, sent: None };
        let which: Vec<HunkId> = entry.add(&edit, &mark, &mut ids);
        entry.mark_sent(&which, Some(OURS));
        let mut document = Document::new("untitled:a".into(), "text".into(), 1, text.clone());
        // Past the first version: for an edit of that the client may open the file again.
        document.change(2, &[], Coordinates::default(), &Habits::of(Some(client)));
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
        let changed = self.document.change(3, &self.held, coordinates, &self.habits);
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

#[test]
fn a_place_that_was_deleted_is_not_where_a_line_end_is_typed_later() {
    let text = "one\nxkept words\nlast\n";
    let edit = vec![Change::new(4..4, "ours\n"), Change::new(16..20, "LAST")];
    let mut desk = Desk::with("Emacs", text, edit);
    // By the difference of the texts "kept" was typed, and the second line's start is where it was.
    desk.replace(3, 5, "");
    desk.replace(7, 7, "\n");
    assert_eq!(desk.text.to_string(), "onekept\n words\nlast\n");
    assert_eq!(desk.tell().0, Some(Settled::Skipped));
    let left = ChangeSet::single(desk.text.len(), 15..19, "LAST");
    assert_eq!((desk.aside, desk.entry.set()), (1, &left));
}

#[test]
fn a_place_that_was_deleted_and_has_come_back_is_where_it_was() {
    for client in ["Emacs", "who knows"] {
        let mut desk = Desk::new(client, "one two three\nlast\n", (5, 6, "W"));
        desk.replace(3, 8, "");
        desk.replace(9, 9, "!");
        desk.replace(3, 3, " two ");
        desk.replace(0, 0, "n");
        assert_eq!(desk.tell().0, None);
        assert!(desk.document.is_expected(OURS));
        assert_eq!(desk.entry.set(), &ChangeSet::single(desk.text.len(), 6..7, "W"));
    }
}

/// Why what is pending of `edit` does not stand between the same letters of `text` as when it was made. Each letter occurs
/// once; those that are `gone` tell nothing.
fn misplaced(desk: &Desk, text: &str, edit: &[Change], gone: &str) -> Option<String> {
    let now = desk.text.to_string();
    let letters = text.char_indices().filter(|(_, char)| *char != '\n' && !gone.contains(*char));
    let stand: Vec<(usize, usize)> =
        letters.map(|(at, char)| (at, now.find(char).unwrap())).collect();
    desk.entry.set().changes().iter().find_map(|change| {
        let was = edit.iter().find(|own| own.text == change.text).unwrap();
        let right = |(at, is): &&(usize, usize)| match at {
            at if *at < was.range.start => *is < change.range.start,
            at if *at >= was.range.end => *is >= change.range.end,
            _ => change.range.contains(is),
        };
        let wrong = stand.iter().find(|one| !right(one))?;
        Some(format!("{change:?} was {was:?}: {wrong:?} in {now:?}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_pending_stays_between_its_letters_whatever_goes_and_comes_back(
        client in prop::sample::select(vec!["Neovim", "Visual Studio Code", "Emacs", "who knows"]),
        lines in prop::collection::vec(1..6usize, 30..40),
        places in prop::collection::vec((0..900usize, 0..4usize, any::<bool>()), 1..4),
        deeds in prop::collection::vec((-9..9isize, 0..900usize, 0..3usize, 0..3usize, 0..4usize), 1..10),
    ) {
        let mut fresh = (0x4E00..).filter_map(char::from_u32);
        let text: String = lines.iter().map(|many| fresh.by_ref().take(*many).chain(['\n']).collect::<String>()).collect();
        let whole = Text::from(text.as_str());
        let mut edit: Vec<Change> = Vec::new();
        for (number, (at, letters, is_line)) in places.iter().enumerate() {
            let start = whole.floor_boundary(at % text.len());
            let end = whole.floor_boundary((start + 3 * letters).min(text.len()));
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
        let first = edit.first().unwrap().range.start;
        let mut desk = Desk::with(client, &text, edit.clone());
        let (mut undone, mut gone): (Vec<(usize, usize, String)>, String) = (Vec::new(), String::new());
        for (near, at, deleted, typed, what) in deeds {
            if what == 0 && let Some((start, end, old)) = undone.pop() {
                gone.push_str(&desk.text.slice(start..end));
                desk.replace(start, end, &old);
                continue;
            }
            let at = if what == 1 { at } else { first.saturating_add_signed(3 * near) };
            let at = desk.text.floor_boundary(at % (desk.text.len() + 1));
            let until = desk.text.floor_boundary((at + 3 * deleted).min(desk.text.len())).max(at);
            let mut new: String = fresh.by_ref().take(typed).collect();
            if what == 2 {
                new.push('\n');
            }
            let old = desk.text.slice(at..until);
            gone.push_str(&old);
            undone.push((at, at + new.len(), old));
            desk.replace(at, until, &new);
        }
        let settled = desk.tell().0;
        prop_assert_ne!(settled, Some(Settled::Confirmed));
        prop_assert!(!desk.document.is_expected(OURS) || desk.aside == 0, "sent and set aside");
        let why = misplaced(&desk, &text, &edit, &gone);
        prop_assert!(why.is_none(), "{}", why.unwrap());
    }

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
