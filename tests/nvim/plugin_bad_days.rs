//! Bad days with the Neovim plugin: what is missing or broken is said in words that lead on, and what is hostile stays
//! within its line.

use crate::support::agent::Agent;
use crate::support::plugin::Bench;
use crate::support::stage::{edit, say};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;

fn bench_of(agent: Agent, is_there: bool) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "a\nb\n").unwrap();
    Bench::with(agent, folder, is_there)
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_program_that_is_missing_is_said_once_and_typing_goes_on() {
    let bench = bench_of(Agent::new("review", []), false);
    bench.open("a.txt");
    assert!(!bench.nvim.screen().join("\n").contains("Ropewalk"), "silent until it is asked");
    bench.run("Ropewalk ask hello");
    bench.nvim.wait_for_screen("The program `ropewalk` is not on your PATH.");
    bench.nvim.feed("Onew<Esc>");
    bench.nvim.wait_for_lines(&["new", "a", "b"]);
    bench.run("checkhealth ropewalk");
    bench.nvim.wait_for("the report", |nvim| {
        nvim.lines().join("\n").contains("`ropewalk` is not on your PATH").then_some(())
    });
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_program_of_another_version_is_said_to_be() {
    let bench = bench_of(Agent::new("review", []), true);
    bench.nvim.lua::<()>("package.loaded['ropewalk.version'] = '99.0.0'", json!([]));
    bench.open("a.txt");
    bench.nvim.wait_for_screen("This plugin is for Ropewalk 99.0.0");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_missing_key_and_a_model_that_is_not_there_are_said_with_what_to_do() {
    let agent = Agent::new("review", []);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    agent.configure(&format!(
        "model = \"local/m\"\n[provider.local]\nprotocol = \"chat\"\nbase_url = \"http://{gone}\"\n"
    ));
    let bench = bench_of(agent, true);
    bench.open("a.txt");
    bench.run("Ropewalk ask hello");
    bench.wait_for_end(1);
    bench.nvim.wait_for_screen(&gone.to_string());
    bench.run("Ropewalk dismiss");
    bench.run("Ropewalk model openai/gpt-4.1");
    bench.nvim.wait_for_screen("Model: openai/gpt-4.1");
    bench.run("Ropewalk ask hello");
    bench.wait_for_end(2);
    bench.nvim.wait_for_screen("set OPENAI_API_KEY");
    assert!(!bench.nvim.blocked());
    bench.end();
}

/// Waits for a notice. On the screen its words may be on two lines.
fn wait_for_words(bench: &Bench, words: &str) {
    bench.nvim.wait_for(words, |nvim| {
        let said = "return vim.json.encode(require('ropewalk.notify').said)";
        nvim.lua::<String>(said, json!([])).contains(words).then_some(())
    });
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_read_only_file_and_one_that_cannot_be_modified_are_said_to_be() {
    let bench =
        Bench::new("review", &[("a.txt", "a\nb\n")], [edit("a.txt", "b", "B"), say("Done.")]);
    bench.open("a.txt");
    bench.run("Ropewalk ask change it");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    bench.run("setlocal nomodifiable");
    bench.run("Ropewalk! accept");
    wait_for_words(&bench, "the buffer is not modifiable");
    assert_eq!(bench.nvim.lines(), ["a", "b"]);
    bench.wait_for_changes(1);
    bench.run("setlocal modifiable readonly");
    bench.run("Ropewalk! accept");
    bench.nvim.wait_for_lines(&["a", "B"]);
    wait_for_words(&bench, "a.txt is read-only");
    assert!(bench.nvim.lua::<bool>("return vim.bo.readonly", json!([])));
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn without_a_file_name_it_is_asked_all_the_same_and_wrong_commands_are_explained() {
    let bench = bench_of(Agent::new("review", [say("Of no file.")]), true);
    bench.run("Ropewalk ask hello");
    bench.nvim.wait_for_screen("Of no file.");
    bench.run("Ropewalk dismiss");
    bench.run("Ropewalk acept");
    bench.nvim.wait_for_screen("There is no :Ropewalk acept. Did you mean");
    bench.run("Ropewalk undo soon");
    bench.nvim.wait_for_screen("takes the number of a turn");
    bench.run("Ropewalk reject");
    bench.nvim.wait_for_screen("No change waits for you.");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_folder_that_asks_for_more_than_it_may_is_answered_by_a_command() {
    let bench = bench_of(Agent::new("review", []), true);
    std::fs::create_dir(bench.path(".ropewalk")).unwrap();
    std::fs::write(bench.path(".ropewalk/config.toml"), "verify = \"make\"\n").unwrap();
    bench.open("a.txt");
    bench.nvim.wait_for_screen(":Ropewalk trust yes");
    bench.run("Ropewalk dismiss");
    bench.run("Ropewalk trust never");
    bench.nvim.wait_for_screen("configuration is ignored");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn hostile_words_and_names_stay_within_their_lines_and_nothing_of_them_runs() {
    let name = "x %#Error#%{system('touch pwned')}`touch pwned`\u{202e}.txt";
    let markdown = "![i](http://127.0.0.1:1/i.png)\n<img src=x onerror=1>\n\u{1b}[2J\u{1b}]0;pwned\u{7}after\n\
                    ```lua\nvim.fn.system('touch pwned')\n";
    let bench = Bench::new(
        "review",
        &[("a.txt", "a\n")],
        [
            ScriptedReply::new().text(markdown).call(
                "write_file",
                json!({ "path": name, "content": "vim: set modeline:\nx\r\u{1b}[31my\n" }),
            ),
            say(markdown),
        ],
    );
    bench.open("a.txt");
    bench.nvim.feed(":Ropewalk chat<CR>go %{system('touch pwned')}<CR><Esc>");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    bench.wait_for_transcript("── Done");
    assert!(!bench.transcript().join("\n").contains('\u{1b}'));
    bench.nvim.feed("<C-w>k<C-w>k");
    bench.run("Ropewalk next");
    bench.nvim.wait_for_screen("new file x %#Error#%{system('touch pwned')}");
    bench.run("Ropewalk diff");
    bench.run("Ropewalk list");
    bench.nvim.lua::<String>("return require('ropewalk').status()", json!([]));
    bench.run("Ropewalk! reject");
    bench.wait_for_changes(0);
    assert!(!bench.path("pwned").exists());
    bench.end();
}
