//! Deletions that wait while the file changes: what was not there when the agent deleted it is never deleted.

use crate::world::World;
use ropewalk_workspace::{ProposedChange, Selection};

const TEXT: &str = "one\ntwo\n";
const NEWER: &str = "one\ntwo\nthree, from outside\n";

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
        let report = world.accept(&Selection::All);
        assert_eq!(std::fs::read_to_string(world.path("a.txt")).ok().as_deref(), Some(NEWER));
        assert_eq!(report.done, []);
        assert!(!report.failed.is_empty() || world.hunks().is_empty(), "{report:?}");
        assert_eq!(world.published(), []);
    }
}

#[test]
fn a_file_that_is_open_and_typed_into_is_not_deleted() {
    let world = World::new(&[("a.txt", TEXT)]);
    world.open("a.txt", TEXT);
    world.workspace.look_at_disks();
    world.propose("a.txt", ProposedChange::Delete);
    world.type_text("a.txt", NEWER);
    let report = world.accept(&Selection::All);
    assert_eq!(world.text("a.txt"), NEWER);
    assert!(world.path("a.txt").exists(), "{report:?}");
    assert_eq!(report.done, []);
}
