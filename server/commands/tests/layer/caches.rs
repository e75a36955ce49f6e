//! Build caches: slots, locks, bounds, and what becomes of a broken list.

use crate::support::{Bench, mode, put, set_mode};
use ropewalk_commands::layer::BuildCaches;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const LARGE: u64 = 1 << 20;

fn open(folder: &Path, roots: &[&str]) -> BuildCaches {
    let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    BuildCaches::open(folder, &roots, LARGE).unwrap()
}

fn target(caches: &BuildCaches) -> PathBuf {
    let environment = caches.environment();
    let found = environment.into_iter().find(|(name, _)| name == "CARGO_TARGET_DIR");
    PathBuf::from(found.unwrap().1)
}

#[test]
fn each_session_has_a_slot_of_its_own_and_finds_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("cache/builds");
    let one = open(&folder, &["/w"]);
    let two = open(&folder, &["/w"]);
    let other = open(&folder, &["/w", "/x"]);
    assert_ne!(target(&one), target(&two));
    assert_ne!(target(&one).parent().unwrap().with_extension(""), target(&other));
    for path in one.paths() {
        assert_eq!((path.is_dir(), mode(&path)), (true, 0o700));
    }
    let names: Vec<OsString> = one.environment().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["CARGO_TARGET_DIR", "PYTHONPYCACHEPREFIX", "XDG_CACHE_HOME"]);
    put(&target(&one).join("debug/built"), b"x");
    let was = target(&one);
    drop(one);
    let again = open(&folder, &["/w"]);
    assert_eq!(target(&again), was);
    assert!(was.join("debug/built").exists());
    drop(two);
    let all: Vec<BuildCaches> = (0..7).map(|_| open(&folder, &["/w"])).collect();
    let full = BuildCaches::open(&folder, &["/w".into()], LARGE).unwrap_err();
    assert_eq!((full.kind(), all.len()), (ErrorKind::ResourceBusy, 7));
}

#[test]
fn the_build_folder_of_a_project_is_seen_as_its_cache() {
    let mut bench = Bench::new(&[("target/debug/x", "old")]);
    let caches = open(&bench.dir.path().join("builds"), &["/w"]);
    let root = bench.disk("").canonicalize().unwrap();
    let seen = [(target(&caches), root.join("target"))];
    let at = |bench: &Bench| caches.seen_at(&bench.layer, &[]);
    assert_eq!(at(&bench), [], "no project");
    bench.open("target/debug/x", "old");
    bench.change("Cargo.toml", ropewalk_workspace::ProposedChange::Write("[package]".into()));
    bench.materialise();
    assert_eq!(at(&bench), [], "a folder like any other");
    put(&bench.disk("target/CACHEDIR.TAG"), b"Signature");
    assert_eq!(at(&bench), seen);
    fs::remove_file(bench.disk("target/CACHEDIR.TAG")).unwrap();
    put(&bench.disk(".gitignore"), b"/target\n");
    assert_eq!(at(&bench), seen);
    fs::remove_dir_all(bench.disk("target")).unwrap();
    assert_eq!(at(&bench), seen);
}

#[test]
fn the_build_folders_of_nested_projects_are_seen_as_it_too() {
    let mut bench = Bench::new(&[
        ("sub/Cargo.toml", ""),
        ("sub/.gitignore", "/target\n"),
        ("deep/ünï/Cargo.toml", ""),
        ("deep/ünï/target/CACHEDIR.TAG", ""),
        ("shown/Cargo.toml", ""),
        ("shown/target/kept", ""),
        ("none/target/x", ""),
        ("gone/Cargo.toml", ""),
        ("gone/target/CACHEDIR.TAG", ""),
    ]);
    bench.change("gone/Cargo.toml", ropewalk_workspace::ProposedChange::Delete);
    bench.materialise();
    let caches = open(&bench.dir.path().join("builds"), &["/w"]);
    let root = bench.disk("").canonicalize().unwrap();
    let names = ["", "sub", "deep/ünï", "shown", "none", "gone", "missing"];
    let mut projects: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
    projects.push("/elsewhere".into());
    let seen = caches.seen_at(&bench.layer, &projects);
    let at = |name: &str| (target(&caches), root.join(name).join("target"));
    assert_eq!(seen, [at("sub"), at("deep/ünï")]);
    let beside = caches.another().unwrap();
    let seen = beside.seen_at(&bench.layer, &projects);
    assert_eq!(seen[0], (target(&beside), root.join("sub/target")));
}

#[test]
fn commands_beside_each_other_have_sets_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let own = open(dir.path(), &["/w"]);
    let mut beside: Vec<BuildCaches> = std::iter::from_fn(|| own.another()).collect();
    assert_eq!(beside.len(), ropewalk_commands::MOST_IN_BACKGROUND);
    let mut targets: Vec<PathBuf> = beside.iter().chain([&own]).map(target).collect();
    assert!(targets.iter().all(|target| own.paths().contains(target)), "commands may write there");
    targets.sort();
    targets.dedup();
    assert_eq!(targets.len(), beside.len() + 1);
    let again = target(&beside.remove(2));
    let last = own.another().unwrap();
    assert_eq!(target(&last), again);
    // Each knows what was built in it, and nothing of the others.
    let mut bench = Bench::new(&[("a.rs", "a\n")]);
    bench.open("a.rs", "b\n");
    bench.materialise();
    last.ended(&mut bench.ever).unwrap();
    assert_eq!(last.ever_dirty().unwrap().len(), 1);
    assert!(own.ever_dirty().unwrap().is_empty());
    // As long as one of them lives, no other session has any.
    drop((own, beside));
    let other = open(dir.path(), &["/w"]);
    assert!(!other.paths().contains(&again));
    drop((last, other));
    assert!(open(dir.path(), &["/w"]).paths().contains(&again));
}

#[test]
fn what_a_command_built_that_was_never_collected_goes() {
    let dir = tempfile::tempdir().unwrap();
    let caches = open(dir.path(), &["/w"]);
    let mut bench = Bench::new(&[("a.rs", "a\n")]);
    bench.open("a.rs", "b\n");
    bench.materialise();
    for _ in 0..2 {
        caches.begins(&mut bench.ever).unwrap();
        put(&target(&caches).join("built"), b"x");
        caches.ended(&mut bench.ever).unwrap();
    }
    assert_eq!(caches.ever_dirty().unwrap().len(), 1);
    assert!(target(&caches).join("built").exists());
    caches.begins(&mut bench.ever).unwrap();
    assert!(caches.ever_dirty().unwrap().is_empty());
    assert!(!target(&caches).join("built").exists());
    put(&target(&caches).join("built"), b"x");
    assert!(caches.ever_dirty().unwrap().is_empty(), "and is forgotten");
    assert!(target(&caches).join("built").exists());
}

#[test]
fn a_list_that_cannot_be_kept_takes_what_was_built_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let caches = open(dir.path(), &["/w"]);
    put(&target(&caches).join("built"), b"x");
    // Nothing can be put in the place of a folder that holds something.
    let list = target(&caches).parent().unwrap().join("ever-dirty.json");
    put(&list.join("in"), b"x");
    let mut bench = Bench::new(&[("a.rs", "a\n")]);
    bench.open("a.rs", "b\n");
    bench.materialise();
    assert!(caches.ended(&mut bench.ever).is_err());
    assert!(target(&caches).is_dir() && !target(&caches).join("built").exists());
}

#[test]
fn what_is_too_large_goes_the_oldest_first_and_never_what_is_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let fill = |caches: &BuildCaches, bytes: u64| {
        put(&target(caches).join("built"), &vec![b'x'; bytes as usize]);
    };
    let own = open(dir.path(), &["/own"]);
    put(&own.paths()[1].join("small"), b"small");
    fill(&own, LARGE + 1);
    own.make_room().unwrap();
    assert!(!target(&own).join("built").exists() && own.paths()[1].join("small").exists());
    assert!(target(&own).is_dir());
    let in_use = open(dir.path(), &["/in-use"]);
    fill(&in_use, 2 * LARGE);
    let paths: Vec<PathBuf> = ["/a", "/b", "/c"]
        .iter()
        .map(|root| {
            let caches = open(dir.path(), &[root]);
            fill(&caches, LARGE * 7 / 10);
            target(&caches)
        })
        .collect();
    own.make_room().unwrap();
    assert!(!paths[0].exists() && paths[1].exists() && paths[2].exists());
    assert!(target(&in_use).join("built").exists());
}

#[test]
fn without_its_list_what_was_built_goes() {
    let mut bench = Bench::new(&[("a.rs", "a\n")]);
    let folder = bench.dir.path().join("builds");
    bench.open("a.rs", "b\n");
    bench.materialise();
    let caches = open(&folder, &["/w"]);
    assert!(caches.ever_dirty().unwrap().is_empty());
    caches.ended(&mut bench.ever).unwrap();
    assert_eq!(caches.ever_dirty().unwrap().len(), 1);
    put(&target(&caches).join("built"), b"x");
    let list = target(&caches).parent().unwrap().join("ever-dirty.json");
    fs::write(&list, "[{").unwrap();
    assert!(caches.ever_dirty().unwrap().is_empty());
    assert!(!target(&caches).join("built").exists() && !list.exists());
}

#[test]
fn a_strangers_folder_is_refused_and_an_open_one_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("builds");
    fs::create_dir(&folder).unwrap();
    crate::support::set_mode(&folder, 0o777);
    drop(open(&folder, &["/w"]));
    assert_eq!(mode(&folder), 0o700);
    std::os::unix::fs::symlink("/tmp", dir.path().join("link")).unwrap();
    assert!(BuildCaches::open(&dir.path().join("link"), &["/w".into()], LARGE).is_err());
}

/// Makes folders in each other, more than a path can name or a process hold handles of, with a file at the bottom.
fn deep(folder: &Path, bytes: u64) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut at = openat(CWD, folder, flags, Mode::empty()).unwrap();
    for _ in 0..1_100 {
        mkdirat(&at, "deep", Mode::RWXU).unwrap();
        at = openat(&at, "deep", flags, Mode::empty()).unwrap();
    }
    let file = openat(&at, "x", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
    fs::File::from(file).write_all(&vec![b'x'; bytes as usize]).unwrap();
}

#[test]
fn what_is_deep_is_counted_and_goes_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let own = open(dir.path(), &["/w"]);
    deep(&target(&own), LARGE + 1);
    assert!(own.make_room().is_ok());
    assert_eq!(fs::read_dir(target(&own)).unwrap().count(), 0);
    // In one of another session that is gone, too.
    let left = open(dir.path(), &["/left"]);
    let was = target(&left);
    deep(&was, 5 * LARGE);
    drop((own, left));
    drop(open(dir.path(), &["/w"]));
    assert!(!was.exists());
    // A folder that is not known to be fresh goes, however deep it is.
    let own = open(dir.path(), &["/w"]);
    deep(&target(&own), 1);
    own.begins(&mut Default::default()).unwrap();
    own.ever_dirty().unwrap();
    assert_eq!(fs::read_dir(target(&own)).unwrap().count(), 0);
}

#[test]
fn a_file_counts_as_much_as_it_takes_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let own = open(dir.path(), &["/w"]);
    let sparse = target(&own).join("sparse");
    fs::File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
    own.make_room().unwrap();
    assert!(sparse.exists());
    put(&target(&own).join("full"), &vec![b'x'; LARGE as usize + 1]);
    own.make_room().unwrap();
    assert!(!sparse.exists());
}

#[test]
fn folders_without_permissions_go_and_planted_links_lead_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    put(&outside.join("kept"), b"x");
    set_mode(&outside.join("kept"), 0o400);
    let own = open(&dir.path().join("builds"), &["/w"]);
    for name in ["shut/a", "read-only/b/c", "read-only/d", "large"] {
        put(&target(&own).join(name), &vec![b'x'; LARGE as usize / 2]);
    }
    symlink(&outside, target(&own).join("read-only/link")).unwrap();
    symlink(outside.join("kept"), target(&own).join("shut/link")).unwrap();
    set_mode(&target(&own).join("read-only/b"), 0o500);
    set_mode(&target(&own).join("read-only"), 0o500);
    set_mode(&target(&own).join("shut"), 0);
    own.make_room().unwrap();
    assert_eq!(fs::read_dir(target(&own)).unwrap().count(), 0);
    assert_eq!(mode(&outside.join("kept")), 0o400);
}
