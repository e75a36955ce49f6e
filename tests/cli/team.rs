//! `ropewalk team` and `ropewalk worker`: a board looked at from a terminal, and a member in a process of its own.

use crate::team_board::TeamBoard;
use crate::world::{Ran, World};
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};
use serde_json::json;
use std::process::Child;

/// Nothing is asked of a model.
const NO_MODEL: &str = "http://127.0.0.1:9";

/// The board of a world, which its configuration does not name.
fn place(world: &World) -> String {
    world.home("boards/crew.sqlite").display().to_string()
}

/// A board with the team `crew`, whose lead works in the world's folder.
fn board(world: &World) -> TeamBoard {
    let board = TeamBoard::new(&place(world), "crew", "shop");
    board.join("lead", "");
    board
}

/// `ropewalk team --board PLACE` and these.
fn team(world: &World, args: &[&str]) -> Ran {
    world.run(&[&["team", "--board", &place(world)], args].concat())
}

/// `ropewalk worker` on that board, with short waits, and these.
fn worker(world: &World, args: &[&str]) -> Child {
    let place = place(world);
    let shared = ["worker", "--team", "crew", "--board", &place, "-c", "team.poll=1"];
    world.ropewalk(&[&shared, args].concat()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-s", name, &pid]).status().unwrap();
    assert!(sent.success());
}

fn end(child: Child) -> Ran {
    child.wait_with_output().unwrap().into()
}

/// The end of a worker that is told to.
fn stopped(child: Child) -> Ran {
    signal(&child, "TERM");
    end(child)
}

fn edit(old: &str, new: &str) -> ScriptedReply {
    let input = json!({ "path": "a.txt", "old_text": old, "new_text": new });
    ScriptedReply::new().call("edit_file", input)
}

fn done(number: i64) -> ScriptedReply {
    let input = json!({ "task_id": number, "status": "completed", "note": "It is written." });
    ScriptedReply::new().call("task_update", input)
}

#[test]
fn without_a_board_each_says_so_and_makes_none() {
    let world = World::new(NO_MODEL);
    for args in [&["tasks"][..], &["members"], &["inbox"], &["add", "A task"]] {
        let ran = team(&world, args).ended(0);
        assert_eq!(ran.out, "", "{args:?}");
        assert_eq!(ran.err, "ropewalk: There is no team in this folder yet.\n", "{args:?}");
        let ran = world.run(&[&["team"], args].concat()).ended(0);
        assert_eq!(ran.err, "ropewalk: There is no team in this folder yet.\n", "{args:?}");
    }
    assert!(!world.home("boards").exists() && !world.home("state/ropewalk/boards").exists());
}

#[test]
fn a_worker_without_a_board_says_so_and_makes_none() {
    let world = World::new(NO_MODEL);
    let ran = end(worker(&world, &[])).ended(1);
    assert!(ran.err.contains("There is no board"), "{ran:?}");
    assert!(!world.home("boards").exists());
}

#[test]
fn tasks_are_added_and_listed() {
    let world = World::new(NO_MODEL);
    let board = board(&world);
    assert_eq!(team(&world, &["tasks"]).ended(0).out, "No tasks.\n");
    let added = team(&world, &["add", "Name the price", "--description", "In cents."]).ended(0);
    assert_eq!(added.out, "[ ] #1: Name the price\n");
    let args = ["add", "Use it", "--role", "coder", "--after", "1", "--team", "crew"];
    let line = "[ ] #2: Use it (role: coder) (blocked by: #1)\n";
    assert_eq!(team(&world, &args).ended(0).out, line);
    assert_eq!(team(&world, &["tasks"]).ended(0).out, format!("{}{line}", added.out));
    let (first, second) = (board.task(1), board.task(2));
    assert_eq!((&*first.description, &*first.role), ("In cents.", ""));
    assert_eq!((&*second.role, &second.blocked_by[..]), ("coder", &[1][..]));
    assert_eq!(board.story(1), ["created user"]);

    let ran = team(&world, &["add", "Late", "--after", "7"]).ended(1);
    assert!(ran.err.contains("There is no task #7."), "{ran:?}");
    let ran = team(&world, &["add", " "]).ended(2);
    assert!(ran.err.contains("say the task in one line"), "{ran:?}");
    assert_eq!(team(&world, &["tasks"]).ended(0).out.lines().count(), 2);
}

#[test]
fn members_and_the_inbox_are_shown_harmlessly() {
    let world = World::new(NO_MODEL);
    let board = board(&world);
    assert_eq!(team(&world, &["members"]).ended(0).out, "Team: crew\n  lead (any): working\n");
    assert_eq!(team(&world, &["inbox"]).ended(0).out, "No unread messages.\n");
    let alice = board.join("alice", "coder");
    board.ask(alice.send("lead", "message", "Look: \x1b[2J\nsecond line"));
    let shown = team(&world, &["members"]).ended(0).out;
    assert_eq!(shown, "Team: crew\n  alice (coder): working\n  lead (any): working\n");
    for _ in 0..2 {
        let shown = team(&world, &["inbox"]).ended(0).out;
        assert!(shown.starts_with("alice: Look: ") && !shown.contains('\x1b'), "{shown:?}");
        assert_eq!(shown.lines().count(), 1, "{shown:?}");
    }
    assert_eq!(board.unread("lead").len(), 1, "looking reads nothing");
}

#[test]
fn of_several_teams_one_must_be_named() {
    let world = World::new(NO_MODEL);
    let _first = board(&world);
    let _second = TeamBoard::new(&place(&world), "ship", "shop");
    let ran = team(&world, &["tasks"]).ended(2);
    assert!(ran.err.contains("Say which team by --team: crew, ship."), "{ran:?}");
    assert_eq!(team(&world, &["tasks", "--team", "ship"]).ended(0).out, "No tasks.\n");
    let ran = team(&world, &["tasks", "--team", "shop"]).ended(1);
    assert!(ran.err.contains("There is no team shop; there are: crew, ship."), "{ran:?}");
    let ran = world.run(&["worker", "--team", "shop", "--board", &place(&world)]).ended(1);
    assert!(ran.err.contains("There is no team shop on this board"), "{ran:?}");
}

#[test]
fn a_board_that_can_not_be_meant_is_an_error_of_usage() {
    let world = World::new(NO_MODEL);
    for (wrong, words) in [
        ("mysql://root:hunter2@db/teams", "`team.board` in -c must be a path, or a URL"),
        ("root:hunter2@db/teams", "`team.board` in -c must be a path, or a URL"),
        ("postgres://", "`team.board` in -c must be a path, or a URL"),
    ] {
        let ran = world.run(&["team", "tasks", "--board", wrong]).ended(2);
        assert!(ran.err.contains(words) && !ran.err.contains("hunter2"), "{wrong}: {ran:?}");
        let ran = world.run(&["worker", "--team", "crew", "--board", wrong]).ended(2);
        assert!(ran.err.contains(words) && !ran.err.contains("hunter2"), "{wrong}: {ran:?}");
        // Else the folder's own board would be shown for the one that was meant.
        let variable = world.ropewalk(&["team", "tasks"]).env("ROPEWALK_BOARD", wrong).output();
        let ran = Ran::from(variable.unwrap()).ended(2);
        assert!(ran.err.contains("ROPEWALK_BOARD") && !ran.err.contains("hunter2"), "{ran:?}");
    }
    // A path is taken from the current folder, like any other on a command line.
    let _board = board(&world);
    std::os::unix::fs::symlink(world.home("boards"), world.root().join("boards")).unwrap();
    let ran = world.run(&["team", "tasks", "--board", "boards/crew.sqlite"]).ended(0);
    assert_eq!(ran.out, "No tasks.\n");
    std::fs::write(world.root().join("notes.txt"), "no board").unwrap();
    let ran = world.run(&["team", "tasks", "--board", "notes.txt"]).ended(1);
    assert!(ran.err.contains("is no board"), "{ran:?}");
    assert_eq!(world.read("notes.txt"), "no board");
}

#[test]
fn a_worker_does_its_task_and_its_changes_wait() {
    let replies = [edit("two", "TWO").expect_text("Task #1: Shout"), done(1)];
    let model = ScriptedModel::start(replies).unwrap();
    let world = World::with(&model);
    world.write("a.txt", "one\ntwo\n");
    let board = board(&world);
    board.add("Shout", "", &[]);
    board.add("For others", "tester", &[]);
    let child = worker(&world, &["--name", "alice", "--role", "coder", "-c", "team.idle=5"]);
    let ran = end(child).ended(0);
    for words in [
        "alice has joined the team crew.",
        "Task #1: Shout",
        "edit_file a.txt",
        "There is nothing to do; it has left.",
    ] {
        assert!(ran.err.contains(words), "{words}: {ran:#?}");
    }
    assert_eq!(world.read("a.txt"), "one\ntwo\n", "its changes are proposals");
    let bundles = board.ask(board.team().waiting_bundles(9));
    let [bundle] = &bundles[..] else { panic!("{bundles:?}") };
    assert_eq!((&*bundle.member, &*bundle.summary), ("alice", "It is written."));
    assert_eq!(board.story(1), ["created test", "claimed alice", "completed alice"]);
    assert_eq!(board.story(2), ["created test"]);
    let members = team(&world, &["members"]).out;
    assert!(members.contains("  alice (coder): shutdown\n"), "{members}");
    assert_eq!(board.unread("lead"), ["left: alice has shut down: there was nothing to do."]);
    let tasks = team(&world, &["tasks"]).out;
    assert!(tasks.starts_with("[x] #1: Shout @alice\n"), "{tasks}");
}

#[test]
fn what_a_worker_would_have_to_ask_is_refused_and_told() {
    let bash = |command: &str| ScriptedReply::new().call("bash", json!({ "command": command }));
    let replies = [
        bash("touch allowed"),
        bash("touch refused").expect_no_text("Refused"),
        done(1).expect_text("Refused"),
    ];
    let model = ScriptedModel::start(replies).unwrap();
    let world = World::with(&model);
    let board = board(&world);
    board.add("Try", "", &[]);
    let child = worker(&world, &["--name", "bob", "--allow", "bash(touch allowed)", "--stay"]);
    board.wait_completed(1);
    stopped(child).ended(0);
    assert!(world.root().join("allowed").exists() && !world.root().join("refused").exists());
    let told = board.unread("lead");
    let [refused, left] = &told[..] else { panic!("{told:?}") };
    assert!(refused.starts_with("refused: A call of bash was refused: "), "{told:?}");
    assert!(left.starts_with("left: bob has shut down"), "{told:?}");
}

#[test]
fn a_worker_that_is_told_to_end_returns_its_task_uncounted() {
    for name in ["INT", "TERM", "HUP"] {
        let never = ScriptedReply::new().text("never").gate(ReplyPlace::Answer, "never");
        let model = ScriptedModel::start([never]).unwrap();
        let world = World::with(&model);
        let board = board(&world);
        board.add("Long", "", &[]);
        let child = worker(&world, &["--name", "alice"]);
        model.wait_until_reached_blocking("never");
        assert_eq!(board.task(1).owner.as_deref(), Some("alice"));
        signal(&child, name);
        let ran = end(child).ended(0);
        assert!(ran.err.contains("It gives its task back and leaves"), "{ran:#?}");
        model.wait_until_abandoned_blocking(1);
        let task = board.task(1);
        assert_eq!((task.status.word(), task.attempt, task.failures), ("pending", 1, 0), "{name}");
        assert_eq!(task.owner, None);
        assert_eq!(board.story(1), ["created test", "claimed alice", "returned alice"]);
        assert!(board.ask(board.team().waiting_bundles(9)).is_empty());
    }
}

#[test]
fn a_worker_without_a_model_takes_no_task() {
    let world = World::new(NO_MODEL);
    let board = board(&world);
    board.add("Spared", "", &[]);
    for (model, words) in [
        ("openai/gpt-6.1-sol", "The model can't be asked: set OPENAI_API_KEY."),
        ("nobody/nothing", "there is no provider nobody"),
    ] {
        world.configure(&format!("model = \"{model}\"\n"));
        let ran = end(worker(&world, &["--name", "alice"])).ended(1);
        assert!(ran.err.contains(words), "{model}: {ran:?}");
    }
    assert_eq!(board.story(1), ["created test"]);
    let members = team(&world, &["members"]).out;
    assert!(!members.contains("alice"), "{members}");
}

#[test]
fn a_second_signal_ends_a_worker_at_once() {
    let never = ScriptedReply::new().text("never").gate(ReplyPlace::Answer, "never");
    let model = ScriptedModel::start([never]).unwrap();
    let world = World::with(&model);
    let board = board(&world);
    board.add("Long", "", &[]);
    let child = worker(&world, &["--name", "alice"]);
    model.wait_until_reached_blocking("never");
    // It may end well before the second comes.
    signal(&child, "TERM");
    signal(&child, "TERM");
    let code = end(child).code;
    assert!([Some(0), Some(130)].contains(&code), "{code:?}");
}

#[test]
fn a_name_that_lives_can_not_be_taken_and_others_are_made_up() {
    let world = World::new(NO_MODEL);
    let board = board(&world);
    let members = |board: &TeamBoard| board.ask(board.team().members()).len();
    let first = worker(&world, &["--name", "alice", "--stay"]);
    board.wait("alice", |board| members(board) == 2);
    let ran = end(worker(&world, &["--name", "alice"])).ended(1);
    assert!(ran.err.contains("A member named alice is at work already."), "{ran:?}");
    let ran = end(worker(&world, &["--name", "al ice"])).ended(1);
    assert!(ran.err.contains("can't be a name"), "{ran:?}");
    let second = worker(&world, &["--stay"]);
    board.wait("worker-1", |board| members(board) == 3);
    let third = worker(&world, &["--stay"]);
    board.wait("worker-2", |board| members(board) == 4);
    for (child, name) in [(first, "alice"), (second, "worker-1"), (third, "worker-2")] {
        let ran = stopped(child).ended(0);
        assert!(ran.err.contains(&format!("{name} has joined the team crew.")), "{ran:?}");
    }
    // Its name is free again.
    let again = worker(&world, &["--name", "alice", "--stay"]);
    board.wait("alice again", |board| {
        let members = board.ask(board.team().members());
        members.iter().any(|member| member.name == "alice" && member.epoch == 2)
    });
    stopped(again).ended(0);
}
