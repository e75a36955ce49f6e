//! `ropewalk models`: what can be used now, and what is missing for the rest.
//!
//! Servers on this machine are asked for their models; of others it is said whether there is a key, and what the catalogue
//! has of their models.

use crate::exit::CliExit;
use crate::in_words::runtime;
use crate::plain::plain;
use crate::setup;
use ropewalk_config::{Config, Environment, ModelName, Provider, RealEnvironment};
use ropewalk_host::network;
use ropewalk_model::catalogue::{catalogue_day, known_model, models_at, price_of};
use ropewalk_model::listing::{
    ContextSize, Listing, ModelListing, ServerKind, list_models, own_context, same_model,
};
use ropewalk_model::{ENOUGH_CONTEXT, Http, LocalServer, ModelError};
use std::io::Write;

/// Models of one server that are listed.
const MOST: usize = 50;

/// Prints what there is. `flags` are those of `-c`.
pub(crate) fn models(flags: Vec<String>) -> anyhow::Result<CliExit> {
    let config = setup::config(Vec::new(), flags);
    let lines = found(&config)?;
    let usable = lines.iter().any(|line| line.is_usable);
    let mut out = format!("Figures of models elsewhere are of {}.\n", catalogue_day());
    for line in &lines {
        out.push_str(&plain(&line.words));
        out.push('\n');
    }
    if !usable {
        out.push_str(
            "No model can be used yet: set a variable that is named above, or start a server.\n",
        );
    }
    let _ = write!(std::io::stdout(), "{out}");
    Ok(if usable { CliExit::Done } else { CliExit::Error })
}

/// A provider, or something to mend.
pub(crate) struct ProviderFinding {
    pub(crate) words: String,
    pub(crate) is_usable: bool,
    /// True if it is a server on this machine that is there.
    pub(crate) is_local: bool,
}

/// All providers: those that can be used first, each with its models.
pub(crate) fn found(config: &Config) -> anyhow::Result<Vec<ProviderFinding>> {
    let runtime = runtime(tokio::runtime::Builder::new_current_thread().enable_all())?;
    let lines = runtime.block_on(async {
        let http = Http::over(network(config, &RealEnvironment));
        let mut lines = Vec::new();
        for (name, provider) in &config.providers {
            lines.push(match is_local(&provider.base_url) {
                true => local(&http, config, name, provider).await,
                false => remote(config, name, provider),
            });
        }
        lines.sort_by_key(|line| !line.is_usable);
        lines
    });
    runtime.shutdown_background();
    Ok(lines)
}

fn is_local(base_url: &str) -> bool {
    let rest = base_url.strip_prefix("http://").unwrap_or_default();
    ["127.", "localhost", "[::1]"].iter().any(|host| rest.starts_with(host))
}

fn remote(config: &Config, name: &str, provider: &Provider) -> ProviderFinding {
    let url = &provider.base_url;
    let variable = provider.api_key_env.as_deref();
    let is_set = variable
        .is_some_and(|name| RealEnvironment.var(name).is_some_and(|key| !key.trim().is_empty()));
    let key = match (variable, &provider.api_key_command) {
        (Some(variable), _) if is_set => Ok(format!("key from {variable}")),
        (_, Some(_)) => Ok("key by its command".to_owned()),
        (Some(variable), None) => Err(format!("no key: set {variable}")),
        (None, None) => Ok("no key is sent".to_owned()),
    };
    let mut words = format!("{name}: {url}, {}", key.clone().unwrap_or_else(|words| words));
    let chosen = config.model.as_ref().filter(|model| model.provider == name);
    let configured = provider.models.keys().chain(chosen.map(|model| &model.name));
    let mut named: Vec<&str> = configured.map(String::as_str).collect();
    models_at(url).for_each(|model| named.push(model));
    named.sort_unstable();
    named.dedup();
    // Configured ones are listed even where there are many others.
    let is_own = |model: &str| {
        provider.models.contains_key(model) || chosen.is_some_and(|chosen| chosen.name == model)
    };
    let (own, others): (Vec<&str>, Vec<&str>) = named.into_iter().partition(|model| is_own(model));
    if key.is_ok() {
        let today = ropewalk_agent::time::today();
        let is_over = |model: &&str| {
            let known = known_model(url, model);
            known.is_some_and(|known| known.ends.as_deref().is_some_and(|day| day < &*today))
        };
        let offered: Vec<&str> = others.into_iter().filter(|model| !is_over(model)).collect();
        for model in own.iter().chain(offered.iter().take(MOST)) {
            words.push_str(&format!("\n  {name}/{model}{}", facts_in_words(url, provider, model)));
            let context = provider.facts_of(model).context;
            let context = context.or(known_model(url, model).and_then(|known| known.context));
            let lean = provider.facts_of(model).lean;
            words.push_str(&set_in_words(name, lean, context).unwrap_or_default());
        }
        if offered.len() > MOST {
            words.push_str(&format!("\n  and {} more", offered.len() - MOST));
        }
    }
    ProviderFinding { words, is_usable: key.is_ok(), is_local: false }
}

/// Context, price, images and end of a model elsewhere, in words that follow its name.
fn facts_in_words(url: &str, provider: &Provider, model: &str) -> String {
    let (facts, known) = (provider.facts_of(model), known_model(url, model));
    let mut words = about(facts.context.or(known.and_then(|known| known.context)));
    let price = facts.price.or_else(|| price_of(url, model));
    words.push_str(&match price {
        Some(price) => format!(
            ", {} in, {} out per million tokens",
            in_dollars(price.input),
            in_dollars(price.output)
        ),
        None => ", price not known".to_owned(),
    });
    if let Some(above) = price.and_then(|price| price.above) {
        words.push_str(&format!(
            " ({}, {} for prompts above {} tokens)",
            in_dollars(above.input),
            in_dollars(above.output),
            above.tokens
        ));
    }
    if facts.images.or(known.and_then(|known| known.images)) == Some(true) {
        words.push_str(", images");
    }
    if let Some(day) = known.and_then(|known| known.ends.as_deref()) {
        words.push_str(&format!(", served until {day}"));
    }
    words
}

/// Millionths of a dollar, as dollars.
fn in_dollars(millionths: u64) -> String {
    let (whole, rest) = (millionths / 1_000_000, millionths % 1_000_000);
    let rest = format!("{rest:06}");
    let rest = rest.trim_end_matches('0');
    format!("${whole}.{rest:0<2}")
}

fn about(context: Option<u32>) -> String {
    context.map_or_else(String::new, |tokens| format!(", context {tokens}"))
}

async fn local(http: &Http, config: &Config, name: &str, provider: &Provider) -> ProviderFinding {
    let url = &provider.base_url;
    let listed = list_models(http, url).await;
    let chosen = config.model.as_ref().filter(|model| model.provider == name);
    let is_local = listed.is_ok();
    let words = match listed {
        Err(ModelError::Unreachable { why, .. }) => {
            let chosen = chosen.map_or("MODEL", |model| &model.name);
            match start_of(name, url, chosen) {
                Some(start) => format!("{name}: not running at {url}; start it with `{start}`"),
                None => format!("{name}: not running at {url} ({why})"),
            }
        }
        Err(error) => format!("{name}: {error}"),
        Ok(listing) if listing.models.is_empty() => {
            let mend = match listing.kind {
                ServerKind::Ollama => "get one with `ollama pull NAME`",
                _ => "load one",
            };
            format!("{name}: {url} answers, and has no model: {mend}")
        }
        Ok(Listing { kind, models, .. }) => {
            let mut words = format!("{name}: {url} answers");
            for ModelListing { name: model, context, trained, .. } in models.iter().take(MOST) {
                let facts = provider.facts_of(model);
                let own = match (kind, context) {
                    (ServerKind::Ollama, None) => own_context(http, url, model).await,
                    _ => None,
                };
                let told = context.or(own);
                // The server gives what it gives, whatever is configured.
                let context = told.into_iter().chain(facts.context).min();
                words.push_str(&format!("\n  {name}/{model}{}", about(context)));
                words.push_str(&set_in_words(name, facts.lean, context).unwrap_or_default());
                if let Some(mend) =
                    mend(kind, (name, model), (told, context), own.is_some(), *trained)
                {
                    words.push_str(&format!("\n    {mend}"));
                }
            }
            if models.len() > MOST {
                words.push_str(&format!("\n  and {} more", models.len() - MOST));
            }
            let is_there = |name: &str| models.iter().any(|model| same_model(&model.name, name));
            // llama.cpp answers to any name.
            let is_known =
                |chosen: &&ModelName| kind == ServerKind::LlamaCpp || is_there(&chosen.name);
            if let Some(chosen) = chosen.filter(|chosen| !is_known(chosen)) {
                words.push_str(&format!(
                    "\n  it has no {}, which your configuration names",
                    chosen.name
                ));
            }
            return ProviderFinding { words, is_usable: true, is_local };
        }
    };
    ProviderFinding { words, is_usable: false, is_local }
}

/// The command that starts a server on this machine, where its kind is known.
fn start_of(provider: &str, base_url: &str, model: &str) -> Option<String> {
    let url = base_url.parse().ok()?;
    Some(LocalServer::of(provider, &url)?.start_command(&url, model))
}

/// Words on the tools and prompt that the model is sent, where they are not the usual ones.
fn set_in_words(provider: &str, lean: Option<bool>, context: Option<u32>) -> Option<String> {
    let is_small = context.is_some_and(|tokens| tokens < ENOUGH_CONTEXT);
    match (lean, is_small) {
        (Some(true), _) => Some(format!(
            "\n    four tools and a short system prompt are sent to it: `provider.{provider}.lean` says so"
        )),
        (None, true) => Some(format!(
            "\n    below {ENOUGH_CONTEXT}: four tools and a short system prompt are sent to it"
        )),
        _ => None,
    }
}

/// Advice on a context that is too small, or not known with Ollama, which cuts long requests
/// without a word. `contexts` are the server's own and the one that counts.
fn mend(
    kind: ServerKind,
    (provider, model): (&str, &str),
    contexts: (Option<u32>, Option<u32>),
    is_own: bool,
    trained: Option<u32>,
) -> Option<String> {
    let more =
        |is_own| kind.more_context(model, is_own, ContextSize { given: contexts.0, trained });
    match contexts {
        (_, Some(counts)) if counts >= ENOUGH_CONTEXT => None,
        (Some(_), _) => Some(format!("too small; for more: {}", more(is_own))),
        (None, Some(_)) => None,
        (None, None) if kind == ServerKind::Ollama => Some(format!(
            "its context is known only once it is loaded, and may be 4096, which is too small; for more: {}, and set \
             `provider.{provider}.context = 32768`",
            more(false)
        )),
        (None, None) => None,
    }
}
