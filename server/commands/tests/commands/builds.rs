//! Builds by commands over the fork: from the text as they see it, and where no build outside meets them.

use crate::support::Bench;
use crate::{begin, begun, says, says_in_background, turn};
use futures::{FutureExt as _, select};
use ropewalk_protocol::OverFork;
use ropewalk_tools::NoCommands;
use rustix::fs::{FlockOperation, flock};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::pin::pin;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Ignored files that are no build cache: commands see the disk's, and theirs in their place.
pub(crate) fn ignored_folders_stay_in_the_layer() {
    let cached = "editors/x/node_modules/.cache/k";
    let files: &[(&str, &[u8])] = &[(".gitignore", b"node_modules/\n"), (cached, b"old\n")];
    let (mut bench, _) = begun(OverFork::Auto, files);
    assert_eq!(says(&mut bench, &format!("cat {cached}; echo new > {cached}")), "old\n");
    assert_eq!(says(&mut bench, &format!("cat {cached}")), "new\n");
    let beside = json!({ "command": format!("cat {cached}; echo newer > {cached}") });
    assert_eq!(says_in_background(&mut bench, beside), "new\n");
    assert_eq!(says(&mut bench, &format!("cat {cached}")), "new\n");
    assert_eq!(fs::read_to_string(bench.path(cached)).unwrap(), "old\n");
}

pub(crate) fn what_a_command_runs_is_what_it_built() {
    let files: &[(&str, &[u8])] = &[
        (".gitignore", b"target/\n"),
        ("Cargo.toml", b""),
        ("sub/Cargo.toml", b""),
        ("sub/target/debug/x", b"old\n"),
        ("alone/Cargo.toml", b""),
        ("alone/Cargo.lock", b""),
        ("part/Cargo.toml", b""),
    ];
    let (mut bench, _) = begun(OverFork::Auto, files);
    let build =
        "cd \"$CARGO_TARGET_DIR\" && mkdir -p debug && cat debug/x; echo $WHO > debug/x; cd ..";
    let run = "cat target/debug/x sub/target/debug/x alone/target/debug/x; ls part";
    let of = |who: &str| format!("export WHO={who}; ({build}) 2> /dev/null; {run}");
    let all = |who: &str| format!("{who}\n{who}\n{who}\nCargo.toml\n");
    assert_eq!(says(&mut bench, &of("first")), all("first"));
    assert_eq!(says(&mut bench, &of("second")), format!("first\n{}", all("second")));
    // One in the background finds what the last one in the background has built.
    let mut beside = |who: &str| says_in_background(&mut bench, json!({ "command": of(who) }));
    assert_eq!(beside("third"), all("third"));
    assert_eq!(beside("fourth"), format!("third\n{}", all("fourth")));
    assert_eq!(says(&mut bench, run), all("second"));
    assert_eq!(fs::read_to_string(bench.path("sub/target/debug/x")).unwrap(), "old\n");
    assert!(!bench.path("target").exists() && !bench.path("alone/target").exists());
}

const MANIFEST: &[u8] = b"[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
const MAIN: &[u8] = b"fn main() {\n    println!(\"{}\", p::NAME);\n}\n";

fn lib(name: &str) -> String {
    format!("pub const NAME: &str = \"{name}\";\n")
}

/// Output of the package's program when it is built outside.
fn outside(package: &Path) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--offline", "--quiet"]).current_dir(package);
    let output = cargo.env_remove("CARGO_TARGET_DIR").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A session over a folder with a package in `sub`.
fn session() -> Bench {
    let disk = lib("disk");
    let files: &[(&str, &[u8])] = &[
        (".gitignore", b"target/\n"),
        ("sub/Cargo.toml", MANIFEST),
        ("sub/src/main.rs", MAIN),
        ("sub/src/lib.rs", disk.as_bytes()),
    ];
    begun(OverFork::Auto, files).0
}

pub(crate) fn what_a_killed_command_built_is_not_fresh() {
    for in_background in [false, true] {
        let mut bench = session();
        let cargo = "cargo run --offline --quiet";
        let command = format!("sed -i s/disk/killed/ src/lib.rs && {cargo} && sleep 1000");
        let input = json!({ "command": command, "cwd": "sub", "background": in_background });
        let context = bench.context();
        let call = bench.begin("bash", input, context);
        let printed = bench.printed.clone();
        let has_run = async move {
            while !printed.lock().unwrap().contains("killed\n") {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // The session ends while the command runs: nobody collects what it changed.
        bench.wait(async move {
            let mut call = pin!(call.fuse());
            let mut has_run = pin!(has_run.fuse());
            loop {
                select! {
                    output = call => assert!(in_background && !output.is_error, "{output:?}"),
                    () = has_run => break,
                }
            }
        });
        bench.run_by(Arc::new(NoCommands));
        // The cache is free when all that the command started is dead.
        let builds = fs::read_dir(bench.beside("cache/builds")).unwrap().next().unwrap().unwrap();
        let lock = fs::File::open(builds.path().join("lock")).unwrap();
        while flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            bench.wait(async { tokio::time::sleep(Duration::from_millis(5)).await });
        }
        drop(lock);
        begin(&mut bench, OverFork::Auto);
        let again = json!({ "command": cargo, "cwd": "sub" });
        let said = match in_background {
            true => says_in_background(&mut bench, again),
            false => bench.say("bash", again),
        };
        assert!(said.starts_with("disk\n"), "{said}");
        let slots = fs::read_dir(bench.beside("cache/builds")).unwrap().count();
        assert_eq!(slots, 1, "it was another session's cache");
    }
}

pub(crate) fn a_nested_package_is_built_from_its_text() {
    let mut bench = session();
    let package = bench.path("sub");
    bench.open("sub/src/lib.rs", &lib("unsaved"));
    assert_eq!(says(&mut bench, "cat sub/src/lib.rs"), lib("unsaved"));
    // The disk's text is built later than commands have seen the unsaved one: what was built is newer than it.
    assert_eq!(outside(&package), "disk\n");
    turn(&mut bench);
    // By the variable that commands are given, by hand, and as a script does that clears its environment.
    let cargo = "cargo run --offline --quiet";
    let build = json!({
        "command": format!("{cargo}; ./target/debug/p; env -u CARGO_TARGET_DIR {cargo}"),
        "cwd": "sub",
    });
    let unsaved = "unsaved\n".repeat(3);
    assert_eq!(says_in_background(&mut bench, build.clone()), unsaved);
    assert_eq!(bench.say("bash", build.clone()), unsaved);
    assert_eq!(outside(&package), "disk\n");
    // Outside again, from the text that is saved there now; and another session, in which nothing is unsaved.
    fs::write(package.join("src/main.rs"), [MAIN, b"// saved\n"].concat()).unwrap();
    assert_eq!(outside(&package), "disk\n");
    let uri = format!("file://{}", bench.path("sub/src/lib.rs").display());
    bench.workspace.close(&uri);
    begin(&mut bench, OverFork::Auto);
    assert_eq!(says_in_background(&mut bench, build.clone()), "disk\n".repeat(3));
    assert_eq!(bench.say("bash", build), "disk\n".repeat(3));
}

/// A tool that goes by times, and output that is no build cache's: somebody builds outside while a text is unsaved.
pub(crate) fn make_builds_the_text_that_commands_see() {
    if !Command::new("make").arg("--version").output().is_ok_and(|made| made.status.success()) {
        return crate::skip::skip("there is no make here");
    }
    const MAKEFILE: &[u8] = b"all: main.o build/part\n\nmain.o: main.c\n\tcp main.c main.o\n\n\
        build/part: part.c\n\tmkdir -p build\n\tcp part.c build/part\n";
    let (mut bench, _) = begun(
        OverFork::Auto,
        &[
            (".gitignore", b"*.o\nbuild/\n"),
            ("Makefile", MAKEFILE),
            ("main.c", b"disk\n"),
            ("part.c", b"part\n"),
        ],
    );
    let root = bench.path("");
    let outside = |more: &[&str]| {
        let made = Command::new("make").args(more).current_dir(&root).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8(made.stdout).unwrap()
    };
    bench.open("main.c", "unsaved\n");
    assert_eq!(says(&mut bench, "cat main.c"), "unsaved\n");
    outside(&[]);
    let make = "make; cat main.o";
    let built = "cp main.c main.o\nunsaved\n";
    assert_eq!(says_in_background(&mut bench, json!({ "command": make })), built);
    assert_eq!(says(&mut bench, make), built);
    // A build is fresh as long as nothing changes, whatever is built outside of the same.
    let fresh = "make: Nothing to be done for 'all'.\nunsaved\n";
    assert_eq!(says(&mut bench, make), fresh);
    outside(&["-B"]);
    outside(&["-B", "main.o"]);
    bench.put("notes.txt", b"not built\n");
    assert_eq!(says(&mut bench, make), built, "build/part is younger and may be of main.c");
    assert_eq!(says(&mut bench, make), fresh);
    // The user saves the unsaved text, before which something was built of the old one.
    bench.put("main.c", b"unsaved\n");
    assert_eq!(outside(&[]), "cp main.c main.o\n");
    assert_eq!(says(&mut bench, make), fresh);
    // Outside nothing was ever touched.
    assert_eq!(fs::read_to_string(bench.path("main.o")).unwrap(), "unsaved\n");
    assert_eq!(outside(&[]), "make: Nothing to be done for 'all'.\n");
}
