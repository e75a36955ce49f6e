//! A server's model as it is configured: which one where, and how to talk to it.

use crate::{ApiKey, BodyMembers, Keys, Patience, Protocol, Retry};
use ropewalk_protocol::{CacheLife, ModelLimits, Price, Thinking};
use std::fmt;
use std::path::PathBuf;

/// Which model where, and how to talk to it.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The wire protocol.
    pub protocol: Protocol,
    /// Whom it is spoken to: the first part of the model's whole name.
    pub provider: String,
    /// The model's name as the server knows it.
    pub model: String,
    /// Scheme, host and perhaps a path. A path without a version gets `/v1`, then the protocol's own
    /// path is added; a URL that has that already is taken, too.
    pub base_url: String,
    /// Headers of every request, in place of the usual ones of the same name.
    pub headers: Vec<Header>,
    /// Parts of the query of every request.
    pub query: Vec<Header>,
    /// Members of every request to the model.
    pub body: BodyMembers,
    /// True if requests go to `base_url` as it is.
    pub url_exact: bool,
    /// How long the server keeps prompts in its cache, where it takes a word for that.
    pub cache: CacheLife,
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
    /// Requests that the server gets at a time, from all that share an [`Http`](crate::Http): the others wait for their
    /// turn. None for the usual: one on this machine, any number elsewhere.
    pub parallel: Option<usize>,
    /// Configured limits; the rest is known by the model's name, or is not known.
    pub limits: ModelLimits,
    /// Configured price of tokens; else it is known by server and name, or is not known.
    pub price: Option<Price>,
    /// How much it is asked to think, where the protocol and the server have a word for it; none leaves it to the model. It may
    /// think on top of a request's `max_tokens`, as far as its own maximum is known and allows.
    pub thinking: Option<Thinking>,
    /// True if calls that the model prints as text are to be run.
    pub printed_calls: bool,
    /// True if it gets the lean set; none goes by its context.
    pub lean: Option<bool>,
    /// True if it is sent images; none goes by its server's list, and by its name.
    pub images: Option<bool>,
    /// The folder that lists of models are kept in; none keeps none.
    pub lists: Option<PathBuf>,
}

impl ServerConfig {
    /// A model at the server that the protocol was made for, with the usual bounds and no key yet.
    pub fn new(protocol: Protocol, model: impl Into<String>) -> ServerConfig {
        let home = protocol.home();
        ServerConfig {
            protocol,
            provider: home.provider.to_owned(),
            model: model.into(),
            base_url: home.base_url.to_owned(),
            headers: Vec::new(),
            query: Vec::new(),
            body: BodyMembers::default(),
            url_exact: false,
            cache: CacheLife::default(),
            key: None,
            key_var: Some(home.key_var.to_owned()),
            keys: Keys::default(),
            retry: Retry::default(),
            patience: Patience::default(),
            parallel: None,
            limits: ModelLimits::default(),
            price: None,
            thinking: None,
            printed_calls: false,
            lean: None,
            images: None,
            lists: None,
        }
    }

    /// How much it is to be asked to think, if anything is to be said of it.
    pub fn wanted_thinking(&self) -> Option<Thinking> {
        self.thinking.filter(|level| *level != Thinking::Off)
    }
}

/// A header of every request, or a part of its query, as configured. Its value may be a key, and can't be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name, in any case.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Header {
    /// True if a header of this name presents a key.
    pub(crate) fn is_secret(&self) -> bool {
        let name = self.name.to_ascii_lowercase();
        ["key", "auth", "cookie", "token", "secret"].iter().any(|part| name.contains(part))
    }

    /// All that may be a secret in the value of a header that presents a key: `Bearer abc` is shown to nobody, and
    /// neither is `abc`, nor what a cookie is set to. Nothing for another header.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let value = self.value.as_str();
        let parts = value.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '=' | '"'));
        let all = [value].into_iter().chain(value.split_whitespace()).chain(parts);
        all.filter(|_| self.is_secret())
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Header({}: hidden)", self.name)
    }
}
