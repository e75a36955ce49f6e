//! `ropewalk diff`, `accept` and `reject` on what runs have proposed.

use crate::world::{KEY, Ran, World};
use ropewalk_agent::Sessions;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_workspace::publish::PublishBounds;
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::{HunkSelection, NoEditor, Roots, Workspace};
use serde_json::json;
use std::process::Stdio;
use std::sync::Mutex;

fn reply() -> ScriptedReply {
    ScriptedReply::new()
}

fn write(path: &str, content: &str) -> ScriptedReply {
    reply().call("write_file", json!({"path": path, "content": content}))
}

/// A world in which a run has proposed this.
fn proposed(replies: impl IntoIterator<Item = ScriptedReply>) -> (World, ScriptedModel) {
    let model = ScriptedModel::start_with_key(replies, KEY).unwrap();
    let world = World::with(&model);
    world.write("a.txt", "one\ntwo\n");
    world.write("gone.txt", "old\n");
    world.write("src/moved.txt", "as it is\n");
    world.run(&["run", "change it"]).ended(6);
    (world, model)
}

/// A change of each kind that a tool can make.
fn all_kinds() -> [ScriptedReply; 2] {
    [
        reply()
            .call("edit_file", json!({"path": "a.txt", "old_text": "two", "new_text": "2"}))
            .call("delete_file", json!({"path": "gone.txt"}))
            .call("move_file", json!({"path": "src/moved.txt", "to": "lib/moved here.txt"}))
            .call("write_file", json!({"path": "new/line\nfeed.txt", "content": "new\u{1b}[2J\n"})),
        reply().text("Done."),
    ]
}

fn sessions(world: &World) -> Sessions {
    Sessions::new(&world.home("state/ropewalk"))
}

fn pending(world: &World) -> usize {
    sessions(world).list().first().map_or(0, |one| one.summary.pending)
}

fn says(ran: &Ran, words: &str) {
    assert!(ran.err.contains(words), "no {words:?} in {ran:#?}");
}

#[test]
fn the_diff_is_what_git_applies_and_accepting_does_the_same() {
    let (world, _model) = proposed(all_kinds());
    let diff = world.run(&["diff"]).ended(0);
    assert_eq!(diff.err, "");
    assert!(diff.out.contains("rename from src/moved.txt\nrename to lib/moved here.txt\n"));
    assert!(diff.out.contains(r#"+++ "b/new/line\nfeed.txt""#), "{diff:?}");
    assert!(diff.out.contains("+new\u{1b}[2J\n"), "byte for byte: {diff:?}");

    let copy = tempfile::tempdir().unwrap();
    for name in ["a.txt", "gone.txt", "src/moved.txt"] {
        let to = copy.path().join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(world.root().join(name), to).unwrap();
    }
    let mut git = std::process::Command::new("git");
    let git = git.args(["apply", "-"]).current_dir(copy.path()).stdin(Stdio::piped());
    let mut git = git.spawn().unwrap();
    std::io::Write::write_all(&mut git.stdin.take().unwrap(), diff.out.as_bytes()).unwrap();
    assert!(git.wait().unwrap().success());

    let accepted = world.run(&["accept"]).ended(0);
    assert_eq!(accepted.err, "ropewalk: 4 changes in 4 files accepted and written.\n");
    for root in [world.root(), copy.path()] {
        let read = |name: &str| std::fs::read_to_string(root.join(name)).ok();
        assert_eq!(read("a.txt").as_deref(), Some("one\n2\n"), "{root:?}");
        assert_eq!(read("gone.txt"), None, "{root:?}");
        assert_eq!(read("src/moved.txt"), None, "{root:?}");
        assert_eq!(read("lib/moved here.txt").as_deref(), Some("as it is\n"), "{root:?}");
        assert_eq!(read("new/line\nfeed.txt").as_deref(), Some("new\u{1b}[2J\n"), "{root:?}");
    }
    assert_eq!(pending(&world), 0);
    says(&world.run(&["accept"]).ended(0), "Nothing waits for review in “change it” (just now).");
}

#[test]
fn what_was_accepted_can_be_undone_later() {
    let (world, _model) = proposed(all_kinds());
    world.run(&["accept"]).ended(0);
    let id = sessions(&world).list().remove(0).id;
    let past = sessions(&world).read(&id).unwrap();
    let root = world.root().canonicalize().unwrap();
    let workspace = Workspace::new(Roots::new(vec![(String::new(), root)]));
    let fork = Mutex::new(past.fork(&workspace));
    let undoing = undo(&workspace, &NoEditor, &fork, &HunkSelection::All, PublishBounds::default());
    let report = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(undoing);
    assert_eq!(report.failed, []);
    assert_eq!(world.read("a.txt"), "one\ntwo\n");
    assert_eq!(world.read("gone.txt"), "old\n");
    assert_eq!(world.read("src/moved.txt"), "as it is\n");
    assert!(!world.root().join("new").exists());
}

#[test]
fn some_files_are_chosen_by_name_or_folder() {
    let (world, _model) = proposed(all_kinds());
    let diff = world.run(&["diff", "src", "gone.txt"]).ended(0);
    assert_eq!(diff.out.matches("diff --git").count(), 2, "{diff:?}");
    let none = world.run(&["accept", "a.txt", "nothing.txt"]).ended(2);
    says(&none, "Nothing waits for review in nothing.txt: `ropewalk diff` shows all that does.");
    let ran = world.run(&["accept", "./src/../a.txt", "src/moved.txt"]).ended(0);
    says(&ran, "2 changes in 2 files accepted and written.");
    says(&ran, "2 changes in 2 files wait for review.");
    assert_eq!(world.read("a.txt"), "one\n2\n");
    assert_eq!(world.read("lib/moved here.txt"), "as it is\n");
    assert_eq!(world.read("gone.txt"), "old\n");
    let ran = world.run(&["reject", "gone.txt"]).ended(0);
    says(&ran, "1 change in 1 file rejected.");
    assert_eq!(pending(&world), 1);
}

#[test]
fn the_model_hears_why_something_was_rejected() {
    let (world, model) = proposed([
        write("b.txt", "b\n"),
        reply().text("Done."),
        reply().expect_text("not in this folder").text("I see."),
    ]);
    let ran = world.run(&["reject", "--reason", "not in this folder"]).ended(0);
    says(&ran, "1 change in 1 file rejected.");
    assert_eq!(world.run(&["diff"]).ended(0).out, "");
    world.run(&["run", "--continue", "again"]).ended(0);
    model.finish().unwrap();
}

#[test]
fn what_has_changed_meanwhile_is_not_overwritten() {
    let (world, _model) = proposed(all_kinds());
    world.write("a.txt", "one\nmine\n");
    let ran = world.run(&["accept"]);
    assert_eq!(world.read("a.txt"), "one\nmine\n");
    assert!(ran.err.contains("3 changes in 3 files accepted and written."), "{ran:#?}");
}

#[test]
fn a_session_is_found_by_number_and_id_and_by_nothing_else() {
    let (world, _model) = proposed([
        write("b.txt", "b\n"),
        reply().text("Done."),
        reply().text("Nothing to do.").conversation("other"),
        write("c.txt", "c\n"),
        reply().text("Done."),
    ]);
    world.run(&["run", "look around"]).ended(0);
    let none = world.run(&["diff"]).ended(0);
    assert_eq!(none.out, "");
    says(&none, "Nothing waits for review in “look around” (just now).");
    says(&none, "1 change waits in “change it” (just now): `ropewalk diff --session 2`.");
    assert!(world.run(&["diff", "--session", "2"]).ended(0).out.contains("+++ b/b.txt\n"));
    let list = world.run(&["sessions"]).ended(0);
    let ids: Vec<String> = sessions(&world).list().into_iter().map(|one| one.id).collect();
    for (number, id) in (1..).zip(&ids) {
        assert!(list.out.contains(&format!("\n {number}  {id}  just now ")), "{list:#?}");
        assert_eq!(id.len(), 5);
    }
    // The number is that of the current folder; the id is good everywhere.
    std::fs::create_dir(world.root().join("elsewhere")).unwrap();
    let mut other = world.ropewalk(&["accept", "--session", &ids[1]]);
    let ran: Ran = other.current_dir(world.root().join("elsewhere")).output().unwrap().into();
    says(&ran.ended(0), "1 change in 1 file accepted and written.");
    assert_eq!(world.read("b.txt"), "b\n");
    let mut other = world.ropewalk(&["diff", "--session", "1"]);
    let ran: Ran = other.current_dir(world.root().join("elsewhere")).output().unwrap().into();
    says(&ran.ended(1), "There is no session 1");
    let mut other = world.ropewalk(&["diff"]);
    let ran: Ran = other.current_dir(world.root().join("elsewhere")).output().unwrap().into();
    says(&ran.ended(0), "There is no session of ");
    // A run, too, goes on with one by its number; what was reviewed last is the first.
    world.run(&["run", "--session", "1", "more"]).ended(6);
    assert!(world.run(&["diff", "--session", "1"]).ended(0).out.contains("+++ b/c.txt\n"));
}

#[test]
fn a_session_that_is_open_elsewhere_is_reviewed_there() {
    let (world, _model) = proposed(all_kinds());
    let id = sessions(&world).list().remove(0).id;
    let (_held, _) = sessions(&world).open(&id).unwrap();
    for verb in ["accept", "reject"] {
        let ran = world.run(&[verb]).ended(1);
        let words = format!(
            "“change it” (just now) is open in an editor or another Ropewalk: {verb} there, or close it first."
        );
        says(&ran, &words);
    }
    assert_eq!(world.read("a.txt"), "one\ntwo\n");
    // Looking takes nothing from anybody.
    assert!(world.run(&["diff"]).ended(0).out.contains("-two\n+2\n"));
}

#[test]
fn a_change_that_has_no_place_any_more_is_said_to_be_lost() {
    let replies = [write("d/new.txt", "new\n"), write("other.txt", "x\n"), reply().text("Done.")];
    let (world, _model) = proposed(replies);
    world.write("d", "a file of the user's\n");
    for command in ["diff", "accept"] {
        let ran = world.run(&[command]).ended(0);
        says(&ran, "A change could not be brought back: ");
        says(&ran, "d/new.txt");
    }
    assert_eq!(world.read("other.txt"), "x\n");
}
