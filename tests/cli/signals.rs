//! `ropewalk run` under signals and with an output that nobody reads any more.

use crate::world::{Ran, World};
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};
use serde_json::json;
use std::io::{BufRead, BufReader, Write as _};
use std::process::Child;

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-s", name, &pid]).status().unwrap();
    assert!(sent.success());
}

/// Reads lines until one holds `words`; fails at the end of the stream.
fn read_until(lines: &mut impl BufRead, words: &str) {
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the end came before {words:?}");
    }
}

#[test]
fn a_signal_interrupts_the_turn_and_the_command_in_it() {
    for name in ["INT", "TERM", "HUP"] {
        let command = "echo started; sleep 600; touch survived";
        let reply = ScriptedReply::new().call("bash", json!({"command": command}));
        let model = ScriptedModel::start([reply]).unwrap();
        let world = World::with(&model);
        let args = ["run", "--json", "--allow", "bash(*)", "wait"];
        let mut child = world.ropewalk(&args).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        read_until(&mut out, "\"type\":\"tool_output\"");
        signal(&child, name);
        // The call gets its result, so that the history is whole, and the turn its end.
        read_until(&mut out, "(interrupted by the user)");
        read_until(&mut out, "\"stopReason\":\"interrupted\"");
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert!(ran.ended(130).err.contains("Interrupted; once more ends it at once."));
        assert!(!world.root().join("survived").exists());
    }
}

#[test]
fn a_signal_interrupts_an_answer_that_does_not_come() {
    let reply = ScriptedReply::new().text("never").gate(ReplyPlace::Answer, "never");
    let model = ScriptedModel::start([reply]).unwrap();
    let world = World::with(&model);
    let child = world.ropewalk(&["run", "wait"]).spawn().unwrap();
    model.wait_until_reached_blocking("never");
    signal(&child, "INT");
    let ran: Ran = child.wait_with_output().unwrap().into();
    ran.ended(130);
    model.wait_until_abandoned_blocking(1);
}

#[test]
fn a_signal_ends_the_language_server_in_order() {
    let model = ScriptedModel::start([]).unwrap();
    for name in ["TERM", "HUP", "INT"] {
        let world = World::with(&model);
        let mut child =
            world.ropewalk(&["lsp"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"capabilities": {}, "processId": null, "rootUri": null},
        })
        .to_string();
        let mut input = child.stdin.take().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{message}", message.len()).unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        read_until(&mut out, "Content-Length");
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
    }
}

#[test]
fn a_second_signal_ends_what_stands_still() {
    // More than a pipe holds: whoever writes it stands still until somebody reads.
    let text = "all work and no play\n".repeat(20_000);
    let reply = ScriptedReply::new().text(text).deltas_of(4_096).gate(ReplyPlace::End, "written");
    let model = ScriptedModel::start([reply]).unwrap();
    let world = World::with(&model);
    let mut child = world.ropewalk(&["run", "write"]).spawn().unwrap();
    let out = child.stdout.take().unwrap();
    model.wait_until_reached_blocking("written");
    signal(&child, "INT");
    read_until(&mut BufReader::new(child.stderr.take().unwrap()), "once more ends it at once");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(out);
}

#[test]
fn an_output_that_nobody_reads_ends_the_turn_without_a_panic() {
    for json in [&["run", "--json", "go"][..], &["run", "go"][..]] {
        let reply =
            ScriptedReply::new().text("First.\n").text("Then.").gate(ReplyPlace::Block(1), "gone");
        let model = ScriptedModel::start([reply]).unwrap();
        let world = World::with(&model);
        let mut child = world.ropewalk(json).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        read_until(&mut out, "First.");
        drop(out);
        model.open_gate("gone");
        let ran: Ran = child.wait_with_output().unwrap().into();
        // Moments decide if the end of the turn or the closed output is seen first.
        assert!([Some(0), Some(130)].contains(&ran.code), "{ran:#?}");
        assert!(!ran.err.contains("rror"), "{ran:#?}");
    }
}
