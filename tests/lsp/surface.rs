//! Surface of the server for a client: capabilities, synchronisation, roots, commands with good and
//! bad arguments, code actions, settings. Over the real binary, the model scripted.

use crate::support::stage::{QUIET, Stage, read, say, turn};
use ropewalk_testkit::editor::{EchoShape, FakeEditor, Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};

#[test]
fn a_selection_is_of_the_text_that_is_open_now() {
    let replies =
        [say("I see.").expect_text("second\n"), say("I see.").expect_text("another second\n")];
    let stage = Stage::new("review", &[("a.txt", "first\nsecond\nthird\n")], replies);
    let editor = stage.quiet_editor(Profile::VSCODE);
    let explained = || {
        let offers = editor.code_actions("a.txt", (1, 0), (2, 0));
        let explain = offers.iter().find(|it| it.title.contains("explain the selection")).unwrap();
        editor.run(explain).unwrap();
        assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    };
    editor.open("a.txt");
    explained();
    // Opened anew it counts from the same version.
    editor.close("a.txt");
    stage.write("a.txt", "a first line that is longer than before\nanother second\nthird\n");
    editor.open("a.txt");
    explained();
    stage.end(editor);
}

#[test]
fn each_client_is_told_what_is_true_for_it() {
    for profile in Profile::ALL {
        let stage = Stage::new("review", &[], []);
        let editor = stage.editor(profile);
        let can = editor.capabilities();
        let encoding = if profile.encodings.contains(&ropewalk_text::PositionEncoding::Utf8) {
            "utf-8"
        } else {
            "utf-16"
        };
        assert_eq!(can["positionEncoding"], encoding, "{}", profile.name);
        assert_eq!(can["textDocumentSync"]["change"], 2);
        assert_eq!(can["codeLensProvider"].is_object(), profile.lenses, "{}", profile.name);
        assert_eq!(can["semanticTokensProvider"].is_object(), profile.barrier, "{}", profile.name);
        let commands: Vec<&str> = can["executeCommandProvider"]["commands"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert!(commands.contains(&"ropewalk.prompt") && commands.contains(&"ropewalk.undo"));
        let offered = can.as_object().unwrap().keys().map(String::as_str);
        let known = [
            "positionEncoding",
            "textDocumentSync",
            "executeCommandProvider",
            "codeActionProvider",
            "codeLensProvider",
            "completionProvider",
            "semanticTokensProvider",
            "workspace",
        ];
        for name in offered {
            assert!(known.contains(&name), "{name} is offered, and nothing here tests it");
        }
        editor.shutdown();
    }
    // A plugin that draws hunks gets neither lenses nor diagnostics.
    let stage = Stage::new("review", &[], []);
    let editor = stage.editor_with(Profile::VSCODE, json!({ "drawsHunks": true, "events": true }));
    assert!(editor.capabilities().get("codeLensProvider").is_none());
    editor.shutdown();
}

#[test]
fn full_texts_and_ranges_lead_to_the_text_that_the_model_reads() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "ö1\r\nzwei\r\n")],
        [
            read("a.txt").expect_text("now"),
            say("one").expect_text("whole 😀 text"),
            read("a.txt").expect_text("again"),
            say("two").expect_text("typed whole 😀 text"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    let end = (9, 0);
    editor.replace_as("a.txt", (0, 0), end, "whole 😀 text\n", EchoShape::Whole);
    assert_eq!(turn(&editor, "now"), "end_turn");
    editor.type_at("a.txt", 0, 0, "typed ");
    assert_eq!(turn(&editor, "again"), "end_turn");
    stage.end(editor);
}

#[test]
fn roots_come_and_go_and_without_any_the_open_files_are_all_there_is() {
    let stage = Stage::new(
        "review",
        &[("one/a.txt", "in one\n"), ("two/b.txt", "in two\n")],
        [
            read("a.txt"),
            read("two/b.txt").expect_text("in one"),
            say("both").expect_text("in two"),
            // Other roots are another system prompt: nothing sent before counts.
            read("two/b.txt").conversation("one root"),
            say("gone").expect_no_text("in two").conversation("one root"),
        ],
    );
    let (one, two) = (stage.path("one"), stage.path("two"));
    let editor = stage.editor_in(Profile::VSCODE, &[&one], Value::Null, &[]);
    editor.ignore(QUIET);
    editor.change_roots(&[&two], &[]);
    assert_eq!(turn(&editor, "read both"), "end_turn");
    editor.change_roots(&[], &[&two]);
    assert_eq!(turn(&editor, "read the other"), "end_turn");
    stage.end(editor);

    let stage = Stage::new(
        "auto",
        &[("a.txt", "alone\n"), ("b.txt", "secret of b\n")],
        [
            ScriptedReply::from_fn(|_| read("a.txt")).expect_text("a.txt"),
            say("nothing else").expect_text("alone"),
        ],
    );
    let editor = stage.editor_in(Profile::VSCODE, &[], Value::Null, &[]);
    editor.ignore(QUIET);
    let file = stage.path("a.txt");
    editor.open(&file);
    assert_eq!(turn(&editor, "what is there?"), "end_turn");
    editor.shutdown();
    let requests = stage.agent.model.requests();
    assert!(
        requests[0]["system"].to_string().contains("No folder is open"),
        "{}",
        requests[0]["system"]
    );
    stage.agent.model.finish().unwrap();
}

#[test]
fn bad_arguments_are_refused_in_words_and_nothing_is_hurt() {
    let stage = Stage::new("review", &[("a.txt", "one\n")], [say("still here")]);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 2 } });
    let bad = [
        ("ropewalk.nonsense", json!(null), "The commands are ropewalk.prompt"),
        ("ropewalk.prompt", json!("  \n"), "needs a prompt"),
        ("ropewalk.prompt", json!(5), "wanted is"),
        ("ropewalk.prompt", json!({ "promt": "x" }), "unknown field"),
        ("ropewalk.prompt", json!({ "prompt": "x", "range": range }), "textDocument"),
        (
            "ropewalk.prompt",
            json!({ "prompt": "x", "range": range, "textDocument": { "uri": "file:///not/open" } }),
            "not open",
        ),
        (
            "ropewalk.prompt",
            json!({ "prompt": "x", "range": { "start": 1 }, "textDocument": { "uri": "x" } }),
            "wanted is",
        ),
        ("ropewalk.steer", json!("x"), "Nothing was asked yet"),
        ("ropewalk.steer", json!({}), "needs a text"),
        ("ropewalk.accept", json!({ "all": true }), "Nothing was asked yet"),
        ("ropewalk.accept", json!({ "hunk": "first" }), "wanted is"),
        ("ropewalk.accept", json!({ "hunk": 1, "all": true }), "one of them"),
        ("ropewalk.reject", json!({ "turn": -1 }), "wanted is"),
        ("ropewalk.undo", json!([1]), "wanted is"),
        ("ropewalk.edit", json!({ "hunk": 1 }), "text"),
        ("ropewalk.show", json!({ "hunk": 99 }), "does not wait any more"),
        ("ropewalk.approve", json!({ "answer": "maybe" }), "always, afterSave or refuse"),
        ("ropewalk.mode", json!("yolo"), "auto, review or plan"),
        ("ropewalk.model", json!("nobody/nothing"), "nobody"),
    ];
    for (command, argument, words) in bad {
        let error = editor.execute(command, argument.clone()).expect_err(command);
        assert_eq!(error.code, -32602, "{command} {argument}: {error}");
        assert!(error.message.contains(words), "{command} {argument}: {error}");
    }
    let two = json!({ "command": "ropewalk.prompt", "arguments": ["a", "b"] });
    assert_eq!(editor.request("workspace/executeCommand", &two).unwrap_err().code, -32602);
    let unknown = editor.request("textDocument/nonsense", &json!({})).unwrap_err();
    assert_eq!(unknown.code, -32601);
    editor.execute("ropewalk.interrupt", Value::Null).unwrap();
    assert_eq!(editor.execute("ropewalk.mode", Value::Null).unwrap(), json!({ "mode": "review" }));
    assert_eq!(editor.execute("ropewalk.mode", json!("plan")).unwrap(), json!({ "mode": "plan" }));
    let status = editor.execute("ropewalk.status", Value::Null).unwrap();
    assert_eq!((&status["hunks"], &status["desyncAlarms"]), (&json!(0), &json!(0)));
    assert_eq!(turn(&editor, "alive?"), "end_turn");
    stage.end(editor);
}

#[test]
fn code_actions_ask_about_what_was_selected_wherever_it_has_moved() {
    let source = "fn main() {}\n\n// Add a line that says hi.\n// Be brief.\nfn wrong( {}\n";
    let stage = Stage::new(
        "review",
        &[("a.rs", source)],
        [
            say("1")
                .expect_text("fn wrong( {}")
                .expect_text("lines=\"6-6\"")
                .expect_text("Refactor"),
            say("2").expect_text("expected `)`").expect_text("clippy").expect_text("lines=\"6-6\""),
            say("3")
                .expect_text("Add a line that says hi.\nBe brief.")
                .expect_text("lines=\"4-5\""),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.rs");
    let titles = |offers: &[ropewalk_testkit::editor::ActionOffer]| {
        offers.iter().map(|offer| offer.title.clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&editor.code_actions("a.rs", (0, 0), (0, 0))), Vec::<String>::new());
    let selected = editor.code_actions("a.rs", (4, 0), (4, 12));
    assert_eq!(
        titles(&selected),
        [
            "Ropewalk: explain the selection",
            "Ropewalk: fix the selection",
            "Ropewalk: document the selection",
            "Ropewalk: test the selection",
            "Ropewalk: refactor the selection",
        ]
    );
    let range = editor.range("a.rs", (4, 0), (4, 12));
    let diagnostic =
        json!({ "range": range, "message": "expected `)`", "source": "clippy", "severity": 1 });
    let own = json!({ "range": range, "message": "Proposed change", "source": "ropewalk", "severity": 3 });
    let problems = editor.code_actions_for(
        "a.rs",
        (4, 0),
        (4, 0),
        &json!({ "diagnostics": [diagnostic, own] }),
    );
    assert_eq!(titles(&problems), ["Ropewalk: fix “expected `)`”"]);
    let only = editor.code_actions_for(
        "a.rs",
        (4, 0),
        (4, 12),
        &json!({ "diagnostics": [diagnostic], "only": ["quickfix"] }),
    );
    assert_eq!(titles(&only), ["Ropewalk: fix “expected `)`”"]);
    let comment = editor.code_actions("a.rs", (2, 0), (4, 0));
    assert_eq!(comment[0].title, "Ropewalk: do what this comment asks");
    // The user types above before they choose: what was selected is still what is asked about.
    editor.type_at("a.rs", 0, 0, "//\n");
    editor.run(&selected[4]).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    editor.run(&problems[0]).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    editor.run(&comment[0]).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    stage.end(editor);
}

#[test]
fn settings_count_at_once_and_broken_ones_are_told_in_words() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            ScriptedReply::new().call("write_file", json!({ "path": "a.txt", "content": "two\n" })),
            say("as told").expect_text("plan mode"),
        ],
    );
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(&[Kind::Progress, Kind::Diagnostics]);
    editor.open("a.txt");
    editor.execute("ropewalk.mode", Value::Null).unwrap();
    editor.configure(json!({ "ropewalk": { "mode": "plan" } }));
    editor.prompt("write");
    editor.wait_for_turn_end();
    editor.wait_for_message("as told");
    editor.configure(json!({ "ropewalk": { "mode": "sideways", "limits": { "stepps": 3 } } }));
    let message = editor.wait_for_message("sideways");
    assert!(message.text.contains("mode"), "{}", message.text);
    let message = editor.wait_for_message("stepps");
    assert!(message.text.contains("limits.steps"), "{}", message.text);
    stage.end(editor);

    // A file that is broken when the server starts, and an option of the wrong type beside a good one.
    let stage = Stage::new("review", &[(".ropewalk/config.toml", "mode = [broken\n")], []);
    let editor = stage.editor_with(
        Profile::VSCODE,
        json!({ "events": "yes", "drawsHunks": true, "nonsense": 1 }),
    );
    editor.wait_for_message("config.toml");
    editor.wait_for_message("nonsense");
    let message = editor.wait_for_message("events");
    assert!(message.text.contains("true or false"), "{}", message.text);
    assert!(editor.capabilities().get("codeLensProvider").is_none(), "the good option counts");
    editor.shutdown();
}

#[test]
fn a_changed_configuration_file_counts_from_the_next_prompt() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            say("reviewing"),
            ScriptedReply::new().call("write_file", json!({ "path": "a.txt", "content": "two\n" })),
            say("planned").expect_text("plan mode"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "one"), "end_turn");
    std::fs::create_dir(stage.path(".ropewalk")).unwrap();
    stage.write(".ropewalk/config.toml", "mode = \"plan\"\n");
    assert_eq!(turn(&editor, "two"), "end_turn");
    stage.end(editor);
}

#[test]
fn a_chosen_model_outlives_edits_of_the_configuration_and_a_restart_until_the_model_is_configured_anew()
 {
    let said = ["a", "b", "c", "d", "e"];
    let stage = Stage::new("review", &[("a.txt", "one\n")], said.map(say));
    let config = stage.agent.folder("config").join("ropewalk/config.toml");
    let first = std::fs::read_to_string(&config).unwrap();
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    let asks = |editor: &FakeEditor, model: &str| {
        turn(editor, "go");
        let requests = stage.agent.model.requests();
        assert_eq!(requests.last().unwrap()["model"], model);
    };
    asks(&editor, "scripted");
    editor.execute("ropewalk.model", json!("scripted/chosen")).unwrap();
    asks(&editor, "chosen");
    let edited = format!("limits.steps = 7\n{first}");
    stage.agent.configure(&edited);
    asks(&editor, "chosen");
    let open = editor.kill_server();
    let editor = stage.editor_again(Profile::VSCODE, &open);
    editor.ignore(QUIET);
    editor.execute("ropewalk.resume", Value::Null).unwrap();
    asks(&editor, "chosen");
    stage.agent.configure(&edited.replace("scripted/scripted", "scripted/third"));
    asks(&editor, "third");
    stage.end(editor);
}

#[test]
fn nothing_of_the_home_of_whoever_runs_the_tests_is_seen() {
    let stage = Stage::new("review", &[], [say("ok")]);
    let home = stage.agent.folder("home");
    let skill = home.join(".claude/skills/own");
    std::fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: own\ndescription: Of the test's home\n---\nx\n";
    std::fs::write(skill.join("SKILL.md"), text).unwrap();
    let editor = stage.editor(Profile::VSCODE);
    assert_eq!(turn(&editor, "go"), "end_turn");
    editor.wait_for_message("ok");
    let system = stage.agent.model.requests()[0]["system"].to_string();
    let (_, list) = system.split_once("load it with load_skill and follow it:").unwrap();
    assert_eq!(list.matches("\\n- ").count(), 1, "{list}");
    assert!(list.contains("- own: Of the test's home"), "{list}");
    stage.end(editor);
}
