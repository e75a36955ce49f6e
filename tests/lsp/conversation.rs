//! The conversation document: opened, asked in, appended to beside typing, reviewed from. Over the real binary.

use crate::support::stage::{QUIET, Stage, edit, say, until};
use proptest::prelude::*;
use ropewalk_testkit::editor::{FakeEditor, Profile};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

/// The name of the page.
pub(crate) const CHAT: &str = "chat.ropewalk.md";

/// An editor in which the conversation was asked for and opened.
pub(crate) fn opened(stage: &Stage, profile: Profile) -> FakeEditor {
    let has_windows = profile.window;
    // Only events tell the end of a turn to a client without windows.
    let options = if has_windows { Value::Null } else { json!({ "events": true }) };
    let editor = stage.editor_with(profile, options);
    editor.ignore(QUIET);
    let made = editor.execute("ropewalk.prompt", Value::Null).unwrap();
    assert!(made["path"].as_str().unwrap().ends_with(CHAT), "{made}");
    if has_windows {
        is_shown(&editor);
    }
    editor.open(CHAT);
    editor
}

/// The editor was asked once more to show the conversation.
pub(crate) fn is_shown(editor: &FakeEditor) {
    editor.wait_for("the page", |seen| seen.take_next("window/showDocument"));
}

/// Types at the end of the conversation.
pub(crate) fn write(editor: &FakeEditor, words: &str) {
    let text = editor.text(CHAT);
    let (line, column) = end(&text);
    editor.type_at(CHAT, line, column, words);
    editor.flush();
}

/// Line and column of the end of a text.
pub(crate) fn end(text: &str) -> (u32, u32) {
    let last = text.rsplit('\n').next().unwrap_or_default();
    (text.matches('\n').count() as u32, last.chars().count() as u32)
}

/// Does the code action with this title, on the first line that has these words, or at the end.
pub(crate) fn act(editor: &FakeEditor, words: Option<&str>, title: &str) {
    let text = editor.text(CHAT);
    let line = words.map_or(end(&text).0, |words| {
        text.lines().position(|line| line.contains(words)).unwrap() as u32
    });
    let offers = editor.code_actions(CHAT, (line, 0), (line, 0));
    let titles: Vec<_> = offers.iter().map(|offer| offer.title.clone()).collect();
    let found = offers.iter().find(|offer| offer.title == format!("Ropewalk: {title}"));
    editor.run(found.unwrap_or_else(|| panic!("{title} is not among {titles:?}"))).unwrap();
}

/// Waits until the conversation has these words.
pub(crate) fn wait(editor: &FakeEditor, words: &str) -> String {
    let uri = editor.uri(CHAT);
    editor.wait_for(words, |seen| seen.text(&uri).filter(|text| text.contains(words)))
}

/// Text of the page behind the opening words.
pub(crate) fn page(editor: &FakeEditor) -> String {
    let text = editor.text(CHAT);
    text.get(text.find("## You\n").unwrap()..).unwrap().to_owned()
}

#[test]
fn a_request_is_written_sent_and_answered_on_the_page_in_every_editor() {
    for profile in Profile::ALL {
        if profile.name == Profile::NEOVIM_PLUGIN.name {
            continue;
        }
        let replies = [say("Hello.\nI am here."), say("Again.")];
        let stage = Stage::new("review", &[("a.txt", "one\n")], replies);
        let editor = opened(&stage, profile);
        write(&editor, "hello 😀");
        act(&editor, None, "send");
        wait(&editor, "I am here.");
        editor.wait_for_turn_end();
        write(&editor, "and again");
        editor.execute("ropewalk.send", Value::Null).unwrap();
        wait(&editor, "Again.");
        let wanted = "## You\n\nhello 😀\n\n## Ropewalk\n\nHello.\nI am here.\n\n## You\n\nand again\n\n\
                      ## Ropewalk\n\nAgain.\n\n## You\n\n";
        assert_eq!(page(&editor), wanted, "{}", profile.name);
        // Saving sends nothing, and the page is the user's like any other.
        write(&editor, "a draft");
        editor.save(CHAT);
        assert_eq!(stage.disk(CHAT), editor.text(CHAT));
        editor.wait_for_turn_end();
        stage.end(editor);
    }
}

#[test]
fn changes_are_listed_by_place_and_reviewed_on_their_lines() {
    let replies = [
        edit("a.txt", "one", "ONE"),
        ScriptedReply::new()
            .call("edit_file", json!({ "path": "b.txt", "old_text": "x", "new_text": "X" })),
        say("Capitals."),
    ];
    let stage = Stage::new("review", &[("a.txt", "zero\none\n"), ("b.txt", "x\n")], replies);
    let editor = opened(&stage, Profile::NEOVIM);
    write(&editor, "capitals");
    act(&editor, None, "send");
    let text = wait(&editor, "b.txt:1");
    let list = "- ✓ edit_file a.txt\n- ✓ edit_file b.txt\n\nCapitals.\n\n\
                2 changes in 2 files wait for review:\n\n- a.txt:2 · −1 +1\n- b.txt:1 · −1 +1\n";
    assert!(text.contains(list), "{text}");
    editor.wait_for_turn_end();
    act(&editor, Some("- a.txt:2"), "accept this change");
    wait(&editor, "Changed:\n\n- a.txt:2\n");
    assert_eq!(stage.disk("a.txt"), "zero\nONE\n");
    // A change deleted on the page stays proposed.
    editor.replace(CHAT, (0, 0), end(&editor.text(CHAT)), "- b.txt:1\n");
    editor.flush();
    act(&editor, Some("- b.txt:1"), "reject this change");
    until("nothing waits", || {
        editor.execute("ropewalk.status", Value::Null).unwrap()["hunks"] == 0
    });
    assert_eq!(stage.disk("b.txt"), "x\n");
    stage.end(editor);
}

#[test]
fn files_and_commands_are_completed_in_the_draft_alone() {
    let stage = Stage::new("review", &[("src/ä b.rs", "one\n"), ("a.txt", "one\n")], []);
    let editor = opened(&stage, Profile::VSCODE);
    assert!(editor.capabilities()["completionProvider"].is_object());
    let complete = |name: &str, (line, character): (u32, u32)| {
        let params = json!({ "textDocument": { "uri": editor.uri(name) },
            "position": { "line": line, "character": character } });
        editor.request("textDocument/completion", &params).unwrap()
    };
    write(&editor, "/mo");
    let found = complete(CHAT, end(&editor.text(CHAT)));
    let labels = |found: &Value| -> Vec<String> {
        let items = found["items"].as_array().unwrap().iter();
        items.map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(labels(&found), ["/mode", "/model"]);
    let (line, _) = end(&editor.text(CHAT));
    assert_eq!(
        found["items"][0]["textEdit"]["range"]["start"],
        json!({ "line": line, "character": 0 })
    );
    write(&editor, "de @src");
    let found = complete(CHAT, end(&editor.text(CHAT)));
    assert_eq!(labels(&found), ["@\"src/ä b.rs\""]);
    // The conversation is no file that can be named, and elsewhere nothing is completed.
    write(&editor, " @chat");
    assert_eq!(labels(&complete(CHAT, end(&editor.text(CHAT)))), Vec::<String>::new());
    editor.open("a.txt");
    assert_eq!(complete("a.txt", (0, 0)), Value::Null);
    stage.end(editor);
}

#[test]
fn the_agent_neither_sees_nor_changes_the_conversation() {
    let replies = [
        ScriptedReply::new().call("glob", json!({ "pattern": "**/*" })),
        ScriptedReply::new()
            .call("list_dir", json!({ "path": "." }))
            .expect_text("a.txt")
            .expect_no_text(CHAT),
        ScriptedReply::new()
            .call("write_file", json!({ "path": CHAT, "content": "mine" }))
            .expect_text("a.txt")
            .expect_no_text(CHAT),
        say("No.").expect_text("in which no tool writes"),
    ];
    let stage = Stage::new("review", &[("a.txt", "one\n")], replies);
    let editor = opened(&stage, Profile::NEOVIM);
    write(&editor, "look around");
    act(&editor, None, "send");
    wait(&editor, "No.");
    editor.wait_for_turn_end();
    stage.end(editor);
}

#[test]
fn a_closed_conversation_loses_nothing_and_one_that_is_deleted_is_made_anew() {
    let reply = say("Late words.").gate(ReplyPlace::Answer, "closed");
    let stage = Stage::new("review", &[], [reply]);
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(&QUIET[..2]);
    editor.execute("ropewalk.prompt", Value::Null).unwrap();
    is_shown(&editor);
    editor.open(CHAT);
    write(&editor, "hello");
    act(&editor, None, "send");
    wait(&editor, "## Ropewalk");
    stage.agent.model.wait_until_reached_blocking("closed");
    editor.save(CHAT);
    editor.close(CHAT);
    // Once this is answered, the server has heard that it is closed.
    editor.execute("ropewalk.status", Value::Null).unwrap();
    stage.agent.model.open_gate("closed");
    editor.wait_for_message("Late words.");
    editor.wait_for_turn_end();
    // Words said meanwhile wait for it.
    editor.open(CHAT);
    let text = wait(&editor, "Late words.");
    assert!(text.ends_with("hello\n\n## Ropewalk\n\nLate words.\n\n## You\n\n"), "{text}");
    editor.close(CHAT);
    std::fs::remove_file(stage.path(CHAT)).unwrap();
    editor.execute("ropewalk.prompt", Value::Null).unwrap();
    is_shown(&editor);
    assert!(stage.disk(CHAT).ends_with("## You\n\n"));
    editor.ignore(QUIET);
    stage.end(editor);
}

#[test]
fn without_a_folder_or_beside_a_plugin_it_is_refused_in_words() {
    let stage = Stage::new("review", &[], []);
    let editor = stage.editor_in(Profile::VSCODE, &[], Value::Null, &[]);
    editor.ignore(QUIET);
    let refused = editor.execute("ropewalk.prompt", Value::Null).unwrap_err().to_string();
    assert!(refused.contains("No folder is open"), "{refused}");
    editor.shutdown();
    let plugin = json!({ "events": true, "approvals": true });
    let editor = stage.editor_with(Profile::VSCODE, plugin.clone());
    editor.ignore(QUIET);
    assert!(editor.capabilities().get("completionProvider").is_none());
    let refused = editor.execute("ropewalk.prompt", Value::Null).unwrap_err().to_string();
    assert!(refused.contains("needs a prompt"), "{refused}");
    assert!(!stage.path(CHAT).exists());
    editor.shutdown();
    let mut asking = plugin;
    asking["conversation"] = json!(true);
    let editor = stage.editor_with(Profile::VSCODE, asking);
    editor.ignore(QUIET);
    editor.execute("ropewalk.prompt", Value::Null).unwrap();
    is_shown(&editor);
    assert!(stage.path(CHAT).exists());
    stage.end(editor);
}

/// A key of the user's: where in the draft, and which.
fn keys() -> impl Strategy<Value = Vec<(u16, char)>> {
    let letter = prop::sample::select("aö😀 \n#-".chars().collect::<Vec<_>>());
    prop::collection::vec((any::<u16>(), letter), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn nothing_typed_into_the_draft_is_lost_doubled_or_misplaced_by_what_is_appended(
        keys in keys(),
        editor in prop::sample::select(vec![Profile::NEOVIM, Profile::EMACS, Profile::VSCODE]),
    ) {
        let words: Vec<String> = (0..5).map(|number| format!("Answer {number}.")).collect();
        let replies = words.iter().take(4).map(|words| {
            ScriptedReply::new().text(words).call("list_dir", json!({ "path": "." }))
        });
        let replies: Vec<_> = replies.chain([say(&words[4])]).collect();
        let stage = Stage::new("review", &[("a.txt", "one\n")], replies);
        let editor = opened(&stage, editor);
        write(&editor, "go");
        act(&editor, None, "send");
        let text = wait(&editor, "## Ropewalk\n\n");
        let first = text.matches("## You").count();
        let mut draft: Vec<char> = Vec::new();
        for (at, key) in keys {
            // The draft alone is typed in: it begins behind the last heading and its blank line.
            let at = usize::from(at) % (draft.len() + 1);
            let uri = editor.uri(CHAT);
            editor.with(|seen| {
                let text: Vec<char> = seen.text(&uri).unwrap().chars().collect();
                let start = text.len() - draft.len();
                assert_eq!(&text[start..], draft);
                seen.client().replace(&uri, start + at..start + at, &key.to_string());
            });
            draft.insert(at, key);
            if at.is_multiple_of(3) {
                editor.flush();
            }
        }
        let draft: String = draft.iter().collect();
        editor.flush();
        let text = wait(&editor, "Answer 4.");
        for words in &words {
            prop_assert_eq!(text.matches(words.as_str()).count(), 1, "{}", text);
        }
        prop_assert!(text.ends_with(&format!("## You\n\n{draft}")), "{:?} in {}", draft, text);
        prop_assert_eq!(text.matches("## You").count(), first);
        editor.wait_for_turn_end();
        stage.end(editor);
    }
}
