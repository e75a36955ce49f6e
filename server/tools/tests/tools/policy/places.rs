//! Rules on paths that are looked up: links, other roots, absolute spellings.

use super::rules::{call, rules};
use ropewalk_protocol::Mode;
use ropewalk_tools::{Access, Call, decide, named_paths};
use ropewalk_workspace::{Fork, Roots, Workspace};

struct World {
    dir: tempfile::TempDir,
    workspace: Workspace,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["w/secrets", "w/src", "lib/secrets"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for file in ["w/secrets/x", "w/src/a", "lib/secrets/y"] {
            std::fs::write(dir.path().join(file), "text\n").unwrap();
        }
        #[cfg(unix)]
        for (link, target) in
            [("w/door", "secrets"), ("w/src/file", "../secrets/x"), ("w/far", "../lib/secrets")]
        {
            std::os::unix::fs::symlink(target, dir.path().join(link)).unwrap();
        }
        let at = |name: &str| (name.to_owned(), dir.path().join(name));
        let workspace = Workspace::new(Roots::new(vec![at("w"), at("lib")]));
        Self { dir, workspace }
    }

    fn decide(&self, text: &str, call: &Call) -> String {
        let view = Fork::new("s".into()).view(self.workspace.snapshot());
        let (rules, granted) = rules(text);
        let paths = named_paths(&call.subject, &view);
        let ruling = decide(call, &paths, &Access::default(), Mode::Review, &rules, &granted);
        format!("{} by {}", ruling.decision.word(), ruling.by)
    }
}

#[cfg(unix)]
#[test]
fn no_way_round_a_deny_rule() {
    let world = World::new();
    let absolute = world.dir.path().canonicalize().unwrap().join("w/secrets/x");
    let uri = format!("file://{}", absolute.display());
    for path in [
        "secrets/x",
        "./secrets/x",
        "src/../secrets/x",
        "src/./../secrets//x",
        absolute.to_str().unwrap(),
        &uri,
        "door/x",
        "src/file",
        "src/../door/x",
        "door/../secrets/x",
        "lib/secrets/y",
        "far/y",
        "secrets/not/there/yet",
        "secrets",
        "door",
    ] {
        let decided = world.decide("deny read_file(secrets/*)", &call("read_file", path));
        assert_eq!(decided, "deny by deny read_file(secrets/*)", "{path}");
        let decided = world.decide("deny *(secrets/**)", &call("write_file", path));
        assert_eq!(decided, "deny by deny *(secrets/**)", "{path}");
    }
    for path in ["src/a", "secrets/../src/a", "door/../src/a", "secretsx"] {
        let decided = world.decide("deny read_file(secrets/*)", &call("read_file", path));
        assert_eq!(decided, "allow by effect", "{path}");
    }
    let moved = call("move_file", "src/a -> door/a");
    assert_eq!(
        world.decide("deny move_file(secrets/*)", &moved),
        "deny by deny move_file(secrets/*)"
    );
    // By its name in the other root, by its root's name, and absolute.
    let absolute =
        format!("deny read_file({}/*)", world.dir.path().canonicalize().unwrap().display());
    for rule in ["deny read_file(lib/*)", absolute.as_str()] {
        assert_eq!(world.decide(rule, &call("read_file", "far/y")), format!("deny by {rule}"));
    }
}

#[cfg(unix)]
#[test]
fn an_allow_rule_is_about_where_a_path_leads() {
    let world = World::new();
    std::fs::write(world.dir.path().join("w/secrets/.env"), "A=1\n").unwrap();
    std::os::unix::fs::symlink("secrets/.env", world.dir.path().join("w/.env")).unwrap();
    let allow = "allow read_file(.env)";
    assert_eq!(world.decide(allow, &call("read_file", ".env")), "ask by secrets");
    assert_eq!(world.decide(allow, &call("read_file", "secrets/.env")), "ask by secrets");
    let there = "allow read_file(secrets/.env)";
    assert_eq!(world.decide(there, &call("read_file", ".env")), "allow by effect");
    assert_eq!(world.decide(there, &call("read_file", "src/../secrets/.env")), "allow by effect");
}

#[test]
fn a_search_leaves_out_what_may_not_be_read_unless_that_was_asked() {
    let world = World::new();
    let place = |path: &str| world.workspace.roots().contain(path).unwrap();
    let both = "ask read_file(src/*)\ndeny *(src/deep/*)";
    for (text, file, start, hidden) in [
        ("", "secrets/x", None, false),
        ("deny read_file(secrets/*)", "secrets/x", None, true),
        ("deny read_file(secrets/*)", "src/a", None, false),
        ("deny read_file(SECRETS/*)", "secrets/x", Some("secrets"), true),
        ("deny read_file(secrets/*)", "lib/secrets/y", None, true),
        ("deny edit_file(secrets/*)", "secrets/x", None, false),
        ("ask grep(secrets/*)", "secrets/x", Some("."), true),
        ("ask grep(secrets/*)", "secrets/x", Some("secrets"), false),
        ("ask grep(secrets/*)", "secrets/x", Some("secrets/x"), false),
        (both, "src/a", Some("src"), false),
        (both, "src/deep/a", Some("src"), true),
        ("allow read_file(secrets/*)\nask read_file", "secrets/x", None, false),
    ] {
        let start = start.map(place);
        let found = rules(text).0.hides(&place(file), start.as_ref());
        assert_eq!(found, hidden, "{file} under {text:?} from {start:?}");
    }
}
