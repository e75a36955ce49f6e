//! The search for planted keys can fail: it finds each of them in every spelling it promises, and nothing else.

use ropewalk_testkit::planted::{KEY, KeyWatch, MARK, OTHER_KEY, assert_absent_in, find, find_in};
use std::process::{Command, Stdio};

#[test]
fn it_finds_every_spelling() {
    for key in [KEY, OTHER_KEY] {
        let spelled = [
            key.to_owned(),
            format!("\u{fffd}é{key}\0"),
            serde_json::json!({ "a": [key] }).to_string(),
            key.replace('/', "\\/"),
            key.replace('/', "%2F").replace('+', "%2B").replace('=', "%3D"),
            key.chars().rev().collect(),
            key.bytes().map(|byte| format!("{byte:02x}")).collect(),
            key.split_at(key.len() - 1).0.to_owned(),
        ];
        for text in spelled {
            let found = find(format!("before {text} after").as_bytes());
            assert!(found.is_some_and(|words| words.contains("before")), "{text}");
        }
    }
    for clean in ["", MARK, "sk-ant-api03-abc", KEY.split_at(30).1, "before after"] {
        assert_eq!(find(clean.as_bytes()), None, "{clean}");
    }
}

#[test]
fn it_finds_what_a_program_has_written_in_base64() {
    for before in ["", "1", "12", "123"] {
        let mut child = Command::new("base64")
            .arg("-w0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let text = format!("{before}{KEY} after");
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(find(&output.stdout).unwrap().contains("in base64"), "{before}");
    }
}

#[test]
fn it_finds_a_key_cut_in_two_frames() {
    for at in 1..KEY.len() {
        let mut watch = KeyWatch::default();
        let (head, tail) = KEY.split_at(at);
        let first = watch.find(head);
        assert!(first.or_else(|| watch.find(tail)).is_some(), "{at}");
    }
    let mut watch = KeyWatch::default();
    assert_eq!(watch.find(&"clean ".repeat(1_000)), None);
    assert_eq!(watch.find("words"), None);
}

#[test]
fn it_finds_what_a_child_leaves_behind() {
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &str| {
        let mut child = Command::new("sh");
        child.args(["-c", command]).current_dir(folder.path()).env("LEAKED", KEY);
        assert!(child.status().unwrap().success());
    };
    run("mkdir -p a/b; echo clean > a/b/file; ln -s / a/everything");
    assert_absent_in(folder.path());
    run("printf %s \"x$LEAKED\" > a/b/.hidden");
    assert!(find_in(folder.path()).unwrap().contains(".hidden"));
    std::panic::catch_unwind(|| assert_absent_in(folder.path())).unwrap_err();
    run("rm a/b/.hidden; echo > a/b/$(echo $LEAKED | tr / -)");
    assert!(find_in(folder.path()).is_some(), "a name can show the first half");
}
