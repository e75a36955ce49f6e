//! From one change to the next, over all files; changes and calls that wait in a place where they can be looked at.

use crate::support::stage::{QUIET, Stage, bash, edit_input, say, turn};
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// Changes at both ends of `a.txt`, a new file, and one change in `c.txt`.
fn changes() -> Vec<ScriptedReply> {
    vec![
        ScriptedReply::new()
            .call("edit_file", edit_input("a.txt", "one", "ONE"))
            .call("edit_file", edit_input("a.txt", "nine", "NINE"))
            .call("write_file", json!({ "path": "b/new.txt", "content": "new\nlines\n" }))
            .call("edit_file", edit_input("c.txt", "five", "FIVE")),
        say("All of it."),
    ]
}

fn stage() -> Stage {
    Stage::new("review", &[("a.txt", TEXT), ("c.txt", TEXT)], changes())
}

/// Where the editor was led to, once it was so often: the end of the URI, and the line from zero.
fn led(editor: &FakeEditor, times: usize) -> (String, u64) {
    let shown = editor
        .wait_for("a document", |seen| seen.take("window/showDocument").into_iter().nth(times - 1));
    assert_eq!(shown["takeFocus"], true);
    assert_eq!(shown["selection"]["start"], shown["selection"]["end"], "nothing is selected");
    let name = shown["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    (name, shown["selection"]["start"]["line"].as_u64().unwrap())
}

fn next(editor: &FakeEditor, argument: Value) -> Value {
    editor.execute("ropewalk.next", argument).unwrap()
}

#[test]
fn next_leads_over_all_files_and_round() {
    let stage = stage();
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.ignore(&[Kind::Other]);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Capitals"), "end_turn");
    // The new file is not there yet: it is shown in the document that is.
    let places = [("a.txt", 0), ("a.txt", 8), ("a.txt", 0), ("c.txt", 4), ("a.txt", 0)];
    let mut files = Vec::new();
    for (count, (name, line)) in (1..).zip(places) {
        files.push(next(&editor, Value::Null)["file"].clone());
        assert_eq!(led(&editor, count), (name.to_owned(), line), "{count}");
    }
    assert_eq!(files, ["a.txt", "a.txt", "b/new.txt", "c.txt", "a.txt"]);
    // From where the user is.
    let at = |name: &str, line: u32| {
        let position = json!({ "line": line, "character": 0 });
        json!({ "textDocument": { "uri": editor.uri(name) }, "position": position })
    };
    for (argument, file, line) in [
        (at("a.txt", 3), "a.txt", 8),
        (at("a.txt", 8), "b/new.txt", 0),
        (at("c.txt", 4), "a.txt", 0),
        (at("none.txt", 0), "a.txt", 0),
        (json!({ "hunk": 999 }), "a.txt", 0),
    ] {
        let led = next(&editor, argument.clone());
        assert_eq!(
            (&led["file"], &led["position"]["line"]),
            (&json!(file), &json!(line)),
            "{argument}"
        );
    }
    // The hunk that was gone to is accepted: the one behind it is next.
    let first = next(&editor, at("none.txt", 0))["hunk"].clone();
    editor.execute("ropewalk.accept", json!({ "hunk": first })).unwrap();
    editor.wait_for_text("a.txt", &TEXT.replace("one", "ONE"));
    assert_eq!(next(&editor, Value::Null)["position"]["line"], 8);
    editor.execute("ropewalk.reject", Value::Null).unwrap();
    let uri = editor.uri("a.txt");
    editor.wait_for("nothing", |seen| seen.diagnostics(&uri).is_empty().then_some(()));
    assert_eq!(next(&editor, Value::Null), Value::Null);
    for bad in
        [json!({ "hunk": "x" }), json!({ "position": { "line": 1, "character": 1 } }), json!("x")]
    {
        let error = editor.execute("ropewalk.next", bad.clone()).expect_err(&bad.to_string());
        assert_eq!(error.code, -32602, "{bad}");
    }
    stage.end(editor);
}

#[test]
fn where_no_document_can_be_shown_the_place_is_said() {
    let stage = stage();
    let editor = stage.editor(Profile::EMACS);
    editor.ignore(&[Kind::Diagnostics]);
    editor.open("c.txt");
    editor.prompt("Capitals");
    let end = editor.wait_for_message("All of it.");
    assert_eq!(end.text, "All of it.\n\n4 changes in 3 files wait for review.");
    for words in ["a.txt:1 (change 1 of 4)", "a.txt:9 (change 2 of 4)", "c.txt:1 (change 3 of 4)"] {
        next(&editor, Value::Null);
        editor.wait_for_message(words);
    }
    stage.end(editor);
}

/// The diagnostics of ours in a document: their lines from zero, and the first lines of their messages.
fn shown(seen: &mut ropewalk_testkit::editor::EditorMemory, uri: &str) -> Vec<(u64, String)> {
    let line = |it: &Value| it["range"]["start"]["line"].as_u64().unwrap();
    let first = |it: &Value| it["message"].as_str().unwrap().lines().next().unwrap().to_owned();
    seen.diagnostics(uri).iter().map(|it| (line(it), first(it))).collect()
}

#[test]
fn a_new_file_is_shown_in_a_document_that_can_be_opened() {
    let stage = stage();
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    editor.open("c.txt");
    let range = editor.range("c.txt", (6, 0), (7, 0));
    let document = json!({ "uri": editor.uri("c.txt") });
    let argument = json!({ "prompt": "Go", "textDocument": document, "range": range });
    editor.execute("ropewalk.prompt", argument).unwrap();
    editor.wait_for_turn_end();
    let (a, c) = (editor.uri("a.txt"), editor.uri("c.txt"));
    let new =
        |path: &str| format!("Proposed new file {path} · +2 · accept or reject it above the line");
    editor.wait_for("the changes", |seen| {
        let wanted = [
            (6, new("b/new.txt")),
            (4, "Proposed change · −1 +1 · accept or reject it above the line".to_owned()),
        ];
        (shown(seen, &c) == wanted).then_some(())
    });
    let of_new = editor.uri("b/new.txt");
    assert!(editor.with(|seen| seen.diagnostics(&of_new)).is_empty(), "nobody is led to no file");
    let lenses = editor.code_lenses("c.txt");
    let titles: Vec<_> =
        lenses.iter().map(|lens| (lens.line.unwrap(), lens.title.as_str())).collect();
    let wanted = [
        (6, "Accept b/new.txt"),
        (6, "Reject b/new.txt"),
        (6, "Next change"),
        (4, "Accept"),
        (4, "Reject"),
        (4, "Next change"),
    ];
    assert_eq!(titles, wanted);
    let offers = editor.code_actions("c.txt", (6, 0), (6, 0));
    let titles: Vec<&str> = offers.iter().map(|offer| offer.title.as_str()).collect();
    let wanted = [
        "Ropewalk: accept the change of b/new.txt",
        "Ropewalk: reject the change of b/new.txt",
        "Ropewalk: show the change of b/new.txt",
        "Ropewalk: go to the next change",
        "Ropewalk: accept all changes",
        "Ropewalk: reject all changes",
    ];
    assert_eq!(titles, wanted);
    // It moves with the document's text, and to another one when that is closed.
    editor.type_at("c.txt", 0, 0, "zero\n");
    editor.wait_for("it moves", |seen| (shown(seen, &c).first()?.0 == 7).then_some(()));
    editor.close("c.txt");
    editor.wait_for("another place", |seen| {
        shown(seen, &a).contains(&(0, new("b/new.txt"))).then_some(())
    });
    let accept = &editor.code_lenses("a.txt")[0..];
    let accept = accept.iter().find(|lens| lens.title == "Accept b/new.txt").unwrap();
    editor.run(accept).unwrap();
    editor.wait_for("the file", |_| {
        let text = std::fs::read_to_string(stage.path("b/new.txt")).ok()?;
        (text == "new\nlines\n").then_some(())
    });
    stage.end(editor);
}

#[test]
fn a_call_that_waits_is_a_diagnostic_until_it_is_answered() {
    for (profile, how) in [
        (Profile::VSCODE, "Answer with Quick Fix."),
        (Profile::NEOVIM, "Answer with code actions (gra)."),
        (Profile::EMACS, "Answer with code actions (M-x eglot-code-actions)."),
        (Profile::UNKNOWN, "Answer with code actions."),
    ] {
        let stage = Stage::new(
            "review",
            &[("a.txt", TEXT)],
            [
                bash("echo ran > ran.txt"),
                say("So be it.").expect_text("The user refused this call: use make"),
            ],
        );
        let editor = stage.editor(profile);
        editor.ignore(QUIET);
        editor.open("a.txt");
        let document = json!({ "uri": editor.uri("a.txt") });
        let range = editor.range("a.txt", (3, 0), (3, 0));
        let argument = json!({ "prompt": "Go", "textDocument": document, "range": range });
        editor.execute("ropewalk.prompt", argument).unwrap();
        let uri = editor.uri("a.txt");
        let asked = editor.wait_for("the diagnostic", |seen| seen.diagnostics(&uri).pop());
        assert_eq!(asked["range"]["start"]["line"], 3, "where it was asked: {asked}");
        assert_eq!(asked["severity"], 2);
        let words = asked["message"].as_str().unwrap();
        assert!(words.starts_with("Ropewalk asks to run bash: echo ran > ran.txt\n("), "{words}");
        assert!(words.contains("\n\"Always\" allows exactly this command.\n"), "{words}");
        assert!(words.ends_with(how), "{words}");
        if profile.name == Profile::VSCODE.name {
            // Nothing is answered by closing it.
            editor.dismiss_dialog();
        }
        assert_eq!(editor.with(|seen| seen.diagnostics(&uri)), [asked]);
        let said = editor.execute("ropewalk.prompt", json!("/refuse use make")).unwrap();
        assert_eq!((&said["turn"], &said["said"]), (&Value::Null, &json!("Refused.")));
        editor.wait_for("no diagnostic", |seen| seen.diagnostics(&uri).is_empty().then_some(()));
        editor.wait_for_message("So be it.");
        stage.end(editor);
    }
}
