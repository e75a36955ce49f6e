//! The rules every request must keep: those of the protocol, and that nothing sent is changed.
//!
//! Stricter than real servers where they forgive what costs later: the order of results, white
//! space for a message, a changed prefix that misses the prompt cache. It knows one form, that of
//! Anthropic's Messages; requests of other protocols are translated before.

use super::{
    script::{Act, ScriptBlock, ScriptedReply},
    speech::{SentPrefix, Speech, call_id},
    spoken::speech_of,
};
use ropewalk_model::Protocol;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Members a request may have.
const MEMBERS: &[&str] = &[
    "model",
    "max_tokens",
    "stream",
    "system",
    "tools",
    "messages",
    "temperature",
    "tool_choice",
    "thinking",
    "output_config",
    "stop_sequences",
    "metadata",
    "top_p",
    "top_k",
];
const MOST_MARKERS: usize = 4;

/// Holds what was sent in each conversation, and the thinking that must come back.
pub struct Checker {
    speech: &'static dyn Speech,
    conversations: HashMap<String, SentPrefix>,
    /// By the id of a call, the thinking before it, as the next requests must have it.
    thoughts: HashMap<String, Vec<Value>>,
    /// The ids that were given to calls: the server takes back its own, whatever they are.
    given: HashSet<String>,
}

impl Checker {
    /// For the requests of one protocol.
    pub fn new(protocol: Protocol) -> Checker {
        let (conversations, thoughts) = (HashMap::new(), HashMap::new());
        Checker { speech: speech_of(protocol), conversations, thoughts, given: HashSet::new() }
    }

    /// Remembers that a call was given this id.
    pub fn gave_id(&mut self, id: impl Into<String>) {
        self.given.insert(id.into());
    }

    /// Remembers what the reply to this request, counted from 0, gives: whoever sends one of its calls back must
    /// send the sealed thinking before it too, unchanged.
    pub fn gave(&mut self, request: usize, reply: &ScriptedReply) {
        for (_, act) in &reply.acts {
            if let Act::Event(data) = act
                && let Ok(event) = serde_json::from_str::<Value>(data)
                && let Some(id) = event.pointer("/content_block/id").and_then(Value::as_str)
            {
                self.gave_id(id);
            }
        }
        for (number, block) in reply.blocks.iter().enumerate() {
            if let ScriptBlock::Call { id, .. } = block {
                self.gave_id(call_id(id.as_deref(), request, number));
            }
        }
        if !reply.keeps_thinking {
            return;
        }
        let mut thoughts = Vec::new();
        for (number, block) in reply.blocks.iter().enumerate() {
            match block {
                ScriptBlock::Thinking { thinking, signature } if !signature.is_empty() => {
                    thoughts.extend(self.speech.thought(thinking, signature, request, number));
                }
                ScriptBlock::Call { id, .. } => {
                    let id = call_id(id.as_deref(), request, number);
                    self.thoughts.insert(id, thoughts.clone());
                }
                _ => {}
            }
        }
    }

    /// Holds the body of a request against the rules, and against the earlier requests of its
    /// conversation: each must repeat the bytes of the one before, cache markers aside, and may
    /// only add messages, or blocks to the last one. Gives each violation in words.
    pub fn check(&mut self, conversation: &str, raw: &str) -> Vec<String> {
        let body: Value = match serde_json::from_str(raw) {
            Ok(body) => body,
            Err(error) => return vec![format!("the body is no JSON: {error}")],
        };
        let heard = self.speech.read(raw, &body);
        let mut faults = Faults(heard.faults);
        check_request(&heard.said, &self.given, &mut faults);
        self.check_thoughts(&heard.said, &mut faults);
        if let Some(sent) = heard.sent {
            if let Some(before) = self.conversations.get(conversation) {
                check_prefix(before, &sent, &mut faults);
            }
            self.conversations.insert(conversation.to_owned(), sent);
        }
        faults.0
    }

    fn check_thoughts(&self, body: &Value, faults: &mut Faults) {
        for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
            let (mut before, blocks) = (Vec::new(), message.get("content"));
            for block in blocks.and_then(Value::as_array).into_iter().flatten() {
                match string(block, "type") {
                    "thinking" => before.push(block),
                    "tool_use" => {
                        let id = string(block, "id");
                        let due = self.thoughts.get(id).map(Vec::as_slice).unwrap_or_default();
                        faults.unless(before.ends_with(&due.iter().collect::<Vec<_>>()), || {
                            format!(
                                "before call {id:?} the thinking {due:?} is due, not {before:?}"
                            )
                        });
                    }
                    _ => {}
                }
            }
        }
    }
}

struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, holds: bool, words: impl FnOnce() -> String) {
        if !holds {
            self.0.push(words());
        }
    }
}

fn check_request(body: &Value, given: &HashSet<String>, faults: &mut Faults) {
    for member in body.as_object().into_iter().flat_map(|object| object.keys()) {
        faults.unless(MEMBERS.contains(&member.as_str()), || format!("unknown member {member:?}"));
    }
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    faults.unless(!text("model").is_empty(), || "no model is named".to_owned());
    let tokens = body.get("max_tokens").and_then(Value::as_u64).unwrap_or_default();
    faults.unless(tokens > 0, || "max_tokens is no positive number".to_owned());
    let stream = body.get("stream").and_then(Value::as_bool);
    faults.unless(stream == Some(true), || "stream is not true".to_owned());
    check_thinking(body, tokens, faults);
    match body.get("system") {
        None => {}
        Some(Value::Array(blocks)) if !blocks.is_empty() => {
            for block in blocks {
                let is_text = block.get("type").and_then(Value::as_str) == Some("text");
                faults.unless(is_text && says(block.get("text")), || {
                    "system has a block without text".to_owned()
                });
            }
        }
        system => faults.unless(says(system), || "system says nothing".to_owned()),
    }
    if let Some(tools) = body.get("tools") {
        check_tools(tools, faults);
    }
    let markers = count_markers(body);
    faults.unless(markers <= MOST_MARKERS, || {
        format!("{markers} cache markers, at most {MOST_MARKERS} are allowed")
    });
    match body.get("messages").and_then(Value::as_array) {
        Some(messages) if !messages.is_empty() => check_messages(messages, given, faults),
        _ => faults.0.push("there are no messages".to_owned()),
    }
}

/// Checks a wish for thinking: when it may be made, and the fields that may stand beside it.
fn check_thinking(body: &Value, most: u64, faults: &mut Faults) {
    let effort = body.pointer("/output_config/effort").and_then(Value::as_str);
    let is_effort = matches!(effort, None | Some("low" | "medium" | "high"));
    faults.unless(is_effort, || format!("{effort:?} is no effort"));
    let Some(thinking) = body.get("thinking") else { return };
    for member in ["temperature", "top_p", "top_k"] {
        faults.unless(body.get(member).is_none(), || format!("{member} stands beside thinking"));
    }
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
    match (string(thinking, "type"), budget) {
        ("adaptive", None) => {}
        ("enabled", Some(budget)) => {
            faults.unless((1_024..most).contains(&budget), || {
                format!("a budget of {budget} tokens of thinking in a reply of at most {most}")
            });
            faults.unless(!goes_on_without_thinking(body), || {
                "thinking is wished for in a turn that began without".to_owned()
            });
        }
        _ => faults.0.push(format!("thinking cannot be {thinking}")),
    }
}

/// True if calls were made and answered since the last words of the user's, and the first reply had
/// no thinking.
fn goes_on_without_thinking(body: &Value) -> bool {
    let first_block = |message: &Value| {
        message.pointer("/content/0/type").and_then(Value::as_str).unwrap_or("text").to_owned()
    };
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let is_prompt = |message: &&Value| {
        string(message, "role") == "user" && first_block(message) != "tool_result"
    };
    let messages: Vec<&Value> = messages.collect();
    let start = messages.iter().rposition(is_prompt).map_or(0, |at| at.saturating_add(1));
    let reply = messages.get(start).map(|message| first_block(message));
    reply.is_some_and(|kind| !matches!(kind.as_str(), "thinking" | "redacted_thinking"))
}

fn check_tools(tools: &Value, faults: &mut Faults) {
    let mut names = HashSet::new();
    let tools = tools.as_array().map(Vec::as_slice).unwrap_or_default();
    faults.unless(!tools.is_empty(), || "tools is there, but no tool".to_owned());
    for tool in tools {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        faults.unless(is_name(name), || format!("tool name {name:?} is not allowed"));
        faults.unless(names.insert(name), || format!("tool {name:?} is there twice"));
        let kind = tool.pointer("/input_schema/type").and_then(Value::as_str);
        faults.unless(kind == Some("object"), || {
            format!("the input_schema of tool {name:?} is no object schema")
        });
    }
}

fn check_messages(messages: &[Value], given: &HashSet<String>, faults: &mut Faults) {
    let mut ids = HashSet::new();
    // The calls of the message before, which this one must answer.
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let due = if at % 2 == 0 { "user" } else { "assistant" };
        faults.unless(role == due, || {
            format!("message {at} is of role {role:?}, {due:?} is due: roles alternate from user")
        });
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.as_slice(),
            content => {
                faults.unless(says(content), || format!("message {at} is empty"));
                &[]
            }
        };
        let is_array = message.get("content").is_some_and(Value::is_array);
        faults.unless(!is_array || !blocks.is_empty(), || format!("message {at} is empty"));
        let mut calls = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let place = format!("message {at}, block {number}");
            check_block(&place, role, block, faults);
            if block.get("type").and_then(Value::as_str) == Some("tool_use") {
                let id = string(block, "id");
                faults.unless(ids.insert(id), || format!("{place}: call id {id:?} is not new"));
                let is_plain = is_name(id) && id.len() <= LONGEST_ID;
                faults.unless(is_plain || given.contains(id), || {
                    format!("{place}: id {id:?} not allowed")
                });
                calls.push(id);
            }
        }
        check_results(at, &open, blocks, faults);
        open = calls;
    }
    faults
        .unless(open.is_empty(), || format!("calls {open:?} of the last message have no results"));
}

/// Checks that a message answers the calls of the one before: once each, in order, ahead of the
/// rest.
fn check_results(at: usize, open: &[&str], blocks: &[Value], faults: &mut Faults) {
    let is_result = |block: &&Value| string(block, "type") == "tool_result";
    let answered: Vec<&str> =
        blocks.iter().filter(is_result).map(|block| string(block, "tool_use_id")).collect();
    let led: usize = blocks.iter().take_while(is_result).count();
    faults.unless(led == answered.len(), || {
        format!("message {at}: tool results must come before the rest of the message")
    });
    for id in open {
        let times = answered.iter().filter(|answer| *answer == id).count();
        faults.unless(times == 1, || format!("message {at}: call {id:?} has {times} results"));
    }
    for id in &answered {
        faults.unless(open.contains(id), || {
            format!("message {at}: result for {id:?}, which the message before does not call")
        });
    }
    let same = answered.len() == open.len() && answered.iter().all(|id| open.contains(id));
    faults.unless(!same || answered == open, || {
        format!("message {at}: results {answered:?} are not in the order of the calls {open:?}")
    });
}

fn check_block(place: &str, role: &str, block: &Value, faults: &mut Faults) {
    match (role, string(block, "type")) {
        (_, "text") => {
            faults.unless(says(block.get("text")), || format!("{place}: the text is blank"));
        }
        ("assistant", "thinking") => {
            let signed = !string(block, "signature").is_empty();
            faults.unless(signed, || format!("{place}: thinking without a signature"));
        }
        ("assistant", "redacted_thinking") => {
            let data = !string(block, "data").is_empty();
            faults.unless(data, || format!("{place}: redacted thinking without data"));
        }
        ("assistant", "tool_use") => {
            let name = string(block, "name");
            faults.unless(is_name(name), || format!("{place}: name {name:?} not allowed"));
            let object = block.get("input").is_some_and(Value::is_object);
            faults.unless(object, || format!("{place}: input is no object"));
        }
        ("user", "tool_result") => match block.get("content") {
            None | Some(Value::String(_)) => {}
            Some(Value::Array(parts)) if !parts.is_empty() => {
                for part in parts {
                    let fits = string(part, "type") != "text" || says(part.get("text"));
                    faults.unless(fits, || format!("{place}: the result has a blank text"));
                }
            }
            Some(other) => faults.0.push(format!("{place}: a result cannot be {other}")),
        },
        ("user", "image" | "document") => {}
        (role, kind) => {
            faults.0.push(format!("{place}: a block {kind:?} cannot be said by {role:?}"));
        }
    }
}

fn check_prefix(before: &SentPrefix, now: &SentPrefix, faults: &mut Faults) {
    for (name, old, new) in [
        ("system", &before.system, &now.system),
        ("tools", &before.tools, &now.tools),
        ("the cache key", &before.cache_key, &now.cache_key),
    ] {
        faults.unless(old == new, || format!("{name} has changed: {}", difference(old, new)));
    }
    let last = before.messages.len().saturating_sub(1);
    for (at, old) in before.messages.iter().enumerate() {
        let Some(new) = now.messages.get(at) else {
            faults.0.push(format!("message {at} was sent before and is gone"));
            return;
        };
        // The last message may get more blocks: its bytes still begin with the old ones.
        let (end, more) = before.grows;
        let grown = at == last
            && old.strip_suffix(end).is_some_and(|head| {
                new.strip_prefix(head).is_some_and(|rest| rest.starts_with(more))
            });
        faults.unless(old == new || grown, || {
            format!("message {at} was sent before and has changed: {}", difference(old, new))
        });
    }
}

/// Where two texts part, with a little of what is around.
fn difference(old: &str, new: &str) -> String {
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let around =
        |text: &str| -> String { text.chars().skip(same.saturating_sub(20)).take(60).collect() };
    format!("after {same} characters, …{:?} became …{:?}", around(old), around(new))
}

/// Cache markers in the places where the protocol has them.
fn count_markers(body: &Value) -> usize {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut marked = list(body.get("system"));
    marked.extend(list(body.get("tools")));
    for message in list(body.get("messages")) {
        marked.extend(list(message.get("content")));
    }
    marked.iter().filter(|block| block.get("cache_control").is_some()).count()
}

fn string<'a>(block: &'a Value, member: &str) -> &'a str {
    block.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// True if this is a text with more than white space.
fn says(text: Option<&Value>) -> bool {
    text.and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
}

/// The most characters of a call's id that every server takes.
const LONGEST_ID: usize = 40;

/// True if the protocol allows this as a tool's name or a call's id.
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=128).contains(&name.len()) && name.chars().all(allowed)
}
