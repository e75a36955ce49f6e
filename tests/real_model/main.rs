//! A whole turn with a real model: it is asked to read a file and to change a word in it.
//!
//! Runs when `ROPEWALK_REAL_MODEL_URL` names a server (server/cli/CLI.md says how, for Ollama and llama.cpp), and says in
//! one line that it is skipped otherwise. A small model may refuse the tools, miss the file, go on to the bound: that is its
//! own affair, and is only said. Ours must hold: the turn ends and not with an error, every call has one result, and what
//! was sent is not changed by what is sent next. A talk of 8,192 tokens must go on over two compactions too.
//!
//! The same is driven against the scripted model always, so that this test can't rot unseen: and against servers
//! that break the turn, which must be found out.

#![expect(clippy::expect_used, reason = "tests and their helpers may be blunt")]

mod compaction;
mod server;

use crate::server::{Desk, Run, Server, URL};
use libtest_mimic::{Arguments, Failed, Trial};
use ropewalk_model::Protocol;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::{Value, json};
use std::process::ExitCode;

const TASK: &str = "Read the file hello.py with read_file. Then use edit_file to change the word world to moon in \
                    it. Then say that it is done.";

/// The course of a turn.
#[derive(Debug)]
struct Turn {
    stop: String,
    calls: usize,
    /// True if the file is as it was asked for.
    edited: bool,
    /// All words of the model.
    said: String,
}

/// Drives a turn. What is wrong with it is said in words.
fn drive(server: &Server) -> Result<Turn, String> {
    let desk = Desk::new(server);
    let file = desk.root().join("hello.py");
    std::fs::write(&file, "print(\"hello world\")\n").expect("a file");
    let Run { events, tape } = desk.run("tape.jsonl", &[], TASK)?;
    stays(&tape)?;
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

/// Both trials with the server that is named.
fn real(server: Server) -> [Trial; 2] {
    let talking = server.clone();
    [
        Trial::test("a_whole_turn_with_a_real_model", move || {
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
        }),
        Trial::test("two_compactions_with_a_real_model", move || {
            let talk = compaction::talk(&talking)?;
            println!(
                "{} over {}: compacted twice after {} prompts, by {}",
                talking.model,
                talking.protocol,
                talk.prompts,
                talk.by.join(" and "),
            );
            Ok(())
        }),
    ]
}

fn main() -> ExitCode {
    let mut trials = Vec::new();
    match Server::named() {
        Ok(Some(server)) => trials.extend(real(server)),
        // Not on standard output, where runners read the list of tests.
        Ok(None) => eprintln!(
            "The turns with a real model are skipped: {URL} names no server (see server/cli/CLI.md)."
        ),
        Err(words) => {
            trials.push(Trial::test("the_server_is_named", move || Err(words.into())));
        }
    }
    for protocol in Protocol::ALL {
        let name = protocol.name();
        trials.push(Trial::test(format!("a_whole_turn_over_{name}"), || whole(*protocol)));
        trials
            .push(Trial::test(format!("a_model_without_tools_over_{name}"), || silent(*protocol)));
        trials.push(Trial::test(format!("a_stuck_model_over_{name}"), || stuck(*protocol)));
        trials.push(Trial::test(format!("two_compactions_over_{name}"), || {
            compaction::scripted(*protocol)
        }));
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
