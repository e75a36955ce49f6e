//! The HTTP client that all models share, and how patient it is.
//!
//! Built at the first use (it costs milliseconds) and once, so that connections are reused.
//! Redirects are never followed: they would carry the key to another host. The TLS provider is
//! given to this client alone; the process has no default.

use crate::ModelError;
use reqwest::{Client, Url};
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

/// A handle to the shared client; cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Http(Arc<Clients>);

#[derive(Debug, Default)]
struct Clients {
    /// For plain HTTP, which is for this machine and the network around it: no proxy (one from the
    /// environment must not see what stays here), and no certificates to load.
    plain: OnceLock<Result<Client, String>>,
    secure: OnceLock<Result<Client, String>>,
}

impl Http {
    /// A handle; nothing is built yet.
    pub fn new() -> Http {
        Http::default()
    }

    /// The client for `url`.
    pub(crate) fn client(&self, url: &Url) -> Result<&Client, ModelError> {
        let built = if url.scheme() == "http" {
            self.0.plain.get_or_init(|| build(Client::builder().no_proxy(), tls(Trust::Nobody)?))
        } else {
            self.0.secure.get_or_init(|| build(Client::builder(), tls(Trust::System)?))
        };
        built.as_ref().map_err(|why| ModelError::NoCertificates { why: why.clone() })
    }
}

/// How long to wait for bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// Until the reply's first content, for a server elsewhere.
    pub first: Duration,
    /// The same for a server on this machine, which may load a model or read a long prompt slowly.
    pub first_on_loopback: Duration,
    /// Between two arrivals of bytes after that. Pings and comments count as life.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            first: Duration::from_secs(120),
            first_on_loopback: Duration::from_secs(15 * 60),
            idle: Duration::from_secs(60),
        }
    }
}

impl Patience {
    pub(crate) fn first_for(&self, url: &Url) -> Duration {
        if is_loopback(url) { self.first_on_loopback } else { self.first }
    }
}

/// Whether the URL names this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn build(builder: reqwest::ClientBuilder, tls: rustls::ClientConfig) -> Result<Client, String> {
    builder
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(20))
        // Longer than a long tool call, so that the next step finds its connection.
        .pool_idle_timeout(Duration::from_secs(300))
        .user_agent(concat!("ropewalk/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}

/// Whose certificates count.
enum Trust {
    /// Those that the system trusts.
    System,
    /// None: the client makes no secure connections.
    Nobody,
}

/// TLS by ring. The provider is handed over, since reqwest would panic for want of a default one.
fn tls(trust: Trust) -> Result<rustls::ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match trust {
        Trust::Nobody => builder.with_root_certificates(rustls::RootCertStore::empty()),
        Trust::System => {
            let verifier = rustls_platform_verifier::Verifier::new(provider)
                .map_err(|error| error.to_string())?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
    };
    Ok(config.with_no_client_auth())
}
