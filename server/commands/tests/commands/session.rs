//! The commands of one session: what they see of each other, and what is said of where they run.

use crate::support::Bench;
use crate::{begin_with, begun, says, turn};
use futures::future::join;
use ropewalk_commands::{CommandModeChoice, CommandSettings};
use ropewalk_protocol::OverFork;
use ropewalk_tools::CommandMode;
use ropewalk_workspace::{ProposedChange, Roots};
use serde_json::json;

pub(crate) fn what_one_leaves_the_next_finds() {
    let (mut bench, chosen) = begun(OverFork::Auto, &[("a", b"disk\n"), (".gitignore", b"*.o\n")]);
    assert_eq!(chosen, CommandModeChoice { mode: CommandMode::OverFork, why: None });
    bench.open("a", "unsaved\n");
    let said = says(&mut bench, "cat a; echo more >> a; echo made > b; echo built > b.o");
    assert_eq!(said, "unsaved\n(changed: a, b)");
    assert_eq!(says(&mut bench, "cat a b b.o"), "unsaved\nmore\nmade\nbuilt\n");
    assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), "disk\n");
    assert!(!bench.path("b").exists() && !bench.path("b.o").exists());
}

pub(crate) fn a_file_that_is_moved_where_nothing_is_kept_stays() {
    let files: &[(&str, &[u8])] =
        &[("a", b"alpha\n"), ("d/b", b"beta\n"), ("c", b"gamma\n"), (".gitignore", b"*.o\n")];
    let (mut bench, _) = begun(OverFork::Auto, files);
    for (command, name, now) in [
        ("mv a /tmp/", "a", "a, outside of the open folders"),
        ("mv d ~/kept", "d/b", "b, outside of the open folders"),
        ("mv c c.o", "c", "c.o, which is ignored"),
    ] {
        let said = says(&mut bench, command);
        assert!(
            !said.contains("changed:") && said.contains(&format!("{name} (now {now}")),
            "{said}"
        );
    }
    assert!(says(&mut bench, "cat a d/b c").starts_with("alpha\nbeta\ngamma\n"));
    assert_eq!(says(&mut bench, "rm a"), "(no output)\n(changed: a)", "it was there before");
}

/// As the folder of a skill that lies in the user's own folder, which is hidden.
pub(crate) fn a_folder_that_may_be_read_is_seen() {
    let mut bench = Bench::new(&[]);
    let (private, folder) = (bench.beside("private"), bench.beside("private/skills/pdf"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("notes.md"), "the notes\n").unwrap();
    std::fs::write(private.join("config.toml"), "the secret\n").unwrap();
    let settings = CommandSettings { private: vec![private.clone()], ..CommandSettings::default() };
    assert_eq!(begin_with(&mut bench, settings).mode, CommandMode::OverFork);
    let (notes, secret) = (folder.join("notes.md"), private.join("config.toml"));
    let command = format!("cat {} {}; echo more > {0}", notes.display(), secret.display());
    assert!(!says(&mut bench, &command).contains("the notes"), "not before it may be read");
    let mut context = bench.context();
    let view = std::sync::Arc::into_inner(context.view).unwrap();
    let readable = Roots::new(vec![("skill".to_owned(), folder)]);
    context.view = std::sync::Arc::new(view.with_readable(readable));
    let running = bench.begin("bash", json!({ "command": command }), context);
    let said = bench.wait(running).words().to_owned();
    assert!(said.contains("the notes") && !said.contains("the secret"), "{said}");
    assert_eq!(std::fs::read_to_string(notes).unwrap(), "the notes\n");
}

pub(crate) fn a_runner_beside_has_its_own_layer() {
    let (mut bench, _) = begun(OverFork::Auto, &[("a", b"disk\n"), (".gitignore", b"*.o\n")]);
    assert_eq!(says(&mut bench, "echo built > b.o"), "(no output)");
    let session = bench.runner.clone();
    bench.run_by(session.beside().unwrap());
    let said = says(&mut bench, "ls b.o; echo own > c.o; echo made > d; cat a c.o d");
    assert!(said.contains("No such file") && said.contains("disk\nown\nmade\n"), "{said}");
    bench.run_by(session);
    let said = says(&mut bench, "cat b.o; ls c.o");
    assert!(said.contains("built") && said.contains("No such file"), "{said}");
}

pub(crate) fn one_runs_at_a_time() {
    let (mut bench, _) = begun(OverFork::Auto, &[]);
    let command = "for i in $(seq 100); do mkdir $CARGO_TARGET_DIR/one || exit 1; rmdir $CARGO_TARGET_DIR/one; done; \
         echo n >> count";
    let mut run = || {
        let mut context = bench.context();
        context.outputs = None;
        bench.begin("bash", json!({ "command": command }), context)
    };
    let both = join(run(), run());
    let (one, two) = bench.wait(both);
    // Both began on the same view, in which there was no such file.
    for output in [one, two] {
        assert_eq!((output.words(), output.proposals.len()), ("(no output)\n(changed: count)", 1));
    }
}

/// Words about the want of a network.
const NETWORK: &str = "call again with network: true";

pub(crate) fn the_want_of_a_network_is_said() {
    let (mut bench, _) = begun(OverFork::Auto, &[]);
    let refused = "exec 3<>/dev/tcp/127.0.0.1/1";
    let said = says(&mut bench, refused);
    assert!(said.contains("(exit code 1)") && said.contains(NETWORK), "{said}");
    let said = says(&mut bench, &format!("({refused}); true"));
    assert!(said.contains("refused") && !said.contains(NETWORK), "it did not fail: {said}");
    let mut context = bench.context();
    context.grant.reach.network = true;
    let running = bench.begin("bash", json!({ "command": refused }), context);
    let said = bench.wait(running).words().to_owned();
    assert!(said.contains("refused") && !said.contains(NETWORK), "it had the network: {said}");
}

/// Programs that ask for something of HOST, and what they call a part that has to be there.
const ASKING: &[(&str, &str)] = &[
    ("curl", "curl -sS http://HOST:9/"),
    ("wget", "wget -O- --tries 1 http://HOST:9/"),
    ("python3", "python3 -c 'import socket; socket.create_connection((\"HOST\", 9))'"),
    ("python3", "python3 -c 'import urllib.request as r; r.urlopen(\"http://HOST:9/\")'"),
    ("pip", "pip download --isolated --retries 1 --index-url https://HOST:9/ no-such"),
    ("git", "git ls-remote http://HOST:9/x.git"),
    ("git", "git ls-remote git://HOST:9/x.git"),
    ("ssh", "ssh -o BatchMode=yes -p 9 HOST true"),
    ("node", "node -e 'require(\"http\").get(\"http://HOST:9/\")'"),
    ("node", "node -e 'fetch(\"http://HOST:8/\").then(() => 0)'"),
    ("npm", "npm ping --fetch-retries 0 --registry http://HOST:9/"),
    (
        "cargo",
        "CARGO_NET_RETRY=0 cargo fetch --config 'source.crates-io.replace-with=\"x\"' \\
         --config 'source.x.registry=\"sparse+http://HOST:9/\"'",
    ),
    ("perl", "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(\"HOST:9\") or die $@'"),
];

pub(crate) fn the_words_of_real_programs_are_known() {
    let manifest = b"[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                     [dependencies]\nno-such-crate = \"1\"\n";
    let (mut bench, _) =
        begun(OverFork::Auto, &[("Cargo.toml", manifest), ("src/main.rs", b"fn main() {}\n")]);
    for (program, command) in ASKING {
        if !says(&mut bench, &format!("command -v {program}")).contains(program) {
            eprintln!("skipped: there is no {program} here");
            continue;
        }
        for host in ["127.0.0.1", "example.invalid"] {
            let command = command.replace("HOST", host);
            let said = says(&mut bench, &command);
            assert!(said.contains("(exit code ") && said.contains(NETWORK), "{command}: {said}");
        }
        let did_not_fail =
            says(&mut bench, &format!("({command}); true").replace("HOST", "127.0.0.1"));
        assert!(!did_not_fail.contains(NETWORK), "{command}: {did_not_fail}");
    }
}

pub(crate) fn a_folder_of_the_disk_is_renamed() {
    let git = "git -c user.name=n -c user.email=e@example.org";
    let (mut bench, _) = begun(
        OverFork::Auto,
        &[("folder/one.txt", b"one\n"), ("folder/deep/two.txt", b"two\n"), ("a", b"a\n")],
    );
    let root = bench.path("");
    let made = std::process::Command::new("sh")
        .args(["-c", &format!("git init -q && git add . && {git} commit -qm first")])
        .current_dir(&root)
        .status();
    assert!(made.unwrap().success());
    const WORDS: &str = "`mv` works, because it copies";
    for refused in [
        "python3 -c 'import os; os.rename(\"folder\", \"moved\")'",
        "perl -e 'rename(\"folder\", \"moved\") or die $!'",
        "git mv folder moved",
    ] {
        let said = says(&mut bench, refused);
        assert!(said.contains("ross-device link") && said.contains(WORDS), "{refused}: {said}");
        assert!(!said.contains("changed: "), "{refused}: {said}");
    }
    let command = "mv folder moved && cat moved/one.txt moved/deep/two.txt; ls";
    let output = bench.call("bash", json!({ "command": command }));
    assert!(output.words().starts_with("one\ntwo\na\nmoved\n"), "{}", output.words());
    let mut renamed: Vec<(&str, &str)> = Vec::new();
    for proposal in &output.proposals {
        if let ProposedChange::Rename { to } = &proposal.change {
            renamed.push((&proposal.place.shown, &to.shown));
        }
    }
    assert_eq!(renamed.len(), output.proposals.len(), "{:?}", output.proposals);
    renamed.sort_unstable();
    let expected =
        [("folder/deep/two.txt", "moved/deep/two.txt"), ("folder/one.txt", "moved/one.txt")];
    assert_eq!(renamed, expected);
    assert_eq!(bench.bytes("folder/one.txt"), None);
    assert_eq!(bench.text("moved/deep/two.txt"), "two\n");
    assert!(bench.path("folder/one.txt").exists() && !bench.path("moved").exists());
    // A file is renamed in one step.
    assert_eq!(
        says(&mut bench, "python3 -c 'import os; os.rename(\"a\", \"b\")'; ls"),
        "b\nmoved\n(changed: a)"
    );
}

pub(crate) fn more_secrets_than_are_hidden_are_said() {
    let (mut bench, _) = begun(OverFork::Auto, &[(".gitignore", b"ignored/\n")]);
    let secret = |bench: &Bench, name: &str| bench.put(&format!("ignored/{name}/.env"), b"KEY=x\n");
    for number in 0..2_000 {
        secret(&bench, &format!("{number:04}"));
    }
    turn(&mut bench);
    assert_eq!(says(&mut bench, "grep -r KEY . | wc -l"), "0\n");
    // The last one by name, so that those that are hidden stay the same.
    secret(&bench, "last");
    turn(&mut bench);
    let said = says(&mut bench, "grep -r KEY . | wc -l");
    assert!(
        said.starts_with("1\n") && said.contains("and 1 of them are open to commands"),
        "{said}"
    );
    turn(&mut bench);
    assert_eq!(says(&mut bench, "grep -r KEY . | wc -l"), "1\n", "it is said once");
}

pub(crate) fn each_tier_is_told_of_as_it_is() {
    let rows = [
        (OverFork::Auto, CommandMode::OverFork, "w\nunsaved\n(changed: b)", false),
        (OverFork::Copy, CommandMode::Copy, "unsaved\n(changed: b)\n(it ran on a copy: ", false),
        (OverFork::Off, CommandMode::InPlace, "w\ndisk\n", true),
    ];
    for (over_fork, mode, words, on_disk) in rows {
        let (mut bench, chosen) = begun(over_fork, &[("a", b"disk\n")]);
        assert_eq!(chosen, CommandModeChoice { mode, why: None });
        bench.open("a", "unsaved\n");
        let said = says(&mut bench, "basename \"$PWD\"; cat a; echo new > b");
        assert!(said.contains(words), "{said}");
        assert_eq!(said.contains("it ran on a copy: "), mode == CommandMode::Copy, "{said}");
        assert_eq!(bench.path("b").exists(), on_disk, "{mode:?}");
    }
}

pub(crate) fn a_package_manager_without_a_network_fails_at_once() {
    let (mut bench, _) = begun(OverFork::Auto, &[("Cargo.toml", b"[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\nno-such-package-here = \"1\"\n[lib]\npath = \"x.rs\"\n"), ("x.rs", b""), ("pom.xml", b"<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId><version>1</version></project>")]);
    // Where it tries again, npm waits for 70 s between, and the others say that they do.
    for (program, command) in [
        ("npm", "npm install no-such-package-here"),
        ("pip", "pip install no-such-package-here"),
        ("cargo", "CARGO_HOME=/tmp/empty cargo fetch"),
        ("mvn", "mvn -B -Dmaven.repo.local=/tmp/empty/maven compile"),
    ] {
        let script = format!(
            "{program} --version >/dev/null 2>&1 || {{ echo none; exit; }}; timeout 30 {command}; echo ended $?"
        );
        let said = says(&mut bench, &script);
        let is_there = !said.starts_with("none");
        assert!(!is_there || !said.contains("ended 124") && !said.contains("ended 0"), "{said}");
        assert!(!said.contains("Retrying") && !said.contains("spurious"), "{said}");
    }
}
