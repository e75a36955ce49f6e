//! A layer that is full: what is said of it, what is lost, and that the next command works.

use crate::support::Bench;
use crate::{begin_with, says, says_in_background};
use ropewalk_commands::CommandSettings;
use ropewalk_sandbox::Upper;
use ropewalk_workspace::Roots;
use serde_json::json;
use std::fs;

/// A session whose commands may write so many megabytes, over a folder in which `*.bin` is ignored.
fn small(megabytes: u64, upper: Upper) -> Bench {
    let mut bench = Bench::new(&[(".gitignore", b"*.bin\n"), ("a.txt", b"disk\n")]);
    let layer_bytes = Some(megabytes << 20);
    begin_with(&mut bench, CommandSettings { layer_bytes, upper, ..CommandSettings::default() });
    bench
}

const EMPTIED: &str = "was full and was emptied: ignored files that commands had made are gone";

pub(crate) fn it_is_left_by_one_in_the_background() {
    let mut bench = small(16, Upper::Memory);
    let said = says(&mut bench, "echo kept > kept.txt; head -c 40000000 /dev/zero > x.bin");
    assert!(said.contains("fills the sandbox (16 MB)"), "{said}");
    bench.open("a.txt", "unsaved\n");
    let said =
        says_in_background(&mut bench, json!({ "command": "cat *.txt; ls; echo new > b.txt" }));
    assert!(said.starts_with("unsaved\nkept\na.txt\nkept.txt\n"), "{said}");
    assert!(said.contains(EMPTIED) && said.contains("changed: b.txt"), "{said}");
    // Said once, and neither the next one beside it nor one after it lacks room.
    let command = "cat *.txt; head -c 3000000 /dev/zero > y.bin && echo written";
    let written = "unsaved\nkept\nwritten\n";
    assert_eq!(says_in_background(&mut bench, json!({ "command": command })), written);
    assert_eq!(says(&mut bench, command), written);
    // An open text larger than any layer is said, and nothing is left of the trial.
    bench.open("a.txt", &"0123456789abcde\n".repeat(17 << 16));
    let refused = bench.say("bash", json!({ "command": "ls", "background": true }));
    assert!(
        refused.starts_with("Error: what is open and not accepted yet takes more"),
        "{refused}"
    );
    bench.workspace.close(&format!("file://{}", bench.path("a.txt").display()));
    let said = says_in_background(&mut bench, json!({ "command": command }));
    assert_eq!(said, "disk\nkept\nwritten\n");
}

pub(crate) fn what_is_ignored_and_large_stays_behind() {
    let mut bench = small(64, Upper::Memory);
    let make = "head -c 40000000 /dev/zero > x.bin; echo small > y.bin";
    assert_eq!(says(&mut bench, make), "(no output)");
    bench.open("a.txt", "unsaved\n");
    for _ in 0..2 {
        let command =
            "cat a.txt y.bin; ls x.bin; head -c 10000000 /dev/zero > z.bin && echo written";
        let said = says_in_background(&mut bench, json!({ "command": command }));
        assert!(said.starts_with("unsaved\nsmall\n"), "{said}");
        assert!(said.contains("cannot access 'x.bin'") && said.contains("\nwritten\n"), "{said}");
        assert!(
            said.contains("1 ignored files that earlier commands made were too large"),
            "{said}"
        );
    }
    assert_eq!(says(&mut bench, "wc -c < x.bin; cat y.bin"), "40000000\nsmall\n");
}

pub(crate) fn on_a_disk_the_command_is_ended_and_the_next_one_works() {
    let mut bench = small(16, Upper::Disk);
    bench.open("a.txt", "unsaved\n");
    let layers = || fs::read_dir(bench.beside("cache/layers")).unwrap().count();
    assert_eq!(layers(), 1);
    // The file that fills it is ignored, or goes to a toolchain, where it is thrown away.
    for fill in ["x.bin", "~/.cargo/x"] {
        let command = format!(
            "cat a.txt; echo made >> made.txt; mkdir -p ~/.cargo; head -c 40000000 /dev/zero > {fill}; sleep 1000"
        );
        let said = says(&mut bench, &command);
        assert!(said.starts_with("unsaved\n(ended by signal 9)"), "{fill}: {said}");
        assert!(said.contains("changed: made.txt"), "{fill}: {said}");
        assert!(said.contains("MB, more than it may") && said.contains("commands.layer_megabytes"));
        let said = says(&mut bench, "sleep 2; cat a.txt made.txt; ls; echo more >> a.txt");
        assert!(
            said.starts_with("unsaved\n") && said.contains("made\na.txt\nmade.txt\n"),
            "{said}"
        );
        assert!(said.contains(EMPTIED) && said.contains("changed: a.txt"), "{said}");
        let said = says(&mut bench, "sleep 2; cat a.txt");
        assert_eq!(said, "unsaved\nmore\n", "it is said once");
        bench.open("a.txt", "unsaved\n");
        assert!(says(&mut bench, "echo unsaved > a.txt").contains("changed: a.txt"));
        let layers = fs::read_dir(bench.beside("cache/layers")).unwrap().count();
        assert_eq!(layers, 1, "the full one is gone from the disk");
    }
    // One in the background has a layer there too, with what fits into a part of it.
    let make = "head -c 10000000 /dev/zero > x.bin; echo small > y.bin";
    assert_eq!(says(&mut bench, make), "(no output)");
    let command = json!({ "command": "cat y.bin; ls x.bin; sleep 2; echo new > b.txt" });
    let said = says_in_background(&mut bench, command);
    assert!(said.starts_with("small\n") && said.contains("cannot access 'x.bin'"), "{said}");
    assert!(said.contains("changed: b.txt"), "{said}");
}

pub(crate) fn one_in_the_background_keeps_its_layer_when_the_session_takes_another() {
    for upper in [Upper::Memory, Upper::Disk] {
        let mut bench = small(64, upper);
        bench.put("gate", b"shut\n");
        let command =
            "echo up; until grep -q open gate; do sleep 0.05; done; cat a.txt; echo new > b.txt";
        let started = bench.say("bash", json!({ "command": command, "background": true }));
        assert!(started.starts_with("Started in the background"), "{started}");
        // Other folders are opened, so that the session's next command has another sandbox.
        let roots = ["w", "outside"].map(|name| (name.to_owned(), bench.beside(name)));
        bench.workspace.set_roots(Roots::new(roots.to_vec()));
        let said = says(&mut bench, "ls b.txt 2>/dev/null; echo kept > y.bin");
        assert!(said.starts_with("(no output)\n(other folders are open now"), "{said}");
        bench.put("gate", b"open\n");
        let said = bench.wait(bench.runner.finished()).output.words().to_owned();
        assert_eq!(said, "up\ndisk\n(changed: b.txt)", "{upper:?}");
        assert_eq!(says(&mut bench, "cat y.bin"), "kept\n");
    }
}
