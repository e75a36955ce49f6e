//! Calls printed as text: found where they are, and not where they are not.

use proptest::prelude::*;
use ropewalk_model::{
    Block, PrintedCall, ToolInput, printed_calls, printed_tool, take_printed_calls,
};
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

/// One file for each form: what is read and told of it, then the text as a model has written it.
#[test]
fn the_forms_in_which_models_print_calls() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/printed");
    let mut count = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let sample = std::fs::read_to_string(&path).unwrap();
        let (expected, text) = match sample.strip_prefix("---\n") {
            Some(text) => ("", text),
            None => sample.split_once("\n---\n").unwrap(),
        };
        let (calls, rest) = printed_calls(text, is_tool);
        let mut found: Vec<String> = Vec::new();
        for PrintedCall { name, input } in &calls {
            found.push(format!("calls {name} {}", input.as_json().unwrap()));
        }
        found.extend(printed_tool(text, is_tool).map(|tool| format!("tells {tool}")));
        match calls.is_empty() {
            true => assert_eq!(rest, text.trim(), "{file}: nothing is taken out"),
            false if !rest.is_empty() => found.push(format!("rest {rest}")),
            false => {}
        }
        if found.join("\n") != expected {
            wrong.push(format!("{file}:\n{}\nin place of\n{expected}\n", found.join("\n")));
        }
        // Cut anywhere, no other tool is called than in the whole.
        for at in 0..text.len() {
            let Some(part) = text.get(..at) else { continue };
            let (cut, _) = printed_calls(part, is_tool);
            let known = |call: &PrintedCall| calls.iter().any(|whole| whole.name == call.name);
            assert!(calls.is_empty() || cut.iter().all(known), "{file} at {at}");
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 40, "{count} samples");
}

/// Parts of all forms.
const PARTS: &[&str] = &[
    "```",
    "<tool_call>",
    "</tool_call>",
    "{\"name\": \"bash\", \"arguments\": {}}",
    "{",
    "ü",
    "\n",
    "json",
    "<function=bash>",
    "<parameter=a>",
    "</parameter>",
    "</function>",
    "[TOOL_CALLS]",
    "bash",
    "[ARGS]",
    "{}",
    "<|python_tag|>",
    "bash(a='",
    "')",
    "\"\"\"",
    "(",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "[",
    "<｜tool▁call▁begin｜>",
    "<|channel|>commentary",
    "to=functions.",
    "<|message|>",
    "`",
    ">",
    "tool_code",
    "\\x",
];

proptest! {
    #[test]
    fn any_text_is_survived(parts in prop::collection::vec(prop::sample::select(PARTS), 0..12)) {
        let text = parts.concat();
        let (calls, rest) = printed_calls(&text, is_tool);
        prop_assert!(calls.is_empty() || rest.len() < text.len());
        let told = printed_tool(&text, is_tool);
        prop_assert!(calls.is_empty() || told == calls.first().map(|call| call.name.clone()));
    }
}

#[test]
fn a_text_of_openers_alone_costs_linear_time() {
    // Work that grows with the square of the text would take very long; no clock is needed to notice.
    for part in [
        "```",
        "```\n",
        "[TOOL_CALLS]\n",
        "<tool_call></tool_call>",
        "<tool_call>",
        "[TOOL_CALLS]",
        "{\"",
        "{\n",
        "{\"name\": \"bash\",\n",
        "<function=bash>",
        "<function=bash><parameter=a>",
        "<function=bash>{",
        "<tool_call>bash",
        "<tool_call>bash<arg_key>",
        "<tool_call>bash<arg_key>a</arg_key><arg_value>",
        "[TOOL_CALLS]bash[ARGS]{",
        "<|channel|>commentary to=functions.bash",
        "bash(",
        "bash(a=[",
        "bash(a=@\n",
        "bash(a=%\nbash(a=@\n",
        "[bash(\n",
        "`",
        "`\n",
        "`a",
        "``a",
        "> ",
        "<",
        "<invoke name=\"bash\">\n",
    ] {
        let part = part.replace('@', "\"\"\"").replace('%', "'''");
        let text = part.repeat((1 << 20) / part.len());
        let (calls, rest) = printed_calls(&text, is_tool);
        assert!(calls.is_empty() && rest == text.trim(), "{part}");
        printed_tool(&text, is_tool);
    }
    for part in
        ["<function=bash>{}</function>", "{\"name\": \"bash\", \"arguments\": {}}", "`bash` "]
    {
        let count = (1 << 20) / part.len();
        let (calls, _) = printed_calls(&part.repeat(count), is_tool);
        assert_eq!(calls.len(), if part.starts_with('`') { 0 } else { count }, "{part}");
    }
}
