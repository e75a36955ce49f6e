//! `ropewalk models`: what can be used now, and what is missing for the rest.
//!
//! Servers are asked for their models where there is a key, or none is needed: those on this machine each time, those
//! elsewhere once a day. A server elsewhere without a list has the catalogue's models.

use crate::exit::CliExit;
use crate::in_words::runtime;
use crate::plain::plain;
use crate::setup;
use clap::Args;
use ropewalk_config::{Config, Environment, ModelName, Provider, RealEnvironment};
use ropewalk_host::{ModelFactory, OfferedModel};
use ropewalk_model::catalogue::{catalogue_day, models_at};
use ropewalk_model::listing::{ContextSize, Listing, ModelListing, ServerKind};
use ropewalk_model::{ENOUGH_CONTEXT, LocalServer, Model, ModelError};
use std::io::Write;
use std::sync::Arc;

/// Models of one server that are listed unless it is the only one.
const MOST: usize = 50;

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// The provider whose models are listed, all of them: one of the configuration.
    provider: Option<String>,
}

/// Prints what there is. `flags` are those of `-c`.
pub(crate) fn models(args: &ModelsArgs, flags: Vec<String>) -> anyhow::Result<CliExit> {
    let config = setup::config(Vec::new(), flags);
    let only = args.provider.as_deref();
    if let Some(name) = only.filter(|name| !config.providers.contains_key(*name)) {
        let known: Vec<&str> = config.providers.keys().map(String::as_str).collect();
        anyhow::bail!(crate::exit::UsageError(format!(
            "There is no provider {name}; there are {}.",
            known.join(", ")
        )));
    }
    let lines = found(&config, |name, _| only.is_none_or(|only| only == name))?;
    let usable = lines.iter().any(|line| line.is_usable);
    let mut out = String::new();
    for line in &lines {
        out.push_str(&plain(&line.words));
        out.push('\n');
    }
    out.push_str(&format!(
        "Prices are of {}, as are contexts, images and ends that no server tells.\n",
        catalogue_day()
    ));
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

/// The servers on this machine.
pub(crate) fn found_here(config: &Config) -> anyhow::Result<Vec<ProviderFinding>> {
    found(config, |_, provider| is_local(&provider.base_url))
}

/// The providers that are wanted: those that can be used first, each with its models.
fn found(
    config: &Config,
    is_wanted: impl Fn(&str, &Provider) -> bool,
) -> anyhow::Result<Vec<ProviderFinding>> {
    let factory = crate::models::factory(Arc::new(RealEnvironment));
    let wanted: Vec<Asked<'_>> = config
        .providers
        .iter()
        .filter(|(name, provider)| is_wanted(name, provider))
        .map(|(name, provider)| Asked::of(config, &factory, name, provider))
        .collect();
    let most = if wanted.len() == 1 { usize::MAX } else { MOST };
    let runtime = runtime(tokio::runtime::Builder::new_current_thread().enable_all())?;
    let finding = wanted.iter().map(async |asked| match is_local(&asked.provider.base_url) {
        true => asked.local(most).await,
        false => asked.remote(most).await,
    });
    let mut lines = runtime.block_on(futures::future::join_all(finding));
    lines.sort_by_key(|line| !line.is_usable);
    runtime.shutdown_background();
    Ok(lines)
}

/// A provider that is asked for its models.
struct Asked<'a> {
    name: &'a str,
    provider: &'a Provider,
    /// The configured model, if it is this provider's.
    chosen: Option<&'a ModelName>,
    /// Any model of the provider, which knows how its server is asked.
    model: Result<Arc<dyn Model>, String>,
}

fn is_local(base_url: &str) -> bool {
    let rest = base_url.strip_prefix("http://").unwrap_or_default();
    ["127.", "localhost", "[::1]"].iter().any(|host| rest.starts_with(host))
}

impl<'a> Asked<'a> {
    fn of(
        config: &'a Config,
        factory: &ModelFactory,
        name: &'a str,
        provider: &'a Provider,
    ) -> Asked<'a> {
        let chosen = config.model.as_ref().filter(|model| model.provider == name);
        let any = chosen.map_or("any", |model| &model.name).to_owned();
        let model = Some(ModelName { provider: name.to_owned(), name: any });
        let mut asked = config.clone();
        asked.model = model;
        let model = factory(&asked);
        Asked { name, provider, chosen, model }
    }

    /// The names that the configuration has.
    fn configured(&self) -> Vec<&str> {
        let chosen = self.chosen.map(|model| &model.name);
        self.provider.models.keys().chain(chosen).map(String::as_str).collect()
    }

    async fn remote(&self, most: usize) -> ProviderFinding {
        let url = &self.provider.base_url;
        let variable = self.provider.api_key_env.as_deref();
        let is_set = variable.is_some_and(|name| {
            RealEnvironment.var(name).is_some_and(|key| !key.trim().is_empty())
        });
        let key = match (variable, &self.provider.api_key_command, &self.model) {
            (_, _, Err(why)) => Err(why.clone()),
            (Some(variable), _, _) if is_set => Ok(format!("key from {variable}")),
            (_, Some(_), _) => Ok("key by its command".to_owned()),
            (Some(variable), None, _) => Err(format!("no key: set {variable}")),
            (None, None, _) => Ok("no key is sent".to_owned()),
        };
        let is_usable = key.is_ok();
        let mut words = format!("{}: {url}, {}", self.name, key.unwrap_or_else(|words| words));
        if let (true, Ok(model)) = (is_usable, &self.model) {
            // The command that prints a key is not run for a list.
            let asks = self.provider.api_key_command.is_none() || is_set;
            let listing = match asks {
                true => model.list().await.map_err(|error| error.to_string()),
                false => Ok(model.known_list().unwrap_or_default()),
            };
            let listing = listing.unwrap_or_else(|error| {
                words.push_str(&format!("\n  its list of models can't be had: {error}"));
                model.known_list().unwrap_or_default()
            });
            self.list_remote(&listing, most, &mut words);
        }
        ProviderFinding { words, is_usable, is_local: false }
    }

    /// Writes the configured models, and those of the server's list, else of the catalogue.
    fn list_remote(&self, listing: &Listing, most: usize, words: &mut String) {
        let (url, mut own) = (&self.provider.base_url, self.configured());
        own.sort_unstable();
        own.dedup();
        let mut others: Vec<&str> = match listing.models.is_empty() {
            true => models_at(url).collect(),
            false => listing.models.iter().map(|model| &*model.name).collect(),
        };
        others.sort_unstable();
        others.dedup();
        let today = ropewalk_agent::time::today();
        let is_over = |name: &str| {
            let facts = OfferedModel::of(self.provider, listing, name);
            facts.ends.is_some_and(|day| day < today)
        };
        others.retain(|name| !own.contains(name) && !is_over(name));
        for name in own.into_iter().chain(others.iter().copied().take(most)) {
            let facts = OfferedModel::of(self.provider, listing, name);
            words.push_str(&format!("\n  {}/{name}{}", self.name, in_words(&facts)));
            let lean = self.provider.facts_of(name).lean;
            words.push_str(&set_in_words(self.name, lean, facts.context).unwrap_or_default());
        }
        if others.len() > most {
            let (more, name) = (others.len() - most, self.name);
            words.push_str(&format!("\n  and {more} more: `ropewalk models {name}` lists them"));
        }
    }

    async fn local(&self, most: usize) -> ProviderFinding {
        let (name, url) = (self.name, &self.provider.base_url);
        let listed = match &self.model {
            Ok(model) => model.list().await.map_err(|error| match error {
                ModelError::Unreachable { why, .. } => {
                    let chosen = self.chosen.map_or("MODEL", |model| &model.name);
                    match start_of(name, url, chosen) {
                        Some(start) => format!("not running at {url}; start it with `{start}`"),
                        None => format!("not running at {url} ({why})"),
                    }
                }
                error => error.to_string(),
            }),
            Err(why) => Err(why.clone()),
        };
        let is_local = listed.is_ok();
        let words = match listed {
            Err(why) => format!("{name}: {why}"),
            Ok(listing) if listing.models.is_empty() => {
                let mend = match listing.kind {
                    ServerKind::Ollama => "get one with `ollama pull NAME`",
                    _ => "load one",
                };
                format!("{name}: {url} answers, and has no model: {mend}")
            }
            Ok(listing) => {
                let words = self.list_local(&listing, most);
                return ProviderFinding { words, is_usable: true, is_local };
            }
        };
        ProviderFinding { words, is_usable: false, is_local }
    }

    fn list_local(&self, listing: &Listing, most: usize) -> String {
        let (name, kind) = (self.name, listing.kind);
        let mut words = format!("{name}: {} answers", self.provider.base_url);
        for model in listing.models.iter().take(most) {
            let facts = self.provider.facts_of(&model.name);
            let context = OfferedModel::of(self.provider, listing, &model.name).context;
            words.push_str(&format!("\n  {name}/{}{}", model.name, about(context)));
            words.push_str(&set_in_words(name, facts.lean, context).unwrap_or_default());
            if let Some(mend) = mend(kind, name, model, context) {
                words.push_str(&format!("\n    {mend}"));
            }
        }
        if listing.models.len() > most {
            let more = listing.models.len() - most;
            words.push_str(&format!("\n  and {more} more: `ropewalk models {name}` lists them"));
        }
        if let Some(chosen) = self.chosen.filter(|chosen| listing.find(&chosen.name).is_none()) {
            words.push_str(&format!(
                "\n  it has no {}, which your configuration names",
                chosen.name
            ));
        }
        words
    }
}

/// Context, price, images and end of a model elsewhere, in words that follow its name.
fn in_words(facts: &OfferedModel) -> String {
    let mut words = about(facts.context);
    words.push_str(&match facts.price {
        Some(price) => format!(
            ", {} in, {} out per million tokens",
            in_dollars(price.input),
            in_dollars(price.output)
        ),
        None => ", price not known".to_owned(),
    });
    if let Some(above) = facts.price.and_then(|price| price.above) {
        words.push_str(&format!(
            " ({}, {} for prompts above {} tokens)",
            in_dollars(above.input),
            in_dollars(above.output),
            above.tokens
        ));
    }
    if facts.images == Some(true) {
        words.push_str(", images");
    }
    if let Some(day) = &facts.ends {
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

/// Advice on a context that is too small, or not known with Ollama, which cuts long requests without a word. `context` is
/// the one that counts.
fn mend(
    kind: ServerKind,
    provider: &str,
    model: &ModelListing,
    context: Option<u32>,
) -> Option<String> {
    let size = ContextSize { given: model.context, trained: model.trained };
    let more = |is_own| kind.more_context(&model.name, is_own, size);
    match (model.context, context) {
        (_, Some(counts)) if counts >= ENOUGH_CONTEXT => None,
        (Some(_), _) => Some(format!("too small; for more: {}", more(model.sets_context))),
        (None, Some(_)) => None,
        (None, None) if kind == ServerKind::Ollama => Some(format!(
            "its context is known only once it is loaded, and may be 4096, which is too small; for more: {}, and set \
             `provider.{provider}.context = 32768`",
            more(false)
        )),
        (None, None) => None,
    }
}
