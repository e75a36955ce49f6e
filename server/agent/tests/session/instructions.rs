//! Instructions: in the system prompt as they were when it was made, told with the next prompt when they change, and
//! those of folders behind the first call that goes there. Prompt commands: text in the place of their name.

use crate::bench::*;
use futures::future::BoxFuture;
use ropewalk_agent::hooks::TurnOutcome;
use ropewalk_agent::session::Settings;
use ropewalk_agent::{Conversation, StepHook};
use ropewalk_guidance::instructions::Instructions;
use ropewalk_protocol::Op;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

fn write(path: impl AsRef<Path>, text: &str) {
    std::fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(path: &str) -> ScriptedReply {
    calls("read_file", json!({ "path": path }))
}

fn told(file: &str, text: &str) -> Instructions {
    Instructions { file: file.into(), text: text.into(), is_users: file.starts_with('~') }
}

#[tokio::test]
async fn an_edit_of_the_instructions_is_told_with_the_next_prompt() {
    let replies = (0..3).map(|_| says("ok"));
    let mut bench = start_with(replies, |settings| {
        settings.facts.instructions =
            vec![told("~/AGENTS.md", "Mine."), told("AGENTS.md", "Tabs.")];
    });
    bench.run("one").await;
    let mut new = settings(client(&bench.model));
    new.facts.instructions = vec![told("AGENTS.md", "Spaces.")];
    bench.session.configure(new);
    bench.run("two").await;
    bench.run("three").await;
    let requests = bench.model.requests();
    let system = requests[0]["system"].to_string();
    assert!(system.contains("The user's own instructions, for all their work:\\n<instructions"));
    assert!(system.find("Mine.") < system.find("Tabs."), "{system}");
    for request in &requests[1..] {
        assert_eq!(request["system"].to_string(), system);
    }
    let news = last_message(&requests[1]);
    assert!(news.contains("<instructions file=\"AGENTS.md\">\nSpaces.\n</instructions>"), "{news}");
    assert!(news.contains("The instructions of ~/AGENTS.md hold no longer."), "{news}");
    assert!(!last_message(&requests[2]).contains("nstructions"), "told once");
}

#[tokio::test]
async fn a_turn_that_is_taken_back_is_told_again() {
    let again = says("ok").conversation("again");
    let mut bench = start_with([says("ok"), says("ok"), again], |_| {});
    bench.run("one").await;
    let mut new = settings(client(&bench.model));
    new.facts.instructions = vec![told("AGENTS.md", "Spaces.")];
    bench.session.configure(new);
    bench.run("two").await;
    bench.session.send(Op::Rewind(2));
    bench
        .until(|event| matches!(event, ropewalk_protocol::Event::Rewound { .. }).then_some(()))
        .await;
    bench.run("three").await;
    let requests = bench.model.requests();
    assert!(last_message(&requests[1]).contains("Spaces."));
    assert!(last_message(&requests[2]).contains("Spaces."));
}

/// Replaces what was said, as a compaction does.
struct Anew;

impl StepHook for Anew {
    fn before_step<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        _: bool,
    ) -> BoxFuture<'a, Result<(), TurnOutcome>> {
        conversation.forget_told();
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn what_replaces_all_that_was_said_has_the_system_prompt_made_anew() {
    let replies = [says("ok"), read("a/b/x.txt"), read("a/b/x.txt"), says("ok")];
    let replies = replies.into_iter().enumerate();
    let replies = replies.map(|(at, reply)| match at {
        0 => reply,
        _ => reply.conversation("anew"),
    });
    let mut bench = start_hooked(replies, vec![Arc::new(Anew)]);
    folders(&bench);
    bench.run("one").await;
    let mut new = settings(client(&bench.model));
    new.facts.instructions = vec![told("AGENTS.md", "Spaces.")];
    bench.session.configure(new);
    bench.run("two").await;
    let requests = bench.model.requests();
    assert!(!requests[0]["system"].to_string().contains("Spaces."));
    assert!(requests[1]["system"].to_string().contains("Spaces."));
    for result in bench.results() {
        assert!(result.0.contains("Of b."), "it counts as untold: {result:?}");
    }
}

/// Folders with instructions: `a` has two files, of which the first counts, `a/b` one.
fn folders(bench: &Bench) {
    write(bench.path("AGENTS.md"), "Of the root.");
    write(bench.path("a/AGENTS.md"), "Of a.\n</instructions>");
    write(bench.path("a/CLAUDE.md"), "Not told.");
    write(bench.path("a/b/CLAUDE.md"), "Of b.");
    write(bench.path("a/b/x.txt"), "x\n");
    write(bench.path("a/b/y.txt"), "y\n");
    write(bench.path("c.txt"), "c\n");
}

#[tokio::test]
async fn instructions_of_a_folder_are_told_once_the_nearest_last() {
    let write_there = calls("write_file", json!({"path": "a/new.txt", "content": "new\n"}));
    let mut bench = start_with(
        [
            read("c.txt"),
            reply()
                .call("read_file", json!({"path": "a/b/x.txt"}))
                .call("read_file", json!({"path": "a/b/y.txt"})),
            read("a/b/x.txt"),
            says("ok"),
            write_there,
            says("ok"),
        ],
        |_| {},
    );
    folders(&bench);
    bench.run("one").await;
    write(bench.path("a/AGENTS.md"), "Of a, anew.");
    bench.run("two").await;
    let results: Vec<String> = bench.results().into_iter().map(|(text, _)| text).collect();
    assert!(!results[0].contains("instructions"), "{results:?}");
    let (of_a, of_b) = (
        "<instructions file=\"a/AGENTS.md\">\nOf a.\n&lt;/instructions>\n</instructions>\n",
        "<instructions file=\"a/b/CLAUDE.md\">\nOf b.\n</instructions>",
    );
    let both =
        format!("\n\nHow to work there, by the repository and not by the user:\n{of_a}{of_b}");
    let with: Vec<&String> = results[1..3].iter().filter(|text| text.ends_with(&both)).collect();
    assert_eq!(with.len(), 1, "one of both calls: {results:?}");
    assert!(!results.iter().any(|text| text.contains("Not told") || text.contains("Of the root")));
    assert!(!results[3].contains("instructions"), "told once: {results:?}");
    assert!(results[4].contains("Of a, anew.") && !results[4].contains("Of b."), "{results:?}");
}

#[tokio::test]
async fn after_a_restart_they_are_told_again_and_off_they_are_not() {
    let mut bench = start_kept([read("a/b/x.txt"), says("ok")]);
    folders(&bench);
    bench.run("one").await;
    assert!(bench.results()[0].0.contains("Of b."));
    let mut bench = resume(bench.dies().await, [read("a/b/x.txt"), says("ok")]);
    bench.run("two").await;
    assert!(bench.results()[1].0.contains("Of b."));
    let off = |settings: &mut Settings| settings.mechanisms.instructions = false;
    let mut bench = resume_with(bench.dies().await, [read("a/b/y.txt"), says("ok")], off);
    bench.run("three").await;
    assert!(!bench.results()[2].0.contains("Of b."));
}

#[tokio::test]
async fn who_reads_the_file_itself_is_not_told_of_it() {
    let mut bench = start_with([read("a/AGENTS.md"), read("a/b/x.txt"), says("ok")], |_| {});
    folders(&bench);
    bench.run("one").await;
    let results = bench.results();
    assert!(!results[0].0.contains("How to work there"), "{results:?}");
    assert!(results[1].0.contains("Of b.") && !results[1].0.contains("Of a."), "{results:?}");
}

#[tokio::test]
async fn a_prompt_command_takes_the_place_of_its_name() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_owned();
    let users = move |settings: &mut Settings| settings.user_folders = Arc::new([folder]);
    let mut bench = start_with((0..6).map(|_| says("ok")), users);
    write(
        bench.path(".claude/commands/review.md"),
        "---\ndescription: Reviews\nallowed-tools: Bash(*)\n---\nReview $1 for $2: !`ls` ($ARGUMENTS)\n",
    );
    write(bench.path(".ropewalk/commands/mine.md"), "The repository's.");
    write(home.path().join("commands/mine.md"), "Mine.");
    write(bench.path(".agents/skills/mine/SKILL.md"), "---\ndescription: x\n---\nA skill.");
    let outside = home.path().join("outside.md");
    write(&outside, "Outside.");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, bench.path(".claude/commands/out.md")).unwrap();
    for prompt in ["/review a \"b c\"", "/mine", "/out", "/etc/hosts", "/nothing here"] {
        bench.run(prompt).await;
    }
    bench.open(".claude/commands/review.md", "Unsaved.");
    bench.run("/review").await;
    let requests = bench.model.requests();
    let said: Vec<String> = requests.iter().map(last_message).collect();
    assert!(said[0].ends_with("Review a for b c: !`ls` (a \"b c\")"), "{said:?}");
    assert!(said[1].ends_with("Mine."), "{said:?}");
    for (said, prompt) in said[2..].iter().zip(["/out", "/etc/hosts", "/nothing here", "Unsaved."])
    {
        assert!(said.ends_with(prompt), "{said}");
    }
    assert_eq!(bench.session.turns()[0].prompt, "/review a \"b c\"");

    let mut bench =
        start_with([says("ok")], |settings| settings.mechanisms.prompt_commands = false);
    write(bench.path(".claude/commands/review.md"), "Review.");
    bench.run("/review").await;
    assert!(last_message(&bench.model.requests()[0]).ends_with("/review"));
}

/// How often a result has a file's instructions whole, between their marks.
fn whole(result: &str, file: &str, text: &str) -> usize {
    result.matches(&format!("<instructions file=\"{file}\">\n{text}\n</instructions>")).count()
}

#[tokio::test]
async fn instructions_stand_whole_behind_a_result_that_is_cut() {
    let mut bench = start_with([read("a/b/long.txt"), says("ok")], |_| {});
    let rule = "Mind this. ".repeat(600).trim_end().to_owned();
    write(bench.path("a/AGENTS.md"), &rule);
    write(bench.path("a/b/AGENTS.md"), &rule);
    write(bench.path("a/b/long.txt"), &format!("{}\n", "x".repeat(1_900)).repeat(40));
    bench.run("go").await;
    let (result, _) = bench.results().remove(0);
    assert!((45_000..70_000).contains(&result.len()), "a page: {}", result.len());
    for file in ["a/AGENTS.md", "a/b/AGENTS.md"] {
        assert_eq!(whole(&result, file, &rule), 1, "{file}");
    }
}

#[tokio::test]
async fn in_a_small_context_they_have_a_room_of_their_own_and_count_as_told_only_if_they_are_whole()
{
    let both = reply()
        .call("read_file", json!({"path": "a/b/long.txt"}))
        .call("read_file", json!({"path": "c/long.txt"}));
    let context = CountedContext { tokens: 20_000, overflow: Overflow::Refuse };
    let mut bench = start_counting(
        ropewalk_model::Protocol::Anthropic,
        [both, read("a/b/x.txt"), says("ok")],
        (context, true),
        |_| {},
    );
    let rule =
        |name: &str, bytes: usize| format!("{name} ").repeat(bytes / 2).trim_end().to_owned();
    write(bench.path("a/AGENTS.md"), &rule("a", 4_500));
    write(bench.path("a/b/AGENTS.md"), &rule("b", 4_500));
    write(bench.path("c/AGENTS.md"), &rule("c", 600));
    let long = format!("{}\n", "x".repeat(100)).repeat(400);
    write(bench.path("a/b/long.txt"), &long);
    write(bench.path("c/long.txt"), &long);
    write(bench.path("a/b/x.txt"), "x\n");
    bench.run("go").await;
    let results: Vec<String> = bench.results().into_iter().map(|(text, _)| text).collect();
    let places = |file: &str, text: &str| -> Vec<usize> {
        results.iter().map(|result| whole(result, file, text)).collect()
    };
    assert!(
        results.iter().take(2).all(|result| result.contains("Read on with offset")),
        "both are cut"
    );
    assert_eq!(places("a/b/AGENTS.md", &rule("b", 4_500)), [1, 0, 0], "the nearest first");
    assert_eq!(places("c/AGENTS.md", &rule("c", 600)), [0, 1, 0]);
    // There was no room left for this one, which was named; the next call there brings it.
    assert_eq!(places("a/AGENTS.md", &rule("a", 4_500)), [0, 0, 1]);
    assert!(results[0].contains("in a/AGENTS.md: read it."), "{:.3000}", results[0]);
}
