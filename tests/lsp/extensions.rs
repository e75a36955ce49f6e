//! EXTENSIONS.md says what is true: every event with its fields, every command, every option, held against the
//! source and against what a real server sends.

use crate::support::stage::{Stage, edit_input, say};
use ropewalk_testkit::editor::{Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../server/lsp/EXTENSIONS.md");
const SOURCE: &str = include_str!("../../server/agent/src/event.rs");
const SERVER_SOURCE: &str = include_str!("../../server/lsp/src/show.rs");

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

/// A name as serde spells it: `snake_case` with a capital before each word, or `camelCase`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for (index, c) in name.char_indices() {
        if c.is_uppercase() && index > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |out, word| {
        let (initial, rest) = word.split_at(1);
        out + &initial.to_uppercase() + rest
    })
}

/// The variants of `enum Event` and `enum ServerEvent` and their fields, as they are on the wire.
fn events_in_the_source() -> BTreeMap<String, Fields> {
    let mut events = variants(SOURCE, "pub enum Event {\n");
    events.extend(variants(SERVER_SOURCE, "pub(crate) enum ServerEvent {\n"));
    events
}

fn variants(source: &str, start: &str) -> BTreeMap<String, Fields> {
    let (_, body) = source.split_once(start).unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let mut events: BTreeMap<String, Fields> = BTreeMap::new();
    let mut variant = String::new();
    for line in body.lines().filter(|line| !line.trim_start().starts_with("//")) {
        if let Some(name) = line.strip_prefix("    ").and_then(|line| line.strip_suffix(" {")) {
            variant = snake(name);
            events.insert(variant.clone(), Fields::new());
        } else if let Some((field, _)) = line.trim_start().split_once(": ") {
            events.get_mut(&variant).unwrap().insert(camel(field));
        }
    }
    events
}

#[test]
fn every_event_is_documented_with_exactly_its_fields() {
    let events = events_in_the_source();
    assert!(events.len() >= 19, "{events:?}");
    assert_eq!(documented_events(), events);
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
    let known: BTreeSet<String> = ropewalk_lsp::known().client_keys.into_iter().collect();
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
