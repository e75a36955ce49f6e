//! Configuration: layers, where each value came from, and the plain structs handed to the rooms.
//!
//! The layers, lowest first:
//!
//! 1. built-in defaults ([`KEYS`], [`SessionLimits::DEFAULT`], [`SessionRetention::DEFAULT`], [`PROVIDER_PRESETS`]);
//! 2. `/etc/ropewalk/config.toml` (Unix only), which may lock keys;
//! 3. `~/.config/ropewalk/config.toml`, or `$XDG_CONFIG_HOME/ropewalk/config.toml`;
//! 4. `rules.toml` beside it, which holds only `allow`, `ask` and `deny`;
//! 5. `.ropewalk/config.toml` of each root, which may only make things **stricter**,
//!    unless the user trusts the folder with what else it asks for ([`trust`]);
//! 6. `initializationOptions`, then the settings of `workspace/didChangeConfiguration`;
//! 7. the variable [`BOARD_VARIABLE`], for the one key that it is about;
//! 8. command-line flags, `-c key=value`.
//!
//! A layer's value stands in for that of the layers below; only rules add up.
//! A project's stricter setting holds against everything below it. It gives way only to what the
//! user chose explicitly, for this editor or this run: layers 6 to 8. A locked key has its value from
//! layers 1 and 2 alone. A lock that can't be read doesn't hold, which is said to everybody.
//!
//! [`Config::build`] is a pure function of its arguments, so applying an edit means building again.
//! Bad input never stops it: whatever can't be used is left out and said in [`Config::problems`].
//!
//! Deliberately not here: values of keys (only the *names* of the variables that hold them),
//! watching files (only the list of what to watch), asking whether a folder is trusted, and any
//! knowledge of which tools, mechanisms, protocols or models exist: those come from the caller ([`KnownNames`]).

mod instructions;
mod keys;
mod lock;
mod private_file;
mod problem;
mod resolve;
mod rules;
mod sources;
mod team;
mod toml_text;
pub mod trust;
mod value;

use ropewalk_protocol::{CacheLife, Mode, OverFork, Price, SessionLimits, Thinking};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use lock::KeyLock;

pub use instructions::{InstructionText, MAX_INSTRUCTIONS_BYTES};
pub use keys::{KEYS, Key, KeyDefault, ProjectRule, markdown_table};
pub use problem::{ConfigLayer, Problem, ValueSource};
pub use rules::{RuleText, add_rule};
pub use sources::{
    DefaultModels, Environment, KnownNames, MAX_FILE_BYTES, RealEnvironment, Sources, cache_folder,
    own_folder, rules_file, state_folder,
};
pub use team::{BOARD_VARIABLE, BoardAddress, MOST_TEAMMATES, TeamBounds, TeamConfig};
pub use trust::TrustQuestion;

/// Providers that exist without being configured: name, protocol, base URL, variable of the key
/// (empty for a server on this machine, which wants none).
/// Each field can be overridden on its own, as in `[provider.anthropic] base_url = "…"`.
pub const PROVIDER_PRESETS: &[(&str, &str, &str, &str)] = &[
    ("anthropic", "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    ("openai", "responses", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    ("openrouter", "chat", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    ("deepseek", "chat", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    ("mistral", "chat", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    ("groq", "chat", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    ("gemini", "chat", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    ("xai", "chat", "https://api.x.ai/v1", "XAI_API_KEY"),
    ("moonshot", "chat", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    ("zai", "chat", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
    ("minimax", "anthropic", "https://api.minimax.io/anthropic", "MINIMAX_API_KEY"),
    ("ollama", "chat", "http://127.0.0.1:11434/v1", ""),
    ("llamacpp", "chat", "http://127.0.0.1:8080/v1", ""),
    ("lmstudio", "chat", "http://127.0.0.1:1234/v1", ""),
    ("vllm", "chat", "http://127.0.0.1:8000/v1", ""),
];

/// The log filter when none is configured.
pub const DEFAULT_LOG: &str = "info";

/// A model, as in `anthropic/claude-sonnet-5-5`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelName {
    /// Text before the first `/`: a name in [`Config::providers`]. Never empty.
    pub provider: String,
    /// Text after it, given to the provider as it is; may contain `/`. Never empty.
    pub name: String,
}

impl ModelName {
    /// Reads `PROVIDER/NAME`. `None` when a part is missing or holds white space or control
    /// characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<ModelName> {
        let (provider, name) = text.trim().split_once('/')?;
        let word = |part: &str| {
            !part.is_empty() && !part.chars().any(|c| c.is_whitespace() || c.is_control())
        };
        (word(provider) && word(name))
            .then(|| ModelName { provider: provider.to_owned(), name: name.to_owned() })
    }
}

impl std::fmt::Display for ModelName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

/// Where a model is reached. Complete: a provider that lacks its protocol or URL is a problem and
/// not in [`Config::providers`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provider {
    /// The wire protocol; one of [`KnownNames::protocols`] when the caller gave any.
    pub protocol: String,
    /// `http://` or `https://`, without credentials, query, fragment or trailing slash.
    pub base_url: String,
    /// The name of the environment variable that holds the key; `None` sends none from there.
    pub api_key_env: Option<String>,
    /// Program that prints the key, where the variable is not set. Only the user's own files, the system's and flags
    /// can say it.
    pub api_key_command: Option<KeyCommand>,
    /// Headers of every request; their values may be secret.
    pub headers: BTreeMap<String, String>,
    /// Parts of the query of every request; their values may be secret.
    pub query: BTreeMap<String, String>,
    /// Members of every request to a model.
    pub body: BTreeMap<String, serde_json::Value>,
    /// True if requests go to `base_url` as it is.
    pub url_exact: bool,
    /// How long prompts stay in the server's cache.
    pub cache: CacheLife,
    /// Facts that hold for all of its models.
    pub facts: ModelFacts,
    /// Facts that hold for single models, by the name the provider knows.
    pub models: BTreeMap<String, ModelFacts>,
    /// True if calls that a model prints as text are run.
    pub printed_calls: bool,
    /// Requests that its server gets at a time; `None` for one on this machine, any number elsewhere.
    pub parallel: Option<u32>,
}

impl Provider {
    /// Configured facts of this model: its own before those of all.
    #[must_use]
    pub fn facts_of(&self, model: &str) -> ModelFacts {
        let own = self.models.get(model).copied().unwrap_or_default();
        ModelFacts {
            context: own.context.or(self.facts.context),
            output: own.output.or(self.facts.output),
            price: own.price.or(self.facts.price),
            lean: own.lean.or(self.facts.lean),
            images: own.images.or(self.facts.images),
            thinking: own.thinking.or(self.facts.thinking),
        }
    }
}

/// A program that prints a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyCommand {
    /// A line for `sh`.
    Shell(String),
    /// The program and its arguments, without a shell. Never empty.
    Program(Vec<String>),
}

/// Configured facts of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelFacts {
    /// Tokens of prompt and reply together.
    pub context: Option<u32>,
    /// Tokens of the longest reply.
    pub output: Option<u32>,
    /// Price of its tokens.
    pub price: Option<Price>,
    /// True if it gets the lean set, whatever its context is.
    pub lean: Option<bool>,
    /// True if it is sent images.
    pub images: Option<bool>,
    /// How much it is asked to think.
    pub thinking: Option<Thinking>,
}

/// Which sessions are kept. What has changes that wait for the user is kept in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionRetention {
    /// Days since a session was last used.
    pub days: u32,
    /// Megabytes of all sessions together, the newest first.
    pub megabytes: u32,
}

impl SessionRetention {
    /// The built-in bounds.
    pub const DEFAULT: SessionRetention = SessionRetention { days: 90, megabytes: 512 };
}

impl Default for SessionRetention {
    fn default() -> Self {
        SessionRetention::DEFAULT
    }
}

/// How commands run, and what they may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandConfig {
    /// Where they run.
    pub over_fork: OverFork,
    /// Bounds of their memory, disk and caches.
    pub bounds: CommandBounds,
    /// Variables that they are given beside those that all are.
    pub environment: Vec<String>,
}

/// Bounds of commands, in megabytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandBounds {
    /// Most that a session's commands write before it is accepted; 0 goes by the machine's memory.
    pub layer_megabytes: u32,
    /// The memory of one command and all it starts; 0 goes by the machine's memory.
    pub memory_megabytes: u32,
    /// The build caches of one folder.
    pub cache_megabytes: u32,
}

impl CommandBounds {
    /// The built-in bounds.
    pub const DEFAULT: CommandBounds =
        CommandBounds { layer_megabytes: 0, memory_megabytes: 0, cache_megabytes: 20_000 };
}

impl Default for CommandBounds {
    fn default() -> Self {
        CommandBounds::DEFAULT
    }
}

/// The configuration in force. Plain values, a source for each, and what was wrong on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The model; `None` when none is set and the environment suggests none (see `problems`). Its
    /// provider may be missing from `providers`, which is a problem in words too.
    pub model: Option<ModelName>,
    /// When changes reach the editor.
    pub mode: Mode,
    /// Providers by name: presets and configured ones.
    pub providers: BTreeMap<String, Provider>,
    /// Every variable that a layer that counts names as one that holds a key, also where a higher layer
    /// names another in its place: what they hold is for no command and no output.
    pub key_variables: BTreeSet<String>,
    /// Every header and every part of a query, name and value, that a layer that counts gives to any provider, complete or
    /// not, also where a higher layer gives another in its place: one that is secret is for no command and no output.
    pub headers: BTreeSet<(String, String)>,
    /// The tools that are offered; `None` means all of them.
    pub tools: Option<Vec<String>>,
    /// Mechanisms switched on or off by name. What is not named is on.
    pub mechanisms: BTreeMap<String, bool>,
    /// Bounds.
    pub limits: SessionLimits,
    /// Which sessions are kept.
    pub keep: SessionRetention,
    /// How commands run.
    pub commands: CommandConfig,
    /// Configuration of teams.
    pub team: TeamConfig,
    /// Every board that a layer that counts names, also where a higher layer names another in its place: their
    /// passwords are for no command and no output.
    pub boards: Vec<BoardAddress>,
    /// Rules of calls that need no approval: those of all layers, lowest first.
    pub allow: Vec<RuleText>,
    /// Rules of calls that need one, likewise; a project may add to them.
    pub ask: Vec<RuleText>,
    /// Rules of calls that are refused, likewise; a project may add to them.
    pub deny: Vec<RuleText>,
    /// A file that replaces the system prompt. Absolute, or from a flag as the user gave it, which
    /// is relative to the working directory.
    pub system_prompt_file: Option<PathBuf>,
    /// A PEM file of certificates that are trusted besides the system's. A path as for `system_prompt_file`.
    pub ca_file: Option<PathBuf>,
    /// Text added to the system prompt.
    pub system_prompt_append: Option<String>,
    /// A command that checks what was done, in one line.
    pub verify: Option<String>,
    /// True if the model is asked before a turn ends if all is done.
    pub check_self: bool,
    /// The filter of the log, in the syntax of `RUST_LOG`.
    pub log: String,
    /// Everything that was ignored, refused or missing, lowest layer first.
    pub problems: Vec<Problem>,
    /// Files whose appearance, change or removal calls for building again: the files of the layers,
    /// the store of trust and the instructions, present or not, and `system_prompt_file`.
    pub watched: Vec<PathBuf>,
    /// Wishes of projects that the user has neither trusted nor refused: ignored, and to be
    /// asked about. In the order of the roots.
    pub untrusted: Vec<TrustQuestion>,
    /// Instructions to the model, the user's own before those of the roots; none with
    /// `mechanisms.instructions = false`.
    pub instructions: Vec<InstructionText>,
    /// The user's folders that may hold skills, prompt commands and subagent types, the first before the others.
    pub user_folders: Vec<PathBuf>,
    locks: Vec<KeyLock>,
    provenance: BTreeMap<String, ValueSource>,
}

impl Config {
    /// Reads all layers. The same arguments and the same answers of `environment` give the same
    /// `Config`. Linear in the size of the files, which are read up to [`MAX_FILE_BYTES`].
    #[must_use]
    pub fn build(sources: &Sources, environment: &dyn Environment) -> Config {
        resolve::build(sources, environment)
    }

    /// Where the value of a key came from. `key` is dotted, snake_case, as in `limits.steps`,
    /// `provider.local.base_url` or `mechanisms.todos`. What no layer set is built in.
    #[must_use]
    pub fn provenance(&self, key: &str) -> ValueSource {
        self.provenance.get(key).cloned().unwrap_or_else(ValueSource::built_in)
    }

    /// Source that locks a key, dotted as for [`Config::provenance`]: a locked key has the value that the
    /// system's file or the code gives it, and nothing at run time may change it either.
    #[must_use]
    pub fn is_locked(&self, key: &str) -> Option<&ValueSource> {
        self.locks.iter().find(|lock| lock.holds(key)).map(|lock| &lock.source)
    }

    /// The locks as written, such as `provider.*.base_url`, each with its place.
    pub fn locks(&self) -> impl Iterator<Item = (&str, &ValueSource)> {
        self.locks.iter().map(|lock| (&*lock.pattern, &lock.source))
    }

    /// The provider of the configured model, when both exist.
    #[must_use]
    pub fn model_provider(&self) -> Option<&Provider> {
        self.providers.get(&self.model.as_ref()?.provider)
    }

    /// Puts a board in the place of the one named before, whose password stays a secret.
    fn name_board(&mut self, address: Option<BoardAddress>) {
        self.boards.extend(address.clone());
        self.team.board = address;
    }

    /// True if a mechanism is on; it is unless it was switched off.
    #[must_use]
    pub fn mechanism_enabled(&self, name: &str) -> bool {
        self.mechanisms.get(name).copied().unwrap_or(true)
    }

    /// True if a tool is offered.
    #[must_use]
    pub fn tool_enabled(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == name))
    }
}
