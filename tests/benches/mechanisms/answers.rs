//! A model in this process: requests are written as for a server, and answered at once by a function.

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use ropewalk_model::{
    Delta, Http, Message, Model, ModelError, ModelRequest, ModelStop, Piece, Prelude, Protocol,
    ServerConfig, ServerModel, ToolDeclaration,
};
use ropewalk_protocol::{ModelLimits, Usage};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An answer to a request.
pub(crate) enum Answer {
    Says(&'static str),
    /// Calls of tools by their names and inputs.
    Calls(Vec<(&'static str, Value)>),
    /// It never comes.
    Never,
}

/// See the module.
pub(crate) struct AnsweringModel {
    inner: ServerModel,
    context: Option<u32>,
    calls: AtomicUsize,
    answer: Box<dyn Fn(&ModelRequest) -> Answer + Send + Sync>,
}

impl AnsweringModel {
    /// A model that is known to take so many tokens.
    pub(crate) fn new(
        context: Option<u32>,
        answer: impl Fn(&ModelRequest) -> Answer + Send + Sync + 'static,
    ) -> Arc<Self> {
        let config = ServerConfig::new(Protocol::Anthropic, "bench");
        let inner = ServerModel::new(config, Http::new()).expect("a model");
        Arc::new(Self { inner, context, calls: AtomicUsize::new(0), answer: Box::new(answer) })
    }
}

/// True if the last message of a request has these words.
pub(crate) fn ends_with(request: &ModelRequest, words: &str) -> bool {
    request.pieces.last().is_some_and(|piece| piece.contains(words))
}

/// True if a request asks for the summary of a compaction.
pub(crate) fn asks_for_summary(request: &ModelRequest) -> bool {
    ends_with(request, "<compaction>")
}

impl Model for AnsweringModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn limits(&self) -> ModelLimits {
        ModelLimits { context: self.context, max_output: None }
    }

    fn encode(&self, message: &Message) -> Piece {
        self.inner.encode(message)
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.inner.encode_prelude(system, tools)
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        let answer = (self.answer)(&request);
        let bytes = request.pieces.iter().map(|piece| piece.len()).sum::<usize>();
        let input = (bytes + request.prelude.as_str().len()) as u64 / 4;
        let mut deltas = vec![Delta::Usage(Usage { input, output: 20, ..Usage::default() })];
        let stop = match answer {
            Answer::Never => return stream::pending().boxed(),
            Answer::Says(text) => {
                deltas.push(Delta::Text { index: 0, text: text.to_owned() });
                deltas.push(Delta::BlockEnd { index: 0 });
                ModelStop::EndTurn
            }
            Answer::Calls(calls) => {
                for (index, (name, input)) in (0..).zip(calls) {
                    let id = format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed));
                    deltas.push(Delta::ToolUse { index, id, name: name.to_owned() });
                    let partial_json = input.to_string();
                    deltas.push(Delta::ToolInput { index, partial_json });
                    deltas.push(Delta::BlockEnd { index });
                }
                ModelStop::ToolUse
            }
        };
        deltas.push(Delta::Stop(stop));
        stream::iter(deltas.into_iter().map(Ok)).boxed()
    }

    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        Box::pin(async { Ok(()) })
    }
}
