//! Everything that can go wrong with a model, each in one sentence that says how to mend it.
//!
//! No sentence ever holds a key. Whether a failure is worth another try is decided here, how often
//! and after how long in [`crate::retry`].

use ropewalk_protocol::ModelLimits;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A failed exchange with a model.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum ModelError {
    /// No key was given.
    #[error("there is no API key: set {var} in the environment, or the key in your own config")]
    MissingKey {
        /// The environment variable or setting that would hold it.
        var: String,
    },
    /// A recording is played, and it has something else.
    #[error(
        "the recording does not go on like this ({why}): record it anew, or take the nearest answers with --replay-loose"
    )]
    NotRecorded {
        /// The difference.
        why: String,
    },
    /// The command that prints the key did not.
    #[error(
        "the command for the API key gives none ({why}): run `api_key_command` in a terminal, and fix it"
    )]
    KeyCommand {
        /// The failure, without anything it printed.
        why: String,
    },
    /// The key has characters that cannot be sent.
    #[error(
        "the API key in {var} has spaces, line breaks or non-ASCII characters: copy it again, whole"
    )]
    UnusableKey {
        /// Where it was found.
        var: String,
    },
    /// A configured header cannot be sent.
    #[error(
        "the header {name:?} cannot be sent: its name or value has characters that none may have"
    )]
    BadHeader {
        /// Its name, as configured.
        name: String,
    },
    /// The base URL is no http(s) address.
    #[error("the base URL {url:?} cannot be used ({why}): write it like https://api.anthropic.com")]
    BadUrl {
        /// The URL as configured, without user and password.
        url: String,
        /// The fault.
        why: String,
    },
    /// No connection to the server.
    #[error(
        "{host} cannot be reached ({why}): check the network, the base URL, and that the server runs"
    )]
    Unreachable {
        /// Host and port.
        host: String,
        /// The reason the system gives.
        why: String,
    },
    /// A server on this machine, of a known kind, does not run.
    #[error("{server} isn't running at {host}: start it with `{start}`")]
    NotRunning {
        /// Host and port.
        host: String,
        /// The name that people give the server.
        server: String,
        /// The command that starts it.
        start: String,
    },
    /// On this machine nothing listens at a port.
    #[error(
        "{host} cannot be reached, because nothing listens there: start the model server, or correct its `base_url`"
    )]
    NothingListens {
        /// Host and port.
        host: String,
    },
    /// 407: the proxy on the way wants to know who asks.
    #[error(
        "the proxy that {variable} names wants a user and a password (407): write them into it, as in \
         http://USER:PASSWORD@HOST:PORT"
    )]
    ProxyLogin {
        /// The variable that names the proxy.
        variable: String,
    },
    /// The server's certificate is out of its time.
    #[error(
        "the certificate of {host} {when}: whoever runs the server must renew it; if it is new, set this machine's clock"
    )]
    CertificateTime {
        /// Host and port.
        host: String,
        /// The fault of its time, in words that follow its name.
        when: String,
    },
    /// The server's certificate is for another host.
    #[error(
        "the certificate of {host} is for another host ({names}): write the name that it is for into the `base_url`, or \
         have it issued for this one"
    )]
    CertificateHost {
        /// Host and port.
        host: String,
        /// The names that it is for.
        names: String,
    },
    /// The server's certificate is signed by nobody who is trusted here.
    #[error(
        "the certificate of {host} is not trusted ({why}): if a company's own authority signs here, or the server itself, \
         name the certificate's file in `ca_file` of the configuration, or in SSL_CERT_FILE"
    )]
    Untrusted {
        /// Host and port.
        host: String,
        /// The fault.
        why: String,
    },
    /// A setting of the network around is of no use.
    #[error("{name} cannot be used ({why}): correct it, or take it away")]
    BadSetting {
        /// The name.
        name: String,
        /// The fault.
        why: String,
    },
    /// The system's certificates, without which no server can be trusted, cannot be read.
    #[error("no secure connection is possible ({why}): install the system's CA certificates")]
    NoCertificates {
        /// The reason the system gives.
        why: String,
    },
    /// 401: the server does not accept the key.
    #[error(
        "{host} refuses the API key: check that it is whole, current and meant for this server"
    )]
    BadKey {
        /// Host and port.
        host: String,
    },
    /// 402 or 403: the key is fine, the account may not do this.
    #[error("{host} does not permit this ({message}): check the account's plan, credit and rights")]
    NotPermitted {
        /// Host and port.
        host: String,
        /// The server's own words.
        message: String,
    },
    /// 404 for the model.
    #[error("{host} knows no model {model:?}: choose another model, or correct its name")]
    UnknownModel {
        /// Host and port.
        host: String,
        /// The name that was asked for.
        model: String,
    },
    /// Something answers, but not as a server of this protocol.
    #[error(
        "{host} does not answer like a model server ({why}): check the base URL and the protocol"
    )]
    NotAModelServer {
        /// Host and port.
        host: String,
        /// The odd part.
        why: String,
    },
    /// The server refuses the request as it is; sending it again would not help.
    #[error("the model server refuses the request: {message}")]
    InvalidRequest {
        /// The server's own words.
        message: String,
    },
    /// The prompt is longer than the model can take.
    #[error(
        "the conversation is too long for the model ({message}): compact it or start a new one"
    )]
    ContextLength {
        /// The server's own words.
        message: String,
    },
    /// A request or a reply exceeds a bound.
    #[error("{what}: ask for less at once")]
    TooLarge {
        /// The part that is too large, and its bound.
        what: String,
    },
    /// The server has too much to do.
    #[error("the model server is overloaded{}{}: try again later", in_brackets(.message), after(.retry_after))]
    Overloaded {
        /// The server's own words; empty if it has none.
        #[serde(default)]
        message: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// 429: too many requests or tokens in a time.
    #[error("the model server's rate limit is reached{}{}: try again later", in_brackets(.message), after(.retry_after))]
    RateLimited {
        /// The server's own words; empty if it has none.
        #[serde(default)]
        message: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// 5xx and its kin.
    #[error("the model server failed ({message}): try again, or look at its log or status page")]
    Server {
        /// The status and the server's own words.
        message: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The connection ended before the reply did.
    #[error("the reply was cut off ({why}): try again")]
    Cut {
        /// How it ended.
        why: String,
    },
    /// Nothing of the reply came for too long, before it began or in its midst.
    #[error(
        "the model server said nothing for {} s: try again, or raise {} if the model is slow",
        .after.as_secs(), limit(*.begun)
    )]
    Stalled {
        /// The limit that was reached.
        after: Duration,
        /// True if any of the reply had come.
        begun: bool,
    },
}

/// Words before, or behind, the number of tokens that a context has.
const CONTEXT_WORDS: (&[&str], &[&str]) = (
    &[
        "maximum context length is ",
        "context length of ",
        "context length is ",
        "context window of ",
        "context size of ",
    ],
    &[" maximum"],
);

/// The same for the longest reply.
const OUTPUT_WORDS: (&[&str], &[&str]) = (
    &["supports at most ", "must be less than or equal to ", "max_tokens is [1, ", "at most "],
    &[", which is the maximum allowed number of output tokens"],
);

/// Fewer tokens are no model's context, and no model's longest reply.
const LEAST_CONTEXT: u32 = 1_024;
const LEAST_OUTPUT: u32 = 256;

impl ModelError {
    /// True if a refusal speaks of how long a reply may be.
    pub fn is_of_reply(&self) -> bool {
        let words = [
            "max_tokens",
            "max_completion_tokens",
            "output tokens",
            "completion tokens",
            "in the completion",
        ];
        match self {
            ModelError::ContextLength { message } | ModelError::InvalidRequest { message } => {
                words.iter().any(|words| message.contains(words))
            }
            _ => false,
        }
    }

    /// Limits of the model that a refusal names: `This model's maximum context length is 32768 tokens`, `prompt is too long:
    /// 210000 tokens > 200000 maximum`, `This model supports at most 8192 completion tokens`.
    pub fn told_limits(&self) -> ModelLimits {
        match self {
            ModelError::ContextLength { message } => {
                let context = number_at(message, CONTEXT_WORDS, LEAST_CONTEXT);
                ModelLimits { context, max_output: None }
            }
            ModelError::InvalidRequest { message } if self.is_of_reply() => {
                let max_output = number_at(message, OUTPUT_WORDS, LEAST_OUTPUT);
                ModelLimits { context: None, max_output }
            }
            _ => ModelLimits::default(),
        }
    }

    /// True if the same request may succeed a little later. A server that let the whole first
    /// limit pass without a byte is not asked again: that would double a wait of minutes.
    pub fn is_passing(&self) -> bool {
        match self {
            ModelError::Overloaded { .. }
            | ModelError::RateLimited { .. }
            | ModelError::Server { .. }
            | ModelError::Cut { .. }
            | ModelError::Unreachable { .. } => true,
            ModelError::Stalled { begun, .. } => *begun,
            _ => false,
        }
    }
}

/// The whole number of tokens that stands behind one of the first words, or before one of the second; none below `least`,
/// which would be a number of something else.
fn number_at(message: &str, (before, behind): (&[&str], &[&str]), least: u32) -> Option<u32> {
    let plain = |text: &str| text.trim_start_matches('`').replace([',', '_'], "");
    let first = |text: &str| {
        let text = plain(text);
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        let (digits, rest) = text.split_at_checked(end)?;
        // `128k`, and a text that was cut.
        let is_whole = !rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '.' | '…'))
            || rest.starts_with(". ");
        digits.parse::<u32>().ok().filter(|_| is_whole)
    };
    let last = |text: &str| plain(text).rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let of_first = before.iter().filter_map(|words| first(message.split_once(words)?.1));
    let of_second = behind.iter().filter_map(|words| last(message.split_once(words)?.0));
    of_first.chain(of_second).find(|tokens| *tokens >= least)
}

/// Key of the configuration that bounds a silence.
fn limit(begun: bool) -> &'static str {
    match begun {
        false => "`limits.first_byte_seconds`",
        true => "`limits.idle_seconds` (`limits.first_byte_seconds` where it only pings)",
    }
}

impl ModelError {
    /// The error without what is to be done of it, beside a word on how long it is waited.
    pub(crate) fn reason(&self) -> String {
        match self {
            ModelError::RateLimited { message, .. } => {
                format!("the model server's rate limit is reached{}", in_brackets(message))
            }
            ModelError::Overloaded { message, .. } => {
                format!("the model server is overloaded{}", in_brackets(message))
            }
            error => error.to_string(),
        }
    }
}

fn in_brackets(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message})") }
}

fn after(wait: &Option<Duration>) -> String {
    let Some(wait) = wait else { return String::new() };
    match wait.as_secs_f64().ceil() {
        seconds if seconds < 600.0 => format!(" for another {seconds} s"),
        seconds if seconds < 36_000.0 => format!(" for another {} min", (seconds / 60.0).ceil()),
        seconds => format!(" for another {} h", (seconds / 3_600.0).ceil()),
    }
}

/// Words of a server made fit for a sentence: one line, at most 300 characters.
pub(crate) fn in_brief(text: &str) -> String {
    const MOST: usize = 300;
    let mut brief = String::new();
    for word in text.split_whitespace() {
        if !brief.is_empty() {
            brief.push(' ');
        }
        brief.extend(word.chars().take(MOST).filter(|c| !c.is_control()));
        if let Some((end, _)) = brief.char_indices().nth(MOST) {
            brief.truncate(end);
            brief.push('…');
            break;
        }
    }
    brief
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_refusals() {
        let long = |message: &str| ModelError::ContextLength { message: message.to_owned() };
        let invalid = |message: &str| ModelError::InvalidRequest { message: message.to_owned() };
        for (error, context, max_output) in [
            (
                long(
                    "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens",
                ),
                Some(131_072),
                None,
            ),
            (long("prompt is too long: 208310 tokens > 200000 maximum"), Some(200_000), None),
            (
                long(
                    "'max_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 15000",
                ),
                Some(32_768),
                None,
            ),
            (long("the request exceeds the available context size"), None, None),
            (
                invalid(
                    "max_tokens is too large: 32000. This model supports at most 8192 completion tokens",
                ),
                None,
                Some(8_192),
            ),
            (
                invalid(
                    "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m",
                ),
                None,
                Some(8_192),
            ),
            (
                invalid(
                    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`",
                ),
                None,
                Some(8_192),
            ),
            (
                invalid("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"),
                None,
                Some(8_192),
            ),
            (invalid("at most 5 images may be sent"), None, None),
            (invalid("/chat/completions: at most 400 stop sequences"), None, None),
            (invalid("max_tokens and stop: at most 4 stop sequences"), None, None),
            (long("the context window of 128k tokens is exceeded"), None, None),
            (long("maximum context length is 1.5M tokens"), None, None),
            (long("maximum context length is 1310…"), None, None),
            (long("maximum context length is 131,072. Say less"), Some(131_072), None),
            (invalid("max_tokens must be at most 99999999999999 tokens"), None, None),
            (invalid("max_tokens supports at most "), None, None),
        ] {
            assert_eq!(error.told_limits(), ModelLimits { context, max_output }, "{error}");
        }
    }
}
