//! Clients that can do less, or do it their own way: what they have not declared is not asked of them, and what they
//! call a document is what it is called to them. Over the real binary, the model scripted.

use crate::support::stage::{
    QUIET, Stage, edit, edit_input, read, say, turn, until, wait_for_reviews,
};
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};

/// The params of all edits that the server has asked for so far.
fn edits(editor: &FakeEditor) -> Vec<Value> {
    editor.wait_for("the edits", |seen| Some(seen.take("workspace/applyEdit")))
}

fn titles(editor: &FakeEditor, name: &str) -> Vec<String> {
    editor.code_actions(name, (0, 0), (0, 0)).into_iter().map(|offer| offer.title).collect()
}

#[test]
fn a_client_that_takes_no_edits_is_told_how_to_take_the_change() {
    for apply_edit in [Some(false), None] {
        let stage = Stage::new(
            "review",
            &[("a.txt", "one\ntwo\n"), ("b.txt", "bee\n")],
            [
                ScriptedReply::new()
                    .call("edit_file", edit_input("a.txt", "two", "TWO"))
                    .call("edit_file", edit_input("b.txt", "bee", "BEE")),
                say("Done."),
                say("I know.").expect_text("stays pending until the user has copied it"),
            ],
        );
        let editor = stage.editor(Profile { apply_edit, ..Profile::WITHOUT_EDITS });
        editor.ignore(&[Kind::Progress, Kind::Diagnostics, Kind::Log]);
        editor.open("a.txt");
        assert_eq!(turn(&editor, "Louder"), "end_turn");
        editor.wait_for_message("Done.");
        editor.execute("ropewalk.accept", Value::Null).unwrap();
        let told = editor.wait_for_message("takes no edits");
        assert!(told.text.starts_with("a.txt: "), "{}", told.text);
        assert!(told.text.contains("ropewalk.show"), "{}", told.text);
        assert_eq!(editor.text("a.txt"), "one\ntwo\n");
        until("the closed file is written", || stage.disk("b.txt") == "BEE\n");
        // It waits, and is shown where it stands.
        let actions = editor.code_actions("a.txt", (1, 0), (1, 0));
        let show = actions.iter().find(|offer| offer.title.contains("show this change"));
        let shown = editor.run(show.expect("it is still there")).unwrap();
        assert!(shown["diff"].as_str().unwrap().contains("+TWO"), "{shown}");
        editor.wait_for_message("+TWO");
        // The user copies it: nothing waits any more.
        editor.replace("a.txt", (1, 0), (1, 3), "TWO");
        assert_eq!(turn(&editor, "There"), "end_turn");
        editor.wait_for_message("I know.");
        assert_eq!(editor.execute("ropewalk.status", Value::Null).unwrap()["hunks"], 0);
        editor.wait_for_message("mode review");
        assert_eq!(edits(&editor), Vec::<Value>::new());
        stage.end(editor);
    }
}

#[test]
fn a_client_that_says_in_its_options_that_it_applies_edits_gets_them() {
    let replies = [edit("a.txt", "one", "ONE"), say("Done.")];
    let stage = Stage::new("review", &[("a.txt", "one\n")], replies);
    // Kate's way: nothing declared, yet edits are applied.
    let profile = Profile { apply_edit: None, ..Profile::UNKNOWN };
    let editor = stage.editor_with(profile, json!({ "edits": true }));
    editor.ignore(QUIET);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Louder"), "end_turn");
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    editor.wait_for_text("a.txt", "ONE\n");
    stage.end(editor);
}

#[test]
fn in_auto_mode_the_words_come_with_the_turn_and_undo_has_its_own() {
    let replies = [edit("a.txt", "one", "ONE"), say("Done.").expect_text("takes no edits")];
    let stage = Stage::new("auto", &[("a.txt", "one\n")], replies);
    let editor = stage.editor(Profile::WITHOUT_EDITS);
    editor.ignore(&[Kind::Progress, Kind::Diagnostics, Kind::Log]);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Louder"), "end_turn");
    editor.wait_for_message("Not in your text yet: a.txt: your editor takes no edits");
    editor.wait_for_message("Done.");
    assert_eq!(edits(&editor), Vec::<Value>::new());
    stage.end(editor);
}

#[test]
fn edits_go_out_in_the_form_that_the_client_takes() {
    let check = |profile: Profile, form: &str| {
        let replies = [edit("a.txt", "two", "TWO"), say("Done.")];
        let stage = Stage::new("auto", &[("a.txt", "one\ntwo\n")], replies);
        let editor = stage.quiet_editor(profile);
        editor.open("a.txt");
        editor.type_at("a.txt", 0, 0, "typed ");
        editor.prompt("Louder");
        editor.wait_for_message("Done.");
        editor.wait_for_text("a.txt", "typed one\nTWO\n");
        let sent = edits(&editor);
        assert!(!sent.is_empty());
        for params in sent {
            let edit = params["edit"].as_object().unwrap();
            assert_eq!(edit.keys().collect::<Vec<_>>(), [form], "{}: {params}", profile.name);
        }
        stage.end(editor);
    };
    check(Profile::PLAIN, "changes");
    check(
        Profile {
            name: "emacs without",
            takes_versions: false,
            declares_versions: false,
            ..Profile::EMACS
        },
        "changes",
    );
    // It declares none, and honours them all the same.
    check(Profile::NEOVIM, "documentChanges");
    check(Profile::UNKNOWN, "documentChanges");
}

#[test]
fn without_code_action_literals_commands_are_offered() {
    let replies = [edit("a.txt", "one", "ONE"), say("Done.")];
    let stage = Stage::new("review", &[("a.txt", "one\n")], replies);
    let editor = stage.quiet_editor(Profile::PLAIN);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Louder"), "end_turn");
    let params = json!({
        "textDocument": { "uri": editor.uri("a.txt") },
        "range": editor.range("a.txt", (0, 0), (0, 0)),
        "context": { "diagnostics": [] },
    });
    let offered = editor.request("textDocument/codeAction", &params).unwrap();
    for command in offered.as_array().unwrap() {
        assert!(command["command"].is_string() && command["title"].is_string(), "{command}");
        assert!(command.get("kind").is_none() && command.get("edit").is_none(), "{command}");
    }
    let expected = ["accept this change", "reject this change", "show this change"];
    let all = titles(&editor, "a.txt");
    for title in expected {
        assert!(all.iter().any(|own| own.contains(title)), "{title} is not in {all:?}");
    }
    let actions = editor.code_actions("a.txt", (0, 0), (0, 0));
    editor.run(&actions[0]).unwrap();
    editor.wait_for_text("a.txt", "ONE\n");
    stage.end(editor);
}

/// Spellings of one file that a parser of URLs gives back as another.
fn spellings(path: &str) -> Vec<String> {
    let escaped = path.replace(' ', "%20").replace('ö', "%C3%B6");
    vec![
        format!("file://localhost{path}"),
        format!("file://{path}"),
        format!("file://{escaped}"),
        format!("file://{}", escaped.replace("%C3%B6", "%c3%b6").replace("%20", " ")),
        format!("FILE://{}", escaped.replacen('/', "/./", 1)),
    ]
}

#[test]
fn a_document_is_called_to_the_client_as_the_client_calls_it() {
    let all = spellings("/x").len();
    for index in 0..all {
        let name = "fö o.txt";
        let stage = Stage::new(
            "review",
            &[(name, "one\ntwo\n")],
            [edit(name, "two", "TWO"), say("Done."), say("Yes.").expect_text("two")],
        );
        let uri = spellings(stage.path(name).to_str().unwrap()).remove(index);
        let options = json!({ "events": true, "plugin": true });
        let editor = stage.editor_with(Profile::VSCODE, options);
        editor.ignore(QUIET);
        editor.open_with(&uri, "one\ntwo\n");
        assert_eq!(turn(&editor, "Louder"), "end_turn");
        let own = |params: &Value| params["uri"] == json!(uri);
        let shown = editor.wait_for("diagnostics", |seen| {
            let shown = seen.take("textDocument/publishDiagnostics");
            (!shown.is_empty()).then_some(shown)
        });
        assert!(shown.iter().all(own), "{uri}: {shown:?}");
        let events = editor.events();
        let hunks = events.iter().filter_map(|event| event["hunks"].as_array()).flatten();
        let hunks: Vec<&Value> = hunks.collect();
        assert!(!hunks.is_empty() && hunks.into_iter().all(own), "{uri}: {events:?}");
        let actions = editor.code_actions(&uri, (0, 0), (1, 3));
        let documents = actions.iter().filter_map(|it| it.arguments[0].get("textDocument"));
        let documents: Vec<&Value> = documents.collect();
        assert!(!documents.is_empty() && documents.into_iter().all(own), "{uri}: {actions:?}");
        let lenses = editor.code_lenses(&uri);
        editor.run(&lenses[0]).unwrap();
        editor.wait_for_text(&uri, "one\nTWO\n");
        let sent = edits(&editor);
        let target = &sent[0]["edit"]["documentChanges"][0]["textDocument"]["uri"];
        assert_eq!(*target, json!(uri));
        editor.execute("ropewalk.undo", json!({ "uri": uri })).unwrap();
        editor.wait_for_text(&uri, "one\ntwo\n");
        // A selection is found under that name too.
        let range = editor.range(&uri, (1, 0), (1, 3));
        let prompt = json!({ "prompt": "This?", "textDocument": { "uri": uri }, "range": range });
        editor.execute("ropewalk.prompt", prompt).unwrap();
        assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
        stage.end(editor);
    }
}

#[test]
fn a_file_that_is_shown_is_called_as_the_client_calls_it() {
    let stage = Stage::new("review", &[], []);
    let editor = stage.quiet_editor(Profile::VSCODE);
    let rules = stage.agent.folder("config").join("ropewalk/rules.toml");
    let uri = format!("file://localhost{}", rules.display());
    editor.open_with(&uri, "allow = []\n");
    editor.execute("ropewalk.rules", Value::Null).unwrap();
    let shown =
        editor.wait_for("the rules", |seen| seen.take("window/showDocument").into_iter().next());
    assert_eq!(shown["uri"], json!(uri));
    stage.end(editor);
}

#[test]
fn what_was_never_saved_is_read_edited_accepted_and_undone_under_its_uri() {
    let name = "untitled:Untitled-1";
    for (roots, profile) in
        [(true, Profile::VSCODE), (false, Profile::VSCODE), (false, Profile::UNKNOWN)]
    {
        let stage = Stage::new(
            "review",
            &[("a.txt", "in the folder\n")],
            [
                read(name).expect_text("untitled:Untitled-1 (unsaved)"),
                ScriptedReply::new()
                    .expect_text("never saved 😀")
                    .expect_text("unsaved text of the editor")
                    .call("edit_file", edit_input(name, "never", "NEVER"))
                    .call("grep", json!({ "pattern": "EVE" }))
                    .call("grep", json!({ "pattern": "EVE", "path": name }))
                    .call("move_file", json!({ "path": name, "to": "b.txt" }))
                    .call("delete_file", json!({ "path": name }))
                    .call("read_file", json!({ "path": "untitled:Untitled-2" })),
                say("Edited.")
                    .expect_text("Edited untitled:Untitled-1 (line 2)")
                    .expect_text("untitled:Untitled-1:2: NEVER saved")
                    .expect_text("there is no file to move")
                    .expect_text("there is no file to delete")
                    .expect_text("There is no open document untitled:Untitled-2"),
                ScriptedReply::new()
                    .call("write_file", json!({ "path": name, "content": "all new\n" })),
                say("Written."),
                say("I see.").expect_text("undid a change of yours in untitled:Untitled-1"),
            ],
        );
        let folder = [stage.folder.path()];
        let roots: &[&std::path::Path] = if roots { &folder } else { &[] };
        let editor = stage.editor_in(profile, roots, json!({ "events": true }), &[]);
        editor.ignore(QUIET);
        editor.open_with(name, "first\nnever saved 😀\n");
        assert_eq!(turn(&editor, "Louder"), "end_turn");
        assert_eq!(editor.diagnostics(name).len(), 1);
        editor.type_at(name, 0, 0, "typed ");
        editor.execute("ropewalk.accept", Value::Null).unwrap();
        editor.wait_for_text(name, "typed first\nNEVER saved 😀\n");
        assert_eq!(edits(&editor).last().unwrap().to_string().matches(name).count(), 1);
        assert_eq!(turn(&editor, "All of it"), "end_turn");
        editor.execute("ropewalk.accept", json!({ "uri": name })).unwrap();
        editor.wait_for_text(name, "all new\n");
        wait_for_reviews(&editor, 2);
        editor.execute("ropewalk.undo", Value::Null).unwrap();
        editor.wait_for_text(name, "typed first\nNEVER saved 😀\n");
        wait_for_reviews(&editor, 3);
        assert_eq!(turn(&editor, "And?"), "end_turn");
        let made: Vec<_> = std::fs::read_dir(stage.folder.path()).unwrap().collect();
        assert_eq!(made.len(), 1, "nothing is written on the disk: {made:?}");
        stage.end(editor);
    }
}

#[test]
fn cells_of_notebooks_are_read_and_edited_under_their_uris_and_a_closed_notebook_is_a_file() {
    let (name, gone) = (
        "vscode-notebook-cell:/w/a%20b.ipynb#W0sZmlsZQ%3D%3D",
        "vscode-notebook-cell:/w/a%20b.ipynb#W1sZmlsZQ%3D%3D",
    );
    let stage = Stage::new(
        "review",
        &[("a b.ipynb", "{\"cells\": []}\n"), ("a.txt", "one\n")],
        [
            read(name)
                .expect_text(format!("{name} (unsaved)"))
                .expect_text(format!("file=\"{name}\"")),
            ScriptedReply::new()
                .expect_text("price = 9")
                .call("edit_file", edit_input(name, "9", "10"))
                .call("edit_file", edit_input(gone, "9", "10"))
                .call("write_file", json!({ "path": gone, "content": "new\n" }))
                .call("delete_file", json!({ "path": name }))
                .call("edit_file", edit_input("a b.ipynb", "[]", "[1]")),
            say("Edited.")
                .expect_text("(line 1)")
                .expect_text(format!("There is no open document {gone}"))
                .expect_text("has no file of its own, so there is no file to delete")
                .expect_text("Edited a b.ipynb"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open_with(name, "price = 9\nprint(price)\n");
    let selected = json!({ "prompt": "Raise it", "textDocument": { "uri": name },
        "range": editor.range(name, (0, 0), (1, 0)) });
    editor.execute("ropewalk.prompt", selected).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(editor.diagnostics(name).len(), 1);
    editor.type_at(name, 1, 0, "# ");
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    editor.wait_for_text(name, "price = 10\n# print(price)\n");
    until("the review is over", || {
        editor.execute("ropewalk.status", Value::Null).unwrap()["hunks"] == 0
    });
    assert_eq!(stage.disk("a b.ipynb"), "{\"cells\": [1]}\n");
    assert_eq!(std::fs::read_dir(stage.folder.path()).unwrap().count(), 2);
    stage.end(editor);
}

#[test]
fn policy_decides_about_what_was_never_saved_too() {
    let name = "untitled:Untitled-1";
    let stage = Stage::new(
        "review",
        &[],
        [
            read(name),
            edit(name, "one", "ONE").expect_text("the user's rules forbid it"),
            say("No.").expect_text("plan mode"),
        ],
    );
    std::fs::write(
        stage.agent.folder("config").join("ropewalk/rules.toml"),
        "deny = [\"read_file(untitled:*)\"]\n",
    )
    .unwrap();
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open_with(name, "one\n");
    editor.execute("ropewalk.mode", json!("plan")).unwrap();
    assert_eq!(turn(&editor, "Louder"), "end_turn");
    stage.end(editor);
}

#[test]
fn a_change_of_what_was_closed_unsaved_is_set_aside_and_told() {
    let name = "untitled:Untitled-1";
    let stage = Stage::new(
        "review",
        &[],
        [
            edit(name, "one", "ONE"),
            say("Done."),
            say("Gone.").expect_text("the document was closed, and had no file"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open_with(name, "one\n");
    assert_eq!(turn(&editor, "Louder"), "end_turn");
    assert_eq!(editor.diagnostics(name).len(), 1);
    editor.close(name);
    assert_eq!(turn(&editor, "And now?"), "end_turn");
    // Another of the same name is another.
    editor.open_with(name, "one\n");
    assert_eq!(editor.execute("ropewalk.status", Value::Null).unwrap()["hunks"], 0);
    stage.end(editor);
}

#[test]
fn only_what_can_be_edited_is_named_to_the_model() {
    let old = "git:/p/a.txt?ref";
    let unnamed = [old, "output:tasks", "vscode-userdata:/settings.json"];
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            say("Two.")
                .expect_text("<open_files>\na.txt\nuntitled:Untitled-1 (unsaved)\n</open_files>"),
            say("An old version.")
                .expect_text("print(1)")
                .expect_text("<selection file=\"(no file)\""),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    editor.open_with("untitled:Untitled-1", "one\n");
    let open = |uri: &str| {
        let document = json!({ "uri": uri, "languageId": "x", "version": 1, "text": "print(1)\n" });
        editor.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    };
    unnamed.into_iter().for_each(open);
    assert_eq!(turn(&editor, "What is open?"), "end_turn");
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 8 } });
    let prompt = json!({ "prompt": "This?", "textDocument": { "uri": old }, "range": range });
    editor.execute("ropewalk.prompt", prompt).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    stage.end(editor);
}
