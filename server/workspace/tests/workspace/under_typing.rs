//! Pending changes while the user types anything anywhere: each is still pending, done by the user, or told as displaced
//! with both texts; and those that are pending stand where they are said to stand, as the client counts.
//!
//! The client is a string of its own here, with positions in UTF-16, so that it counts by no code of ours.

#![expect(
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    reason = "what can't be indexed or unwrapped here is a failure of the test"
)]

use proptest::prelude::*;
use ropewalk_text::{Coordinates, Position, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::HunkPlaces;
use ropewalk_workspace::*;
use std::ops::Range;
use std::sync::Arc;

/// The lines that the agent replaces, each with what comes in its place: nothing that the user types, and no two alike.
const REPLACED: [(&str, &str); 3] = [("ααα", "①①"), ("ββ", "②\u{1F600}②"), ("γ", "")];

/// The line that the agent puts in.
const NEW: &str = "④④";

/// Keys of the user's.
const KEYS: [&str; 7] = ["x", "é", "😀", "👩‍👧", "END", "ENDx", " "];

/// One thing that the user does: where, as a part of the whole text, how many characters it takes, and what it puts.
type Key = (u16, usize, &'static str);

fn keys() -> impl Strategy<Value = Vec<Key>> {
    let taken = prop_oneof![4 => Just(0), 2 => Just(1), 1 => 2..9_usize];
    prop::collection::vec((any::<u16>(), taken, prop::sample::select(&KEYS[..])), 1..25)
}

/// An editor's buffer that knows nothing of ours, and the fork in which changes wait.
struct World {
    dir: tempfile::TempDir,
    workspace: Arc<Workspace>,
    fork: Fork,
    end: &'static str,
    text: String,
    version: i32,
}

impl World {
    /// The file lies on the disk with changes that wait, and is not open yet.
    fn new(end: &'static str) -> Self {
        let lines = ["first 😀", "ααα", "é two", "ββ", "", "three", "γ", "four 👩‍👧", "last"];
        let text: String = lines.iter().flat_map(|line| [line, end]).collect();
        let mut proposed =
            text.replace(&format!("four 👩‍👧{end}"), &format!("four 👩‍👧{end}{NEW}{end}"));
        for (old, new) in REPLACED {
            let (old, new) = (format!("{old}{end}"), format!("{new}{end}"));
            proposed = proposed.replace(&old, if new == end { "" } else { &new });
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), &text).unwrap();
        let root = dir.path().canonicalize().unwrap();
        let workspace = Arc::new(Workspace::new(Roots::new(vec![("w".to_owned(), root)])));
        workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
        let mut fork = Fork::new("s".into());
        let view = fork.view(workspace.snapshot());
        let change = ProposedChange::Write(Text::from(proposed.as_str()));
        let proposal = Proposal { place: view.contain("a.txt").unwrap(), change };
        fork.merge(&workspace, &view, 1, &Maker::Call("c".into()), vec![proposal]);
        assert_eq!(fork.hunks().len(), 4);
        Self { dir, workspace, fork, end, text, version: 0 }
    }

    fn uri(&self) -> String {
        let root = self.dir.path().canonicalize().unwrap();
        DocId::from_path(&root.join("a.txt")).to_uri()
    }

    fn is_open(&self) -> bool {
        self.version > 0
    }

    fn open(&mut self) {
        self.version = 7;
        self.workspace.open(&self.uri(), "text", self.version, &self.text);
    }

    /// The user's key, told to the server if the file is open.
    fn press(&mut self, (at, taken, put): Key) {
        // Nobody stands between the two characters of a line end.
        let stops: Vec<usize> = self.text.char_indices().map(|(byte, _)| byte).collect();
        let is_stop = |byte: &usize| !self.text.get(..*byte).unwrap().ends_with('\r');
        let stops: Vec<usize> =
            stops.into_iter().filter(is_stop).chain([self.text.len()]).collect();
        let from = usize::from(at) % stops.len();
        let (from, to) = (stops[from], stops[(from + taken).min(stops.len() - 1)]);
        let put = put.replace("END", self.end);
        let range = Some((self.position(from), self.position(to)));
        self.text.replace_range(from..to, &put);
        if self.is_open() {
            self.version += 1;
            let change = ContentChange { range, text: put };
            let changed = self.workspace.change(&self.uri(), self.version, &[change]).unwrap();
            assert_eq!(changed.desync_alarms, 0);
        }
    }

    fn position(&self, byte: usize) -> Position {
        let before = self.text.get(..byte).unwrap();
        let line = before.rsplit('\n').next().unwrap();
        let count = |count: usize| u32::try_from(count).unwrap();
        Position::new(count(before.matches('\n').count()), count(line.encode_utf16().count()))
    }

    fn byte(&self, at: Position) -> usize {
        let stops = self.text.char_indices().map(|(byte, _)| byte).chain([self.text.len()]);
        stops
            .into_iter()
            .find(|byte| self.position(*byte) == at)
            .expect("it is a place in the text")
    }

    fn slice(&self, range: &Range<Position>) -> &str {
        self.text.get(self.byte(range.start)..self.byte(range.end)).unwrap()
    }

    /// Text with all waiting changes in it.
    fn proposed(&mut self) -> String {
        let view = self.fork.view(self.workspace.snapshot());
        match view.read(&view.contain("a.txt").unwrap()).unwrap() {
            FileState::Text { text, .. } => text.to_string(),
            other => panic!("it is a text: {other:?}"),
        }
    }

    /// Each change that waits stands where it says, and all of them together make what is proposed.
    fn stand_where_they_say(&mut self) {
        let files = self.fork.file_hunks();
        let mut text = self.text.clone();
        for file in &files {
            let HunkPlaces { document, version, hunks } = file.places(&self.workspace);
            assert_eq!(document.is_some(), self.is_open());
            assert_eq!(version, self.is_open().then_some(self.version));
            for (hunk, range) in hunks.iter().rev() {
                // Up to the end of the last line, so that the next one is not in it.
                let lines = hunk.old.strip_suffix('\n').unwrap_or(&hunk.old);
                let lines = lines.strip_suffix('\r').unwrap_or(lines);
                assert_eq!(self.slice(range), lines, "{hunk:?}");
                let start = self.byte(range.start);
                assert_eq!(text.get(start..start + hunk.old.len()), Some(&*hunk.old));
                text.replace_range(start..start + hunk.old.len(), &hunk.new);
            }
        }
        assert_eq!(text, self.proposed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_change_waits_or_is_told_with_both_texts(
        bursts in prop::collection::vec(keys(), 1..4),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut world = World::new(end);
        world.open();
        let mut told = Vec::new();
        for burst in bursts {
            burst.into_iter().for_each(|key| world.press(key));
            world.fork.sync_now(&world.workspace);
            told.extend(world.workspace.take_displaced("s"));
            let waiting = world.fork.hunks();
            let put_in = ["", NEW];
            for [old, new] in REPLACED.map(|(old, new)| [old, new]).into_iter().chain([put_in]) {
                let (old, new) = (old.chars().next(), new.chars().next());
                let has = |text: &str, mark: Option<char>| mark.is_none_or(|mark| text.contains(mark));
                let waits = waiting.iter().any(|hunk| match new {
                    Some(_) => has(&hunk.new, new),
                    None => has(&hunk.old, old) && !has(&hunk.new, old),
                });
                let of_it = told.iter().filter(|one| match new {
                    Some(_) => has(&one.new, new),
                    None => has(&one.old, old) && !has(&one.new, old),
                });
                let said: Vec<_> = of_it.collect();
                // A user who deletes what was to be deleted has done it.
                let is_done = new.is_none() && !has(&world.text, old);
                prop_assert!(said.len() + usize::from(waits) <= 1, "{old:?} {new:?}: {told:?} {waiting:?} {}", world.text);
                prop_assert!(waits || is_done || said.len() == 1, "{old:?} {new:?} is lost: {told:?}");
                if let [said] = *said {
                    prop_assert!(has(&said.old, old), "{said:?}");
                }
            }
        }
    }

    #[test]
    fn those_that_wait_stand_where_they_say(
        before in keys(),
        is_late in any::<bool>(),
        bursts in prop::collection::vec(keys(), 1..4),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut world = World::new(end);
        if is_late {
            world.stand_where_they_say();
            let kept = world.fork.file_hunks();
            // Opened with text that is not saved, of an earlier day.
            before.into_iter().for_each(|key| world.press(key));
            world.open();
            let places = kept.iter().map(|file| file.places(&world.workspace).version);
            prop_assert_eq!(places.collect::<Vec<_>>(), [None], "they have to follow first");
        } else {
            world.open();
        }
        world.fork.sync_now(&world.workspace);
        for burst in bursts {
            world.stand_where_they_say();
            let kept = world.fork.file_hunks();
            burst.into_iter().for_each(|key| world.press(key));
            // Where nobody has looked at the fork since, they are as many keys further.
            let placed = |world: &World, files: &[FileHunks]| -> Vec<(HunkId, String, Range<Position>)> {
                let all = files.iter().flat_map(|file| {
                    let HunkPlaces { version, hunks, .. } = file.places(&world.workspace);
                    assert_eq!(version, Some(world.version));
                    hunks.into_iter().map(|(hunk, at)| (hunk.id, hunk.old.clone(), at)).collect::<Vec<_>>()
                });
                all.collect()
            };
            let moved = placed(&world, &kept);
            world.fork.sync_now(&world.workspace);
            let now = placed(&world, &world.fork.file_hunks());
            for (id, old, at) in moved {
                let same = now.iter().find(|(other, text, _)| (*other, text) == (id, &old));
                // Where something was typed at its edge, it may be wider until the fork is looked at.
                let covers = |there: &Range<Position>| at.start <= there.start && there.end <= at.end;
                prop_assert!(same.is_none_or(|(_, _, there)| covers(there)), "{old:?} {at:?} {now:?}");
            }
        }
        world.stand_where_they_say();
    }
}
