//! Going back to what was pending earlier.

use super::world::World;
use ropewalk_text::Text;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::state::StayingCalls;
use ropewalk_workspace::{HunkId, HunkSelection, Proposal, ProposedChange, View, state};
use std::sync::Arc;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

/// Turn 1 has changed two lines, and what was kept then.
fn world() -> (World, ropewalk_workspace::state::SavedState) {
    let mut world = World::new(&[("a.txt", TEXT), ("b.txt", TEXT)]);
    world.open("a.txt", TEXT);
    world.write("a.txt", "one\ntwo\nTHREE\nfour\nfive\nsix\nSEVEN\neight\n");
    let kept = world.keep();
    world.turn = 2;
    (world, kept)
}

fn go_back(world: &World, to: &ropewalk_workspace::state::SavedState) {
    state::go_back(&world.workspace, &world.fork, to, &StayingCalls::new());
    world.keep();
}

/// The same, where the work of the command `b` stays.
fn go_back_but_for_b(world: &World, to: &ropewalk_workspace::state::SavedState) {
    state::go_back(&world.workspace, &world.fork, to, &StayingCalls::from(["b".into()]));
    world.keep();
}

/// The view of the command `b`, which has begun in turn 1.
fn begun(world: &World) -> Arc<View> {
    let mut fork = world.fork.lock().unwrap();
    world.workspace.look_at_disks();
    fork.sync_now(&world.workspace);
    Arc::new(fork.view(world.workspace.snapshot()))
}

/// The command `b` has ended.
fn ended(world: &World, view: &View, changes: Vec<(&str, ProposedChange)>) {
    let proposal =
        |(name, change): (&str, _)| Proposal { place: view.contain(name).unwrap(), change };
    let proposals = changes.into_iter().map(proposal).collect();
    let mut fork = world.fork.lock().unwrap();
    let maker = Maker::Call("b".into());
    let report = fork.merge(&world.workspace, view, 1, &maker, proposals);
    assert_eq!((report.conflicts, report.refused.len()), (vec![], 0));
}

fn writes(text: &str) -> ProposedChange {
    ProposedChange::Write(Text::from(text))
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
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
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
    world.fork.lock().unwrap().reject(&world.workspace, &HunkSelection::Hunks(vec![first]), None);
    go_back(&world, &kept);
    assert_eq!(news(&world), [pair("seven\n", "SEVEN\n")]);
    assert_eq!(world.accept(&HunkSelection::Hunks(vec![second])).failed, []);
    go_back(&world, &kept);
    assert_eq!(world.review(), []);
    assert_eq!(world.text("a.txt"), "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\neight\n");
    assert_eq!(world.undo(&HunkSelection::All).failed, []);
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
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
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
    assert_eq!(world.accept(&HunkSelection::Turn(2)).failed, []);
    assert_eq!(world.text("a.txt"), TEXT.replace("one", "ONE"));
    assert_eq!(world.undo(&HunkSelection::Turn(2)).failed, []);
    go_back(&world, &kept);
    assert_eq!(news(&world), [pair("three\n", "THREE\n"), pair("seven\n", "SEVEN\n")]);
    assert_eq!(world.text("a.txt"), TEXT);
}

const AFTER_FIRST: &str = "one\ntwo\nTHREE\nfour\nfive\nsix\nSEVEN\neight\n";

#[test]
fn work_of_a_call_that_stays_is_put_beside_what_was_pending() {
    let (world, kept) = world();
    let view = begun(&world);
    world.write("a.txt", &AFTER_FIRST.replace("one", "ONE"));
    let more = AFTER_FIRST.replace("five", "FIVE").replace("THREE", "THREE, TOO");
    let changes = vec![
        ("a.txt", writes(&more)),
        ("new.txt", writes("new\n")),
        ("b.txt", ProposedChange::Rename { to: view.contain("c.txt").unwrap() }),
    ];
    ended(&world, &view, changes);
    world.write("d.txt", "mine\n");
    let after = |world: &World| {
        go_back_but_for_b(world, &kept);
        assert_eq!(
            news(world),
            [
                pair("three\n", "THREE, TOO\n"),
                pair("five\n", "FIVE\n"),
                pair("seven\n", "SEVEN\n"),
                pair("", ""),
                pair("", "new\n"),
            ]
        );
        assert!(world.hunks().iter().all(|hunk| hunk.turn == 1));
        assert_eq!(world.accept(&HunkSelection::All).failed, []);
        assert_eq!(world.text("a.txt"), more);
        assert!(!world.path("b.txt").exists() && !world.path("d.txt").exists());
        assert_eq!((world.text("c.txt"), world.text("new.txt")), (TEXT.to_owned(), "new\n".into()));
    };
    // The same from a journal.
    let now = world.keep();
    let (outside, again) = (world.outside(), world.keep());
    assert_eq!(now, again);
    after(&world.after(&now, &outside));
    let restored = world.after(&now, &outside);
    after(&restored);
}

#[test]
fn what_a_call_that_goes_has_a_part_in_goes() {
    let (world, kept) = world();
    let view = begun(&world);
    world.write("a.txt", &AFTER_FIRST.replace("SEVEN", "SEVEN, 2"));
    // It has its own words behind those of turn 2, on the same line.
    let view_of_both = begun(&world);
    drop(view);
    let both = AFTER_FIRST.replace("SEVEN", "SEVEN, 2 and b").replace("two", "2");
    ended(&world, &view_of_both, vec![("a.txt", writes(&both))]);
    go_back_but_for_b(&world, &kept);
    let expected = [pair("two\nthree\n", "2\nTHREE\n"), pair("seven\n", "SEVEN\n")];
    assert_eq!(news(&world), expected);
}

#[test]
fn what_was_decided_of_work_that_stays_stays_decided() {
    let (world, kept) = world();
    let view = begun(&world);
    let more = AFTER_FIRST.replace("five", "FIVE").replace("one", "ONE");
    ended(&world, &view, vec![("a.txt", writes(&more))]);
    let ids: Vec<HunkId> = world.hunks().iter().map(|hunk| hunk.id).collect();
    world.fork.lock().unwrap().reject(&world.workspace, &HunkSelection::Hunks(vec![ids[0]]), None);
    assert_eq!(world.accept(&HunkSelection::Hunks(vec![ids[2]])).failed, []);
    go_back_but_for_b(&world, &kept);
    assert_eq!(news(&world), [pair("three\n", "THREE\n"), pair("seven\n", "SEVEN\n")]);
    assert_eq!(world.text("a.txt"), TEXT.replace("five", "FIVE"));
    // A second time nothing is doubled.
    go_back_but_for_b(&world, &kept);
    assert_eq!(news(&world), [pair("three\n", "THREE\n"), pair("seven\n", "SEVEN\n")]);
}

#[test]
fn a_file_that_is_not_open_keeps_what_was_pending_and_the_work_that_stays() {
    let first = TEXT.replace("three", "THREE").replace("seven", "SEVEN");
    for renames in [false, true] {
        let mut world = World::new(&[("b.txt", TEXT)]);
        world.write("b.txt", &first);
        let kept = world.keep();
        world.turn = 2;
        let view = begun(&world);
        world.write("b.txt", &first.replace("one", "ONE"));
        let own = first.replace("five", "FIVE").replace("THREE", "THREE, TOO");
        let mut changes = vec![("b.txt", writes(&own))];
        if renames {
            let to = view.contain("c.txt").unwrap();
            changes.push(("b.txt", ProposedChange::Rename { to }));
        }
        ended(&world, &view, changes);
        assert!(news(&world).contains(&pair("one\n", "ONE\n")));
        go_back_but_for_b(&world, &kept);
        let texts =
            [pair("three\n", "THREE, TOO\n"), pair("five\n", "FIVE\n"), pair("seven\n", "SEVEN\n")];
        let found: Vec<_> = news(&world).into_iter().filter(|(old, _)| !old.is_empty()).collect();
        assert_eq!(found, texts);
        assert_eq!(world.accept(&HunkSelection::All).failed, []);
        let name = if renames { "c.txt" } else { "b.txt" };
        assert_eq!((world.text(name), world.path("b.txt").exists()), (own, !renames));
    }
}

#[test]
fn work_that_stays_is_in_the_file_whose_renaming_goes() {
    let (world, kept) = world();
    let view = begun(&world);
    world.rename("b.txt", "c.txt");
    ended(&world, &view, vec![("b.txt", writes(&TEXT.replace("five", "FIVE")))]);
    go_back_but_for_b(&world, &kept);
    let of_b = |world: &World| {
        let hunks = world.hunks();
        hunks.into_iter().filter(|hunk| hunk.file == "b.txt").map(|hunk| hunk.new).collect()
    };
    let found: Vec<String> = of_b(&world);
    assert_eq!(found, ["FIVE\n"]);
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    assert_eq!(world.text("b.txt"), TEXT.replace("five", "FIVE"));
    assert!(!world.path("c.txt").exists());
}
