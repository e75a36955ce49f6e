//! Several changes of one file, and of names that depend on one another: one review, each accepted or rejected on
//! its own where it can be, and undone to the last byte and bit.

use super::bench::{Bench, Thing, Watched};
use ropewalk_text::Text;
use ropewalk_workspace::publish::Failure;
use ropewalk_workspace::view::LARGEST_FILE;
use ropewalk_workspace::{DocId, Fork, ForkOwner, HunkSelection, LockedFork, ProposedChange};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn file(bytes: &[u8], mode: u32) -> Option<Thing> {
    Some(Thing::File(bytes.to_vec(), mode))
}

fn mode(bits: u32) -> ProposedChange {
    ProposedChange::Mode(bits)
}

#[test]
fn a_new_script_is_one_hunk_with_its_mode() {
    let bench = Bench::new(&[]);
    let before = bench.things();
    bench.write("bin/run.sh", "#!/bin/sh\n");
    bench.propose("bin/run.sh", mode(0o755));
    let hunks = bench.hunks();
    assert_eq!((hunks.len(), hunks[0].parts.len(), hunks[0].kind.name()), (1, 2, "create"));
    assert!(
        hunks[0].diff.starts_with("set the mode of bin/run.sh to 755\n@@ "),
        "{}",
        hunks[0].diff
    );
    assert_eq!(bench.restarted().hunks(), hunks);
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("bin/run.sh").cloned(), file(b"#!/bin/sh\n", 0o755));
    bench.write("run.sh", "#!/bin/sh\n");
    bench.propose("run.sh", mode(0o755));
    assert_eq!(bench.reject(bench.only("create")), 1);
    assert_eq!(bench.review(), [""; 0], "a mode needs a file");
}

#[test]
fn text_and_mode_are_accepted_one_by_one() {
    for first in ["text", "mode"] {
        let bench = Bench::new(&[("run.sh", b"one\n")]);
        let before = bench.things();
        bench.write("run.sh", "two\n");
        bench.propose("run.sh", mode(0o755));
        assert_eq!(bench.hunks().len(), 2);
        assert_eq!(bench.accept_one(bench.only(first)).failed, []);
        let expected = if first == "text" { file(b"two\n", 0o644) } else { file(b"one\n", 0o755) };
        assert_eq!(bench.thing("run.sh"), expected);
        assert_eq!(bench.hunks().len(), 1);
        assert_eq!(bench.accept(&HunkSelection::All).failed, []);
        assert_eq!(bench.thing("run.sh"), file(b"two\n", 0o755));
        assert_eq!(bench.undo(&HunkSelection::All).failed, []);
        assert_eq!(bench.things(), before);
    }
}

#[test]
fn a_file_that_cant_be_read_is_left_out_alone() {
    let bench = Bench::new(&[("a.txt", b"one\n")]);
    for name in ["big", "other"] {
        let large = std::fs::File::create(bench.path(name)).unwrap();
        large.set_len(LARGEST_FILE + 1).unwrap();
    }
    let to = bench.view().roots().place_in(0, Path::new("moved")).unwrap();
    let write = |text: &str| ProposedChange::Write(Text::from(text));
    let report = bench.propose_all(vec![
        ("a.txt", write("two\n")),
        ("big", ProposedChange::Delete),
        ("big", mode(0o600)),
        ("other", ProposedChange::Rename { to }),
        ("moved", mode(0o600)),
        ("new.txt", write("new\n")),
    ]);
    let refused: Vec<String> = report.refused.iter().map(ToString::to_string).collect();
    let words = "268435457 bytes, more than the 268435456 that are read at once";
    assert_eq!(refused, [format!("big has {words}"), format!("other has {words}")]);
    assert_eq!((report.conflicts.len(), report.hunks.len()), (0, 2));
    assert_eq!(bench.review().len(), 2, "{:?}", bench.review());
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    assert_eq!(bench.thing("a.txt"), file(b"two\n", 0o644));
    assert_eq!(bench.thing("new.txt"), file(b"new\n", 0o644));
}

#[test]
fn a_mode_that_is_there_already_is_not_pending() {
    let bench = Bench::new(&[("run.sh", b"one\n")]);
    bench.propose("run.sh", mode(0o755));
    bench.propose("run.sh", mode(0o644));
    bench.view();
    assert_eq!(bench.review(), [""; 0]);
    bench.propose("run.sh", mode(0o755));
    bench.chmod("run.sh", 0o755);
    bench.view();
    assert_eq!(bench.review(), [""; 0]);
}

#[test]
fn an_open_unsaved_document_gets_its_mode_and_keeps_its_text() {
    let bench = Bench::new(&[("run.sh", b"one\n")]);
    bench.open("run.sh", "unsaved\n");
    bench.open("new.sh", "never saved\n");
    bench.propose("run.sh", mode(0o755));
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    assert_eq!(bench.thing("run.sh"), file(b"one\n", 0o755));
    assert_eq!(bench.undo(&HunkSelection::All).failed, []);
    assert_eq!(bench.thing("run.sh"), file(b"one\n", 0o644));
    bench.propose("new.sh", mode(0o755));
    let report = bench.accept(&HunkSelection::All);
    assert_eq!(report.failed, [("new.sh".to_owned(), Failure::Unsaved)]);
}

#[test]
fn a_mode_that_the_user_changed_since_is_not_undone() {
    let bench = Bench::new(&[("run.sh", b"one\n")]);
    bench.propose("run.sh", mode(0o755));
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    bench.chmod("run.sh", 0o700);
    let report = bench.undo(&HunkSelection::All);
    assert_eq!(report.failed, [("run.sh".to_owned(), Failure::Conflict)]);
    assert_eq!(bench.thing("run.sh"), file(b"one\n", 0o700));
}

#[test]
fn a_renamed_file_can_have_another_mode_text_and_bytes() {
    let make = || {
        let bench = Bench::new(&[("a.txt", b"one\n"), ("tool", b"\0tool")]);
        bench.chmod("tool", 0o711);
        bench
    };
    let bench = make();
    let before = bench.things();
    bench.rename("a.txt", "d/b.txt");
    bench.write("d/b.txt", "two\n");
    bench.propose("d/b.txt", mode(0o600));
    assert_eq!(bench.hunks().len(), 3);
    assert_eq!(bench.hunks()[0].diff, "rename a.txt to d/b.txt\n");
    assert_eq!(bench.restarted().hunks(), bench.hunks());
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("d/b.txt").cloned(), file(b"two\n", 0o600));
    assert_eq!(after.get("a.txt"), None);

    // The rename alone undone, the file is as it was, and no mode is left to undo.
    assert_eq!(bench.review(), [""; 0]);
    bench.rename("a.txt", "b.txt");
    bench.propose("b.txt", mode(0o600));
    let renamed = HunkSelection::Hunks(vec![bench.only("rename")]);
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    let report = bench.undo(&renamed);
    assert_eq!((report.failed, bench.things()), (vec![], before));
    assert!(bench.workspace.ledger().files.is_empty());
    assert_eq!(report.done.len(), 3, "both names and the mode");

    // The mode alone is set where the file is; the rename can be rejected.
    let bench = make();
    bench.rename("a.txt", "b.txt");
    bench.propose("b.txt", mode(0o600));
    assert_eq!(bench.accept_one(bench.only("mode")).failed, []);
    assert_eq!(bench.thing("a.txt"), file(b"one\n", 0o600));
    assert_eq!(bench.reject(bench.only("rename")), 1);
    assert_eq!(bench.review(), [""; 0]);

    // Other bytes on a pending rename: the old name goes, and the mode stays.
    let bench = make();
    let before = bench.things();
    bench.rename("tool", "bin");
    bench.binary("bin", b"\0stripped");
    let mut kinds: Vec<_> = bench.hunks().iter().map(|hunk| hunk.kind.name()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["binary", "delete"]);
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("bin").cloned(), file(b"\0stripped", 0o711));
    assert_eq!(after.get("tool"), None);
}

#[test]
fn a_name_that_was_left_can_be_taken_again() {
    // The old and the new names of three files, each of which takes the name of the one before it.
    let bench = Bench::new(&[("a", b"A\n"), ("b", b"\0B"), ("c", b"caf\xe9\n")]);
    bench.chmod("b", 0o755);
    let before = bench.things();
    bench.rename("a", "z");
    bench.rename("b", "a");
    bench.rename("c", "b");
    assert_eq!(bench.restarted().hunks(), bench.hunks());
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("z").cloned(), file(b"A\n", 0o644));
    assert_eq!(after.get("a").cloned(), file(b"\0B", 0o755));
    assert_eq!(after.get("b").cloned(), file(b"caf\xe9\n", 0o644));
    assert_eq!(after.len(), 3);
    // A new file under a name that was left, and one that was deleted.
    bench.rename("a", "z");
    bench.write("a", "new\n");
    bench.propose("c", ProposedChange::Delete);
    bench.rename("b", "c");
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("z").cloned(), file(b"A\n", 0o644));
    assert_eq!(after.get("a").cloned(), file(b"new\n", 0o644));
    assert_eq!(after.get("c").cloned(), file(b"\0B", 0o755));
    // Round in a circle is no change.
    bench.rename("a", "z");
    bench.rename("z", "y");
    bench.rename("y", "a");
    assert_eq!(bench.review(), [""; 0]);
}

#[test]
fn what_a_move_onto_a_left_name_makes_anew_is_among_its_hunks() {
    let bench = Bench::new(&[("a", b"A\n"), ("c", b"C\n")]);
    bench.rename("a", "b");
    let report = bench.rename("c", "a");
    for hunk in bench.hunks() {
        let is_told = hunk.parts.iter().all(|part| report.hunks.contains(part));
        assert!(is_told, "{:?} lacks {} {}", report.hunks, hunk.kind.name(), hunk.file);
    }
}

#[test]
fn a_file_renamed_twice_comes_back_after_a_restart() {
    let bench = Bench::new(&[("a", b"A\n")]);
    let before = bench.things();
    bench.rename("a", "b");
    bench.rename("b", "c");
    assert_eq!(bench.restarted().hunks(), bench.hunks());
    assert_eq!(bench.accept_and_undo(&before).remove("c"), file(b"A\n", 0o644));
}

#[test]
fn folders_go_with_their_last_file_and_come_back_with_it() {
    let bench = Bench::new(&[("keep/a", b""), ("d/e/x", b"x"), ("d/e/y", b"y"), ("d/f/z", b"\0")]);
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.chmod("d/e", 0o700);
    let before = bench.things();
    bench.propose("d/e/x", ProposedChange::Delete);
    bench.rename("d/e/y", "keep/new/y");
    bench.propose("d/f/z", ProposedChange::Delete);
    let after = bench.accept_and_undo(&before);
    let names: Vec<&str> = after.keys().map(String::as_str).collect();
    assert_eq!(names, ["empty", "keep", "keep/a", "keep/new", "keep/new/y"]);
    let mode = std::os::unix::fs::PermissionsExt::mode;
    let bits = std::fs::metadata(bench.path("d/e")).unwrap().permissions();
    assert_eq!(mode(&bits) & 0o777, 0o700);
    // One of several accepted: the folder stays.
    bench.propose("d/e/x", ProposedChange::Delete);
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    assert_eq!(bench.thing("d/e"), Some(Thing::Folder));
}

#[test]
fn a_folder_stays_above_a_file_that_is_open() {
    // Some editors save into no folder that they don't find.
    let bench = || Bench::new(&[("d/e/x", b"x\n"), ("d/f/y", b"y\n")]);
    for open in ["d/e/x", "d/e/never saved", "d/e/g/never saved"] {
        let bench = bench();
        let before = bench.things();
        bench.open(open, "x\n");
        bench.propose("d/e/x", ProposedChange::Delete);
        bench.rename("d/f/y", "y");
        let after = bench.accept_and_undo(&before);
        let names: Vec<&str> = after.keys().map(String::as_str).collect();
        assert_eq!(names, ["d", "d/e", "y"], "{open} is open");
    }
    // It has another name through a link.
    let bench = bench();
    bench.link("l", "d/f");
    bench.open("l/never saved", "");
    bench.rename("d/f/y", "y");
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    assert_eq!(bench.thing("d/f"), Some(Thing::Folder));
    // A folder that came with a file does not go with it.
    bench.write("n/new", "new\n");
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    bench.open("n/never saved", "");
    assert_eq!(bench.undo(&HunkSelection::File(DocId::from_path(&bench.path("n/new")))).failed, []);
    assert_eq!((bench.thing("n/new"), bench.thing("n")), (None, Some(Thing::Folder)));
}

#[test]
fn only_folders_that_were_made_again_get_their_modes_back() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new(&[("d/e/x", b"x\n")]);
    let bits =
        |name: &str| std::fs::metadata(bench.path(name)).unwrap().permissions().mode() & 0o7777;
    bench.chmod("d", 0o1755);
    bench.chmod("d/e", 0o2750);
    bench.propose("d/e/x", ProposedChange::Delete);
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    assert_eq!(bench.thing("d"), None);
    assert_eq!(bench.undo(&HunkSelection::All).failed, []);
    assert_eq!((bits("d"), bits("d/e")), (0o1755, 0o2750), "with all their bits");
    // The user has made the outer one again, in their own way.
    bench.propose("d/e/x", ProposedChange::Delete);
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    std::fs::create_dir(bench.path("d")).unwrap();
    bench.chmod("d", 0o711);
    assert_eq!(bench.undo(&HunkSelection::All).failed, []);
    assert_eq!((bits("d"), bits("d/e")), (0o711, 0o2750));
}

#[test]
fn what_was_done_before_something_failed_is_said_to_be_done() {
    /// Somebody else takes the file away right before its mode is set.
    struct Thief<'a>(&'a Mutex<Fork>, std::path::PathBuf, AtomicUsize);
    impl ForkOwner for Thief<'_> {
        fn lock(&self) -> Box<dyn LockedFork + '_> {
            Box::new(Watched(self.0.lock().unwrap(), |_, _| {
                if self.2.fetch_add(1, Ordering::Relaxed) == 1 {
                    std::fs::remove_file(&self.1).unwrap();
                }
            }))
        }
    }
    let bench = Bench::new(&[("run.sh", b"one\n")]);
    bench.write("run.sh", "two\n");
    bench.propose("run.sh", mode(0o755));
    let text = bench.only("text");
    let thief = Thief(&bench.fork, bench.path("run.sh"), 0.into());
    let report = bench.accept_by(&thief, &HunkSelection::All);
    assert_eq!(report.done, [text], "the text was written");
    assert!(matches!(&report.failed[..], [(_, Failure::Disk(_))]), "{:?}", report.failed);
    assert_eq!(bench.workspace.ledger().texts.len(), 1);
}

#[test]
fn a_folder_can_become_a_file_and_a_file_a_folder() {
    let bench = Bench::new(&[("d/x", b"x\n"), ("f", b"f\n")]);
    let before = bench.things();
    bench.propose("d/x", ProposedChange::Delete);
    bench.write("d", "now a file\n");
    bench.propose("f", ProposedChange::Delete);
    bench.write("f/y", "now in a folder\n");
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("d").cloned(), file(b"now a file\n", 0o644));
    assert_eq!(after.get("f/y").cloned(), file(b"now in a folder\n", 0o644));
    // The file itself goes from the one to the other.
    bench.rename("d/x", "d");
    bench.rename("f", "f/g/f");
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("d").cloned(), file(b"x\n", 0o644));
    assert_eq!(after.get("f/g/f").cloned(), file(b"f\n", 0o644));
}

#[test]
fn text_that_becomes_bytes_is_no_conflict_and_back_is_no_change() {
    let bench = Bench::new(&[("a", b"one\n"), ("b", b"\0b")]);
    let before = bench.things();
    bench.write("a", "two\n");
    bench.binary("a", b"\0");
    bench.write("b", "");
    assert_eq!(bench.hunks().len(), 2);
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("a").cloned(), file(b"\0", 0o644));
    assert_eq!(after.get("b").cloned(), file(b"", 0o644));
    let news = bench.workspace.take_news("s");
    let conflict = |note: &ropewalk_workspace::Note| note.to_string().contains("conflict");
    assert!(!news.iter().any(conflict), "{news:?}");
    bench.binary("a", b"\0");
    bench.propose("a", ProposedChange::Write(Text::from("one\n")));
    assert_eq!(bench.review(), [""; 0]);
}

#[test]
fn hunks_of_text_are_undone_after_the_deletion_of_their_file() {
    let bench = Bench::new(&[("a", b"one\n")]);
    let before = bench.things();
    bench.write("a", "two\n");
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    bench.propose("a", ProposedChange::Delete);
    assert_eq!(bench.accept(&HunkSelection::File(DocId::from_path(&bench.path("a")))).failed, []);
    assert_eq!(bench.undo(&HunkSelection::All).failed, []);
    assert_eq!(bench.things(), before);
}
