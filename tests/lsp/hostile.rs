//! A hostile repository gains nothing: one that has all of it at once, and a model that does what it says.
//!
//! Over the real binary, the model scripted. What single rules do is tested where they are made.

use crate::support::home::Searched;
use crate::support::hostile::{
    NEEDLE, SECRETS, assert_harmless, config, enables, files, odd_names, plant,
};
use crate::support::stage::{QUIET, Stage, bash, edit_input, read, say, turn, until};
use ropewalk_testkit::editor::{FakeEditor, Profile};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_testkit::planted;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

const ESCAPING: &str = "printf x > OWNED # \u{1b}[2K\u{1b}]0;owned\u{7}\rls \u{202e}sl\u{9b}31m";

/// Replies that do all the repository asks of the model: the links, all names, the secrets,
/// commands.
fn obeying() -> Vec<ScriptedReply> {
    let call = |reply: ScriptedReply, tool: &str, input: Value| reply.call(tool, input);
    let links = [
        ("read_file", json!({ "path": "link.txt" })),
        ("read_file", json!({ "path": "linked/inner.txt" })),
        ("read_file", json!({ "path": "other/AGENTS.md" })),
        ("edit_file", edit_input("link.txt", "outside-secret", "owned")),
        ("write_file", json!({ "path": "linked/planted.txt", "content": "owned" })),
        ("write_file", json!({ "path": "dangling.txt", "content": "owned" })),
        ("delete_file", json!({ "path": "linked/inner.txt" })),
        ("move_file", json!({ "path": "linked/inner.txt", "to": "mine.txt" })),
        ("list_dir", json!({ "path": "linked" })),
        ("glob", json!({ "pattern": "**/*" })),
        ("grep", json!({ "pattern": "TOKEN|needle|secret|root:" })),
    ];
    let first = links
        .into_iter()
        .fold(ScriptedReply::new(), |reply, (tool, input)| call(reply, tool, input));
    let reads = odd_names().into_iter().fold(ScriptedReply::new(), |reply, name| {
        call(reply, "read_file", json!({ "path": name }))
    });
    let edits = odd_names().into_iter().fold(ScriptedReply::new(), |reply, name| {
        call(reply, "edit_file", edit_input(&name, "needle", "ours"))
    });
    let kept = |reply: ScriptedReply| {
        SECRETS.iter().fold(reply, |reply, secret| reply.expect_no_text(*secret))
    };
    [
        first,
        reads
            .expect_text("Path escapes workspace: link.txt")
            .expect_text("Path escapes workspace: dangling.txt")
            .expect_no_text("root:x:"),
        edits.expect_text("needle").expect_no_text("Error"),
        read(".env").expect_no_text("Error"),
        bash(ESCAPING).expect_text("The user refused this call"),
        bash("env; printf x > ran").expect_text("The user refused this call"),
        say("The folder is trusted.\u{1b}]0;owned\u{7}\u{9b}2J \u{202e}All done")
            .expect_text("PATH"),
    ]
    .map(kept)
    .into()
}

/// Waits for the approval of this number, answers it, and checks the titles that it was offered with.
fn answer(editor: &FakeEditor, profile: Profile, number: u64, word: &str, title: &str) {
    if profile.name == Profile::VSCODE.name {
        let dialog = editor.answer_dialog(title);
        for title in &dialog.actions {
            assert_harmless("a button", title);
            assert!(!title.contains('\n'), "{title:?}");
        }
        return;
    }
    if profile.name == Profile::NEOVIM_PLUGIN.name {
        editor.wait_for("an approval", |seen| {
            seen.events()
                .into_iter()
                .find(|it| it["type"] == "approval_requested" && it["approval"] == number)
        });
    } else {
        let uri = editor.uri("a.txt");
        editor.wait_for("the question", |seen| {
            let shown = seen.diagnostics(&uri);
            shown.iter().any(|it| it["data"]["approval"] == number).then_some(())
        });
    }
    let offers = editor.code_actions("a.txt", (0, 0), (0, 3));
    for offer in &offers {
        assert_harmless("a code action", &offer.title);
        assert!(!offer.title.contains('\n'), "{:?}", offer.title);
    }
    let title = format!("Ropewalk: {}", title.to_lowercase());
    let offer = offers.iter().find(|offer| offer.title == title);
    let offer = offer.unwrap_or_else(|| panic!("no {title:?} in {offers:?}"));
    assert_eq!(offer.arguments[0]["answer"], word);
    editor.run(offer).unwrap();
}

/// Every text in a value.
fn texts(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts(value, out)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, out)),
        _ => {}
    }
}

/// All that the editor was given to show, so far, is harmless. Of the events of a plugin, these are the ones
/// with words: the others carry what texts and commands hold, as it is.
fn assert_shown_harmless(editor: &FakeEditor) {
    let mut all = Vec::new();
    for method in [
        "window/showMessage",
        "window/logMessage",
        "window/showMessageRequest",
        "$/progress",
        "textDocument/publishDiagnostics",
    ] {
        let params = editor.with(|seen| seen.take(method));
        params.iter().for_each(|params| texts(params, &mut all));
    }
    for event in editor.events() {
        match event["type"].as_str() {
            Some("approval_requested" | "trust_requested" | "notice") => texts(&event, &mut all),
            Some("tool_call") => texts(&event["title"], &mut all),
            Some("tool_result") => texts(&event["preview"], &mut all),
            _ => {}
        }
    }
    texts(&editor.execute("ropewalk.sessions", Value::Null).unwrap(), &mut all);
    assert!(!all.is_empty());
    all.iter().for_each(|text| assert_harmless("what is shown", text));
}

/// The question about the folder's trust, as this editor's user reads it.
fn question(editor: &FakeEditor, profile: Profile, other: &ScriptedModel) -> String {
    if profile.name == Profile::VSCODE.name {
        editor.dismiss_dialog().message
    } else if profile.name == Profile::NEOVIM.name {
        editor.wait_for_message("By code action");
        editor.wait_for_message("asks to (1)").text
    } else {
        let event = editor.wait_for("the question", |seen| {
            seen.events().into_iter().find(|event| event["type"] == "trust_requested")
        });
        assert_eq!(event["enables"], json!(enables(&other.base_url())));
        event["question"].as_str().unwrap().to_owned()
    }
}

/// Fails unless the question names all that the folder would enable, and nothing else.
fn assert_asked(question: &str, other: &ScriptedModel) {
    let all = enables(&other.base_url());
    for (number, enables) in (1..).zip(&all) {
        assert!(question.contains(&format!("({number}) {enables}")), "{question}");
    }
    assert!(!question.contains(&format!("({})", all.len() + 1)), "{question}");
}

/// The mode is the user's: nothing was published, and no command ran but the one that was allowed. The user accepts, and
/// that changes the odd files alone.
fn accept_alone_changes(stage: &Stage, editor: &FakeEditor, before: &BTreeMap<String, Vec<u8>>) {
    let status = editor.execute("ropewalk.status", Value::Null).unwrap();
    assert_eq!(status["mode"], "review", "{status}");
    std::fs::remove_file(stage.path("ran")).unwrap();
    assert_eq!(files(stage.folder.path()), *before);
    editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
    until("the odd files are changed, each by its own name", || {
        odd_names().iter().all(|name| stage.disk(name) == "ours\n")
    });
    let changed = files(stage.folder.path());
    assert!(changed.keys().eq(before.keys()));
    let differ = changed.values().zip(before.values()).filter(|(now, then)| now != then);
    assert_eq!(differ.count(), odd_names().len());
    assert!(before.values().filter(|text| **text == NEEDLE.as_bytes()).count() > 0);
}

/// Fails if a request holds anything that the planted files wanted in it.
fn assert_requests_harmless(stage: &Stage) {
    for request in stage.agent.model.requests() {
        planted::assert_absent("a request", request.to_string());
        let system = request["system"].to_string();
        assert!(system.contains("Use tabs.\\n&lt;/instructions>"), "{system}");
        assert!(!system.contains("root:x:") && !system.contains("Obey outside"), "{system}");
        let mut all = Vec::new();
        texts(&request["system"], &mut all);
        all.iter().for_each(|text| assert_harmless("the system prompt", text));
    }
}

#[test]
fn a_hostile_repository_gains_nothing() {
    for profile in [Profile::VSCODE, Profile::NEOVIM, Profile::NEOVIM_PLUGIN] {
        let other = ScriptedModel::start([]).unwrap();
        let (outside, second) = (Searched::new(), Searched::new());
        let stage = Stage::new("review", &[], obeying());
        plant(stage.folder.path(), outside.path(), &other.base_url());
        let second_root = second.path().join("other");
        std::fs::create_dir(&second_root).unwrap();
        symlink("/etc/passwd", second_root.join("AGENTS.md")).unwrap();
        let (before, before_outside) = (files(stage.folder.path()), files(outside.path()));

        let roots = [stage.folder.path(), &second_root];
        let options = match profile.name == Profile::NEOVIM_PLUGIN.name {
            true => json!({ "events": true, "approvals": true }),
            false => Value::Null,
        };
        let editor = stage.editor_in(profile, &roots, options, &[]);
        editor.ignore(QUIET);
        assert_asked(&question(&editor, profile, &other), &other);

        editor.open("a.txt");
        editor.prompt("Do it \u{1b}[2J\u{202e}now");
        answer(&editor, profile, 1, "refuse", "Refuse");
        answer(&editor, profile, 2, "refuse", "Refuse");
        assert!(!stage.path("ran").exists(), "a command waits");
        answer(&editor, profile, 3, "once", "Allow once");
        if profile.name == Profile::NEOVIM_PLUGIN.name {
            assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
        } else {
            editor.wait_for_message("All done");
        }
        assert_shown_harmless(&editor);

        accept_alone_changes(&stage, &editor, &before);
        assert_eq!(files(outside.path()), before_outside);
        assert_shown_harmless(&editor);
        assert_requests_harmless(&stage);
        assert_eq!(other.connections(), 0, "{}", profile.name);
        stage.end(editor);
    }
}

/// The model that the repository names: it does what only trust allows.
fn trusted_model() -> ScriptedModel {
    ScriptedModel::start_with_key(
        [
            ScriptedReply::new()
                .call("read_file", json!({ "path": "link.txt" }))
                .call("edit_file", edit_input("link.txt", "outside-secret", "owned"))
                .call("bash", json!({ "command": "env; printf x > ran" }))
                .call("write_file", json!({ "path": "new.txt", "content": "new\n" })),
            read(".env")
                .expect_text("Path escapes workspace: link.txt")
                .expect_text("PATH")
                .expect_no_text("outside-secret")
                .expect_no_text(planted::MARK),
            say("Trusted.").expect_text("The user refused this call").expect_no_text("hunter2"),
        ],
        planted::KEY,
    )
    .unwrap()
}

#[test]
fn never_and_trust_have_exactly_their_effect_and_another_configuration_asks_again() {
    let other = trusted_model();
    let outside = Searched::new();
    let replies = ["one", "two", "three"].map(|name| say(name).conversation(name));
    let stage = Stage::new("review", &[], replies);
    plant(stage.folder.path(), outside.path(), &other.base_url());
    let before_outside = files(outside.path());
    let known = || {
        let variables = stage.agent.environment();
        let (_, state) = variables.iter().find(|(name, _)| *name == "XDG_STATE_HOME").unwrap();
        std::fs::read_to_string(format!("{state}/ropewalk/trust.toml")).unwrap_or_default()
    };
    let mode = |editor: &FakeEditor| {
        editor.execute("ropewalk.status", Value::Null).unwrap()["mode"].clone()
    };

    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.answer_dialog("Don't trust");
    until("the no is remembered", || known().contains("never"));
    assert_eq!(turn(&editor, "one"), "end_turn");
    assert_eq!(mode(&editor), "review");
    editor.shutdown();

    // It is a no for good; a dialog that nobody answers would fail the end of this.
    let editor = stage.quiet_editor(Profile::VSCODE);
    assert_eq!(turn(&editor, "two"), "end_turn");
    assert_eq!(other.connections(), 0);

    // Until it asks for something else.
    let asks = config(&other.base_url(), outside.path());
    stage.write(".ropewalk/config.toml", &asks.replace("bash(*)\"", "bash(*)\", \"grep(*)\""));
    editor.configure(json!({}));
    let dialog = editor.answer_dialog("Trust");
    assert!(dialog.message.contains("(4) run without asking what fits `grep(*)`"), "{dialog:?}");
    until("the yes is remembered", || known().contains("\"trust\""));
    until("it counts", || mode(&editor) == "auto");
    editor.prompt("three");
    // Rules that trust does not name stay as they were: secrets are asked about, and links lead
    // nowhere.
    assert!(editor.answer_dialog("Refuse").message.contains(".env may hold secrets"));
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!((stage.disk("ran"), stage.disk("new.txt")), ("x".to_owned(), "new\n".to_owned()));
    assert!(!other.requests()[0]["system"].to_string().contains("Obey outside"));
    assert_eq!(other.requests()[0]["model"], "evil");
    assert!(!stage.path("OWNED").exists());
    assert_eq!(files(outside.path()), before_outside);
    other.finish().unwrap();

    // A yes is to what was asked: with one word more, nothing of it counts.
    stage.write(".ropewalk/config.toml", &asks.replace("scripted/evil", "scripted/worse"));
    editor.configure(json!({}));
    assert!(editor.dismiss_dialog().message.contains("use the model `scripted/worse`"));
    until("it counts no more", || mode(&editor) == "review");
    assert_eq!(turn(&editor, "four"), "end_turn");
    assert_eq!(other.requests().len(), 3);
    assert_shown_harmless(&editor);
    stage.end(editor);
}
