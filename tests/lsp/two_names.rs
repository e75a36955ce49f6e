//! One file that is open under two names: the agent's edit reaches the one in use, and the user is told of the other.

use crate::support::stage::{Stage, edit, say, turn};
use ropewalk_testkit::editor::Profile;
use serde_json::json;

fn check(mode: &str, profile: Profile, is_hard: bool) {
    let replies = [edit("a.txt", "two", "TWO"), say("Done.")];
    let stage = Stage::new(mode, &[("a.txt", "one\ntwo\n")], replies);
    match is_hard {
        true => std::fs::hard_link(stage.path("a.txt"), stage.path("b.txt")).unwrap(),
        false => std::os::unix::fs::symlink("a.txt", stage.path("b.txt")).unwrap(),
    }
    let editor = stage.quiet_editor(profile);
    editor.open("a.txt");
    editor.open("b.txt");
    editor.type_at("b.txt", 0, 0, "x");
    assert_eq!(turn(&editor, "Change two"), "end_turn");
    editor.wait_for_message("Done.");
    if mode == "review" {
        editor.execute("ropewalk.accept", json!({})).unwrap();
    }
    editor.wait_for_text("b.txt", "xone\nTWO\n");
    editor.wait_for_message("a.txt is the same file as b.txt, and both are open");
    assert_eq!(editor.text("a.txt"), "one\ntwo\n");
    stage.end(editor);
}

#[test]
fn an_edit_reaches_the_name_in_use_and_the_other_is_told() {
    for mode in ["auto", "review"] {
        for profile in [Profile::VSCODE, Profile::NEOVIM] {
            for is_hard in [false, true] {
                check(mode, profile, is_hard);
            }
        }
    }
}
