//! Saves, and typing that goes on after them: what the disk is found to hold is judged by what was in the
//! buffer when it was saved, not by what is in it when somebody looks.

use ropewalk_text::Position;
use ropewalk_workspace::{ContentChange, DiskLook, DocId, Roots, Workspace};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

fn type_at_start(workspace: &Workspace, uri: &str, version: i32, text: &str) {
    let start = Position::new(0, 0);
    let change = ContentChange { range: Some((start, start)), text: text.to_owned() };
    workspace.change(uri, version, &[change]).unwrap();
}

#[test]
fn typing_on_after_a_save_is_no_conflict_and_no_alarm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("a.txt");
    std::fs::write(&path, "one\n").unwrap();
    let workspace = Workspace::new(Roots::new(vec![("w".to_owned(), folder.path().to_owned())]));
    let uri = DocId::from_path(&path).to_uri();
    let id = workspace.open(&uri, "text", 1, "one\n");
    assert_eq!(workspace.look_at_disk(&id), DiskLook::Clean);

    type_at_start(&workspace, &uri, 2, "a");
    std::fs::write(&path, "aone\n").unwrap();
    workspace.written(&id);
    type_at_start(&workspace, &uri, 3, "b");
    assert!(!workspace.look_after_save(&id));
    assert_eq!(workspace.look_at_disk(&id), DiskLook::Dirty);
    assert_eq!((workspace.desync_alarms(), workspace.take_news("s")), (0, vec![]));

    // The file written is not the text that we know: the client and we disagree.
    std::fs::write(&path, "other\n").unwrap();
    workspace.written(&id);
    assert!(workspace.look_after_save(&id));
    assert_eq!(workspace.desync_alarms(), 1);
}

/// A folder with `a.txt`, which is open with the same text and was looked at, and somebody who hears of conflicts.
fn opened(text: &str) -> (tempfile::TempDir, PathBuf, Workspace, DocId) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("a.txt");
    std::fs::write(&path, text).unwrap();
    let workspace = Workspace::new(Roots::new(vec![("w".to_owned(), folder.path().to_owned())]));
    workspace.join("s".into());
    let id = workspace.open(&DocId::from_path(&path).to_uri(), "text", 1, text);
    assert_eq!(workspace.look_at_disk(&id), DiskLook::Clean);
    (folder, path, workspace, id)
}

#[test]
fn a_file_that_the_editor_is_writing_is_no_conflict() {
    let (_folder, path, workspace, id) = opened("one\n");
    let mut text = "one\n".to_owned();
    for version in 2..150 {
        type_at_start(&workspace, &id.to_uri(), version, "ä\n");
        text.insert_str(0, "ä\n");
        if version % 2 == 0 {
            // As where the last save was a while ago.
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(10)).unwrap();
        }
        // As editors save: the file is emptied first.
        std::thread::scope(|scope| {
            let save = scope.spawn(|| std::fs::write(&path, &text).unwrap());
            while !save.is_finished() {
                workspace.look_at_disk(&id);
            }
        });
        assert_eq!(workspace.look_at_disk(&id), DiskLook::Clean);
        workspace.written(&id);
        assert!(!workspace.look_after_save(&id));
        assert_eq!(workspace.take_news("s"), vec![]);
    }
}

#[test]
fn what_a_save_looks_like_halfway_is_told_if_it_stays_so() {
    let (_folder, path, workspace, id) = opened("one\n");
    std::fs::write(&path, "on").unwrap();
    assert_eq!(workspace.look_at_disk(&id), DiskLook::Moved);
    type_at_start(&workspace, &id.to_uri(), 2, "b");
    assert_eq!(workspace.look_at_disk(&id), DiskLook::Conflict);
    assert_eq!(workspace.take_news("s").len(), 1);
}
