//! Models to choose from: those of the configuration, and those of servers that can be used.

use crate::blocking;
use crate::host::Host;
use futures::future::BoxFuture;
use ropewalk_config::{Config, Environment, Provider};
use ropewalk_model::catalogue::{known_model, models_at, price_of};
use ropewalk_model::listing::Listing;
use ropewalk_model::{Model, ModelError, Network};
use ropewalk_protocol::command::{ModelInfo, ModelPrice};
use ropewalk_protocol::{Price, Refusal};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How long a server may take to list its models.
const ANSWER: Duration = Duration::from_secs(2);

/// The most models of one server.
const MOST: usize = 1_000;

/// A provider of the configuration, while its models are being found.
struct ProviderCandidate {
    provider_name: String,
    provider: Provider,
    /// Any model of the provider, which knows how its server is asked. None where it can't be used.
    model: Option<Arc<dyn Model>>,
    /// The server's answer.
    listing: Arc<Listing>,
    /// The names of its models, the configured ones first.
    names: Vec<String>,
    /// Set-up that all of its models lack.
    missing: Option<String>,
}

impl Host {
    /// The models to choose from, the usable ones first. Servers are asked at the same time, for two seconds at most: those on
    /// this machine, and those elsewhere whose list is not of this day.
    ///
    /// # Errors
    /// When it breaks down, in words.
    pub fn models(self: &Arc<Self>) -> BoxFuture<'_, Result<Vec<ModelInfo>, Refusal>> {
        Box::pin(async move {
            let host = self.clone();
            let mut candidates = blocking(move || host.candidates()).await?;
            let asked = candidates.iter_mut().map(ProviderCandidate::ask);
            futures::future::join_all(asked).await;
            let current = self.running(None).and_then(|session| session.model().ok());
            let infos = candidates.iter().flat_map(|one| one.infos(current.as_deref()));
            let mut infos: Vec<ModelInfo> = infos.collect();
            infos.sort_by_key(|info| (!info.usable, !info.current));
            Ok(infos)
        })
    }

    /// Set-up that this model still needs, in words. None if nothing is known to be missing.
    pub fn missing_for(self: &Arc<Self>, model: String) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let host = self.clone();
            let missing = blocking(move || {
                let config =
                    Config::build(&host.configuration.sources(), &*host.options.environment);
                let provider =
                    model.split_once('/').and_then(|(name, _)| config.providers.get(name))?;
                host.missing_of(provider)
            });
            missing.await.ok().flatten()
        })
    }

    /// Checks the set-up of the configured model, without a request to it. Blocking.
    ///
    /// # Errors
    /// Words on what is missing.
    pub(crate) fn check_model(&self) -> Result<(), String> {
        let config = Config::build(&self.configuration.sources(), &*self.options.environment);
        (self.options.models)(&config)?;
        let missing = config.model_provider().and_then(|provider| self.missing_of(provider));
        missing.map_or(Ok(()), |missing| Err(format!("The model can't be asked: {missing}")))
    }

    /// Set-up that a provider lacks. A server on this machine may need no key.
    fn missing_of(&self, provider: &Provider) -> Option<String> {
        let is_local = is_local(&provider.base_url);
        if is_local { None } else { missing_key(provider, &*self.options.environment) }
    }

    /// The providers of the configuration. Blocking.
    fn candidates(&self) -> Vec<ProviderCandidate> {
        let config = Config::build(&self.configuration.sources(), &*self.options.environment);
        let of = |(name, provider): (&String, &Provider)| {
            let chosen = config.model.as_ref().filter(|model| model.provider == *name);
            let named = provider.models.keys().chain(chosen.map(|model| &model.name));
            let names: BTreeSet<String> = named.cloned().collect();
            let any = names.first().map_or("any", String::as_str);
            let model = self.model_named(&format!("{name}/{any}"));
            let missing = self.missing_of(provider).or_else(|| model.as_ref().err().cloned());
            ProviderCandidate {
                provider_name: name.clone(),
                provider: provider.clone(),
                model: model.ok().filter(|_| missing.is_none()),
                listing: Arc::default(),
                names: names.into_iter().collect(),
                missing,
            }
        };
        config.providers.iter().map(of).collect()
    }
}

impl ProviderCandidate {
    /// Its models, as front ends list them.
    fn infos(&self, current: Option<&str>) -> Vec<ModelInfo> {
        let info = |name: &String| {
            let model = format!("{}/{name}", self.provider_name);
            let facts = OfferedModel::of(&self.provider, &self.listing, name);
            ModelInfo {
                usable: self.missing.is_none(),
                missing: self.missing.clone(),
                context: facts.context.map(u64::from),
                price: facts.price.map(in_dollars),
                current: current == Some(&*model),
                model,
            }
        };
        self.names.iter().take(MOST).map(info).collect()
    }

    /// Asks the server for its models, and adds them; those of the catalogue where a server elsewhere has no list.
    async fn ask(&mut self) {
        let Some(model) = &self.model else { return };
        let (url, is_local) = (&self.provider.base_url, is_local(&self.provider.base_url));
        // A list that takes longer is kept when it comes.
        let listed = tokio::time::timeout(ANSWER, tokio::spawn(model.list())).await;
        let listed = listed.map(|listed| listed.unwrap_or_else(|_| Ok(Arc::default())));
        self.listing = match listed {
            Ok(Ok(listing)) => listing,
            // Only these errors say that it can't be used: a server without such a list may answer prompts.
            Ok(Err(
                error @ (ModelError::Unreachable { .. }
                | ModelError::BadSetting { .. }
                | ModelError::Untrusted { .. }),
            )) if is_local => {
                self.missing = Some(error.to_string());
                return;
            }
            Err(_) if is_local => {
                self.missing = Some(format!("{url} does not answer"));
                return;
            }
            Ok(Err(error)) => {
                tracing::info!(%error, url, "no list of models");
                model.known_list().unwrap_or_default()
            }
            Err(_) => model.known_list().unwrap_or_default(),
        };
        let known = self.names.clone();
        let mut others: Vec<String> = match self.listing.models.is_empty() && !is_local {
            true => models_at(url).map(str::to_owned).collect(),
            false => self.listing.models.iter().map(|model| model.name.clone()).collect(),
        };
        others.retain(|name| !known.contains(name));
        others.sort_unstable();
        self.names.append(&mut others);
    }
}

/// A model as it is offered: its facts as configured, else as its server's list says, else as the catalogue has them.
#[derive(Debug, Default)]
pub struct OfferedModel {
    /// Tokens of prompt and reply together. No configuration makes it larger than a server on this machine says.
    pub context: Option<u32>,
    /// True if it takes images.
    pub images: Option<bool>,
    /// Price of its tokens.
    pub price: Option<Price>,
    /// The day, `YYYY-MM-DD`, after which it is served no more.
    pub ends: Option<String>,
}

impl OfferedModel {
    /// The facts of the model `name` at a provider.
    pub fn of(provider: &Provider, listing: &Listing, name: &str) -> OfferedModel {
        let (configured, url) = (provider.facts_of(name), &provider.base_url);
        let (told, known) =
            (listing.find(name).cloned().unwrap_or_default(), known_model(url, name));
        let context = match is_local(url) {
            true => told.context.into_iter().chain(configured.context).min(),
            false => configured.context.or(told.context),
        };
        OfferedModel {
            context: context.or_else(|| known?.context),
            images: configured.images.or(told.images).or_else(|| known?.images),
            price: configured.price.or_else(|| price_of(url, name, provider.cache)),
            ends: told.ends.or_else(|| known?.ends.clone()),
        }
    }
}

/// Proxies and certificates of the environment; the configuration's file of certificates comes before its.
pub fn network(config: &Config, environment: &dyn Environment) -> Network {
    let mut network = Network::from_env(|name| environment.var(name));
    if let Some(file) = &config.ca_file {
        network.ca_file = Some(file.clone());
    }
    network
}

fn is_local(base_url: &str) -> bool {
    let schemes = ["http://", "https://"];
    let rest = schemes.iter().find_map(|scheme| base_url.strip_prefix(scheme)).unwrap_or_default();
    ["127.", "localhost", "[::1]"].iter().any(|host| rest.starts_with(host))
}

/// Words on a variable that should hold a key and is not set. None if the key is there or comes from elsewhere.
fn missing_key(provider: &Provider, environment: &dyn Environment) -> Option<String> {
    let variable = provider.api_key_env.as_ref().filter(|_| provider.api_key_command.is_none())?;
    let is_set = environment.var(variable).is_some_and(|key| !key.trim().is_empty());
    (!is_set).then(|| format!("set {variable}"))
}

/// A price in dollars per million tokens.
fn in_dollars(price: Price) -> ModelPrice {
    #[expect(clippy::cast_precision_loss, reason = "for reading, not for sums")]
    let dollars = |millionths: u64| millionths as f64 / 1e6;
    ModelPrice {
        input: dollars(price.input),
        output: dollars(price.output),
        cache_read: dollars(price.cache_read),
        cache_write: dollars(price.cache_write),
    }
}
