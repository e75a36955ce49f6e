//! Folding the deltas of a stream into a reply.
//!
//! A reply is always fit for the history, whenever the stream ended. Nothing is decided here about
//! what a reply means.

use crate::{Block, Delta, Message, ModelStop, Role, ToolInput};
use ropewalk_protocol::Usage;

/// Reply of a model in one exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// Its blocks in order, none of them blank.
    pub blocks: Vec<Block>,
    /// Why it stopped, as the server says; `Other("interrupted")` when it never said.
    pub stop_reason: ModelStop,
    /// The tokens, those of failed tries included, as far as the server has told.
    pub usage: Usage,
}

impl ModelReply {
    /// The reply as a message for the history; none when it has no block.
    pub fn to_message(&self) -> Option<Message> {
        (!self.blocks.is_empty())
            .then(|| Message { role: Role::Assistant, content: self.blocks.clone() })
    }

    /// The tool calls, in order: id, name, input.
    pub fn tool_calls(&self) -> impl Iterator<Item = (&str, &str, &ToolInput)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolUse { id, name, input } => Some((id.as_str(), name.as_str(), input)),
            _ => None,
        })
    }

    /// All its text; blocks are joined by a line feed.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(Block::as_text);
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Folds deltas into a [`ModelReply`]. Any order of deltas is taken; input for a call that never began is
/// dropped.
#[derive(Debug, Clone, Default)]
pub struct ReplyBuilder {
    parts: Vec<ReplyPart>,
    stop_reason: Option<ModelStop>,
    /// Of this try.
    usage: Usage,
    /// Of the tries that failed: the server counts them too.
    earlier: Usage,
}

#[derive(Debug, Clone)]
struct ReplyPart {
    index: u32,
    ended: bool,
    kind: PartContent,
}

#[derive(Debug, Clone)]
enum PartContent {
    Text(String),
    Thinking { thinking: String, signature: String },
    Redacted(String),
    ToolUse { id: String, name: String, json: String },
}

impl ReplyBuilder {
    /// An empty reply.
    pub fn new() -> ReplyBuilder {
        ReplyBuilder::default()
    }

    /// Adds one delta. [`Delta::Retrying`] empties the reply, but for the tokens that were used. Constant time for the
    /// block that was begun last, linear in the number of blocks otherwise.
    pub fn push(&mut self, delta: &Delta) {
        match delta {
            Delta::Text { index, text } => {
                if let Some(PartContent::Text(held)) =
                    self.open(*index, |k| matches!(k, PartContent::Text(_)))
                {
                    held.push_str(text);
                } else {
                    self.begin(*index, PartContent::Text(text.clone()));
                }
            }
            Delta::Thinking { index, text } => self.think(*index, text, ""),
            Delta::Signature { index, signature } => self.think(*index, "", signature),
            Delta::RedactedThinking { index, data } => {
                self.begin(*index, PartContent::Redacted(data.clone()));
            }
            Delta::ToolUse { index, id, name } => {
                let (id, name) = (id.clone(), name.clone());
                self.begin(*index, PartContent::ToolUse { id, name, json: String::new() });
            }
            Delta::ToolInput { index, partial_json } => {
                let call = self.open(*index, |k| matches!(k, PartContent::ToolUse { .. }));
                if let Some(PartContent::ToolUse { json, .. }) = call {
                    json.push_str(partial_json);
                }
            }
            Delta::BlockEnd { index } => {
                if let Some(part) = self.parts.iter_mut().rev().find(|p| p.index == *index) {
                    part.ended = true;
                }
            }
            Delta::Usage(usage) => self.usage = *usage,
            Delta::Waiting { .. } => {}
            Delta::Stop(reason) => self.stop_reason = Some(reason.clone()),
            Delta::Retrying { .. } => {
                let mut earlier = self.earlier;
                earlier += self.usage;
                *self = ReplyBuilder { earlier, ..ReplyBuilder::default() };
            }
        }
    }

    /// The reply of a stream that ended by itself. A call whose arguments are no JSON stays, as
    /// [`ToolInput::Broken`], to be answered.
    pub fn finish(self) -> ModelReply {
        self.build(|_| true)
    }

    /// The reply of a stream that was interrupted or cut: what may stay in the history. Calls and
    /// thinking that are not complete are dropped, text stays as far as it came.
    pub fn finish_partial(self) -> ModelReply {
        self.build(|part| match &part.kind {
            PartContent::Text(_) => true,
            PartContent::Redacted(_) => part.ended,
            PartContent::Thinking { signature, .. } => part.ended && !signature.is_empty(),
            // The server may end a block before its JSON is whole; such a call was never meant.
            PartContent::ToolUse { json, .. } => {
                part.ended && matches!(ToolInput::parse(json), ToolInput::Json(_))
            }
        })
    }

    fn build(self, keep: impl Fn(&ReplyPart) -> bool) -> ModelReply {
        let kept = self.parts.into_iter().filter(keep).map(|part| match part.kind {
            PartContent::Text(text) => Block::text(text),
            PartContent::Thinking { thinking, signature } => {
                Block::Thinking { thinking, signature }
            }
            PartContent::Redacted(data) => Block::RedactedThinking { data },
            PartContent::ToolUse { id, name, json } => {
                Block::ToolUse { id, name, input: ToolInput::parse(&json) }
            }
        });
        let mut usage = self.earlier;
        usage += self.usage;
        ModelReply {
            blocks: kept.filter(|block| !block.is_blank()).collect(),
            stop_reason: self.stop_reason.unwrap_or(ModelStop::Other("interrupted".to_owned())),
            usage,
        }
    }

    fn think(&mut self, index: u32, more: &str, seal: &str) {
        let held = self.open(index, |kind| matches!(kind, PartContent::Thinking { .. }));
        if let Some(PartContent::Thinking { thinking, signature }) = held {
            thinking.push_str(more);
            signature.push_str(seal);
        } else {
            let (thinking, signature) = (more.to_owned(), seal.to_owned());
            self.begin(index, PartContent::Thinking { thinking, signature });
        }
    }

    /// The latest block of this index, when it is of the wanted kind.
    fn open(
        &mut self,
        index: u32,
        wanted: impl Fn(&PartContent) -> bool,
    ) -> Option<&mut PartContent> {
        let part = self.parts.iter_mut().rev().find(|part| part.index == index)?;
        wanted(&part.kind).then_some(&mut part.kind)
    }

    fn begin(&mut self, index: u32, kind: PartContent) {
        self.parts.push(ReplyPart { index, ended: false, kind });
    }
}
