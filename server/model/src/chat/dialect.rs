//! How servers differ that speak Chat Completions: a table, one row each.
//!
//! Reading needs no rows: the decoder takes what any of them writes. A row says only what must be
//! written differently. To add a server is to add its row.

use crate::{catalogue::thoughts_of, markers::marker, model::takes_cache_key};
use reqwest::Url;
use ropewalk_protocol::CacheLife;

/// Ways in which a server's requests differ from others'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The server's name, which a provider in a configuration may have.
    pub name: &'static str,
    /// Ends of the host names it is reached at.
    pub hosts: &'static [&'static str],
    /// The port it customarily has on this machine.
    pub port: Option<u16>,
    /// The member that bounds the reply's tokens.
    pub most_tokens: &'static str,
    /// True if it wants to be asked for the usage, as `stream_options`; some refuse that, and tell it
    /// unasked.
    pub ask_usage: bool,
    /// True if it takes a `prompt_cache_key`, by which requests of one session reach one cache. Its host decides.
    pub cache_key: bool,
    /// True if it takes a `reasoning_effort`.
    pub effort: bool,
    /// Form of the model's thoughts in the history.
    pub thoughts: Thoughts,
    /// True if the user may speak right after tool results. Else the words go into the last result.
    pub words_after_results: bool,
    /// True if ids of calls must be nine letters or digits.
    pub short_ids: bool,
    /// Beginnings of the names of models whose prompts are cached only where they are marked; a model's row in
    /// [`Dialect::of`] has none where its own name is no such one.
    pub marked: &'static [&'static str],
    /// A marker of what is kept in the cache.
    pub marker: &'static str,
    /// Members with commas behind them that every request has.
    pub members: &'static str,
    /// A member with a comma before it that every call needs, in the history, unless it came with one.
    pub call_extra: &'static str,
}

/// Form of the model's thoughts in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thoughts {
    /// They are not sent back.
    Dropped,
    /// They are sent back under this name.
    Sent(&'static str),
    /// Likewise, and a message with calls has the member even if nothing was thought.
    Always(&'static str),
}

/// A server about which nothing is known, and what most rows are like.
const PLAIN: Dialect = Dialect {
    name: "",
    hosts: &[],
    port: None,
    most_tokens: "max_tokens",
    ask_usage: true,
    cache_key: false,
    effort: false,
    thoughts: Thoughts::Dropped,
    words_after_results: true,
    short_ids: false,
    marked: &[],
    marker: r#","cache_control":{"type":"ephemeral"}"#,
    members: "",
    call_extra: "",
};

/// A message with calls and without thoughts is refused in its thinking mode.
const DEEPSEEK_THOUGHTS: Thoughts = Thoughts::Always("reasoning_content");

/// The known servers.
pub const DIALECTS: &[Dialect] = &[
    Dialect {
        name: "openai",
        hosts: &["openai.com", "azure.com"],
        most_tokens: "max_completion_tokens",
        effort: true,
        ..PLAIN
    },
    Dialect { name: "deepseek", hosts: &["deepseek.com"], thoughts: DEEPSEEK_THOUGHTS, ..PLAIN },
    Dialect {
        name: "openrouter",
        hosts: &["openrouter.ai"],
        effort: true,
        thoughts: Thoughts::Sent("reasoning"),
        marked: &["anthropic/", "qwen/"],
        ..PLAIN
    },
    Dialect {
        name: "groq",
        hosts: &["groq.com"],
        most_tokens: "max_completion_tokens",
        effort: true,
        ..PLAIN
    },
    Dialect {
        // It refuses every member that it does not know.
        name: "mistral",
        hosts: &["mistral.ai"],
        ask_usage: false,
        words_after_results: false,
        short_ids: true,
        ..PLAIN
    },
    Dialect {
        // Its models sign their calls, and what they sign goes back; this is the documented word for calls
        // without a signature, as those of another model's are.
        name: "gemini",
        hosts: &["googleapis.com"],
        effort: true,
        call_extra: r#","extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}"#,
        ..PLAIN
    },
    Dialect { name: "xai", hosts: &["x.ai"], effort: true, ..PLAIN },
    Dialect {
        name: "moonshot",
        hosts: &["moonshot.ai", "moonshot.cn"],
        thoughts: Thoughts::Always("reasoning_content"),
        ..PLAIN
    },
    Dialect {
        // Else it holds a call back until it is whole.
        name: "zai",
        hosts: &["z.ai", "bigmodel.cn"],
        thoughts: Thoughts::Sent("reasoning_content"),
        members: r#""tool_stream":true,"#,
        ..PLAIN
    },
    Dialect {
        name: "ollama",
        port: Some(11434),
        effort: true,
        thoughts: Thoughts::Sent("reasoning"),
        ..PLAIN
    },
    Dialect {
        name: "llamacpp",
        port: Some(8080),
        thoughts: Thoughts::Sent("reasoning_content"),
        ..PLAIN
    },
    Dialect {
        name: "vllm",
        port: Some(8000),
        effort: true,
        thoughts: Thoughts::Sent("reasoning"),
        ..PLAIN
    },
    Dialect { name: "lmstudio", port: Some(1234), ..PLAIN },
];

/// Parts of the names of models whose own templates want what Mistral's servers want, wherever they run.
const STRICT_MODELS: &[&str] =
    &["mistral", "ministral", "mixtral", "devstral", "magistral", "codestral"];

impl Dialect {
    /// Has the server keep prompts for so long, where it takes a word for that.
    pub(super) fn keep_for(&mut self, life: CacheLife) {
        self.marker = marker(life);
        if life == CacheLife::Off {
            (self.cache_key, self.marked) = (false, &[]);
        }
    }

    /// The row for a provider: by its name, else by the host, else by the port on this machine, else the
    /// plain one, with the thoughts as the model's family wants them. A model whose template is stricter than its
    /// server gets what it wants.
    pub fn of(provider: &str, base_url: &str, model: &str) -> Dialect {
        let url = Url::parse(base_url.trim()).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let is_at = |end: &&str| {
            host.strip_suffix(*end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let port = url.as_ref().filter(|url| crate::http::is_loopback(url)).and_then(Url::port);
        let row = |wanted: &dyn Fn(&Dialect) -> bool| DIALECTS.iter().find(|row| wanted(row));
        let found = row(&|row| row.name == provider)
            .or_else(|| row(&|row| row.hosts.iter().any(is_at)))
            .or_else(|| row(&|row| port.is_some() && row.port == port));
        let mut dialect = *found.unwrap_or(&PLAIN);
        dialect.cache_key = takes_cache_key(base_url);
        let model = model.to_ascii_lowercase();
        if STRICT_MODELS.iter().any(|part| model.contains(part)) {
            dialect.words_after_results = false;
            dialect.short_ids = true;
        }
        if !dialect.marked.iter().any(|start| model.starts_with(start)) {
            dialect.marked = &[];
        }
        // A known server's row says what that server takes. One that has its name alone may be another.
        let is_elsewhere = |row: &Dialect| !row.hosts.is_empty() && !row.hosts.iter().any(is_at);
        if found.is_none_or(is_elsewhere)
            && let Some((member, always)) = thoughts_of(&model)
        {
            dialect.thoughts = match always {
                true => Thoughts::Always(member),
                false => Thoughts::Sent(member),
            };
        }
        dialect
    }
}
