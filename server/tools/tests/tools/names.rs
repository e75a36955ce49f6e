//! `delete_file` and `move_file`.

use crate::support::Bench;
use serde_json::json;

#[test]
fn a_deleted_file_is_gone_for_the_next_call_alone() {
    let mut bench = Bench::new(&[("a", b"text\n"), ("dir/b", b"\0"), ("n.ipynb", b"")]);
    bench.open("open", "never saved\n");
    bench.say("write_file", json!({"path": "mine", "content": "x"}));
    for (path, expected) in [
        ("a", "Deleted a"),
        (
            "a",
            "Error: There is no file a: a change of yours that is not published yet took it away",
        ),
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

#[test]
fn a_moved_file_takes_its_changes_along() {
    let mut bench = Bench::new(&[("a", b"text\n"), ("b", b"b"), ("dir/x", b"x")]);
    bench.say("edit_file", json!({"path": "a", "old_text": "text", "new_text": "changed"}));
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
    assert!(said.starts_with("Error: a was given another name by a change of yours"), "{said}");
}
