//! Questions of running calls in the Neovim plugin: seen wherever the user is, answered by a command and by nothing else.

use crate::support::plugin::Bench;
use crate::support::stage::{bash, say};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;

/// A command of 200 lines that leaves a file behind.
fn long_command(name: &str) -> String {
    let lines: Vec<_> = (0..198).map(|n| format!("# line {n} of a long command")).collect();
    format!("{}\ntouch {name}\n# the end", lines.join("\n"))
}

/// A user in insert mode in a file, whom a call of this model asks.
fn asked(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    let bench = Bench::new("review", &[("notes.txt", "one\n")], replies);
    bench.open("notes.txt");
    bench.run("Ropewalk ask run it");
    bench.nvim.wait_for_screen("Ropewalk asks");
    bench
}

fn waiting(bench: &Bench) -> usize {
    bench.state("#state.approvals").as_u64().unwrap().try_into().unwrap()
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_command_of_200_lines_is_seen_while_typing_and_no_key_typed_elsewhere_answers_it() {
    let bench = asked([bash(&long_command("ran")), say("Done.").expect_text("not today")]);
    bench.nvim.wait_for_screen("more lines: :Ropewalk answer shows all");
    bench.nvim.feed("Go");
    bench.nvim.feed("o1sany<CR>yes<CR>");
    bench.nvim.wait_for_lines(&["one", "o1sany", "yes", ""]);
    bench.nvim.feed("<Esc>osanq<Esc>");
    bench.nvim.wait_for_lines(&["one", "o1sany", "yes", "", "sanq"]);
    // Windows of the user's own don't take it off the screen.
    bench.run("split");
    bench.run("only");
    bench.nvim.wait_for_screen("Ropewalk asks");
    bench.run("tabnew");
    bench.nvim.wait_for_screen("Ropewalk asks");
    bench.run("tabclose");
    let focus: i64 = bench.nvim.lua(
        "vim.cmd.wincmd('w') vim.cmd.wincmd('W') return vim.api.nvim_get_current_buf()",
        json!([]),
    );
    let file: i64 = bench.nvim.lua("return vim.fn.bufnr('notes.txt')", json!([]));
    assert_eq!(focus, file, "the float can't be entered");
    bench.nvim.feed(":echo 1");
    bench.nvim.wait_for_screen("Ropewalk asks");
    bench.nvim.feed("<Esc>");
    assert_eq!(waiting(&bench), 1);
    bench.run("Ropewalk refuse not today");
    bench.wait_for_end(1);
    assert!(!bench.path("ran").exists());
    bench.nvim.wait_for("the question to go", |nvim| {
        (!nvim.screen().join("\n").contains("Ropewalk asks")).then_some(())
    });
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn it_is_answered_in_every_way() {
    let bench = asked([
        bash("touch once"),
        bash("touch key"),
        bash(&long_command("refused")),
        bash("touch session"),
        bash("touch session"),
        say("Done."),
    ]);
    bench.run("Ropewalk allow");
    bench.nvim.wait_for_screen("│touch key");
    assert!(bench.path("once").exists());
    bench.run("Ropewalk answer");
    bench.nvim.wait_for_screen("[q] Close without an answer");
    assert!(!bench.nvim.screen().join("\n").contains(":Ropewalk allow"), "it is shown once");
    // Closed without an answer, it still waits.
    bench.nvim.feed("q");
    bench.nvim.wait_for_screen(":Ropewalk allow");
    assert_eq!(waiting(&bench), 1);
    bench.run("Ropewalk answer");
    bench.nvim.wait_for_screen("[q] Close without an answer");
    bench.run("quit");
    bench.nvim.wait_for_screen(":Ropewalk allow");
    bench.run("Ropewalk answer");
    bench.nvim.wait_for_screen("[o] Allow once");
    bench.nvim.feed("o");
    bench.nvim.wait_for_screen("more lines: :Ropewalk answer shows all");
    assert!(bench.path("key").exists());
    bench.run("Ropewalk answer");
    bench.nvim.wait_for_screen("n no");
    bench.nvim.feed("G");
    bench.nvim.wait_for_screen("# the end");
    bench.nvim.wait_for_screen("n no");
    bench.nvim.feed("n");
    bench.nvim.wait_for_screen("│touch session");
    assert!(!bench.path("refused").exists());
    bench.run("Ropewalk allow session");
    bench.wait_for_end(1);
    assert!(bench.path("session").exists());
    bench.run("Ropewalk allow");
    bench.nvim.wait_for_screen("Nothing waits for your answer.");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_answer_that_was_typed_for_one_question_does_not_answer_the_next() {
    let bench = asked([bash("touch first"), bash("touch second"), say("Done.")]);
    bench.nvim.feed(":Ropewalk allow");
    bench.nvim.wait_for("the command line", |nvim| (nvim.mode() == "c").then_some(()));
    // Answered from elsewhere, another one comes while the user looks at the first.
    bench.nvim.lua::<()>(
        "require('ropewalk.client').command('approve', { answer = 'once' }, function() end)",
        json!([]),
    );
    bench.nvim.wait_for_screen("touch second");
    bench.nvim.feed("<CR>");
    bench.nvim.wait_for_screen("Another question has come meanwhile");
    assert_eq!(waiting(&bench), 1);
    bench.run("Ropewalk refuse");
    bench.wait_for_end(1);
    assert!(bench.path("first").exists() && !bench.path("second").exists());
    bench.end();
}

/// Has the plugin take an event of a teammate's, as the server would tell it.
fn tell(bench: &Bench, event: &serde_json::Value) {
    let take = "local event = vim.json.decode(..., { luanil = { object = true } })
        event.member, event.session = 'alice', 'of-alice'
        require('ropewalk.hub').take(event)
        return true";
    let _: bool = bench.nvim.lua(take, json!([event.to_string()]));
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_teammate_asks_under_its_name_and_nothing_else_of_it_is_in_the_conversation() {
    let bench = Bench::new("review", &[("notes.txt", "one\n")], [say("Done.")]);
    bench.open("notes.txt");
    bench.run("Ropewalk ask hello");
    bench.wait_for_end(1);
    let items = bench.state("#state.items");
    tell(&bench, &json!({ "type": "turn_started", "turn": 1, "prompt": "greet" }));
    tell(&bench, &json!({ "type": "text_delta", "turn": 1, "message": "m", "text": "I greet." }));
    tell(
        &bench,
        &json!({
            "type": "approval_requested", "turn": 1, "approval": 900, "call": "c", "agent": null, "tool": "bash",
            "detail": "touch greeting", "reason": "not allowed yet", "rule": null, "ruleWords": null,
            "always": false, "unseen": [],
        }),
    );
    bench.nvim.wait_for_screen("alice asks: not allowed yet");
    bench.nvim.wait_for_screen("touch greeting");
    bench.nvim.wait_for_screen("asked by alice");
    assert_eq!(bench.state("#state.items"), items);
    assert_eq!(bench.state("state.running == nil"), json!(true));
    // The answer goes to the teammate's session, which this server does not have.
    bench.run("Ropewalk allow");
    bench.nvim.wait_for_screen("That is of another session");
    assert_eq!(waiting(&bench), 1);
    tell(&bench, &json!({ "type": "turn_ended", "turn": 1, "stopReason": "interrupted" }));
    bench.nvim.wait_for("the question to go", |nvim| {
        (!nvim.screen().join("\n").contains("alice asks")).then_some(())
    });
    assert_eq!(bench.state("#state.items"), items);
    bench.end();
}
