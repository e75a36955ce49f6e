//! Renames of files that are open in the editor, and what of a renamed file is accepted without its rename: no text of
//! the user's goes to another place or is taken for what the disk holds, and none is lost.

use super::world::World;
use ropewalk_workspace::publish::Failure;
use ropewalk_workspace::{HunkId, HunkSelection};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const OTHER: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\nEIGHT\n";

/// A file that is to be renamed from `a.txt` to `d/b.txt`, with two changes.
fn renamed(open: Option<&str>) -> World {
    let world = World::new(&[("a.txt", TEXT)]);
    if let Some(text) = open {
        world.open("a.txt", TEXT);
        world.workspace.look_at_disks();
        world.type_text("a.txt", text);
    }
    world.rename("a.txt", "d/b.txt");
    let text = open.unwrap_or(TEXT).replace("one", "ONE").replace("eight", "EIGHT");
    world.write("d/b.txt", &text);
    world
}

fn ids(world: &World, kind: &str) -> Vec<HunkId> {
    let of_kind = |hunk: &ropewalk_workspace::Hunk| hunk.kind.name() == kind;
    world.hunks().into_iter().filter(of_kind).map(|hunk| hunk.id).collect()
}

fn on_disk(world: &World, name: &str) -> Option<String> {
    std::fs::read_to_string(world.path(name)).ok()
}

#[test]
fn a_file_with_unsaved_text_is_not_renamed() {
    let typed = TEXT.replace("four", "four, unsaved");
    for all in [true, false] {
        let world = renamed(Some(&typed));
        let before = (world.outside(), world.review());
        let which =
            if all { HunkSelection::All } else { HunkSelection::Hunks(ids(&world, "rename")) };
        let report = world.accept(&which);
        assert_eq!(report.done, []);
        assert_eq!(report.failed, [("d/b.txt".to_owned(), Failure::Unsaved)]);
        assert_eq!((world.outside(), world.review()), before, "nothing has happened");
        assert_eq!(world.published(), []);
        // Saved, it goes with all that was typed.
        world.save("a.txt");
        assert_eq!(world.accept(&HunkSelection::All).failed, []);
        let expected = typed.replace("one", "ONE").replace("eight", "EIGHT");
        assert_eq!(on_disk(&world, "d/b.txt"), Some(expected));
        assert_eq!(on_disk(&world, "a.txt"), None);
        assert_eq!(world.text("a.txt"), typed, "the editor's own buffer is the user's");
        assert_eq!(world.undo(&HunkSelection::All).failed, []);
        assert_eq!(on_disk(&world, "a.txt"), Some(typed.clone()));
        assert_eq!(on_disk(&world, "d/b.txt"), None);
    }
}

#[test]
fn a_file_whose_buffer_is_saved_is_renamed_as_the_disk_has_it() {
    let world = renamed(Some(TEXT));
    // The disk moves on, and nobody has looked.
    let newer = TEXT.replace("four", "four, of the disk");
    std::fs::write(world.path("a.txt"), &newer).unwrap();
    let report = world.accept(&HunkSelection::All);
    let [(_, failure)] = &*report.failed else { panic!("{report:?}") };
    assert_eq!(*failure, Failure::Conflict, "what was chosen would take the disk's text away");
    assert_eq!(on_disk(&world, "a.txt"), Some(newer.clone()));
    assert_eq!(on_disk(&world, "d/b.txt"), None);
    // It has been looked at now: what the disk brought is among what is chosen.
    world.sync();
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    let both = newer.replace("one", "ONE").replace("eight", "EIGHT");
    assert_eq!(on_disk(&world, "d/b.txt"), Some(both));
    // The rename alone keeps it, too.
    let world = renamed(Some(TEXT));
    std::fs::write(world.path("a.txt"), &newer).unwrap();
    world.workspace.look_at_disks();
    world.sync();
    assert_eq!(world.accept(&HunkSelection::Hunks(ids(&world, "rename"))).failed, []);
    assert_eq!(on_disk(&world, "d/b.txt"), Some(newer));
}

#[test]
fn a_rename_is_not_undone_over_unsaved_text() {
    let world = renamed(Some(TEXT));
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    let typed = TEXT.replace("four", "four, unsaved");
    world.type_text("a.txt", &typed);
    let (before, published) = (world.outside(), world.published());
    let report = world.undo(&HunkSelection::All);
    assert_eq!(report.failed, [("a.txt".to_owned(), Failure::Unsaved)]);
    assert_eq!((world.outside(), world.published()), (before, published));
    // Saved under the old name there are two files, and none goes.
    world.save("a.txt");
    let before = world.outside();
    let report = world.undo(&HunkSelection::All);
    assert_eq!(report.failed, [("a.txt".to_owned(), Failure::Conflict)]);
    assert_eq!(world.outside(), before);
}

#[test]
fn a_change_of_the_text_alone_is_published_where_the_file_is() {
    let typed = TEXT.replace("four", "four, unsaved");
    for open in [None, Some(TEXT), Some(&*typed)] {
        let world = renamed(open);
        let was = open.unwrap_or(TEXT);
        let [first, second] = ids(&world, "text")[..] else { panic!("{:?}", world.hunks()) };
        let report = world.accept(&HunkSelection::Hunks(vec![first]));
        assert_eq!((report.failed, report.done), (vec![], vec![first]));
        let half = was.replace("one", "ONE");
        assert_eq!(world.text("a.txt"), half);
        assert_eq!(on_disk(&world, "d/b.txt"), None);
        let disk = if open.is_some() { TEXT } else { &half };
        assert_eq!(on_disk(&world, "a.txt").as_deref(), Some(disk), "the buffer is the editor's");
        assert_eq!(ids(&world, "rename").len(), 1);
        assert_eq!(ids(&world, "text"), [second]);
        // After a restart, too.
        let again = world.beside(&world.keep(), &world.outside());
        assert_eq!((again.review(), again.published()), (world.review(), world.published()));
        if open.is_some() {
            world.save("a.txt");
        }
        assert_eq!(world.accept(&HunkSelection::All).failed, []);
        let whole = half.replace("eight", "EIGHT");
        assert_eq!(on_disk(&world, "d/b.txt"), Some(whole));
        assert_eq!(on_disk(&world, "a.txt"), None);
        assert_eq!(world.undo(&HunkSelection::All).failed, []);
        assert_eq!(world.text("a.txt"), was);
        assert_eq!(on_disk(&world, "d/b.txt"), None);
    }
}

#[test]
fn both_changes_of_the_text_leave_the_rename() {
    let world = renamed(None);
    assert_eq!(world.accept(&HunkSelection::Hunks(ids(&world, "text"))).failed, []);
    assert_eq!(on_disk(&world, "a.txt").as_deref(), Some(OTHER));
    assert_eq!(world.undo(&HunkSelection::All).failed, []);
    assert_eq!(on_disk(&world, "a.txt").as_deref(), Some(TEXT));
    assert_eq!(world.hunks().len(), 1);
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    assert_eq!(on_disk(&world, "d/b.txt").as_deref(), Some(TEXT));
}

#[test]
fn a_renamed_file_that_was_away_for_a_moment_is_what_it_was() {
    let world = renamed(None);
    let before = world.review();
    std::fs::remove_file(world.path("a.txt")).unwrap();
    world.sync();
    std::fs::write(world.path("a.txt"), TEXT).unwrap();
    world.sync();
    assert!(before.len() > 1 && ids(&world, "rename").len() == 1);
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    let made = on_disk(&world, "d/b.txt").unwrap();
    assert!(made.contains("two\nthree\n"), "{made}");
    assert_eq!(on_disk(&world, "a.txt"), None);
}
