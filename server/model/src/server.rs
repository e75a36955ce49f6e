//! A model at a server over HTTP, whatever protocol it speaks.
//!
//! Everything that does not depend on the protocol is here: address, headers, key, bounds, the probe. What
//! is sent and what it means is the [`Protocol`]'s; limits and retries are the exchange's.

use crate::{
    ApiKey, BodyMembers, Delta, ENOUGH_CONTEXT, Header, Http, Keys, Message, Model, ModelError,
    ModelRequest, Piece, Prelude, Protocol, ReplyReader, ServerConfig, ToolDeclaration,
    anthropic::Anthropic,
    catalogue::{KnownModel, end_in_words, known_model, model_at, price_of, sees},
    chat::Chat,
    context_probe::ContextProbe,
    exchange::{self, ServerLine, host_of},
    http::is_loopback,
    images::shown,
    listing::{KeptListing, ListQuestion, Listing},
    local::LocalServer,
    responses::Responses,
    thinking::tokens,
    wire::Wire,
};
use futures::{FutureExt, future::BoxFuture, stream::BoxStream};
use reqwest::{
    Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use ropewalk_protocol::{ModelLimits, Price};
use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicU32, Ordering},
};

/// Days before the end of a model within which the user is told.
const NEAR_END: i64 = 60;

/// The part of a known context that thinking may take beside the answer: one of so many.
const THINKING_PART: u32 = 8;

/// The protocol as `config` wants it spoken.
fn wire_of(config: &ServerConfig) -> Arc<dyn Wire> {
    match config.protocol {
        Protocol::Anthropic => Arc::new(Anthropic::new(config)),
        Protocol::Chat => Arc::new(Chat::new(config)),
        Protocol::Responses => Arc::new(Responses::new(config)),
    }
}

impl ServerConfig {
    /// True if requests ask the model to think: not every server takes the word for it.
    pub fn asks_to_think(&self) -> bool {
        wire_of(self).asks_to_think()
    }
}

/// Facts of a model, as configured, else as its server's list of an earlier day or the catalogue has them.
struct ServedFacts {
    /// The model at this very server.
    known: Option<&'static KnownModel>,
    /// Limits that are configured.
    configured: ModelLimits,
    /// Limits that the catalogue has.
    catalogued: ModelLimits,
    price: Option<Price>,
    /// Tokens that thinking may take beside the answer.
    to_think: u32,
    /// True if it is sent images. It stays so while the server's list changes: what was sent is not written anew.
    sees: bool,
}

impl ServedFacts {
    fn of(config: &ServerConfig, asks_to_think: bool, listing: &Told) -> ServedFacts {
        let (base_url, model) = (&config.base_url, &config.model);
        let catalogued = known_model(base_url, model).map(KnownModel::limits).unwrap_or_default();
        let mut facts = ServedFacts {
            known: model_at(base_url, model),
            configured: config.limits,
            catalogued,
            price: config.price.or_else(|| price_of(base_url, model, config.cache)),
            to_think: 0,
            sees: config
                .images
                .or_else(|| listing.images())
                .unwrap_or_else(|| sees(base_url, model)),
        };
        let limits = facts.limits(listing);
        let wanted = config.wanted_thinking();
        let asked = wanted.filter(|_| asks_to_think && limits.max_output.is_some());
        let most = limits.context.map_or(u32::MAX, |context| context / THINKING_PART);
        facts.to_think = asked.map_or(0, |level| tokens(level).min(most));
        facts
    }

    /// Limits by all that is known now. No configuration gives more context than a server on this machine gives.
    fn limits(&self, told: &Told) -> ModelLimits {
        let (configured, catalogued) = (self.configured, self.catalogued);
        match told {
            Told::Here(probe) => {
                let told = probe.limits();
                let known = configured.context.or(catalogued.context);
                ModelLimits {
                    context: told.context.into_iter().chain(known).min(),
                    max_output: configured.max_output.or(catalogued.max_output).or(told.max_output),
                }
            }
            Told::Elsewhere(kept, model) => {
                let told = kept.model(model).unwrap_or_default();
                ModelLimits {
                    context: configured.context.or(told.context).or(catalogued.context),
                    max_output: configured.max_output.or(told.output).or(catalogued.max_output),
                }
            }
        }
    }
}

/// The server's own word on the model.
enum Told {
    /// A server on this machine, which is asked in each process.
    Here(ContextProbe),
    /// A server elsewhere, with the model's name there.
    Elsewhere(KeptListing, String),
}

impl Told {
    fn images(&self) -> Option<bool> {
        match self {
            Told::Here(_) => None,
            Told::Elsewhere(kept, model) => kept.model(model)?.images,
        }
    }

    fn here(&self) -> Option<&ContextProbe> {
        match self {
            Told::Here(probe) => Some(probe),
            Told::Elsewhere(..) => None,
        }
    }
}

/// A model at a server. Cloning shares it.
#[derive(Clone)]
pub struct ServerModel {
    name: String,
    wire: Arc<dyn Wire>,
    /// Read when they are first asked for.
    facts: Arc<LazyLock<ServedFacts, Box<dyn FnOnce() -> ServedFacts + Send>>>,
    told: Arc<Told>,
    /// The longest reply by a refusal of the server's; the highest number where none told it.
    told_output: Arc<AtomicU32>,
    printed_calls: bool,
    lean: Option<bool>,
    body: BodyMembers,
    line: Arc<ServerLine>,
    /// Where the server lists its models.
    list: Url,
    /// A remote server without a key: said when the model is used, not before.
    missing_key: Option<String>,
}

impl ServerModel {
    /// A model over the shared client. Nothing is sent or checked with the server yet, and a
    /// missing key is only reported by [`Model::stream`].
    ///
    /// # Errors
    /// [`ModelError::BadUrl`], [`ModelError::UnusableKey`], [`ModelError::BadHeader`].
    pub fn new(config: ServerConfig, http: Http) -> Result<ServerModel, ModelError> {
        let wire = wire_of(&config);
        let (url, list) = endpoint(&config, wire.path())?;
        let headers = headers(&config, &*wire)?;
        let secret = config.key.iter().map(ApiKey::text);
        let told = || config.headers.iter().chain(&config.query);
        let hidden = told().flat_map(Header::secrets);
        let secrets = secret.chain(hidden).chain(url.password());
        let keys = config.keys.clone().and(secrets);
        let presented = config.key.is_some() || told().any(Header::is_secret);
        let key_var = config.key_var.clone();
        let is_here = is_loopback(&url);
        let missing_key = key_var.filter(|_| !presented && !is_here);
        let parallel = config.parallel.or_else(|| is_here.then_some(1));
        let told = Arc::new(match is_here {
            true => Told::Here(ContextProbe::of(&config.model)),
            false => Told::Elsewhere(
                KeptListing::of(&config.provider, &list, config.lists.as_deref()),
                config.model.clone(),
            ),
        });
        let line = ServerLine {
            http,
            url,
            headers,
            provider: config.provider.clone(),
            model: config.model.clone(),
            keys,
            retry: config.retry.clone(),
            patience: config.patience.clone(),
            parallel,
        };
        let (asks, listing) = (wire.clone(), told.clone());
        let body = config.body.clone();
        let (name, printed_calls, lean) =
            (format!("{}/{}", config.provider, config.model), config.printed_calls, config.lean);
        let facts = move || ServedFacts::of(&config, asks.asks_to_think(), &listing);
        Ok(ServerModel {
            name,
            wire,
            facts: Arc::new(LazyLock::new(Box::new(facts))),
            told,
            told_output: Arc::new(AtomicU32::new(u32::MAX)),
            printed_calls,
            lean,
            body,
            line: Arc::new(line),
            list,
            missing_key,
        })
    }

    /// The same model, which shares all that is known of it, asked with this key.
    ///
    /// # Errors
    /// [`ModelError::UnusableKey`].
    pub(crate) fn with_key(&self, key: &ApiKey, var: &str) -> Result<ServerModel, ModelError> {
        let (name, value) =
            self.wire.key(key).ok_or_else(|| ModelError::UnusableKey { var: var.to_owned() })?;
        let mut line = ServerLine::clone(&self.line);
        // A header that is configured wins.
        if !line.headers.contains_key(&name) {
            line.headers.insert(name, value);
        }
        line.keys = line.keys.and([key.text()]);
        Ok(ServerModel { line: Arc::new(line), missing_key: None, ..self.clone() })
    }

    /// The question for the server's models.
    fn question(&self) -> ListQuestion {
        let (http, headers) = (self.line.http.clone(), self.line.headers.clone());
        ListQuestion { http, headers, url: self.list.clone() }
    }

    /// A reader for one reply of this protocol, recorded or live.
    pub fn reader(&self) -> ReplyReader {
        ReplyReader::new(self.wire.decoder())
    }
}

#[deny(clippy::missing_trait_methods)]
impl Model for ServerModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> ModelLimits {
        let limits = self.facts.limits(&self.told);
        let told = Some(self.told_output.load(Ordering::Relaxed)).filter(|most| *most < u32::MAX);
        ModelLimits { max_output: limits.max_output.into_iter().chain(told).min(), ..limits }
    }

    fn learn_output(&self, most: Option<u32>) {
        self.told_output.store(most.unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    fn thinking_tokens(&self) -> u32 {
        self.facts.to_think
    }

    fn price(&self) -> Option<Price> {
        self.facts.price
    }

    fn takes_printed_calls(&self) -> bool {
        self.printed_calls
    }

    fn reads_calls_when(&self) -> Option<String> {
        let server = LocalServer::of(&self.line.provider, &self.line.url)?;
        Some(server.reads_calls_when(&self.line.model))
    }

    fn lacks_tools(&self) -> Option<String> {
        let probe = self.told.here().filter(|probe| probe.lacks_tools())?;
        Some(probe.lacks_tools_in_words(&self.name))
    }

    fn end_in_words(&self, today: &str) -> Option<String> {
        let known = self.facts.known;
        let mut ends = known.and_then(|known| Some((known.ends.clone()?, known.instead.clone())));
        if let Told::Elsewhere(kept, model) = &*self.told
            && let Some(listed) = kept.model(model)
            && let Some(day) = listed.ends
        {
            let instead = listed.instead.or_else(|| known?.instead.clone());
            ends = Some((day, instead));
        }
        let (day, instead) = ends?;
        end_in_words(&self.name, (&day, instead.as_deref()), today, NEAR_END)
    }

    fn is_lean(&self) -> bool {
        let is_small = || self.limits().context.is_some_and(|tokens| tokens < ENOUGH_CONTEXT);
        self.lean.unwrap_or_else(is_small)
    }

    fn find_context(&self) -> BoxFuture<'static, ()> {
        let (told, question) = (self.told.clone(), self.question());
        if self.missing_key.is_some() {
            return async {}.boxed();
        }
        async move {
            match &*told {
                Told::Here(probe) => probe.look(&question).await,
                Told::Elsewhere(kept, _) if kept.is_due() => {
                    // Nobody waits for it.
                    tokio::spawn(async move {
                        let Told::Elsewhere(kept, _) = &*told else { return };
                        if let Err(error) = kept.renew(&question).await {
                            tracing::info!(%error, "no list of models");
                        }
                    });
                }
                Told::Elsewhere(..) => {}
            }
        }
        .boxed()
    }

    fn more_context(&self) -> Option<String> {
        self.told.here()?.more()
    }

    fn list(&self) -> BoxFuture<'static, Result<Arc<Listing>, ModelError>> {
        let (told, question) = (self.told.clone(), self.question());
        let missing_key = self.missing_key.clone();
        async move {
            if let Some(var) = missing_key {
                return Err(ModelError::MissingKey { var });
            }
            match &*told {
                Told::Here(_) => question.ask(None).await.map(Arc::new),
                Told::Elsewhere(kept, _) => kept.renew(&question).await,
            }
        }
        .boxed()
    }

    fn known_list(&self) -> Option<Arc<Listing>> {
        match &*self.told {
            Told::Here(_) => None,
            Told::Elsewhere(kept, _) => kept.listing(),
        }
    }

    fn keys(&self) -> Keys {
        self.line.keys.clone()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }

    fn encode(&self, message: &Message) -> Piece {
        self.wire.encode(&shown(message, self.facts.sees))
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.wire.encode_prelude(system, tools)
    }

    fn stream(&self, mut request: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        let limits = self.limits();
        let most = limits.max_output.unwrap_or(u32::MAX).min(limits.room(0));
        request.max_tokens =
            request.max_tokens.saturating_add(self.facts.to_think).min(most).max(1);
        let (wire, missing_key) = (self.wire.clone(), self.missing_key.clone());
        let members = self.body.clone();
        exchange::stream(self.line.clone(), self.wire.clone(), move || match missing_key {
            Some(var) => Err(ModelError::MissingKey { var }),
            None => Ok(members.merged_into(wire.body(&request)).into()),
        })
    }

    /// The list of models, which costs nothing.
    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        let (line, list) = (self.line.clone(), self.list.clone());
        let missing_key = self.missing_key.clone();
        async move {
            match missing_key {
                Some(var) => Err(ModelError::MissingKey { var }),
                None => line.look(list).await,
            }
        }
        .boxed()
    }
}

/// All headers of a request; what the config says comes last, and wins.
fn headers(config: &ServerConfig, wire: &dyn Wire) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.extend(wire.headers());
    if let Some(key) = &config.key {
        let unusable =
            || ModelError::UnusableKey { var: config.key_var.clone().unwrap_or_default() };
        let (name, value) = wire.key(key).ok_or_else(unusable)?;
        headers.insert(name, value);
    }
    for header in &config.headers {
        let bad = || ModelError::BadHeader { name: header.name.clone() };
        let mut value = HeaderValue::from_str(header.value.trim()).map_err(|_| bad())?;
        value.set_sensitive(header.is_secret());
        headers.insert(header.name.trim().parse::<HeaderName>().map_err(|_| bad())?, value);
    }
    Ok(headers)
}

/// Where requests are posted under the base URL, and where the models are listed.
fn endpoint(config: &ServerConfig, path: &str) -> Result<(Url, Url), ModelError> {
    let base_url = config.base_url.trim();
    let mut url = Url::parse(base_url).map_err(|error| ModelError::BadUrl {
        // It may hold a password, and could not be taken apart to remove it.
        url: base_url.rsplit('@').next().unwrap_or_default().to_owned(),
        why: error.to_string(),
    })?;
    let bad = |why: &str| Err(ModelError::BadUrl { url: host_of(&url), why: why.to_owned() });
    if !matches!(url.scheme(), "http" | "https") {
        return bad("only http and https are spoken");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return bad("it has a query or a fragment");
    }
    if !config.query.is_empty() {
        let parts = config.query.iter().map(|part| (&part.name, &part.value));
        url.query_pairs_mut().extend_pairs(parts);
    }
    let base = url.path().trim_end_matches('/');
    // Whoever writes the protocol's own path means the address as it is.
    let base = match base.strip_suffix(path) {
        Some(base) => base.to_owned(),
        None if base.split('/').any(is_version) => base.to_owned(),
        None => format!("{base}/v1"),
    };
    let mut list = url.clone();
    list.set_path(&format!("{base}/models"));
    if !config.url_exact {
        url.set_path(&format!("{base}{path}"));
    }
    Ok((url, list))
}

/// `v1`, `v1beta`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_ends_in_the_protocols_path_is_taken_as_it_is() {
        for (base_url, posted) in [
            ("https://x.test", "https://x.test/v1/messages"),
            ("https://x.test/proxy/", "https://x.test/proxy/v1/messages"),
            ("https://x.test/v1", "https://x.test/v1/messages"),
            ("https://x.test/openai/v1/", "https://x.test/openai/v1/messages"),
            ("https://x.test/v1/messages", "https://x.test/v1/messages"),
            ("https://x.test/proxy/messages", "https://x.test/proxy/messages"),
        ] {
            let mut config = ServerConfig::new(Protocol::Anthropic, "m");
            config.base_url = base_url.to_owned();
            let (url, list) = endpoint(&config, "/messages").unwrap();
            assert_eq!(url.as_str(), posted, "{base_url}");
            assert_eq!(list.as_str(), posted.replace("/messages", "/models"), "{base_url}");
        }
        let mut config = ServerConfig::new(Protocol::Chat, "m");
        config.base_url = "https://x.test/openai/deployments/d/chat/completions".to_owned();
        let part = |value: &str| Header { name: "api-version".to_owned(), value: value.to_owned() };
        config.query = vec![part("2026-10-01&é")];
        let (url, _) = endpoint(&config, "/chat/completions").unwrap();
        let expected =
            "https://x.test/openai/deployments/d/chat/completions?api-version=2026-10-01%26%C3%A9";
        assert_eq!(url.as_str(), expected);
        config.base_url = "https://x.test/run/".to_owned();
        (config.url_exact, config.query) = (true, Vec::new());
        assert_eq!(
            endpoint(&config, "/chat/completions").unwrap().0.as_str(),
            "https://x.test/run/"
        );
    }
}
