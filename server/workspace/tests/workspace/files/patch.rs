//! The patch of what is pending: real `git apply` makes of the user's files what accepting all makes of them.

use super::bench::{Bench, Thing};
use super::law;
use proptest::prelude::*;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::{Patch, Proposal, ProposedChange, Roots};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

fn patch(bench: &Bench) -> Patch {
    let mut fork = bench.fork.lock().unwrap();
    fork.sync_now(&bench.workspace);
    fork.patch(&bench.workspace)
}

/// Reduces things to the part that git can tell: no empty folders, and of a mode only if it is a
/// program's.
fn as_git_has_it(things: &BTreeMap<String, Thing>) -> BTreeMap<String, Thing> {
    let as_git = |(name, thing): (&String, &Thing)| {
        let thing = match thing {
            Thing::Folder => return None,
            Thing::File(bytes, mode) => Thing::File(bytes.clone(), mode & 0o100),
            Thing::Link(target) => Thing::Link(target.clone()),
        };
        Some((name.clone(), thing))
    };
    things.iter().filter_map(as_git).collect()
}

fn git(folder: &Path, args: &[&str], input: &[u8]) {
    let mut child = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let done = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{words}\n{}", String::from_utf8_lossy(input));
}

/// A folder in which these stand.
fn folder_of(things: &BTreeMap<String, Thing>, folder: &Path) {
    for (name, thing) in things {
        let path = folder.join(name);
        match thing {
            Thing::Folder => std::fs::create_dir_all(&path).unwrap(),
            Thing::Link(target) => symlink(target, &path).unwrap(),
            Thing::File(bytes, mode) => {
                std::fs::write(&path, bytes).unwrap();
                let mode = std::fs::Permissions::from_mode(*mode);
                std::fs::set_permissions(&path, mode).unwrap();
            }
        }
    }
}

/// Applies the patch by `git apply`.
fn applied(before: &BTreeMap<String, Thing>, patch: &Patch) -> BTreeMap<String, Thing> {
    let copy = Bench::new(&[]);
    folder_of(before, &copy.path(""));
    let bytes = patch.to_bytes();
    if bytes.is_empty() {
        return as_git_has_it(before);
    }
    let apply = ["apply", "--whitespace=nowarn"];
    git(&copy.path(""), &apply, &bytes);
    as_git_has_it(&copy.things())
}

/// The patch says all, and does what accepting does.
#[track_caller]
fn check(bench: &Bench) -> String {
    let before = bench.things();
    let patch = patch(bench);
    assert_eq!(patch.left_out, []);
    let after = applied(&before, &patch);
    assert_ne!(after, as_git_has_it(&before));
    assert_eq!(after, as_git_has_it(&bench.accept_and_undo(&before)));
    String::from_utf8_lossy(&patch.to_bytes()).into_owned()
}

#[test]
fn a_text_is_changed_with_the_line_ends_and_bytes_it_has() {
    let long: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let cases: [(&[u8], &str); 8] = [
        (b"one\ntwo\n", "one\nTWO\n"),
        (b"one\r\ntwo\r\n", "one\r\nTWO\r\nthree\r\n"),
        (b"one\r\ntwo", "one\ntwo\n"),
        (b"no end", "no end\n"),
        (b"end\n", "end"),
        (b"caf\xe9\nb\xff\n", "café\nbÿ!\n"),
        (b"a\rb\n\x0c\n", "a\rB\n\u{1b}[2J\n"),
        (long.as_bytes(), "line 0\nline 2\n"),
    ];
    for (before, after) in cases {
        let bench = Bench::new(&[("a.txt", before)]);
        bench.write("a.txt", after);
        check(&bench);
    }
}

#[test]
fn files_come_and_go() {
    let bench = Bench::new(&[("gone", b"one\n"), ("empty", b""), ("d/bin", b"\0\x01")]);
    for name in ["gone", "empty", "d/bin"] {
        bench.propose(name, ProposedChange::Delete);
    }
    bench.write("new/one", "text\n");
    bench.write("new/empty", "");
    bench.binary("new/bin", &[0; 10_000]);
    bench.propose_all(vec![
        ("run.sh", ProposedChange::Write("#!/bin/sh\n".into())),
        ("run.sh", ProposedChange::Mode(0o755)),
    ]);
    let patch = check(&bench);
    assert!(patch.contains("new file mode 100755\n"), "{patch}");
    assert!(patch.contains("deleted file mode 100644\n"), "{patch}");
}

#[test]
fn names_modes_bytes_and_links_change() {
    let bench = Bench::new(&[
        ("old.txt", b"one\ntwo\nthree\nfour\n"),
        ("moved", b"as it is\n"),
        ("bin", b"\x7fELF\0"),
        ("pic", b"\0\0\0"),
        ("run.sh", b"#!/bin/sh\n"),
        ("becomes-link", b"text\n"),
        ("utf16", b"\xFF\xFEa\0\n\0"),
    ]);
    bench.link("link", "old.txt");
    bench.link("becomes-file", "nowhere");
    bench.rename("old.txt", "d/new.txt");
    bench.write("d/new.txt", "one\nTWO\nthree\nfour\n");
    bench.rename("moved", "moved away");
    bench.rename("pic", "d/pic");
    bench.propose("run.sh", ProposedChange::Mode(0o755));
    bench.binary("bin", &(0..=255).cycle().take(5_000).collect::<Vec<u8>>());
    bench.to_link("becomes-link", "d/grüße\n");
    bench.to_link("link", "elsewhere");
    bench.write("becomes-file", "now a file\n");
    bench.write("utf16", "b\n");
    let patch = check(&bench);
    for words in [
        "similarity index 100%\nrename from moved\nrename to moved away\n",
        "rename from old.txt\nrename to d/new.txt\nindex ",
        "old mode 100644\nnew mode 100755\n",
        "deleted file mode 120000\n",
        "GIT binary patch\nliteral 5000\n",
    ] {
        assert!(patch.contains(words), "{words}{patch}");
    }
}

/// Names that break a format which doesn't quote, and one that would be another file's change.
const HOSTILE: [&[u8]; 16] = [
    b"a b",
    b" lead",
    b"trail ",
    b"tab\there",
    b"line\nfeed",
    b"ret\rurn",
    b"quo\"te",
    b"back\\slash",
    b"\x1b[2J",
    b"not \xff utf-8",
    "grüße 日本".as_bytes(),
    b"-dash",
    b"{a => b}",
    b"x b/x",
    b"a\n--- a/victim\n+++ b/victim\n@@ -1 +1 @@\n-safe\n+owned\n",
    b"/dev/null",
];

#[test]
fn no_name_passes_for_another() {
    for name in HOSTILE {
        let name = Path::new(OsStr::from_bytes(name))
            .strip_prefix("/")
            .unwrap_or(Path::new(OsStr::from_bytes(name)));
        for kind in 0..5 {
            let bench = Bench::new(&[("victim", b"safe\n"), ("from", b"text\n")]);
            let place = |name: &Path| bench.workspace.roots().place_in(0, name).unwrap();
            if kind > 1 {
                std::fs::create_dir_all(bench.path("").join(name).parent().unwrap()).unwrap();
                std::fs::write(bench.path("").join(name), "text\n").unwrap();
            }
            let (place, change) = match kind {
                0 => (place(name), ProposedChange::Write("new\n".into())),
                1 => (place(Path::new("from")), ProposedChange::Rename { to: place(name) }),
                2 => (place(name), ProposedChange::Rename { to: place(Path::new("to")) }),
                3 => (place(name), ProposedChange::Mode(0o755)),
                _ => (place(name), ProposedChange::Binary(Arc::from(*b"\0"))),
            };
            let view = bench.view();
            let proposals = vec![Proposal { place, change }];
            let maker = Maker::Call("c".into());
            bench.fork.lock().unwrap().merge(&bench.workspace, &view, 1, &maker, proposals);
            let bytes = patch(&bench).to_bytes();
            let folder = bench.path("");
            git(&folder, &["apply", "--whitespace=nowarn"], &bytes);
            let own = match kind {
                2 => folder.join("to"),
                _ => folder.join(name),
            };
            let found = own.symlink_metadata().unwrap();
            assert_eq!(found.permissions().mode() & 0o100 != 0, kind == 3, "{name:?} {kind}");
            let expected: &[u8] = match kind {
                0 => b"new\n",
                4 => b"\0",
                _ => b"text\n",
            };
            assert_eq!(std::fs::read(&own).unwrap(), expected, "{name:?} {kind}");
            assert_eq!(std::fs::read(folder.join("victim")).unwrap(), b"safe\n");
        }
    }
}

#[test]
fn in_a_repository_names_are_those_that_git_apply_takes() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("packages/app");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("a.txt"), "one\n").unwrap();
    git(dir.path(), &["init", "--quiet"], b"");
    let bench = Bench::at(Roots::new(vec![(String::new(), root.clone())]));
    bench.write("a.txt", "two\n");
    let patch = patch(&bench).to_bytes();
    assert!(patch.starts_with(b"diff --git a/packages/app/a.txt b/packages/app/a.txt\n"));
    git(&root, &["apply"], &patch);
    assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"two\n");
}

#[test]
fn a_buffer_without_a_file_is_not_in_it() {
    let bench = Bench::new(&[("a.txt", b"one\n")]);
    let before = bench.things();
    bench.workspace.open("untitled:Untitled-1", "text", 1, "draft\n");
    bench.write("a.txt", "two\n");
    let view = bench.view();
    let write = ProposedChange::Write("final\n".into());
    let proposal = Proposal { place: view.named("untitled:Untitled-1").unwrap(), change: write };
    let maker = Maker::Call("c1".into());
    bench.fork.lock().unwrap().merge(&bench.workspace, &view, 1, &maker, vec![proposal]);
    let told = patch(&bench);
    let why = "it is a buffer without a file".to_owned();
    assert_eq!(told.left_out, [("untitled:Untitled-1".to_owned(), why)]);
    let after = applied(&before, &told);
    assert_eq!(after["a.txt"], Thing::File(b"two\n".to_vec(), 0));
}

#[test]
fn what_the_format_can_not_say_is_told() {
    let bench = Bench::new(&[("a.txt", b"one\n"), ("bin", b"\0")]);
    bench.propose("a.txt", ProposedChange::Mode(0o600));
    let told = patch(&bench);
    let why = "its mode 600 can't be said in a patch; accepting sets it";
    assert_eq!(told.left_out, [("a.txt".to_owned(), why.to_owned())]);
    assert!(told.to_bytes().is_empty());
    bench.write("caf\u{e9}.txt", "x\n");
    assert!(!patch(&bench).to_bytes().is_empty());
}

/// Lines with all ends there are.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec![
        &b"a\n"[..],
        b"b\n",
        b"c\r\n",
        b"\n",
        b"\r\n",
        b"d\re\n",
        b"\xff\n",
        b"f",
        b"-- a/x\n",
        b"++ b/x\n",
        b"@@ -1 +1 @@\n",
        b"\\ No newline at end of file\n",
        b"diff --git a/x b/x\n",
        " ü\n".as_bytes(),
    ]);
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn applied_by_git_it_is_as_if_accepted(
        steps in prop::collection::vec(any::<law::Step>(), 1..14),
    ) {
        let bench = law::bench();
        let before = bench.things();
        let mut model = law::files(before.clone());
        for one in steps {
            law::step(&bench, &mut model, one);
        }
        let patch = patch(&bench);
        let told = |(_, why): &(String, String)| why.contains("can't be said in a patch");
        prop_assert!(patch.left_out.iter().all(told), "{:?}", patch.left_out);
        prop_assert_eq!(applied(&before, &patch), as_git_has_it(&model));
    }

    #[test]
    fn any_bytes_become_any_others(before in lines(), after in lines()) {
        let bench = Bench::new(&[("a", &before)]);
        bench.binary("a", &after);
        let things = bench.things();
        let applied = applied(&things, &patch(&bench));
        prop_assert_eq!(&applied["a"], &Thing::File(after.clone(), 0));
        // And back.
        let patch = patch(&bench).to_bytes();
        if !patch.is_empty() {
            std::fs::write(bench.path("a"), &after).unwrap();
            git(&bench.path(""), &["apply", "--whitespace=nowarn", "-R"], &patch);
            prop_assert_eq!(std::fs::read(bench.path("a")).unwrap(), before);
        }
    }
}
