//! Model servers that quote the key, send it elsewhere, or repeat it; and addresses that hold one.

use crate::world::{KEY, Ran, World};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_testkit::planted::{self, KEY as FAMOUS};
use serde_json::json;
use std::net::TcpListener;

/// True if anybody has connected.
fn is_visited(listener: &TcpListener) -> bool {
    listener.set_nonblocking(true).unwrap();
    listener.accept().is_ok()
}

#[test]
fn a_server_that_quotes_any_key_in_its_refusal() {
    for code in [400, 401, 402, 403, 404, 413, 418, 422, 501] {
        for body in [
            json!({ "type": "error", "error": { "type": "x", "message": format!("{KEY} or {FAMOUS}") } })
                .to_string(),
            format!("no JSON, {KEY}, {FAMOUS}"),
        ] {
            let reply = ScriptedReply::status(code, body).header("content-type", "application/json");
            let model = ScriptedModel::start([reply]).unwrap();
            let world = World::with(&model);
            for args in [&["run", "hello"][..], &["doctor"][..]] {
                let ran = world.run(args);
                assert_eq!(ran.code, Some(1), "{ran:?}");
            }
            // The probe of the doctor is not in the script.
            let _ = model.finish();
        }
    }
}

#[test]
fn no_key_follows_a_redirect() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let location = format!("http://{}/v1/messages?k={KEY}", elsewhere.local_addr().unwrap());
    for code in [301, 302, 303, 307, 308] {
        let reply = ScriptedReply::status(code, "gone").header("location", &location);
        let model = ScriptedModel::start([reply]).unwrap();
        let ran = World::with(&model).run(&["run", "hello"]).ended(1);
        assert!(ran.err.contains("redirects"), "{ran:?}");
    }
    assert!(!is_visited(&elsewhere));
}

#[test]
fn an_address_with_a_password_is_said_without_it() {
    for url in [
        "http://user:PASS@127.0.0.1:9",
        "https://PASS@models.invalid",
        "https://user:PASS@",
        "ftp://user:PASS@models.invalid",
        "https://models.invalid/?key=PASS",
        "user:PASS@models.invalid",
    ] {
        let world = World::new("http://127.0.0.1:9");
        let password = KEY.replace(['/', '+', '='], "x");
        let flag = format!("provider.scripted.base_url={}", url.replace("PASS", &password));
        let short = "limits.retry_seconds=1";
        for args in [&["-c", &flag, "-c", short, "run", "hello"][..], &["-c", &flag, "doctor"][..]]
        {
            let ran = world.run(args);
            assert_ne!(ran.code, Some(0), "{ran:?}");
        }
    }
}

#[test]
fn a_model_that_repeats_a_key_is_not_heard() {
    // Cut in every way, and in what it calls; a request that held it would be refused by the script.
    for size in [1, 7, KEY.len() - 1, 1_000] {
        let words = format!("Yours is {KEY}, and {FAMOUS}. ");
        let command = format!("echo '{KEY}'; echo {FAMOUS} > stolen.txt");
        let model = ScriptedModel::start([
            ScriptedReply::new()
                .thinking(format!("I know {KEY}."), "sealed")
                .forget_thinking()
                .text(&words)
                .call("bash", json!({ "command": command }))
                .deltas_of(size),
            ScriptedReply::new()
                .text("Half of one: ")
                .call("write_file", json!({ "path": "a.txt", "content": words }))
                .deltas_of(size),
            ScriptedReply::new().text(&words).deltas_of(size),
        ])
        .unwrap();
        let world = World::with(&model);
        let args = ["run", "--json", "--mode", "auto", "--allow", "bash(*)", "go"];
        let ran = world.run(&args).ended(0);
        assert!(ran.out.contains("[key]"), "{ran:?}");
        assert!(world.read("a.txt").contains("Yours is [key], and [key]."));
        model.finish().unwrap();
        assert_eq!(joined(&ran, "text_delta").matches("Yours is [key], and [key].").count(), 2);
    }
}

/// The words of all events of a type, in one.
fn joined(ran: &Ran, kind: &str) -> String {
    let events =
        ran.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let words: String = events
        .filter(|e| e["type"] == kind)
        .filter_map(|e| e["text"].as_str().map(str::to_owned))
        .collect();
    planted::assert_absent("the events together", &words);
    words
}
