//! The server dies right before or right after each side effect: every accepted edit is then either in the ledger
//! or pending, and done once in the end.

use super::world::{Moment, Outside, World};
use ropewalk_workspace::{HunkSelection, Note, ProposedChange};
use std::sync::Arc;

/// Each moment that `act` has a side effect in, with the world right before it and right after it; and the world in
/// the end.
fn crashes(world: &World, act: impl FnOnce(&World)) -> (Vec<(Moment, Outside)>, Outside) {
    world.keep();
    world.moments();
    act(world);
    let moments = world.moments();
    assert!(!moments.is_empty(), "it has side effects");
    let end = world.outside();
    let mut out = Vec::new();
    for (index, moment) in moments.iter().enumerate() {
        let after = moments.get(index + 1).map_or(&end, |next| &next.outside);
        out.push((moment.clone(), moment.outside.clone()));
        out.push((moment.clone(), after.clone()));
    }
    (out, end)
}

/// All that is pending is accepted, and the server dies at each of the moments of that.
fn check_accept(world: World) {
    let before = world.outside();
    let (crashes, end) = crashes(&world, |world| {
        let report = world.accept(&HunkSelection::All);
        assert_eq!(report.failed, []);
    });
    assert_ne!(before, end);
    for (moment, outside) in crashes {
        let after = world.after(&moment.kept, &outside);
        let news = after.workspace.take_news("s");
        assert_eq!(news, [], "{outside:?}");
        let (pending, published) = (after.review(), after.published());
        let report = after.accept(&HunkSelection::All);
        assert_eq!(report.failed, [], "{pending:?} {published:?} {outside:?}");
        assert_eq!(after.outside(), end, "{pending:?} {published:?}");
        let kept = after.keep();
        let report = after.undo(&HunkSelection::All);
        assert_eq!(report.failed, [], "{pending:?} {published:?} {outside:?}");
        assert_eq!(after.outside(), before, "{pending:?} {published:?}");
        // Once more, from what was kept when all had been done.
        let again = after.after(&kept, &end);
        assert_eq!(again.review(), []);
        assert_eq!(again.undo(&HunkSelection::All).failed, []);
        assert_eq!(again.outside(), before);
    }
}

/// The text of a file that is to be renamed is accepted without its rename, and the server dies at each of the moments.
fn check_text_alone(world: World) {
    let texts = |world: &World| {
        let hunks = world.hunks().into_iter().filter(|hunk| hunk.kind.name() == "text");
        HunkSelection::Hunks(hunks.map(|hunk| hunk.id).collect())
    };
    let before = world.outside();
    let (crashes, end) = crashes(&world, |world| {
        assert_eq!(world.accept(&texts(world)).failed, []);
    });
    assert_ne!(before, end);
    for (moment, outside) in crashes {
        let after = world.after(&moment.kept, &outside);
        assert_eq!(after.workspace.take_news("s"), [], "{outside:?}");
        assert_eq!(after.accept(&texts(&after)).failed, [], "{outside:?}");
        assert_eq!(after.outside(), end);
        assert_eq!(after.review().len(), 1, "the rename waits: {:?}", after.review());
        assert_eq!(after.undo(&HunkSelection::All).failed, []);
        assert_eq!(after.outside(), before, "{outside:?}");
    }
}

/// All that was accepted is undone, and the server dies at each of the moments of that.
fn check_undo(world: World) {
    let before = world.outside();
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    let done = world.outside();
    let (crashes, end) = crashes(&world, |world| {
        assert_eq!(world.undo(&HunkSelection::All).failed, []);
    });
    assert_eq!(before, end);
    for (moment, outside) in crashes {
        let after = world.after(&moment.kept, &outside);
        assert_eq!(after.review(), [], "{outside:?}");
        assert_eq!(after.published().is_empty(), outside == end, "{outside:?}");
        let news = after.workspace.take_news("s");
        assert!(
            outside == done || news.iter().all(|n| matches!(n, Note::Undone { .. })),
            "{news:?}"
        );
        assert_eq!(after.undo(&HunkSelection::All).failed, []);
        assert_eq!(after.outside(), before);
        assert_eq!(after.published(), []);
    }
}

fn check(make: impl Fn() -> World) {
    check_accept(make());
    check_undo(make());
}

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const OTHER: &str = "ONE\ntwo\nthree\nfour\nfive\nnew\nsix\neight\n";

#[test]
fn an_edit_of_an_open_document() {
    check(|| {
        let world = World::new(&[("a.txt", TEXT)]);
        world.open("a.txt", TEXT);
        world.write("a.txt", OTHER);
        world
    });
}

#[test]
fn an_edit_of_an_unsaved_document_without_a_file() {
    check(|| {
        let world = World::new(&[("b.txt", TEXT)]);
        world.open("b.txt", "é\n日本\nlast");
        world.write("b.txt", "é\n日\nlast!");
        world
    });
}

#[test]
fn a_text_file_that_is_not_open() {
    check(|| {
        let world = World::new(&[("a.txt", TEXT)]);
        world.write("a.txt", OTHER);
        world
    });
}

#[test]
fn a_new_file() {
    check(|| {
        let world = World::new(&[("b.txt", TEXT)]);
        world.write("new/a.txt", TEXT);
        world.write("empty.txt", "");
        world
    });
}

#[test]
fn a_deleted_file() {
    check(|| {
        let world = World::new(&[("a.txt", TEXT), ("b.txt", TEXT)]);
        world.propose("a.txt", ProposedChange::Delete);
        world
    });
}

#[test]
fn a_renamed_file() {
    check(|| {
        let world = World::new(&[("a.txt", TEXT)]);
        world.rename("a.txt", "b.txt");
        world
    });
}

#[test]
fn a_renamed_file_with_changes() {
    check(|| {
        let world = World::new(&[("a.txt", TEXT)]);
        world.write("a.txt", OTHER);
        world.rename("a.txt", "c.txt");
        world
    });
}

#[test]
fn the_text_of_a_renamed_file_without_its_rename() {
    for open in [false, true] {
        let world = World::new(&[("a.txt", TEXT)]);
        if open {
            world.open("a.txt", TEXT);
        }
        world.rename("a.txt", "b.txt");
        world.write("b.txt", OTHER);
        check_text_alone(world);
    }
}

#[test]
fn other_bytes_and_text_over_bytes() {
    check(|| {
        let world = World::new(&[("a.bin", "x\0y"), ("b.bin", "x\0z")]);
        world.propose("a.bin", ProposedChange::Binary(Arc::from(&b"\0\x01\xff"[..])));
        world.write("b.bin", "text\n");
        world
    });
}

#[test]
fn links_made_changed_and_deleted() {
    check(|| {
        let world = World::new(&[("a.txt", TEXT), ("b.txt", TEXT)]);
        std::os::unix::fs::symlink("a.txt", world.path("old")).unwrap();
        std::os::unix::fs::symlink("a.txt", world.path("gone")).unwrap();
        world.propose_itself("new/l", ProposedChange::Link("../outside".into()));
        world.propose_itself("old", ProposedChange::Link("/elsewhere".into()));
        world.propose_itself("b.txt", ProposedChange::Link("a.txt".into()));
        world.propose_itself("gone", ProposedChange::Delete);
        world
    });
}

#[test]
fn modes_beside_texts_bytes_and_names() {
    check(|| {
        let world = World::new(&[("a.txt", TEXT), ("b.txt", TEXT), ("c.bin", "x\0y")]);
        world.write("a.txt", OTHER);
        world.write("new/run.sh", TEXT);
        world.propose("c.bin", ProposedChange::Binary(Arc::from(&b"\0"[..])));
        world.rename("b.txt", "d.txt");
        for name in ["a.txt", "new/run.sh", "c.bin", "d.txt"] {
            world.propose(name, ProposedChange::Mode(0o755));
        }
        world
    });
}

#[test]
fn a_rename_that_was_done_but_not_its_text() {
    let world = World::new(&[("a.txt", TEXT)]);
    world.write("a.txt", OTHER);
    world.rename("a.txt", "b.txt");
    let before = world.outside();
    let (crashes, end) = crashes(&world, |world| {
        world.accept(&HunkSelection::All);
    });
    let (moment, _) = crashes.first().unwrap();
    let mut half = before.clone();
    let bytes = half.disk.remove("a.txt").unwrap();
    half.disk.insert("b.txt".into(), bytes);
    let after = world.after(&moment.kept, &half);
    assert_eq!(after.workspace.take_news("s"), []);
    assert!(!after.review().is_empty(), "the text is pending still");
    assert_eq!(after.accept(&HunkSelection::All).failed, []);
    assert_eq!(after.outside(), end);
    assert_eq!(after.undo(&HunkSelection::All).failed, []);
    assert_eq!(after.outside(), before);
}

#[test]
fn what_is_deleted_or_has_its_mode_already_is_done() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new(&[("a.txt", TEXT), ("b.sh", TEXT)]);
    world.propose("a.txt", ProposedChange::Delete);
    world.propose("b.sh", ProposedChange::Mode(0o755));
    let kept = world.keep();
    assert_eq!(kept.pending(), 2);
    let mut outside = world.outside();
    outside.disk.remove("a.txt");
    let waiting = world.after(&kept, &outside);
    assert_eq!(waiting.hunks().len(), 1, "{:?}", waiting.hunks());
    std::fs::set_permissions(world.path("b.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let fork = kept.restore("s".into(), &waiting.workspace);
    assert!(fork.is_empty());
}

#[test]
fn a_file_that_is_neither_as_before_nor_as_after_is_left_alone_and_told() {
    let world = World::new(&[("a.txt", TEXT)]);
    world.propose("a.txt", ProposedChange::Delete);
    world.write("new.txt", TEXT);
    let (crashes, _) = crashes(&world, |world| {
        world.accept(&HunkSelection::All);
    });
    let (moment, _) = crashes.last().unwrap();
    let mut outside = Outside::default();
    outside.disk.insert("a.txt".into(), b"the user's\n".to_vec());
    outside.disk.insert("new.txt".into(), b"the user's too\n".to_vec());
    let after = world.after(&moment.kept, &outside);
    assert_eq!(after.review(), []);
    let news = after.workspace.take_news("s");
    assert!(!news.is_empty(), "{news:?}");
    after.undo(&HunkSelection::All);
    assert_eq!(after.outside(), outside);
}

#[test]
fn a_sent_edit_beside_which_the_user_typed_is_found() {
    let world = World::new(&[("a.txt", TEXT)]);
    world.open("a.txt", TEXT);
    world.write("a.txt", "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\n");
    let (crashes, _) = crashes(&world, |world| {
        world.accept(&HunkSelection::All);
    });
    let (moment, _) = crashes.first().unwrap();
    let with = |text: &str| {
        let mut outside = moment.outside.clone();
        outside.open.insert("a.txt".into(), text.into());
        let after = world.after(&moment.kept, &outside);
        assert_eq!(after.text("a.txt"), text);
        (after.review().len(), after.published().len(), after.workspace.take_news("s").len())
    };
    let made = "zero\none\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\nnine\n";
    assert_eq!(with(made), (0, 1, 0));
    assert_eq!(with("one\ntwo!\nTHREE\nfour\nfive\nsix\nseven\neight\n"), (0, 1, 0));
    assert_eq!(with("one\ntwo!\nthree\nfour\nfive\nsix\nseven\neight\n"), (0, 0, 1), "unknown");
    assert_eq!(with("one\ntwo\nthree\nfour\nfive\nsix\nseven!\neight\n"), (1, 0, 0));
    assert_eq!(with("one\ntwo\nTHRE\nfour\nfive\nsix\nseven\neight\n"), (0, 0, 1), "altered");
}
