//! EXTENSIONS.md says what is true: every command, every option, and the events, held against what a real server
//! sends. That its tables of events are those of the types is held in the room protocol.

use crate::support::stage::{Stage, edit_input, say};
use ropewalk_testkit::editor::{Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../server/protocol/EXTENSIONS.md");

type Fields = BTreeSet<String>;

/// The words in backticks.
fn ticked(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rows of the table under a heading: the first cell's word, and the other cells.
fn table(heading: &str) -> BTreeMap<String, Vec<String>> {
    let section = PAGE.split("\n## ").find(|part| part.starts_with(heading)).expect(heading);
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split(" | ").map(str::to_owned);
        (ticked(&cells.next().unwrap()).remove(0), cells.collect())
    })
    .collect()
}

fn documented_events() -> BTreeMap<String, Fields> {
    let rows = table("ropewalk/event").into_iter();
    rows.map(|(name, cells)| (name, ticked(&cells[0]).into_iter().collect())).collect()
}

#[test]
fn every_command_and_option_is_documented_and_no_other() {
    let stage = Stage::new("review", &[], []);
    let editor = stage.editor(Profile::UNKNOWN);
    let commands = editor.capabilities()["executeCommandProvider"]["commands"].clone();
    editor.shutdown();
    let commands: BTreeSet<String> = serde_json::from_value(commands).unwrap();
    let documented: BTreeSet<String> = table("Commands").into_keys().collect();
    assert_eq!(documented, commands);
    let options: BTreeSet<String> = table("initializationOptions").into_keys().collect();
    let known: BTreeSet<String> = ropewalk_lsp::client_keys().into_iter().collect();
    assert_eq!(options, known);
}

#[test]
fn a_real_turn_sends_only_what_is_documented() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            ScriptedReply::new()
                .thinking("hm", "signed")
                .text("Look.")
                .call("bash", json!({ "command": "echo ran" }))
                .call("edit_file", edit_input("a.txt", "one", "two")),
            say("Done."),
        ],
    );
    let options = json!({ "events": true, "drawsHunks": true, "approvals": true });
    let editor = stage.editor_with(Profile::VSCODE, options);
    editor.ignore(&[Kind::Progress, Kind::Event]);
    editor.open("a.txt");
    editor.prompt("Go");
    editor.wait_for("the approval", |seen| {
        seen.events().iter().any(|e| e["type"] == "approval_requested").then_some(())
    });
    editor.execute("ropewalk.approve", Value::Null).unwrap();
    editor.wait_for_turn_end();
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    editor.wait_for("the review", |seen| {
        seen.events().iter().any(|e| e["type"] == "reviewed").then_some(())
    });
    let documented = documented_events();
    let words: Fields = ticked(PAGE).into_iter().collect();
    let mut seen = BTreeSet::new();
    for event in editor.events() {
        let name = event["type"].as_str().unwrap().to_owned();
        let fields: Fields = event.as_object().unwrap().keys().cloned().collect();
        let mut expected = documented[&name].clone();
        expected.extend(["type".to_owned(), "session".to_owned()]);
        assert_eq!(fields, expected, "{event}");
        assert!(event["session"].is_string(), "{event}");
        let inner = event["hunks"].as_array().into_iter().flatten().chain([&event["total"]]);
        for field in inner.filter_map(Value::as_object).flat_map(|object| object.keys()) {
            assert!(words.contains(field), "{field} is not documented: {event}");
        }
        seen.insert(name);
    }
    for name in [
        "text_delta",
        "thinking_delta",
        "tool_call",
        "tool_result",
        "tool_output",
        "hunks",
        "usage",
        "approval_resolved",
    ] {
        assert!(seen.contains(name), "{name} did not come: {seen:?}");
    }
    stage.end(editor);
}
