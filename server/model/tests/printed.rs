//! Calls printed as text: found where they are, and not where they are not.

use proptest::prelude::*;
use ropewalk_model::{Block, PrintedCall, ToolInput, printed_calls, take_printed_calls};
use serde_json::json;

fn is_tool(name: &str) -> bool {
    ["bash", "read_file"].contains(&name)
}

fn ls() -> PrintedCall {
    PrintedCall { name: "bash".into(), input: ToolInput::Json(json!({"command": "ls"})) }
}

#[test]
fn printed_in_many_ways() {
    let json = r#"{"name": "bash", "arguments": {"command": "ls"}}"#;
    for (text, rest) in [
        (json.to_owned(), ""),
        (format!("\n  {json}\n"), ""),
        (format!("[{json}]"), ""),
        (format!("Sure!\n```json\n{json}\n```\nDone."), "Sure!\n\nDone."),
        (format!("```\n{json}\n```"), ""),
        (format!("```tool_call\n{json}"), ""),
        (format!("I look.\n<tool_call>\n{json}\n</tool_call>"), "I look."),
        (format!("<tool_call>{json}"), ""),
        (format!("[TOOL_CALLS][{json}]"), ""),
        (r#"{"tool": "bash", "parameters": {"command": "ls"}}"#.to_owned(), ""),
        (r#"{"function": "bash", "args": "{\"command\": \"ls\"}"}"#.to_owned(), ""),
        (
            r#"{"type": "function", "function": {"name": "bash", "arguments": {"command": "ls"}}}"#
                .to_owned(),
            "",
        ),
    ] {
        assert_eq!(printed_calls(&text, is_tool), (vec![ls()], rest.to_owned()), "{text}");
    }
    let two = format!("<tool_call>{json}</tool_call>\n<tool_call>{json}</tool_call>");
    assert_eq!(printed_calls(&two, is_tool), (vec![ls(), ls()], String::new()));
    assert_eq!(printed_calls(&format!("{json}\n{json}"), is_tool).0, [ls(), ls()]);
}

#[test]
fn what_is_no_call() {
    for text in [
        "",
        "Use `bash`.",
        r#"{"name": "ropewalk", "version": "1"}"#,
        r#"{"name": "bash", "version": "1"}"#,
        r#"{"name": "rm", "arguments": {}}"#,
        r#"{"name": "bash", "arguments": {"command""#,
        r#"Put {"name": "bash", "arguments": {}} into the file."#,
        "```rust\nfn main() {}\n```",
        "```json\n{\"name\": \"x\", \"arguments\": {}}\n```",
        "```",
        "<tool_call>",
        r#"[{"name": "bash", "arguments": {}}, 7]"#,
    ] {
        assert_eq!(printed_calls(text, is_tool), (vec![], text.trim().to_owned()), "{text}");
    }
}

#[test]
fn taken_out_of_a_reply() {
    let text = "I look.\n```json\n{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}}\n```";
    let mut blocks =
        vec![Block::text(text), Block::text("{\"name\": \"bash\", \"arguments\": {}}")];
    assert!(take_printed_calls(&mut blocks, is_tool));
    let call = |number: u32, input| Block::ToolUse {
        id: format!("printed_{number}"),
        name: "bash".into(),
        input: ToolInput::Json(input),
    };
    assert_eq!(
        blocks,
        [Block::text("I look."), call(0, json!({"command": "ls"})), call(1, json!({}))]
    );
    let mut blocks = vec![Block::text("I look.")];
    assert!(!take_printed_calls(&mut blocks, is_tool));
    assert_eq!(blocks, [Block::text("I look.")]);
}

proptest! {
    #[test]
    fn any_text_is_survived(parts in prop::collection::vec(prop::sample::select(vec!["```", "<tool_call>", "</tool_call>", "{\"name\": \"bash\", \"arguments\": {}}", "{", "ü", "\n", "json"]), 0..12)) {
        let text = parts.concat();
        let (calls, rest) = printed_calls(&text, is_tool);
        prop_assert!(calls.is_empty() || rest.len() < text.len());
    }
}

#[test]
fn a_text_of_openers_alone_costs_linear_time() {
    // Work that grows with the square of the text would take minutes; no clock is needed to notice.
    for part in [
        "```",
        "```\n",
        "[TOOL_CALLS]\n",
        "<tool_call></tool_call>",
        "<tool_call>",
        "[TOOL_CALLS]",
        "{\"",
    ] {
        let text = part.repeat((4 << 20) / part.len());
        let (calls, rest) = printed_calls(&text, is_tool);
        assert!(calls.is_empty() && rest == text.trim(), "{part}");
    }
}
