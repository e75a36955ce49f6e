//! Looking at the disk beside an open document: a file left alone is read once, a changed one always again.

use ropewalk_workspace::{DiskLook, DocId, Roots, Workspace};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

struct Desk {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::new(vec![("root".to_owned(), folder.path().to_owned())]);
        Self { folder, workspace: Workspace::new(roots) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.txt")
    }

    fn open(&self, text: &str) -> DocId {
        self.workspace.open(&DocId::from_path(&self.path()).to_uri(), "text", 1, text)
    }

    /// True if the next look can do without reading the file.
    fn is_known(&self, id: &DocId) -> bool {
        let known = |document: &mut ropewalk_workspace::Document| {
            document.saved.as_ref().is_some_and(|saved| saved.meta.is_some())
        };
        self.workspace.with_document(id, known).unwrap()
    }
}

/// Writes a file that says it was written an hour ago.
fn write_old(path: &Path, text: &str, now: SystemTime) {
    fs::write(path, text).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(now - Duration::from_secs(3600)).unwrap();
}

#[test]
fn a_file_left_alone_is_known_whatever_the_buffer_does() {
    let desk = Desk::new();
    write_old(&desk.path(), "one\n", SystemTime::now());
    let id = desk.open("two\n");
    assert_eq!(desk.workspace.look_at_disk(&id), DiskLook::Dirty);
    assert!(desk.is_known(&id));
    let uri = id.to_uri();
    let text = |text: &str| {
        let change = ropewalk_workspace::ContentChange { range: None, text: text.to_owned() };
        desk.workspace.change(&uri, 2, &[change]).unwrap();
        desk.workspace.look_at_disk(&id)
    };
    assert_eq!(text("one\n"), DiskLook::Clean);
    assert_eq!(text("one\ntwo\n"), DiskLook::Dirty);
    assert_eq!(text("one\n"), DiskLook::Clean);
    assert!(desk.is_known(&id));
    fs::remove_file(desk.path()).unwrap();
    assert_eq!(desk.workspace.look_at_disk(&id), DiskLook::NoFile);
}

#[test]
fn a_file_written_just_now_is_read_again() {
    let desk = Desk::new();
    fs::write(desk.path(), "one\n").unwrap();
    let id = desk.open("one\n");
    assert_eq!(desk.workspace.look_at_disk(&id), DiskLook::Clean);
    assert!(!desk.is_known(&id), "a second change may come within the same step of the clock");
    let tomorrow = SystemTime::now() + Duration::from_secs(86_400);
    File::options().write(true).open(desk.path()).unwrap().set_modified(tomorrow).unwrap();
    assert_eq!(desk.workspace.look_at_disk(&id), DiskLook::Clean);
    assert!(!desk.is_known(&id), "a time that is still to come says nothing");
}

/// As `cp -p` or `rsync` do it: same length, same time.
#[cfg(unix)]
#[test]
fn a_change_that_sets_the_time_back_is_seen() {
    let desk = Desk::new();
    let now = SystemTime::now();
    write_old(&desk.path(), "one\n", now);
    let id = desk.open("one\n");
    assert_eq!(desk.workspace.look_at_disk(&id), DiskLook::Clean);
    assert!(desk.is_known(&id));
    write_old(&desk.path(), "two\n", now);
    // Written to the same file within one tick of the system's clock it could look the same; another file
    // in its place never does.
    let beside = desk.folder.path().join("b.txt");
    write_old(&beside, "two\n", now);
    fs::rename(beside, desk.path()).unwrap();
    assert_eq!(desk.workspace.look_at_disk(&id), DiskLook::Moved);
}
