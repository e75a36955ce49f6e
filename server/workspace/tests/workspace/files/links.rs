//! Symbolic links in the fork: data that is reviewed, published and undone like any other change, and never a way
//! out of the roots.

use super::bench::{Bench, Thing};
use ropewalk_files::disk::FileError;
use ropewalk_text::Text;
use ropewalk_workspace::publish::Failure;
use ropewalk_workspace::{FileState, PathError, ProposedChange, Roots};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

fn to(target: &str) -> Option<Thing> {
    Some(Thing::Link(target.into()))
}

#[test]
fn a_new_link_is_made_with_its_folders_and_undone_with_them() {
    for target in ["a.txt", "../elsewhere", "/etc/passwd", "no such thing", "é/日本", "."] {
        let bench = Bench::new(&[("a.txt", b"one\n")]);
        let before = bench.things();
        bench.to_link("new/deep/l", target);
        assert_eq!(
            bench.review(),
            [format!("new/deep/l link: make new/deep/l a link to {target}\n")]
        );
        assert_eq!(bench.things(), before, "nothing before a yes");
        assert_eq!(bench.restarted().hunks(), bench.hunks());
        let after = bench.accept_and_undo(&before);
        assert_eq!(after.get("new/deep/l").cloned(), to(target));
    }
}

#[test]
fn a_target_that_is_no_text_stays_as_it_is() {
    let bench = Bench::new(&[]);
    let target = PathBuf::from(OsStr::from_bytes(b"caf\xe9"));
    bench.propose("l", ProposedChange::Link(target.clone()));
    assert_eq!(bench.restarted().hunks(), bench.hunks());
    let again = bench.restarted();
    *bench.fork.lock().unwrap() = again;
    let after = bench.accept_and_undo(&bench.things());
    assert_eq!(after.get("l"), Some(&Thing::Link(target)));
}

#[test]
fn a_link_takes_the_place_of_a_file_of_a_link_and_the_other_way_round() {
    let make = || {
        let bench = Bench::new(&[("a.txt", b"one\n"), ("b.bin", b"\0"), ("x", b"x\n")]);
        bench.link("l", "x");
        bench.chmod("a.txt", 0o640);
        bench.chmod("b.bin", 0o755);
        bench
    };
    let check = |name: &str, change: ProposedChange, said: &str, after: Option<Thing>| {
        let bench = make();
        let before = bench.things();
        bench.propose(name, change);
        let review = bench.review();
        assert!(review.len() == 1 && review[0].contains(said), "{review:?}");
        assert_eq!(bench.restarted().hunks(), bench.hunks());
        assert_eq!(bench.accept_and_undo(&before).remove(name), after);
    };
    let link = |target: &str| ProposedChange::Link(target.into());
    let text = |text: &str| ProposedChange::Write(Text::from(text));
    let file = |bytes: &[u8]| Some(Thing::File(bytes.to_vec(), 0o644));
    check("a.txt", link("x"), "a.txt a link to x; it is a file", to("x"));
    check("b.bin", link("/x"), "b.bin a link to /x; it is a file", to("/x"));
    check("l", link("a.txt"), "l a link to a.txt; it leads to x", to("a.txt"));
    check("l", text("new\n"), "+new", file(b"new\n"));
    check("l", text(""), "replace the bytes of l, a link to x", file(b""));
    check("l", ProposedChange::Binary(b"\0y"[..].into()), "l, a link to x", file(b"\0y"));
    check("l", ProposedChange::Delete, "delete l, a link to x", None);
}

#[test]
fn what_a_link_leads_to_is_never_touched() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();
    let target = secret.to_str().unwrap();
    for change in [
        ProposedChange::Write(Text::from("mine\n")),
        ProposedChange::Delete,
        ProposedChange::Link("other".into()),
        ProposedChange::Binary(b"\0"[..].into()),
    ] {
        let bench = Bench::new(&[]);
        bench.link("l", target);
        let before = bench.things();
        bench.propose("l", change);
        bench.accept_and_undo(&before);
        assert_eq!(std::fs::read(&secret).unwrap(), b"secret\n");
    }
    // A mode is the file's, not the link's: there is nothing to set.
    let bench = Bench::new(&[]);
    bench.link("l", target);
    assert_eq!(bench.propose("l", ProposedChange::Mode(0o777)).hunks, []);
}

#[test]
fn a_pending_link_is_read_through_inside_and_says_where_it_leads_outside() {
    let bench = Bench::new(&[("d/a.txt", b"one\n"), ("other/a.txt", b"two\n")]);
    bench.link("old", "other");
    for (name, target) in [
        ("file", "d/a.txt"),
        ("folder", "d"),
        ("d/up", "../other/a.txt"),
        ("far", "folder/up"),
        ("out", "../../etc/passwd"),
        ("root", "/"),
        ("circle", "circle"),
        ("old", "d"),
        ("gone", "nothing/there"),
    ] {
        bench.to_link(name, target);
    }
    bench.propose("old/x", ProposedChange::Delete);
    let view = bench.view();
    let read = |path: &str| {
        let place = view.contain(path)?;
        let state = view.read(&place).unwrap();
        Ok::<_, PathError>(match state {
            FileState::Text { text, .. } => format!("{}: {text}", place.shown),
            FileState::Binary { .. } => "binary".to_owned(),
            FileState::Missing => format!("{} is missing", place.shown),
        })
    };
    assert_eq!(read("file").unwrap(), "d/a.txt: one\n");
    assert_eq!(read("folder/a.txt").unwrap(), "d/a.txt: one\n");
    assert_eq!(read("far").unwrap(), "other/a.txt: two\n");
    assert_eq!(read("old/a.txt").unwrap(), "d/a.txt: one\n", "it leads elsewhere than on the disk");
    assert_eq!(read("gone").unwrap(), "nothing/there is missing");
    let error = read("out").unwrap_err().to_string();
    assert_eq!(
        error,
        "Path escapes workspace: out is a link to ../../etc/passwd, which is not inside"
    );
    assert!(matches!(read("root/etc/passwd"), Err(PathError::Escapes { .. })));
    assert!(matches!(read("circle"), Err(PathError::Loop { .. })));
    // The name itself, asked for as a place.
    let itself = |name: &str| view.read(&view.roots().place_in(0, Path::new(name)).unwrap());
    assert!(
        matches!(itself("file").unwrap(), FileState::Text { text, .. } if text == Text::from("one\n"))
    );
    let error = itself("out").unwrap_err();
    assert!(
        matches!(&error, FileError::Leads { target, .. } if target == "../../etc/passwd"),
        "{error}"
    );
}

#[test]
fn a_link_that_is_taken_away_is_followed_no_more() {
    let bench = Bench::new(&[("d/a.txt", b"one\n")]);
    bench.link("l", "d");
    bench.propose("l", ProposedChange::Delete);
    let view = bench.view();
    assert_eq!(view.contain("l/a.txt").unwrap().shown, "l/a.txt");
    assert!(matches!(
        view.read(&view.contain("l/a.txt").unwrap()),
        Ok(FileState::Missing) | Err(_)
    ));
    let before = bench.things();
    // A folder stands there instead.
    bench.write("l/a.txt", "mine\n");
    let after = bench.accept_and_undo(&before);
    assert_eq!(after.get("l"), Some(&Thing::Folder));
    assert_eq!(after.get("d/a.txt"), Some(&Thing::File(b"one\n".to_vec(), 0o644)));
}

#[test]
fn what_changed_since_is_left_alone() {
    let check = |change: ProposedChange, meanwhile: &dyn Fn(&Bench)| {
        let bench = Bench::new(&[("a.txt", b"one\n")]);
        bench.link("l", "a.txt");
        bench.propose("l", change);
        std::fs::remove_file(bench.path("l")).unwrap();
        let hunks = bench.hunks();
        meanwhile(&bench);
        let now = bench.thing("l");
        // It is seen before it is published, and shown anew.
        let report = bench.accept_one(hunks[0].id);
        bench.undo(&ropewalk_workspace::HunkSelection::All);
        assert_eq!(bench.thing("l"), now, "{report:?}");
    };
    check(ProposedChange::Link("b".into()), &|bench| bench.link("l", "theirs"));
    check(ProposedChange::Delete, &|bench| bench.link("l", "theirs"));
    check(ProposedChange::Link("b".into()), &|bench| std::fs::write(bench.path("l"), "t").unwrap());
    // Published, and then changed by the user: undo finds something else there.
    let bench = Bench::new(&[]);
    bench.to_link("l", "ours");
    assert_eq!(bench.accept(&ropewalk_workspace::HunkSelection::All).failed, []);
    std::fs::remove_file(bench.path("l")).unwrap();
    bench.link("l", "theirs");
    let report = bench.undo(&ropewalk_workspace::HunkSelection::All);
    assert_eq!(report.failed, [("l".to_owned(), Failure::Conflict)]);
    assert_eq!(bench.thing("l"), to("theirs"));
}

#[test]
fn renaming_a_link_makes_it_anew_and_back_is_no_change() {
    let bench = Bench::new(&[("a.txt", b"one\n")]);
    bench.link("l", "a.txt");
    let before = bench.things();
    bench.rename("l", "m");
    let after = bench.accept_and_undo(&before);
    assert_eq!((after.get("l"), after.get("m").cloned()), (None, to("a.txt")));
    bench.to_link("l", "b");
    bench.to_link("l", "a.txt");
    assert_eq!(bench.review(), [""; 0]);
}

#[test]
fn places_of_names_are_inside_or_refused() {
    let bench = Bench::new(&[("d/a.txt", b"")]);
    bench.link("out", "/etc");
    bench.link("in", "d");
    let roots = bench.workspace.roots();
    let name =
        |name: &str| roots.place_of_name(&bench.path("").join(name)).map(|place| place.shown);
    assert_eq!(name("out").unwrap(), "out");
    assert_eq!(name("in/new").unwrap(), "d/new");
    assert!(name("out/passwd").is_err());
    assert!(name("../x").is_err());
    assert!(roots.place_of_name(Path::new("relative")).is_err());
    for bad in ["../x", "/etc/passwd", "a/../../x"] {
        assert_eq!(roots.place_in(0, Path::new(bad)), None, "{bad}");
    }
    assert_eq!(roots.place_in(1, Path::new("a")), None);
    assert_eq!(Roots::none().place_in(0, Path::new("a")), None);
}
