//! Writing requests: messages, prelude, and the body.
//!
//! Everything is serialised once and then only copied. A piece may be several messages of the protocol,
//! with commas between them: each tool result is one.

use super::{
    dialect::{Dialect, Thoughts},
    sealed::Sealed,
};
use crate::{
    Block, Message, ModelRequest, Piece, Prelude, Role, ToolDeclaration, ToolInput,
    markers::{marked, push_marked},
    model::hash,
};
use ropewalk_protocol::Content;
use serde_json::Value;
use std::borrow::Cow;

/// Beginnings of a message of the user's side, and the end of one whose content is a list.
const USER: [&str; 2] = [r#"{"role":"tool""#, r#"{"role":"user""#];
const TAIL: &str = "}]}";

/// Text of a message that has nothing else to say.
const EMPTY: &str = "(empty)";

/// One message of ours as one or more of the protocol's.
pub(super) fn message(dialect: &Dialect, message: &Message) -> Piece {
    match message.role {
        Role::User => user(dialect, &message.content),
        Role::Assistant => assistant(dialect, &message.content),
    }
    .into()
}

/// The results, each a message, then what else there is. A result is a text here: its images stand behind all results.
fn user(dialect: &Dialect, blocks: &[Block]) -> String {
    let mut results: Vec<(&str, String)> = Vec::new();
    let mut parts: Vec<Cow<'_, Content>> = Vec::new();
    for block in blocks {
        if let Block::ToolResult { tool_use_id, content, .. } = block {
            let (images, texts): (Vec<_>, Vec<_>) =
                content.iter().partition(|part| dialect.words_after_results && is_image(part));
            results.push((tool_use_id, in_words(texts.into_iter())));
            if !images.is_empty() {
                let tell = format!("The images of the result of {tool_use_id}:");
                parts.push(Cow::Owned(Content::text(tell)));
                parts.extend(images.into_iter().map(Cow::Borrowed));
            }
        }
    }
    let said = blocks.iter().filter_map(|block| match block {
        Block::Content(content) if !content.is_blank() => Some(Cow::Borrowed(content)),
        _ => None,
    });
    parts.extend(said);
    if !dialect.words_after_results
        && let Some((_, last)) = results.last_mut()
    {
        let words = in_words(parts.iter().map(|part| &**part));
        if !(last.is_empty() || words.is_empty()) {
            last.push_str("\n\n");
        }
        last.push_str(&words);
        parts.clear();
    }
    let mut out = String::new();
    for (id, content) in &results {
        let (id, content) = (json(&id_for(dialect, id)), text(dialect, content));
        push(&mut out, &format!(r#"{{"role":"tool","tool_call_id":{id},"content":{content}}}"#));
    }
    if !parts.is_empty() || results.is_empty() {
        push(&mut out, &format!(r#"{{"role":"user","content":{}}}"#, said_as(dialect, &parts)));
    }
    out
}

/// A text where all of it is words, as every server takes it; else a list.
fn said_as(dialect: &Dialect, parts: &[Cow<'_, Content>]) -> String {
    if !parts.iter().any(|part| is_image(part)) {
        let words = in_words(parts.iter().map(|part| &**part));
        return text(dialect, if words.is_empty() { EMPTY } else { &words });
    }
    let mut list = String::new();
    for part in parts {
        let part = match &**part {
            Content::Image { mime, data } => {
                let url = json(&format!("data:{mime};base64,{data}"));
                format!(r#"{{"type":"image_url","image_url":{{"url":{url}}}}}"#)
            }
            words => format!(r#"{{"type":"text","text":{}}}"#, json(&words.in_words())),
        };
        push(&mut list, &part);
    }
    format!("[{list}]")
}

/// A text as content: a list of one part where that can be marked.
fn text(dialect: &Dialect, words: &str) -> String {
    match (dialect.marked, words) {
        ([], words) => json(words),
        // A part without words is refused.
        (_, "") => format!(r#"[{{"type":"text","text":{}}}]"#, json(EMPTY)),
        (_, words) => format!(r#"[{{"type":"text","text":{}}}]"#, json(words)),
    }
}

fn is_image(content: &Content) -> bool {
    matches!(content, Content::Image { .. })
}

/// All parts in words, as one text: not every server takes them apart.
fn in_words<'a>(parts: impl Iterator<Item = &'a Content>) -> String {
    parts.map(Content::in_words).collect::<Vec<_>>().join("\n\n")
}

fn assistant(dialect: &Dialect, blocks: &[Block]) -> String {
    let said = blocks.iter().filter_map(|block| match block {
        Block::Content(content) if !content.is_blank() => Some(content),
        _ => None,
    });
    let words = in_words(said);
    let (mut thoughts, mut details) = (String::new(), String::new());
    let mut made: Vec<(String, Option<Value>)> = Vec::new();
    // Sealed reasoning is about the calls before it, up to those of the reply before.
    let mut first = 0;
    for block in blocks {
        match block {
            Block::Thinking { thinking, .. } => thoughts.push_str(thinking),
            Block::ToolUse { id, name, input } => made.push((call(dialect, id, name, input), None)),
            Block::RedactedThinking { data } => {
                let sealed = Sealed::read(data).unwrap_or_default();
                sealed
                    .reasoning_details
                    .iter()
                    .for_each(|one| push(&mut details, &one.to_string()));
                let theirs = made.iter_mut().skip(first).map(|(_, extra)| extra);
                theirs.zip(sealed.calls).for_each(|(extra, theirs)| *extra = theirs);
                first = made.len();
            }
            _ => {}
        }
    }
    let mut calls = String::new();
    for (call, extra) in made {
        let extra = extra.map(|extra| format!(r#","extra_content":{extra}"#));
        push(&mut calls, &format!("{call}{}}}", extra.as_deref().unwrap_or(dialect.call_extra)));
    }
    let content = match (words.as_str(), calls.as_str()) {
        ("", "") => json(EMPTY),
        ("", _) => "null".to_owned(),
        (words, _) => json(words),
    };
    let mut out = format!(r#"{{"role":"assistant","content":{content}"#);
    let member = match dialect.thoughts {
        Thoughts::Sent(name) if !thoughts.is_empty() => Some(name),
        Thoughts::Always(name) if !(thoughts.is_empty() && calls.is_empty()) => Some(name),
        _ => None,
    };
    if !details.is_empty() {
        out.push_str(&format!(r#","reasoning_details":[{details}]"#));
    } else if let Some(name) = member {
        out.push_str(&format!(",{}:{}", json(name), json(&thoughts)));
    }
    if !calls.is_empty() {
        out.push_str(&format!(r#","tool_calls":[{calls}]"#));
    }
    out.push('}');
    out
}

/// A call without its end.
fn call(dialect: &Dialect, id: &str, name: &str, input: &ToolInput) -> String {
    // A string that holds an object: servers that fill templates parse it, and fail at anything else.
    let arguments = match input {
        ToolInput::Json(object @ Value::Object(_)) => object.to_string(),
        ToolInput::Json(other) => serde_json::json!({ "not_an_object": other }).to_string(),
        ToolInput::Broken(text) => serde_json::json!({ "not_json": text }).to_string(),
    };
    let (id, name, arguments) = (json(&id_for(dialect, id)), json(name), json(&arguments));
    format!(r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}"#)
}

/// The id as the dialect wants it: the same for a call and its result, whenever it is asked for.
fn id_for<'a>(dialect: &Dialect, id: &'a str) -> Cow<'a, str> {
    const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if !dialect.short_ids || id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Cow::Borrowed(id);
    }
    let mut rest = hash(&[id]);
    let short = (0..9).filter_map(|_| {
        let at = usize::try_from(rest % 62).ok()?;
        rest /= 62;
        LETTERS.get(at).map(|letter| char::from(*letter))
    });
    Cow::Owned(short.collect())
}

/// Tools as a member of the request's object, and the beginning of its messages with the system prompt.
pub(super) fn prelude(dialect: &Dialect, system: &str, tools: &[ToolDeclaration]) -> Prelude {
    let mut out = String::new();
    if !tools.is_empty() {
        let mut all = String::new();
        for tool in tools {
            let (name, description) = (json(&tool.name), json(&tool.description));
            let schema = &tool.input_schema;
            push(
                &mut all,
                &format!(
                    r#"{{"type":"function","function":{{"name":{name},"description":{description},"parameters":{schema}}}}}"#
                ),
            );
        }
        out.push_str(&format!(r#""tools":[{all}],"#));
    }
    out.push_str(r#""messages":["#);
    if !system.trim().is_empty() {
        let message = format!(r#"{{"role":"system","content":{}}}"#, text(dialect, system));
        push_marked(&mut out, dialect.marker, &message, TAIL);
    }
    Prelude::new(out)
}

/// The whole body. Costs a copy of its bytes.
pub(super) fn request(
    dialect: &Dialect,
    model: &str,
    effort: Option<&str>,
    request: &ModelRequest,
) -> Vec<u8> {
    let prelude = request.prelude.as_str();
    let mut body = format!(r#"{{"model":{},"stream":true,"#, json(model));
    let length: usize = request.pieces.iter().map(|piece| piece.len().saturating_add(1)).sum();
    body.reserve(prelude.len().saturating_add(length).saturating_add(128));
    if dialect.ask_usage {
        body.push_str(r#""stream_options":{"include_usage":true},"#);
    }
    if dialect.cache_key {
        let key = request.prelude.cache_key(model);
        body.push_str(&format!(r#""prompt_cache_key":"{key}","#));
    }
    body.push_str(dialect.members);
    if let Some(effort) = effort {
        body.push_str(&format!(r#""reasoning_effort":"{effort}","#));
    }
    body.push_str(&format!(r#""{}":{},"#, dialect.most_tokens, request.max_tokens));
    body.push_str(prelude);
    let mut first = prelude.ends_with('[');
    let is_user = |piece: &Piece| USER.iter().any(|start| piece.starts_with(start));
    let marks: Vec<usize> = match dialect.marked {
        [] => Vec::new(),
        _ => marked(&request.pieces, is_user).collect(),
    };
    for (at, piece) in request.pieces.iter().enumerate() {
        if !std::mem::take(&mut first) {
            body.push(',');
        }
        match marks.contains(&at) {
            true => push_marked(&mut body, dialect.marker, piece, TAIL),
            false => body.push_str(piece),
        }
    }
    body.push_str("]}");
    body.into_bytes()
}

/// Appends an item to a list.
fn push(list: &mut String, item: &str) {
    if !list.is_empty() {
        list.push(',');
    }
    list.push_str(item);
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body of a request of so many messages.
    fn body((base_url, model): (&str, &str), count: usize) -> String {
        let dialect = Dialect::of("", base_url, model);
        let (id, name) = ("1".to_owned(), "t".to_owned());
        let call = Block::ToolUse { id, name, input: ToolInput::Broken(String::new()) };
        let said = [
            Message::user("one"),
            Message { role: Role::Assistant, content: vec![call] },
            Message { role: Role::User, content: vec![Block::result("1", "", false)] },
            Message { role: Role::Assistant, content: vec![Block::text("two")] },
            Message::user("three"),
        ];
        let pieces = said.iter().take(count).map(|said| message(&dialect, said)).collect();
        let prelude = prelude(&dialect, "be brief", &[]);
        let request = ModelRequest { prelude, pieces, max_tokens: 9 };
        String::from_utf8(super::request(&dialect, model, None, &request)).unwrap()
    }

    #[test]
    fn z_ai_is_asked_to_stream_calls() {
        let at = |base_url| body((base_url, "glm-5.3"), 1).contains(r#""tool_stream":true,"#);
        assert!(at("https://api.z.ai/api/paas/v4") && !at("https://models.example.org/v1"));
    }

    #[test]
    fn what_is_cached_only_where_it_is_marked_is_marked() {
        let openrouter = "https://openrouter.ai/api/v1";
        for (at, expected) in [
            ((openrouter, "anthropic/claude-sonnet-5.5"), 3),
            ((openrouter, "Qwen/qwen3-coder"), 3),
            ((openrouter, "openai/gpt-6.1-sol"), 0),
            (("https://api.openai.com/v1", "anthropic/claude-sonnet-5.5"), 0),
        ] {
            let last = body(at, 5);
            assert_eq!(last.matches("cache_control").count(), expected, "{last}");
            let unmarked = |body: &str| body.replace(Dialect::of("", "", "").marker, "");
            let (before, now) = (unmarked(&body(at, 3)), unmarked(&last));
            assert!(now.starts_with(before.strip_suffix("]}").unwrap()), "{before}\n{now}");
            if expected > 0 {
                assert!(last.contains(r#""text":"(empty)","cache_control""#), "{last}");
                assert!(last.contains(r#""text":"be brief","cache_control""#), "{last}");
            }
            serde_json::from_str::<Value>(&last).unwrap();
        }
    }
}
