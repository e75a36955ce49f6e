//! Where to send, and what went wrong there in this room's words.

use super::host_of;
use crate::{
    Http, Keys, LocalServer, ModelError, Patience, Retry,
    error::in_brief,
    http::{CONNECT, is_loopback},
    refusal::{Refused, in_place_of_reply, refused, wait_of},
};
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, RETRY_AFTER},
};
use rustls::CertificateError;
use std::{
    error::Error,
    time::{Duration, SystemTime},
};
use tokio::time::timeout;

/// The longest error body that is looked at.
const MOST_ERROR_BYTES: usize = 64 << 10;
/// How long an error body is waited for.
const ERROR_BODY: Duration = Duration::from_secs(5);
/// How long `look` waits for an answer.
const LOOK: Duration = Duration::from_secs(10);
/// The end of what the library below says of a proxy that refuses a tunnel with 407.
const PROXY_LOGIN: &str = "proxy authorization required";
/// OpenAI's finer `retry-after`.
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Where and how to send.
#[derive(Clone)]
pub(crate) struct ServerLine {
    pub(crate) http: Http,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// The provider's name, for what is said of its server.
    pub(crate) provider: String,
    /// The model's name, for the server's complaints.
    pub(crate) model: String,
    pub(crate) keys: Keys,
    pub(crate) retry: Retry,
    pub(crate) patience: Patience,
    /// Requests that the server gets at a time; none for any number.
    pub(crate) parallel: Option<usize>,
}

impl ServerLine {
    pub(crate) fn host(&self) -> String {
        host_of(&self.url)
    }

    pub(super) fn first_limit(&self) -> Duration {
        self.patience.first_for(&self.url)
    }

    /// Words from outside, fit to be shown: brief, and without the key.
    fn words(&self, text: &str) -> String {
        // The key goes first: cut in half by the brevity it would not be found.
        in_brief(&self.keys.redact(text))
    }

    /// The answer, if it is an event stream.
    pub(super) async fn accept(&self, response: Response) -> Result<Response, ModelError> {
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let stranger = |why| Err(ModelError::NotAModelServer { host: self.host(), why });
        if let Some(packed) = packing(&response) {
            let packed = self.words(packed);
            return stranger(format!("it sends {packed}, though plain text was asked for"));
        }
        if let Some(kind) = header(&response, CONTENT_TYPE)
            && !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
        {
            let kind = self.words(kind);
            // Some say what went wrong behind a status that says that nothing did.
            if kind.to_ascii_lowercase().contains("json")
                && let Some(error) = in_place_of_reply(&body(response).await, &self.model)
            {
                return Err(self.redacted(error));
            }
            return stranger(format!("it sends {kind} in place of an event stream"));
        }
        Ok(response)
    }

    /// A failure of the connection.
    pub(super) fn broken(&self, error: &reqwest::Error) -> ModelError {
        let mut innermost: &dyn Error = error;
        let (mut untrusted, mut is_refused) = (None, false);
        while let Some(source) = innermost.source() {
            innermost = source;
            untrusted = untrusted.or_else(|| self.certificate_error(innermost));
            is_refused |= is_refusal(innermost);
        }
        let host = self.host();
        if let Some(untrusted) = untrusted {
            return untrusted;
        }
        if is_refused && error.is_connect() && is_loopback(&self.url) {
            return self.not_running();
        }
        let detour = self.http.network().detour(&self.url);
        if let Some(variable) = detour.filter(|_| innermost.to_string().ends_with(PROXY_LOGIN)) {
            return ModelError::ProxyLogin { variable: variable.to_owned() };
        }
        // The outermost sentence holds the whole URL; the innermost is the system's own.
        let mut why = if error.is_timeout() {
            let secure = if self.url.scheme() == "https" { "secure " } else { "" };
            format!("no {secure}connection within {} s", CONNECT.as_secs())
        } else if error.source().is_none() {
            "the request could not be sent".to_owned()
        } else {
            self.words(&innermost.to_string())
        };
        if !error.is_connect() {
            return ModelError::Cut { why };
        }
        if let Some(variable) = detour {
            why.push_str(&format!(
                "; {variable} names a proxy on the way, and NO_PROXY names hosts that are reached without one"
            ));
        }
        ModelError::Unreachable { host, why }
    }

    /// Nothing listens where a server on this machine should.
    fn not_running(&self) -> ModelError {
        let host = self.host();
        match LocalServer::of(&self.provider, &self.url) {
            Some(server) => ModelError::NotRunning {
                host,
                server: server.name.to_owned(),
                start: server.start_command(&self.url, &self.words(&self.model)),
            },
            None => ModelError::NothingListens { host },
        }
    }

    async fn refusal(&self, response: Response) -> ModelError {
        let status = response.status().as_u16();
        if status == 407
            && let Some(variable) = self.http.network().detour(&self.url)
        {
            return ModelError::ProxyLogin { variable: variable.to_owned() };
        }
        let retry_after = retry_after(response.headers());
        let path = response.url().path().to_owned();
        let body = match packing(&response) {
            Some(packed) => format!("its reason came as {packed}, though plain text was asked for"),
            None => body(response).await,
        };
        let (host, model) = (self.host(), self.model.as_str());
        let refusal = Refused { status, host: &host, path: &path, model, body: &body, retry_after };
        self.redacted(refused(&refusal))
    }

    /// The error with its words from outside made brief, and the key redacted from them.
    pub(super) fn redacted(&self, mut error: ModelError) -> ModelError {
        match &mut error {
            ModelError::InvalidRequest { message: words }
            | ModelError::ContextLength { message: words }
            | ModelError::NotPermitted { message: words, .. }
            | ModelError::Server { message: words, .. }
            | ModelError::RateLimited { message: words, .. }
            | ModelError::Overloaded { message: words, .. }
            | ModelError::TooLarge { what: words }
            | ModelError::NotAModelServer { why: words, .. } => *words = self.words(words),
            _ => {}
        }
        error
    }

    /// Asks for `url` once, with the headers of every request and no body: whether the server is there
    /// and takes the key.
    pub(crate) async fn look(&self, url: Url) -> Result<(), ModelError> {
        let path = url.path().to_owned();
        let request = self.http.client(&url)?.get(url).headers(self.headers.clone());
        let response = timeout(LOOK, request.send())
            .await
            .map_err(|_| ModelError::Unreachable {
                host: self.host(),
                why: format!("no answer within {} s", LOOK.as_secs()),
            })?
            .map_err(|error| self.broken(&error))?;
        match response.status() {
            status if status.is_success() => Ok(()),
            // A protocol's own 404, which names a model, does not hold here.
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                let why = format!("it has nothing at {path}");
                Err(ModelError::NotAModelServer { host: self.host(), why })
            }
            _ => Err(self.refusal(response).await),
        }
    }
}

fn header(response: &Response, name: HeaderName) -> Option<&str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

/// How the body is packed, when it is.
fn packing(response: &Response) -> Option<&str> {
    header(response, CONTENT_ENCODING)
        .filter(|packed| !packed.trim().eq_ignore_ascii_case("identity"))
}

/// The body of an answer that is no reply, up to a bound. It is a courtesy: what doesn't come soon is done without.
async fn body(mut response: Response) -> String {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MOST_ERROR_BYTES {
                break;
            }
        }
    };
    let _ = timeout(ERROR_BODY, reading).await;
    body.truncate(MOST_ERROR_BYTES);
    String::from_utf8_lossy(&body).into_owned()
}

impl ServerLine {
    /// The fault of a server's certificate, when that is the error.
    fn certificate_error(&self, mut error: &(dyn Error + 'static)) -> Option<ModelError> {
        // TLS comes as an error of the sockets it runs over, one in the other.
        while let Some(inner) = error.downcast_ref::<std::io::Error>().and_then(|e| e.get_ref()) {
            error = inner;
        }
        let rustls::Error::InvalidCertificate(why) = error.downcast_ref()? else { return None };
        let host = self.host();
        let at_time = |when: String| ModelError::CertificateTime { host: host.clone(), when };
        let for_others = |names: &str| ModelError::CertificateHost {
            host: host.clone(),
            names: self.words(names),
        };
        Some(match why {
            CertificateError::Expired => at_time("has expired".to_owned()),
            CertificateError::ExpiredContext { not_after, .. } => {
                at_time(format!("has expired on {}", date(not_after.as_secs())))
            }
            CertificateError::NotValidYet => at_time("is not valid yet".to_owned()),
            CertificateError::NotValidYetContext { not_before, .. } => {
                at_time(format!("is not valid before {}", date(not_before.as_secs())))
            }
            CertificateError::NotValidForName => for_others("it does not say which"),
            CertificateError::NotValidForNameContext { presented, .. } => {
                match presented.as_slice() {
                    [] => for_others("it names none"),
                    names => for_others(
                        &names.iter().map(|name| readable(name)).collect::<Vec<_>>().join(", "),
                    ),
                }
            }
            CertificateError::UnknownIssuer => {
                ModelError::Untrusted { host, why: "nobody known here has signed it".to_owned() }
            }
            why => ModelError::Untrusted { host, why: self.words(&why.to_string()) },
        })
    }
}

/// A name of a certificate as people write it: `DnsName("example.org")` is how the library has it.
fn readable(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"').to_owned()
}

/// The day of a time in seconds since 1970, as people of all countries read it.
fn date(seconds: u64) -> String {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    // `Sun, 06 Nov 1994 08:49:37 GMT`, without its ends.
    let whole = time.map(|time| httpdate::HttpDate::from(time).to_string()).unwrap_or_default();
    whole.split(' ').skip(1).take(3).collect::<Vec<_>>().join(" ")
}

/// True if nobody listens at the port.
fn is_refusal(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// How long until a limit that is used up is renewed, as OpenAI and those who do likewise say it (`x-ratelimit-remaining-tokens:
/// 0` with `x-ratelimit-reset-tokens: 6m0s`).
fn limit_reset(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: String| headers.get(name)?.to_str().ok().map(str::trim);
    let used_up = ["requests", "tokens"]
        .into_iter()
        .filter(|of| text(format!("x-ratelimit-remaining-{of}")).is_some_and(|left| left == "0"));
    used_up.filter_map(|of| wait_of(text(format!("x-ratelimit-reset-{of}"))?)).max()
}

/// How long the server asks to wait: in milliseconds, in seconds, or until a date, which counts from the
/// server's own clock where it tells the time.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |name| text(name)?.parse::<f64>().ok();
    let date = |name| httpdate::parse_http_date(text(name)?).ok();
    let milliseconds = number(RETRY_AFTER_MS).map(|number| number / 1_000.0);
    if let Some(seconds) = milliseconds.or_else(|| number(RETRY_AFTER)) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    if let wait @ Some(_) = limit_reset(headers) {
        return wait;
    }
    let until: SystemTime = date(RETRY_AFTER)?;
    let now = date(DATE).unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default())
}
