//! Complaints of a server, in a body or in mid-stream, turned into a [`ModelError`].
//!
//! One reader for all protocols, because servers that speak several complain alike, and those that speak
//! the same do not. What decides is data: kinds, and the words for a prompt that is too long. Nothing here
//! redacts keys or shortens: that is the exchange's.

use crate::ModelError;
use serde_json::Value;
use std::time::Duration;

/// An answer that is no reply.
pub(crate) struct Refused<'a> {
    pub(crate) status: u16,
    pub(crate) host: &'a str,
    /// The path that was asked for.
    pub(crate) path: &'a str,
    pub(crate) model: &'a str,
    pub(crate) body: &'a str,
    pub(crate) retry_after: Option<Duration>,
}

/// Names of errors, in `type` or `code`. Looked up in lower case.
const KINDS: &[(&str, RefusalKind)] = &[
    // Anthropic.
    ("overloaded_error", RefusalKind::Overloaded),
    ("rate_limit_error", RefusalKind::RateLimited),
    ("authentication_error", RefusalKind::BadKey),
    ("permission_error", RefusalKind::NotPermitted),
    ("billing_error", RefusalKind::NotPermitted),
    ("not_found_error", RefusalKind::UnknownModel),
    ("request_too_large", RefusalKind::TooLarge),
    ("api_error", RefusalKind::Server),
    // OpenAI and those that speak like it. A code comes before the type, which is often too general.
    ("context_length_exceeded", RefusalKind::ContextLength),
    ("insufficient_quota", RefusalKind::Quota),
    ("billing_hard_limit_reached", RefusalKind::Quota),
    ("usage_not_included", RefusalKind::Quota),
    ("invalid_prompt", RefusalKind::Invalid),
    ("invalid_api_key", RefusalKind::BadKey),
    ("model_not_found", RefusalKind::UnknownModel),
    ("rate_limit_exceeded", RefusalKind::RateLimited),
    ("server_is_overloaded", RefusalKind::Overloaded),
    ("slow_down", RefusalKind::Overloaded),
    ("server_error", RefusalKind::Server),
    ("internal_server_error", RefusalKind::Server),
    ("internalservererror", RefusalKind::Server),
    // Groq: the model wrote a call that the server could not read. Another try may do better.
    ("tool_use_failed", RefusalKind::Retried),
    // llama.cpp.
    ("exceed_context_size_error", RefusalKind::ContextLength),
    ("unavailable_error", RefusalKind::Overloaded),
    // Gemini.
    ("resource_exhausted", RefusalKind::RateLimited),
    ("unavailable", RefusalKind::Overloaded),
    ("invalid_argument", RefusalKind::Invalid),
    ("invalid_request_error", RefusalKind::Invalid),
    ("badrequesterror", RefusalKind::Invalid),
];

/// Words of servers for a prompt that is too long, in lower case; often the only sign.
const TOO_LONG: &[&str] = &[
    "prompt is too long",                // Anthropic
    "context length", // OpenAI, DeepSeek, OpenRouter, Mistral, vLLM, Ollama, LM Studio
    "context size",   // llama.cpp
    "context window", // OpenAI, llama-cpp-python, LM Studio
    "reduce the length of the messages", // Groq
    "input token count", // Gemini
    "maximum prompt length", // xAI
    "input is too long", // Bedrock
    "too many tokens", // Cohere, some proxies
];

/// Words of servers that want to be paid, in lower case, where the status does not say so.
const UNPAID: &[&str] =
    &["credit balance", "insufficient balance", "insufficient credits", "billing"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusalKind {
    Overloaded,
    RateLimited,
    BadKey,
    NotPermitted,
    /// As [`RefusalKind::NotPermitted`], whatever the status: waiting does not help.
    Quota,
    UnknownModel,
    TooLarge,
    ContextLength,
    Invalid,
    Server,
    /// As [`RefusalKind::Server`], whatever the status.
    Retried,
}

/// The meaning of an answer other than success.
pub(crate) fn refused(refused: &Refused<'_>) -> ModelError {
    let complaint = Complaint::read(refused.body);
    let status = refused.status;
    let retry_after = refused.retry_after.or_else(|| complaint.wait());
    let host = refused.host.to_owned();
    let kind = complaint.kind();
    let message = complaint.message;
    let said = |message: String| if message.is_empty() { NO_REASON.to_owned() } else { message };
    let with_status = |message: &str| match message {
        "" => status_words(status),
        message => format!("{status}: {message}"),
    };
    if !matches!(status, 401..=404 | 429) && is_too_long(&message)
        || kind == Some(RefusalKind::ContextLength)
    {
        return ModelError::ContextLength { message: said(message) };
    }
    match (status, kind) {
        (_, Some(RefusalKind::Quota)) => ModelError::NotPermitted { host, message: said(message) },
        (_, Some(RefusalKind::Retried)) => {
            ModelError::Server { message: with_status(&message), retry_after }
        }
        (401, _) => ModelError::BadKey { host },
        (402 | 403, _) => ModelError::NotPermitted { host, message: said(message) },
        // The protocol's own 404 is about the model; any other is about the address.
        (404, _) if message.to_ascii_lowercase().contains("model") => {
            ModelError::UnknownModel { host, model: refused.model.to_owned() }
        }
        (404 | 405, _) => {
            ModelError::NotAModelServer { host, why: format!("it has nothing at {}", refused.path) }
        }
        // By its bytes, which say nothing about tokens: an image may be all of it.
        (413, _) => ModelError::InvalidRequest {
            message: format!("it is too long for the server ({})", said(message)),
        },
        (429, _) => ModelError::RateLimited { message, retry_after },
        (503 | 529, _) => ModelError::Overloaded { message, retry_after },
        (408 | 409 | 500..=599, _) => {
            ModelError::Server { message: with_status(&message), retry_after }
        }
        (300..=399, _) => ModelError::NotAModelServer {
            host,
            why: format!("it redirects with {}, which is never followed", status_words(status)),
        },
        // Some answer a bad key or an unknown model with 400.
        (400..=499, Some(RefusalKind::BadKey)) => ModelError::BadKey { host },
        (400..=499, Some(RefusalKind::UnknownModel)) => {
            ModelError::UnknownModel { host, model: refused.model.to_owned() }
        }
        // No other request of this account would be taken.
        (400, _) if is_unpaid(&message) => ModelError::NotPermitted { host, message },
        (400..=499, _) => ModelError::InvalidRequest { message: said(message) },
        _ => ModelError::NotAModelServer {
            host,
            why: format!("it answers {}", status_words(status)),
        },
    }
}

fn is_unpaid(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    UNPAID.iter().any(|words| message.contains(words))
}

/// The meaning of an error that came as an event of the stream, by its kind. One of no known kind may
/// pass.
pub(crate) fn in_stream(event: &str, model: &str) -> ModelError {
    let complaint = Complaint::read(event);
    let (kind, status, retry_after) = (complaint.kind(), complaint.status, complaint.wait());
    let message =
        if complaint.message.is_empty() { NO_REASON.to_owned() } else { complaint.message };
    let host = || "the model server".to_owned();
    if is_too_long(&message) {
        return ModelError::ContextLength { message };
    }
    match kind {
        Some(RefusalKind::ContextLength) => ModelError::ContextLength { message },
        Some(RefusalKind::Overloaded) => ModelError::Overloaded { message, retry_after },
        Some(RefusalKind::RateLimited) => ModelError::RateLimited { message, retry_after },
        Some(RefusalKind::BadKey) => ModelError::BadKey { host: host() },
        Some(RefusalKind::NotPermitted | RefusalKind::Quota) => {
            ModelError::NotPermitted { host: host(), message }
        }
        Some(RefusalKind::UnknownModel) => {
            ModelError::UnknownModel { host: host(), model: model.to_owned() }
        }
        Some(RefusalKind::TooLarge) => ModelError::TooLarge { what: message },
        Some(RefusalKind::Invalid) => ModelError::InvalidRequest { message },
        Some(RefusalKind::Server | RefusalKind::Retried) => {
            ModelError::Server { message, retry_after: None }
        }
        None => match status {
            Some(401) => ModelError::BadKey { host: host() },
            Some(402 | 403) => ModelError::NotPermitted { host: host(), message },
            Some(429) => ModelError::RateLimited { message, retry_after },
            Some(503 | 529) => ModelError::Overloaded { message, retry_after },
            Some(400..=499) => ModelError::InvalidRequest { message },
            _ => ModelError::Server { message, retry_after: None },
        },
    }
}

/// The meaning of an error that came in place of a reply, behind a status of success; none when the body has no
/// `error`. One of no known kind is a refusal: nothing was begun that could have failed.
pub(crate) fn in_place_of_reply(body: &str, model: &str) -> Option<ModelError> {
    let value: Value = serde_json::from_str(body).ok()?;
    let error = value.get(0).unwrap_or(&value).get("error")?;
    let complaint = Complaint::read(body);
    match (complaint.kind(), complaint.status) {
        _ if error.is_null() => None,
        (None, None) if !complaint.message.is_empty() && !is_too_long(&complaint.message) => {
            Some(ModelError::InvalidRequest { message: complaint.message })
        }
        _ => Some(in_stream(body, model)),
    }
}

/// The wait that a server tells in words: "Please try again in 1.898s", "in 20ms", "in 2m", "Please retry in 41231.5s".
fn wait_in(message: &str) -> Option<Duration> {
    let words = ["try again in ", "retry in "];
    let (_, after) = words.iter().find_map(|words| message.split_once(words))?;
    // A sentence may end behind the unit.
    wait_of(after.split([',', ';', ')', ' ']).next()?.trim_end_matches('.'))
        .or_else(|| wait_of(&after.split(' ').take(2).collect::<String>()))
}

/// A wait such as `1.5s`, `20ms`, `2m`, `1h30m`, `6m0s`, `3seconds`.
pub(crate) fn wait_of(text: &str) -> Option<Duration> {
    let (mut seconds, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(end)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        let each = match unit {
            unit if unit.starts_with("ms") || unit.starts_with("milli") => 0.001,
            unit if unit.starts_with('s') => 1.0,
            unit if unit.starts_with('m') => 60.0,
            unit if unit.starts_with('h') => 3_600.0,
            unit if unit.starts_with('d') => 86_400.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * each;
        rest = after;
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|_| !text.is_empty())
}

const NO_REASON: &str = "no reason given";

fn is_too_long(message: &str) -> bool {
    let lower = message.to_ascii_lowercase();
    TOO_LONG.iter().any(|words| lower.contains(words))
        || lower.contains("exceed") && lower.contains("context limit")
}

fn status_words(status: u16) -> String {
    reqwest::StatusCode::from_u16(status).map_or(status.to_string(), |status| status.to_string())
}

/// Parts of a complaint, in whatever form it came.
#[derive(Debug, Default)]
struct Complaint {
    message: String,
    /// `code`, then `type` and their kin.
    kinds: Vec<String>,
    /// A code that is a number.
    status: Option<u16>,
    /// The wait that a member of its own tells.
    told_wait: Option<Duration>,
}

impl Complaint {
    /// Reads `{"error": {"message", "type", "code"}}`, the same without the outer object or in a list,
    /// `{"error": "words"}`, `{"message": …}`, `{"detail": …}`, and plain words.
    fn read(body: &str) -> Complaint {
        let Ok(value) = serde_json::from_str::<Value>(body) else {
            // A page for a browser says nothing in a sentence.
            let is_page = body.trim_start().starts_with('<');
            let message = if is_page { String::new() } else { body.trim().to_owned() };
            return Complaint { message, ..Complaint::default() };
        };
        let mut complaint = Complaint::default();
        let outer = value.get(0).unwrap_or(&value);
        let inner = outer.get("error").filter(|error| !error.is_null()).unwrap_or(outer);
        for key in ["code", "status", "type"] {
            match inner.get(key) {
                Some(Value::String(word)) => complaint.kinds.push(word.to_ascii_lowercase()),
                Some(Value::Number(n)) => {
                    complaint.status = n.as_u64().and_then(|n| u16::try_from(n).ok());
                }
                _ => {}
            }
        }
        complaint.told_wait = told_wait(inner).or_else(|| told_wait(outer));
        complaint.message = match inner {
            Value::String(words) => words.clone(),
            object => {
                let words = ["message", "detail", "reason"].iter().find_map(|key| object.get(key));
                words.map(words_of).unwrap_or_default()
            }
        };
        complaint
    }

    /// How long the server asks to wait, in a member or in words.
    fn wait(&self) -> Option<Duration> {
        self.told_wait.or_else(|| wait_in(&self.message))
    }

    fn kind(&self) -> Option<RefusalKind> {
        let known = |word: &String| KINDS.iter().find(|(kind, _)| kind == word);
        self.kinds.iter().find_map(known).map(|(_, kind)| *kind)
    }
}

/// The wait in a member: `retry_after_ms`, `retry_after`, or Google's RetryInfo among the details.
fn told_wait(error: &Value) -> Option<Duration> {
    let seconds = |name: &str| error.get(name).and_then(Value::as_f64);
    let told = seconds("retry_after_ms").map(|ms| ms / 1_000.0).or_else(|| seconds("retry_after"));
    if let Some(seconds) = told {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    details.filter_map(|detail| detail.get("retryDelay")?.as_str()).find_map(wait_of)
}

/// A text as it is, anything else as its JSON: better than nothing.
fn words_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
