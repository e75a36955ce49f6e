//! Bundles that nobody honest has made: each is refused in words, and nothing is changed.

use super::world::World;
use ropewalk_workspace::bundle::{MOST_BYTES, take};
use ropewalk_workspace::*;
use serde_json::{Value, json};

/// Base of the world's file `a.txt`, with its hash.
fn base() -> Value {
    let hash = format!("{:?}", ContentHash::of(b"one\n"));
    json!({ "text": { "text": "one\n", "hash": hash, "format": { "encoding": "utf8", "bom": false } } })
}

fn of(files: &Value) -> Vec<u8> {
    serde_json::to_vec(&json!({ "version": 1, "files": files })).unwrap()
}

/// Refusal of a bundle by one that knows which files are secret and what a key is.
fn refusal(world: &World, written: &[u8]) -> String {
    let holds = |bytes: &[u8]| bytes.windows(9).any(|word| word == b"sk-secret");
    let guard = BundleGuard { is_secret: &|path| path.ends_with(".env"), private: Some(&holds) };
    let maker = super::world::bob(1);
    let origin = MergeOrigin { turn: 1, maker: &maker };
    let taken = Bundle::read(written)
        .map_err(TakeError::Bundle)
        .and_then(|bundle| take(&world.workspace, &world.fork, &bundle, origin, guard));
    assert_eq!(world.waits(), []);
    taken.expect_err("it is refused").to_string()
}

/// A file that a bundle makes.
fn make(root: &str, path: &str, change: &Value) -> Value {
    json!([{ "root": root, "path": path, "base": "absent", "change": change }])
}

fn new(path: &str) -> Value {
    make("w", path, &json!({ "write": "x" }))
}

fn link(path: &str, target: &str) -> Value {
    make("w", path, &json!({ "link": target }))
}

fn edit(start: usize, end: usize) -> Value {
    let change = json!({ "edits": [[start, end, "x"]] });
    json!([{ "root": "w", "path": "a.txt", "base": base(), "change": change }])
}

fn renamed(to: &str) -> Value {
    json!([{ "root": "w", "path": "a.txt", "base": base(), "to": ["w", to] }])
}

/// Bundles of which the words say what is wrong.
fn broken() -> Vec<(Value, &'static str)> {
    let plain = "not a plain path below its folder";
    let mut wrong = edit(0, 3);
    wrong[0]["base"]["text"]["text"] = json!("One\n");
    let twice = json!([edit(0, 3)[0], edit(0, 3)[0]]);
    vec![
        (new("../x"), plain),
        (new("d/../../x"), plain),
        (new("/etc/x"), plain),
        (new("d//x"), plain),
        (new(""), plain),
        (new("a\0b"), plain),
        (renamed("../x"), plain),
        (new(".git/hooks/pre-commit"), "version control's own"),
        (new("d/.GIT/config"), "version control's own"),
        (renamed(".git/x"), "version control's own"),
        (new(".env"), "holds a key or may hold secrets"),
        (make("w", "k.txt", &json!({ "write": "it is sk-secret" })), "holds a key"),
        (renamed("d/.env"), "holds a key"),
        (make("elsewhere", "x", &json!({ "write": "x" })), "no folder named elsewhere"),
        (edit(0, 9), "doesn't fit its text of 4 bytes"),
        (edit(3, 1), "doesn't fit"),
        (wrong, "does not have the hash"),
        (twice, "a.txt is changed twice"),
        (make("w", "x", &json!({ "edits": [] })), "does not go with what it says was there"),
        (make("w", "x", &json!("delete")), "does not go with"),
        (make("w", "x", &json!({ "run": "ls" })), "can't be read"),
    ]
}

/// Bundles that would lead out by links.
fn leading_out() -> Vec<(Value, &'static str)> {
    vec![
        (new("out/x"), "leads through a link"),
        (new("through/x"), "leads through a link here: it is in/x"),
        (link("l", "/etc/passwd"), "not inside the open folders"),
        (link("l", "../../x"), "not inside the open folders"),
        (link("l", "out/x"), "not inside the open folders"),
        // A link that leads inside, and another through it that leads out.
        (
            json!([link("in/up", "..")[0], link("l", "in/up/../x")[0]]),
            "l a link to in/up/../x, which is not inside",
        ),
        (json!([link("l", "in")[0], new("l/x")[0]]), "leads through a link"),
    ]
}

#[test]
fn hostile_bundles_are_refused_in_words() {
    let world = World::new(&[("a.txt", "one\n")]);
    let outside = tempfile::tempdir().unwrap();
    let mut cases = broken();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path(), world.root().join("out")).unwrap();
        std::fs::create_dir(world.root().join("in")).unwrap();
        std::os::unix::fs::symlink("in", world.root().join("through")).unwrap();
        cases.extend(leading_out());
    }
    for (files, words) in cases {
        let refusal = refusal(&world, &of(&files));
        assert!(refusal.contains(words), "{files}: {refusal}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn what_is_no_bundle_is_refused_in_words() {
    let world = World::new(&[("a.txt", "one\n")]);
    let later = serde_json::to_vec(&json!({ "version": 2, "shape": "another" })).unwrap();
    let huge = vec![b' '; MOST_BYTES + 1];
    let cases: [(&[u8], &str); 4] = [
        (b"", "can't be read"),
        (b"{\"version\":1}", "can't be read"),
        (&later, "in version 2"),
        (&huge, "16777217 bytes, more than the 16777216"),
    ];
    for (written, words) in cases {
        let refusal = refusal(&world, written);
        assert!(refusal.contains(words), "{refusal}");
    }
}

#[test]
fn a_bundle_that_is_too_large_is_not_written() {
    let world = World::new(&[("a.txt", "one\n")]);
    let mut branch = world.branch();
    let bytes = ProposedChange::Binary(vec![0; MOST_BYTES].into());
    world.work(&mut branch, vec![("x.bin", bytes)]);
    let (bundle, _) = branch.bundle(&world.workspace, BundleGuard::NONE).unwrap();
    assert!(matches!(bundle.write(), Err(BundleError::TooLarge { .. })));
}
