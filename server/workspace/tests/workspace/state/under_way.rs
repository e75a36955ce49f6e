//! While files are written, without the fork's lock, the user types, calls are merged and the fork is brought to now;
//! and the server dies at any moment of that.

use super::world::World;
use proptest::prelude::*;
use ropewalk_text::Text;
use ropewalk_workspace::fork::{merge, synced};
use ropewalk_workspace::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

/// A world with a document that is open, and with something pending in so many files of these kinds.
fn world(kinds: &[u8]) -> World {
    let name = |index: usize| format!("f{index}.txt");
    let files: Vec<String> = (0..kinds.len()).map(name).collect();
    let there =
        |(index, kind): (usize, &u8)| (kind % 6 != 0).then(|| (files[index].as_str(), TEXT));
    let mut all: Vec<(&str, &str)> = kinds.iter().enumerate().filter_map(there).collect();
    all.push(("open.txt", TEXT));
    let world = World::new(&all);
    world.open("open.txt", TEXT);
    world.write("open.txt", &TEXT.replace("three", "THREE"));
    for (index, kind) in kinds.iter().enumerate() {
        let name = &files[index];
        match kind % 6 {
            0 => drop(world.write(name, &format!("new {index}\n"))),
            1 => drop(world.write(name, &TEXT.replace("two", "TWO").replace("five", "FIVE"))),
            2 => drop(world.propose(name, ProposedChange::Delete)),
            3 => world.rename(name, &format!("moved/{name}")),
            4 => drop(world.propose(name, ProposedChange::Binary(Arc::from(&b"\0\xff"[..])))),
            _ => drop(world.propose(name, ProposedChange::Mode(0o755))),
        }
    }
    world
}

fn pending(world: &World) -> BTreeSet<HunkId> {
    world.hunks().into_iter().flat_map(|hunk| hunk.parts).collect()
}

fn published(world: &World) -> BTreeSet<HunkId> {
    let ledger = world.workspace.ledger();
    let texts = ledger.texts.iter().map(|hunk| hunk.id);
    texts.chain(ledger.files.iter().map(|file| file.id)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn killed_at_any_moment_each_file_is_in_the_ledger_or_pending(
        kinds in prop::collection::vec(any::<u8>(), 1..7),
    ) {
        let world = world(&kinds);
        world.type_at_each_moment("open.txt", "é");
        let all = pending(&world);
        world.keep();
        world.moments();
        let report = world.accept(&HunkSelection::All);
        prop_assert_eq!(&report.failed, &[]);
        let (moments, end) = (world.moments(), world.outside());
        prop_assert!(moments.len() > kinds.len());
        for (index, moment) in moments.iter().enumerate() {
            let after = moments.get(index + 1).map_or(&end, |next| &next.outside);
            for outside in [&moment.outside, after] {
                let again = world.after(&moment.kept, outside);
                let (waits, made) = (pending(&again), published(&again));
                prop_assert!(waits.is_disjoint(&made), "{waits:?} {made:?}");
                prop_assert_eq!(&waits | &made, all.clone(), "{:?} {:?}", waits, made);
                prop_assert_eq!(again.accept(&HunkSelection::All).failed, vec![]);
                let (mut now, typed) = (again.outside(), outside.open["open.txt"].clone());
                let text = now.open.remove("open.txt").unwrap();
                prop_assert_eq!(text, typed.replace("three", "THREE"));
                let mut want = end.clone();
                want.open.clear();
                prop_assert_eq!(now, want);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, ..ProptestConfig::default() })]

    /// In mode auto nothing may be journalled between a merge and its publish.
    #[test]
    fn a_journal_that_is_cut_off_tells_of_nothing_that_was_not_done(
        kinds in prop::collection::vec(any::<u8>(), 1..5),
        is_kept in any::<bool>(),
    ) {
        let world = world(&kinds);
        if is_kept {
            world.keep();
        }
        let before = world.outside();
        let report = world.accept(&HunkSelection::All);
        prop_assert_eq!(&report.failed, &[]);
        let cuts = world.cuts();
        prop_assert!(cuts.len() > kinds.len());
        for cut in &cuts {
            let again = world.after(&cut.kept, &cut.outside);
            let (waits, made) = (pending(&again), published(&again));
            prop_assert!(waits.is_disjoint(&made), "{waits:?} {made:?}");
            prop_assert_eq!(again.undo(&HunkSelection::All).failed, vec![]);
            prop_assert_eq!(again.outside(), before.clone());
        }
    }
}

/// The user types and calls go on while everything is accepted, again and again.
fn check_together(files: usize) {
    let kinds: Vec<u8> = (0..files).map(|index| (index % 2) as u8).collect();
    let world = world(&kinds);
    let (is_over, mut typed, mut made) = (AtomicBool::new(false), 0, vec![String::new(); files]);
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let mut round = 0;
            while !is_over.load(Ordering::SeqCst) || round < 3 * files {
                let name = format!("f{}.txt", round % files);
                let (workspace, fork) = (&*world.workspace, &world.fork);
                let view = synced(workspace, fork, |fork, _| fork.view(workspace.snapshot()));
                let place = view.contain(&name).unwrap();
                let text = match view.read(&place).unwrap() {
                    FileState::Text { text, .. } => text,
                    _ => Text::default(),
                };
                let line = format!("call {round}\n");
                let change = ProposedChange::Write(Text::from(format!("{text}{line}").as_str()));
                let proposals = vec![Proposal { place, change }];
                let maker = entry::Maker::Call("c".into());
                let origin = MergeOrigin { turn: 1, maker: &maker };
                let report = merge(workspace, fork, &view, origin, proposals);
                assert_eq!((report.conflicts, report.refused), (vec![], vec![]));
                made[round % files].push_str(&line);
                let id = world.id("open.txt");
                let (version, end) = workspace
                    .with_document(&id, |document| (document.version, document.text().clone()))
                    .map(|(version, text)| {
                        (
                            version,
                            ropewalk_text::Coordinates::default()
                                .byte_to_position(&text, text.len()),
                        )
                    })
                    .unwrap();
                let key = ContentChange { range: Some((end, end)), text: "k".to_owned() };
                workspace.change(&id.to_uri(), version + 1, &[key]);
                typed += 1;
                round += 1;
            }
        });
        for _ in 0..4 {
            world.accept(&HunkSelection::All);
        }
        is_over.store(true, Ordering::SeqCst);
        beside.join().unwrap();
    });
    for _ in 0..4 {
        world.accept(&HunkSelection::All);
    }
    assert_eq!(pending(&world), BTreeSet::new());
    for (index, made) in made.iter().enumerate() {
        let start = match index % 2 {
            0 => format!("new {index}\n"),
            _ => TEXT.replace("two", "TWO").replace("five", "FIVE"),
        };
        assert_eq!(world.text(&format!("f{index}.txt")), start + made, "f{index}.txt");
    }
    assert_eq!(world.text("open.txt"), TEXT.replace("three", "THREE") + &"k".repeat(typed));
}

#[test]
fn what_is_typed_and_made_while_files_are_written_is_there_once() {
    check_together(8);
}

#[test]
fn a_file_is_read_only_if_it_may_have_changed() {
    let names: Vec<String> = (0..40).map(|index| format!("f{index}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), TEXT)).collect();
    let world = World::new(&files);
    let age = |name: &str, hours: u64| {
        let file = std::fs::File::options().write(true).open(world.path(name)).unwrap();
        let hours = std::time::Duration::from_secs(3600 * hours);
        file.set_modified(std::time::SystemTime::now() - hours).unwrap();
    };
    names.iter().for_each(|name| age(name, 1));
    names.iter().for_each(|name| drop(world.write(name, &TEXT.replace("two", "TWO"))));
    let reads = || {
        let questions = world.fork.lock().unwrap().questions(&world.workspace);
        let answers = world.workspace.answer(questions);
        world.fork.lock().unwrap().sync(&world.workspace, &answers);
        answers.reads()
    };
    reads();
    assert_eq!(reads(), 0, "nothing has changed");
    age("f3.txt", 2);
    assert_eq!((reads(), reads()), (1, 0), "one has other metadata");
    world.write_on_disk("f4.txt", &TEXT.replace("one", "ONE"));
    assert_eq!((reads(), reads()), (1, 1), "one is too young for its metadata to stand for it");
    assert_eq!(world.hunks().len(), names.len());
}

#[test]
fn what_is_journalled_of_a_file_does_not_grow_with_the_others() {
    let lines = |files: usize| {
        let world = World::new(&[]);
        for index in 0..files {
            world.write(&format!("f{index}.txt"), "new\n");
        }
        world.keep();
        let before = world.journal.lines().len();
        assert_eq!(world.accept(&HunkSelection::All).failed, []);
        let at_hand = world.at_hand();
        assert_eq!(at_hand, vec![1; files], "each file is journalled alone");
        world.keep();
        (world.journal.lines().len() - before) / files
    };
    assert_eq!(lines(10), lines(80));
}
