//! News: each session hears once of what concerns it, and of what concerns all.

use ropewalk_workspace::{Note, Workspace};

fn note(file: &str) -> Note {
    Note::DiskConflict { file: file.to_owned() }
}

#[test]
fn what_concerns_all_is_heard_once_by_each_session_there_is() {
    let workspace = Workspace::default();
    workspace.tell(None, note("nobody is there yet"));
    workspace.join("one".into());
    workspace.join("two".into());
    workspace.tell(None, note("a"));
    workspace.tell(Some("two".into()), note("b"));
    workspace.tell(None, note("a"));
    workspace.join("three".into());
    assert_eq!(workspace.take_news("one"), [note("a")]);
    assert_eq!(workspace.take_news("one"), []);
    assert_eq!(workspace.take_news("two"), [note("a"), note("b")]);
    assert_eq!(workspace.take_news("two"), []);
    assert_eq!(workspace.take_news("three"), [], "it came later");
}

#[test]
fn a_session_that_has_left_has_no_news() {
    let workspace = Workspace::default();
    workspace.join("one".into());
    workspace.join("two".into());
    workspace.tell(None, note("a"));
    workspace.leave("one");
    workspace.tell(None, note("b"));
    assert_eq!(workspace.take_news("one"), []);
    assert_eq!(workspace.take_news("two"), [note("a"), note("b")]);
}
