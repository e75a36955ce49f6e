//! Places of changes in the Neovim plugin: under a name that is about to change, in documents that are hidden, after text
//! was typed above them, and after reviews that overlap.

use crate::support::plugin::Bench;
use crate::support::stage::{edit, edit_input, say};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

/// The name and the line at which the cursor is.
fn at(bench: &Bench) -> (String, usize) {
    bench.nvim.lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }", json!([]))
}

/// How many marks of changes that wait there are in the current buffer.
fn marks(bench: &Bench) -> usize {
    bench.nvim.lua(
        "local space = vim.api.nvim_get_namespaces()['ropewalk.changes'] \
         return #vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {})",
        json!([]),
    )
}

/// Waits until these words were said so often. On the screen they may stand on two lines.
fn wait_until_said(bench: &Bench, words: &str, count: usize) {
    bench.nvim.wait_for(words, |nvim| {
        let chunk = "return vim.tbl_map(function(one) return one.words end, require('ropewalk.notify').said)";
        let said: Vec<String> = nvim.lua(chunk, json!([]));
        (said.iter().filter(|one| one.contains(words)).count() == count).then_some(())
    });
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn changes_of_a_file_that_is_to_have_another_name_are_listed_and_compared_where_they_are() {
    for is_open in [true, false] {
        let moved = ScriptedReply::new()
            .call("move_file", json!({ "path": "a.txt", "to": "b.txt" }))
            .call("edit_file", edit_input("b.txt", "two", "TWO"))
            .call("write_file", json!({ "path": "new.txt", "content": "quite new\n" }));
        let bench =
            Bench::new("review", &[("a.txt", TEXT), ("c.txt", "c\n")], [moved, say("Moved.")]);
        bench.open(if is_open { "a.txt" } else { "c.txt" });
        bench.run("Ropewalk ask move it");
        bench.wait_for_end(1);
        bench.wait_for_changes(3);
        bench.run("Ropewalk list");
        bench.nvim.wait_for_screen("TWO");
        bench.nvim.feed("/TWO<CR><CR>");
        let here = || bench.nvim.lines();
        if is_open {
            bench
                .nvim
                .wait_for("the file", |_| (at(&bench) == ("a.txt".to_owned(), 2)).then_some(()));
            assert_eq!(here().join("\n") + "\n", TEXT);
            bench.run("Ropewalk diff");
            bench.nvim.wait_for_screen("Proposed · q closes");
            let left: Vec<String> = bench.nvim.lua(
                "return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(vim.fn.win_getid(1)), 0, -1, true)",
                json!([]),
            );
            assert_eq!(left.join("\n") + "\n", TEXT);
            bench.nvim.feed("q");
        } else {
            bench
                .nvim
                .wait_for("the change", |_| here().iter().any(|line| line == "+TWO").then_some(()));
        }
        // A file that is not there yet is shown as it would be, from the list too.
        bench.run("Ropewalk list");
        bench.nvim.wait_for_screen("new file");
        bench.nvim.feed("/new file<CR><CR>");
        bench.nvim.wait_for_lines(&["quite new"]);
        bench.run("Ropewalk accept");
        bench.wait_for_changes(2);
        bench.nvim.wait_for("the file", |_| (at(&bench).0 == "new.txt").then_some(()));
        assert_eq!(bench.disk("new.txt"), "quite new\n");
        bench.end();
    }
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_document_of_a_new_file_that_was_hidden_goes_when_its_change_is_settled() {
    let both = edit("a.txt", "two", "TWO")
        .call("write_file", json!({ "path": "new.txt", "content": "quite new\n" }));
    let bench = Bench::new("review", &[("a.txt", TEXT)], [both, say("Done.")]);
    bench.open("a.txt");
    bench.run("Ropewalk ask change it");
    bench.wait_for_end(1);
    bench.wait_for_changes(2);
    bench.nvim.feed(":Ropewalk next<CR>:Ropewalk next<CR>");
    bench.nvim.wait_for_lines(&["quite new"]);
    bench.open("a.txt");
    let is_there = || -> bool {
        bench.nvim.lua("return vim.fn.bufexists('ropewalk://new/new.txt') == 1", json!([]))
    };
    assert!(is_there());
    bench.nvim.lua::<()>(
        "local hub = require('ropewalk.hub') \
         local new = vim.iter(hub.state.hunks):find(function(hunk) return hunk.kind == 'create' end) \
         require('ropewalk.client').command('reject', { hunk = new.id, session = hub.state.session })",
        json!([]),
    );
    bench.wait_for_changes(1);
    assert!(!is_there());
    // Back where it was, there is nothing that looks as if it could be accepted.
    bench.nvim.feed("<C-o>");
    bench.run("Ropewalk edit");
    wait_until_said(&bench, "No change at the cursor. :Ropewalk next leads to it.", 1);
    bench.run("Ropewalk reject");
    wait_until_said(&bench, "No change at the cursor. :Ropewalk next leads to it.", 2);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_accepted_change_is_taken_back_where_it_stands_now_the_newest_first() {
    let bench = Bench::new(
        "review",
        &[("a.txt", TEXT), ("closed.txt", TEXT)],
        [
            edit("a.txt", "four", "FOUR").call("edit_file", edit_input("closed.txt", "two", "TWO")),
            say("Once."),
            edit("a.txt", "FOUR", "4"),
            say("Twice."),
            edit("a.txt", "one", "ONE"),
            say("Elsewhere."),
        ],
    );
    bench.open("a.txt");
    for turn in 1..=3 {
        bench.run("Ropewalk ask change it");
        bench.wait_for_end(turn);
        bench.run("Ropewalk! accept");
        bench.wait_for_changes(0);
        bench.wait_for_state("#state.fresh > 0", &json!(true));
    }
    bench.nvim.wait_for_lines(&["ONE", "two", "three", "4", "five"]);
    bench.nvim.feed("ggO<Esc>19o<Esc>");
    bench.nvim.wait_for("20 lines above", |nvim| (nvim.lines().len() == 25).then_some(()));
    // Where they stood when they were accepted, there are none.
    for row in [1, 4] {
        bench.nvim.feed(&format!("{row}G"));
        bench.run("Ropewalk undo here");
        bench.nvim.wait_for_screen("No accepted change of Ropewalk at the cursor.");
        bench.run("Ropewalk dismiss");
    }
    let line = |row: usize, words: &str| {
        bench.nvim.wait_for(words, |nvim| (nvim.lines()[row - 1] == words).then_some(()));
    };
    bench.nvim.feed("24G");
    bench.run("Ropewalk undo here");
    line(24, "FOUR");
    bench.nvim.wait_for_screen("1 change is taken back.");
    let left = |count: usize| {
        bench.nvim.wait_for("all to be told", |nvim| {
            let now: usize = nvim.lua("return #require('ropewalk.accepted').all()", json!([]));
            (now == count).then_some(())
        });
    };
    // The older one, over which it was made, is what stands there now.
    left(3);
    let older = "return require('ropewalk.accepted').at(23) ~= nil";
    assert!(bench.nvim.lua::<bool>(older, json!([])));
    line(21, "ONE");
    // One of a file that was not open is found once it is, as long as nobody else has written it.
    bench.open("closed.txt");
    bench.nvim.feed("2G");
    bench.run("Ropewalk undo here");
    bench.nvim.wait_for_lines(&["one", "two", "three", "four", "five"]);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn what_is_drawn_for_a_text_that_is_left_behind_goes_with_its_change() {
    let bench = Bench::new("review", &[("a.txt", TEXT)], []);
    bench.nvim.command("let g:ropewalk = { 'autostart': v:false }");
    bench.open("a.txt");
    let drawn = |version: Option<i32>, is_waiting: bool, is_led_to: bool| -> usize {
        bench.nvim.lua::<()>(
            "local version, is_waiting, is_led_to = ... \
             local changes, hub = require('ropewalk.changes'), require('ropewalk.hub') \
             local hunk = { id = 1, uri = vim.uri_from_bufnr(0), file = 'a.txt', kind = 'text', line = 1, lines = 1, \
               range = { start = { line = 1, character = 0 }, ['end'] = { line = 1, character = 3 } }, \
               new = 'TWO\\n', version = version ~= vim.NIL and version or nil } \
             hub.take({ type = 'hunks', hunks = is_waiting and { hunk } or {} }) \
             if is_led_to then changes.draw(vim.api.nvim_get_current_buf()) end",
            json!([version, is_waiting, is_led_to]),
        );
        marks(&bench)
    };
    let all = drawn(None, true, false);
    assert!(all > 0);
    // The text is another than the one that the change is told for; `:Ropewalk next` draws anew what can be drawn.
    assert_eq!(drawn(Some(7), true, true), all);
    assert_eq!(drawn(Some(7), false, false), 0);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_file_that_is_read_anew_shows_its_change_once_and_nothing_once_that_is_settled() {
    let bench =
        Bench::new("review", &[("a.txt", TEXT)], [edit("a.txt", "two\n", "TWO\n"), say("Done.")]);
    bench.open("a.txt");
    bench.run("Ropewalk ask shout");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    let all = marks(&bench);
    for again in ["edit", "edit!"] {
        bench.nvim.command(again);
        bench.nvim.wait_for("the change, drawn once", |_| (marks(&bench) == all).then_some(()));
    }
    bench.run("Ropewalk! reject");
    bench.wait_for_changes(0);
    bench.nvim.wait_for("nothing to be drawn", |_| (marks(&bench) == 0).then_some(()));
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_only_change_is_accepted_from_elsewhere_and_a_file_that_is_not_open_is_said_to_be_written() {
    let replies = [
        edit("a.txt", "four\n", "FOUR\n"),
        say("Done."),
        edit("b.txt", "two\n", "TWO\n"),
        say("Done."),
    ];
    let bench = Bench::new("review", &[("a.txt", TEXT), ("b.txt", TEXT)], replies);
    bench.open("a.txt");
    bench.run("Ropewalk ask shout");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    bench.run("Ropewalk accept");
    bench.nvim.wait_for_lines(&["one", "two", "three", "FOUR", "five"]);
    bench.run("Ropewalk ask shout there");
    bench.wait_for_end(2);
    bench.wait_for_changes(1);
    bench.run("Ropewalk accept");
    wait_until_said(&bench, "No change at the cursor. :Ropewalk next leads to it.", 1);
    bench.run("Ropewalk accept!");
    wait_until_said(&bench, "b.txt is not open: its change is on the disk.", 1);
    assert!(bench.disk("b.txt").contains("TWO"));
    bench.end();
}
