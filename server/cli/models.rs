//! The one place that names concrete models: from a configuration to a `Model`. Nothing is sent from here.

use crate::key_command::key_of;
use ropewalk_config::{
    BoardAddress, Config, ConfigLayer, Environment, KeyCommand, Provider, state_folder,
};
use ropewalk_host::{ModelFactory, network};
use ropewalk_model::{
    ApiKey, AskedModel, BodyMembers, Header, Http, Keys, LazyKey, Model, Patience, Protocol,
    ServerConfig, ServerModel,
};
use ropewalk_protocol::ModelLimits;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Words for the user when no model is set up.
const NO_MODEL: &str = "No model is set up: put a key into ANTHROPIC_API_KEY, or start Ollama: `ollama serve`, \
                        with `model = \"ollama/NAME\"`, or set `model` and its provider in ~/.config/ropewalk/config.toml; `ropewalk doctor` shows what is there.";

/// Keys that programs print, for as long as this process lives: a model is made anew with each change of the
/// configuration, and nobody is to type a passphrase again for that.
type KeyCache = Mutex<HashMap<KeyCommand, LazyKey>>;

/// Variables that customarily hold keys of model servers, configured or not.
const KEY_VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "MINIMAX_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
    "ZAI_API_KEY",
];

/// The HTTP clients, one for each file of certificates that was configured so far, so that connections are reused
/// when the configuration changes.
#[derive(Default)]
struct Clients(Mutex<HashMap<Option<PathBuf>, Http>>);

impl Clients {
    fn of(&self, config: &Config, environment: &dyn Environment) -> Http {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Http::over(network(config, environment));
        clients.entry(config.ca_file.clone()).or_insert_with(make).clone()
    }
}

/// A factory over HTTP clients that are built at the first request.
pub(crate) fn factory(environment: Arc<dyn Environment + Send + Sync>) -> ModelFactory {
    let (clients, asked) = (Clients::default(), KeyCache::default());
    Arc::new(move |config| {
        let http = clients.of(config, &*environment);
        model_of(config, &*environment, &http, &asked)
    })
}

/// Why the configured model is not asked to think, though its configuration says so; none where it is, or need not
/// be.
pub(crate) fn not_asked_to_think(config: &Config, environment: &dyn Environment) -> Option<String> {
    let (_, server) = server_of(config, environment).ok()?;
    why_not_asked(&server)
}

fn why_not_asked(server: &ServerConfig) -> Option<String> {
    let level = server.wanted_thinking().filter(|_| !server.asks_to_think())?.as_str();
    let (provider, model) = (&server.provider, &server.model);
    Some(format!(
        "{provider}/{model} is not asked to think, although `thinking = \"{level}\"` says so: its server is not known to take such a request, so it thinks as much as it does by itself"
    ))
}

fn model_of(
    config: &Config,
    environment: &dyn Environment,
    http: &Http,
    asked: &KeyCache,
) -> Result<Arc<dyn Model>, String> {
    let (provider, mut server) = server_of(config, environment)?;
    if let Some(words) = why_not_asked(&server) {
        tracing::warn!("{words}");
    }
    let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    // A model that was spoken to before has left its key in this process.
    server.keys = asked.values().fold(server.keys, Keys::and_known);
    let model: Result<Arc<dyn Model>, _> = match &provider.api_key_command {
        Some(command) if server.key.is_none() => {
            let key = asked.entry(command.clone()).or_insert_with(|| key_of(command.clone()));
            AskedModel::new(server, key.clone(), http.clone()).map(|model| Arc::new(model) as _)
        }
        _ => ServerModel::new(server, http.clone()).map(|model| Arc::new(model) as _),
    };
    model.map_err(|error| error.to_string())
}

/// The provider of the configured model, and all that is said of the model.
fn server_of<'a>(
    config: &'a Config,
    environment: &dyn Environment,
) -> Result<(&'a Provider, ServerConfig), String> {
    let Some(name) = &config.model else { return Err(NO_MODEL.to_owned()) };
    let Some(provider) = config.model_provider() else {
        return Err(format!(
            "The model is {}/{}, but there is no provider {}: add [provider.{}] to the configuration.",
            name.provider, name.name, name.provider, name.provider
        ));
    };
    let Some(protocol) = Protocol::from_name(&provider.protocol) else {
        let known: Vec<&str> = Protocol::ALL.iter().map(|protocol| protocol.name()).collect();
        return Err(format!(
            "The provider {} speaks {:?}, which is not known; known is: {}.",
            name.provider,
            provider.protocol,
            known.join(", ")
        ));
    };
    let mut server = ServerConfig::new(protocol, &name.name);
    server.provider.clone_from(&name.provider);
    server.base_url.clone_from(&provider.base_url);
    server.keys = keys(config, environment);
    server.key_var.clone_from(&provider.api_key_env);
    if let Some(var) = &provider.api_key_env {
        let found = environment.var(var).filter(|key| !key.trim().is_empty());
        let key = found.map(|key| ApiKey::new(&key, var)).transpose();
        server.key = key.map_err(|error| error.to_string())?;
    }
    server.headers = provider.headers.iter().map(|(name, value)| header(name, value)).collect();
    server.query = provider.query.iter().map(|(name, value)| header(name, value)).collect();
    server.body = BodyMembers::new(provider.body.clone());
    (server.url_exact, server.cache) = (provider.url_exact, provider.cache);
    let facts = provider.facts_of(&name.name);
    server.limits = ModelLimits { context: facts.context, max_output: facts.output };
    server.price = facts.price;
    server.printed_calls = provider.printed_calls;
    server.lean = facts.lean;
    server.images = facts.images;
    server.parallel = provider.parallel.and_then(|most| usize::try_from(most).ok());
    server.patience = patience(config);
    server.retry.reach = Duration::from_secs(config.limits.retry_seconds.into());
    server.thinking = facts.thinking;
    server.lists = state_folder(environment);
    Ok((provider, server))
}

/// How long to wait for bytes. What nobody has set is longer for a server on this machine.
fn patience(config: &Config) -> Patience {
    let limits = &config.limits;
    let first = Duration::from_secs(u64::from(limits.first_byte_seconds));
    let idle = Duration::from_secs(u64::from(limits.idle_seconds));
    match config.provenance("limits.first_byte_seconds").layer {
        ConfigLayer::BuiltIn => Patience { first, idle, ..Patience::default() },
        _ => Patience { first, first_on_loopback: first, pings: first, idle },
    }
}

fn header(name: &str, value: &str) -> Header {
    Header { name: name.to_owned(), value: value.to_owned() }
}

/// All keys that are there, whichever model is used: none of them may be shown.
fn keys(config: &Config, environment: &dyn Environment) -> Keys {
    let configured = config.key_variables.iter().map(String::as_str);
    let variables = configured.chain(KEY_VARIABLES.iter().copied());
    let headers: Vec<Header> =
        config.headers.iter().map(|(name, value)| header(name, value)).collect();
    let secrets = headers.iter().flat_map(Header::secrets).map(str::to_owned);
    let boards = config.boards.iter().flat_map(BoardAddress::secrets);
    let held = variables.filter_map(|variable| environment.var(variable));
    Keys::new(held.chain(secrets).chain(boards))
}

#[cfg(test)]
mod tests;
