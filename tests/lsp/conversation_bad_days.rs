//! The conversation document on bad days: a folder that takes no file, two folders, two windows, words that come too late.

use crate::conversation::{CHAT, act, end, is_shown, opened, page, wait, write};
use crate::support::agent::Agent;
use crate::support::skip;
use crate::support::stage::{QUIET, Stage, edit, say};
use ropewalk_testkit::editor::{FakeEditor, Handling, Profile};
use ropewalk_testkit::model::ReplyPlace;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs the server where it can't write in a folder, whoever's that is.
const READ_ONLY: &str = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && exec \"$2\" lsp \"$3\" \"$4\"";

fn in_read_only(stage: &Stage, roots: &[&Path]) -> FakeEditor {
    let folder = stage.folder.path().to_str().unwrap();
    let [server, _] = Agent::command();
    // A log is named here, since the one that tests have would be named to `unshare`.
    let arguments = ["-Urm", "sh", "-c", READ_ONLY, "sh", folder, server, "--log", "/dev/null"];
    let env = stage.agent.environment();
    let editor =
        FakeEditor::spawn("unshare", &arguments, &env, Profile::VSCODE, roots, Value::Null);
    let editor = editor.unwrap();
    editor.ignore(QUIET);
    editor
}

#[test]
#[cfg(target_os = "linux")]
fn where_no_file_can_be_made_another_folder_has_it() {
    let tried = Command::new("unshare").args(["-Urm", "true"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return skip("there is no user namespace here");
    }
    let stage = Stage::new("review", &[("a.txt", "one\n")], [say("Hello.")]);
    let other = tempfile::tempdir().unwrap();
    let elsewhere = other.path().join(CHAT);
    let editor = in_read_only(&stage, &[stage.folder.path()]);
    let refused = editor.execute("ropewalk.prompt", Value::Null).unwrap_err().to_string();
    let wanted = "Open a file named chat.ropewalk.md in a folder that you can write in";
    assert!(refused.contains("read-only") && refused.contains(wanted), "{refused}");
    // One that the user opens serves, wherever it lies.
    editor.open_with(&elsewhere, "");
    editor.insert(&elsewhere, 0, 0, "hello");
    let offers = editor.code_actions(&elsewhere, (0, 0), (0, 0));
    editor.run(offers.iter().find(|offer| offer.title == "Ropewalk: send").unwrap()).unwrap();
    let text = "hello\n\n## Ropewalk\n\nHello.\n\n## You\n\n";
    editor.wait_for_text(&elsewhere, text);
    editor.wait_for_turn_end();
    editor.shutdown();
    let editor = in_read_only(&stage, &[stage.folder.path(), other.path()]);
    editor.execute("ropewalk.prompt", Value::Null).unwrap();
    is_shown(&editor);
    assert!(elsewhere.exists() && !stage.path(CHAT).exists());
    stage.end(editor);
}

#[test]
fn of_two_pages_the_one_that_was_sent_from_is_answered_on() {
    let stage = Stage::new(
        "review",
        &[("one/a.txt", "a\n"), ("two/b.txt", "b\n")],
        [edit("two/b.txt", "b", "B"), say("Capital.")],
    );
    let (one, two) = (stage.path("one"), stage.path("two"));
    let editor = stage.editor_in(Profile::NEOVIM, &[&one, &two], Value::Null, &[]);
    editor.ignore(QUIET);
    let (first, second) = (one.join(CHAT), two.join(CHAT));
    editor.open_with(&first, "## You\n\nnot sent yet");
    editor.open_with(&second, "## You\n\ncapitals");
    let offers = editor.code_actions(&second, (2, 0), (2, 0));
    editor.run(offers.iter().find(|offer| offer.title == "Ropewalk: send").unwrap()).unwrap();
    let list = "- two/b.txt:1 · −1 +1\n\n## You\n\n";
    let uri = editor.uri(&second);
    editor.wait_for(list, |seen| seen.text(&uri).filter(|text| text.ends_with(list)));
    editor.wait_for_turn_end();
    assert_eq!(editor.text(&first), "## You\n\nnot sent yet");
    let text = editor.text(&second);
    let line = text.lines().position(|line| line.starts_with("- two/b.txt:1")).unwrap() as u32;
    let offers = editor.code_actions(&second, (line, 0), (line, 0));
    let accept = offers.iter().find(|offer| offer.title == "Ropewalk: accept this change");
    editor.run(accept.unwrap()).unwrap();
    let made = "Changed:\n\n- two/b.txt:1\n";
    editor.wait_for(made, |seen| seen.text(&uri).filter(|text| text.contains(made)));
    assert_eq!(stage.disk("two/b.txt"), "B\n");
    assert_eq!(editor.text(&first), "## You\n\nnot sent yet");
    stage.end(editor);
}

#[test]
fn two_windows_on_one_page_keep_what_each_user_typed() {
    let of = |words: &str, window: &str| say(words).conversation(window);
    let replies = [
        of("To B.", "B").when("from B").gate(ReplyPlace::Answer, "B"),
        of("To A.", "A").when("from A"),
    ];
    let stage = Stage::new("review", &[], replies);
    let a = opened(&stage, Profile::VSCODE);
    let b = opened(&stage, Profile::VSCODE);
    write(&b, "from B");
    act(&b, None, "send");
    wait(&b, "## Ropewalk");
    stage.agent.model.wait_until_reached_blocking("B");
    b.save(CHAT);
    // The other window has nothing unsaved, so its editor reads the page anew.
    a.reload(CHAT);
    write(&a, "from A");
    act(&a, None, "send");
    wait(&a, "To A.");
    a.wait_for_turn_end();
    write(&a, "draft of A");
    a.save(CHAT);
    let saved = stage.disk(CHAT);
    b.reload(CHAT);
    write(&b, " and of B");
    // Once this is answered, the server has heard all that was typed.
    b.code_actions(CHAT, (0, 0), (0, 0));
    stage.agent.model.open_gate("B");
    let text = wait(&b, "To B.");
    b.wait_for_turn_end();
    for words in ["from A", "To A.", "from B", "To B.", "draft of A and of B"] {
        assert_eq!(text.matches(words).count(), 1, "{words}: {text}");
    }
    assert!(text.ends_with("## You\n\ndraft of A and of B"), "{text}");
    assert!(a.text(CHAT).ends_with("## You\n\ndraft of A"));
    // No server writes the page: which of two texts stays is asked by the editor that saves.
    assert_eq!(stage.disk(CHAT), saved);
    a.shutdown();
    stage.end(b);
}

#[test]
fn words_on_their_way_to_a_page_that_is_closed_are_told() {
    let reply = say("Late words.").gate(ReplyPlace::Answer, "late");
    let stage = Stage::new("review", &[], [reply]);
    let editor = opened(&stage, Profile::VSCODE);
    write(&editor, "hello");
    act(&editor, None, "send");
    wait(&editor, "## Ropewalk");
    let edit = || editor.wait_for("an edit", |seen| seen.take_next("workspace/applyEdit"));
    // The first is of the headings.
    edit();
    stage.agent.model.wait_until_reached_blocking("late");
    editor.save(CHAT);
    editor.handle_edits(None);
    stage.agent.model.open_gate("late");
    edit();
    editor.close(CHAT);
    editor.handle_edits(Some(Handling::Usual));
    editor.wait_for_message("Late words.");
    editor.open(CHAT);
    let text = wait(&editor, "Late words.");
    assert!(text.ends_with("hello\n\n## Ropewalk\n\nLate words.\n\n## You\n\n"), "{text}");
    stage.end(editor);
}

#[test]
fn a_selection_is_sent_instead_of_the_draft_and_joins_a_running_turn() {
    let replies = [
        say("Held.").gate(ReplyPlace::Answer, "held"),
        say("Joined.").expect_text("old words"),
        say("Again.").expect_text("old words"),
    ];
    let stage = Stage::new("review", &[], replies);
    let editor = opened(&stage, Profile::NEOVIM);
    write(&editor, "old words");
    act(&editor, None, "send");
    wait(&editor, "## Ropewalk");
    stage.agent.model.wait_until_reached_blocking("held");
    write(&editor, "a draft");
    let send = |title: &str| {
        let text = editor.text(CHAT);
        let line = text.lines().position(|line| line == "old words").unwrap() as u32;
        let offers = editor.code_actions(CHAT, (line, 0), (line, 9));
        let found = offers.iter().find(|offer| offer.title == format!("Ropewalk: {title}"));
        editor.run(found.unwrap_or_else(|| panic!("{offers:?}"))).unwrap();
    };
    send("send the selection, to what runs now");
    wait(&editor, "old words\n\n## Ropewalk\n\n## You\n\nold words");
    stage.agent.model.open_gate("held");
    wait(&editor, "Joined.");
    editor.wait_for_turn_end();
    send("send the selection");
    wait(&editor, "Again.");
    editor.wait_for_turn_end();
    let wanted = "## You\n\nold words\n\n## Ropewalk\n\n## You\n\nold words\n\n## Ropewalk\n\n\
                  Held.\n\nJoined.\n\n## You\n\nold words\n\n## Ropewalk\n\nAgain.\n\n## You\n\na draft";
    assert_eq!(page(&editor), wanted);
    stage.end(editor);
}

#[test]
fn words_that_a_stopped_turn_did_not_take_up_stand_on_the_page_once() {
    let replies = [
        say("Never said.").gate(ReplyPlace::Answer, "never"),
        say("Taken up.").expect_text("more words\nand more"),
    ];
    let stage = Stage::new("review", &[], replies);
    let editor = opened(&stage, Profile::VSCODE);
    write(&editor, "go");
    act(&editor, None, "send");
    wait(&editor, "## Ropewalk");
    stage.agent.model.wait_until_reached_blocking("never");
    for words in ["more words", "and more"] {
        write(&editor, words);
        act(&editor, None, "send, to what runs now");
        wait(&editor, &format!("{words}\n\n## Ropewalk"));
    }
    write(&editor, "a draft");
    editor.execute("ropewalk.interrupt", Value::Null).unwrap();
    let text = wait(&editor, "Taken up.");
    editor.wait_for_turn_end();
    editor.wait_for_turn_end();
    for words in ["more words", "and more", "a draft"] {
        assert_eq!(text.matches(words).count(), 1, "{words}: {text}");
    }
    assert_eq!(end(&text).1, 7, "{text}");
    stage.end(editor);
}
