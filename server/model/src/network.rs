//! The way to a server: proxies, and whose certificates count.
//!
//! As the variables of the environment that nearly every program knows say it, read when the program
//! starts and not by the libraries below. A server on this machine is reached without a proxy whatever
//! they say: what stays here is nobody else's.

mod pinned;

use crate::{ModelError, http::is_loopback};
use pinned::Pinned;
use reqwest::{NoProxy, Proxy, Url};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use std::{fmt, path::PathBuf, sync::Arc};

/// Proxies and certificates.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Network {
    /// The proxy for `https` servers: `HTTPS_PROXY`, else `ALL_PROXY`.
    pub https_proxy: Option<String>,
    /// The proxy for `http` servers: `HTTP_PROXY`, else `ALL_PROXY`.
    pub http_proxy: Option<String>,
    /// The variables that named them, for `https` and for `http`; none for the customary ones.
    pub proxy_variables: [Option<&'static str>; 2],
    /// Hosts, domains and networks that are reached without one, with commas between: `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// A PEM file of certificates that are trusted besides the system's, authorities' or servers' own: the
    /// configuration's `ca_file`, else `SSL_CERT_FILE`.
    pub ca_file: Option<PathBuf>,
}

impl Network {
    /// As the environment has it. Names in lower case count first, as everywhere; empty is unset.
    pub fn from_env(var: impl Fn(&str) -> Option<String>) -> Network {
        let set = |name: &str| var(name).filter(|value| !value.trim().is_empty());
        let any = |name: &str| set(&name.to_ascii_lowercase()).or_else(|| set(name));
        let all = |one: &Option<String>| {
            const ALL: &str = "ALL_PROXY";
            (one.is_none() && any(ALL).is_some()).then_some(ALL)
        };
        let (https, http) = (any("HTTPS_PROXY"), any("HTTP_PROXY"));
        Network {
            proxy_variables: [all(&https), all(&http)],
            https_proxy: https.or_else(|| any("ALL_PROXY")),
            http_proxy: http.or_else(|| any("ALL_PROXY")),
            no_proxy: any("NO_PROXY"),
            ca_file: set("SSL_CERT_FILE").map(PathBuf::from),
        }
    }

    /// The proxy for servers of this scheme elsewhere, none when nobody named one.
    ///
    /// # Errors
    /// [`ModelError::BadSetting`], without user and password.
    pub(crate) fn proxy(&self, is_secure: bool) -> Result<Option<Proxy>, ModelError> {
        let Some(proxy) = self.proxy_text(is_secure) else { return Ok(None) };
        let bad =
            |why: String| ModelError::BadSetting { name: self.name(is_secure).to_owned(), why };
        // `host:port` is how many write it.
        let full = if proxy.contains("://") { proxy.into() } else { format!("http://{proxy}") };
        let url = Url::parse(&full).map_err(|error| bad(error.to_string()))?;
        if url.scheme() != "http" {
            return bad_scheme(url.scheme()).map_err(bad);
        }
        let proxy = if is_secure { Proxy::https(full) } else { Proxy::http(full) };
        let proxy = proxy.map_err(|_| bad("it is no address of a proxy".to_owned()))?;
        Ok(Some(proxy.no_proxy(self.no_proxy.as_deref().and_then(NoProxy::from_string))))
    }

    /// How a failure to reach `url` is to be read: which variable may have sent it another way.
    pub(crate) fn detour(&self, url: &Url) -> Option<&'static str> {
        let is_secure = url.scheme() == "https";
        (!is_loopback(url))
            .then(|| self.proxy_text(is_secure))
            .flatten()
            .map(|_| self.name(is_secure))
    }

    /// The certificates of [`Network::ca_file`].
    ///
    /// # Errors
    /// [`ModelError::BadSetting`] for a file that cannot be read or holds none.
    pub(crate) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, ModelError> {
        let Some(path) = &self.ca_file else { return Ok(Vec::new()) };
        let bad = |why: String| ModelError::BadSetting {
            name: "the file of CA certificates (`ca_file`, or SSL_CERT_FILE)".to_owned(),
            why: format!("{}: {why}", path.display()),
        };
        let read = CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))?;
        let all: Result<Vec<_>, _> = read.collect();
        match all {
            Ok(all) if all.is_empty() => Err(bad("it holds no certificate in PEM form".to_owned())),
            Ok(all) => Ok(all),
            Err(error) => Err(bad(error.to_string())),
        }
    }

    fn proxy_text(&self, is_secure: bool) -> Option<&str> {
        let proxy = if is_secure { &self.https_proxy } else { &self.http_proxy };
        proxy.as_deref().map(str::trim)
    }

    /// The variable that names a proxy.
    fn name(&self, is_secure: bool) -> &'static str {
        let [https, http] = self.proxy_variables;
        match is_secure {
            true => https.unwrap_or("HTTPS_PROXY"),
            false => http.unwrap_or("HTTP_PROXY"),
        }
    }
}

fn bad_scheme<T>(scheme: &str) -> Result<T, String> {
    Err(format!("a proxy is spoken to by http, not {scheme}"))
}

/// Proxies may hold a password.
impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("https_proxy", &self.https_proxy.is_some())
            .field("http_proxy", &self.http_proxy.is_some())
            .field("no_proxy", &self.no_proxy)
            .field("ca_file", &self.ca_file)
            .finish()
    }
}

/// TLS by ring. The provider is handed over, since a default one would be the whole process's.
///
/// # Errors
/// [`ModelError::NoCertificates`], [`ModelError::BadSetting`].
pub(crate) fn tls(trusted: Option<&Network>) -> Result<rustls::ClientConfig, ModelError> {
    let none = |error: rustls::Error| ModelError::NoCertificates { why: error.to_string() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(none)?;
    let Some(network) = trusted else {
        let nobody = rustls::RootCertStore::empty();
        return Ok(builder.with_root_certificates(nobody).with_no_client_auth());
    };
    let extra = network.certificates()?;
    let (algorithms, certificates) = (provider.signature_verification_algorithms, extra.clone());
    let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(extra, provider);
    let others = Arc::new(verifier.map_err(none)?);
    let verifier = Arc::new(Pinned { others, certificates, algorithms });
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
