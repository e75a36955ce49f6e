//! A user who types on while the Neovim plugin shows answers, changes and questions, and while changes are made.

use crate::support::plugin::{Bench, Typist};
use crate::support::stage::{edit, edit_input, say};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::json;
use std::sync::Arc;

/// Line that somebody types again and again: each is the same.
const LINE: &str = "so it goes, one line like the other.\n";

/// Every text that undo leads through, from the last to the first, and the same by redo.
fn through_undo(bench: &Bench, key: &str) -> Vec<Vec<String>> {
    let mut texts = vec![bench.nvim.lines()];
    loop {
        bench.nvim.feed(key);
        let next = bench.nvim.lines();
        if Some(&next) == texts.last() {
            return texts;
        }
        texts.push(next);
    }
}

/// The steps between texts that touch what stands above the line `second`, which the user never does. Each must leave
/// all else alone.
fn steps_of_ours(texts: &[Vec<String>]) -> usize {
    let split = |lines: &[String]| {
        let (ours, users) =
            lines.split_at(lines.iter().position(|line| line == "second").unwrap_or(0));
        (ours.to_vec(), users.to_vec())
    };
    let mut count = 0;
    for pair in texts.windows(2) {
        let [before, after] = pair else { continue };
        let ((ours_before, users_before), (ours_after, users_after)) =
            (split(before), split(after));
        if ours_before != ours_after {
            assert_eq!(users_before, users_after, "undo of a change took typed text along");
            count += 1;
        }
    }
    count
}

/// Counts from now on what leads the user to another window, buffer or mode.
const COUNT_MOVES: &str = "vim.g.moves = 0 \
    vim.api.nvim_create_autocmd({ 'WinEnter', 'WinLeave', 'BufEnter', 'BufLeave', 'TabEnter', 'ModeChanged' }, \
      { callback = function() vim.g.moves = vim.g.moves + 1 end })";

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn no_key_is_lost_through_answer_review_question_and_accept_and_each_is_one_undo_step() {
    let replies = [
        ScriptedReply::new()
            .gate(ReplyPlace::Answer, "answer")
            .text("I change it, in many words that come one after the other.\n\nThen I run it.")
            .call("edit_file", edit_input("notes.txt", "first\n", "FIRST\nand more\n"))
            .call("edit_file", edit_input("notes.txt", "middle\n", "")),
        ScriptedReply::new().call("bash", json!({ "command": "echo ran > ran.txt" })),
        say("Done.\n\nAll of it."),
    ];
    let files = [("notes.txt", "first\nbetween\nmiddle\nsecond\n")];
    let bench = Bench::new("review", &files, replies);
    bench.open("notes.txt");
    bench.run("Ropewalk ask change the first line");
    bench.agent.model.wait_until_reached_blocking("answer");
    bench.nvim.feed("Go");
    bench.nvim.wait_for("insert mode", |nvim| (nvim.mode() == "i").then_some(()));
    bench.nvim.lua::<()>(COUNT_MOVES, json!([]));
    let bench = Arc::new(bench);
    let typist = Typist::start(&bench, LINE);
    bench.agent.model.open_gate("answer");
    bench.nvim.wait_for_screen("Ropewalk asks");
    bench.wait_for_changes(2);
    bench.nvim.command("Ropewalk allow");
    bench.wait_for_end(1);
    bench.nvim.command("1Ropewalk accept");
    bench.wait_for_changes(1);
    bench.nvim.command("4Ropewalk accept");
    bench.wait_for_changes(0);
    let moves: i64 = bench.nvim.lua("return vim.g.moves", json!([]));
    let typed = typist.end();
    let bench = Arc::into_inner(bench).unwrap();
    assert_eq!(moves, 0, "the user was led elsewhere");
    assert_eq!(bench.nvim.mode(), "i", "still typing");
    let lines: Vec<_> =
        ["FIRST", "and more", "between", "second"].into_iter().chain(typed.lines()).collect();
    let mut wanted: Vec<_> = lines.iter().map(ToString::to_string).collect();
    wanted.push(String::new());
    bench.nvim.wait_for_lines(&wanted);
    let cursor: (usize, usize) = bench.nvim.lua("return vim.api.nvim_win_get_cursor(0)", json!([]));
    assert_eq!(cursor, (wanted.len(), 0), "the cursor is behind what was typed");
    bench.nvim.feed("<Esc>");
    let back = through_undo(&bench, "u");
    assert_eq!(back.last().unwrap(), &["first", "between", "middle", "second"]);
    assert_eq!(steps_of_ours(&back), 2);
    let forth = through_undo(&bench, "<C-r>");
    assert_eq!(forth.last().unwrap(), &wanted);
    assert_eq!(steps_of_ours(&forth), 2);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn changes_told_of_a_text_that_typing_has_left_behind_are_drawn_where_their_lines_stand() {
    let reply = ScriptedReply::new()
        .call("edit_file", edit_input("notes.txt", "first\n", "FIRST\n"))
        .call("edit_file", edit_input("notes.txt", "third\n", "third\nand more\n"));
    let files = [("notes.txt", "first\nsecond\nthird\nfourth\n")];
    let bench = Bench::new("review", &files, [reply, say("Done.")]);
    bench.open("notes.txt");
    bench.run("Ropewalk ask change");
    bench.wait_for_changes(2);
    bench.wait_for_end(1);
    // Each event is too late from now on, as where keys come faster than events do.
    let places: Vec<Vec<(usize, usize)>> = bench.nvim.lua(
        "local hub, changes = require('ropewalk.hub'), require('ropewalk.changes')
         local told, seen = vim.deepcopy(hub.state.hunks), {}
         -- The lines of an earlier version, as where a key comes while the server looks.
         for _, hunk in ipairs(told) do
           hunk.line = hunk.line + 1
         end
         local function look()
           hub.take({ type = 'hunks', hunks = told })
           seen[#seen + 1] = vim.tbl_map(function(hunk) return { changes.place(0, hunk.id) } end, told)
           hub.take({ type = 'hunks', hunks = {} })
         end
         look()
         vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'typed' })
         look()
         vim.api.nvim_buf_set_lines(0, 2, 2, true, { 'typed' })
         look()
         return seen",
        json!([]),
    );
    assert_eq!(places, [[(0, 0), (2, 3)], [(1, 1), (3, 4)], [(1, 1), (4, 5)]]);
    bench.wait_for_changes(2);
    bench.nvim.command("2Ropewalk accept");
    bench.wait_for_changes(1);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_change_waits_for_the_end_of_completion_and_of_a_block_insert() {
    for (begin, middle, end, wanted) in [
        ("Gofo<C-n>", "<C-n>", "<C-y><Esc>", vec!["NEW", "food", "foot", "foot"]),
        ("G<C-v>kIx", "y", "<Esc>", vec!["NEW", "xyfood", "xyfoot"]),
    ] {
        let bench = Bench::new(
            "review",
            &[("notes.txt", "food\nfoot\n")],
            [edit("notes.txt", "food\n", "NEW\nfood\n"), say("Done.")],
        );
        bench.open("notes.txt");
        bench.run("Ropewalk ask change");
        bench.wait_for_end(1);
        bench.wait_for_changes(1);
        bench.nvim.feed(begin);
        bench.nvim.wait_for("insert mode", |nvim| nvim.mode().starts_with('i').then_some(()));
        bench.nvim.command("Ropewalk! accept");
        // The change is sent, and waits in the editor.
        bench.wait_for_state("state.hunks[1] and state.hunks[1].sent or false", &json!(true));
        bench.nvim.feed(middle);
        assert_ne!(bench.nvim.lines()[0], "NEW", "made in the middle of it");
        bench.nvim.feed(end);
        bench.nvim.wait_for_lines(&wanted);
        bench.end();
    }
}
