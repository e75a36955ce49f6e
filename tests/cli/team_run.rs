//! `ropewalk run` with a team: it waits until the tasks have ended and the lead has had its say, and shows one review.

use crate::team_board::TeamBoard;
use crate::world::{Ran, World};
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};
use serde_json::{Value, json};

const TEXT: &str = "one\ntwo\nthree\n";

/// A world with teams, whose board has a known place.
fn world(model: &ScriptedModel) -> World {
    let world = World::with(model);
    let file = world.home("config/ropewalk/config.toml");
    let config = std::fs::read_to_string(file).unwrap();
    let board = place(&world);
    world.configure(&format!(
        "{config}parallel = 4\n[team]\nenabled = true\nboard = \"{board}\"\npoll = 1\nidle = 5\nattempts = 1\n"
    ));
    world.write("a.txt", TEXT);
    world
}

fn place(world: &World) -> String {
    world.home("crew.sqlite").display().to_string()
}

/// The board of the team that a run in the world has made.
fn board(world: &World) -> TeamBoard {
    let members = world.run(&["team", "members", "--board", &place(world)]).ended(0).out;
    let name = members.lines().next().unwrap().strip_prefix("Team: ").unwrap();
    TeamBoard::new(&place(world), name, "")
}

fn run(world: &World, args: &[&str]) -> Ran {
    world.run(&[&["run", "--allow", "spawn_teammate(*)"], args].concat())
}

fn says(words: &str) -> ScriptedReply {
    ScriptedReply::new().text(words)
}

fn calls(tool: &str, input: Value) -> ScriptedReply {
    ScriptedReply::new().call(tool, input)
}

/// The lead's first reply: two tasks, the second after the first, and alice.
fn begin() -> ScriptedReply {
    let second = json!({ "subject": "Shout three", "blockedBy": [1] });
    calls("task_create", json!({ "subject": "Shout two" })).call("task_create", second).call(
        "spawn_teammate",
        json!({ "name": "alice", "role": "coder", "prompt": "Find work on the board." }),
    )
}

fn of_alice<const N: usize>(replies: [ScriptedReply; N]) -> impl Iterator<Item = ScriptedReply> {
    replies.into_iter().map(|reply| reply.when("You are 'alice'").conversation("alice"))
}

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({ "path": "a.txt", "old_text": old, "new_text": new }))
}

fn done(number: i64) -> ScriptedReply {
    let input = json!({ "task_id": number, "status": "completed", "note": "It is written." });
    calls("task_update", input)
}

/// Alice does both tasks.
fn both() -> impl Iterator<Item = ScriptedReply> {
    of_alice([
        says("I look."),
        edit("two", "TWO").expect_text("Task #1: Shout two"),
        done(1),
        edit("three", "THREE").expect_text("Task #2: Shout three"),
        done(2),
    ])
}

#[test]
fn it_waits_for_the_team_and_has_one_review() {
    let lead = [begin(), says("She is at it."), says("All is loud.").expect_text("2 completed")];
    let model = ScriptedModel::start(lead.into_iter().chain(both())).unwrap();
    let world = world(&model);
    let ran = run(&world, &["Let alice shout"]).ended(6);
    for words in ["She is at it.", "All is loud.", "-two\n-three\n+TWO\n+THREE\n"] {
        assert!(ran.out.contains(words), "{words}: {ran:#?}");
    }
    for words in [
        "alice: Task #1: Shout two\n",
        "alice: edit_file a.txt\n",
        "[x] #2: Shout three @alice\n",
        "tokens by the team",
    ] {
        assert!(ran.err.contains(words), "{words}: {ran:#?}");
    }
    assert!(!ran.err.contains("Next: `ropewalk run"), "{ran:#?}");
    assert_eq!(world.read("a.txt"), TEXT);
    let members = board(&world).ask(board(&world).team().members());
    assert!(members.iter().all(|one| one.state.word() == "shutdown"), "{members:?}");
    world.run(&["accept"]).ended(0);
    assert_eq!(world.read("a.txt"), "one\nTWO\nTHREE\n");
    model.finish().unwrap();
}

#[test]
fn in_mode_auto_what_teammates_have_done_is_written_and_programs_are_told_who_works() {
    let lead = [begin(), says("She is at it."), says("All is loud.").expect_text("2 completed")];
    let model = ScriptedModel::start(lead.into_iter().chain(both())).unwrap();
    let world = world(&model);
    let ran = run(&world, &["--mode", "auto", "--json", "Let alice shout"]).ended(0);
    assert_eq!(world.read("a.txt"), "one\nTWO\nTHREE\n");
    let events: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |member: Value, kind: &str| {
        events.iter().filter(|one| one["member"] == member && one["type"] == kind).count()
    };
    assert_eq!(of(Value::Null, "turn_ended"), 2, "{ran:#?}");
    assert_eq!(of("alice".into(), "turn_started"), 3, "{ran:#?}");
    assert_eq!(of("alice".into(), "tool_call"), 0, "{ran:#?}");
    let is_done = |one: &&Value| one["type"] == "board_task" && one["status"] == "completed";
    assert!(events.iter().any(|one| is_done(&one) && one["number"] == 2), "{ran:#?}");
    model.finish().unwrap();
}

#[test]
fn a_signal_ends_the_team_too_and_its_task_is_returned_uncounted() {
    let never = says("never").gate(ReplyPlace::Answer, "never").expect_text("Task #1");
    let lead = [begin(), says("She is at it.")];
    let model = ScriptedModel::start(lead.into_iter().chain(of_alice([says("I look."), never])));
    let model = model.unwrap();
    let world = world(&model);
    let args = ["run", "--allow", "spawn_teammate(*)", "Let alice shout"];
    let child = world.ropewalk(&args).spawn().unwrap();
    model.wait_until_reached_blocking("never");
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-s", "INT", &pid]).status().unwrap();
    assert!(sent.success());
    let ran: Ran = child.wait_with_output().unwrap().into();
    let ran = ran.ended(130);
    assert!(ran.err.contains("2 tasks of the team are left:\n  #1 Shout two\n"), "{ran:#?}");
    assert!(!ran.err.contains("no member is left"), "it is said once: {ran:#?}");
    let board = board(&world);
    let task = board.task(1);
    assert_eq!((task.status.word(), task.owner, task.failures), ("pending", None, 0));
    assert_eq!(board.story(1), ["created lead", "claimed alice", "returned alice"]);
    let members = board.ask(board.team().members());
    assert!(members.iter().all(|one| one.state.word() == "shutdown"), "{members:?}");
}

#[test]
fn what_nobody_does_is_said_and_the_next_run_goes_on_with_it() {
    let [create, more] = [1, 2].map(|number| json!({ "subject": format!("Task {number}") }));
    let (mut more, shout) = (more, json!({ "name": "alice", "role": "", "prompt": "Find work." }));
    more["blockedBy"] = json!([1]);
    let replies = [
        calls("task_create", create).call("task_create", more),
        says("They wait."),
        calls("spawn_teammate", shout).expect_text("do what is left"),
        says("She is at it."),
        says("Both are done.").expect_text("2 completed"),
    ];
    let alice = [says("I look."), edit("two", "TWO"), done(1), edit("three", "THREE"), done(2)];
    let model = ScriptedModel::start(replies.into_iter().chain(of_alice(alice))).unwrap();
    let world = world(&model);
    let ran = run(&world, &["Plan it"]).ended(0);
    let team = board(&world).team().name().to_owned();
    let left = format!(
        "2 tasks of the team are left:\n  #1 Task 1\n  #2 Task 2 (waits for #1)\n\
         Next: `ropewalk run --continue \"do what is left\"`, or `ropewalk worker --team {team}`."
    );
    assert!(ran.err.contains(&left), "{left}\n{ran:#?}");
    let ran = run(&world, &["--continue", "do what is left"]).ended(6);
    assert!(ran.out.contains("Both are done."), "{ran:#?}");
    assert!(!ran.err.contains("Next: `ropewalk run"), "{ran:#?}");
    model.finish().unwrap();
}

#[test]
fn what_waits_for_a_task_that_has_failed_is_left_once_the_lead_has_had_its_say() {
    let failed = json!({ "task_id": 1, "status": "failed", "note": "There is no two." });
    let lead = [begin(), says("She is at it."), says("It can't be done.").expect_text("no two")];
    let alice = of_alice([says("I look."), calls("task_update", failed)]);
    let model = ScriptedModel::start(lead.into_iter().chain(alice)).unwrap();
    let world = world(&model);
    let ran = run(&world, &["Let alice shout"]).ended(0);
    assert!(ran.out.contains("It can't be done."), "{ran:#?}");
    assert!(ran.err.contains("[!] #1: Shout two (failed)"), "{ran:#?}");
    assert!(ran.err.contains("1 task of the team is left:\n  #2 Shout three"), "{ran:#?}");
    model.finish().unwrap();
}

#[test]
fn a_plan_that_nobody_has_answered_is_named() {
    let spawn = json!({ "name": "alice", "role": "", "prompt": "Plan it.", "plan": true });
    let lead = [
        calls("spawn_teammate", spawn),
        says("She plans."),
        says("I think about it.").expect_text("1. Shout."),
    ];
    let plan = calls(
        "plan_approval",
        json!({ "plan": format!("\n1. Shout.{}\n2. Rest.", " And rest".repeat(20)) }),
    );
    let model = ScriptedModel::start(lead.into_iter().chain(of_alice([plan]))).unwrap();
    let world = world(&model);
    let ran = run(&world, &["Let alice plan"]).ended(0);
    let first: String = format!("1. Shout.{}", " And rest".repeat(20)).chars().take(100).collect();
    let left = format!(
        "1 plan of the team was not answered:\n  alice: {first}…\nNext: `ropewalk run --continue \"do what is left\"`."
    );
    assert!(ran.err.contains(&left), "{ran:#?}");
    model.finish().unwrap();
}

#[test]
fn without_a_rule_no_teammate_starts_where_nobody_is_asked() {
    let model = ScriptedModel::start([begin(), says("Not allowed.").expect_text("not allowed")]);
    let model = model.unwrap();
    let world = world(&model);
    let ran = world.run(&["run", "Let alice shout"]).ended(0);
    assert!(ran.err.contains("2 tasks of the team are left"), "{ran:#?}");
    model.finish().unwrap();
}

#[test]
fn a_command_about_a_session_has_no_team_go_on() {
    let replies = [calls("task_create", json!({ "subject": "Task 1" })), says("It waits.")];
    let model = ScriptedModel::start(replies).unwrap();
    let world = world(&model);
    run(&world, &["Plan it"]).ended(0);
    let ran = world.run(&["run", "/tasks"]).ended(1);
    assert!(ran.err.contains("`ropewalk team tasks`"), "{ran:#?}");
    world.run(&["run", "/todos"]).ended(0);
    model.finish().unwrap();
}
