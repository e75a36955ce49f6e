//! The server of a model, and runs of the built binary against it.

use crate::{is_valid, lines};
use ropewalk_model::Protocol;
use ropewalk_testkit::model::ScriptedModel;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names the server to run with.
pub(crate) const URL: &str = "ROPEWALK_REAL_MODEL_URL";

const MODEL: &str = "ROPEWALK_REAL_MODEL_MODEL";
const PROTOCOL: &str = "ROPEWALK_REAL_MODEL_PROTOCOL";
const KEY: &str = "ROPEWALK_REAL_MODEL_KEY";
const CONTEXT: &str = "ROPEWALK_REAL_MODEL_CONTEXT";

/// Place of a model, and how it is spoken to.
#[derive(Clone)]
pub(crate) struct Server {
    url: String,
    pub(crate) model: String,
    pub(crate) protocol: String,
    key: Option<String>,
    /// Tokens that it takes, if they are said.
    context: Option<u64>,
}

impl Server {
    /// The one that the environment names. The error says what of it can't be read.
    pub(crate) fn named() -> Result<Option<Server>, String> {
        let var = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let Some(url) = var(URL) else { return Ok(None) };
        let context = var(CONTEXT).map(|tokens| tokens.trim().parse()).transpose();
        Ok(Some(Server {
            url,
            model: var(MODEL).unwrap_or_else(|| "local".to_owned()),
            protocol: var(PROTOCOL).unwrap_or_else(|| Protocol::Chat.name().to_owned()),
            key: var(KEY),
            context: context.map_err(|error| format!("{CONTEXT}: {error}"))?,
        }))
    }

    pub(crate) fn scripted(model: &ScriptedModel) -> Server {
        Server {
            url: model.base_url(),
            model: "scripted".to_owned(),
            protocol: model.protocol().name().to_owned(),
            key: Some("a-key".to_owned()),
            context: None,
        }
    }

    /// The same, as if it took no more than so many tokens.
    pub(crate) fn of_context(&self, tokens: u64) -> Server {
        let context = self.context.map_or(tokens, |own| own.min(tokens));
        Server { context: Some(context), ..self.clone() }
    }

    fn config(&self) -> String {
        let mut config = format!(
            "model = {:?}\ncommands.over_fork = \"off\"\n[limits]\nsteps = 8\noutput_tokens = 1000\n\
             [provider.real]\nprotocol = {:?}\nbase_url = {:?}\nprinted_calls = true\n",
            format!("real/{}", self.model),
            self.protocol,
            self.url,
        );
        if self.key.is_some() {
            config.push_str(&format!("api_key_env = {KEY:?}\n"));
        }
        if let Some(context) = self.context {
            config.push_str(&format!("context = {context}\n"));
        }
        config
    }
}

/// A home and a folder to work in, both thrown away at the end.
pub(crate) struct Desk {
    home: tempfile::TempDir,
    root: tempfile::TempDir,
    server: Server,
}

/// One run's events, and the requests as recorded.
pub(crate) struct Run {
    pub(crate) events: Vec<Value>,
    pub(crate) tape: Vec<Value>,
}

impl Desk {
    pub(crate) fn new(server: &Server) -> Desk {
        let (home, root) = (tempfile::tempdir(), tempfile::tempdir());
        let (home, root) = (home.expect("a folder"), root.expect("a folder"));
        let config = home.path().join("config/ropewalk");
        std::fs::create_dir_all(&config).expect("a folder");
        std::fs::write(config.join("config.toml"), server.config()).expect("a file");
        Desk { home, root, server: server.clone() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Runs one prompt to its end, recorded under a name that no run before had. A fault of ours or the server's is an
    /// error in words.
    pub(crate) fn run(&self, name: &str, options: &[&str], prompt: &str) -> Result<Run, String> {
        let tape: PathBuf = self.home.path().join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_ropewalk"));
        command.args(["run", "--json", "--mode", "auto"]).args(options);
        command.arg("--record").arg(&tape).arg(prompt);
        command.env_clear().current_dir(self.root.path()).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home.path());
        for (name, folder) in [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(name, self.home.path().join(folder));
        }
        if let Some(key) = &self.server.key {
            command.env(KEY, key);
        }
        let ran = command.output().map_err(|error| error.to_string())?;
        let (out, err) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let events: Vec<Value> = lines(&out).map_err(|words| format!("{words}\n{err}"))?;
        is_valid(&events).map_err(|words| format!("{words}\n{out}\n{err}"))?;
        let tape = std::fs::read_to_string(&tape).map_err(|error| format!("{error}\n{err}"))?;
        Ok(Run { events, tape: lines(&tape)? })
    }
}
