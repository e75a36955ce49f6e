//! Going back to what was pending earlier.

use crate::world::World;
use ropewalk_workspace::{HunkId, Selection, state};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

/// Turn 1 has changed two lines, and what was kept then.
fn world() -> (World, ropewalk_workspace::state::Kept) {
    let mut world = World::new(&[("a.txt", TEXT), ("b.txt", TEXT)]);
    world.open("a.txt", TEXT);
    world.write("a.txt", "one\ntwo\nTHREE\nfour\nfive\nsix\nSEVEN\neight\n");
    let kept = world.keep();
    world.turn = 2;
    (world, kept)
}

fn go_back(world: &World, to: &ropewalk_workspace::state::Kept) {
    state::go_back(&world.workspace, &world.fork, to);
    world.keep();
}

fn news(world: &World) -> Vec<(String, String)> {
    world.review().into_iter().map(|(_, old, new, ..)| (old, new)).collect()
}

fn pair(old: &str, new: &str) -> (String, String) {
    (old.to_owned(), new.to_owned())
}

#[test]
fn later_hunks_are_gone_and_joined_ones_as_before() {
    let (world, kept) = world();
    let before = world.hunks();
    world.write("a.txt", "ONE\ntwo\nTHREE, changed\nfour\nfive\nsix\nSEVEN\neight\n");
    world.write("new.txt", "new\n");
    world.rename("b.txt", "c.txt");
    go_back(&world, &kept);
    assert_eq!(world.hunks(), before);
    assert_eq!(world.accept(&Selection::All).failed, []);
    assert_eq!(world.text("a.txt"), "one\ntwo\nTHREE\nfour\nfive\nsix\nSEVEN\neight\n");
    assert!(!world.path("new.txt").exists() && world.path("b.txt").exists());
}

#[test]
fn the_users_text_stays_as_it_is() {
    let (world, kept) = world();
    world.type_text("a.txt", "zero\none\ntwo\nthree\nfour\nfive\nsix\nse!ven\neight\n");
    go_back(&world, &kept);
    assert_eq!(news(&world), [pair("three\n", "THREE\n")], "the other has lost its place");
    assert_eq!(world.text("a.txt"), "zero\none\ntwo\nthree\nfour\nfive\nsix\nse!ven\neight\n");
}

#[test]
fn what_was_decided_since_stays_decided() {
    let (world, kept) = world();
    let ids: Vec<HunkId> = world.hunks().iter().map(|hunk| hunk.id).collect();
    let [first, second] = ids[..] else { panic!("two hunks") };
    world.fork.lock().unwrap().reject(&world.workspace, &Selection::Hunks(vec![first]), None);
    go_back(&world, &kept);
    assert_eq!(news(&world), [pair("seven\n", "SEVEN\n")]);
    assert_eq!(world.accept(&Selection::Hunks(vec![second])).failed, []);
    go_back(&world, &kept);
    assert_eq!(world.review(), []);
    assert_eq!(world.text("a.txt"), "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\neight\n");
    assert_eq!(world.undo(&Selection::All).failed, []);
    go_back(&world, &kept);
    assert_eq!(world.review(), [], "undone is decided too");
    // It stays so after a restart.
    let now = world.keep();
    let after = world.after(&now, &world.outside());
    go_back(&after, &kept);
    assert_eq!(after.review(), []);
}

#[test]
fn files_that_were_accepted_since_are_not_pending_again() {
    let world = World::new(&[("a.txt", TEXT), ("b.txt", TEXT), ("c.txt", TEXT)]);
    world.propose("a.txt", ropewalk_workspace::ProposedChange::Delete);
    world.rename("b.txt", "moved.txt");
    world.write("new.txt", "new\n");
    let kept = world.keep();
    assert_eq!(world.accept(&Selection::All).failed, []);
    let outside = world.outside();
    go_back(&world, &kept);
    assert_eq!(world.review(), []);
    assert_eq!(world.outside(), outside);
    assert_eq!(world.workspace.take_news("s"), []);
}

#[test]
fn a_rewound_turn_that_was_published_is_undone_first() {
    let (world, kept) = world();
    world.write("a.txt", "ONE\ntwo\nTHREE\nfour\nfive\nsix\nSEVEN\neight\n");
    assert_eq!(world.accept(&Selection::Turn(2)).failed, []);
    assert_eq!(world.text("a.txt"), TEXT.replace("one", "ONE"));
    assert_eq!(world.undo(&Selection::Turn(2)).failed, []);
    go_back(&world, &kept);
    assert_eq!(news(&world), [pair("three\n", "THREE\n"), pair("seven\n", "SEVEN\n")]);
    assert_eq!(world.text("a.txt"), TEXT);
}
