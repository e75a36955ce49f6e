//! The conversation in the Neovim plugin: long answers, steering, queueing, drafts, and what outlives the server's or the
//! editor's end.

use crate::support::agent::Agent;
use crate::support::plugin::Bench;
use crate::support::stage::{bash, edit, say};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

/// An answer of 10,000 deltas of sixteen bytes.
fn long_answer() -> String {
    (0..10_000).map(|n| format!("word {n:05} of it\n").split_off(2)).collect()
}

/// The process id of the server.
fn server(bench: &Bench) -> u64 {
    bench.nvim.lua("return vim.api.nvim_get_proc_children(vim.fn.getpid())[1]", json!([]))
}

/// How many accepted changes of the current session were never saved, as its journal says.
const UNSAVED: &str = "local asked = { command = 'ropewalk.sessions', arguments = {} } \
    local client = require('ropewalk.client').client() \
    local answer = client:request_sync('workspace/executeCommand', asked, 5000, 0) \
    return answer.result[1].unsaved";

fn kill(process: u64) {
    let done = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
    assert!(done.unwrap().success());
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn ten_thousand_deltas_and_a_megabyte_of_output_are_drawn_once_and_the_reader_is_left_alone() {
    let answer = long_answer();
    let agent = Agent::new(
        "review",
        [
            ScriptedReply::new()
                .text("A first line.\n\nThen the command.")
                .call("bash", json!({ "command": "yes 0123456789abcdef | head -c 1000000" })),
            ScriptedReply::new().gate(ReplyPlace::Answer, "long").text(&answer),
        ],
    );
    agent.allow("bash(*)");
    let bench = Bench::with(agent, tempfile::tempdir().unwrap(), true);
    bench.nvim.feed(":Ropewalk chat<CR>go on<CR>");
    bench.agent.model.wait_until_reached_blocking("long");
    bench.wait_for_transcript("✓ bash");
    // A reader at the top stays there, while they go on writing below.
    bench.nvim.feed("<Esc><C-w>kgg<C-w>ja draft");
    bench.agent.model.open_gate("long");
    bench.wait_for_end(1);
    bench.wait_for_transcript("── Done");
    let transcript = bench.transcript().join("\n");
    assert_eq!(transcript.matches("rd 09999 of it").count(), 1);
    assert!(transcript.contains(answer.trim_end()), "all of it, in order");
    let top: i64 = bench.nvim.lua(
        "return vim.fn.getwininfo(vim.fn.bufwinid('^ropewalk://chat$'))[1].topline",
        json!([]),
    );
    assert_eq!(top, 1);
    assert_eq!(bench.input(), [" draft"]);
    let appended: usize = bench.nvim.lua("return require('ropewalk.chat').appended()", json!([]));
    assert!(appended < answer.len() + 20_000, "{appended} bytes drawn for {}", answer.len());
    // The call opens in place, with the end of its output; all of it is in a window of its own.
    bench.nvim.feed("<Esc><C-w>k");
    bench.nvim.command("call search('✓ bash')");
    bench.nvim.feed("<CR>");
    bench.wait_for_transcript("lines before · K shows all");
    bench.nvim.feed("<CR>");
    bench.nvim.wait_for("it closed", |_| {
        (!bench.transcript().join("\n").contains("K shows all")).then_some(())
    });
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn words_join_the_turn_or_wait_for_its_end_or_come_back() {
    let bench = Bench::new(
        "review",
        &[("a.txt", "a\n")],
        [
            ScriptedReply::new()
                .gate(ReplyPlace::Answer, "first")
                .call("read_file", json!({ "path": "a.txt" })),
            say("Steered.").expect_text("only the first"),
            ScriptedReply::new().gate(ReplyPlace::End, "never").text("Of the second, half"),
        ],
    );
    bench.open("a.txt");
    bench.nvim.feed(":Ropewalk chat<CR>read it<CR>");
    bench.agent.model.wait_until_reached_blocking("first");
    bench.wait_for_state("state.running ~= nil", &json!(true));
    bench.nvim.feed("only the first<CR>");
    bench.nvim.feed("then the second<M-CR>and the third<M-CR>");
    bench.nvim.wait_for_screen("waits: then the second");
    bench.nvim.wait_for_screen("waits: and the third");
    bench.nvim.feed("a draft<Esc>");
    bench.run("Ropewalk unqueue");
    bench.wait_for_state("#state.queued", &json!(1));
    bench
        .nvim
        .wait_for("the words", |_| (bench.input() == ["and the third", "a draft"]).then_some(()));
    bench.agent.model.open_gate("first");
    bench.wait_for_transcript("Steered.");
    bench.wait_for_transcript("Of the second, half");
    let transcript = bench.transcript().join("\n");
    let places: Vec<_> =
        ["read it", "only the first", "Steered.", "then the second", "Of the second"]
            .map(|words| transcript.find(words))
            .into();
    assert!(places.is_sorted() && places[0].is_some(), "{transcript}");
    bench.nvim.feed("<C-c>");
    bench.wait_for_end(2);
    bench.wait_for_transcript("── Stopped");
    bench.nvim.feed("<C-c>");
    bench.nvim.wait_for_screen("Nothing is running.");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_compaction_between_turns_is_shown_until_it_ends_and_can_be_stopped() {
    let summary = say("Never.").gate(ReplyPlace::Answer, "summing up").conversation("question");
    let bench = Bench::new("review", &[("a.txt", "a\n")], [say("Yes."), summary]);
    bench.open("a.txt");
    bench.nvim.feed(":Ropewalk chat<CR>is it?<CR>");
    bench.wait_for_end(1);
    bench.nvim.feed("<Esc>");
    bench.run("Ropewalk compact");
    bench.agent.model.wait_until_reached_blocking("summing up");
    bench.nvim.wait_for_screen("sums up the conversation so far");
    bench.nvim.feed("<C-c>");
    bench.wait_for_transcript("The summary was stopped; nothing has changed.");
    bench.wait_for_state("{ state.note, require('ropewalk.status').doing(state) }", &json!([]));
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_servers_death_in_a_turn_costs_nothing_of_the_users() {
    let bench = Bench::new(
        "review",
        &[("a.txt", "a\nb\n"), ("notes", "n\n")],
        [
            edit("a.txt", "b", "B"),
            say("Changed."),
            ScriptedReply::new().gate(ReplyPlace::End, "never").text("Half of an answer"),
            say("Back again.").expect_text("go on"),
        ],
    );
    bench.open("notes");
    bench.open("a.txt");
    bench.run("Ropewalk ask change it");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    bench.run("Ropewalk mode plan");
    bench.wait_for_state("state.mode", &json!("plan"));
    bench.nvim.feed(":Ropewalk chat<CR>and more<CR>");
    bench.wait_for_transcript("Half of an answer");
    bench.nvim.feed("a draft");
    let session = bench.state("state.session");
    kill(server(&bench));
    bench.nvim.wait_for_screen("Ropewalk has ended and is started again.");
    bench.wait_for_state("state.running == nil", &json!(true));
    bench.wait_for_state("state.session", &session);
    bench.wait_for_changes(1);
    assert_eq!(bench.state("state.mode"), json!("plan"));
    assert_eq!(bench.input(), ["a draft"]);
    assert!(!bench.nvim.blocked());
    bench.wait_for_transcript("Half of an answer");
    bench.wait_for_transcript("Changed.");
    bench.nvim.feed("<Esc>ccgo on<CR>");
    bench.wait_for_transcript("Back again.");
    // The files are known to the new server, those without a type too.
    bench.nvim.feed("<Esc>");
    let known: usize = bench.nvim.lua(
        "return vim.tbl_count(require('ropewalk.client').client().attached_buffers)",
        json!([]),
    );
    assert_eq!(known, 2);
    bench.run("Ropewalk! accept");
    bench.wait_for_changes(0);
    assert_eq!(bench.nvim.lines_of(&bench.path("a.txt")).unwrap(), ["a", "B"]);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_new_editor_has_the_draft_the_changes_and_what_was_said() {
    let bench = Bench::new(
        "review",
        &[("a.txt", "a\nb\n")],
        [edit("a.txt", "b", "B"), say("Changed it so."), say("Yes.")],
    );
    bench.open("a.txt");
    bench.run("Ropewalk ask change it");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    bench.nvim.feed(":Ropewalk chat<CR>not sent yet");
    bench.nvim.wait_for("the draft", |_| (bench.input() == ["not sent yet"]).then_some(()));
    bench.nvim.feed("<Esc>");
    bench.run("Ropewalk mode plan");
    bench.wait_for_state("state.mode", &json!("plan"));
    let bench = bench.again();
    bench.open("a.txt");
    // Something waits in it: the session goes on by itself.
    bench.wait_for_changes(1);
    assert_eq!(bench.state("state.mode"), json!("plan"));
    bench.nvim.wait_for_screen("change 1/1");
    bench.nvim.feed(":Ropewalk chat<CR>");
    bench.wait_for_transcript("Changed it so.");
    bench.nvim.wait_for_screen("not sent yet");
    bench.nvim.feed("<CR>");
    bench.wait_for_transcript("Yes.");
    bench.nvim.feed("<Esc>");
    bench.run("Ropewalk! accept");
    bench.wait_for_changes(0);
    bench.run("wall");
    bench.nvim.wait_for("the file", |_| (bench.disk("a.txt") == "a\nB\n").then_some(()));
    bench.nvim.wait_for("the session to know of it", |nvim| {
        let unsaved: i64 = nvim.lua(UNSAVED, json!([]));
        (unsaved == 0).then_some(())
    });
    // Nothing waits any more: it is offered.
    let bench = bench.again();
    bench.open("a.txt");
    bench.nvim.feed(":Ropewalk chat<CR>");
    bench.nvim.wait_for_screen(":Ropewalk continue");
    bench.nvim.feed("<Esc>");
    bench.run("Ropewalk continue");
    bench.wait_for_transcript("Changed it so.");
    bench.run("Ropewalk new");
    bench.wait_for_state("#state.items", &json!(0));
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn windows_that_a_session_of_neovim_restores_are_the_chats_again() {
    let bench = Bench::new("review", &[("a.txt", "a\n")], [say("Hello.")]);
    bench.open("a.txt");
    bench.nvim.feed(":Ropewalk chat<CR>");
    bench.nvim.feed("a draft<Esc>");
    bench.nvim.command("mksession! s.vim");
    let bench = bench.again();
    bench.run("source s.vim");
    bench.nvim.wait_for("the session", |nvim| {
        nvim.lua::<bool>("return vim.fn.bufwinid('^ropewalk://input$') > 0", json!([]))
            .then_some(())
    });
    assert!(!bench.nvim.blocked());
    // Neovim draws what a sourced session has done when the next key comes.
    bench.nvim.feed("l");
    bench.nvim.wait_for_screen("Ask below");
    bench.nvim.wait_for_screen("a draft");
    assert!(!bench.nvim.blocked());
    let listed: Vec<Value> =
        bench.nvim.lua("return vim.fn.getbufinfo({ buflisted = 1 })", json!([]));
    assert_eq!(listed.len(), 1, "the file alone");
    bench.nvim.command("call win_gotoid(bufwinid('^ropewalk://input$'))");
    bench.nvim.feed("i<CR>");
    bench.wait_for_transcript("Hello.");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn what_a_command_prints_is_read_in_place_and_whole() {
    let agent = Agent::new("review", [bash("seq 1 3"), say("Counted.")]);
    agent.allow("bash(seq *)");
    let bench = Bench::with(agent, tempfile::tempdir().unwrap(), true);
    bench.nvim.feed(":Ropewalk chat<CR>count<CR>");
    bench.wait_for_end(1);
    bench.wait_for_transcript("Counted.");
    bench.nvim.feed("<Esc><C-w>k");
    bench.nvim.command("call search('✓ bash')");
    bench.nvim.feed("<CR>");
    bench.wait_for_transcript("  │ 2\n  │ 3");
    bench.nvim.feed("K");
    bench.nvim.wait_for("a window of its own", |nvim| {
        (nvim.lines().iter().any(|line| line == "3")).then_some(())
    });
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn files_and_commands_are_completed_and_enter_takes_before_it_sends() {
    let bench = Bench::new(
        "review",
        &[("src/main.rs", "fn main() {}\n")],
        [say("Seen.").expect_text("fn main() {}"), say("Whole.").expect_text("see @src")],
    );
    bench.open("src/main.rs");
    bench.nvim.feed(":Ropewalk chat<CR>look at @ma");
    bench.nvim.wait_for_screen("        @src/main.rs");
    bench.nvim.feed("<C-n><CR>");
    bench
        .nvim
        .wait_for("the file's name", |_| (bench.input() == ["look at @src/main.rs"]).then_some(()));
    bench.nvim.feed("<CR>");
    bench.wait_for_transcript("Seen.");
    // Nothing is chosen of what is offered: the words are sent as they are.
    bench.nvim.feed("see @src");
    bench.nvim.wait_for_screen("    @src/main.rs");
    bench.nvim.feed("<CR>");
    bench.wait_for_transcript("Whole.");
    bench.nvim.feed("/mod");
    bench.nvim.wait_for_screen("says or changes the model");
    bench.nvim.feed("e<C-n><CR> plan<CR>");
    bench.wait_for_state("state.mode", &json!("plan"));
    bench.end();
}
