//! Anthropic's Messages protocol, as its own servers and others (llama.cpp's) speak it.
//!
//! A request is model, bounds, system, tools, messages, always in this order, and the same
//! bytes from step to step but for the cache markers, which are spliced in when sending. Only
//! streaming is spoken.

mod decode;
mod encode;

use crate::{
    ApiKey, Delta, Http, Keys, Limits, Message, Model, ModelError, Patience, Piece, Prelude,
    ReplyReader, Request, Retry, ToolSpec,
    exchange::{self, Line, Protocol, Refused, host_of},
    http::is_loopback,
    limits_of,
};
use futures::{FutureExt, future::BoxFuture, stream::BoxStream};
use reqwest::{
    Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use std::sync::Arc;

/// Anthropic's own server.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";
/// The environment variable that customarily holds the key.
pub const DEFAULT_KEY_VAR: &str = "ANTHROPIC_API_KEY";
const VERSION: &str = "2023-06-01";

/// Which model where, and how to talk to it.
#[derive(Debug, Clone)]
pub struct AnthropicConfig {
    /// The model's name without the protocol, as the server knows it.
    pub model: String,
    /// Scheme, host and perhaps a path; `/v1/messages` is added.
    pub base_url: String,
    /// The key; a server on this machine may do without.
    pub key: Option<ApiKey>,
    /// Where the key would come from, for the message that it is missing; none for a server that wants none.
    pub key_var: Option<String>,
    /// Keys of other servers, which nothing that is said here may hold either.
    pub keys: Keys,
    /// How often to try again.
    pub retry: Retry,
    /// How long to wait for bytes.
    pub patience: Patience,
}

impl AnthropicConfig {
    /// A model at Anthropic's server, with the usual bounds and no key yet.
    pub fn new(model: impl Into<String>) -> AnthropicConfig {
        AnthropicConfig {
            model: model.into(),
            base_url: DEFAULT_BASE_URL.to_owned(),
            key: None,
            key_var: Some(DEFAULT_KEY_VAR.to_owned()),
            keys: Keys::default(),
            retry: Retry::default(),
            patience: Patience::default(),
        }
    }
}

/// A model behind the Messages protocol.
#[derive(Clone)]
pub struct AnthropicModel {
    name: String,
    protocol: Arc<Anthropic>,
    limits: Limits,
    line: Arc<Line>,
    /// A remote server without a key: said when the model is used, not before.
    missing_key: Option<String>,
}

impl AnthropicModel {
    /// A model over the shared client. Nothing is sent or checked with the server yet, and a
    /// missing key is only reported by [`Model::stream`].
    ///
    /// # Errors
    /// [`ModelError::BadUrl`], [`ModelError::UnusableKey`].
    pub fn new(config: AnthropicConfig, http: Http) -> Result<AnthropicModel, ModelError> {
        let url = endpoint(&config.base_url)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        if let Some(key) = &config.key {
            let unusable =
                || ModelError::UnusableKey { var: config.key_var.clone().unwrap_or_default() };
            headers.insert("x-api-key", key.header().ok_or_else(unusable)?);
        }
        let keys = match &config.key {
            Some(key) => config.keys.and(key.text()),
            None => config.keys,
        };
        let missing_key = config.key_var.filter(|_| config.key.is_none() && !is_loopback(&url));
        Ok(AnthropicModel {
            name: format!("anthropic/{}", config.model),
            limits: limits_of(&config.model),
            protocol: Arc::new(Anthropic { model: config.model }),
            line: Arc::new(Line {
                http,
                url,
                headers,
                keys,
                retry: config.retry,
                patience: config.patience,
            }),
            missing_key,
        })
    }

    /// A reader for one reply of this protocol, recorded or live.
    pub fn reader(&self) -> ReplyReader {
        self.protocol.reader()
    }
}

impl Model for AnthropicModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn keys(&self) -> Keys {
        self.line.keys.clone()
    }

    fn encode(&self, message: &Message) -> Piece {
        encode::message(message)
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolSpec]) -> Prelude {
        encode::prelude(system, tools)
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ModelError>> {
        let (protocol, limits) = (self.protocol.clone(), self.limits);
        let missing_key = self.missing_key.clone();
        let shared = protocol.clone();
        exchange::stream(self.line.clone(), shared, move || match missing_key {
            Some(var) => Err(ModelError::MissingKey { var }),
            None => Ok(encode::request(&protocol.model, limits.max_output, &request).into()),
        })
    }

    /// The list of models, which costs nothing.
    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        let (line, protocol) = (self.line.clone(), self.protocol.clone());
        let missing_key = self.missing_key.clone();
        let mut url = line.url.clone();
        // `endpoint` made the path, so it ends in the words replaced here.
        url.set_path(&url.path().replace("/v1/messages", "/v1/models"));
        async move {
            match missing_key {
                Some(var) => Err(ModelError::MissingKey { var }),
                None => exchange::look(line, protocol, url).await,
            }
        }
        .boxed()
    }
}

/// Where messages are posted under a base URL.
fn endpoint(base_url: &str) -> Result<Url, ModelError> {
    let mut url = Url::parse(base_url.trim()).map_err(|error| ModelError::BadUrl {
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
    let base = url.path().trim_end_matches('/').trim_end_matches("/v1").to_owned();
    url.set_path(&format!("{base}/v1/messages"));
    Ok(url)
}

/// What the exchange has to know of the protocol.
struct Anthropic {
    model: String,
}

impl Protocol for Anthropic {
    fn reader(&self) -> ReplyReader {
        ReplyReader::new(Box::new(decode::Decoder::new(&self.model)))
    }

    fn refusal(&self, refused: &Refused<'_>) -> ModelError {
        let message = decode::error_message(refused.body).unwrap_or_else(|| {
            // A page for a browser says nothing in a sentence.
            let is_page = refused.body.trim_start().starts_with('<');
            if is_page { String::new() } else { refused.body.to_owned() }
        });
        let retry_after = refused.retry_after;
        let host = refused.host.to_owned();
        let said =
            |message: String| if message.is_empty() { "no reason given".into() } else { message };
        let status = refused.status;
        match status.as_u16() {
            401 => ModelError::BadKey { host },
            402 | 403 => ModelError::NotPermitted { host, message: said(message) },
            // The protocol's own 404 is about the model; any other is about the address.
            404 if message.to_ascii_lowercase().contains("model") => {
                ModelError::UnknownModel { host, model: self.model.clone() }
            }
            404 => ModelError::NotAModelServer {
                host,
                why: "it has nothing at /v1/messages".to_owned(),
            },
            413 => {
                ModelError::TooLarge { what: "the request is too long for the server".to_owned() }
            }
            429 => ModelError::RateLimited { retry_after },
            503 | 529 => ModelError::Overloaded { retry_after },
            408 | 409 | 500..=599 => {
                let message = if message.is_empty() {
                    status.to_string()
                } else {
                    format!("{}: {message}", status.as_u16())
                };
                ModelError::Server { message }
            }
            300..=399 => ModelError::NotAModelServer {
                host,
                why: format!("it redirects with {status}, which is never followed"),
            },
            400..=499 => decode::invalid(&said(message)),
            _ => ModelError::NotAModelServer { host, why: format!("it answers {status}") },
        }
    }
}
