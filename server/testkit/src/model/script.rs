//! Scripts: replies, the faults in them, and the texts that a request must hold.
//!
//! Data and builders only; how a reply looks on the wire is the protocol's file.

use ropewalk_model::ModelStop;
use ropewalk_protocol::Usage;
use serde_json::Value;
use std::{fmt, sync::Arc};

/// A spot in a reply, where something can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyPlace {
    /// Before the answer's first line.
    Answer,
    /// After this many bytes of the body; past its end, at its end.
    Byte(usize),
    /// Before the block of this number, counted from 0; past the last, as `End`.
    Block(usize),
    /// After the last block, before the stop reason.
    End,
}

/// Act of the server at such a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Stops until the gate is open.
    Gate(String),
    /// The connection breaks.
    Drop,
    /// The body ends cleanly.
    Finish,
    /// An event with this data comes.
    Event(String),
    /// An error event in the protocol's form.
    Error { kind: String, message: String },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScriptBlock {
    Text(String),
    Thinking {
        thinking: String,
        signature: String,
    },
    /// The arguments as they are streamed, valid JSON or not.
    Call {
        name: String,
        json: String,
        /// Its id, if it is no usual one.
        id: Option<String>,
    },
}

/// An answer that is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatusAnswer {
    pub(super) code: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: StatusBody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StatusBody {
    Words(String),
    /// An error in the protocol's form.
    Error {
        kind: String,
        message: String,
    },
}

type Predicate = dyn Fn(&Value) -> Result<(), String> + Send + Sync;
type FromRequest = dyn Fn(&Value) -> ScriptedReply + Send + Sync;

#[derive(Clone)]
pub(super) enum Expectation {
    Contains(String),
    Lacks(String),
    Holds(Arc<Predicate>),
}

/// One reply of the script. Built up from [`new`](ScriptedReply::new) by calls in reading order.
#[derive(Clone)]
pub struct ScriptedReply {
    pub(super) blocks: Vec<ScriptBlock>,
    pub(super) stop_reason: Option<ModelStop>,
    pub(super) usage: Usage,
    pub(super) chunk: Option<usize>,
    pub(super) delta: usize,
    pub(super) acts: Vec<(ReplyPlace, Act)>,
    pub(super) status: Option<StatusAnswer>,
    pub(super) expectations: Vec<Expectation>,
    pub(super) conversation: String,
    pub(super) is_by_beginning: bool,
    pub(super) is_each_alone: bool,
    pub(super) forever: bool,
    pub(super) keeps_thinking: bool,
    pub(super) from_request: Option<Arc<FromRequest>>,
    pub(super) known_ids: Vec<String>,
    pub(super) begins_with: Option<String>,
}

impl Default for ScriptedReply {
    fn default() -> ScriptedReply {
        ScriptedReply::new()
    }
}

impl fmt::Debug for ScriptedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScriptedReply { blocks, acts, status, conversation, .. } = self;
        write!(f, "{blocks:?} {acts:?} {status:?} in {conversation:?}")
    }
}

impl ScriptedReply {
    /// A reply without content yet.
    pub fn new() -> ScriptedReply {
        ScriptedReply {
            blocks: Vec::new(),
            stop_reason: None,
            usage: Usage { input: 100, output: 10, ..Usage::default() },
            chunk: None,
            delta: 16,
            acts: Vec::new(),
            status: None,
            expectations: Vec::new(),
            conversation: "main".to_owned(),
            is_by_beginning: false,
            is_each_alone: false,
            forever: false,
            keeps_thinking: true,
            from_request: None,
            known_ids: Vec::new(),
            begins_with: None,
        }
    }

    /// A reply made from the request when it comes, in the form of [`super::RecordedRequest::said`]. Conversation and expectations are those
    /// of this reply; all else is the made one's.
    pub fn from_fn(
        make: impl Fn(&Value) -> ScriptedReply + Send + Sync + 'static,
    ) -> ScriptedReply {
        ScriptedReply { from_request: Some(Arc::new(make)), ..ScriptedReply::new() }
    }

    /// An answer with an HTTP status and an error in the protocol's form, as
    /// `(529, "overloaded_error", "Overloaded")`.
    pub fn refusal(code: u16, kind: &str, message: &str) -> ScriptedReply {
        let body = StatusBody::Error { kind: kind.to_owned(), message: message.to_owned() };
        ScriptedReply::answer(code, body).header("content-type", "application/json")
    }

    /// An answer with an HTTP status and any body.
    pub fn status(code: u16, body: impl Into<String>) -> ScriptedReply {
        ScriptedReply::answer(code, StatusBody::Words(body.into()))
    }

    fn answer(code: u16, body: StatusBody) -> ScriptedReply {
        let status = StatusAnswer { code, headers: Vec::new(), body };
        ScriptedReply { status: Some(status), ..ScriptedReply::new() }
    }

    /// Adds a header to an answer with a status; without one it does nothing.
    pub fn header(mut self, name: &str, value: &str) -> ScriptedReply {
        if let Some(status) = &mut self.status {
            status.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Adds a text.
    pub fn text(mut self, text: impl Into<String>) -> ScriptedReply {
        self.blocks.push(ScriptBlock::Text(text.into()));
        self
    }

    /// Adds thinking; an empty signature is not sent.
    pub fn thinking(
        mut self,
        thinking: impl Into<String>,
        signature: impl Into<String>,
    ) -> ScriptedReply {
        let (thinking, signature) = (thinking.into(), signature.into());
        self.blocks.push(ScriptBlock::Thinking { thinking, signature });
        self
    }

    /// The thinking need not come back with the calls: something had to be redacted from it, which breaks its seal, or
    /// another model goes on.
    pub fn forget_thinking(mut self) -> ScriptedReply {
        self.keeps_thinking = false;
        self
    }

    /// Adds a tool call. Its id is `call_REQUEST_BLOCK`, both counted from 0.
    pub fn call(self, name: impl Into<String>, input: Value) -> ScriptedReply {
        self.call_raw(name, input.to_string())
    }

    /// Adds a tool call whose arguments are sent as they are, to send broken JSON.
    pub fn call_raw(mut self, name: impl Into<String>, json: impl Into<String>) -> ScriptedReply {
        self.blocks.push(ScriptBlock::Call { name: name.into(), json: json.into(), id: None });
        self
    }

    /// Adds a tool call with an id of its own, as gateways make them. It must come back as it is.
    pub fn call_with_id(
        mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        input: Value,
    ) -> ScriptedReply {
        let (id, name, json) = (Some(id.into()), name.into(), input.to_string());
        self.blocks.push(ScriptBlock::Call { name, json, id });
        self
    }

    /// Sets the stop reason; without it, `tool_use` if there is a call and `end_turn` if not.
    pub fn stop(mut self, reason: ModelStop) -> ScriptedReply {
        self.stop_reason = Some(reason);
        self
    }

    /// Sets the tokens reported; without it, 100 in and 10 out.
    pub fn usage(mut self, usage: Usage) -> ScriptedReply {
        self.usage = usage;
        self
    }

    /// Sends the body in pieces of this many bytes, instead of event by event.
    pub fn chunks_of(mut self, bytes: usize) -> ScriptedReply {
        self.chunk = Some(bytes.max(1));
        self
    }

    /// Cuts texts, thinking and arguments into deltas of this many characters, instead of 16.
    pub fn deltas_of(mut self, characters: usize) -> ScriptedReply {
        self.delta = characters.max(1);
        self
    }

    /// Stops at a place until the test opens the gate. A gate that is never opened is a stall.
    pub fn gate(self, place: ReplyPlace, name: impl Into<String>) -> ScriptedReply {
        self.act(place, Act::Gate(name.into()))
    }

    /// Breaks the connection at a place.
    pub fn drop_at(self, place: ReplyPlace) -> ScriptedReply {
        self.act(place, Act::Drop)
    }

    /// Ends the body at a place, cleanly as far as HTTP is concerned.
    pub fn end_at(self, place: ReplyPlace) -> ScriptedReply {
        self.act(place, Act::Finish)
    }

    /// Sends an event with this data at a place, to send garbage.
    pub fn event_at(self, place: ReplyPlace, data: impl Into<String>) -> ScriptedReply {
        self.act(place, Act::Event(data.into()))
    }

    /// Sends an error event at a place and ends the body there.
    pub fn error_at(self, place: ReplyPlace, kind: &str, message: &str) -> ScriptedReply {
        let error = Act::Error { kind: kind.to_owned(), message: message.to_owned() };
        self.act(place, error).end_at(place)
    }

    fn act(mut self, place: ReplyPlace, act: Act) -> ScriptedReply {
        self.acts.push((place, act));
        self
    }

    /// The request's last message must have this text, in its texts or tool results.
    pub fn expect_text(mut self, text: impl Into<String>) -> ScriptedReply {
        self.expectations.push(Expectation::Contains(text.into()));
        self
    }

    /// The request's last message must not have this text.
    pub fn expect_no_text(mut self, text: impl Into<String>) -> ScriptedReply {
        self.expectations.push(Expectation::Lacks(text.into()));
        self
    }

    /// The request must satisfy this, in the form of [`super::RecordedRequest::said`]; the error says what
    /// is wrong.
    pub fn expect(
        mut self,
        holds: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static,
    ) -> ScriptedReply {
        self.expectations.push(Expectation::Holds(Arc::new(holds)));
        self
    }

    /// The request may have this id of a call, which the same server gave before it was started anew.
    pub fn knowing_id(mut self, id: impl Into<String>) -> ScriptedReply {
        self.known_ids.push(id.into());
        self
    }

    /// The history this reply belongs to, `main` without it. A request must extend what was sent
    /// before in the same conversation; name another for a subagent, another session, or what
    /// follows a compaction.
    pub fn conversation(mut self, name: impl Into<String>) -> ScriptedReply {
        self.conversation = name.into();
        self
    }

    /// Keeps this reply for conversations that begin with this text, in the system prompt or the first message: so several
    /// may go on at once. Within each its replies are given in order; those without such a text are for all others.
    pub fn when(mut self, text: impl Into<String>) -> ScriptedReply {
        self.begins_with = Some(text.into());
        self
    }

    /// True if this reply is kept for such requests as this one.
    pub(super) fn is_kept_for(&self, said: &Value) -> bool {
        let Some(text) = &self.begins_with else { return false };
        let first = said.pointer("/messages/0/content");
        let mut texts = Vec::new();
        [said.get("system"), first].into_iter().for_each(|part| collect_text(part, &mut texts));
        texts.iter().any(|said| said.contains(text.as_str()))
    }

    /// Takes requests for one history as long as their first message begins with the same text. A question for a summary is
    /// one of its own: it leaves out the end of what was sent.
    pub fn by_beginning(mut self) -> ScriptedReply {
        self.is_by_beginning = true;
        self
    }

    /// Takes each request for a history of its own, for a server that has histories changed.
    pub fn each_alone(mut self) -> ScriptedReply {
        self.is_each_alone = true;
        self
    }

    /// The history that a request belongs to.
    pub(super) fn conversation_of(&self, said: &Value) -> String {
        if self.is_each_alone {
            return said.to_string();
        }
        if !self.is_by_beginning {
            return self.conversation.clone();
        }
        let mut texts = Vec::new();
        collect_text(said.pointer("/messages/0/content"), &mut texts);
        let beginning = texts.first().copied().unwrap_or_default();
        match last_message_text(said).contains("<compaction>") {
            true => format!("a summary of {beginning}"),
            false => beginning.to_owned(),
        }
    }

    /// Gives this reply to every request from here on; it need not be asked for.
    pub fn forever(mut self) -> ScriptedReply {
        self.forever = true;
        self
    }

    /// Expectations that the request does not meet, in words.
    pub(super) fn unmet(&self, body: &Value) -> Vec<String> {
        let said = last_message_text(body);
        let unmet = self.expectations.iter().filter_map(|expectation| match expectation {
            Expectation::Contains(text) => (!said.contains(text.as_str()))
                .then(|| format!("the last message should say {text:?}, but says {said:?}")),
            Expectation::Lacks(text) => said
                .contains(text.as_str())
                .then(|| format!("the last message should not say {text:?}, but says {said:?}")),
            Expectation::Holds(holds) => holds(body).err(),
        });
        unmet.collect()
    }
}

/// The texts and tool results of the last message, a line feed between them.
fn last_message_text(body: &Value) -> String {
    let content = body.get("messages").and_then(Value::as_array).and_then(|m| m.last());
    let mut texts = Vec::new();
    collect_text(content.and_then(|message| message.get("content")), &mut texts);
    texts.join("\n")
}

fn collect_text<'a>(content: Option<&'a Value>, texts: &mut Vec<&'a str>) {
    match content {
        Some(Value::String(text)) => texts.push(text),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                texts.extend(block.get("text").and_then(Value::as_str));
                collect_text(block.get("content"), texts);
            }
        }
        _ => {}
    }
}
