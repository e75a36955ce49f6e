//! What the server knows while it runs: the client, the workspace, the configuration and the session.
//!
//! Handlers take what they need from here before their first await. The sessions themselves are in
//! [`sessions`](crate::sessions).

use crate::home::Desk;
use crate::hunks::{PlacedHunk, ShownHunks};
use crate::sessions::Slot;
use crate::settings::{ModelFactory, commands_of, keep_rules_in, model_of, settings_of};
use crate::trust::Questions;
use ropewalk_agent::Sessions;
use ropewalk_agent::session::{ModelChoice, Settings};
use ropewalk_commands::CommandSettings;
use ropewalk_config::{Config, Environment, Sources, rules_file};
use ropewalk_model::Model;
use ropewalk_protocol::Mode;
use ropewalk_text::Text;
use ropewalk_workspace::log::Cursor;
use ropewalk_workspace::publish::Bounds;
use ropewalk_workspace::{DocId, Document, Habits, Roots, Workspace};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tower_lsp::Client;

/// What the binary gives the server.
#[derive(Clone)]
pub struct ServerOptions {
    /// Makes models.
    pub models: ModelFactory,
    /// Where configuration is read from.
    pub environment: Arc<dyn Environment + Send + Sync>,
    /// Flags of the command line, as `key=value`.
    pub flags: Vec<String>,
    /// Where sessions and the whole outputs of their calls are kept. None: nowhere.
    pub sessions: Option<Sessions>,
    /// The bounds of a publish.
    pub publish: Bounds,
}

/// What a client says of itself in `initializationOptions`, apart from configuration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientOptions {
    /// It takes `ropewalk/event`.
    pub(crate) events: bool,
    /// It draws pending hunks itself, and wants neither diagnostics nor lenses.
    pub(crate) draws_hunks: bool,
    /// It shows approvals itself.
    pub(crate) approvals: bool,
    /// It shows messages of any length without taking keys from the user.
    pub(crate) messages: bool,
    /// It answers `ropewalk/save` and `ropewalk/diagnostics`.
    pub(crate) plugin: bool,
    /// It applies edits, though its capabilities don't say so.
    pub(crate) edits: bool,
}

impl ClientOptions {
    /// Reads them, key by key, so that a wrong one spoils no other. Gives what is wrong, in sentences.
    pub(crate) fn read(options: Option<&serde_json::Value>) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut flag = |key: &str| match options.and_then(|options| options.get(key)) {
            None | Some(serde_json::Value::Null) => false,
            Some(serde_json::Value::Bool(value)) => *value,
            Some(other) => {
                problems.push(format!("initializationOptions: `{key}` takes true or false, not {other}; it is ignored."));
                false
            }
        };
        let read = Self {
            events: flag("events"),
            draws_hunks: flag("drawsHunks"),
            approvals: flag("approvals"),
            messages: flag("messages"),
            plugin: flag("plugin"),
            edits: flag("edits"),
        };
        (read, problems)
    }
}

/// The keys of [`ClientOptions`] as configuration knows them.
pub(crate) const CLIENT_KEYS: &[&str] =
    &["events", "drawsHunks", "approvals", "messages", "plugin", "edits"];

/// What `initialize` has told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientFacts {
    pub(crate) options: ClientOptions,
    pub(crate) habits: Option<Habits>,
    pub(crate) progress: bool,
    pub(crate) shows_documents: bool,
    pub(crate) lens_refresh: bool,
    pub(crate) configuration: bool,
    /// It takes code actions; else commands stand for them.
    pub(crate) code_action_literals: bool,
}

/// Where a document stood when a code action was made for it.
struct Anchor {
    id: DocId,
    version: i32,
    text: Text,
    cursor: Cursor,
}

impl Anchor {
    /// False for a document that was opened anew: it may count from the same version, with another text. So may one of
    /// which a save has told what it really holds.
    fn is_of(&self, document: &Document) -> bool {
        let log = document.log();
        log.knows(&self.cursor)
            && (self.version != document.version || log.since(&self.cursor).next().is_none())
    }
}

/// How many documents' places are remembered for code actions.
const ANCHORS: usize = 32;

/// See the module.
pub(crate) struct State {
    pub(crate) client: Client,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) shown: Mutex<ShownHunks>,
    /// Held while the pending hunks of a session are drawn, so that another's don't mix with them.
    pub(crate) drawing: tokio::sync::Mutex<()>,
    pub(crate) options: ServerOptions,
    pub(crate) slot: Slot,
    pub(crate) questions: Mutex<Questions>,
    facts: OnceLock<ClientFacts>,
    sources: Mutex<Sources>,
    config_stamp: Mutex<Vec<Option<std::time::SystemTime>>>,
    configured_mode: Mutex<Mode>,
    /// The keys that are locked, and by what.
    locks: Mutex<Vec<(String, String)>>,
    /// What was wrong with the client's own options, until it is told.
    option_problems: Mutex<Vec<String>>,
    leaving: std::sync::atomic::AtomicBool,
    anchors: Mutex<VecDeque<Anchor>>,
    /// Wakes the task that shows moved hunks.
    pub(crate) moved: Arc<tokio::sync::Notify>,
    /// Set when a document was opened or closed and what is shown has not followed yet.
    pub(crate) reopened: std::sync::atomic::AtomicBool,
    /// Where the user is.
    pub(crate) desk: Mutex<Desk>,
    /// The hunk that was gone to last.
    pub(crate) visited: Mutex<Option<PlacedHunk>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(crate) fn new(client: Client, options: ServerOptions) -> Self {
        Self {
            client,
            workspace: Arc::new(Workspace::new(Roots::none())),
            shown: Mutex::default(),
            drawing: tokio::sync::Mutex::default(),
            options,
            slot: Slot::default(),
            questions: Mutex::default(),
            facts: OnceLock::new(),
            sources: Mutex::default(),
            config_stamp: Mutex::default(),
            configured_mode: Mutex::default(),
            locks: Mutex::default(),
            option_problems: Mutex::default(),
            leaving: Default::default(),
            anchors: Mutex::default(),
            moved: Arc::default(),
            reopened: Default::default(),
            desk: Mutex::default(),
            visited: Mutex::default(),
        }
    }

    /// What `initialize` told; defaults before it.
    pub(crate) fn facts(&self) -> ClientFacts {
        self.facts.get().copied().unwrap_or_default()
    }

    pub(crate) fn habits(&self) -> Habits {
        self.facts().habits.unwrap_or(Habits::UNKNOWN)
    }

    /// Takes what `initialize` says.
    pub(crate) fn set_facts(
        &self,
        facts: ClientFacts,
        problems: Vec<String>,
        init: Option<serde_json::Value>,
        roots: Vec<(String, PathBuf)>,
    ) {
        let _ = self.facts.set(facts);
        *lock(&self.option_problems) = problems;
        *lock(&self.sources) = Sources {
            roots: roots.iter().map(|(_, path)| path.clone()).collect(),
            initialization_options: init,
            settings: None,
            flags: self.options.flags.clone(),
            known: crate::known(),
        };
        self.set_roots(roots);
    }

    /// What was wrong with the client's own options, once.
    pub(crate) fn take_option_problems(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.option_problems))
    }

    /// The client wants to end: nothing is shown any more.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(std::sync::atomic::Ordering::Relaxed)
    }

    pub(crate) fn set_roots(&self, roots: Vec<(String, PathBuf)>) {
        lock(&self.sources).roots = roots.iter().map(|(_, path)| path.clone()).collect();
        self.workspace.set_roots(if roots.is_empty() { Roots::none() } else { Roots::new(roots) });
    }

    /// New settings from the client (`workspace/didChangeConfiguration`).
    pub(crate) fn set_client_settings(&self, settings: serde_json::Value) -> Vec<String> {
        lock(&self.sources).settings = Some(settings);
        self.configure()
    }

    /// A model by the name `provider/name`, set up as the configuration says.
    pub(crate) fn model_named(&self, name: &str) -> Result<Arc<dyn Model>, String> {
        let mut sources = lock(&self.sources).clone();
        sources.flags.push(format!("model={name}"));
        model_of(&Config::build(&sources, &*self.options.environment), &self.options.models)
    }

    /// See [`choose_again`](crate::settings::choose_again).
    pub(crate) fn choose_again(
        &self,
        choice: ModelChoice,
        settings: &mut Settings,
    ) -> Option<String> {
        crate::settings::choose_again(choice, settings, |name| self.model_named(name))
    }

    /// The configuration as it is now.
    pub(crate) fn config(&self) -> Config {
        let sources = lock(&self.sources);
        Config::build(&sources, &*self.options.environment)
    }

    /// The settings of a configuration, and what is wrong with it. What the user is asked to trust is no problem.
    fn settings(&self, config: &mut Config) -> (Settings, Vec<String>) {
        crate::trust::take_questions(config, &mut lock(&self.questions));
        let locks = config.locks().map(|(key, by)| (key.to_owned(), by.to_string()));
        *lock(&self.locks) = locks.collect();
        let (mut settings, problems) = settings_of(config, &self.options.models, true);
        // With locked rules there is none to keep.
        settings.always = match config.is_locked("allow") {
            Some(_) => None,
            None => self.rules_file().map(keep_rules_in),
        };
        (settings, problems)
    }

    /// The one file of the rules that hold for always; None without a home.
    pub(crate) fn rules_file(&self) -> Option<PathBuf> {
        rules_file(&*self.options.environment)
    }

    /// Builds the configuration anew and hands it to the session. Gives what is wrong with it.
    pub(crate) fn configure(&self) -> Vec<String> {
        let mut config = self.config();
        *lock(&self.config_stamp) = stamps(&config);
        let (mut settings, mut problems) = self.settings(&mut config);
        if let Some(session) = self.running_session() {
            let configured = std::mem::replace(&mut *lock(&self.configured_mode), settings.mode);
            if configured == settings.mode && config.is_locked("mode").is_none() {
                // The mode was not what changed: what the user chose by command stays.
                settings.mode = session.mode();
            }
            if let Some(choice) = session.model_choice() {
                problems.extend(self.choose_again(choice, &mut settings));
            }
            session.configure(settings);
        }
        problems
    }

    /// Takes in edits of the configuration files, if there were any.
    pub(crate) fn configure_if_changed(&self) -> Vec<String> {
        let known = lock(&self.config_stamp).clone();
        if known == stamps(&self.config()) { Vec::new() } else { self.configure() }
    }

    /// The settings of a session that starts now, and of its commands. If the configuration was edited since it was
    /// looked at last, also what is wrong with it.
    pub(crate) fn settings_now(&self) -> (Settings, CommandSettings, Vec<String>) {
        let mut config = self.config();
        let now = stamps(&config);
        let known = std::mem::replace(&mut *lock(&self.config_stamp), now.clone());
        let (settings, problems) = self.settings(&mut config);
        *lock(&self.configured_mode) = settings.mode;
        (settings, commands_of(&config), if known == now { Vec::new() } else { problems })
    }

    /// The keys that are locked, and by what.
    pub(crate) fn locks(&self) -> Vec<(String, String)> {
        lock(&self.locks).clone()
    }

    /// Remembers where `id` stands, so that a range of this version can be found again later.
    pub(crate) fn remember(&self, id: &DocId) -> Option<i32> {
        let mut anchors = lock(&self.anchors);
        let (version, new) = self.workspace.with_document(id, |document| {
            anchors.retain(|known| known.id != *id || known.is_of(document));
            let version = document.version;
            let is_known = anchors.iter().any(|known| known.id == *id && known.version == version);
            let new = (!is_known).then(|| Anchor {
                id: id.clone(),
                version,
                text: document.text().clone(),
                cursor: document.cursor(),
            });
            (version, new)
        })?;
        anchors.extend(new);
        if anchors.len() > ANCHORS {
            anchors.pop_front();
        }
        Some(version)
    }

    /// The bytes of `range` in the document's text as it is now, with that text. The range is given in the
    /// text of `version` if that is remembered, else in the text now. None when the document is not open.
    pub(crate) fn locate(
        &self,
        id: &DocId,
        version: Option<i32>,
        range: tower_lsp::lsp_types::Range,
    ) -> Option<(Text, std::ops::Range<usize>)> {
        let coordinates = self.workspace.coordinates();
        let anchors = lock(&self.anchors);
        let anchor =
            anchors.iter().find(|anchor| anchor.id == *id && Some(anchor.version) == version);
        self.workspace.with_document(id, |document| {
            let now = document.text().clone();
            let anchor = anchor.filter(|anchor| anchor.is_of(document));
            let then = anchor.map_or(&now, |anchor| &anchor.text);
            let byte = |position| {
                coordinates.position_to_byte(then, crate::convert::position_from_lsp(position)).byte
            };
            let mut bytes = byte(range.start)..byte(range.end);
            if let Some(anchor) = anchor {
                for delta in document.log().since(&anchor.cursor) {
                    bytes = delta.change.map_range(bytes);
                }
            }
            let end = bytes.end.max(bytes.start);
            (now, bytes.start..end)
        })
    }
}

/// When each file that counts was last changed.
fn stamps(config: &Config) -> Vec<Option<std::time::SystemTime>> {
    let stamp = |path: &PathBuf| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
    config.watched.iter().map(stamp).collect()
}
