//! Which models a server has, and how much context it gives them, where it tells.
//!
//! One question or a few, of at most two seconds each, without spending tokens; meant for finding servers, so a
//! server that isn't there is the usual case.

use crate::{Http, ModelError};
use futures::future::BoxFuture;
use reqwest::Url;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest answer that is read, in bytes.
const MOST_BYTES: usize = 8 << 20;

/// A model that a server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelListing {
    /// Its name there.
    pub name: String,
    /// The tokens of context that the server says it gives.
    pub context: Option<u32>,
    /// The most tokens of context that it says the model can use.
    pub trained: Option<u32>,
    /// The tokens of the longest reply, where the server says it.
    pub output: Option<u32>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// Ollama.
    Ollama,
    /// llama.cpp's `llama-server`.
    LlamaCpp,
    /// LM Studio.
    LmStudio,
    /// Another, or not to be told.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Kind of the server.
    pub kind: ServerKind,
    /// Its models, in its order.
    pub models: Vec<ModelListing>,
    /// True if the chat template of the loaded model supports tools; none where llama.cpp does not say it.
    pub supports_tools: Option<bool>,
}

impl Listing {
    /// The context of a model, where the server says it.
    pub fn context_of(&self, model: &str) -> Option<u32> {
        self.find(model)?.context
    }

    /// The most tokens of context that a model can use, likewise.
    pub fn trained_of(&self, model: &str) -> Option<u32> {
        self.find(model)?.trained
    }

    /// The longest reply of a model, in tokens, likewise.
    pub fn output_of(&self, model: &str) -> Option<u32> {
        self.find(model)?.output
    }

    /// llama.cpp has one model, whatever it is called in a request.
    fn find(&self, model: &str) -> Option<&ModelListing> {
        let is_it = |listed: &&ModelListing| {
            self.kind == ServerKind::LlamaCpp || same_model(&listed.name, model)
        };
        self.models.iter().find(is_it)
    }
}

/// True if a server that lists `listed` means it by `asked`: Ollama adds a tag to a name without one.
pub fn same_model(listed: &str, asked: &str) -> bool {
    listed == asked || listed.strip_suffix(":latest") == Some(asked)
}

/// The context that an Ollama model sets itself, whatever the server's default is.
pub fn own_context<'a>(
    http: &'a Http,
    base_url: &'a str,
    model: &'a str,
) -> BoxFuture<'a, Option<u32>> {
    Box::pin(async move {
        let body = serde_json::json!({ "model": model });
        let shown = ask(http, &format!("{}/api/show", root_of(base_url)), Some(body)).await.ok()?;
        // A line for each parameter: its name, spaces, its value.
        let lines = shown.get("parameters")?.as_str()?.lines();
        let mut values =
            lines.filter_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
        values.find(|tokens| *tokens > 0)
    })
}

fn root_of(base_url: &str) -> &str {
    let base = base_url.trim_end_matches('/');
    base.strip_suffix("/v1").unwrap_or(base)
}

/// The models of the server at `base_url`, which may end in a version, in its order. No key is sent.
///
/// # Errors
/// [`ModelError::Unreachable`], [`ModelError::BadKey`], [`ModelError::NotAModelServer`], [`ModelError::BadUrl`].
pub fn list_models<'a>(
    http: &'a Http,
    base_url: &'a str,
) -> BoxFuture<'a, Result<Listing, ModelError>> {
    Box::pin(async move {
        let root = root_of(base_url);
        let mut kind = ServerKind::Other;
        let models = match get(http, &format!("{root}/v1/models")).await {
            Ok(models) => models,
            // Older Ollamas have only their own list.
            Err(error @ ModelError::NotAModelServer { .. }) => {
                let tags = get(http, &format!("{root}/api/tags")).await.map_err(|_| error)?;
                kind = ServerKind::Ollama;
                tags
            }
            Err(error) => return Err(error),
        };
        let list = models.get("data").or_else(|| models.get("models")).and_then(Value::as_array);
        let list: Vec<&Value> = list.into_iter().flatten().take(10_000).collect();
        let is_llama = list.iter().any(|model| model.pointer("/meta/n_ctx_train").is_some());
        let mut found: Vec<ModelListing> = list.into_iter().filter_map(listed).collect();
        let mut supports_tools = None;
        if is_llama || found.iter().all(|model| model.context.is_none()) {
            // A loaded model has a context: llama.cpp says it for all, Ollama and LM Studio for each.
            let props = get(http, &format!("{root}/props")).await.unwrap_or_default();
            let number = |place: &str| props.pointer(place).and_then(tokens);
            let whole = number("/default_generation_settings/n_ctx").or_else(|| number("/n_ctx"));
            if is_llama || whole.is_some() {
                kind = ServerKind::LlamaCpp;
                supports_tools =
                    props.pointer("/chat_template_caps/supports_tools").and_then(Value::as_bool);
            }
            let trained = number("/n_ctx_train")
                .or_else(|| number("/default_generation_settings/n_ctx_train"));
            found.iter_mut().for_each(|model| model.trained = model.trained.or(trained));
            let others =
                [("/api/ps", ServerKind::Ollama), ("/api/v0/models", ServerKind::LmStudio)];
            for (path, others_kind) in others {
                if kind == ServerKind::LlamaCpp {
                    break;
                }
                let Ok(loaded) = get(http, &format!("{root}{path}")).await else { continue };
                kind = others_kind;
                let list =
                    loaded.get("models").or_else(|| loaded.get("data")).and_then(Value::as_array);
                for other in list.into_iter().flatten().filter_map(listed) {
                    if let Some(model) = found.iter_mut().find(|model| model.name == other.name) {
                        model.context = other.context.or(model.context);
                        model.trained = other.trained.or(model.trained);
                    }
                }
                break;
            }
            found.iter_mut().for_each(|model| model.context = model.context.or(whole));
        }
        Ok(Listing { kind, models: found, supports_tools })
    })
}

/// A model as one of the many kinds of servers lists it.
fn listed(model: &Value) -> Option<ModelListing> {
    let name = ["id", "name", "model"].iter().find_map(|key| model.get(key)?.as_str())?;
    let keys = ["loaded_context_length", "context_length", "max_model_len"];
    let context = keys.iter().find_map(|key| tokens(model.get(key)?));
    let trained = model.pointer("/meta/n_ctx_train").or_else(|| model.get("max_context_length"));
    let trained = trained.and_then(tokens);
    let keys =
        ["/max_output_tokens", "/max_completion_tokens", "/top_provider/max_completion_tokens"];
    let output = keys.iter().find_map(|key| tokens(model.pointer(key)?));
    Some(ModelListing { name: name.chars().take(200).collect(), context, trained, output })
}

fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}

async fn get(http: &Http, url: &str) -> Result<Value, ModelError> {
    ask(http, url, None).await
}

/// Asks by GET, or by POST with a body.
async fn ask(http: &Http, url: &str, body: Option<Value>) -> Result<Value, ModelError> {
    let bad = |why: String| ModelError::BadUrl { url: url.to_owned(), why };
    let url = Url::parse(url).map_err(|error| bad(error.to_string()))?;
    let host = crate::exchange::host_of(&url);
    let stranger =
        |why: &str| ModelError::NotAModelServer { host: host.clone(), why: why.to_owned() };
    let unreachable =
        |why: &str| ModelError::Unreachable { host: host.clone(), why: why.to_owned() };
    let client = http.client(&url)?;
    let request = match body {
        Some(body) => client
            .post(url.clone())
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(body.to_string()),
        None => client.get(url.clone()),
    };
    let asking = async {
        let mut response = request.send().await.map_err(|error| {
            unreachable(if error.is_connect() { "nothing listens there" } else { "no answer" })
        })?;
        match response.status().as_u16() {
            200..=299 => {}
            401 | 403 => return Err(ModelError::BadKey { host: host.clone() }),
            status => return Err(stranger(&format!("it answers {status}"))),
        }
        let mut body = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|_| stranger("its list is cut off"))?
        {
            body.extend_from_slice(&chunk);
            if body.len() > MOST_BYTES {
                return Err(stranger("its list of models has no end"));
            }
        }
        serde_json::from_slice(&body).map_err(|_| stranger("its list of models is no JSON"))
    };
    timeout(PATIENCE, asking).await.unwrap_or_else(|_| Err(unreachable("no answer within 2 s")))
}
