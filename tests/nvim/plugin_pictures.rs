//! Screens of the Neovim plugin in 80 columns: review, chat and a question, on a dark and on a
//! light background. With `$ROPEWALK_PICTURES`, a folder, pictures of them are left there.

use crate::support::agent::Agent;
use crate::support::plugin::Bench;
use crate::support::stage::{edit, edit_input, say};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::json;

const GREET: &str = "\"\"\"Says hello.\"\"\"\n\nimport sys\n\n\ndef greet(name):\n    print(\"hello\")\n\n\n\
    def main():\n    for name in sys.argv[1:]:\n        greet(name)\n\n\nif __name__ == \"__main__\":\n    main()\n";

/// Each of the backgrounds, with what its pictures are named after.
const BACKGROUNDS: [&str; 2] = ["dark", "light"];

/// A user's editor, set up as the README says.
fn bench(background: &str, replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    let agent = Agent::new("review", replies);
    agent.allow("bash(seq *)");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("greet.py"), GREET).unwrap();
    let bench = Bench::with(agent, folder, true);
    bench.nvim.command(&format!("set background={background} number signcolumn=yes"));
    bench.nvim.command("nmap ]r <Plug>(ropewalk-next)");
    bench.nvim.command("nmap <Space>a <Plug>(ropewalk-accept)");
    bench.nvim.command("nmap <Space>x <Plug>(ropewalk-reject)");
    bench.nvim.command("let mapleader = ' '");
    bench.nvim.command("let &statusline = \"%<%f %m%=%{v:lua.require'ropewalk'.status()}  %l,%c\"");
    bench.open("greet.py");
    bench
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_change_stands_below_the_lines_that_it_replaces() {
    for background in BACKGROUNDS {
        let changes = edit("greet.py", "import sys\n", "import os\nimport sys\n")
            .call("edit_file", edit_input("greet.py", "(name):\n    print(\"hello\")",
                "(name, loud=False):\n    \"\"\"Greets by name.\"\"\"\n    print(f\"hello {name}\")"))
            .call("write_file", json!({ "path": "test_greet.py", "content": "import greet\n" }));
        let bench = bench(background, [changes, say("`greet` takes the name, and has a test.")]);
        bench.nvim.feed("6GVj:Ropewalk ask greet by name<CR>");
        bench.wait_for_end(1);
        bench.nvim.wait_for_screen("3 changes in 2 files wait");
        bench.nvim.picture(&format!("nvim-answer-{background}"));
        // Leading on takes the notice away.
        bench.nvim.feed("gg]r]r");
        bench.nvim.wait_for_screen("change 2/3 · ␣a accept · ␣x reject");
        bench.nvim.wait_for("the notice to go", |nvim| {
            (!nvim.screen().join("\n").contains("wait for you")).then_some(())
        });
        bench.nvim.picture(&format!("nvim-review-{background}"));
        bench.nvim.feed("]r");
        bench.nvim.wait_for_screen("new file test_greet.py");
        bench.nvim.wait_for_screen("import greet");
        bench.nvim.picture(&format!("nvim-new-file-{background}"));
        bench.run("Ropewalk list");
        bench.nvim.wait_for_screen("test_greet.py|1");
        bench.nvim.picture(&format!("nvim-list-{background}"));
        bench.end();
    }
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_conversation_has_answers_calls_the_plan_and_the_draft() {
    let todos = json!({ "todos": [
        { "content": "Read the greeting", "status": "completed" },
        { "content": "Write the test", "status": "in_progress" },
        { "content": "Run it", "status": "pending" },
    ] });
    let words = "There are **two** ways:\n\n1. a parameter `name`\n2. a global\n\n```python\ndef greet(name):\n    \
        return f\"hello {name}\"\n```\n\nI take the first.";
    for background in BACKGROUNDS {
        let bench = bench(
            background,
            [
                ScriptedReply::new()
                    .call("read_file", json!({ "path": "greet.py" }))
                    .call("todo_write", todos.clone()),
                ScriptedReply::new()
                    .text(words)
                    .call("bash", json!({ "command": "seq 1 3" }))
                    .call(
                        "edit_file",
                        edit_input("greet.py", "print(\"hello\")", "print(f\"hello {name}\")"),
                    ),
                ScriptedReply::new().gate(ReplyPlace::End, "never").text("Now the test"),
            ],
        );
        bench.nvim.feed(":Ropewalk chat<CR>greet the user by name, and test it<CR>");
        bench.wait_for_transcript("Now the test");
        bench.nvim.wait_for_screen("Plan 1/3 ▸ Write the test");
        bench.nvim.feed("say goodbye to");
        bench.nvim.wait_for_screen("say goodbye to");
        bench.nvim.wait_for_screen("⏎ joins");
        bench.nvim.picture(&format!("nvim-chat-{background}"));
        bench.nvim.feed("<C-c>");
        bench.wait_for_end(1);
        bench.end();
    }
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_question_stands_beside_what_is_written() {
    for background in BACKGROUNDS {
        let command = "npm install left-pad@1.3.0\nnode -e 'require(\"left-pad\")'";
        let bench = bench(
            background,
            [ScriptedReply::new().call("bash", json!({ "command": command })), say("Done.")],
        );
        bench.nvim.feed(":Ropewalk ask install it<CR>");
        bench.nvim.wait_for_screen("Ropewalk asks");
        bench.nvim.feed("Go# typed on");
        bench.nvim.wait_for_screen("# typed on");
        bench.nvim.picture(&format!("nvim-question-{background}"));
        bench.nvim.feed("<Esc>");
        bench.run("Ropewalk answer");
        bench.nvim.wait_for_screen("[o] Allow once");
        bench.nvim.picture(&format!("nvim-answer-question-{background}"));
        bench.nvim.feed("n");
        bench.wait_for_end(1);
        bench.end();
    }
}
