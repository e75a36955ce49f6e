//! Sets of tools: whatever the model is offered, neither its prompt nor a result sends it to a tool that it has not.

use crate::bench::*;
use ropewalk_protocol::{Mode, StopReason};
use serde_json::{Value, json};

/// Tools whose names are no words of the language.
const NAMES: &[&str] = &[
    "bash",
    "glob",
    "read_file",
    "write_file",
    "edit_file",
    "delete_file",
    "move_file",
    "list_dir",
    "todo_write",
    "load_skill",
    "check_background",
];

/// Calls that fail, or whose results say how to go on.
fn telling_calls() -> Vec<(&'static str, Value)> {
    let edit =
        |old: &str| ("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": "y"}));
    vec![
        ("read_file", json!({"path": "."})),
        ("read_file", json!({"path": "none.txt"})),
        ("read_file", json!({"path": "../out.txt"})),
        ("read_file", json!({"path": "long.txt"})),
        ("read_file", json!({"path": "a.txt", "offset": 99})),
        ("write_file", json!({"path": "b.txt", "content": "\0"})),
        ("write_file", json!({"path": "."})),
        ("edit_file", json!({"path": "empty.txt", "old_text": "x", "new_text": "y"})),
        ("edit_file", json!({"path": "bytes", "old_text": "x", "new_text": "y"})),
        edit("     1\tone"),
        edit("wholly different"),
        edit("o"),
        ("delete_file", json!({"path": "none.txt"})),
        ("move_file", json!({"path": "none.txt", "to": "b.txt"})),
        ("list_dir", json!({"path": "a.txt"})),
        ("grep", json!({"pattern": "(", "path": "none"})),
        ("glob", json!({"pattern": "*", "path": "a.txt"})),
        ("diagnostics", json!({})),
        ("bash", json!({"command": "seq 100000"})),
        ("bash", json!({"command": "sleep 60", "background": true})),
        ("check_background", json!({"id": 99})),
        ("load_skill", json!({"name": "none"})),
        ("no_such_tool", json!({})),
    ]
}

#[tokio::test]
async fn nothing_names_a_tool_that_is_not_offered() {
    let sets: [Option<&[&str]>; 6] = [
        None,
        Some(&["bash"]),
        Some(&["read_file", "grep"]),
        Some(&["read_file", "write_file", "edit_file"]),
        Some(&["bash", "list_dir", "diagnostics"]),
        Some(&["write_file", "delete_file", "move_file", "glob"]),
    ];
    for (set, tokens) in sets.iter().flat_map(|set| [(set, 8_192), (set, 200_000)]) {
        for mode in [Mode::Auto, Mode::Plan] {
            let all = telling_calls().into_iter().map(|(tool, input)| calls(tool, input));
            let context = CountedContext { tokens, overflow: Overflow::Refuse };
            let protocol = ropewalk_model::Protocol::Anthropic;
            let replies: Vec<ScriptedReply> = all.chain([says("Done.")]).collect();
            let mut bench = start_counting(protocol, replies, (context, true), |settings| {
                settings.tools = set.map(|set| set.iter().map(|name| (*name).to_owned()).collect());
                settings.mode = mode;
                settings.mechanisms.compaction = false;
                settings.interactive = false;
                settings.limits.identical_failures = 99;
                settings.limits.steps = 99;
                settings.rules.allow = vec!["bash(*)".parse().unwrap()];
            });
            bench.file("a.txt", "one\ntwo\n").file("empty.txt", "");
            bench.file("long.txt", &format!("{}\n", "x".repeat(60_000)).repeat(3));
            std::fs::write(bench.path("bytes"), [0_u8, 159, 146, 150]).unwrap();
            assert_eq!(bench.run("Do it all.").await, StopReason::EndTurn);
            let mut said = bench.model.requests().pop().unwrap();
            let tools = said["tools"].take().to_string();
            let is_offered = |name: &&&str| tools.contains(&format!("\"name\":\"{name}\""));
            // The calls of the script stand in the model's messages.
            let messages = said["messages"].as_array_mut().unwrap();
            messages.retain(|message| message["role"] != "assistant");
            let said = said.to_string();
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            for name in NAMES.iter().filter(|name| !is_offered(name)) {
                // A refusal repeats the name that was called.
                let said = said.replace(&format!("Unknown tool: {name}"), "");
                let said = said.replace(&format!("Invalid input for {name}"), "");
                let named = said.split(|c| !is_word(c)).any(|word| word == *name);
                let at = said.find(name).unwrap_or_default();
                let around = said.get(at.saturating_sub(80)..(at + 80).min(said.len()));
                assert!(!named, "{set:?}, {tokens} tokens, {mode}: {name}: {around:?}");
            }
        }
    }
}
