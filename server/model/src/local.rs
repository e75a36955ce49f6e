//! The model servers that people start themselves, as a table: what they are called, where they customarily listen,
//! how they are started, and how they are started so that they read the calls which models write.

use crate::http::is_loopback;
use reqwest::Url;

/// A kind of server.
#[derive(Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The name that its provider in a configuration customarily has.
    pub provider: &'static str,
    /// The name that people give it.
    pub name: &'static str,
    /// The port it customarily has.
    pub port: u16,
    /// The command that starts it. `MODEL` stands for the model.
    start: &'static str,
    /// Words before or behind the command, with `PORT` for the port, where that is another.
    at_port: AtPort,
    /// Advice that makes it read the model's calls.
    reads_calls: &'static str,
}

/// How a port is said.
#[derive(Debug, PartialEq, Eq)]
enum AtPort {
    Before(&'static str),
    Behind(&'static str),
}

/// The known ones.
pub const LOCAL_SERVERS: &[LocalServer] = &[
    LocalServer {
        provider: "ollama",
        name: "Ollama",
        port: 11434,
        start: "ollama serve",
        at_port: AtPort::Before("OLLAMA_HOST=127.0.0.1:PORT "),
        reads_calls: "choose a model of which `ollama show MODEL` lists `tools`",
    },
    LocalServer {
        provider: "llamacpp",
        name: "llama-server",
        port: 8080,
        start: "llama-server --jinja -m MODEL.gguf",
        at_port: AtPort::Behind(" --port PORT"),
        reads_calls: "start `llama-server` with `--jinja`",
    },
    LocalServer {
        provider: "vllm",
        name: "vLLM",
        port: 8000,
        start: "vllm serve MODEL",
        at_port: AtPort::Behind(" --port PORT"),
        reads_calls: "start `vllm serve` with `--enable-auto-tool-choice --tool-call-parser` and the parser for this model",
    },
    LocalServer {
        provider: "lmstudio",
        name: "LM Studio",
        port: 1234,
        start: "lms server start",
        at_port: AtPort::Behind(" --port PORT"),
        reads_calls: "choose a model that LM Studio marks as trained for tool use",
    },
];

impl LocalServer {
    /// The server of a provider: by its name, else by its port. None for one elsewhere.
    pub fn of(provider: &str, base_url: &Url) -> Option<&'static LocalServer> {
        let port = base_url.port_or_known_default();
        let find = |is: &dyn Fn(&LocalServer) -> bool| LOCAL_SERVERS.iter().find(|one| is(one));
        find(&|one| one.provider == provider)
            .or_else(|| find(&|one| Some(one.port) == port))
            .filter(|_| is_loopback(base_url))
    }

    /// The command that starts it where `base_url` expects it, with this model.
    pub fn start_command(&self, base_url: &Url, model: &str) -> String {
        let start = match self.start.split_once("MODEL") {
            Some((before, "")) => format!("{before}{model}"),
            _ => self.start.to_owned(),
        };
        let port = base_url.port_or_known_default().unwrap_or(self.port);
        let said = |text: &str| text.replace("PORT", &port.to_string());
        match self.at_port {
            _ if port == self.port => start,
            AtPort::Before(words) => said(words) + &start,
            AtPort::Behind(words) => start + &said(words),
        }
    }

    /// Advice that makes it read the calls of this model, in words that follow "or".
    pub(crate) fn reads_calls_when(&self, model: &str) -> String {
        self.reads_calls.replace("MODEL", model)
    }
}
