//! Much at once in the Neovim plugin: thousands of changes, and files of many megabytes.

use crate::support::agent::Agent;
use crate::support::plugin::Bench;
use crate::support::stage::{edit, say};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::fs::File;
use std::time::Instant;

/// Lines of which every other one ends with `word`.
fn lines(word: &str) -> Vec<String> {
    (0..10_000).map(|n| format!("line {n} {}", if n % 2 == 1 { word } else { "" })).collect()
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn five_thousand_changes_are_drawn_walked_through_and_taken_while_keys_arrive_at_once() {
    let (old, new) = (lines("old").join("\n") + "\n", lines("new").join("\n") + "\n");
    let write = json!({ "path": "long.txt", "content": new });
    let bench = Bench::new(
        "review",
        &[("long.txt", &old)],
        [ScriptedReply::new().call("write_file", write), say("Done.")],
    );
    bench.open("long.txt");
    let start = Instant::now();
    bench.run("Ropewalk ask change every other line");
    bench.wait_for_end(1);
    bench.wait_for_changes(5000);
    bench.run("Ropewalk dismiss");
    bench.nvim.wait_for_screen("change 1/5000");
    println!("5,000 changes are on the screen after {:?}", start.elapsed());
    // The last one is as near as the first, and has its number.
    bench.run("Ropewalk previous");
    bench.nvim.wait_for_screen("change 5000/5000");
    assert_eq!(bench.nvim.lua::<usize>("return vim.fn.line('.')", json!([])), 10_000);
    bench.run("Ropewalk reject");
    bench.wait_for_changes(4999);
    let start = Instant::now();
    bench.nvim.feed("ggOso it goes, a line that is typed above them all<Esc>");
    bench.nvim.wait_for("the line", |nvim| {
        (nvim.lines()[0] == "so it goes, a line that is typed above them all").then_some(())
    });
    println!("48 keys above them all take {:?}", start.elapsed());
    bench.run("Ropewalk next");
    bench.nvim.wait_for_screen("change 1/4999");
    assert_eq!(bench.nvim.lua::<usize>("return vim.fn.line('.')", json!([])), 3);
    let start = Instant::now();
    bench.run("Ropewalk! accept");
    bench.wait_for_changes(0);
    let mut wanted = vec!["so it goes, a line that is typed above them all".to_owned()];
    wanted.extend(lines("new"));
    *wanted.last_mut().unwrap() = "line 9999 old".to_owned();
    bench.nvim.wait_for("the whole text", |nvim| (nvim.lines() == wanted).then_some(()));
    println!("4,999 changes are made after {:?}", start.elapsed());
    bench.nvim.feed("u");
    bench
        .nvim
        .wait_for("one undo step", |nvim| (nvim.lines()[2..] == lines("old")[1..]).then_some(()));
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_change_of_a_huge_file_is_made_and_one_that_is_too_large_is_said_to_be() {
    let agent = Agent::new(
        "review",
        [
            edit("large.txt", "the middle", "THE MIDDLE"),
            edit("enormous.txt", "a", "b"),
            say("One of them."),
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let half = "0123456789abcde\n".repeat(1 << 20);
    std::fs::write(folder.path().join("large.txt"), format!("{half}the middle\n{half}")).unwrap();
    File::create(folder.path().join("enormous.txt")).unwrap().set_len(300 << 20).unwrap();
    let bench = Bench::with(agent, folder, true);
    let start = Instant::now();
    bench.open("large.txt");
    bench.nvim.feed(":Ropewalk chat<CR>change both<CR>");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    bench.wait_for_transcript("✗ edit_file enormous.txt");
    bench.nvim.feed("<Esc><C-w>k");
    bench.nvim.command("call search('✗ edit_file')");
    bench.nvim.feed("<CR>");
    bench.wait_for_transcript("enormous.txt has 314572800 bytes, more than the 268435456 that are");
    bench.nvim.feed("<C-w>k");
    bench.run("Ropewalk next");
    bench.nvim.wait_for_screen("THE MIDDLE");
    bench.run("Ropewalk accept");
    bench.wait_for_changes(0);
    bench.nvim.feed("Anew<Esc>");
    bench.nvim.wait_for_screen("THE MIDDLEnew");
    println!("32 MB are open, changed and typed into after {:?}", start.elapsed());
    bench.end();
}
