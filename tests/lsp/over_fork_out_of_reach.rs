//! Leavings of a command that can't be read, kept or removed: they are told of, and neither the
//! command's result nor the next command, nor the next session, suffers.

use crate::support::stage::{QUIET, Stage, bash, say, turn};
use ropewalk_testkit::editor::{FakeEditor, Profile};
use serde_json::json;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

fn editor(stage: &Stage, over_fork: &str) -> FakeEditor {
    let options = json!({ "events": true, "commands": { "overFork": over_fork } });
    let editor = stage.editor_in(Profile::VSCODE, &[stage.folder.path()], options, &[]);
    editor.ignore(QUIET);
    editor
}

#[test]
fn a_deleted_file_that_no_undo_could_bring_back_stays_alone() {
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    // Nothing is shut to root.
    for name in ["big", "own"].into_iter().take(if is_root { 1 } else { 2 }) {
        let why = if name == "big" { "300000000 bytes, more than" } else { "permission denied" };
        let stage = Stage::new(
            "review",
            &[("own", "mine\n")],
            [
                bash(&format!("echo printed; echo n > new; rm -f {name}; ls")),
                bash("ls; echo more > more")
                    .expect_text("printed\n")
                    .expect_text("so it was left unchanged")
                    .expect_text(why),
                bash("ls").expect_text("big\nnew\nown\n").expect_text("changed: more"),
                say("Done.").expect_text("more\nnew\n"),
                bash("ls big own").conversation("another session"),
                say("Done again.").conversation("another session").expect_text("big\nown\n"),
            ],
        );
        let big = std::fs::File::create(stage.path("big")).unwrap();
        big.set_len(300_000_000).unwrap();
        std::fs::set_permissions(stage.path("own"), std::fs::Permissions::from_mode(0o0)).unwrap();
        let first = editor(&stage, "auto");
        assert_eq!(turn(&first, "go"), "end_turn");
        first.shutdown();
        let next = editor(&stage, "auto");
        assert_eq!(turn(&next, "again"), "end_turn");
        assert!(stage.path("big").exists() && stage.path("own").exists());
        stage.end(next);
    }
}

#[test]
fn a_deep_tree_is_no_end_of_a_session() {
    for over_fork in ["auto", "copy"] {
        let deep = "perl -e 'for (1..2100) { mkdir \"d\"; chdir \"d\" or die }'";
        let stage = Stage::new(
            "auto",
            &[("a.txt", "one\n"), ("b.txt", "bee\n"), (".git/HEAD", "ref: refs/heads/main\n")],
            [
                bash(&format!("cd .git && {deep}; cd ..; echo two > a.txt")),
                bash(&format!("rm b.txt; mkdir b.txt; cd b.txt && {deep}"))
                    .expect_text("version control changes are not kept")
                    .expect_text("changed: a.txt"),
                bash("cat a.txt; ls").expect_text("changed: b.txt"),
                say("Done.").expect_text("two\n"),
            ],
        );
        let editor = editor(&stage, over_fork);
        if over_fork == "copy" {
            editor.prompt("go");
            for _ in 0..3 {
                editor.answer_dialog("Allow once");
            }
            assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
        } else {
            assert_eq!(turn(&editor, "go"), "end_turn");
        }
        stage.end(editor);
    }
}

#[test]
fn a_copy_goes_with_its_session_whatever_a_command_shut() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "mine\n")],
        [
            bash(
                "for m in 500 300 000; do mkdir -p k$m/in; touch k$m/f k$m/in/f; chmod $m k$m/in k$m; done",
            ),
            bash("ls").expect_text("changed: k"),
            say("Done.").expect_text("a.txt\nk000\nk300\nk500\n"),
        ],
    );
    let editor = editor(&stage, "copy");
    editor.prompt("go");
    for _ in 0..2 {
        editor.answer_dialog("Allow once");
    }
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    let layers = stage.agent.folder("cache").join("ropewalk/layers");
    assert_eq!(std::fs::read_dir(&layers).unwrap().count(), 1);
    editor.shutdown();
    assert_eq!(std::fs::read_dir(&layers).unwrap().count(), 0);
    stage.agent.model.finish().unwrap();
}
