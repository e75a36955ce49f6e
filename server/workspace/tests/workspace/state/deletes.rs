//! Deletions and other changes of whole files that wait while the file changes: what was not there when the agent made
//! them is neither deleted nor replaced.

use super::world::World;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::PublishReport;
use ropewalk_workspace::{HunkSelection, MergeReport, Note, Proposal, ProposedChange};
use std::path::Path;
use std::sync::Arc;

const TEXT: &str = "one\ntwo\n";
const NEWER: &str = "one\ntwo\nthree, from outside\n";

/// The changes of a whole file.
fn wholes() -> [ProposedChange; 3] {
    let bytes = ProposedChange::Binary(Arc::from(&b"\0"[..]));
    [ProposedChange::Delete, bytes, ProposedChange::Link("elsewhere".into())]
}

/// A file that is open and as it was saved, and that is to be changed as a whole.
fn open_and_pending(change: ProposedChange) -> World {
    let world = World::new(&[("a.txt", TEXT)]);
    world.open("a.txt", TEXT);
    world.workspace.look_at_disks();
    world.propose_itself("a.txt", change);
    assert_eq!(world.hunks().len(), 1);
    world
}

/// Accepted, the change is a conflict, told once, and the disk keeps what it has.
fn check_set_aside(world: &World, stays: &str) -> PublishReport {
    let report = world.accept(&HunkSelection::All);
    let there = std::fs::read_to_string(world.path("a.txt"));
    assert_eq!(there.ok().as_deref(), Some(stays), "{report:?}");
    assert!(!world.path("a.txt").is_symlink());
    assert_eq!(
        (&report.done[..], &world.hunks()[..], &world.published()[..]),
        (&[][..], &[][..], &[][..])
    );
    let told = world.workspace.take_news("s");
    let is_told = |note: &Note| matches!(note, Note::Conflict { file, now, .. } if file == "a.txt" && now == stays);
    assert!(told.len() == 1 && told.iter().all(is_told), "{told:?}");
    report
}

/// Accepted, the change is made.
fn check_stands(world: &World) {
    world.sync();
    assert_eq!(world.workspace.take_news("s"), []);
    let report = world.accept(&HunkSelection::All);
    assert_eq!((report.done.len(), report.failed), (1, vec![]));
    assert_ne!(std::fs::read_to_string(world.path("a.txt")).ok().as_deref(), Some(TEXT));
    assert_eq!(world.workspace.take_news("s"), []);
}

/// A closed file that is to be deleted, and that somebody has written meanwhile.
fn written_meanwhile() -> World {
    let world = World::new(&[("a.txt", TEXT)]);
    world.propose("a.txt", ProposedChange::Delete);
    std::fs::write(world.path("a.txt"), NEWER).unwrap();
    world
}

#[test]
fn a_file_that_changed_on_the_disk_is_not_deleted() {
    for looked in [false, true] {
        let world = written_meanwhile();
        if looked {
            world.workspace.look_at_disks();
            world.sync();
        }
        check_set_aside(&world, NEWER);
    }
}

#[test]
fn a_file_that_is_open_and_typed_into_is_not_deleted() {
    for change in wholes() {
        let world = open_and_pending(change);
        world.type_text("a.txt", NEWER);
        let report = world.accept(&HunkSelection::All);
        assert_eq!(world.text("a.txt"), NEWER);
        assert_eq!(std::fs::read_to_string(world.path("a.txt")).unwrap(), TEXT);
        assert_eq!(report.done, []);
    }
}

#[test]
fn a_file_that_is_open_typed_into_and_saved_is_not_deleted() {
    for change in wholes() {
        for (looked, closed) in [(false, false), (true, false), (false, true), (true, true)] {
            let world = open_and_pending(change.clone());
            world.type_text("a.txt", NEWER);
            if looked {
                world.sync();
            }
            world.save("a.txt");
            if closed {
                world.workspace.close(&world.id("a.txt").to_uri());
            }
            check_set_aside(&world, NEWER);
        }
    }
}

#[test]
fn typing_that_was_taken_back_leaves_it_standing() {
    for change in wholes() {
        for closed in [false, true] {
            let world = open_and_pending(change.clone());
            world.type_text("a.txt", NEWER);
            world.type_text("a.txt", TEXT);
            if closed {
                world.workspace.close(&world.id("a.txt").to_uri());
            }
            check_stands(&world);
        }
        // And what was thrown away by closing.
        let world = open_and_pending(change);
        world.type_text("a.txt", NEWER);
        world.workspace.close(&world.id("a.txt").to_uri());
        check_stands(&world);
    }
}

#[test]
fn what_the_disk_brought_under_an_open_file_is_not_deleted() {
    for change in wholes() {
        for reread in [false, true] {
            let world = open_and_pending(change.clone());
            std::fs::write(world.path("a.txt"), NEWER).unwrap();
            if reread {
                world.type_text("a.txt", NEWER);
            }
            check_set_aside(&world, NEWER);
        }
    }
}

#[test]
fn what_the_disk_had_already_brought_is() {
    for change in wholes() {
        for (reread, closed) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut world = World::new(&[("a.txt", TEXT)]);
            world.open("a.txt", TEXT);
            world.workspace.look_at_disks();
            std::fs::write(world.path("a.txt"), NEWER).unwrap();
            world.propose_itself("a.txt", change.clone());
            let kept = world.keep();
            if reread {
                world.type_text("a.txt", NEWER);
            }
            if closed {
                world.workspace.close(&world.id("a.txt").to_uri());
            }
            if reread || closed {
                // Also when the server was away meanwhile.
                world = world.beside(&kept, &world.outside());
            }
            check_stands(&world);
        }
    }
}

#[test]
fn opening_a_file_is_no_change_of_it() {
    for change in wholes() {
        let make = |open: &str| {
            let world = World::new(&[("a.txt", TEXT)]);
            world.propose_itself("a.txt", change.clone());
            world.open("a.txt", open);
            world
        };
        check_stands(&make(TEXT));
        // With other line ends, as an editor may have it.
        check_stands(&make("one\r\ntwo\r\n"));
        // With unsaved text of an earlier time, it is; and that is saved.
        let world = make(NEWER);
        world.sync();
        assert_eq!(world.hunks(), []);
        world.save("a.txt");
        check_set_aside(&world, NEWER);
    }
}

#[test]
fn what_is_no_text_is_compared_as_the_disk_has_it() {
    let make = || {
        let world = World::new(&[("a.txt", "\0\n")]);
        world.propose("a.txt", ProposedChange::Delete);
        world.open("a.txt", "\u{fffd}\n");
        world.sync();
        assert_eq!((world.hunks().len(), world.workspace.take_news("s").len()), (1, 0));
        world
    };
    let world = make();
    world.workspace.close(&world.id("a.txt").to_uri());
    check_stands(&world);
    let world = make();
    world.type_text("a.txt", NEWER);
    world.save("a.txt");
    check_set_aside(&world, NEWER);
}

#[test]
fn a_link_is_deleted_whatever_is_typed_into_what_it_leads_to() {
    let world = World::new(&[("a.txt", TEXT)]);
    std::os::unix::fs::symlink("a.txt", world.path("link")).unwrap();
    world.propose_itself("link", ProposedChange::Delete);
    world.open("link", TEXT);
    world.workspace.look_at_disks();
    world.sync();
    world.type_text("link", NEWER);
    world.save("link");
    world.sync();
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    assert!(!world.path("link").is_symlink());
    assert_eq!(std::fs::read_to_string(world.path("a.txt")).unwrap(), NEWER);
}

#[test]
fn what_changed_while_nobody_looked_is_not_deleted() {
    for change in wholes() {
        for open in [false, true] {
            let world = World::new(&[("a.txt", TEXT)]);
            if open {
                world.open("a.txt", TEXT);
                world.workspace.look_at_disks();
            }
            world.propose_itself("a.txt", change.clone());
            let kept = world.keep();
            let as_it_was = world.outside();
            let mut changed = as_it_was.clone();
            changed.disk.insert("a.txt".into(), NEWER.into());
            // The editor is gone, or has read the file anew.
            for open in [None, Some(NEWER)] {
                let mut outside = changed.clone();
                let open = open.map(|text| ("a.txt".to_owned(), text.to_owned()));
                outside.open = open.into_iter().collect();
                check_set_aside(&world.after(&kept, &outside), NEWER);
            }
            // It shows what it had, be that its user's text or what the disk had.
            changed.open.insert("a.txt".into(), TEXT.into());
            let after = world.after(&kept, &changed);
            assert_eq!(after.accept(&HunkSelection::All).done, []);
            after.type_text("a.txt", NEWER);
            after.workspace.take_news("s");
            check_set_aside(&after, NEWER);
            check_stands(&world.after(&kept, &as_it_was));
        }
    }
}

/// A call looks at a file, something happens, and the call's change comes.
fn merged_after(
    world: &World,
    name: &str,
    change: ProposedChange,
    happens: impl Fn(),
) -> MergeReport {
    let mut fork = world.fork.lock().unwrap();
    fork.sync_now(&world.workspace);
    let view = fork.view(world.workspace.snapshot());
    let place = view.roots().place_in(0, Path::new(name)).unwrap();
    view.read(&place).unwrap();
    happens();
    let proposals = vec![Proposal { place, change }];
    fork.merge(&world.workspace, &view, 1, &Maker::Call("c1".into()), proposals)
}

#[test]
fn what_changed_while_the_call_ran_is_not_deleted() {
    for change in wholes() {
        for (open, pending) in [(false, false), (true, false), (false, true), (true, true)] {
            let world = World::new(&[("a.txt", TEXT)]);
            if open {
                world.open("a.txt", TEXT);
                world.workspace.look_at_disks();
            }
            if pending {
                world.write("a.txt", "ONE\ntwo\n");
            }
            let before = world.review();
            let report = merged_after(&world, "a.txt", change.clone(), || match open {
                true => world.type_text("a.txt", NEWER),
                false => std::fs::write(world.path("a.txt"), NEWER).unwrap(),
            });
            assert_eq!(
                (&report.hunks[..], &report.conflicts[..]),
                (&[][..], &["a.txt".to_owned()][..])
            );
            assert_eq!(world.review(), before);
            assert_eq!(world.text("a.txt"), NEWER);
            let report = merged_after(&world, "a.txt", change.clone(), || {});
            assert_eq!((report.hunks.len(), report.conflicts), (1, vec![]));
        }
        let world = World::new(&[("a.txt", "\0\n")]);
        let bytes = || std::fs::write(world.path("a.txt"), "\0more\n").unwrap();
        let report = merged_after(&world, "a.txt", change, bytes);
        assert_eq!((report.hunks.len(), report.conflicts.len()), (0, 1));
    }
}

#[test]
fn a_name_is_not_taken_for_what_is_open_under_it() {
    let world = World::new(&[("a.txt", TEXT)]);
    std::os::unix::fs::symlink("a.txt", world.path("link")).unwrap();
    world.open("link", TEXT);
    world.workspace.look_at_disks();
    world.write("link", NEWER);
    let to = world.workspace.roots().contain("b.txt").unwrap();
    for change in [wholes().to_vec(), vec![ProposedChange::Rename { to }]].concat() {
        let report = world.propose_itself("link", change);
        assert_eq!((report.hunks.len(), report.conflicts), (0, vec!["link".to_owned()]));
    }
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    assert_eq!(world.text("link"), NEWER);
    assert!(world.path("link").is_symlink() && world.path("a.txt").exists());
}
