//! Review with the Neovim plugin: changes drawn over the user's text, taken, refused, edited, taken back.

use crate::support::plugin::Bench;
use crate::support::stage::{edit, edit_input, say};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

const GREET: &str = "import os\n\ndef greet(name):\n    print(\"hello\")\n\ngreet(\"x\")\n";
const OTHER: &str = "a = 1\nb = 2\nc = 3\n";

/// A reply that changes two files, makes one and removes one.
fn all_kinds() -> ScriptedReply {
    ScriptedReply::new()
        .call("edit_file", edit_input("greet.py", "import os", "import sys"))
        .call("edit_file", edit_input("greet.py", "\"hello\"", "f\"hello {name}\""))
        .call("edit_file", edit_input("other.py", "b = 2", "b = 3"))
        .call("write_file", json!({ "path": "new.lua", "content": "return 1\n" }))
        .call("delete_file", json!({ "path": "old.py" }))
}

/// How many changes have virtual lines in the current buffer.
fn drawn(bench: &Bench) -> usize {
    bench.nvim.lua(
        "local space = vim.api.nvim_get_namespaces()['ropewalk.changes'] \
         local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true }) \
         return #vim.tbl_filter(function(m) return m[4].virt_lines ~= nil end, marks)",
        json!([]),
    )
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn from_a_selection_to_the_accepted_edit_and_back_by_one_undo() {
    let bench = Bench::new(
        "review",
        &[("greet.py", GREET)],
        [
            edit("greet.py", "\"hello\"", "f\"hello {name}\"")
                .gate(ReplyPlace::Answer, "thinking")
                .expect_text("lines=\"3-4\""),
            say("Done so."),
        ],
    );
    bench.open("greet.py");
    bench.nvim.feed("3GVj:Ropewalk ask greet by name<CR>");
    // Without a status line or the chat, the line that was asked about says that something runs.
    bench.nvim.wait_for_screen("print(\"hello\")  … thinking · :Ropewalk stop");
    bench.agent.model.open_gate("thinking");
    bench.wait_for_end(1);
    bench.nvim.wait_for("the words to go", |nvim| {
        (!nvim.screen().join("\n").contains("Ropewalk stop")).then_some(())
    });
    bench.nvim.wait_for_screen("Done so.");
    bench.run("Ropewalk dismiss");
    bench.nvim.wait_for_screen("print(f\"hello {name}\")");
    bench.nvim.wait_for_screen("change 1/1");
    assert_eq!(drawn(&bench), 1);
    // The user's own text is as it was, and not marked as changed.
    assert_eq!(bench.nvim.lines().join("\n") + "\n", GREET);
    assert!(!bench.nvim.modified(&bench.path("greet.py")));
    bench.run("Ropewalk next");
    bench.run("Ropewalk accept");
    let accepted = GREET.replace("\"hello\"", "f\"hello {name}\"");
    bench.nvim.wait_for_lines(&accepted.lines().collect::<Vec<_>>());
    bench.wait_for_changes(0);
    assert_eq!(drawn(&bench), 0);
    bench.nvim.feed("u");
    bench.nvim.wait_for_lines(&GREET.lines().collect::<Vec<_>>());
    bench.nvim.feed("<C-r>");
    bench.nvim.wait_for_lines(&accepted.lines().collect::<Vec<_>>());
    bench.end();
}

/// The words behind the line that is asked about, where the answer to the request comes before the word that its
/// session has started: Neovim hears the two in any order.
#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_words_at_the_line_stay_where_the_answer_comes_before_the_session() {
    let bench = Bench::new("review", &[("greet.py", GREET)], []);
    bench.open("greet.py");
    let words: Vec<Vec<String>> = bench.nvim.lua(
        "local hub, progress = require('ropewalk.hub'), require('ropewalk.progress')
         local space = vim.api.nvim_get_namespaces()['ropewalk.progress']
         local seen = {}
         local function look()
           local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
           seen[#seen + 1] = vim.tbl_map(function(mark) return mark[4].virt_text[1][1] end, marks)
         end
         hub.take({ type = 'session_started', session = 'old' })
         hub.take({ type = 'turn_started', session = 'old', turn = 1, prompt = 'before' })
         hub.take({ type = 'turn_ended', session = 'old', turn = 1, stopReason = 'done' })
         progress.belongs(progress.begin(0, 2), 1, 'new')
         look()
         hub.take({ type = 'session_started', session = 'new' })
         look()
         hub.take({ type = 'turn_started', session = 'new', turn = 1, prompt = 'x' })
         look()
         hub.take({ type = 'session_started', session = 'another' })
         look()
         return seen",
        json!([]),
    );
    let is_there = |seen: &[String]| seen.len() == 1 && seen[0].starts_with(" … ");
    assert!(words[..3].iter().all(|seen| is_there(seen)), "{words:?}");
    assert_eq!(words[3], Vec::<String>::new());
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn rows_of_an_earlier_version_are_found_where_they_stand_now() {
    let bench = Bench::new("review", &[("other.py", OTHER)], []);
    bench.open("other.py");
    // The line `b = 2`, from zero: where it is after each edit of rows, which are replaced by new ones.
    let seen: Vec<Value> = bench.nvim.lua(
        "local moves, buffer = require('ropewalk.moves'), vim.api.nvim_get_current_buf()
         local version, seen = 0, {}
         moves.opened(buffer, version)
         local function look()
           seen[#seen + 1] = { moves.rows(buffer, version, 1, 2) }
         end
         local function edit(first, last, lines)
           vim.api.nvim_buf_set_lines(0, first, last, true, lines)
           look()
         end
         edit(2, 3, { 'c = 4', 'd = 5' })
         edit(0, 0, { 'ä', 'ö' })
         edit(3, 3, { 'right above' })
         edit(0, 2, {})
         edit(3, 3, { 'right below' })
         -- All of the above at once.
         vim.cmd('undo')
         look()
         edit(1, 2, { 'b = 7' })
         version = vim.api.nvim_buf_get_changedtick(0)
         for _ = 1, 300 do
           vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'x' })
         end
         look()
         return seen",
        json!([]),
    );
    let line = |row: u64| json!([row, row + 1]);
    let (gone, wanted) = (json!([]), [1, 3, 4, 2, 2, 1].map(line));
    assert_eq!(seen[..6], wanted);
    assert!(seen[6..].iter().all(|found| *found == gone || *found == json!({})), "{seen:?}");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn changes_of_every_kind_are_reviewed_by_keys_alone() {
    let bench = Bench::new(
        "review",
        &[("greet.py", GREET), ("other.py", OTHER), ("old.py", "x\n")],
        [all_kinds(), say("All done."), say("Heard.").expect_text("too slow")],
    );
    bench.open("greet.py");
    bench.run("Ropewalk ask change it all");
    bench.wait_for_end(1);
    bench.wait_for_changes(5);
    let at = |bench: &Bench| -> (String, usize) {
        bench
            .nvim
            .lua("return { vim.fn.expand('%:t'), vim.api.nvim_win_get_cursor(0)[1] }", json!([]))
    };
    bench.run("Ropewalk next");
    assert_eq!(at(&bench), ("greet.py".to_owned(), 1));
    bench.run("Ropewalk accept");
    bench.wait_for_changes(4);
    assert_eq!(bench.nvim.lines()[0], "import sys");
    bench.run("Ropewalk next");
    assert_eq!(at(&bench), ("greet.py".to_owned(), 4));
    bench.run("Ropewalk reject too slow");
    bench.wait_for_changes(3);
    assert_eq!(bench.nvim.lines()[3], "    print(\"hello\")");
    // A new file has no buffer: it is shown as it would be.
    bench.run("Ropewalk next");
    bench.nvim.wait_for_screen("return 1");
    bench.nvim.wait_for_screen("new file new.lua");
    assert!(!bench.path("new.lua").exists());
    bench.run("Ropewalk accept");
    bench.nvim.wait_for("the new file", |_| bench.path("new.lua").exists().then_some(()));
    bench.wait_for_changes(2);
    assert_eq!(bench.disk("new.lua"), "return 1\n");
    bench.nvim.wait_for("the file itself", |_| (at(&bench).0 == "new.lua").then_some(()));
    bench.run("Ropewalk next");
    bench.nvim.wait_for_screen("delete old.py");
    bench.run("Ropewalk accept");
    bench.wait_for_changes(1);
    bench.nvim.wait_for("no file", |_| (!bench.path("old.py").exists()).then_some(()));
    bench.run("Ropewalk next");
    assert_eq!(at(&bench), ("other.py".to_owned(), 2));
    bench.run("Ropewalk edit");
    bench.nvim.wait_for_screen("Your lines for this change");
    bench.nvim.feed("ccb = 33<Esc>:w<CR>");
    bench.wait_for_state("state.hunks[1].new", &json!("b = 33\n"));
    bench.nvim.wait_for("the file's window", |_| (at(&bench).0 == "other.py").then_some(()));
    bench.run("Ropewalk accept");
    bench.wait_for_changes(0);
    assert_eq!(bench.nvim.lines(), ["a = 1", "b = 33", "c = 3"]);
    bench.run("Ropewalk next");
    bench.nvim.wait_for_screen("No change waits for you.");
    bench.run("Ropewalk ask and?");
    bench.wait_for_end(2);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_range_takes_its_changes_a_bang_all_and_the_list_names_them() {
    let bench = Bench::new(
        "review",
        &[("greet.py", GREET), ("other.py", OTHER), ("old.py", "x\n")],
        [all_kinds(), say("All done.")],
    );
    bench.open("greet.py");
    bench.run("Ropewalk ask change it all");
    bench.wait_for_end(1);
    bench.wait_for_changes(5);
    bench.run("Ropewalk list");
    let list: Vec<(String, usize)> = bench.nvim.lua(
        "return vim.tbl_map(function(e) return { vim.fn.fnamemodify(vim.fn.bufname(e.bufnr), ':t'), e.lnum } end, \
         vim.fn.getqflist())",
        json!([]),
    );
    let files: Vec<_> = list.iter().map(|(name, row)| (name.as_str(), *row)).collect();
    assert_eq!(
        files,
        [("greet.py", 1), ("greet.py", 4), ("new.lua", 1), ("old.py", 1), ("other.py", 2)]
    );
    bench.run("cclose");
    bench.open("greet.py");
    bench.run("%Ropewalk accept");
    bench.wait_for_changes(3);
    assert_eq!(bench.nvim.lines()[3], "    print(f\"hello {name}\")");
    bench.nvim.feed("6G:Ropewalk accept<CR>");
    bench.nvim.wait_for_screen("No change at the cursor");
    bench.run("Ropewalk! accept");
    bench.wait_for_changes(0);
    assert_eq!(bench.disk("other.py"), OTHER.replace('2', "3"));
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_change_is_seen_above_the_first_line_at_the_end_in_a_fold_and_in_two_windows() {
    let bench = Bench::new(
        "review",
        &[("a.txt", "one\ntwo\nthree\nfour\nfive")],
        [
            ScriptedReply::new()
                .call("edit_file", edit_input("a.txt", "one\n", "zero\none\n"))
                .call("edit_file", edit_input("a.txt", "three", "THREE"))
                .call("edit_file", edit_input("a.txt", "five", "five\nsix")),
            say("Done."),
        ],
    );
    bench.open("a.txt");
    bench.nvim.feed(":split<CR>:3,4fold<CR>gg");
    bench.run("Ropewalk ask change");
    bench.wait_for_end(1);
    bench.wait_for_changes(3);
    bench.run("Ropewalk dismiss");
    let seen = |bench: &Bench, words: &str| {
        bench.nvim.screen().iter().filter(|line| line.trim().starts_with(words)).count()
    };
    bench.nvim.wait_for("the line above the first, in both windows", |_| {
        (seen(&bench, "zero") == 2).then_some(())
    });
    bench
        .nvim
        .wait_for("the last line, in both windows", |_| (seen(&bench, "six") == 2).then_some(()));
    assert_eq!(seen(&bench, "THREE"), 1, "one window has it in a fold");
    bench.run("Ropewalk next");
    bench.run("Ropewalk next");
    bench.nvim.wait_for("the fold to be open", |_| (seen(&bench, "THREE") == 2).then_some(()));
    // From afar and back, the line above the first is there again.
    bench.nvim.feed("Ggg");
    bench.nvim.wait_for("it again", |_| (seen(&bench, "zero") == 2).then_some(()));
    bench.run("Ropewalk! accept");
    bench.nvim.wait_for_lines(&["zero", "one", "two", "THREE", "four", "five", "six"]);
    bench.run("write");
    bench.nvim.wait_for("the file", |_| bench.disk("a.txt").starts_with("zero\n").then_some(()));
    let eol: bool = bench.nvim.lua("return vim.bo.endofline", json!([]));
    assert!(!eol, "the file had no line end, and has none");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn typing_above_a_change_moves_it_and_typing_into_it_keeps_the_users_text() {
    let bench = Bench::new(
        "review",
        &[("other.py", OTHER)],
        [
            edit("other.py", "b = 2", "b = 3"),
            say("Done."),
            edit("other.py", "b = 9 # mine", "b = 3 # mine").expect_text("I have changed the text"),
            say("Again."),
        ],
    );
    bench.open("other.py");
    bench.run("Ropewalk ask change");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    bench.nvim.feed("ggOabove<Esc>");
    bench.nvim.wait_for("the change a line below", |bench_nvim| {
        let row: Value = bench_nvim.lua(
            "return { require('ropewalk.changes').place(0, require('ropewalk.hub').state.hunks[1].id) }",
            json!([]),
        );
        (row[0] == 2).then_some(())
    });
    bench.nvim.feed("3GSb = 9 # mine<Esc>");
    bench.wait_for_changes(0);
    assert_eq!(bench.nvim.lines(), ["above", "a = 1", "b = 9 # mine", "c = 3"]);
    bench.nvim.wait_for_screen("You typed into a proposed change of other.py");
    bench.run("Ropewalk aside");
    bench.nvim.wait_for_screen("-b = 2");
    bench.nvim.wait_for_screen("+b = 3");
    bench.nvim.wait_for_screen("b = 9 # mine");
    bench.nvim.feed("q");
    bench.run("Ropewalk again");
    bench.wait_for_end(2);
    bench.wait_for_changes(1);
    bench.run("Ropewalk! accept");
    bench.nvim.wait_for_lines(&["above", "a = 1", "b = 3 # mine", "c = 3"]);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn in_auto_a_change_is_made_at_once_tinted_and_taken_back_by_one_command() {
    let bench = Bench::new(
        "auto",
        &[("other.py", OTHER), ("closed.py", OTHER)],
        [
            ScriptedReply::new()
                .call("edit_file", edit_input("other.py", "b = 2", "b = 3"))
                .call("edit_file", edit_input("other.py", "c = 3", "c = 4"))
                .call("edit_file", edit_input("closed.py", "b = 2", "b = 3")),
            say("Done."),
            say("Heard."),
        ],
    );
    let tinted = |bench: &Bench| -> Vec<usize> {
        bench.nvim.lua(
            "local space = vim.api.nvim_get_namespaces()['ropewalk.published'] \
             return vim.tbl_map(function(m) return m[2] end, vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {}))",
            json!([]),
        )
    };
    bench.open("other.py");
    bench.run("Ropewalk ask change");
    bench.wait_for_end(1);
    bench.nvim.wait_for_lines(&["a = 1", "b = 3", "c = 4"]);
    bench.nvim.wait_for("both lines tinted", |_| (tinted(&bench) == [1, 2]).then_some(()));
    // A file that isn't open is on the disk, and our undo reaches it there.
    assert_eq!(bench.disk("closed.py"), OTHER.replace('2', "3"));
    bench.nvim.feed("3G");
    bench.run("Ropewalk undo here");
    bench.nvim.wait_for_lines(&["a = 1", "b = 3", "c = 3"]);
    bench.run("Ropewalk undo");
    bench.nvim.wait_for_lines(&["a = 1", "b = 2", "c = 3"]);
    bench.nvim.wait_for("the file", |_| (bench.disk("closed.py") == OTHER).then_some(()));
    bench.run("Ropewalk ask and?");
    bench.wait_for_end(2);
    assert_eq!(tinted(&bench), Vec::<usize>::new());
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_change_of_a_file_that_is_not_open_is_written_to_the_disk_and_taken_back_there() {
    let bench = Bench::new(
        "review",
        &[("open.py", OTHER), ("closed.py", OTHER)],
        [edit("closed.py", "b = 2", "b = 3"), say("Done.")],
    );
    bench.open("open.py");
    bench.run("Ropewalk ask change the other");
    bench.wait_for_end(1);
    bench.nvim.wait_for_screen("1 change in 1 file waits for you");
    assert_eq!(bench.disk("closed.py"), OTHER);
    bench.run("Ropewalk! accept");
    bench.wait_for_changes(0);
    bench.nvim.wait_for("the file", |_| {
        (bench.disk("closed.py") == OTHER.replace('2', "3")).then_some(())
    });
    bench.run("Ropewalk undo");
    bench.nvim.wait_for("the file", |_| (bench.disk("closed.py") == OTHER).then_some(()));
    bench.nvim.wait_for_screen("1 change is taken back.");
    assert_eq!(bench.nvim.lines().join("\n") + "\n", OTHER);
    assert_eq!(bench.nvim.lines_of(&bench.path("closed.py")), None, "no buffer was made for it");
    bench.end();
}
