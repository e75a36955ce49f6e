//! The recipe for Neovim without the plugin, editors/neovim/stock.lua, in real Neovim: no traceback whatever the user does first, answers that stay until they
//! are read, one message at the start, a status line.

use crate::support::agent::Agent;
use crate::support::nvim::Nvim;
use crate::support::recipe::{answers, assert_quiet, start, wait_for_answer};
use crate::support::stage::{edit, edit_input, say};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::json;
use std::path::Path;

const TEXT: &str = "one\ntwo\nthree\n";

/// A folder with a file in it that no file type is known for.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes"), TEXT).unwrap();
    std::fs::write(folder.path().join("a.py"), TEXT).unwrap();
    folder
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn without_a_file_the_first_request_starts_it_and_no_answer_goes_unread() {
    let agent = Agent::new(
        "review",
        [
            say("The first."),
            say("The second.\nOf two lines."),
            say("Of a file.").expect_text("notes"),
        ],
    );
    let folder = folder();
    let nvim = start(&agent, folder.path(), true);
    nvim.feed(":Ropewalk<CR>:wincmd p<CR>");
    nvim.feed(":Ropewalk hello<CR>");
    wait_for_answer(&nvim, "The first.");
    nvim.feed(":Ropewalk and again<CR>");
    wait_for_answer(&nvim, "The second.");
    nvim.wait_for_screen("The first.");
    nvim.wait_for_screen("Of two lines.");
    // A file of no known type has it from the first request on.
    nvim.edit(&folder.path().join("notes"));
    nvim.feed(":Ropewalk what is this?<CR>");
    wait_for_answer(&nvim, "Of a file.");
    nvim.feed("itype<Esc>");
    nvim.wait_for_lines(&["typeone", "two", "three"]);
    assert_quiet(&nvim);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_request_before_the_start_waits_for_it_and_a_range_is_what_it_is_about() {
    let agent = Agent::new(
        "review",
        [
            say("At once.").expect_no_text("<selection"),
            say("Of two.").expect_text("lines=\"2-3\"").expect_text("two\nthree\n"),
            say("Of none.").expect_no_text("<selection"),
        ],
    );
    let folder = folder();
    let nvim = start(&agent, folder.path(), true);
    // Both in one: the server can't have started in between.
    let file = folder.path().join("a.py");
    nvim.feed(&format!(":edit {}<CR>:Ropewalk now<CR>", file.display()));
    wait_for_answer(&nvim, "At once.");
    nvim.feed("jVj:Ropewalk these<CR>");
    wait_for_answer(&nvim, "Of two.");
    nvim.feed(":Ropewalk the cursor's line<CR>");
    wait_for_answer(&nvim, "Of none.");
    assert_quiet(&nvim);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_program_that_is_not_there_is_said_to_be() {
    let agent = Agent::new("review", []);
    let folder = folder();
    let nvim = start(&agent, folder.path(), false);
    nvim.feed(":Ropewalk hello<CR>");
    nvim.wait_for_screen("missing from PATH");
    // Neovim's own words are more than a line long.
    nvim.feed("<CR>");
    assert!(!nvim.messages().contains("stack traceback"), "{}", nvim.messages());
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_status_line_says_what_runs_and_what_waits_and_a_key_leads_there() {
    let agent = Agent::new(
        "review",
        [
            edit("a.py", "three", "THREE"),
            ScriptedReply::new()
                .gate(ReplyPlace::Answer, "second")
                .call("edit_file", edit_input("notes", "two", "TWO")),
            say("Capitals."),
        ],
    );
    let folder = folder();
    let nvim = start(&agent, folder.path(), true);
    nvim.edit(&folder.path().join("a.py"));
    nvim.feed(":Ropewalk capitals<CR>");
    agent.model.wait_until_reached_blocking("second");
    nvim.wait_for_screen("edit_file a.py");
    agent.model.open_gate("second");
    nvim.wait_for_screen("2 changes in 2 files wait for review");
    wait_for_answer(&nvim, "2 changes in 2 files wait for review.");
    nvim.feed("]r");
    let at = |nvim: &Nvim| -> (String, usize) {
        nvim.lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }", json!([]))
    };
    for place in [("a.py", 3), ("notes", 2), ("a.py", 3)] {
        nvim.wait_for("the change", |nvim| {
            (at(nvim) == (place.0.to_owned(), place.1)).then_some(())
        });
        nvim.feed("]r");
    }
    nvim.wait_for("the other again", |nvim| (at(nvim).0 == "notes").then_some(()));
    nvim.feed(":Ropewalk /reject<CR>");
    nvim.wait_for("nothing waits", |nvim| {
        let status: String = nvim.lua("return RopewalkStatus()", json!([]));
        (status == "Done · 300 tokens in, 30 out").then_some(())
    });
    assert_quiet(&nvim);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn there_is_one_message_at_the_start_however_much_there_is_to_say() {
    let agent = Agent::new("review", [edit("a.py", "one", "ONE"), say("Done.")]);
    let folder = folder();
    let nvim = start(&agent, folder.path(), true);
    nvim.edit(&folder.path().join("a.py"));
    nvim.feed(":Ropewalk capitals<CR>");
    wait_for_answer(&nvim, "1 change waits for review.");
    drop(nvim);
    // A mistake in the configuration, something to be trusted with, and a change that waits.
    std::fs::create_dir(folder.path().join(".ropewalk")).unwrap();
    let config = "nonsense = 1\nallow = [\"bash(make)\"]\n";
    std::fs::write(folder.path().join(".ropewalk/config.toml"), config).unwrap();
    let nvim = nvim_again(&agent, folder.path());
    wait_for_answer(&nvim, "1 unreviewed change from “capitals”");
    let said = answers(&nvim);
    for words in ["nonsense", "Trust this folder's configuration?", "shown again"] {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(said.matches("---").count(), 1, "{said}");
    assert_quiet(&nvim);
    agent.model.finish().unwrap();
}

/// Another Neovim on the same folder, once the session of the one before is free.
fn nvim_again(agent: &Agent, folder: &Path) -> Nvim {
    let sessions = agent.folder("state").join("ropewalk/sessions");
    let locked = || {
        let files = std::fs::read_dir(&sessions).unwrap().map(|file| file.unwrap().path());
        files.filter(|file| std::fs::File::open(file).unwrap().try_lock().is_err()).count()
    };
    crate::support::stage::until("the session is free", || locked() == 0);
    let nvim = start(agent, folder, true);
    nvim.edit(&folder.join("a.py"));
    nvim
}
