//! The models that a server says it has, with what it says of each. [`question`] asks for them, [`forms`] reads the
//! answers, [`kept`] keeps those of a server elsewhere for a day.

mod forms;
mod kept;
mod question;

pub(crate) use kept::KeptListing;
pub(crate) use question::ListQuestion;

use crate::catalogue::undated;
use serde::{Deserialize, Serialize};

/// A model that a server has, with what the server says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelListing {
    /// Its name there.
    pub name: String,
    /// The tokens of context that the server says it gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// True if the model itself sets that context, whatever its server would give.
    #[serde(skip)]
    pub sets_context: bool,
    /// The most tokens of context that it says the model can use.
    #[serde(skip)]
    pub trained: Option<u32>,
    /// The tokens of the longest reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u32>,
    /// True if it takes images, false if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// The day, `YYYY-MM-DD`, after which it is served no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
    /// The model that the server names in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// How much context a model has, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextSize {
    /// Given by its server.
    pub given: Option<u32>,
    /// The most that it was trained with.
    pub trained: Option<u32>,
}

/// Kind of a server, by its answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// Ollama.
    Ollama,
    /// llama.cpp's `llama-server`.
    LlamaCpp,
    /// LM Studio.
    LmStudio,
    /// Another, or not to be told.
    #[default]
    Other,
}

/// The context that is advised: room for the tools, the task and some files.
const ADVISED: u32 = 32_768;

impl ServerKind {
    /// Advice that gives `model` more context, but no more than it can use. `is_own` is true if the model itself sets it.
    pub fn more_context(self, model: &str, is_own: bool, size: ContextSize) -> String {
        let advised = size.trained.map_or(ADVISED, |trained| trained.min(ADVISED));
        if let Some(trained) = size.trained
            && size.given.is_some_and(|given| given >= trained)
        {
            return format!("choose another model: {model} was trained with {trained} tokens");
        }
        match self {
            // A parameter of the model counts before the server's variable.
            ServerKind::Ollama if is_own => format!(
                "its own `num_ctx` says so: write the two lines `FROM {model}` and `PARAMETER num_ctx {advised}` into \
                 a file Modelfile, run `ollama create NAME -f Modelfile`, and use the model NAME"
            ),
            ServerKind::Ollama => {
                format!("start Ollama with `OLLAMA_CONTEXT_LENGTH={advised} ollama serve`")
            }
            ServerKind::LlamaCpp => {
                format!("start it with `llama-server --ctx-size {advised}`")
            }
            ServerKind::LmStudio => {
                format!("load it with `lms load {model} --context-length {advised}`")
            }
            ServerKind::Other => {
                format!("start its server with {advised} tokens of context or more")
            }
        }
    }
}

/// The models of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Kind of the server.
    pub kind: ServerKind,
    /// Its models, in its order.
    pub models: Vec<ModelListing>,
    /// True if the chat template of the loaded model supports tools; none where llama.cpp does not say it.
    pub supports_tools: Option<bool>,
}

impl Listing {
    /// The model that the server means by a name: that of the same name, else that of the name with a tag or a date
    /// behind it. llama.cpp has one model, whatever it is called in a request.
    pub fn find(&self, asked: &str) -> Option<&ModelListing> {
        let by = |is_it: &dyn Fn(&str) -> bool| self.models.iter().find(|it| is_it(&it.name));
        by(&|name| self.kind == ServerKind::LlamaCpp || name == asked)
            .or_else(|| by(&|name| name.strip_suffix(":latest") == Some(asked)))
            .or_else(|| by(&|name| undated(name) == Some(asked)))
    }
}
