//! Files read, written, moved and removed in real folders.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use ropewalk_files::disk::{self, Expect, FileError, FileKind};
use ropewalk_files::paths::{Place, Roots};
use ropewalk_text::ContentHash;
use tempfile::TempDir;

const LIMIT: u64 = 1 << 20;

struct World {
    _guard: TempDir,
    ws: PathBuf,
    roots: Roots,
}

impl World {
    fn new() -> Self {
        let guard = TempDir::new().unwrap();
        let ws = guard.path().canonicalize().unwrap().join("ws");
        fs::create_dir(&ws).unwrap();
        let roots = Roots::new(vec![("ws".to_owned(), ws.clone())]);
        Self { _guard: guard, ws, roots }
    }

    fn place(&self, path: &str) -> Place {
        self.roots.contain(path).unwrap()
    }

    fn put(&self, path: &str, text: &str) -> Place {
        fs::write(self.ws.join(path), text).unwrap();
        self.place(path)
    }

    fn write(&self, path: &str, text: &str, expect: Expect) -> Result<ContentHash, FileError> {
        disk::write(&self.roots, &self.place(path), text.as_bytes(), expect)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.ws.join(path)).unwrap()
    }

    fn inode(&self, path: &str) -> u64 {
        fs::metadata(self.ws.join(path)).unwrap().ino()
    }

    fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.ws.join(path)).unwrap().mode() & 0o7777
    }

    fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.ws.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.ws.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

fn hash(text: &str) -> Expect {
    Expect::Hash(ContentHash::of(text.as_bytes()))
}

#[test]
fn reads_bytes_hash_and_metadata() {
    let world = World::new();
    let place = world.put("a.bin", "héllo\0");
    world.set_mode("a.bin", 0o640);
    fs::hard_link(world.ws.join("a.bin"), world.ws.join("other")).unwrap();
    let read = disk::read(&world.roots, &place, LIMIT).unwrap();
    assert_eq!(read.bytes, "héllo\0".as_bytes());
    assert_eq!(read.hash, ContentHash::of("héllo\0".as_bytes()));
    assert_eq!((read.meta.len, read.meta.mode, read.meta.links), (7, 0o640, 2));
    assert_eq!(read.meta.identity.inode, world.inode("a.bin"));
    let mtime = fs::metadata(world.ws.join("a.bin")).unwrap().modified().unwrap();
    assert_eq!(read.meta.mtime, Some(mtime));
    assert_eq!(disk::stat(&world.roots, &place).unwrap(), read.meta);
    let empty = world.put("empty", "");
    assert_eq!(disk::read(&world.roots, &empty, 0).unwrap().bytes, b"");
}

#[test]
fn two_names_of_one_file_have_one_identity() {
    let world = World::new();
    let one = world.put("one", "x");
    fs::hard_link(world.ws.join("one"), world.ws.join("two")).unwrap();
    let other = world.put("other", "x");
    let identity = |place: &Place| disk::identity(&world.roots, place).unwrap();
    assert_eq!(identity(&one), identity(&world.place("two")));
    assert_ne!(identity(&one), identity(&other));
}

#[test]
fn what_is_missing_or_too_long_is_said() {
    let world = World::new();
    for path in ["none", "no/such/folder"] {
        let error = disk::read(&world.roots, &world.place(path), LIMIT).unwrap_err();
        assert_eq!(error.to_string(), format!("There is no file {path}"));
    }
    let place = world.put("ten", "0123456789");
    assert!(disk::read(&world.roots, &place, 10).is_ok());
    let error = disk::read(&world.roots, &place, 9).unwrap_err();
    assert_eq!(error, FileError::TooLarge { path: "ten".into(), len: 10, limit: 9 });
    // A file that claims more than memory has.
    let sparse = fs::File::create(world.ws.join("sparse")).unwrap();
    sparse.set_len(1 << 42).unwrap();
    let error = disk::read(&world.roots, &world.place("sparse"), LIMIT).unwrap_err();
    assert_eq!(error, FileError::TooLarge { path: "sparse".into(), len: 1 << 42, limit: LIMIT });
}

#[test]
fn writes_what_is_new_and_makes_the_folders() {
    let world = World::new();
    assert_eq!(world.write("x/y/z.txt", "1", Expect::Absent), Ok(ContentHash::of(b"1")));
    assert_eq!(world.text("x/y/z.txt"), "1");
    // As any program would have made it.
    fs::write(world.ws.join("plain"), "").unwrap();
    assert_eq!(world.mode("x/y/z.txt"), world.mode("plain"));
    assert_eq!(
        world.write("x/y/z.txt", "2", Expect::Absent),
        Err(FileError::Exists { path: "x/y/z.txt".into() })
    );
    world.write("x/y/z.txt", "3", Expect::Anything).unwrap();
    world.write("new", "", Expect::Anything).unwrap();
    assert_eq!((world.text("x/y/z.txt").as_str(), world.text("new").as_str()), ("3", ""));
    let gone = world.write("p/q", "1", hash("0"));
    assert_eq!(gone, Err(FileError::NotFound { path: "p/q".into() }));
    assert!(!world.ws.join("p").exists(), "no folder is made for a file that must exist");
    disk::create_parents(&world.roots, &world.place("p/q/r")).unwrap();
    assert!(world.ws.join("p/q").is_dir() && !world.ws.join("p/q/r").exists());
    assert_eq!(world.names("x/y"), ["z.txt"], "no temporary file is left");
}

#[test]
fn writes_only_over_the_content_that_was_expected() {
    let world = World::new();
    world.put("a", "old");
    assert_eq!(
        world.write("a", "new", hash("other")),
        Err(FileError::Changed { path: "a".into() })
    );
    assert_eq!(world.text("a"), "old");
    world.write("a", "new", hash("old")).unwrap();
    assert_eq!(world.text("a"), "new");
    // Longer than is hashed at once.
    let long = "0123456789abcdef".repeat(20_000);
    world.put("long", &long);
    world.write("long", "short", hash(&long)).unwrap();
    assert_eq!(world.text("long"), "short");
    assert_eq!(world.names("."), ["a", "long"], "no temporary file is left");
}

#[test]
fn a_file_is_replaced_whole_and_keeps_its_mode() {
    let world = World::new();
    for mode in [0o755, 0o600, 0o664, 0o4755] {
        world.put("run", "old");
        world.set_mode("run", mode);
        let mut before = fs::File::open(world.ws.join("run")).unwrap();
        let inode = world.inode("run");
        world.write("run", "new", hash("old")).unwrap();
        assert_eq!(world.mode("run"), mode);
        assert_ne!(world.inode("run"), inode);
        // Whoever was reading it reads on in what it was.
        let mut text = String::new();
        std::io::Read::read_to_string(&mut before, &mut text).unwrap();
        assert_eq!(text, "old");
    }
    let place = world.place("run");
    disk::set_mode(&world.roots, &place, 0o100711).unwrap();
    assert_eq!(world.mode("run"), 0o711);
}

#[test]
fn a_file_with_other_names_is_written_in_place() {
    let world = World::new();
    world.put("one", "a longer old text");
    fs::hard_link(world.ws.join("one"), world.ws.join("two")).unwrap();
    let inode = world.inode("one");
    for text in ["short", "", "a text that is longer than all that was there before", "x"] {
        let before = world.text("two");
        assert!(world.write("one", "?", hash("not this")).is_err());
        world.write("one", text, hash(&before)).unwrap();
        assert_eq!((world.text("one").as_str(), world.text("two").as_str()), (text, text));
        assert_eq!((world.inode("one"), world.inode("two")), (inode, inode));
    }
    assert_eq!(world.names("."), ["one", "two"]);
}

#[test]
fn a_file_of_another_owner_is_written_in_place() {
    let world = World::new();
    world.put("theirs", "old");
    let path = world.ws.join("theirs");
    if std::os::unix::fs::chown(&path, Some(12_345), Some(12_345)).is_err() {
        return; // Only the superuser can give a file away.
    }
    let inode = world.inode("theirs");
    world.write("theirs", "new", hash("old")).unwrap();
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.uid(), found.gid(), found.ino()), (12_345, 12_345, inode));
    assert_eq!(world.text("theirs"), "new");
    assert_eq!(world.names("."), ["theirs"]);
}

#[test]
fn links_are_written_through() {
    let world = World::new();
    world.put("target", "old");
    std::os::unix::fs::symlink("target", world.ws.join("link")).unwrap();
    world.write("link", "new", hash("old")).unwrap();
    assert!(fs::symlink_metadata(world.ws.join("link")).unwrap().is_symlink());
    assert_eq!(world.text("target"), "new");
    // Also where nothing is yet.
    fs::create_dir(world.ws.join("real")).unwrap();
    std::os::unix::fs::symlink("real", world.ws.join("dir")).unwrap();
    world.write("dir/a/b", "x", Expect::Absent).unwrap();
    assert_eq!(world.text("real/a/b"), "x");
}

#[test]
fn read_only_and_forbidden_files_are_said() {
    let world = World::new();
    world.put("locked", "old");
    world.set_mode("locked", 0o444);
    let error = world.write("locked", "new", Expect::Anything).unwrap_err();
    assert_eq!(error, FileError::ReadOnly { path: "locked".into() });
    assert_eq!(world.text("locked"), "old");

    // The superuser may read it all the same, so the system is asked.
    world.put("hidden", "x");
    world.set_mode("hidden", 0o000);
    let allowed = fs::read(world.ws.join("hidden")).is_ok();
    let read = disk::read(&world.roots, &world.place("hidden"), LIMIT);
    match read {
        Ok(read) => assert!(allowed && read.bytes == b"x"),
        Err(error) => {
            assert!(!allowed);
            assert_eq!(error, FileError::Denied { path: "hidden".into() });
        }
    }
}

#[test]
fn removes_what_was_expected() {
    let world = World::new();
    let place = world.put("a", "x");
    let remove = |expect| disk::remove(&world.roots, &place, expect);
    assert_eq!(remove(hash("y")), Err(FileError::Changed { path: "a".into() }));
    assert_eq!(remove(Expect::Absent), Err(FileError::Exists { path: "a".into() }));
    assert_eq!(world.text("a"), "x");
    assert_eq!(remove(hash("x")), Ok(()));
    assert_eq!(remove(hash("x")), Err(FileError::NotFound { path: "a".into() }));
    assert_eq!((remove(Expect::Anything), remove(Expect::Absent)), (Ok(()), Ok(())));
    let deep = world.place("no/such");
    assert_eq!(disk::remove(&world.roots, &deep, Expect::Anything), Ok(()));
    assert!(disk::remove(&world.roots, &deep, hash("x")).is_err());
    fs::create_dir(world.ws.join("dir")).unwrap();
    let error = disk::remove(&world.roots, &world.place("dir"), Expect::Anything).unwrap_err();
    assert_eq!(error, FileError::NotAFile { path: "dir".into(), kind: FileKind::Folder });
}

#[test]
fn moves_without_ever_replacing() {
    let world = World::new();
    let from = world.put("from", "x");
    world.set_mode("from", 0o755);
    let taken = world.put("taken", "y");
    let rename = |to: &Place, expect| disk::rename(&world.roots, &from, to, expect);
    assert_eq!(rename(&taken, Expect::Anything), Err(FileError::Exists { path: "taken".into() }));
    assert_eq!(rename(&from, Expect::Anything), Err(FileError::Exists { path: "from".into() }));
    let to = world.place("a/b/to");
    assert_eq!(rename(&to, hash("z")), Err(FileError::Changed { path: "from".into() }));
    assert!(!world.ws.join("a").exists());
    let inode = world.inode("from");
    rename(&to, hash("x")).unwrap();
    assert_eq!((world.text("a/b/to").as_str(), world.text("taken").as_str()), ("x", "y"));
    assert_eq!((world.mode("a/b/to"), world.inode("a/b/to")), (0o755, inode));
    assert_eq!(rename(&to, Expect::Anything), Err(FileError::NotFound { path: "from".into() }));
    assert_eq!(world.names("."), ["a", "taken"]);
}

/// On Linux the shared-memory folder is a file system of its own.
#[cfg(target_os = "linux")]
#[test]
fn moves_between_file_systems() {
    let world = World::new();
    let Ok(other) = TempDir::new_in("/dev/shm") else { return };
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    if device(other.path()) == device(&world.ws) {
        return;
    }
    let roots = Roots::new(vec![
        ("ws".to_owned(), world.ws.clone()),
        ("other".to_owned(), other.path().to_path_buf()),
    ]);
    world.put("from", "x");
    world.set_mode("from", 0o755);
    let (from, to) = (roots.contain("from").unwrap(), roots.contain("other/sub/to").unwrap());
    disk::rename(&roots, &from, &to, hash("x")).unwrap();
    assert!(!from.path.exists());
    let read = disk::read(&roots, &to, LIMIT).unwrap();
    assert_eq!((read.bytes.as_slice(), read.meta.mode), (b"x".as_slice(), 0o755));
    fs::write(&from.path, "again").unwrap();
    let error = disk::rename(&roots, &from, &to, Expect::Anything).unwrap_err();
    assert_eq!(error, FileError::Exists { path: "other/sub/to".into() });
}

#[test]
fn single_files_are_read_and_written_where_they_are() {
    let world = World::new();
    world.put("doc", "x");
    world.put("beside", "y");
    let roots = Roots::none().with_single_files([world.ws.join("doc")]);
    let place = roots.contain("doc").unwrap();
    assert_eq!(disk::read(&roots, &place, LIMIT).unwrap().bytes, b"x");
    disk::write(&roots, &place, b"new", hash("x")).unwrap();
    assert_eq!(world.text("doc"), "new");
    // A place of other roots is none here.
    let stranger = world.place("beside");
    let error = disk::read(&roots, &stranger, LIMIT).unwrap_err();
    assert!(matches!(error, FileError::NotInside { .. }), "{error}");
}
