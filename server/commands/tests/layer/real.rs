//! The same commands on a plain folder and over a real overlay: what is proposed makes the one of the other.
//!
//! Needs user namespaces with overlays in them. Where there are none, that is said and nothing is tried.

use crate::support::{Bench, put};
use proptest::prelude::*;
use ropewalk_commands::layer::file_time;
use ropewalk_text::Text;
use ropewalk_text::decode::{FileFormat, decode, encode};
use ropewalk_workspace::{Proposal, ProposedChange};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILES: &[&str] = &[
    "a.txt",
    "b.sh",
    "d/c.txt",
    "d/e/f.txt",
    "d/e/i.bin",
    "g/h.txt",
    "new.txt",
    "d/new.txt",
    "k.log",
    "d/e",
    "d/link",
];
const FOLDERS: &[&str] = &["d", "d/e", "g", "n", "d/m"];

/// The disk before: name and bytes.
const DISK: &[(&str, &[u8])] = &[
    (".gitignore", b"*.log\n"),
    ("a.txt", b"alpha\n"),
    ("b.sh", b"#!/bin/sh\n"),
    ("d/c.txt", b"gamma\n"),
    ("d/e/f.txt", b""),
    ("d/e/i.bin", b"a\0b"),
    ("g/h.txt", b"caf\xE9\n"),
    ("k.log", b"log\n"),
];

/// A file's bytes and mode, or a link's target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    File(Vec<u8>, u32),
    Link(PathBuf),
}

pub(crate) type Tree = BTreeMap<String, Node>;

/// A line for the shell. What fails in one place fails in the other.
fn line() -> impl Strategy<Value = String> {
    let file = || prop::sample::select(FILES);
    let folder = || prop::sample::select(FOLDERS);
    let text = prop::sample::select(&["alpha", "x", "", "caf\\351", "a\\000b", "two\\nlines\\n"]);
    prop_oneof![
        3 => (file(), text).prop_map(|(file, text)| {
            format!("mkdir -p $(dirname {file}); printf '{text}' > {file}")
        }),
        1 => file().prop_map(|file| format!("printf more >> {file}")),
        1 => file().prop_map(|file| format!("sed -i s/a/b/ {file}")),
        2 => file().prop_map(|file| format!("rm -f {file}")),
        1 => folder().prop_map(|folder| format!("rm -rf {folder}")),
        2 => (file(), file()).prop_map(|(from, to)| format!("mv -T {from} {to}")),
        1 => (folder(), folder()).prop_map(|(from, to)| format!("mv -T {from} {to}")),
        1 => (file(), file()).prop_map(|(from, to)| format!("cp {from} {to}")),
        1 => (folder(), file()).prop_map(|(folder, file)| {
            format!("rm -rf {folder}; mkdir {folder}; cp {file} {folder}/copy")
        }),
        1 => file().prop_map(|file| format!("rm -f {file}; mkdir {file}; printf in > {file}/in")),
        1 => folder().prop_map(|folder| format!("rm -rf {folder}; printf file > {folder}")),
        1 => (file(), prop::sample::select(&["755", "644", "700"]))
            .prop_map(|(file, mode)| format!("test -f {file} && chmod {mode} {file}")),
        1 => file().prop_map(|file| format!("touch {file}")),
        1 => (file(), file()).prop_map(|(to, file)| format!("rm -f {file}; ln -s {to} {file}")),
        1 => file().prop_map(|file| format!("ln -sfn /nowhere/else {file}")),
    ]
}

/// Runs lines in a folder, over a layer if there is one. False where no overlay can be mounted.
pub(crate) fn run(folder: &Path, over: Option<&Path>, lines: &[String]) -> bool {
    let script = format!("umask 022\n{}", lines.join("\n"));
    let Some(layer) = over else {
        Command::new("sh").current_dir(folder).args(["-c", &script]).output().unwrap();
        return true;
    };
    let mount = "mount -t overlay overlay -o userxattr,lowerdir=\"$1\",upperdir=\"$2/up\",workdir=\"$2/work\" \"$1\" || exit 77; cd \"$1\"; exec sh -c \"$3\"";
    let done = Command::new("unshare")
        .args(["-Urm", "sh", "-c", mount, "sh"])
        .args([folder, layer])
        .arg(format!("{script}\ntrue"))
        .output();
    done.is_ok_and(|done| done.status.success())
}

pub(crate) fn can_mount() -> bool {
    let dir = tempfile::tempdir().unwrap();
    for name in ["root", "up", "work"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    let can = run(&dir.path().join("root"), Some(dir.path()), &[]);
    if !can {
        crate::skip::skip("no overlay can be mounted in a user namespace here");
    }
    can
}

pub(crate) fn tree_of(folder: &Path) -> Tree {
    fn walk(folder: &Path, name: &str, out: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{name}{}", path.file_name().unwrap().to_str().unwrap());
            let found = path.symlink_metadata().unwrap();
            if found.is_dir() {
                walk(&path, &format!("{name}/"), out);
            } else if found.is_symlink() {
                out.insert(name, Node::Link(fs::read_link(&path).unwrap()));
            } else {
                let mode = found.permissions().mode() & 0o777;
                out.insert(name, Node::File(fs::read(&path).unwrap(), mode));
            }
        }
    }
    let mut out = Tree::new();
    walk(folder, "", &mut out);
    out
}

/// The tree after the proposals are accepted.
pub(crate) fn accept(mut tree: Tree, proposals: &[Proposal]) -> Tree {
    for Proposal { place, change } in proposals {
        let name = place.relative.to_str().unwrap().to_owned();
        let had = tree.get(&name).cloned();
        let had_mode = match &had {
            Some(Node::File(_, mode)) => *mode,
            _ => 0o644,
        };
        match change {
            ProposedChange::Delete | ProposedChange::MoveOver { .. } => {
                assert!(tree.remove(&name).is_some(), "{name} was there to be deleted");
            }
            ProposedChange::Rename { to } => {
                let moved = tree.remove(&name).unwrap();
                let to = to.relative.to_str().unwrap().to_owned();
                assert!(tree.insert(to, moved).is_none(), "nothing was in the way");
            }
            ProposedChange::Write(text) => {
                let format = match &had {
                    Some(Node::File(bytes, _)) => decode(bytes).unwrap().1,
                    _ => FileFormat::default(),
                };
                tree.insert(name, Node::File(encode(text, format).unwrap(), had_mode));
            }
            ProposedChange::Binary(bytes) => {
                tree.insert(name, Node::File(bytes.to_vec(), had_mode));
            }
            ProposedChange::Mode(mode) => {
                let Some(Node::File(bytes, _)) = had else { panic!("{name} is a file") };
                tree.insert(name, Node::File(bytes, *mode));
            }
            ProposedChange::Link(target) => {
                tree.insert(name, Node::Link(target.clone()));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    tree
}

fn without_ignored(tree: Tree) -> Tree {
    let is_ignored = |name: &String| name.split('/').any(|part| part.ends_with(".log"));
    tree.into_iter().filter(|(name, _)| !is_ignored(name)).collect()
}

/// A disk, over it unsaved text and changes of the fork; the tree is what a command sees of all.
fn bench() -> (Bench, Tree) {
    let mut bench = Bench::new(&[]);
    for (name, bytes) in DISK {
        put(&bench.disk(name), bytes);
    }
    std::os::unix::fs::symlink("c.txt", bench.disk("d/link")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(10));
    let mut tree = tree_of(&bench.disk(""));
    bench.open("a.txt", "alpha, unsaved\n");
    bench.open("d/c.txt", "gamma\n");
    bench.change("b.sh", ProposedChange::Delete);
    bench.change("g/made.txt", ProposedChange::Write(Text::from("made\n")));
    tree.insert("a.txt".into(), Node::File(b"alpha, unsaved\n".to_vec(), 0o644));
    tree.remove("b.sh");
    tree.insert("g/made.txt".into(), Node::File(b"made\n".to_vec(), 0o644));
    (bench, tree)
}

pub(crate) fn plain_copy(tree: &Tree, folder: &Path) {
    for (name, node) in tree {
        match node {
            Node::File(bytes, mode) => {
                put(&folder.join(name), bytes);
                crate::support::set_mode(&folder.join(name), *mode);
            }
            Node::Link(target) => std::os::unix::fs::symlink(target, folder.join(name)).unwrap(),
        }
    }
}

fn check(lines: &[String], on_a_copy: bool) {
    let (mut bench, mut tree) = bench();
    if on_a_copy {
        bench = bench.on_a_copy(1 << 20);
        // Ignored files are not copied.
        tree.remove("k.log");
    }
    let copy = bench.dir.path().join("copy");
    plain_copy(&tree, &copy);
    run(&copy, None, lines);
    let (view, _) = bench.materialise();
    let started = file_time();
    if on_a_copy {
        run(&bench.up(""), None, lines);
    } else {
        assert!(run(&bench.disk(""), Some(&bench.dir.path().join("layer/0")), lines), "{lines:?}");
    }
    let collected = bench.layer.collect(&view, started, &mut bench.ever).unwrap();
    let made = accept(tree, &collected.proposals);
    let (mut made, mut wanted) = (without_ignored(made), without_ignored(tree_of(&copy)));
    // An open file that is no text any more is not taken, and that is said; so it is of folders that hold no file.
    let of_folders = ["empty folders are not kept: ", "folders without files are not removed: "];
    let told = collected.told.iter();
    for told in told.filter(|told| !of_folders.iter().any(|words| told.starts_with(words))) {
        // A file that was moved there stays where it was.
        if let Some((_, names)) = told.split_once("and its text would be lost: ") {
            for name in names.split(", ").map(|name| name.split(" (").next().unwrap()) {
                made.remove(name);
                wanted.remove(name);
            }
            continue;
        }
        assert!(told.starts_with("not kept, because it is open"), "{told}");
        for name in ["a.txt", "d/c.txt"].iter().filter(|name| told.contains(**name)) {
            made.remove(*name);
            wanted.remove(*name);
        }
    }
    assert_eq!(made, wanted, "{lines:#?} {collected:#?}");
    // A collected change is known to us: nothing is found twice.
    let again = bench.layer.collect(&view, started, &mut bench.ever).unwrap();
    assert_eq!(again.proposals.len(), 0, "{lines:?} {again:#?}");
}

#[test]
fn what_is_proposed_makes_the_tree_that_the_command_made() {
    if !can_mount() {
        return;
    }
    proptest!(config(), |(lines in prop::collection::vec(line(), 1..7))| check(&lines, false));
}

#[test]
fn on_a_copy_too() {
    proptest!(config(), |(lines in prop::collection::vec(line(), 1..7))| check(&lines, true));
}

fn config() -> ProptestConfig {
    let failure_persistence = None;
    ProptestConfig { cases: 60, max_shrink_iters: 60, failure_persistence, ..Default::default() }
}
