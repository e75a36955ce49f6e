//! The lean set, and how much of a context system prompt and tools take: in each protocol, wherever commands run.

use crate::bench::*;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use ropewalk_agent::prompt::{PromptFacts, system_prompt};
use ropewalk_guidance::instructions::Instructions;
use ropewalk_model::{
    Delta, Http, Message, Model, ModelError, ModelRequest, Piece, Prelude, Protocol, ServerConfig,
    ServerModel, ToolDeclaration,
};
use ropewalk_protocol::{Event, ModelLimits, StopReason, Usage};
use ropewalk_tools::runner::{BackgroundEnd, BackgroundInfo, Command, Stop};
use ropewalk_tools::tool::ReadFilter;
use ropewalk_tools::{
    CommandMode, CommandRunner, Context, NoCommands, Registry, RunnerInfo, ToolOutput,
};
use ropewalk_workspace::{NoEditor, Roots, View};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const MODES: [CommandMode; 3] = [CommandMode::OverFork, CommandMode::Copy, CommandMode::InPlace];

/// A runner that has chosen this.
struct Runs(CommandMode);

impl CommandRunner for Runs {
    fn begin<'a>(&'a self, view: &'a Arc<View>, hides: &'a Arc<ReadFilter>) -> BoxFuture<'a, ()> {
        NoCommands.begin(view, hides)
    }
    fn info(&self) -> RunnerInfo {
        RunnerInfo { mode: self.0, ..RunnerInfo::default() }
    }
    fn run(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput> {
        NoCommands.run(command, context)
    }
    fn start(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput> {
        NoCommands.start(command, context)
    }
    fn background(&self) -> Vec<BackgroundInfo> {
        NoCommands.background()
    }
    fn look(&self, id: u64) -> Option<BackgroundInfo> {
        NoCommands.look(id)
    }
    fn stop(&self, which: Stop) -> usize {
        NoCommands.stop(which)
    }
    fn finished(&self) -> BoxFuture<'_, BackgroundEnd> {
        Box::pin(std::future::pending())
    }
    fn settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

fn standard() -> Registry {
    Registry::standard(Arc::new(NoCommands), Arc::new(NoEditor))
}

/// System prompt and tools as they go over the wire.
fn prelude(protocol: Protocol, mode: CommandMode, lean: bool, instructions: &str) -> String {
    let runner = Arc::new(Runs(mode));
    let all = ropewalk_agent::tools::registry(runner, Arc::new(NoEditor));
    let registry = if lean { all.lean() } else { all };
    let facts = PromptFacts {
        has_file_tools: true,
        commands: Some(mode),
        lean,
        date: "2026-01-31".into(),
        platform: "linux".into(),
        instructions: (!instructions.is_empty())
            .then(|| Instructions {
                file: "~/project/AGENTS.md".into(),
                text: instructions.into(),
                is_users: false,
            })
            .into_iter()
            .collect(),
        ..PromptFacts::default()
    };
    let root = std::path::PathBuf::from("/home/somebody/work/a-project-with-a-name");
    let roots = Roots::new(vec![("a-project-with-a-name".into(), root)]);
    let specs: Vec<ToolDeclaration> = registry
        .specs()
        .into_iter()
        .map(|spec| ToolDeclaration {
            name: spec.name,
            description: spec.description,
            input_schema: spec.schema,
        })
        .collect();
    let config = ServerConfig::new(protocol, "m");
    let model = ServerModel::new(config, Http::new()).unwrap();
    model.encode_prelude(&system_prompt(&facts, &roots), &specs).as_str().to_owned()
}

#[test]
fn system_prompt_and_tools_are_short_and_shorter_for_a_small_context() {
    for protocol in Protocol::ALL {
        for mode in MODES {
            let whole = prelude(*protocol, mode, false, "").len();
            let lean = prelude(*protocol, mode, true, "").len();
            let told = prelude(*protocol, mode, true, &"Use \"tabs\" – é𝄞.\n".repeat(5_000)).len();
            println!("{} {mode:?}: {whole} and {lean}, {told} with instructions", protocol.name());
            assert!(whole <= 12 * 1024, "{} {mode:?}: {whole}", protocol.name());
            assert!(told <= 4 * 1024, "{} {mode:?}: {told}", protocol.name());
            assert!(lean < told && told < whole);
        }
    }
}

#[test]
fn a_lean_prompt_still_says_what_matters() {
    for mode in MODES {
        let text = prelude(Protocol::Chat, mode, true, "Use tabs.");
        for part in [
            "private copy",
            "/home/somebody/work/a-project-with-a-name",
            "Use tabs.",
            "unsaved text",
        ] {
            assert!(text.contains(part), "{mode:?}: no {part} in {text}");
        }
        let commands = match mode {
            CommandMode::OverFork => "Commands run in your private copy of the project",
            CommandMode::Copy => "Commands run on a copy",
            CommandMode::InPlace => "Commands see the disk: not unsaved text",
        };
        assert!(text.contains(commands), "{text}");
        assert!(!text.contains("list_dir"), "{text}");
    }
    // A cut in the instructions is said.
    let cut = prelude(Protocol::Chat, CommandMode::InPlace, true, &"é".repeat(151));
    assert!(cut.contains("(cut here: read the file for the rest)"), "{cut}");
    let whole = prelude(Protocol::Chat, CommandMode::InPlace, true, &"é".repeat(150));
    assert!(!whole.contains("(cut here"), "{whole}");
}

#[test]
fn the_whole_prompt_says_how_commands_run() {
    let over_fork = [
        "Commands run in your private copy of the project",
        "see unsaved text and your pending changes under the real paths",
        "what they write in the open folders is reviewed with the rest",
        "what they write elsewhere is thrown away",
        "no terminal, no input, and no network unless you set `network` and the user allows it",
        "files that may hold secrets are empty unless named",
        "Changes of .git are dropped: the user commits after accepting",
    ];
    let on_a_copy = [
        "Commands run on a copy of the open folders",
        "paths they print differ",
        "may wait for the user's approval",
    ];
    let in_place = ["commands see the disk, not unsaved text", "may wait for the user's approval"];
    for (mode, parts, others) in [
        (CommandMode::OverFork, over_fork.as_slice(), [on_a_copy[0], in_place[0]]),
        (CommandMode::Copy, &on_a_copy, [over_fork[0], in_place[0]]),
        (CommandMode::InPlace, &in_place, [over_fork[0], on_a_copy[0]]),
    ] {
        let prompt = prelude(Protocol::Chat, mode, false, "");
        for part in parts {
            assert!(prompt.contains(part), "{mode:?}: no {part:?} in {prompt}");
        }
        for other in others {
            assert!(!prompt.contains(other), "{mode:?}: {other:?} in {prompt}");
        }
    }
}

/// A model that finds out with its second look that its context is small, as one that is loaded by its first request.
struct Loads {
    inner: Arc<dyn Model>,
    looks: AtomicU32,
}

impl Model for Loads {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn limits(&self) -> ModelLimits {
        let is_known = self.looks.load(Ordering::SeqCst) > 1;
        ModelLimits { context: is_known.then_some(8192), max_output: None }
    }
    fn find_context(&self) -> BoxFuture<'static, ()> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    }
    fn more_context(&self) -> Option<String> {
        Some("turn the screw".into())
    }
    fn lacks_tools(&self) -> Option<String> {
        let is_known = self.looks.load(Ordering::SeqCst) > 1;
        is_known.then(|| "Its template knows no tools: start it with one that does.".into())
    }
    fn end_in_words(&self, today: &str) -> Option<String> {
        Some(format!("It ends soon after {today}."))
    }
    fn encode(&self, message: &Message) -> Piece {
        self.inner.encode(message)
    }
    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.inner.encode_prelude(system, tools)
    }
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.inner.stream(request)
    }
    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        self.inner.probe()
    }
}

fn offers(
    count: usize,
    tokens: u64,
) -> impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static {
    move |body: &Value| {
        let found = body["tools"].as_array().map_or(0, Vec::len);
        let is_right = found == count && body["max_tokens"] == tokens;
        if is_right { Ok(()) } else { Err(format!("{found} tools, {}", body["max_tokens"])) }
    }
}

fn notices(bench: &Bench, part: &str) -> usize {
    let told =
        |event: &&Event| matches!(event, Event::Notice { message, .. } if message.contains(part));
    bench.seen.iter().filter(told).count()
}

#[tokio::test]
async fn a_small_context_that_is_found_out_later_counts_from_the_next_step_and_is_said_once() {
    // The session adds `todo_write` and `task`.
    let all = standard().names().count() + 2;
    let long = "x".repeat(60_000);
    let replies = [
        calls("read_file", json!({"path": "long.txt"})).expect(offers(all, 32_000)),
        says("ok").conversation("lean").expect(offers(4, 2_048)),
        calls("read_file", json!({"path": "long.txt"}))
            .conversation("lean")
            .expect(offers(4, 2_048)),
        // No more of it than a quarter of the context.
        says("ok").conversation("lean").expect(|body| {
            let last = body["messages"].as_array().and_then(|all| all.last()).map(Value::to_string);
            let length = last.map_or(0, |last| last.len());
            if (4_000..12_000).contains(&length) { Ok(()) } else { Err(length.to_string()) }
        }),
    ];
    let mut bench = start_with(replies, without_compaction);
    bench.file("long.txt", &long);
    let inner = client(&bench.model);
    bench.session.speak_to(Arc::new(Loads { inner, looks: AtomicU32::new(0) }));
    assert_eq!(bench.run("one").await, StopReason::EndTurn);
    assert_eq!(notices(&bench, "8192 tokens of context"), 1, "{:#?}", bench.seen);
    assert_eq!(notices(&bench, "For more: turn the screw."), 1);
    assert_eq!(bench.run("two").await, StopReason::EndTurn);
    assert_eq!(notices(&bench, "Its template knows no tools"), 1);
    assert_eq!(notices(&bench, "It ends soon after 2026-01-31."), 1);
    assert_eq!(notices(&bench, "8192 tokens of context"), 1);
}

#[tokio::test]
async fn a_prompt_of_which_the_server_read_little_is_told_once() {
    let read = |input| Usage { input, output: 1, ..Usage::default() };
    let replies =
        [says("a").usage(read(4_096)), says("b").usage(read(4_096)), says("c").usage(read(60_000))];
    let mut bench = start_with(replies, without_compaction);
    let words = "word ".repeat(20_000);
    assert_eq!(bench.run(&words).await, StopReason::EndTurn);
    assert_eq!(
        notices(&bench, "has read 4096 tokens of a request of 1"),
        1,
        "{:#?}",
        bench.seen.last()
    );
    assert_eq!(bench.run("more").await, StopReason::EndTurn);
    assert_eq!(bench.run("more").await, StopReason::EndTurn);
    assert_eq!(notices(&bench, "has read"), 1);
}

#[tokio::test]
async fn an_odd_count_does_not_override_the_context_that_is_configured() {
    // A server that counts the tokens alone which its cache has not.
    let uncached = Usage { input: 1_400, output: 1, ..Usage::default() };
    let read = |path: &str| calls("read_file", json!({ "path": path })).usage(uncached);
    let mut bench = start([read("a.txt"), read("b.txt"), says("done").usage(uncached)]);
    for name in ["a.txt", "b.txt"] {
        bench.file(name, &format!("{name}\n"));
    }
    let mut config = bench.model.config();
    config.limits.context = Some(200_000);
    bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
    assert_eq!(bench.run(&"word ".repeat(6_000)).await, StopReason::EndTurn, "{:#?}", bench.seen);
    assert_eq!(notices(&bench, "has read 1400 tokens"), 1);
    assert!(!bench.kinds().contains(&"compacted".to_owned()));
}

#[test]
fn the_lean_set_is_what_the_configuration_leaves_of_it() {
    let of = |keep: &[&str]| {
        let kept = standard().only(|name| keep.contains(&name));
        kept.lean().names().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(standard().lean().names().count(), 4);
    assert_eq!(of(&["read_file", "grep", "bash"]), ["bash", "read_file"]);
    assert_eq!(of(&["grep", "glob"]), ["grep", "glob"], "none of the four: what there is");
    assert_eq!(of(&[]), Vec::<String>::new());
}
