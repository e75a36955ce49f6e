//! The conversation document in Neovim without the plugin, by the keys that a user has: written, sent, read, reviewed,
//! and typed in while answers come.

use crate::support::agent::Agent;
use crate::support::nvim::Nvim;
use crate::support::recipe::{assert_quiet, start};
use crate::support::stage::{edit_input, say};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::json;

const CHAT: &str = "chat.ropewalk.md";

/// Chooses the code action with these words where the cursor is.
fn act(nvim: &Nvim, words: &str) {
    nvim.feed("gra");
    nvim.wait_for_screen(words);
    let number = nvim.screen().iter().find_map(|line| {
        let (number, title) = line.trim().split_once(':')?;
        title.contains(words).then(|| number.trim().to_owned())
    });
    nvim.feed(&format!("{}<CR>", number.unwrap()));
}

fn wait_for_page(nvim: &Nvim, words: &str) -> String {
    nvim.wait_for(words, |nvim| {
        let page = nvim.lines().join("\n");
        page.contains(words).then_some(page)
    })
}

/// An empty Neovim in which the file was opened by its name, and the server is there.
fn chatting(agent: &Agent, folder: &std::path::Path) -> Nvim {
    let nvim = start(agent, folder, true);
    nvim.edit(&folder.join(CHAT));
    nvim.wait_for("the server", |nvim| {
        let ready = "local c = vim.lsp.get_clients({ bufnr = 0 })[1] return c ~= nil and c.initialized == true";
        nvim.lua::<bool>(ready, json!([])).then_some(())
    });
    nvim
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_request_is_sent_and_its_change_accepted_without_leaving_the_page() {
    let replies = [
        ScriptedReply::new().call("edit_file", edit_input("notes", "two", "TWO")),
        say("Capitals."),
    ];
    let agent = Agent::new("review", replies);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes"), "one\ntwo\n").unwrap();
    let nvim = chatting(&agent, folder.path());
    nvim.feed("icapitals in @no<C-x><C-o>");
    nvim.wait_for_lines(&["capitals in @notes"]);
    nvim.feed("<Esc>");
    act(&nvim, "Ropewalk: send");
    let page = wait_for_page(&nvim, "- notes:2");
    let wanted = "capitals in @notes\n\n## Ropewalk\n\n- ✓ edit_file notes\n\nCapitals.\n\n\
                  1 change waits for review:\n\n- notes:2 · −1 +1\n\n## You\n";
    assert_eq!(page, wanted);
    nvim.feed("/notes:2<CR>");
    act(&nvim, "accept this change");
    wait_for_page(&nvim, "Changed:\n\n- notes:2\n");
    assert_eq!(std::fs::read_to_string(folder.path().join("notes")).unwrap(), "one\nTWO\n");
    assert_quiet(&nvim);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn keys_typed_while_answers_come_stay_in_the_draft() {
    let words: Vec<String> = (0..6).map(|number| format!("Answer {number}.")).collect();
    let call =
        |words: &String| ScriptedReply::new().text(words).call("list_dir", json!({ "path": "." }));
    let gated = call(&words[0]).gate(ReplyPlace::Answer, "typing");
    let replies: Vec<_> = [gated]
        .into_iter()
        .chain(words.iter().skip(1).take(4).map(call))
        .chain([say(&words[5])])
        .collect();
    let agent = Agent::new("review", replies);
    let folder = tempfile::tempdir().unwrap();
    let nvim = chatting(&agent, folder.path());
    nvim.feed("igo<Esc>");
    act(&nvim, "Ropewalk: send");
    wait_for_page(&nvim, "## Ropewalk");
    agent.model.wait_until_reached_blocking("typing");
    nvim.feed("Go");
    agent.model.open_gate("typing");
    let mut draft = Vec::new();
    for line in 0..8 {
        for key in format!("line {line} of mine").chars() {
            nvim.feed(&key.to_string());
        }
        nvim.feed("<CR>");
        draft.push(format!("line {line} of mine"));
    }
    nvim.feed("<Esc>");
    let page = wait_for_page(&nvim, "Answer 5.");
    for words in &words {
        assert_eq!(page.matches(words.as_str()).count(), 1, "{page}");
    }
    let page = wait_for_page(&nvim, "line 7 of mine");
    assert!(page.ends_with(&format!("## You\n\n{}\n", draft.join("\n"))), "{page}");
    assert_quiet(&nvim);
    agent.model.finish().unwrap();
}
