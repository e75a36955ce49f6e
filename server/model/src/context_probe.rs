//! Context that a server on this machine gives to one model, and whether that model can call tools.
//!
//! Asked beside the requests; the first one waits for it a moment, no more. A server that loads a model with its first
//! request knows the context only then, so there is a second look; after that it is left in peace, but for one that
//! gives little: whoever is told so may start it anew with more.

use crate::{
    ENOUGH_CONTEXT,
    listing::{ContextSize, ListQuestion, ServerKind},
};
use ropewalk_protocol::ModelLimits;
use std::sync::{Mutex, PoisonError};

/// How often a server is looked at that does not say it.
const MOST_LOOKS: u32 = 2;

/// See the module.
pub(crate) struct ContextProbe {
    model: String,
    state: Mutex<ProbeState>,
}

#[derive(Default)]
struct ProbeState {
    looks: u32,
    found: Option<(u32, String)>,
    /// True if the template that the server has for the model knows no tools.
    lacks_tools: bool,
    /// The longest reply, in tokens.
    output: Option<u32>,
}

impl ContextProbe {
    /// Nothing is asked yet.
    pub(crate) fn of(model: &str) -> ContextProbe {
        ContextProbe { model: model.to_owned(), state: Mutex::default() }
    }

    /// Limits that the server has given so far.
    pub(crate) fn limits(&self) -> ModelLimits {
        self.with(|state| ModelLimits {
            context: state.found.as_ref().map(|(tokens, _)| *tokens),
            max_output: state.output,
        })
    }

    /// How to get more, once the server has said how much there is.
    pub(crate) fn more(&self) -> Option<String> {
        self.with(|state| state.found.as_ref().map(|(_, more)| more.clone()))
    }

    /// True once the server has said that the model's template knows no tools.
    pub(crate) fn lacks_tools(&self) -> bool {
        self.with(|state| state.lacks_tools)
    }

    /// The same as a sentence; `name` is the model's whole name.
    pub(crate) fn lacks_tools_in_words(&self, name: &str) -> String {
        format!(
            "The chat template that llama-server has for {name} does not support tools, so it may print its calls, or \
             make none: start `llama-server` with `--jinja` and, by `--chat-template-file`, a template that supports \
             tools; or choose another model."
        )
    }

    /// Asks, if it is not known yet, or little, and another look is worth it.
    pub(crate) async fn look(&self, question: &ListQuestion) {
        let is_due = self.with(|state| {
            let is_due = match &state.found {
                Some((tokens, _)) => *tokens < ENOUGH_CONTEXT,
                None => state.looks < MOST_LOOKS,
            };
            state.looks = state.looks.saturating_add(u32::from(is_due));
            is_due
        });
        if !is_due {
            return;
        }
        let Ok(listing) = question.ask(Some(&self.model)).await else {
            // It is no server that lists its models, or none at all, which the request will find out.
            return self.with(|state| state.looks = MOST_LOOKS);
        };
        let (kind, model) = (listing.kind, listing.find(&self.model).cloned().unwrap_or_default());
        self.with(|state| {
            state.output = model.output;
            state.lacks_tools = listing.supports_tools == Some(false);
            match model.context {
                Some(tokens) => {
                    let size = ContextSize { given: Some(tokens), trained: model.trained };
                    let more = kind.more_context(&self.model, model.sets_context, size);
                    state.found = Some((tokens, more));
                }
                None if matches!(kind, ServerKind::Ollama | ServerKind::LmStudio) => {}
                None => state.looks = MOST_LOOKS,
            }
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut ProbeState) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
