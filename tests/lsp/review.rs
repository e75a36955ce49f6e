//! Review through the protocol: pending hunks as diagnostics, lenses and code actions that appear, move with
//! typing and vanish; accept, reject, edit, undo. In every client's habits, over the real binary.

use crate::support::stage::{Stage, edit, edit_input, say, turn, until};
use ropewalk_testkit::editor::{EditorMemory, FakeEditor, Handling, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};

const GREET: &str = "def greet(name):\n    print(f\"Hello, {name}!\")\n\n\n\n\n\nlast = 9\n";

fn two_changes() -> Vec<ScriptedReply> {
    vec![
        ScriptedReply::new()
            .call(
                "edit_file",
                edit_input(
                    "greet.py",
                    "def greet(name):\n",
                    "def greet(name):\n    \"\"\"Say hello — ünïcode 😀.\"\"\"\n",
                ),
            )
            .call("edit_file", edit_input("greet.py", "last = 9", "last = 10")),
        say("Two changes."),
    ]
}

#[test]
fn in_auto_mode_every_client_gets_the_edit_beside_what_was_typed() {
    for profile in Profile::ALL {
        let stage = Stage::new(
            "auto",
            &[("a.txt", "one\ntwo 😀\nthree\n")],
            [edit("a.txt", "two 😀", "TWO 😀 ü"), say("Done.")],
        );
        let editor = stage.quiet_editor(profile);
        editor.open("a.txt");
        editor.type_at("a.txt", 0, 0, "x😀");
        editor.prompt("Change two");
        editor.wait_for_message("Done.");
        editor.wait_for_text("a.txt", "x😀one\nTWO 😀 ü\nthree\n");
        assert_eq!(stage.disk("a.txt"), "one\ntwo 😀\nthree\n", "{}", profile.name);
        stage.end(editor);
    }
}

#[test]
fn hunks_appear_move_with_typing_and_vanish_when_accepted_or_rejected() {
    for profile in [Profile::VSCODE, Profile::NEOVIM, Profile::HELIX] {
        let mut replies = two_changes();
        replies.push(say("I see.").expect_text("rejected a change").expect_text("keep nine"));
        let stage = Stage::new("review", &[("greet.py", GREET)], replies);
        let editor = stage.quiet_editor(profile);
        editor.open("greet.py");
        assert_eq!(turn(&editor, "Two changes, please"), "end_turn");
        let shown = editor.diagnostics("greet.py");
        let lines = |shown: &[serde_json::Value]| {
            shown.iter().map(|d| d["range"]["start"]["line"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(lines(&shown), [1, 7], "{shown:?}");
        assert!(shown.iter().all(|d| d["severity"] == 3 && d["source"] == "ropewalk"));
        assert!(
            shown[0]["message"]
                .as_str()
                .unwrap()
                .contains("+    \"\"\"Say hello — ünïcode 😀.\"\"\"")
        );
        // Typing above moves both, after the user has stopped for a moment.
        editor.type_at("greet.py", 0, 0, "# 😀\n");
        editor.flush();
        let uri = editor.uri("greet.py");
        editor.wait_for("moved diagnostics", |seen| {
            (lines(&seen.diagnostics(&uri)) == [2, 8]).then_some(())
        });
        assert_eq!(editor.capabilities().get("codeLensProvider").is_some(), profile.lenses);
        if profile.lenses {
            let lenses = editor.code_lenses("greet.py");
            let shown: Vec<_> =
                lenses.iter().map(|lens| (lens.line.unwrap(), lens.title.as_str())).collect();
            let titles = |line| ["Accept", "Reject", "Next change"].map(|title| (line, title));
            assert_eq!(shown, [titles(2), titles(8)].concat());
        }
        let actions = editor.code_actions("greet.py", (2, 0), (2, 0));
        let accept =
            actions.iter().find(|action| action.title == "Ropewalk: accept this change").unwrap();
        editor.run(accept).unwrap();
        editor.wait_for("one diagnostic", |seen| {
            (lines(&seen.diagnostics(&uri)) == [9]).then_some(())
        });
        let accepted = format!(
            "# 😀\n{}",
            GREET.replace("    print", "    \"\"\"Say hello — ünïcode 😀.\"\"\"\n    print")
        );
        assert_eq!(editor.text("greet.py"), accepted);
        editor.execute("ropewalk.reject", json!({ "all": true, "reason": "keep nine" })).unwrap();
        editor.wait_for("no diagnostic", |seen| seen.diagnostics(&uri).is_empty().then_some(()));
        assert_eq!(turn(&editor, "Go on"), "end_turn");
        editor.type_at("greet.py", 0, 0, "#more\n");
        editor.execute("ropewalk.undo", json!({ "all": true })).unwrap();
        editor.wait_for_text("greet.py", &format!("#more\n# 😀\n{GREET}"));
        assert_eq!(stage.disk("greet.py"), GREET);
        stage.end(editor);
    }
}

/// The answer to `/status`.
fn status(editor: &FakeEditor) -> String {
    let told = |seen: &mut EditorMemory| -> Vec<String> {
        let texts = seen.messages().into_iter().map(|message| message.text);
        texts.filter(|text| text.contains("waits for your approval")).collect()
    };
    let before = editor.with(told).len();
    editor.execute("ropewalk.prompt", json!("/status")).unwrap();
    editor.wait_for("the status", |seen| told(seen).get(before).cloned())
}

#[test]
fn what_was_accepted_waits_no_more_although_the_editor_has_not_made_it() {
    let stage = Stage::new("review", &[("greet.py", GREET)], two_changes());
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("greet.py");
    assert_eq!(turn(&editor, "Two changes"), "end_turn");
    editor.handle_edits(None);
    let offers = editor.code_actions("greet.py", (7, 0), (7, 0));
    let accept = offers.iter().find(|offer| offer.title == "Ropewalk: accept this change");
    editor.run(accept.unwrap()).unwrap();
    let said = status(&editor);
    assert!(said.starts_with("1 change waits for review."), "{said}");
    // One that the editor does not make waits again.
    editor.handle_edits(Some(Handling::Refused));
    until("both wait", || status(&editor).starts_with("2 changes in 1 file wait for review."));
    editor.handle_edits(None);
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    let said = status(&editor);
    assert!(said.starts_with("Nothing waits for review."), "{said}");
    editor.handle_next(Handling::Usual);
    let made = GREET.replacen(":\n", ":\n    \"\"\"Say hello — ünïcode 😀.\"\"\"\n", 1);
    editor.wait_for_text("greet.py", &made.replace("last = 9", "last = 10"));
    stage.end(editor);
}
