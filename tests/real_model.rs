//! A whole turn with a real model: it is asked to read a file and to change a word in it.
//!
//! Runs when `ROPEWALK_REAL_MODEL_URL` names a server (server/cli/CLI.md says how, for Ollama and llama.cpp), and says in
//! one line that it is skipped otherwise. What a small model makes of the task is its own affair: it may refuse
//! the tools, miss the file, go on to the bound. What must hold is ours: the turn ends and not with an error, every
//! call has one result, what was sent is not changed by what is sent next. Whether the edit was made is said.
//!
//! The same is driven against the scripted model always, so that this test can't rot unseen: and against servers
//! that break the turn, which must be found out.

#![expect(clippy::expect_used, reason = "tests and their helpers may be blunt")]

use libtest_mimic::{Arguments, Failed, Trial};
use ropewalk_model::Protocol;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::{Value, json};
use std::process::{Command, ExitCode, Stdio};

const URL: &str = "ROPEWALK_REAL_MODEL_URL";
const MODEL: &str = "ROPEWALK_REAL_MODEL_MODEL";
const PROTOCOL: &str = "ROPEWALK_REAL_MODEL_PROTOCOL";
const KEY: &str = "ROPEWALK_REAL_MODEL_KEY";
const CONTEXT: &str = "ROPEWALK_REAL_MODEL_CONTEXT";

const TASK: &str = "Read the file hello.py with read_file. Then use edit_file to change the word world to moon in \
                    it. Then say that it is done.";

/// Where a model is.
struct Server {
    url: String,
    model: String,
    protocol: String,
    key: Option<String>,
    /// Tokens that it takes, if they are said.
    context: Option<String>,
}

impl Server {
    /// The one that the environment names.
    fn named() -> Option<Server> {
        let var = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        Some(Server {
            url: var(URL)?,
            model: var(MODEL).unwrap_or_else(|| "local".to_owned()),
            protocol: var(PROTOCOL).unwrap_or_else(|| Protocol::Chat.name().to_owned()),
            key: var(KEY),
            context: var(CONTEXT),
        })
    }

    fn scripted(model: &ScriptedModel) -> Server {
        Server {
            url: model.base_url(),
            model: "scripted".to_owned(),
            protocol: model.protocol().name().to_owned(),
            key: Some("a-key".to_owned()),
            context: None,
        }
    }

    fn config(&self) -> String {
        let mut config = format!(
            "model = {:?}\ncommands.over_fork = \"off\"\n[limits]\nsteps = 8\noutput_tokens = 1000\n\
             [provider.real]\nprotocol = {:?}\nbase_url = {:?}\nprinted_calls = true\n",
            format!("real/{}", self.model),
            self.protocol,
            self.url,
        );
        if self.key.is_some() {
            config.push_str(&format!("api_key_env = {KEY:?}\n"));
        }
        if let Some(context) = &self.context {
            config.push_str(&format!("context = {context}\n"));
        }
        config
    }
}

/// What a turn has come to.
#[derive(Debug)]
struct Turn {
    stop: String,
    calls: usize,
    /// Whether the file is as it was asked for.
    edited: bool,
    /// What the model said, all of it.
    said: String,
}

/// Drives a turn. What is wrong with it is said in words.
fn drive(server: &Server) -> Result<Turn, String> {
    let (home, root) = (tempfile::tempdir(), tempfile::tempdir());
    let (home, root) = (home.expect("a folder"), root.expect("a folder"));
    let config = home.path().join("config/ropewalk");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("config.toml"), server.config()).expect("a file");
    let file = root.path().join("hello.py");
    std::fs::write(&file, "print(\"hello world\")\n").expect("a file");
    let tape = home.path().join("tape.jsonl");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropewalk"));
    command.args(["run", "--json", "--mode", "auto", "--record"]).arg(&tape).arg(TASK);
    command.env_clear().current_dir(root.path()).stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", home.path());
    for (name, folder) in
        [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache")]
    {
        command.env(name, home.path().join(folder));
    }
    if let Some(key) = &server.key {
        command.env(KEY, key);
    }
    let ran = command.output().map_err(|error| error.to_string())?;
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let events: Vec<Value> = lines(&out).map_err(|words| format!("{words}\n{err}"))?;
    is_valid(&events).map_err(|words| format!("{words}\n{out}\n{err}"))?;
    let tape = std::fs::read_to_string(&tape).map_err(|error| format!("{error}\n{err}"))?;
    stays(&lines(&tape)?)?;
    let of =
        |kind: &str| events.iter().filter(|event| text(event, "type") == kind).collect::<Vec<_>>();
    Ok(Turn {
        stop: of("turn_ended").iter().map(|event| text(event, "stopReason")).collect(),
        calls: of("tool_call").len(),
        edited: std::fs::read_to_string(&file).is_ok_and(|text| text == "print(\"hello moon\")\n"),
        said: of("text_delta").iter().map(|event| text(event, "text")).collect(),
    })
}

fn lines(text: &str) -> Result<Vec<Value>, String> {
    let parsed = text.lines().map(|line| {
        serde_json::from_str(line).map_err(|error| format!("{line:?} is no JSON: {error}"))
    });
    parsed.collect()
}

/// How a turn is stopped whose model makes the same failing call again and again, as small ones do.
const STUCK: &str = "Stopped: the model made the same failing call";

/// One turn that ended, without an error that is ours or the server's, every call of it with one result.
fn is_valid(events: &[Value]) -> Result<(), String> {
    let ends: Vec<&Value> =
        events.iter().filter(|event| text(event, "type") == "turn_ended").collect();
    let [end] = ends[..] else { return Err(format!("{} turns have ended", ends.len())) };
    let is_stuck = text(end, "message").starts_with(STUCK);
    if !is_stuck && !["end_turn", "max_tokens", "max_steps"].contains(&text(end, "stopReason")) {
        return Err(format!("the turn ends with {end}"));
    }
    let calls = |kind: &str| {
        let of_kind = events.iter().filter(|event| text(event, "type") == kind);
        let mut ids: Vec<&str> = of_kind.map(|event| text(event, "call")).collect();
        ids.sort_unstable();
        ids
    };
    let (called, answered) = (calls("tool_call"), calls("tool_result"));
    let once = called.windows(2).all(|pair| pair.first() != pair.last());
    let same = called == answered && once;
    if same { Ok(()) } else { Err(format!("called were {called:?}, answered {answered:?}")) }
}

/// Each request of the recording repeats the messages of the one before, but for the last, which may grow.
fn stays(tape: &[Value]) -> Result<(), String> {
    let mut messages = 0;
    for request in tape.iter().filter_map(|line| line.get("request")) {
        let kept = request.get("kept").and_then(Value::as_u64).unwrap_or_default();
        if kept.saturating_add(1) < messages {
            return Err(format!("of {messages} messages only {kept} are sent again as they were"));
        }
        let more = request.get("messages").and_then(Value::as_array).map_or(0, Vec::len);
        messages = kept.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
        if messages > 1 && !request.get("prelude").is_none_or(Value::is_null) {
            return Err("system prompt or tools have changed".to_owned());
        }
    }
    if messages == 0 { Err("nothing was asked".to_owned()) } else { Ok(()) }
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn main() -> ExitCode {
    let mut trials = Vec::new();
    match Server::named() {
        Some(server) => trials.push(Trial::test("a_whole_turn_with_a_real_model", move || {
            let turn = drive(&server)?;
            println!(
                "{} over {}: ended with {}, {} calls, the edit was {}made; it said: {}",
                server.model,
                server.protocol,
                turn.stop,
                turn.calls,
                if turn.edited { "" } else { "not " },
                turn.said.trim(),
            );
            Ok(())
        })),
        None => println!(
            "The turn with a real model is skipped: {URL} names no server (see server/cli/CLI.md)."
        ),
    }
    for protocol in Protocol::ALL {
        let name = protocol.name();
        trials.push(Trial::test(format!("a_whole_turn_over_{name}"), || whole(*protocol)));
        trials
            .push(Trial::test(format!("a_model_without_tools_over_{name}"), || silent(*protocol)));
        trials.push(Trial::test(format!("a_stuck_model_over_{name}"), || stuck(*protocol)));
    }
    for (name, reply, words) in broken() {
        trials.push(Trial::test(format!("is_found_out_{name}"), move || found_out(reply, words)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn whole(protocol: Protocol) -> Result<(), Failed> {
    let edit = json!({"path": "hello.py", "old_text": "world", "new_text": "moon"});
    let model = ScriptedModel::start_over(
        protocol,
        [
            ScriptedReply::new().text("I read.").call("read_file", json!({"path": "hello.py"})),
            ScriptedReply::new().thinking("Now.", "sealed").call("edit_file", edit),
            ScriptedReply::new().text("Done."),
        ],
    )?;
    let turn = drive(&Server::scripted(&model))?;
    let is_whole =
        turn.stop == "end_turn" && turn.calls == 2 && turn.edited && turn.said.ends_with("Done.");
    model.finish().map_err(|faults| faults.join("\n"))?;
    if is_whole { Ok(()) } else { Err(format!("{turn:?}").into()) }
}

/// One that only talks is no fault.
fn silent(protocol: Protocol) -> Result<(), Failed> {
    let reply = ScriptedReply::new().text("I can't use tools.");
    let model = ScriptedModel::start_over(protocol, [reply])?;
    let turn = drive(&Server::scripted(&model))?;
    if turn.stop == "end_turn" && turn.calls == 0 && !turn.edited {
        Ok(())
    } else {
        Err(format!("{turn:?}").into())
    }
}

/// Nor is one that can't leave off.
fn stuck(protocol: Protocol) -> Result<(), Failed> {
    let edit = json!({"path": "hello.py", "old_text": "world", "new_text": "moon"});
    let replies = (0..4).map(|_| ScriptedReply::new().call("edit_file", edit.clone()));
    let model = ScriptedModel::start_over(protocol, replies)?;
    let turn = drive(&Server::scripted(&model))?;
    if turn.calls == 4 && turn.edited { Ok(()) } else { Err(format!("{turn:?}").into()) }
}

/// Servers with which no turn is whole, and a part of the words that say so.
fn broken() -> [(&'static str, ScriptedReply, &'static str); 2] {
    [
        (
            "a_refusal",
            ScriptedReply::refusal(400, "invalid_request_error", "no tools here"),
            "no tools here",
        ),
        (
            "a_wrong_server",
            ScriptedReply::status(200, "<html>").header("content-type", "text/html"),
            "in place of an event stream",
        ),
    ]
}

fn found_out(reply: ScriptedReply, words: &str) -> Result<(), Failed> {
    let model = ScriptedModel::start_over(Protocol::Chat, [reply])?;
    match drive(&Server::scripted(&model)) {
        Err(said) if said.contains(words) => Ok(()),
        other => Err(format!("this should not pass: {other:?}").into()),
    }
}
