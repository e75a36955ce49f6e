//! Sessions over the real binary: they survive its death, are listed, resumed, left, taken back, named, deleted
//! and exported; and a second window has its own.

use crate::support::stage::{QUIET, Stage, bash, edit, edit_input, say, turn, until};
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};
use std::path::PathBuf;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// Both ends of the text are to be changed.
fn both_ends() -> ScriptedReply {
    ScriptedReply::new()
        .call("edit_file", edit_input("a.txt", "one", "ONE"))
        .call("edit_file", edit_input("a.txt", "nine", "NINE"))
}

fn state(stage: &Stage) -> PathBuf {
    let variables = stage.agent.environment();
    let (_, state) = variables.iter().find(|(name, _)| *name == "XDG_STATE_HOME").unwrap();
    PathBuf::from(state).join("ropewalk")
}

/// The lines at which hunks are shown, once there are so many.
fn hunks(editor: &FakeEditor, count: usize) -> Vec<u64> {
    let uri = editor.uri("a.txt");
    editor.wait_for(&format!("{count} hunks"), |seen| {
        let shown = seen.diagnostics(&uri);
        let lines = shown.iter().map(|it| it["range"]["start"]["line"].as_u64().unwrap());
        Some(lines.collect::<Vec<_>>()).filter(|lines| lines.len() == count)
    })
}

fn list(editor: &FakeEditor, argument: Value) -> Vec<Value> {
    let list = editor.execute("ropewalk.sessions", argument).unwrap();
    list.as_array().unwrap().clone()
}

fn status(editor: &FakeEditor) -> Value {
    editor.execute("ropewalk.status", Value::Null).unwrap()
}

#[test]
fn a_killed_server_comes_back_with_the_review_and_the_conversation() {
    for profile in Profile::ALL {
        let stage = Stage::new(
            "review",
            &[("a.txt", TEXT)],
            [both_ends(), say("Both ends."), say("As you see.").expect_text("Go on")],
        );
        let editor = stage.quiet_editor(profile);
        editor.open("a.txt");
        editor.prompt("Capitals\u{1F980}\nat both ends");
        hunks(&editor, 2);
        editor.wait_for_message("Both ends.");
        editor.execute("ropewalk.accept", json!({ "hunk": first_hunk(&editor) })).unwrap();
        let half = TEXT.replace("one", "ONE");
        editor.wait_for_text("a.txt", &half);
        hunks(&editor, 1);
        let id = status(&editor)["session"].clone();
        let open = editor.kill_server();

        // The editor lives on, with its unsaved text.
        let editor = stage.editor_again(profile, &open);
        editor.ignore(QUIET);
        // Where messages take keys the whole is in the log, which comes first.
        let greeting = editor.wait_for_message("1 unreviewed change from “Capitals🦀” (").text;
        let end = ") is shown again.\nYour next request continues that conversation; /new begins another.";
        assert!(greeting.ends_with(end), "{greeting}");
        assert_eq!(hunks(&editor, 1), [8], "{}", profile.name);
        let now = status(&editor);
        assert_eq!((&now["session"], &now["turns"]), (&id, &json!(1)), "{}", profile.name);
        editor.execute("ropewalk.accept", Value::Null).unwrap();
        editor.wait_for_text("a.txt", &half.replace("nine", "NINE"));
        editor.prompt("Go on");
        editor.wait_for_message("As you see.");
        stage.end(editor);
    }
}

fn first_hunk(editor: &FakeEditor) -> u64 {
    let uri = editor.uri("a.txt");
    let shown = editor.with(|seen| seen.diagnostics(&uri));
    shown[0]["data"]["hunk"].as_u64().unwrap()
}

#[test]
fn what_died_unsaved_with_the_editor_waits_again_and_what_was_saved_does_not() {
    let stage = Stage::new(
        "auto",
        &[("a.txt", TEXT)],
        [edit("a.txt", "one", "ONE"), say("1"), edit("a.txt", "nine", "NINE"), say("2")],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "first"), "end_turn");
    editor.wait_for_text("a.txt", &TEXT.replace("one", "ONE"));
    editor.save("a.txt");
    assert_eq!(turn(&editor, "second"), "end_turn");
    editor.wait_for_text("a.txt", &TEXT.replace("one", "ONE").replace("nine", "NINE"));
    // The unsaved text goes with both.
    editor.kill_server();
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.wait_for_message("1 unreviewed change from “first” (");
    editor.open("a.txt");
    assert_eq!(hunks(&editor, 1), [8]);
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    editor.wait_for_text("a.txt", &TEXT.replace("one", "ONE").replace("nine", "NINE"));
    editor.save("a.txt");
    let id = status(&editor)["session"].clone();
    until("the save is in the journal", || {
        let summary = &last_line(&stage, &id)["summary"];
        summary["pending"] == 0 && summary["unsaved"] == 0
    });
    editor.kill_server();
    // Nothing waits: it is offered, and nothing is shown.
    let editor = stage.editor(Profile::VSCODE);
    let message = editor.wait_for_message("can be resumed");
    assert!(message.logged, "{message:?}");
    stage.end(editor);
}

#[test]
fn a_session_in_which_nothing_waits_is_offered_until_something_is_asked() {
    let stage = Stage::new(
        "review",
        &[("a.txt", TEXT)],
        [
            say("Ahoy."),
            say("As I said.").expect_text("Again"),
            say("New here.").expect_no_text("Hello").conversation("new"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    assert_eq!(turn(&editor, "Hello"), "end_turn");
    editor.shutdown();

    let offers = |editor: &FakeEditor, to: (u32, u32)| {
        let all = editor.code_actions("a.txt", (0, 0), to);
        all.into_iter().filter(|it| it.command == "ropewalk.resume").collect::<Vec<_>>()
    };
    let editor = stage.editor(Profile::VSCODE);
    editor.wait_for_message("“Hello” (1 turn, ");
    editor.ignore(QUIET);
    editor.open("a.txt");
    assert_eq!(offers(&editor, (0, 0)), []);
    let offered = offers(&editor, (0, 2));
    assert!(offered[0].title.starts_with("Ropewalk: resume “Hello” (1 turn, "), "{offered:?}");
    let resumed = editor.run(&offered[0]).unwrap();
    assert_eq!(resumed["turns"], 1);
    assert_eq!(offers(&editor, (0, 2)), []);
    assert_eq!(turn(&editor, "Again"), "end_turn");
    editor.shutdown();

    let editor = stage.editor(Profile::VSCODE);
    editor.wait_for_message("“Hello” (2 turns, ");
    editor.ignore(QUIET);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "What is new?"), "end_turn");
    assert_eq!(offers(&editor, (0, 2)), [], "a prompt begins another");
    let all = list(&editor, Value::Null);
    let titles: Vec<&Value> = all.iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["What is new?", "Hello"]);
    assert_eq!((&all[0]["current"], &all[1]["current"]), (&json!(true), &json!(false)));
    stage.end(editor);
}

/// Lines that name sessions, without their ids, and without how long ago each was, which depends on the machine.
fn told(words: &str) -> Vec<String> {
    let lines = words.lines().map(|line| line.split(" (").next().unwrap());
    let named = lines.map(|line| match line.strip_prefix("/resume ") {
        Some(rest) => format!("/resume ID:{}", rest.split_once(':').unwrap().1),
        None => line.to_owned(),
    });
    named.collect()
}

#[test]
fn older_sessions_in_which_something_waits_are_offered_by_their_ids() {
    let stage = Stage::new(
        "review",
        &[("a.txt", TEXT)],
        [
            both_ends(),
            say("Both."),
            edit("a.txt", "five", "FIVE").conversation("second"),
            say("The middle.").conversation("second"),
            say("Hello.").conversation("third"),
            say("On we go.").expect_text("Go on"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    for words in ["Both ends", "The middle", "Hello"] {
        assert_eq!(turn(&editor, words), "end_turn");
        editor.execute("ropewalk.new", Value::Null).unwrap();
    }
    editor.shutdown();

    // Nothing waits in the last one.
    let editor = stage.editor(Profile::NEOVIM);
    let older = [
        "Older sessions have unreviewed changes:",
        "/resume ID: 1 change from “The middle”",
        "/resume ID: 2 changes from “Both ends”",
    ];
    let message = editor.wait_for_message("Older").text;
    assert_eq!(told(&message), older);
    editor.ignore(QUIET);
    editor.open("a.txt");
    let offers = |editor: &FakeEditor| {
        let all = editor.code_actions("a.txt", (0, 0), (0, 2)).into_iter();
        let all = all.filter(|it| it.command == "ropewalk.resume");
        all.map(|it| it.title.split(" (").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let offer = |title: &str| format!("Ropewalk: resume “{title}”");
    assert_eq!(offers(&editor), ["Hello", "The middle", "Both ends"].map(offer));
    let wrong = editor.execute("ropewalk.resume", json!("4")).unwrap_err();
    assert!(wrong.message.contains("There is no session 4"), "{wrong}");
    // As a user types it who can do nothing else.
    let resume = message.lines().last().unwrap().split(':').next().unwrap();
    let said = editor.execute("ropewalk.prompt", json!(resume)).unwrap();
    assert_eq!((&said["said"], &said["turn"]), (&Value::Null, &Value::Null));
    assert_eq!(hunks(&editor, 2), [0, 8]);
    assert_eq!(offers(&editor), ["Hello", "The middle"].map(offer));
    assert_eq!(turn(&editor, "Go on"), "end_turn");
    editor.shutdown();

    // Something waits in the last one: it goes on, and the other is offered in the same words.
    let editor = stage.editor(Profile::NEOVIM);
    let message = editor.wait_for_message("2 unreviewed changes from “Both ends”").text;
    assert_eq!(told(&message).last().unwrap(), "/resume ID: 1 change from “The middle”");
    editor.ignore(QUIET);
    let listed = list(&editor, Value::Null);
    let words = editor.wait_for_message("3 sessions of these folders:").text;
    for (number, title) in [(1, "Both ends"), (2, "Hello"), (3, "The middle")] {
        assert!(words.contains(&format!("\n{number}: “{title}” (")), "{words}");
        assert_eq!(listed[number - 1]["title"], title);
        assert!(!words.contains(listed[number - 1]["session"].as_str().unwrap()), "{words}");
    }
    stage.end(editor);
}

#[test]
fn looking_leaves_nothing_behind() {
    let stage = Stage::new("review", &[("a.txt", TEXT)], []);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "x");
    editor.save("a.txt");
    assert_eq!(status(&editor)["turns"], 0);
    editor.execute("ropewalk.mode", json!("plan")).unwrap();
    editor.execute("ropewalk.new", Value::Null).unwrap();
    assert_eq!(list(&editor, json!({ "all": true })), Vec::<Value>::new());
    editor.shutdown();
    let left = std::fs::read_dir(state(&stage)).map(|it| it.flatten().collect::<Vec<_>>());
    assert!(left.as_ref().map_or(true, Vec::is_empty), "{left:?}");
}

#[test]
fn a_second_window_has_a_session_of_its_own() {
    let stage = Stage::new(
        "review",
        &[("a.txt", TEXT)],
        [both_ends(), say("Both ends."), say("Mine.").conversation("second")],
    );
    let first = stage.quiet_editor(Profile::VSCODE);
    first.open("a.txt");
    assert_eq!(turn(&first, "Capitals"), "end_turn");
    hunks(&first, 2);
    let id = status(&first)["session"].clone();

    let second = stage.editor(Profile::NEOVIM);
    second.open("a.txt");
    let refused = second.execute("ropewalk.resume", json!({ "session": id })).unwrap_err();
    assert!(refused.message.contains("open in another Ropewalk"), "{refused}");
    let refused = second.execute("ropewalk.resume", Value::Null).unwrap_err();
    assert!(refused.message.contains("no other session of"), "{refused}");
    let refused = second.execute("ropewalk.delete", json!({ "session": id })).unwrap_err();
    assert!(refused.message.contains("open in another Ropewalk"), "{refused}");
    second.ignore(QUIET);
    let all = list(&second, Value::Null);
    assert_eq!((&all[0]["inUse"], &all[0]["pending"]), (&json!(true), &json!(2)));
    assert_eq!(turn(&second, "Hello"), "end_turn");
    assert_ne!(status(&second)["session"], id);
    assert_eq!(hunks(&second, 0), Vec::<u64>::new());
    second.shutdown();
    assert_eq!(hunks(&first, 2), [0, 8]);
    stage.end(first);
}

#[test]
fn another_session_takes_the_place_in_the_midst_of_a_turn_and_the_first_comes_back() {
    let stage = Stage::new(
        "review",
        &[("a.txt", TEXT)],
        [
            both_ends(),
            say("never said").gate(ReplyPlace::Answer, "long"),
            say("New here.").conversation("new"),
            say("Back.").expect_text("And now?"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    editor.prompt("Capitals");
    hunks(&editor, 2);
    stage.agent.model.wait_until_reached_blocking("long");
    let stale = editor.code_lenses("a.txt");
    let first = status(&editor)["session"].clone();
    let second = editor.execute("ropewalk.new", Value::Null).unwrap()["session"].clone();
    assert_ne!(first, second);
    editor.wait_for_message("2 unreviewed changes stay in “Capitals”; /resume");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "interrupted");
    hunks(&editor, 0);
    assert_eq!(editor.code_lenses("a.txt"), []);
    // A click on what was drawn before means nothing in another session.
    let refused = editor.run(&stale[0]).unwrap_err();
    assert!(refused.message.contains("another session"), "{refused}");
    assert_eq!(turn(&editor, "Hello"), "end_turn");
    assert_eq!(editor.text("a.txt"), TEXT);

    let resumed = editor.execute("ropewalk.resume", Value::Null).unwrap();
    assert_eq!((&resumed["session"], &resumed["pending"]), (&first, &json!(2)));
    assert_eq!(hunks(&editor, 2), [0, 8]);
    stage.agent.model.open_gate("long");
    assert_eq!(turn(&editor, "And now?"), "end_turn");
    // And the other one again, by the id.
    let resumed = editor.execute("ropewalk.resume", json!({ "session": second })).unwrap();
    assert_eq!((&resumed["turns"], &resumed["pending"]), (&json!(1), &json!(0)));
    hunks(&editor, 0);
    let again = editor.execute("ropewalk.resume", json!({ "session": second })).unwrap_err();
    assert!(again.message.contains("current one already"), "{again}");
    stage.end(editor);
}

#[test]
fn a_turn_is_taken_back_with_its_words_and_its_changes() {
    let stage = Stage::new(
        "auto",
        &[("a.txt", TEXT)],
        [
            say("Ready."),
            edit("a.txt", "one", "ONE"),
            say("Done."),
            say("Otherwise.").expect_no_text("Capitals").conversation("otherwise"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    let none = editor.execute("ropewalk.rewind", Value::Null).unwrap_err();
    assert!(none.message.contains("Nothing was asked yet"), "{none}");
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Get ready"), "end_turn");
    assert_eq!(turn(&editor, "Capitals"), "end_turn");
    editor.wait_for_text("a.txt", &TEXT.replace("one", "ONE"));
    let wrong = editor.execute("ropewalk.rewind", json!({ "turn": 7 })).unwrap_err();
    assert!(wrong.message.contains("there are 1 to 2"), "{wrong}");
    let taken = editor.execute("ropewalk.rewind", Value::Null).unwrap();
    assert_eq!(taken, json!({ "turn": 2, "prompt": "Capitals" }));
    editor.wait_for_text("a.txt", TEXT);
    let message = editor.wait_for_message("Turn 2 is taken back");
    assert!(message.text.contains("Capitals"), "{}", message.text);
    assert_eq!(turn(&editor, "Say it otherwise"), "end_turn");
    stage.end(editor);
}

#[test]
fn sessions_are_named_exported_and_deleted() {
    let stage = Stage::new(
        "review",
        &[("a.txt", TEXT)],
        [both_ends(), say("Both *ends*."), say("New.").conversation("new")],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Capitals"), "end_turn");
    let first = status(&editor)["session"].clone();
    let named = editor.execute("ropewalk.rename", json!("  Big\nletters ")).unwrap();
    assert_eq!(named, json!({ "session": first, "title": "Big letters" }));
    until("the name is in the journal", || {
        last_line(&stage, &first)["summary"]["title"] == "Big letters"
    });
    assert_eq!(status(&editor)["title"], "Big letters");

    let file = editor.execute("ropewalk.export", Value::Null).unwrap()["path"].clone();
    let file = PathBuf::from(file.as_str().unwrap());
    assert!(file.starts_with(state(&stage).join("exports")), "{}", file.display());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# Big letters\n") && text.contains("Both *ends*."), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let shown = |times: usize| {
        editor.wait_for("the document", |seen| {
            seen.take("window/showDocument").into_iter().nth(times - 1)
        })
    };
    shown(1);
    // Ours may be written again; the user's own may not.
    editor.execute("ropewalk.export", Value::Null).unwrap();
    shown(2);
    let refused = editor.execute("ropewalk.export", json!({ "path": "a.txt" })).unwrap_err();
    assert!(refused.message.contains("can't be written"), "{refused}");
    assert_eq!(stage.disk("a.txt"), TEXT);
    editor.execute("ropewalk.export", json!({ "path": "talk.md" })).unwrap();
    assert!(stage.disk("talk.md").contains("Capitals"));
    assert!(shown(3)["uri"].as_str().unwrap().ends_with("talk.md"));

    let current = editor.execute("ropewalk.delete", json!({ "session": first })).unwrap_err();
    assert!(current.message.contains("/new first"), "{current}");
    editor.execute("ropewalk.new", Value::Null).unwrap();
    assert_eq!(turn(&editor, "Another"), "end_turn");
    editor.execute("ropewalk.rename", json!({ "title": "Old", "session": first })).unwrap();
    assert_eq!(last_line(&stage, &first)["summary"]["title"], "Old");
    let refused = editor.execute("ropewalk.delete", json!({ "session": first })).unwrap_err();
    assert!(refused.message.contains("2 changes wait to be accepted or saved"), "{refused}");
    let refused = editor.execute("ropewalk.delete", first.clone()).unwrap_err();
    assert!(refused.message.contains("force: true"), "{refused}");
    assert_eq!(list(&editor, Value::Null).len(), 2);
    let forced = json!({ "session": first, "force": true });
    let deleted = editor.execute("ropewalk.delete", forced).unwrap();
    assert_eq!((&deleted["title"], &deleted["pending"]), (&json!("Old"), &json!(2)));
    assert_eq!(list(&editor, Value::Null).len(), 1);
    stage.end(editor);
}

/// The last line of a session's journal.
fn last_line(stage: &Stage, id: &Value) -> Value {
    let file = state(stage).join(format!("sessions/{}.jsonl", id.as_str().unwrap()));
    let text = std::fs::read_to_string(file).unwrap();
    let last = text.lines().rfind(|line| !line.starts_with("{\"event\":"));
    serde_json::from_str(last.unwrap()).unwrap_or_default()
}

/// Commands with arguments that are refused, and a part of why. `other`: a session of another folder.
fn bad_arguments(other: &Value) -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("resume", json!({ "session": other }), "is of "),
        ("resume", json!({ "session": "nonsense" }), "There is no session nonsense"),
        ("resume", json!({ "session": "../../a" }), "There is no session"),
        ("resume", json!(""), "There is no session"),
        ("resume", json!("broken"), "it is not a session of Ropewalk"),
        ("resume", json!("later"), "later version"),
        ("resume", json!({ "session": 5 }), "wanted is"),
        ("resume", Value::Null, "There is no other session of"),
        ("sessions", json!("all"), "wanted is"),
        ("sessions", json!({ "all": "yes" }), "wanted is"),
        ("new", json!({ "title": "x" }), "takes no argument"),
        ("rewind", json!({ "turn": -1 }), "wanted is"),
        ("rename", json!(" \n"), "needs a title"),
        ("rename", json!({ "title": "x", "session": "nonsense" }), "no session nonsense"),
        ("delete", Value::Null, "needs a session"),
        ("delete", json!("nonsense"), "no session nonsense"),
        ("delete", json!("broken"), "can't be read"),
        ("delete", json!({ "session": other, "force": "yes" }), "wanted is"),
        ("export", json!("broken"), "it is not a session of Ropewalk"),
        ("export", json!({ "session": other, "path": "" }), "names a file"),
        ("export", json!({ "session": other, "path": "no/such/folder/x.md" }), "can't be written"),
        ("export", json!({ "session": other, "path": "a\u{0}b" }), "names a file"),
        ("trust", Value::Null, "wanted is { answer"),
        ("trust", json!("yes"), "expected one of `trust`"),
        ("trust", json!("trust"), "No question waits"),
        ("trust", json!({ "answer": "trust", "root": "relative" }), "whole path"),
    ]
}

#[test]
fn sessions_of_other_folders_broken_ones_and_bad_arguments_are_refused_in_words() {
    let stage = Stage::new(
        "review",
        &[("one/a.txt", TEXT), ("two/b.txt", TEXT)],
        [say("One."), bash("true").conversation("two"), say("Two.").conversation("two")],
    );
    let (one, two) = (stage.path("one"), stage.path("two"));
    let editor = stage.editor_in(Profile::VSCODE, &[&one], Value::Null, &[]);
    editor.ignore(QUIET);
    assert_eq!(turn(&editor, "in one"), "end_turn");
    let other = status(&editor)["session"].clone();
    editor.shutdown();

    let sessions = state(&stage).join("sessions");
    std::fs::write(sessions.join("broken.jsonl"), "no journal\n").unwrap();
    std::fs::write(
        sessions.join("later.jsonl"),
        r#"{"journal":{"version":99,"session":"later","at":0,"roots":[]}}"#.to_owned() + "\n",
    )
    .unwrap();
    let editor = stage.editor_in(Profile::VSCODE, &[&two], Value::Null, &[]);
    editor.ignore(QUIET);
    for (command, argument, words) in bad_arguments(&other) {
        let error =
            editor.execute(&format!("ropewalk.{command}"), argument.clone()).expect_err(command);
        assert_eq!(error.code, -32602, "{command} {argument}: {error}");
        assert!(error.message.contains(words), "{command} {argument}: {error}");
    }
    assert_eq!(list(&editor, Value::Null), Vec::<Value>::new());
    let all = list(&editor, json!({ "all": true }));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["roots"], json!([one.canonicalize().unwrap()]));
    std::fs::remove_file(sessions.join("broken.jsonl")).unwrap();
    // The list has what is broken no more than what is not there, and what works goes on working.
    editor.prompt("in two");
    editor.wait_for("the approval", |seen| (!seen.dialogs().is_empty()).then_some(()));
    editor.answer_dialog("Allow once");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    stage.end(editor);
}

#[test]
fn a_client_without_windows_gets_along() {
    let stage = Stage::new("review", &[("a.txt", TEXT)], [both_ends(), say("Both ends.")]);
    let editor = stage.editor(Profile::EMACS);
    editor.ignore(&[Kind::Diagnostics]);
    editor.open("a.txt");
    editor.prompt("Capitals");
    editor.wait_for_message("Both ends.");
    let path = editor.execute("ropewalk.export", Value::Null).unwrap()["path"].clone();
    let message = editor.wait_for_message("The session is in ");
    assert!(message.text.ends_with(path.as_str().unwrap()), "{}", message.text);
    editor.execute("ropewalk.new", Value::Null).unwrap();
    editor.wait_for_message("2 unreviewed changes stay in");
    hunks(&editor, 0);
    editor.execute("ropewalk.resume", Value::Null).unwrap();
    editor.wait_for_message("2 unreviewed changes from “Capitals” (");
    assert_eq!(hunks(&editor, 2), [0, 8]);
    stage.end(editor);
}

#[test]
fn a_plugin_hears_which_session_is_current() {
    let stage = Stage::new("review", &[("a.txt", TEXT)], [both_ends(), say("Both ends.")]);
    let options = json!({ "events": true, "drawsHunks": true, "approvals": true });
    let editor = stage.editor_with(Profile::NEOVIM_PLUGIN, options);
    editor.ignore(QUIET);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Capitals"), "end_turn");
    let first = editor.execute("ropewalk.status", Value::Null).unwrap()["session"].clone();
    let started = |count: usize| {
        editor.wait_for(&format!("{count} sessions"), |seen| {
            let events = seen.events().into_iter();
            let started: Vec<Value> = events.filter(|it| it["type"] == "session_started").collect();
            Some(started).filter(|started| started.len() == count)
        })
    };
    let second = editor.execute("ropewalk.new", Value::Null).unwrap()["session"].clone();
    // It would not be told of one that is no longer current.
    started(2);
    editor.execute("ropewalk.resume", Value::Null).unwrap();
    let started = started(3);
    let ids: Vec<&Value> = started.iter().map(|it| &it["session"]).collect();
    assert_eq!(ids, [&first, &second, &first]);
    assert_eq!((&started[2]["title"], &started[2]["turns"]), (&json!("Capitals"), &json!(1)));
    editor.wait_for("the hunks", |seen| {
        let events = seen.events();
        let last = events.iter().rposition(|it| it["type"] == "session_started")?;
        let hunks = events[last..].iter().find(|it| it["type"] == "hunks")?;
        (hunks["hunks"].as_array()?.len() == 2 && hunks["session"] == first).then_some(())
    });
    stage.end(editor);
}

#[test]
fn a_prompt_that_was_never_taken_up_is_told_of_once() {
    let stage = Stage::new(
        "review",
        &[("a.txt", TEXT)],
        [say("never said").gate(ReplyPlace::Answer, "stuck"), say("Here."), say("Still here.")],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.prompt("first");
    stage.agent.model.wait_until_reached_blocking("stuck");
    editor.prompt("second\nof two lines");
    editor.wait_for("the queue", |seen| (!seen.progress().is_empty()).then_some(()));
    let id = status(&editor)["session"].clone();
    until("the words wait in the journal", || last_line(&stage, &id)["waiting"].is_string());
    editor.kill_server();
    stage.agent.model.open_gate("stuck");
    for (words, told) in [("third", true), ("fourth", false)] {
        let editor = stage.editor(Profile::VSCODE);
        editor.wait_for_message("can be resumed");
        editor.ignore(QUIET);
        editor.execute("ropewalk.resume", Value::Null).unwrap();
        let message = editor.wait_for_message("goes on with “first”");
        let lost = "before it had read this, so ask again: “second of two lines”";
        assert_eq!(message.text.contains(lost), told, "{}", message.text);
        assert_eq!(turn(&editor, words), "end_turn");
        editor.kill_server();
    }
    stage.agent.model.finish().unwrap();
}

#[test]
fn without_a_folder_a_session_goes_on_once_its_files_are_open() {
    let stage = Stage::new("review", &[("a.txt", TEXT)], [both_ends(), say("Both ends.")]);
    let file = stage.path("a.txt");
    let start = || {
        let editor = stage.editor_in(Profile::VSCODE, &[], Value::Null, &[]);
        editor.ignore(QUIET);
        editor
    };
    let editor = start();
    editor.open(&file);
    assert_eq!(turn(&editor, "Capitals"), "end_turn");
    editor.wait_for("the hunks", |seen| {
        (seen.diagnostics(&editor.uri(&file)).len() == 2).then_some(())
    });
    editor.kill_server();
    // Another window may have other files open, so nothing goes on unasked, and nothing is lost.
    let editor = start();
    let refused = editor.execute("ropewalk.resume", Value::Null).unwrap_err();
    assert!(refused.message.contains("a.txt first, where changes wait"), "{refused}");
    editor.open(&file);
    let resumed = editor.execute("ropewalk.resume", Value::Null).unwrap();
    assert_eq!(resumed["pending"], 2);
    stage.end(editor);
}
