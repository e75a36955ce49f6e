//! One reply of the model, as a page tells it, made into a reply of the script.

use crate::model::{ReplyPlace, ScriptedReply};
use ropewalk_model::ModelStop;
use serde_json::Value;

/// The place in a call's input for the file that holds the whole of a result that was cut.
const OUTPUT: &str = "$OUTPUT";

/// Part of a reply, in the order of the page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PageReplyPart {
    /// The request's last message has this text.
    Sees(String),
    /// It has not.
    Lacks(String),
    /// Some part of the request has this text: system prompt, tools or any message.
    Holds(String),
    /// No part of it has.
    Nowhere(String),
    /// The request offers these tools and no others.
    Offered(Vec<String>),
    /// The request is of another conversation than those without a name: it need not begin as they do.
    Conversation(String),
    /// The reply is kept for the subagent whose prompt has this text.
    Of(String),
    Thinks(String),
    Says(String),
    /// A call whose input is sent as it stands, valid JSON or not.
    Calls {
        tool: String,
        input: String,
    },
    Stops(ModelStop),
    Waits(String),
    Breaks,
    /// A refusal by status, kind and words, in place of a reply.
    Fails {
        status: u16,
        kind: String,
        words: String,
    },
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct PageReply {
    pub(super) parts: Vec<PageReplyPart>,
}

impl PageReply {
    /// The reply for the script, with its expectations.
    pub(super) fn scripted(&self) -> ScriptedReply {
        let uses_output = self.parts.iter().any(
            |part| matches!(part, PageReplyPart::Calls { input, .. } if input.contains(OUTPUT)),
        );
        let reply = if uses_output {
            let parts = self.parts.clone();
            ScriptedReply::from_fn(move |body| said(&parts, &output_path(body)))
        } else {
            said(&self.parts, OUTPUT)
        };
        self.parts.iter().fold(reply, |reply, part| match part {
            PageReplyPart::Sees(text) => reply.expect_text(text),
            PageReplyPart::Lacks(text) => reply.expect_no_text(text),
            PageReplyPart::Holds(text) => {
                let text = text.clone();
                reply.expect(move |body| holds(body, &text, true))
            }
            PageReplyPart::Nowhere(text) => {
                let text = text.clone();
                reply.expect(move |body| holds(body, &text, false))
            }
            PageReplyPart::Offered(names) => {
                let names = names.clone();
                reply.expect(move |body| offers(body, &names))
            }
            PageReplyPart::Conversation(name) => reply.conversation(name),
            PageReplyPart::Of(prompt) => reply.when(prompt).conversation(prompt),
            _ => reply,
        })
    }

    /// The name of the conversation, if it has one.
    pub(super) fn conversation(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match part {
            PageReplyPart::Conversation(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

fn said(parts: &[PageReplyPart], output: &str) -> ScriptedReply {
    let mut blocks = 0_usize;
    let mut reply = ScriptedReply::new();
    for part in parts {
        let here = if blocks == 0 { ReplyPlace::Answer } else { ReplyPlace::Block(blocks) };
        reply = match part {
            PageReplyPart::Thinks(text) => {
                blocks = blocks.saturating_add(1);
                reply.thinking(text, "signed")
            }
            PageReplyPart::Says(text) => {
                blocks = blocks.saturating_add(1);
                reply.text(text)
            }
            PageReplyPart::Calls { tool, input } => {
                blocks = blocks.saturating_add(1);
                reply.call_raw(tool, input.replace(OUTPUT, output))
            }
            PageReplyPart::Stops(reason) => reply.stop(reason.clone()),
            PageReplyPart::Waits(gate) => reply.gate(here, gate),
            PageReplyPart::Breaks => reply.drop_at(here),
            PageReplyPart::Fails { status, kind, words } => {
                ScriptedReply::refusal(*status, kind, words)
            }
            PageReplyPart::Sees(_)
            | PageReplyPart::Lacks(_)
            | PageReplyPart::Holds(_)
            | PageReplyPart::Nowhere(_)
            | PageReplyPart::Offered(_)
            | PageReplyPart::Conversation(_)
            | PageReplyPart::Of(_) => reply,
        };
    }
    reply
}

/// The file that the request's last message names for the whole of a result.
fn output_path(body: &Value) -> String {
    let said = body.pointer("/messages").map(Value::to_string).unwrap_or_default();
    let path =
        said.rsplit_once("the whole is in ").and_then(|(_, rest)| rest.split_once(", to be read"));
    path.map_or_else(|| "(no output file is named)".to_owned(), |(path, _)| path.to_owned())
}

/// The error says where a request lacks a text, or has it though it must not.
fn holds(body: &Value, text: &str, is_wanted: bool) -> Result<(), String> {
    let parts = ["system", "tools", "messages"];
    let found: Vec<&str> = parts.into_iter().filter(|part| has(body.get(*part), text)).collect();
    if found.is_empty() != is_wanted {
        return Ok(());
    }
    let said = body.get("messages").cloned().unwrap_or_default();
    Err(match is_wanted {
        true => format!("no part of the request says {text:?}: {said}"),
        false => format!("nothing should say {text:?}, but {} does: {said}", found.join(", ")),
    })
}

/// True if some text in a value has this one.
fn has(value: Option<&Value>, text: &str) -> bool {
    match value {
        Some(Value::String(said)) => said.contains(text),
        Some(Value::Array(values)) => values.iter().any(|value| has(Some(value), text)),
        Some(Value::Object(members)) => {
            members.iter().any(|(name, value)| name.contains(text) || has(Some(value), text))
        }
        _ => false,
    }
}

fn offers(body: &Value, wanted: &[String]) -> Result<(), String> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let mut found: Vec<&str> =
        tools.filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect();
    let mut wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    if found == wanted {
        return Ok(());
    }
    Err(format!("the request should offer {wanted:?}, but offers {found:?}"))
}
