//! What commands see of folders beside and above their roots.

use crate::world::{World, finish};
use ropewalk_sandbox::End;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

const OK: End = End::Exited { code: 0, left_running: false };

/// Writes a file of the machine, that may be run.
fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn a_folder_above_a_root_covers_nothing_of_the_fork() {
    let mut world = World::new();
    let home = world.home().to_owned();
    let cache = home.join(".cache/builds/1");
    std::fs::create_dir_all(&cache).unwrap();
    put(&home.join("notes.txt"), "notes");
    put(&home.join(".cargo/bin/tool"), "#!/bin/sh\necho tool\n");
    world.write("a.txt", "disk");
    world.write(".env", "SECRET");
    world.plan.caches = vec![cache.clone()];
    world.plan.hidden = vec![world.root().join(".env")];
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let (end, _) = world.sh(&sandbox, "echo layer > a.txt; echo kept > ~/.cargo/kept").await;
        assert_eq!(end, OK);
        let above = [vec![home.clone()], vec![home.parent().unwrap().to_owned(), home.clone()]];
        for shown in above {
            let (mut spec, output) = world.spec(
                "cat a.txt .env; echo x > new && cat new ~/notes.txt && echo && echo x > ~/.cache/builds/1/b && \
                 ~/.cargo/bin/tool && cat ~/.cargo/kept && echo y > ~/.cargo/kept2; echo x > ~/evil",
            );
            spec.shown.clone_from(&shown);
            let (_, said) = finish(&sandbox, spec, output).await;
            assert!(!said.contains("SECRET"), "{said}");
            let said = said.replace("cat: .env: Permission denied\n", "");
            assert!(said.starts_with("layer\nx\nnotes\ntool\nkept\n"), "{shown:?}: {said}");
            assert!(said.contains("Read-only file system"), "{said}");
            assert_eq!(std::fs::read_to_string(cache.join("b")).unwrap(), "x\n");
            std::fs::remove_file(cache.join("b")).unwrap();
        }
        // A cache that is named as well stays what it is, and so does a toolchain.
        let (mut spec, output) = world.spec("echo x > ~/.cache/builds/1/c && echo z > ~/.cargo/z");
        spec.shown = vec![cache.clone(), home.join(".cargo/bin")];
        assert_eq!(finish(&sandbox, spec, output).await, (OK, String::new()));
        assert!(cache.join("c").exists());
    });
    assert!(!home.join("evil").exists() && !home.join(".cargo/kept").exists());
    assert_eq!(world.read("a.txt"), "disk");
    assert!(!world.root().join("new").exists());
}

pub(crate) fn sockets_beside_the_roots_lead_nowhere() {
    let mut world = World::named("repository/part");
    let home = world.home().to_owned();
    let (around, other) = (home.join("repository"), home.join("other"));
    put(&around.join("sibling"), "old");
    put(&other.join("a"), "a");
    put(&home.join(".cargo/bin/tool"), "");
    let at = |folder: &Path| folder.join("listens.sock");
    let places = [at(&around), at(&other), at(&home.join(".cargo")), home.join("named.sock")];
    let listeners: Vec<_> = places
        .iter()
        .map(|path| {
            let listener = UnixListener::bind(path).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
            listener.set_nonblocking(true).unwrap();
            listener
        })
        .collect();
    let fifo = around.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o666)).unwrap();
    let read = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
    let _reader = rustix::fs::open(&fifo, read, rustix::fs::Mode::empty()).unwrap();
    world.plan.shown.push(around.clone());
    let mut script = "import os,socket\n".to_owned();
    for path in &places {
        script.push_str(&format!(
            "try: socket.socket(socket.AF_UNIX).connect({path:?}); print('reached')\nexcept OSError as e: print(type(e).__name__)\n"
        ));
    }
    script.push_str(&format!(
        "try: os.open({fifo:?}, os.O_WRONLY | os.O_NONBLOCK); print('reached')\nexcept OSError as e: print(e.strerror)\n"
    ));
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let (mut spec, output) = world.spec("");
        spec.argv = vec!["python3".into(), "-c".into(), script.into()];
        spec.shown = vec![other.clone(), home.join("named.sock")];
        let (_, said) = finish(&sandbox, spec, output).await;
        let refused = "ConnectionRefusedError\n".repeat(3);
        assert_eq!(said, format!("{refused}FileNotFoundError\nNo such device or address\n"));
        for listener in listeners {
            let error = listener.accept().unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
        }
        // What is shown is live all the same: another file by that name, and one that was not there.
        let script = "cat ../sibling ../new; true";
        assert!(world.sh(&sandbox, script).await.1.starts_with("old"), "nothing is new yet");
        std::fs::write(around.join("beside"), "replaced").unwrap();
        std::fs::rename(around.join("beside"), around.join("sibling")).unwrap();
        std::fs::write(around.join("new"), " and new").unwrap();
        assert_eq!(world.sh(&sandbox, script).await, (OK, "replaced and new".to_owned()));
    });
}
