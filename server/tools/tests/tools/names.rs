//! `delete_file` and `move_file`.

use crate::support::Bench;
use ropewalk_workspace::entry::FileChange;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn a_deleted_file_is_gone_for_the_next_call_alone() {
    let mut bench = Bench::new(&[("a", b"text\n"), ("dir/b", b"\0"), ("n.ipynb", b"")]);
    bench.open("open", "never saved\n");
    bench.open_notebook("n.ipynb");
    bench.say("write_file", json!({"path": "mine", "content": "x"}));
    for (path, expected) in [
        ("a", "Deleted a"),
        ("a", "Error: There is no file a: a pending change of yours deleted or moved it"),
        ("dir/b", "Deleted dir/b"),
        ("mine", "Deleted mine"),
        ("mine", "Error: There is no file mine"),
        ("open", "Deleted open (it has unsaved text in the editor"),
        ("dir", "Error: dir is a folder, not a file"),
        ("none", "Error: There is no file none"),
        ("n.ipynb", "Error: n.ipynb is a notebook"),
        ("../outside/secret.txt", "Error: Path escapes workspace: ../outside/secret.txt"),
    ] {
        let said = bench.say("delete_file", json!({"path": path}));
        assert!(said.starts_with(expected), "{said}");
    }
    assert_eq!(bench.bytes("a"), None);
    assert!(bench.path("a").exists(), "nothing before a yes");
    assert!(bench.beside("outside/secret.txt").exists());
}

/// Links to a file beside them, from a folder up, to a folder, to nothing, to what may hold secrets and outside.
fn with_links() -> Bench {
    let bench = Bench::new(&[("a", b"text\n"), ("dir/b", b"b\n"), (".env", b"KEY=1\n")]);
    let outside = bench.beside("outside/secret.txt");
    for (name, target) in [
        ("to-a", "a"),
        ("dir/up", "../a"),
        ("to-dir", "dir"),
        ("dangling", "nothing"),
        ("secret", ".env"),
        ("out", outside.to_str().unwrap()),
    ] {
        symlink(target, bench.path(name)).unwrap();
    }
    bench
}

/// Target of a link in the fork; None if the link goes.
fn link(bench: &Bench, name: &str) -> Option<String> {
    let doc = bench.workspace.roots().place_in(0, Path::new(name)).unwrap().doc();
    let file = bench.fork.files().find(|(id, _)| **id == doc).map(|(_, file)| file).unwrap();
    match &file.entry.file {
        Some((FileChange::Delete, _)) => None,
        Some((FileChange::Link(target), _)) => Some(target.to_str().unwrap().to_owned()),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_deleted_link_leaves_what_it_leads_to() {
    for open in [false, true] {
        let mut bench = with_links();
        if open {
            bench.open("a", "text\n");
            bench.workspace.look_at_disks();
        }
        let said = bench.say("delete_file", json!({"path": "to-dir/b"}));
        assert_eq!(said, "Deleted dir/b", "a link above the file is followed");
        for (name, shown) in [
            ("to-a", "to-a"),
            ("dir/up", "dir/up"),
            ("./to-dir", "to-dir"),
            ("dangling", "dangling"),
            ("secret", "secret"),
            ("out", "out"),
        ] {
            let said = bench.say("delete_file", json!({"path": name}));
            assert!(said.starts_with(&format!("Deleted {shown}, a link to ")), "{said}");
            assert_eq!(link(&bench, shown), None);
            let said = bench.say("delete_file", json!({"path": name}));
            assert!(said.starts_with("Error: "), "{said}");
        }
        assert_eq!(bench.text("a"), "text\n");
        assert_eq!(bench.bytes(".env").as_deref(), Some(&b"KEY=1\n"[..]));
    }
}

#[test]
fn a_moved_link_leads_where_it_says() {
    for open in [false, true] {
        let mut bench = with_links();
        if open {
            bench.open("a", "text\n");
            bench.workspace.look_at_disks();
        }
        for (name, to, expected) in [
            ("to-a", "b", "Moved to-a to b; it is a link to a"),
            ("dir/up", "up", "Moved dir/up to up; it is a link to ../a, read from its new folder"),
            (
                "dangling",
                "./new/d",
                "Moved dangling to new/d; it is a link to nothing, read from its new folder",
            ),
            ("secret", "plain", "Moved secret to plain; it is a link to .env"),
            ("a", "to-dir", "Error: dir is a folder"),
            ("a", "new/d", "Error: new/d exists already"),
            ("to-dir", "folder", "Moved to-dir to folder; it is a link to dir"),
            ("folder/b", "c", "Moved dir/b to c"),
        ] {
            let said = bench.say("move_file", json!({"path": name, "to": to}));
            assert!(said.starts_with(expected), "{name} {to}: {said}");
        }
        for (name, to, target) in [
            ("to-a", "b", "a"),
            ("dir/up", "up", "../a"),
            ("dangling", "new/d", "nothing"),
            ("secret", "plain", ".env"),
            ("to-dir", "folder", "dir"),
        ] {
            assert_eq!((link(&bench, name), link(&bench, to).as_deref()), (None, Some(target)));
        }
        assert_eq!(bench.text("a"), "text\n");
        assert_eq!(bench.bytes(".env").as_deref(), Some(&b"KEY=1\n"[..]));
    }
    let mut bench = with_links();
    let said = bench.say("move_file", json!({"path": "a", "to": "dangling"}));
    assert!(said.starts_with("Error: "), "what is there is a link: {said}");
}

#[test]
fn a_link_that_is_open_by_its_name_stays() {
    let mut bench = with_links();
    bench.open("to-a", "text\n");
    bench.workspace.look_at_disks();
    for (tool, input) in [
        ("delete_file", json!({"path": "to-a"})),
        ("move_file", json!({"path": "to-a", "to": "b"})),
    ] {
        let said = bench.say(tool, input);
        assert!(said.starts_with("Error: to-a is a link to a, and that is open"), "{said}");
    }
    assert_eq!(bench.text("a"), "text\n");
}

#[test]
fn a_moved_file_takes_its_changes_along() {
    let mut bench = Bench::new(&[("a", b"text\n"), ("b", b"b"), ("dir/x", b"x")]);
    bench.say("edit_file", json!({"path": "a", "old_text": "text", "new_text": "changed"}));
    bench.open_notebook("a.ipynb");
    for (path, to, expected) in [
        ("a", "b", "Error: b exists already"),
        ("a", "dir", "Error: dir is a folder. Give the whole new path"),
        ("a", "new/", "Error: new is a folder"),
        ("a", "./a", "Error: both paths are a; nothing to move"),
        ("a", "b/c", "Error: The path b/c goes through a file"),
        ("a", "../a", "Error: Path escapes workspace: ../a"),
        ("dir", "d", "Error: dir is a folder"),
        ("none", "d", "Error: There is no file none"),
        ("a", "a.ipynb", "Error: a.ipynb is a notebook"),
        ("a", "new/c", "Moved a to new/c"),
        ("a", "d", "Error: There is no file a"),
        ("b", "a", "Moved b to a"),
    ] {
        let said = bench.say("move_file", json!({"path": path, "to": to}));
        assert!(said.starts_with(expected), "{path} {to}: {said}");
    }
    assert_eq!(bench.text("new/c"), "changed\n");
    assert!(bench.path("a").exists() && !bench.path("new").exists(), "nothing before a yes");
}

#[test]
fn a_name_can_be_used_again() {
    let to = |path: &str, to: &str| ("move_file", json!({"path": path, "to": to}));
    let delete = |path: &str| ("delete_file", json!({"path": path}));
    let write = |path: &str| ("write_file", json!({"path": path, "content": "new\n"}));
    // Calls, then each file with its text.
    for (calls, files) in [
        (vec![delete("b"), to("a", "b")], [("a", None), ("b", Some("a\n"))]),
        (vec![to("a", "d"), to("d", "a")], [("a", Some("a\n")), ("d", None)]),
        (vec![to("a", "d"), to("b", "a")], [("a", Some("b\n")), ("d", Some("a\n"))]),
        (vec![to("a", "d"), delete("d")], [("a", None), ("d", None)]),
        (vec![write("m"), to("m", "d")], [("m", None), ("d", Some("new\n"))]),
        (vec![write("m"), delete("m"), write("m")], [("m", Some("new\n")), ("d", None)]),
        (vec![delete("a"), write("a")], [("a", Some("new\n")), ("d", None)]),
    ] {
        let mut bench = Bench::new(&[("a", b"a\n"), ("b", b"b\n")]);
        for (tool, input) in &calls {
            let said = bench.say(tool, input.clone());
            assert!(!said.starts_with("Error"), "{calls:?}: {said}");
        }
        for (name, text) in files {
            let found = bench.bytes(name).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(found.as_deref(), text, "{name} after {calls:?}");
        }
    }
    let mut bench = Bench::new(&[("a", b"a\n")]);
    let (tool, input) = to("a", "d");
    bench.say(tool, input);
    let (tool, input) = write("a");
    let said = bench.say(tool, input);
    assert!(
        said.starts_with("Error: a was given another name by a pending change of yours"),
        "{said}"
    );
}
