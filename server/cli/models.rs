//! The one place that names concrete models: from a configuration to a `Model`. Nothing is sent from here.

use ropewalk_config::{Config, Environment};
use ropewalk_lsp::settings::ModelFactory;
use ropewalk_model::{ApiKey, Http, Keys, Model, Patience, Protocol, ServerConfig, ServerModel};
use std::sync::Arc;
use std::time::Duration;

/// What to say when no model is set up.
const NO_MODEL: &str = "No model is set up: put a key into ANTHROPIC_API_KEY, or set `model` and its provider in \
                        ~/.config/ropewalk/config.toml; `ropewalk doctor` shows what is there.";

/// Variables that customarily hold keys of model servers, configured or not.
const KEY_VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
];

/// A factory over one HTTP client, which is built at the first request.
pub(crate) fn factory(environment: Arc<dyn Environment + Send + Sync>) -> ModelFactory {
    let http = Http::new();
    Arc::new(move |config| model_of(config, &*environment, &http))
}

fn model_of(
    config: &Config,
    environment: &dyn Environment,
    http: &Http,
) -> Result<Arc<dyn Model>, String> {
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
    server.patience = Patience {
        first: Duration::from_secs(u64::from(config.limits.first_byte_seconds)),
        idle: Duration::from_secs(u64::from(config.limits.idle_seconds)),
        ..Patience::default()
    };
    let model = ServerModel::new(server, http.clone()).map_err(|error| error.to_string())?;
    Ok(Arc::new(model))
}

/// All keys that are there, whichever model is used: none of them may be shown.
fn keys(config: &Config, environment: &dyn Environment) -> Keys {
    let configured = config.key_variables.iter().map(String::as_str);
    let variables = configured.chain(KEY_VARIABLES.iter().copied());
    Keys::new(variables.filter_map(|variable| environment.var(variable)))
}
