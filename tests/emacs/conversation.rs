//! The conversation document in real Emacs with eglot, set up as editors/README.md says.

use crate::support::agent::Agent;
use crate::support::stage::{edit_input, say};
use ropewalk_testkit::model::ScriptedReply;
use std::process::{Command, Stdio};

#[test]
#[ignore = "needs Emacs; run tests/run"]
fn a_request_is_sent_answered_beside_typing_and_its_change_accepted() {
    let replies = [
        ScriptedReply::new()
            .text("I look.")
            .call("edit_file", edit_input("notes.py", "two", "TWO")),
        say("Capitals."),
    ];
    let agent = Agent::new("review", replies);
    let folder = tempfile::tempdir().unwrap();
    // Emacs looks for a project's root.
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::write(folder.path().join("notes.py"), "one\ntwo\n").unwrap();
    let programs = agent.folder("programs");
    std::fs::create_dir_all(&programs).unwrap();
    std::os::unix::fs::symlink(Agent::command()[0], programs.join("ropewalk")).unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    let readme = std::fs::read_to_string(format!("{root}/editors/README.md")).unwrap();
    let code = readme.split("```elisp\n").nth(1).unwrap().split("```").next().unwrap();
    let recipe = agent.folder("recipe.el");
    std::fs::write(&recipe, code).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let script = format!("{root}/tests/emacs/conversation.el");
    let ended = Command::new("emacs")
        .args(["-q", "--batch", "-l", &script])
        .current_dir(folder.path())
        .envs(agent.environment())
        .env("PATH", path)
        .env("RECIPE", recipe)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let page = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}\n{page}");
    let wanted = "## You\n\ncapitals\n\n## Ropewalk\n\nI look.\n\n- ✓ edit_file notes.py\n\nCapitals.\n\n\
                  1 change waits for review:\n\n- notes.py:2 · −1 +1\n\nChanged:\n\n- notes.py:2\n\n## You\n\n0 1 2 ";
    assert!(page.contains(wanted), "{page}");
    agent.model.finish().unwrap();
}
