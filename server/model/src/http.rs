//! The HTTP client that all models share, and how patient it is.
//!
//! Built at the first use (it costs milliseconds) and once, so that connections are reused.
//! Redirects are never followed: they would carry the key to another host. Bodies are asked for as they
//! are: text that comes in pieces gains nothing from being packed, and would wait for its packer.

use crate::{
    ModelError,
    network::{self, Network},
};
use reqwest::{
    Client, Url,
    header::{ACCEPT_ENCODING, HeaderMap, HeaderValue},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};
use tokio::sync::Semaphore;

/// How long a connection may take to be made, with all that makes it secure.
pub(crate) const CONNECT: Duration = Duration::from_secs(15);

/// A handle to the shared client; cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Http(Arc<SharedHttp>);

#[derive(Debug, Default)]
struct SharedHttp {
    network: Network,
    /// By whether it makes secure connections (the others load no certificates), and whether it is for
    /// servers elsewhere (the others know no proxy).
    clients: [OnceLock<Result<Client, ModelError>>; 4],
    /// Whose turn it is at servers that answer only so many requests at a time, by host and number.
    queues: Mutex<HashMap<(String, usize), Arc<Semaphore>>>,
}

impl Http {
    /// A handle over a network without proxies; nothing is built yet.
    pub fn new() -> Http {
        Http::default()
    }

    /// A handle; nothing is built yet.
    pub fn over(network: Network) -> Http {
        Http(Arc::new(SharedHttp { network, ..SharedHttp::default() }))
    }

    /// The client for `url`.
    pub(crate) fn client(&self, url: &Url) -> Result<&Client, ModelError> {
        let (is_secure, is_far) = (url.scheme() == "https", !is_loopback(url));
        let [near, near_secure, far, far_secure] = &self.0.clients;
        let client = match (is_far, is_secure) {
            (false, false) => near,
            (false, true) => near_secure,
            (true, false) => far,
            (true, true) => far_secure,
        };
        let built = client.get_or_init(|| build(&self.0.network, is_secure, is_far));
        built.as_ref().map_err(Clone::clone)
    }

    /// The network it goes over.
    pub(crate) fn network(&self) -> &Network {
        &self.0.network
    }

    /// The queue before a server that answers `most` requests at a time. Another number is another queue,
    /// so that a number that is changed counts from the next request on.
    pub(crate) fn queue(&self, host: &str, most: usize) -> Arc<Semaphore> {
        let mut queues = self.0.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        queues
            .entry((host.to_owned(), most))
            .or_insert_with(|| Arc::new(Semaphore::new(most)))
            .clone()
    }
}

/// How long to wait for bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// Until the reply's first content, for a server elsewhere.
    pub first: Duration,
    /// The same for a server on this machine, which may load a model or read a long prompt slowly.
    pub first_on_loopback: Duration,
    /// After that, how long pings alone pass for life: a model may think unseen for minutes, and to ask again costs
    /// what the first try did; but a server that only pings may be a proxy before a dead one.
    pub pings: Duration,
    /// Between two arrivals of bytes after the first content, whatever they say.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            first: Duration::from_secs(120),
            first_on_loopback: Duration::from_secs(15 * 60),
            pings: Duration::from_secs(15 * 60),
            idle: Duration::from_secs(60),
        }
    }
}

impl Patience {
    pub(crate) fn first_for(&self, url: &Url) -> Duration {
        if is_loopback(url) { self.first_on_loopback } else { self.first }
    }
}

/// True if the URL names this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn build(network: &Network, is_secure: bool, is_far: bool) -> Result<Client, ModelError> {
    let proxy = if is_far { network.proxy(is_secure)? } else { None };
    // The libraries below would look for proxies themselves.
    let mut builder = Client::builder().no_proxy();
    if let Some(proxy) = proxy {
        builder = builder.proxy(proxy);
    }
    let plain = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    builder
        .tls_backend_preconfigured(network::tls(is_secure.then_some(network))?)
        .default_headers(plain)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        // Longer than a long tool call, so that the next step finds its connection.
        .pool_idle_timeout(Duration::from_secs(300))
        // A connection that is gone is noticed while it waits, not when the next request is lost on it.
        .http2_keep_alive_interval(Duration::from_secs(30))
        .http2_adaptive_window(true)
        .user_agent(concat!("ropewalk/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| ModelError::NoCertificates { why: error.to_string() })
}
