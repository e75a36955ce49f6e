//! Files that change while they are used: links swapped in, things that are no files, a root that
//! goes away, a disk that is full.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use ropewalk_files::disk::{self, Expect, FileError, FileKind};
use ropewalk_files::paths::{Place, Roots};
use ropewalk_text::ContentHash;
use tempfile::TempDir;

const LIMIT: u64 = 1 << 20;

/// `ws/sub/file` inside, `outside/file` outside.
struct World {
    _guard: TempDir,
    base: PathBuf,
    roots: Roots,
}

impl World {
    fn new() -> Self {
        let guard = TempDir::new().unwrap();
        let base = guard.path().canonicalize().unwrap();
        for folder in ["ws/sub", "ws/other", "outside"] {
            fs::create_dir_all(base.join(folder)).unwrap();
            fs::write(base.join(folder).join("file"), folder).unwrap();
        }
        let roots = Roots::new(vec![("ws".to_owned(), base.join("ws"))]);
        Self { _guard: guard, base, roots }
    }

    fn place(&self, path: &str) -> Place {
        self.roots.contain(path).unwrap()
    }

    fn swap(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.base.join(path);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        symlink(target, path).unwrap();
    }

    /// Tries everything with a place and returns the errors.
    fn everything(&self, place: &Place) -> Vec<FileError> {
        let roots = &self.roots;
        let elsewhere = self.place("elsewhere");
        let other = self.place("other/file");
        vec![
            disk::read(roots, place, LIMIT).unwrap_err(),
            disk::stat(roots, place).unwrap_err(),
            disk::identity(roots, place).unwrap_err(),
            disk::write(roots, place, b"bad", Expect::Anything).unwrap_err(),
            disk::write(roots, place, b"bad", Expect::Hash(ContentHash::of(b"outside")))
                .unwrap_err(),
            disk::set_mode(roots, place, 0o600).unwrap_err(),
            disk::remove(roots, place, Expect::Anything).unwrap_err(),
            disk::remove(roots, place, Expect::Hash(ContentHash::of(b"outside"))).unwrap_err(),
            disk::rename(roots, place, &elsewhere, Expect::Anything).unwrap_err(),
            disk::rename(roots, &other, place, Expect::Anything).unwrap_err(),
        ]
    }

    fn outside_is_untouched(&self) {
        let outside = self.base.join("outside");
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "outside");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
    }
}

#[test]
fn a_folder_that_became_a_link_is_refused() {
    for target in ["../outside", "other", "/etc", "sub"] {
        let world = World::new();
        let place = world.place("sub/file");
        world.swap("ws/sub", target);
        for error in world.everything(&place) {
            let expected = FileError::BecameLink { path: "sub/file".into(), link: "sub".into() };
            assert_eq!(error, expected, "{target}");
        }
        let error = disk::create_parents(&world.roots, &place).unwrap_err();
        assert!(matches!(error, FileError::BecameLink { .. }));
        assert!(fs::symlink_metadata(world.base.join("ws/sub")).unwrap().is_symlink());
        world.outside_is_untouched();
    }
}

#[test]
fn a_folder_that_was_missing_and_became_a_link_is_refused() {
    let world = World::new();
    let place = world.place("new/deep/file");
    symlink("../outside", world.base.join("ws/new")).unwrap();
    for expect in [Expect::Absent, Expect::Anything] {
        let error = disk::write(&world.roots, &place, b"bad", expect).unwrap_err();
        assert!(matches!(error, FileError::BecameLink { .. }), "{error}");
    }
    world.outside_is_untouched();
}

#[test]
fn a_file_that_became_a_link_is_refused() {
    let world = World::new();
    let place = world.place("sub/file");
    world.swap("ws/sub/file", world.base.join("outside/file"));
    for (index, error) in world.everything(&place).into_iter().enumerate() {
        if index == 9 {
            assert_eq!(error, FileError::Exists { path: "sub/file".into() });
        } else {
            let expected =
                FileError::BecameLink { path: "sub/file".into(), link: "sub/file".into() };
            assert_eq!(error, expected);
        }
    }
    world.outside_is_untouched();
    // Absent is what was expected, and a link that leads nowhere is not that.
    let place = world.place("absent");
    symlink("../outside/made", world.base.join("ws/absent")).unwrap();
    for expect in [Expect::Absent, Expect::Anything] {
        assert!(disk::write(&world.roots, &place, b"bad", expect).is_err());
    }
    world.outside_is_untouched();
}

#[test]
fn a_root_that_became_a_link_is_refused() {
    let world = World::new();
    let outer = Roots::new(vec![("sub".to_owned(), world.base.join("ws/sub"))]);
    let place = outer.contain("file").unwrap();
    world.swap("ws/sub", "../outside");
    let error = disk::read(&outer, &place, LIMIT).unwrap_err();
    assert!(matches!(error, FileError::RootGone { .. }), "{error}");
    assert!(disk::write(&outer, &place, b"bad", Expect::Anything).is_err());
    assert!(outer.contain("file").is_err());
    world.outside_is_untouched();
}

#[test]
fn a_root_that_is_gone_is_said_and_not_made() {
    let world = World::new();
    let place = world.place("sub/file");
    fs::remove_dir_all(world.base.join("ws")).unwrap();
    let root = world.base.join("ws").display().to_string();
    for error in [
        disk::read(&world.roots, &place, LIMIT).unwrap_err(),
        disk::write(&world.roots, &place, b"x", Expect::Anything).unwrap_err(),
    ] {
        assert_eq!(error, FileError::RootGone { path: "sub/file".into(), root: root.clone() });
    }
    assert!(!world.base.join("ws").exists());
    // Made again, it is a root again.
    fs::create_dir(world.base.join("ws")).unwrap();
    disk::write(&world.roots, &place, b"x", Expect::Absent).unwrap();
}

#[test]
fn nothing_leaks_while_a_link_is_swapped_all_the_time() {
    let world = World::new();
    let (real, aside) = (world.base.join("ws/sub"), world.base.join("ws/aside"));
    let link = world.base.join("ws/link");
    symlink("../outside", &link).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::rename(&real, &aside).unwrap();
                fs::rename(&link, &real).unwrap();
                fs::rename(&real, &link).unwrap();
                fs::rename(&aside, &real).unwrap();
            }
        });
        for _ in 0..3000 {
            let Ok(place) = world.roots.contain("sub/file") else { continue };
            if let Ok(found) = disk::read(&world.roots, &place, LIMIT) {
                assert_eq!(found.bytes, b"ws/sub");
            }
            // With a hash expected no folder is made, so the other thread's renames succeed.
            let expect = Expect::Hash(ContentHash::of(b"ws/sub"));
            let _ = disk::write(&world.roots, &place, b"ws/sub", expect);
        }
        done.store(true, Ordering::Relaxed);
    });
    let found = disk::read(&world.roots, &world.place("sub/file"), LIMIT).unwrap();
    assert_eq!(found.bytes, b"ws/sub");
    world.outside_is_untouched();
}

#[test]
fn places_that_were_made_up_are_refused() {
    let world = World::new();
    let place = world.place("sub/file");
    for bad in [
        Place { relative: "../outside/file".into(), ..place.clone() },
        Place { path: world.base.join("outside/file"), ..place.clone() },
        Place { path: world.base.join("outside/file"), root: None, ..place.clone() },
        Place { root: Some(7), ..place.clone() },
        Place {
            path: world.base.join("ws/../outside/file"),
            relative: "../outside/file".into(),
            ..place.clone()
        },
        Place { path: "/etc/passwd".into(), relative: "/etc/passwd".into(), ..place },
    ] {
        let error = disk::read(&world.roots, &bad, LIMIT).unwrap_err();
        assert!(matches!(error, FileError::NotInside { .. }), "{bad:?}: {error}");
    }
}

#[test]
fn what_is_no_file_is_an_error_at_once() {
    let world = World::new();
    let ws = world.base.join("ws");
    assert!(Command::new("mkfifo").arg(ws.join("pipe")).status().unwrap().success());
    let _socket = UnixListener::bind(ws.join("socket")).unwrap();
    for (path, kind) in [
        ("pipe", FileKind::Pipe),
        ("socket", FileKind::Socket),
        ("sub", FileKind::Folder),
        (".", FileKind::Folder),
    ] {
        let place = world.place(path);
        for error in world.everything(&place).into_iter().take(9) {
            assert_eq!(error, FileError::NotAFile { path: path.into(), kind }, "{path}");
        }
    }
    assert!(ws.join("pipe").exists() && ws.join("socket").exists() && ws.join("sub").is_dir());
    let said = disk::read(&world.roots, &world.place("pipe"), LIMIT).unwrap_err().to_string();
    assert_eq!(said, "pipe is a named pipe, not a file");
}

#[test]
fn devices_are_refused_by_path_by_link_and_as_a_root() {
    let world = World::new();
    for device in ["/dev/zero", "/dev/null"] {
        let link = device.replace('/', "_");
        symlink(device, world.base.join("ws").join(&link)).unwrap();
        assert!(world.roots.contain(&link).is_err());
        assert!(world.roots.contain(device).is_err());
        // Even where it is allowed it is not opened.
        let roots = Roots::none().with_single_files([device.into()]);
        let place = roots.contain(device).unwrap();
        let expected = FileError::NotAFile { path: device.into(), kind: FileKind::Device };
        assert_eq!(disk::read(&roots, &place, LIMIT), Err(expected.clone()));
        assert_eq!(disk::write(&roots, &place, b"x", Expect::Anything), Err(expected));
    }
}

#[test]
fn a_parent_that_is_a_file_is_said() {
    let world = World::new();
    let place = world.place("new/deep/file");
    fs::write(world.base.join("ws/new"), "x").unwrap();
    let expected = FileError::ThroughFile { path: "new/deep/file".into(), file: "new".into() };
    assert_eq!(disk::read(&world.roots, &place, LIMIT), Err(expected.clone()));
    assert_eq!(disk::write(&world.roots, &place, b"x", Expect::Absent), Err(expected));
}

/// Runs itself again where no file may be longer than 32 or 64 KiB: to the program the same as a
/// disk with no room left. The signal that would kill it is ignored by the shell that starts it.
#[test]
fn a_full_disk_leaves_what_was_there() {
    const INSIDE: &str = "ROPEWALK_TEST_FULL_DISK";
    if let Some(ws) = std::env::var_os(INSIDE) {
        let roots = Roots::new(vec![("ws".to_owned(), ws.into())]);
        let long = vec![b'x'; 1 << 20];
        for path in ["new", "replaced", "linked", "linked_empty"] {
            let place = roots.contain(path).unwrap();
            let error = disk::write(&roots, &place, &long, Expect::Anything).unwrap_err();
            assert_eq!(error, FileError::Full { path: path.into() });
        }
        return;
    }
    let world = World::new();
    let ws = world.base.join("ws");
    for name in ["replaced", "linked", "linked_empty"] {
        fs::write(ws.join(name), if name == "linked_empty" { "" } else { "old" }).unwrap();
    }
    fs::hard_link(ws.join("linked"), ws.join("other_name")).unwrap();
    fs::hard_link(ws.join("linked_empty"), ws.join("other_empty")).unwrap();
    let ran = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact \"$1\""])
        .arg(std::env::current_exe().unwrap())
        .arg("disk_hostile::a_full_disk_leaves_what_was_there")
        .env(INSIDE, &ws)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    for name in ["replaced", "linked", "other_name"] {
        assert_eq!(fs::read_to_string(ws.join(name)).unwrap(), "old");
    }
    assert_eq!(fs::read_to_string(ws.join("linked_empty")).unwrap(), "");
    let mut names: Vec<_> =
        fs::read_dir(&ws).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let expected =
        ["linked", "linked_empty", "other", "other_empty", "other_name", "replaced", "sub"];
    assert_eq!(names, expected, "nothing half-written and no temporary file is left");
}
