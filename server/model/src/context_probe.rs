//! Context that a server on this machine gives to one model, and whether that model can call tools.
//!
//! Asked beside the requests; the first one waits for it a moment, no more. A server that loads a model with its first
//! request knows the context only then, so there is a second look; after that it is left in peace, but for one that
//! gives little: whoever is told so may start it anew with more.

use crate::{
    ENOUGH_CONTEXT, Http,
    listing::{ContextSize, ServerKind, list_models, own_context},
};
use ropewalk_protocol::ModelLimits;
use std::sync::{Mutex, PoisonError};

/// How often a server is looked at that does not say it.
const MOST_LOOKS: u32 = 2;

/// See the module.
pub(crate) struct ContextProbe {
    http: Http,
    base_url: String,
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
    /// Nothing is asked yet. `base_url` may end in a version.
    pub(crate) fn of(http: &Http, base_url: &str, model: &str) -> ContextProbe {
        let (base_url, model) = (base_url.to_owned(), model.to_owned());
        ContextProbe { http: http.clone(), base_url, model, state: Mutex::default() }
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
    pub(crate) async fn look(&self) {
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
        let Ok(listing) = list_models(&self.http, &self.base_url).await else {
            // It is no server that lists its models, or none at all, which the request will find out.
            return self.with(|state| state.looks = MOST_LOOKS);
        };
        let kind = listing.kind;
        let output = listing.output_of(&self.model);
        self.with(|state| state.output = output);
        let mut tokens = listing.context_of(&self.model);
        let trained = listing.trained_of(&self.model);
        let lacks_tools = listing.supports_tools == Some(false);
        self.with(|state| state.lacks_tools = lacks_tools);
        let own = match kind {
            ServerKind::Ollama => own_context(&self.http, &self.base_url, &self.model).await,
            _ => None,
        };
        tokens = tokens.or(own);
        self.with(|state| match tokens {
            Some(tokens) => {
                let size = ContextSize { given: Some(tokens), trained };
                let more = kind.more_context(&self.model, own.is_some(), size);
                state.found = Some((tokens, more));
            }
            None if matches!(kind, ServerKind::Ollama | ServerKind::LmStudio) => {}
            None => state.looks = MOST_LOOKS,
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut ProbeState) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
