//! Files that can't be written: a full disk, a read-only one, a file of somebody else's. It is said in words, and nothing is
//! half written.

use crate::ground::Ground;
use crate::process::{Role, program};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Fills the disk that `file` lies on.
fn fill(file: &Path) {
    let mut open = fs::File::create(file).unwrap();
    while open.write_all(&[0; 4096]).is_ok() {}
    while open.write_all(&[0]).is_ok() {}
}

pub(crate) fn full(ground: &Ground) {
    let filler = ground.folder().join("filler");
    fs::write(&filler, vec![0; 512 * 1024]).unwrap();
    let mut alice = Role::new(&ground.place, "alice").join();
    let mut bob = Role::new(&ground.place, "bob").join();
    let mut made = 0;
    let refused = loop {
        let answer = alice.ask("create 20000");
        if answer != format!("created {}", made + 1) {
            break answer;
        }
        made += 1;
    };
    let words = format!(
        "refused: The team's board can't be written: the disk of {} is full.",
        ground.place
    );
    assert_eq!(refused, words);
    assert_eq!(bob.ask("create 20000"), words);
    assert!(made > 0);

    // A first start there is refused as a whole, too.
    fill(&ground.folder().join("rest"));
    let fresh = ground.folder().join("fresh.db").display().to_string();
    let mut carol = Role::new(&fresh, "carol").start();
    assert_eq!(carol.ask("open"), words.replace(&ground.place, &fresh));

    fs::remove_file(ground.folder().join("rest")).unwrap();
    fs::remove_file(filler).unwrap();
    assert_eq!(bob.ask("create 20000"), format!("created {}", made + 1), "no number was lost");
    assert_eq!(carol.ask("open"), "opened");
    assert_eq!(carol.ask("join"), "joined");
    let (tasks, entries) = ground.team(async |team| {
        (team.tasks(0, 10_000).await.unwrap(), team.log(0, 10_000).await.unwrap())
    });
    assert!(tasks.iter().all(|task| task.description.len() == 20_000));
    assert_eq!(tasks.len(), made + 1);
    assert_eq!(entries.iter().filter(|entry| entry.event == "created").count(), made + 1);
    assert_eq!(
        ground.sql("select count(*) from pragma_integrity_check where integrity_check <> 'ok'"),
        0
    );
}

pub(crate) fn read_only(ground: &Ground) {
    let words = format!(
        "refused: The team's board can't be written: {} is read-only, or belongs to somebody else.",
        ground.place
    );
    // Killed, a process leaves its log beside the file.
    let mut alice = Role::new(&ground.place, "alice").join();
    assert_eq!(alice.ask("create 10"), "created 1");
    drop(alice);
    ground.remount("ro");
    let before = files(ground.folder());
    let mut bob = Role::new(&ground.place, "bob").start();
    assert_eq!(bob.ask("open"), words);
    let fresh = ground.folder().join("fresh.db").display().to_string();
    let mut carol = Role::new(&fresh, "carol").start();
    assert_eq!(carol.ask("open"), words.replace(&ground.place, &fresh));
    assert_eq!(files(ground.folder()), before);
    ground.remount("rw");
    assert_eq!(bob.ask("open"), "opened");
    assert_eq!(bob.ask("join"), "joined");
    assert_eq!(bob.ask("claim"), "claimed 1 1");
}

pub(crate) fn read_only_file(ground: &Ground) {
    let mut alice = Role::new(&ground.place, "alice").join();
    assert_eq!(alice.ask("create 10"), "created 1");
    // Each may make files beside it, so that the file alone is what can't be written.
    fs::set_permissions(ground.folder(), fs::Permissions::from_mode(0o777)).unwrap();
    for file in fs::read_dir(ground.folder()).unwrap() {
        fs::set_permissions(file.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
    }
    let before = files(ground.folder());
    let mut command = Command::new("setpriv");
    if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command.arg("--").arg(program());
    let mut bob = Role::new(&ground.place, "bob").start_by(command);
    let answer = bob.ask("open");
    assert!(answer.contains("is read-only, or belongs to somebody else."), "{answer}");
    assert_eq!(files(ground.folder()), before);
    assert_eq!(alice.ask("claim"), "claimed 1 1");
}

/// Names and contents of a folder's files, but for the memory that readers share.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with("-shm") {
            files.push((name, fs::read(path).unwrap()));
        }
    }
    files.sort();
    files
}
