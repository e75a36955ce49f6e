//! One file that is open under two names: the agent sees and changes the text in use.

use super::bench::Bench;
use ropewalk_workspace::{ContentChange, DocId, FileState};

/// A file `a.txt` with another name `b.txt`, both open.
fn bench(is_hard: bool) -> Bench {
    let bench = Bench::new(&[("a.txt", b"one\ntwo\nthree\n")]);
    match is_hard {
        true => std::fs::hard_link(bench.path("a.txt"), bench.path("b.txt")).unwrap(),
        false => bench.link("b.txt", "a.txt"),
    }
    for name in ["a.txt", "b.txt"] {
        bench.open(name, "one\ntwo\nthree\n");
    }
    bench
}

fn types(bench: &Bench, name: &str, text: &str) {
    let uri = DocId::from_path(&bench.path(name)).to_uri();
    let change = ContentChange { range: None, text: text.to_owned() };
    bench.workspace.change(&uri, 2, &[change]).unwrap();
}

fn reads(bench: &Bench, name: &str) -> String {
    let view = bench.view();
    match view.read(&view.contain(name).unwrap()).unwrap() {
        FileState::Text { text, .. } => text.to_string(),
        other => format!("{other:?}"),
    }
}

/// The names of the documents in which something is pending.
fn pending(bench: &Bench) -> Vec<String> {
    let name = |path: std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    bench.hunks().into_iter().map(|hunk| name(hunk.doc.path().unwrap())).collect()
}

#[test]
fn the_text_in_use_is_the_one_that_is_read_and_changed() {
    for is_hard in [false, true] {
        for used in ["a.txt", "b.txt"] {
            let bench = bench(is_hard);
            types(&bench, used, "one\nTWO\nthree\n");
            for name in ["a.txt", "b.txt"] {
                assert_eq!(reads(&bench, name), "one\nTWO\nthree\n", "{name} while {used} is used");
            }
            for material in bench.view().materials() {
                let text = format!("{:?}", material.stands);
                assert!(text.contains("TWO"), "{}: {text}", material.place.shown);
            }
            bench.propose("a.txt", write("one\nTWO\nfour\n"));
            assert_eq!(pending(&bench), [used]);
            for name in ["a.txt", "b.txt"] {
                assert_eq!(reads(&bench, name), "one\nTWO\nfour\n");
            }
        }
    }
}

fn write(text: &str) -> ropewalk_workspace::ProposedChange {
    ropewalk_workspace::ProposedChange::Write(ropewalk_text::Text::from(text))
}

#[test]
fn the_last_one_opened_is_in_use_while_none_has_unsaved_text() {
    let bench = bench(false);
    bench.propose("a.txt", write("one\n"));
    assert_eq!(pending(&bench), ["b.txt"]);
}

#[test]
fn what_is_pending_follows_the_user_to_the_other_name() {
    for is_hard in [false, true] {
        let bench = bench(is_hard);
        bench.propose("a.txt", write("one\ntwo\nfour\n"));
        let first = pending(&bench);
        let other = if first == ["a.txt"] { "b.txt" } else { "a.txt" };
        types(&bench, other, "ONE\ntwo\nthree\n");
        bench.view();
        assert_eq!(pending(&bench), [other]);
        assert_eq!(reads(&bench, "a.txt"), "ONE\ntwo\nfour\n");
        // The one in use is closed with its text; the other is there still.
        let uri = DocId::from_path(&bench.path(other)).to_uri();
        bench.workspace.close(&uri);
        bench.view();
        assert_eq!(pending(&bench), first);
        assert_eq!(reads(&bench, "b.txt"), "one\ntwo\nfour\n");
    }
}

#[test]
fn a_name_that_was_given_to_another_file_is_no_alias() {
    let bench = bench(true);
    bench.view();
    std::fs::remove_file(bench.path("b.txt")).unwrap();
    std::fs::write(bench.path("b.txt"), "other\n").unwrap();
    bench.propose("a.txt", write("one\n"));
    assert_eq!(pending(&bench), ["a.txt"]);
    assert_eq!(reads(&bench, "a.txt"), "one\n");
}
