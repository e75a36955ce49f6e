//! A layer that is full: what is said of it, what is lost, and that the next command works.

use crate::support::Bench;
use crate::{begin_with, says, says_in_background};
use ropewalk_tools::commands::CommandSettings;
use serde_json::json;

/// A session whose commands may write so many megabytes, over a folder in which `*.bin` is ignored.
fn small(megabytes: u64) -> Bench {
    let mut bench = Bench::new(&[(".gitignore", b"*.bin\n"), ("a.txt", b"disk\n")]);
    let layer_bytes = Some(megabytes << 20);
    begin_with(&mut bench, CommandSettings { layer_bytes, ..CommandSettings::default() });
    bench
}

const EMPTIED: &str = "was full and was emptied: ignored files that commands had made are gone";

pub(crate) fn it_is_left_by_one_in_the_background() {
    let mut bench = small(16);
    let said = says(&mut bench, "echo kept > kept.txt; head -c 40000000 /dev/zero > x.bin");
    assert!(said.contains("fills its layer (16 MB)"), "{said}");
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
    // What is open and larger than any layer is said, and nothing is left of the trial.
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
    let mut bench = small(64);
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
