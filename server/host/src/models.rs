//! Models to choose from: those of the configuration, and those of servers on this machine.

use crate::blocking;
use crate::host::Host;
use futures::future::BoxFuture;
use ropewalk_config::{Config, Environment, Provider};
use ropewalk_model::listing::list_models;
use ropewalk_model::{Http, ModelError, Network};
use ropewalk_protocol::command::{ModelInfo, ModelPrice};
use ropewalk_protocol::{Price, Refusal};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How long a server on this machine may take to list its models.
const ANSWER: Duration = Duration::from_secs(2);

/// The most models of one server.
const MOST: usize = 50;

/// A provider of the configuration, while its models are being found.
struct ProviderCandidate {
    provider: String,
    /// The URL to ask for a list of models, if the server is on this machine.
    ask: Option<String>,
    /// The names of its models.
    names: BTreeSet<String>,
    /// Set-up that all of its models lack.
    missing: Option<String>,
}

impl Host {
    /// The models to choose from, the usable ones first. Only servers on this machine are asked, each for two seconds at
    /// most.
    ///
    /// # Errors
    /// When it breaks down, in words.
    pub fn models(self: &Arc<Self>) -> BoxFuture<'_, Result<Vec<ModelInfo>, Refusal>> {
        Box::pin(async move {
            let host = self.clone();
            let (mut candidates, network) = blocking(move || host.candidates()).await?;
            let http = Http::over(network);
            let asked = candidates.iter_mut().map(|candidate| ask(&http, candidate));
            futures::future::join_all(asked).await;
            let host = self.clone();
            let current = self.running(None).and_then(|session| session.model().ok());
            blocking(move || {
                let infos =
                    candidates.iter().flat_map(|one| host.infos_of(one, current.as_deref()));
                let mut infos: Vec<ModelInfo> = infos.collect();
                infos.sort_by_key(|info| (!info.usable, !info.current));
                infos
            })
            .await
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

    /// The providers of the configuration, and the network to ask them over. Blocking.
    fn candidates(&self) -> (Vec<ProviderCandidate>, Network) {
        let environment = &*self.options.environment;
        let config = Config::build(&self.configuration.sources(), environment);
        let of = |(name, provider): (&String, &Provider)| {
            let chosen = config.model.as_ref().filter(|model| model.provider == *name);
            let named = provider.models.keys().chain(chosen.map(|model| &model.name));
            ProviderCandidate {
                provider: name.clone(),
                ask: is_local(&provider.base_url).then(|| provider.base_url.clone()),
                names: named.cloned().collect(),
                missing: self.missing_of(provider),
            }
        };
        let candidates = config.providers.iter().map(of).collect();
        (candidates, network(&config, environment))
    }

    /// The models of one provider, as front ends list them. Blocking.
    fn infos_of(&self, candidate: &ProviderCandidate, current: Option<&str>) -> Vec<ModelInfo> {
        let info = |name: &String| {
            let model = format!("{}/{name}", candidate.provider);
            let made = self.model_named(&model);
            let missing = candidate.missing.clone().or(made.as_ref().err().cloned());
            let made = made.ok();
            let context = made.as_ref().and_then(|made| made.limits().context);
            ModelInfo {
                usable: missing.is_none(),
                missing,
                context: context.map(u64::from),
                price: made.and_then(|made| made.price()).map(in_dollars),
                current: current == Some(&*model),
                model,
            }
        };
        candidate.names.iter().take(MOST).map(info).collect()
    }
}

/// Asks a server on this machine for its models, and adds them to the candidate's.
async fn ask(http: &Http, candidate: &mut ProviderCandidate) {
    let Some(url) = &candidate.ask else { return };
    match tokio::time::timeout(ANSWER, list_models(http, url)).await {
        Ok(Ok(listing)) => {
            candidate.names.extend(listing.models.into_iter().map(|model| model.name));
        }
        // Only these errors say that it can't be used: a server without such a list may answer prompts.
        Ok(Err(
            error @ (ModelError::Unreachable { .. }
            | ModelError::BadSetting { .. }
            | ModelError::Untrusted { .. }),
        )) => {
            candidate.missing = Some(error.to_string());
        }
        Ok(Err(error)) => tracing::info!(%error, url, "no list of models"),
        Err(_) => candidate.missing = Some(format!("{url} does not answer")),
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
