//! Laws of containment, for paths made of nasty components in a folder full of links.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use ropewalk_files::disk;
use ropewalk_files::paths::{PathError, Roots};
use tempfile::TempDir;

struct World {
    _guard: TempDir,
    base: PathBuf,
    roots: Roots,
}

/// Built once and only read. Every file outside the roots holds the word `secret`.
static WORLD: LazyLock<World> = LazyLock::new(|| {
    let guard = TempDir::new().unwrap();
    let base = guard.path().canonicalize().unwrap();
    for folder in ["ws/sub/deep", "ws/lib/sub", "ws/~", "lib/sub", "outside/sub", "ws-evil/sub"] {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    for file in ["ws/file", "ws/sub/file", "ws/lib/file", "lib/file", "lib/sub/file", "ws/sp ace"] {
        fs::write(base.join(file), "inside").unwrap();
    }
    for file in ["file", "outside/file", "outside/sub/file", "ws-evil/file"] {
        fs::write(base.join(file), "secret").unwrap();
    }
    let link = |target: &Path, at: &str| symlink(target, base.join(at)).unwrap();
    for (target, at) in [
        ("..", "ws/up"),
        ("../..", "ws/sub/up2"),
        ("../outside", "ws/out"),
        ("../outside/file", "ws/out_file"),
        ("../outside/new", "ws/out_new"),
        ("../lib", "ws/to_lib"),
        ("sub/deep", "ws/in"),
        ("in/../file", "ws/in_file"),
        ("in/new", "ws/in_new"),
        ("loop", "ws/loop"),
        ("../ws", "lib/back"),
        ("../../outside", "lib/sub/out"),
        ("../ws/sub", "outside/back"),
        ("/", "ws/top"),
        ("/proc/self/root", "ws/proc"),
    ] {
        link(Path::new(target), at);
    }
    link(&base.join("outside"), "ws/sub/abs_out");
    link(&base.join("ws/sub"), "ws/abs_in");
    link(&base, "ws/abs_base");
    let roots =
        Roots::new(vec![("ws".to_owned(), base.join("ws")), ("lib".to_owned(), base.join("lib"))]);
    World { _guard: guard, base, roots }
});

const COMPONENTS: &[&str] = &[
    "..", "..", "..", ".", "", "~", "ws", "lib", "outside", "ws-evil", "sub", "deep", "file", "up",
    "up2", "out", "out_file", "out_new", "to_lib", "in", "in_file", "in_new", "loop", "back",
    "top", "proc", "abs_out", "abs_in", "abs_base", "new", "sp ace", "é😀", "..%2f", "%2e%2e",
    "...", "-", "a\\..\\b", "self", "root", "BASE",
];

fn nasty_path() -> impl Strategy<Value = String> {
    let start =
        prop::sample::select(vec!["", "", "", "./", "/", "BASE/", "file://BASE/", "file:/"]);
    let parts = prop::collection::vec(prop::sample::select(COMPONENTS), 0..9);
    (start, parts).prop_map(|(start, parts)| {
        let base = WORLD.base.to_str().unwrap();
        format!("{start}{}", parts.join("/")).replace("BASE", base)
    })
}

/// All paths of up to three components, against the system's own answer.
#[test]
fn what_exists_is_contained_exactly_when_the_system_finds_it_inside() {
    const THERE: [&str; 19] = [
        "..", ".", "ws", "lib", "outside", "sub", "deep", "file", "up", "up2", "out", "out_file",
        "to_lib", "in", "in_file", "back", "abs_out", "abs_in", "abs_base",
    ];
    let World { base, roots, .. } = &*WORLD;
    let (mut inside, mut outside) = (0, 0);
    let longer = |paths: &[String]| -> Vec<String> {
        paths.iter().flat_map(|path| THERE.map(|part| format!("{path}/{part}"))).collect()
    };
    let first: Vec<String> = THERE.iter().map(|part| format!("./{part}")).collect();
    let second = longer(&first);
    let third = longer(&second);
    for path in first.iter().chain(&second).chain(&third) {
        let Ok(real) = fs::canonicalize(base.join("ws").join(path)) else { continue };
        if real.starts_with(base.join("ws")) || real.starts_with(base.join("lib")) {
            let place = roots.contain(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert_eq!(place.path, real, "{path}");
            inside += 1;
        } else {
            let error = roots.contain(path).expect_err(path);
            assert!(matches!(error, PathError::Escapes { .. }), "{path}: {error}");
            outside += 1;
        }
    }
    assert!(inside > 100 && outside > 100, "{inside} inside, {outside} outside");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn what_is_contained_is_inside_and_has_no_link_left(path in nasty_path()) {
        let World { base, roots, .. } = &*WORLD;
        let Ok(place) = roots.contain(&path) else { return Ok(()) };
        let root = roots.get(place.root.unwrap()).unwrap();
        prop_assert!(place.path.starts_with(base.join("ws")) || place.path.starts_with(base.join("lib")));
        prop_assert_eq!(root.path().join(&place.relative).components().collect::<PathBuf>(), &*place.path);
        prop_assert!(place.path.components().all(|part| part.as_os_str() != ".."));

        let there = place.path.ancestors().find(|path| fs::symlink_metadata(path).is_ok()).unwrap();
        let real = fs::canonicalize(there).unwrap();
        prop_assert_eq!(there, &*real);

        // Its name leads back, and so does its document.
        prop_assert_eq!(&roots.contain(&place.shown).unwrap(), &place);
        prop_assert_eq!(&roots.place_of(&place.doc().path().unwrap()).unwrap(), &place);
        prop_assert_eq!(&roots.contain(place.doc().as_str()).unwrap(), &place);
        if let Ok(read) = disk::read(roots, &place, 100) {
            prop_assert_eq!(read.bytes, b"inside");
        }
    }

    #[test]
    fn any_string_gets_an_answer(path in any::<String>()) {
        if let Err(error) = WORLD.roots.contain(&path) {
            prop_assert!(!error.to_string().contains('\0'));
        }
    }
}
