//! Contained paths against real folders: what is inside, what is refused, and in which words.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "helpers of tests may be blunt, as tests are"
)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ropewalk_files::paths::{PathError, Place, Roots};
use tempfile::TempDir;

/// A workspace `ws` with a file and a folder, and beside it `outside/secret`.
struct World {
    _guard: TempDir,
    base: PathBuf,
    roots: Roots,
}

impl World {
    fn new() -> Self {
        let guard = TempDir::new().unwrap();
        let base = guard.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("ws/src/deep")).unwrap();
        fs::create_dir(base.join("outside")).unwrap();
        fs::write(base.join("ws/a.txt"), "a").unwrap();
        fs::write(base.join("ws/src/main.rs"), "fn main() {}").unwrap();
        fs::write(base.join("outside/secret"), "secret").unwrap();
        let roots = Roots::new(vec![("ws".to_owned(), base.join("ws"))]);
        Self { _guard: guard, base, roots }
    }

    fn link(&self, target: impl AsRef<Path>, at: &str) {
        symlink(target, self.base.join("ws").join(at)).unwrap();
    }

    fn place(&self, path: &str) -> Place {
        self.roots.contain(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    /// Where in `ws` a path leads.
    fn leads(&self, path: &str) -> String {
        let place = self.place(path);
        assert_eq!(place.path, self.base.join("ws").join(&place.relative), "{path:?}");
        assert_eq!(self.place(&place.shown), place, "the shown name leads back");
        place.shown
    }

    fn refused(&self, path: &str) -> PathError {
        self.roots.contain(path).expect_err(path)
    }

    #[track_caller]
    fn escapes(&self, path: &str) {
        let error = self.refused(path);
        let said = error.to_string();
        assert!(said.starts_with(&format!("Path escapes workspace: {path}")), "{said}");
        assert!(!said.contains("secret") || path.contains("secret"), "{said}");
    }

    fn absolute(&self, path: &str) -> String {
        format!("{}/{path}", self.base.display())
    }
}

#[test]
fn plain_paths_lead_inside() {
    let world = World::new();
    for (path, shown) in [
        ("a.txt", "a.txt"),
        ("./a.txt", "a.txt"),
        ("src//main.rs", "src/main.rs"),
        ("src/./deep/../main.rs", "src/main.rs"),
        ("src/../a.txt", "a.txt"),
        (".", "."),
        ("./", "."),
        ("src/", "src"),
        ("src/..", "."),
        ("../ws/a.txt", "a.txt"),
        ("new.txt", "new.txt"),
        ("new/deep/er.txt", "new/deep/er.txt"),
        ("new/../a.txt", "a.txt"),
        ("new/x/../../src/n.rs", "src/n.rs"),
    ] {
        assert_eq!(world.leads(path), shown, "{path}");
    }
    let place = world.place("src/main.rs");
    assert_eq!(place.root, Some(0));
    assert_eq!(place.doc().path().unwrap(), world.base.join("ws/src/main.rs"));
}

#[test]
fn absolute_paths_and_uris_are_taken_when_they_lead_inside() {
    let world = World::new();
    let base = world.base.display();
    for path in [
        format!("{base}/ws/a.txt"),
        format!("{base}/outside/../ws/a.txt"),
        format!("{base}//ws/./a.txt"),
        format!("file://{base}/ws/a.txt"),
        format!("file://localhost{base}/ws/a.txt"),
        format!("FILE:{base}/ws/src/../a.txt"),
        format!("file://{base}/ws/%61%2etxt"),
        format!("file://{base}/%77s%2Fa.txt"),
    ] {
        assert_eq!(world.leads(&path), "a.txt", "{path}");
    }
    assert_eq!(world.leads(&format!("file://{base}/ws/sp%20ace%0A%F0%9F%98%80")), "sp ace\n😀");
    for path in [
        "/".to_owned(),
        "/etc/passwd".to_owned(),
        format!("{base}"),
        format!("{base}/outside/secret"),
        format!("{base}/ws2"),
        format!("{base}/ws/../outside/secret"),
        format!("file://{base}/outside/secret"),
        format!("file://{base}/ws/%2e%2e/outside/secret"),
        format!("file://{base}/ws/..%2Foutside%2Fsecret"),
        "file:///etc/passwd".to_owned(),
    ] {
        world.escapes(&path);
    }
    for uri in [
        "file://server/share/x",
        "file:///a%00b",
        "file:///a#b",
        "http://example.org/x",
        "untitled://x",
    ] {
        assert_eq!(world.refused(uri), PathError::NotAFile { uri: uri.to_owned() });
    }
}

#[test]
fn dots_that_leave_are_refused() {
    let world = World::new();
    for path in [
        "..",
        "../",
        "../outside/secret",
        "src/../../outside/secret",
        "new/../../outside/secret",
        "new/../../../../../../../../../../etc/passwd",
        "../ws2/x",
        "./..",
        "../../../../../../../../../..",
    ] {
        world.escapes(path);
    }
}

#[test]
fn links_that_lead_inside_are_followed() {
    let world = World::new();
    world.link("src/main.rs", "file_rel");
    world.link(world.base.join("ws/src/main.rs"), "file_abs");
    world.link("src", "dir_rel");
    world.link(world.base.join("ws/src"), "dir_abs");
    world.link("../ws/src/../src", "dir_round");
    world.link("dir_abs", "chain");
    world.link("../../dir_rel/deep", "src/deep/up");
    world.link("src/not_yet.rs", "dangling");
    for (path, shown) in [
        ("file_rel", "src/main.rs"),
        ("file_abs", "src/main.rs"),
        ("dir_rel/main.rs", "src/main.rs"),
        ("dir_abs/main.rs", "src/main.rs"),
        ("dir_round/main.rs", "src/main.rs"),
        ("chain/main.rs", "src/main.rs"),
        ("chain/deep/up/x", "src/deep/x"),
        ("dir_abs/new/file.rs", "src/new/file.rs"),
        ("dangling", "src/not_yet.rs"),
        ("dangling/below", "src/not_yet.rs/below"),
        // The parent of what the link leads to, not of the link.
        ("src/deep/up/../main.rs", "src/main.rs"),
        ("dir_rel/..", "."),
    ] {
        assert_eq!(world.leads(path), shown, "{path}");
    }
}

#[test]
fn links_that_lead_out_are_refused_wherever_they_stand() {
    let world = World::new();
    world.link("../outside/secret", "file_rel");
    world.link(world.base.join("outside/secret"), "file_abs");
    world.link("../outside", "dir_rel");
    world.link(world.base.join("outside"), "src/dir_abs");
    world.link("src/dir_abs", "chain");
    world.link("..", "up");
    world.link("/", "top");
    world.link("../outside/not_yet", "dangling");
    for path in [
        "file_rel",
        "file_abs",
        "dir_rel",
        "dir_rel/secret",
        "dir_rel/new/file",
        "dir_rel/secret/below",
        "src/dir_abs/secret",
        "chain/secret",
        "up",
        "up/outside/secret",
        "top/etc/passwd",
        "dangling",
        "dir_rel/../outside/secret",
        "src/dir_abs/..",
    ] {
        world.escapes(path);
    }
    // Out and in again is inside.
    assert_eq!(world.leads("up/ws/a.txt"), "a.txt");
    assert_eq!(world.leads("dir_rel/../ws/a.txt"), "a.txt");
}

#[test]
fn links_in_a_circle_are_said() {
    let world = World::new();
    world.link("loop", "loop");
    world.link("two", "one");
    world.link("one", "two");
    world.link("grow/x", "grow");
    for path in ["loop", "loop/x", "one", "two/x/y", "src/../one", "grow"] {
        assert_eq!(world.refused(path), PathError::Loop { path: path.to_owned() });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn links_of_proc_are_not_followed() {
    let world = World::new();
    let inside = world.absolute("ws/a.txt");
    world.link("/proc/self/root", "proc_link");
    for path in [
        format!("/proc/self/root{inside}"),
        format!("/proc/{}/root{inside}", std::process::id()),
        "/proc/self/root/etc/passwd".to_owned(),
        "/proc/self/cwd".to_owned(),
        "/proc/self/fd/0".to_owned(),
        "/dev/fd/0".to_owned(),
        "/dev/stdin".to_owned(),
        format!("../../../../../../../../proc/self/root{inside}"),
        "proc_link/etc/passwd".to_owned(),
        format!("file:///proc/self/root{inside}"),
    ] {
        let error = world.refused(&path);
        assert_eq!(error, PathError::ProcLink { path: path.clone() });
        assert!(error.to_string().starts_with(&format!("Path escapes workspace: {path}")));
    }
}

#[test]
fn a_tilde_is_not_expanded_and_that_is_said() {
    let world = World::new();
    for path in ["~", "~/", "~/.ssh/id_rsa"] {
        assert_eq!(world.refused(path), PathError::Home { path: path.to_owned() });
        world.escapes(path);
    }
    assert_eq!(world.leads("./~"), "./~");
    assert_eq!(world.leads("./~/x"), "./~/x");
    assert_eq!(world.leads("~backup"), "~backup");
    assert_eq!(world.leads("src/~/x"), "src/~/x");
    assert_eq!(world.leads("./file:/x"), "./file:/x");
}

#[test]
fn names_that_cannot_be_are_refused_in_words() {
    let world = World::new();
    assert_eq!(world.refused(""), PathError::Empty);
    assert_eq!(world.refused("a\0b"), PathError::Nul { path: "a\\0b".to_owned() });
    assert!(matches!(world.refused(&"x".repeat(256)), PathError::TooLong { .. }));
    assert!(matches!(
        world.refused(&format!("new/{}", "é".repeat(128))),
        PathError::TooLong { .. }
    ));
    assert!(matches!(world.refused(&"x/".repeat(3000)), PathError::TooLong { .. }));
    assert!(matches!(world.refused(&"x".repeat(10_000_000)), PathError::TooLong { .. }));
    assert!(world.refused(&"x".repeat(10_000_000)).to_string().len() < 500);
    assert_eq!(world.leads(&"x".repeat(255)).len(), 255);
    // Links can make a path long that was short.
    let long = format!("new/{}/", "y".repeat(250)).repeat(15);
    world.link(&long, "long");
    assert!(matches!(
        world.refused(&format!("long/{}", "z/".repeat(200))),
        PathError::TooLong { .. }
    ));
}

#[test]
fn a_path_through_a_file_is_refused() {
    let world = World::new();
    world.link("a.txt", "to_file");
    for (path, file) in [
        ("a.txt/b", "a.txt"),
        ("a.txt/..", "a.txt"),
        ("a.txt/../src/main.rs", "a.txt"),
        ("src/main.rs/x/y", "src/main.rs"),
        ("to_file/x", "a.txt"),
    ] {
        let expected = PathError::ThroughFile { path: path.to_owned(), file: file.to_owned() };
        assert_eq!(world.refused(path), expected);
    }
}

#[test]
fn unusual_names_are_names() {
    let world = World::new();
    for name in
        ["sp ace", " lead", "new\nline", "😀", "e\u{301}", "a\\b", "-rf", "*", "a:b", "%2e%2e"]
    {
        assert_eq!(world.leads(name), name);
        fs::write(world.base.join("ws").join(name), "x").unwrap();
        assert_eq!(world.leads(&format!("src/../{name}")), name);
        let uri = world.place(name).doc().to_uri();
        assert_eq!(world.place(&uri), world.place(name));
    }
    // Names that differ in case alone are one or two, as the disk has it.
    fs::write(world.base.join("ws/Case"), "upper").unwrap();
    let one = fs::metadata(world.base.join("ws/case")).is_ok();
    assert_eq!(world.place("case") == world.place("Case"), one);
}

#[test]
fn names_that_are_no_text_are_shown_as_uris() {
    let world = World::new();
    let name = OsStr::from_bytes(b"b\xffd");
    if fs::write(world.base.join("ws").join(name), "x").is_err() {
        return; // This disk has names of text only.
    }
    symlink(name, world.base.join("ws/alias")).unwrap();
    let place = world.place("alias");
    assert_eq!(place.relative, Path::new(name));
    assert_eq!(place.shown, format!("file://{}/ws/b%FFd", world.base.display()));
    assert_eq!(world.place(&place.shown), place);
    assert_eq!(world.roots.place_of(&world.base.join("ws").join(name)).unwrap(), place);
}

#[test]
fn place_of_judges_absolute_paths_alike() {
    let world = World::new();
    world.link("../outside", "out");
    let ws = world.base.join("ws");
    assert_eq!(world.roots.place_of(&ws.join("a.txt")).unwrap(), world.place("a.txt"));
    assert_eq!(world.roots.place_of(&ws).unwrap(), world.place("."));
    for path in [ws.join("out/secret"), ws.join("../outside"), "/etc".into(), "a.txt".into()] {
        let error = world.roots.place_of(&path).unwrap_err();
        assert!(matches!(error, PathError::Escapes { .. }), "{error}");
    }
    assert_eq!(world.roots.place_of(Path::new("")), Err(PathError::Empty));
    let nul = Path::new(OsStr::from_bytes(b"/a\0b"));
    assert!(matches!(world.roots.place_of(nul), Err(PathError::Nul { .. })));
}

#[test]
fn other_roots_are_called_by_name() {
    let world = World::new();
    let lib = world.base.join("lib");
    fs::create_dir_all(lib.join("src")).unwrap();
    fs::create_dir(world.base.join("ws/lib")).unwrap();
    let roots = Roots::new(vec![
        ("app".to_owned(), world.base.join("ws")),
        ("lib".to_owned(), lib.clone()),
    ]);
    let world = World { roots, ..world };

    let place = world.place("lib/src/x.rs");
    assert_eq!((place.root, place.shown.as_str()), (Some(1), "lib/src/x.rs"));
    assert_eq!(place.path, lib.join("src/x.rs"));
    assert_eq!(world.place("lib").path, lib);
    assert_eq!(world.place("lib/").shown, "lib");
    // The first root's own folder of that name is still reachable, and shown so that it is.
    let own = world.place("./lib/src/x.rs");
    assert_eq!((own.root, own.shown.as_str()), (Some(0), "./lib/src/x.rs"));
    assert_eq!(world.place(&own.shown), own);
    assert_eq!(world.roots.place_of(&world.base.join("ws/lib")).unwrap().shown, "./lib");
    // From one root into another is inside.
    assert_eq!(world.place("lib/../ws/a.txt").shown, "a.txt");
    assert_eq!(world.place("../lib/src").shown, "lib/src");
    world.escapes("lib/../outside/secret");
    world.link(&lib, "to_lib");
    assert_eq!(world.place("to_lib/src").shown, "lib/src");
    let said = world.refused("../outside").to_string();
    assert!(said.contains("begins with lib/"), "{said}");
}

#[test]
fn roots_of_one_name_are_told_apart() {
    let world = World::new();
    let mut folders = Vec::new();
    for parent in ["x", "y", "z"] {
        let folder = world.base.join(parent).join("app");
        fs::create_dir_all(&folder).unwrap();
        folders.push((String::new(), folder));
    }
    folders.push(("a/b\0\\..".to_owned(), world.base.join("outside")));
    folders.push(("~".to_owned(), PathBuf::from("/")));
    let roots = Roots::new(folders);
    let names: Vec<&str> = roots.iter().map(|root| root.name()).collect();
    assert_eq!(names, ["app", "app-2", "app-3", "a-b--..", "root"]);
    assert_eq!(roots.first().unwrap().name(), "app");
    for (index, name) in names.iter().enumerate().skip(1) {
        let place = roots.contain(&format!("{name}/f")).unwrap();
        assert_eq!((place.root, place.shown), (Some(index), format!("{name}/f")));
    }
}

#[test]
fn nested_roots_show_one_name_for_one_file() {
    let world = World::new();
    let (outer, inner) = (world.base.join("ws"), world.base.join("ws/src"));
    let both = Roots::new(vec![("ws".into(), outer.clone()), ("src".into(), inner.clone())]);
    for path in ["src/main.rs", "./src/main.rs", &world.absolute("ws/src/main.rs")] {
        let place = both.contain(path).unwrap();
        assert_eq!((place.root, place.shown.as_str()), (Some(0), "src/main.rs"));
    }
    let both = Roots::new(vec![("src".into(), inner), ("ws".into(), outer)]);
    assert_eq!(both.contain("main.rs").unwrap().shown, "main.rs");
    assert_eq!(both.contain("ws/src/main.rs").unwrap().shown, "main.rs");
    assert_eq!(both.contain("../a.txt").unwrap().shown, "ws/a.txt");
    // The innermost of those that are not first.
    let three = Roots::new(vec![
        ("o".into(), world.base.join("outside")),
        ("ws".into(), world.base.join("ws")),
        ("src".into(), world.base.join("ws/src")),
    ]);
    assert_eq!(three.contain("ws/src/main.rs").unwrap().shown, "src/main.rs");
}

#[test]
fn a_root_may_be_a_link_or_gone_or_not_there_yet() {
    let world = World::new();
    symlink(world.base.join("ws"), world.base.join("alias")).unwrap();
    let roots = Roots::new(vec![(String::new(), world.base.join("alias"))]);
    assert_eq!(roots.first().unwrap().name(), "alias");
    assert_eq!(roots.first().unwrap().given(), world.base.join("alias"));
    assert_eq!(roots.first().unwrap().path(), world.base.join("ws"));
    for path in ["a.txt", &world.absolute("alias/a.txt"), &world.absolute("ws/a.txt")] {
        assert_eq!(roots.contain(path).unwrap().path, world.base.join("ws/a.txt"));
    }

    let later = Roots::new(vec![("later".into(), world.base.join("later/on"))]);
    assert_eq!(later.contain("x/y").unwrap().path, world.base.join("later/on/x/y"));
    assert!(later.contain("../x").is_err());
    // A link that appears there and leads out does not become a root.
    fs::create_dir(world.base.join("later")).unwrap();
    symlink(world.base.join("outside"), world.base.join("later/on")).unwrap();
    assert!(later.contain(&world.absolute("later/on/secret")).is_err());

    fs::remove_dir_all(world.base.join("ws")).unwrap();
    assert_eq!(world.leads("a.txt"), "a.txt");
    world.escapes("../outside/secret");
}

#[test]
fn without_roots_only_the_files_that_are_allowed() {
    let world = World::new();
    let none = Roots::none();
    assert_eq!((none.iter().len(), none.first()), (0, None));
    for path in ["a.txt", ".", "/", &world.absolute("ws/a.txt")] {
        let said = none.contain(path).unwrap_err().to_string();
        assert!(said.starts_with(&format!("Path escapes workspace: {path} (no folder")), "{said}");
    }
    world.link("src/main.rs", "alias");
    let ws = world.base.join("ws");
    let some = none.with_single_files([ws.join("a.txt"), ws.join("alias"), "relative".into()]);
    let place = some.contain(&world.absolute("ws/a.txt")).unwrap();
    assert_eq!((place.root, place.relative.as_path()), (None, Path::new("a.txt")));
    assert_eq!(some.contain(&place.shown).unwrap(), place);
    assert_eq!(some.contain("a.txt").unwrap(), place);
    assert_eq!(some.contain("main.rs").unwrap().path, ws.join("src/main.rs"));
    assert_eq!(some.contain(&world.absolute("ws/alias")).unwrap().path, ws.join("src/main.rs"));
    for path in [
        "relative",
        "src",
        "alias",
        "txt",
        "../a.txt",
        &world.absolute("ws"),
        &world.absolute("ws/b"),
    ] {
        assert!(some.contain(path).is_err(), "{path}");
    }
    // Two of one name must be said whole.
    let two = none.with_single_files([ws.join("a.txt"), world.base.join("outside/a.txt")]);
    assert!(two.contain("a.txt").is_err());
    // Beside roots.
    let beside = world.roots.with_single_files([world.base.join("outside/secret")]);
    let place = beside.contain(&world.absolute("outside/secret")).unwrap();
    assert_eq!((place.root, place.shown), (None, world.absolute("outside/secret")));
    assert!(beside.contain(&world.absolute("outside/other")).is_err());
    assert!(beside.contain("../outside/secret").is_ok());
    assert_eq!(beside.contain("secret").unwrap().root, Some(0));
}

#[test]
fn a_name_is_found_without_the_system() {
    let world = World::new();
    let ws = world.base.join("ws");
    symlink(&ws, world.base.join("by_link")).unwrap();
    let roots = Roots::new(vec![("w".to_owned(), world.base.join("by_link"))]);
    // As the client spells it, as it is, and a link as itself.
    for (path, name) in [
        (world.base.join("by_link/src/main.rs"), Some("src/main.rs")),
        (ws.join("src/main.rs"), Some("src/main.rs")),
        (ws.join("not/there"), Some("not/there")),
        (world.base.join("by_link/alias"), Some("alias")),
        (world.base.join("outside/a.txt"), None),
        (ws.join("../outside/a.txt"), None),
    ] {
        assert_eq!(roots.name(&path).as_deref(), name, "{}", path.display());
    }
}
