//! What the server knows while it runs: the client, its documents, and what it is shown.
//!
//! Handlers take what they need from here before their first await. Sessions and their settings are the host's.

use crate::commands::invalid;
use crate::editor::LspEditor;
use crate::home::Desk;
use crate::hunks::{PlacedHunk, ShownHunks};
use ropewalk_host::{Host, HostOptions};
use ropewalk_protocol::{Op, Reply, Request};
use ropewalk_text::Text;
use ropewalk_workspace::log::Cursor;
use ropewalk_workspace::{DocId, Document, Habits, Roots, Workspace};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tower_lsp::Client;
use tower_lsp::jsonrpc::Result;

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

/// The keys of a client's own options, in `initializationOptions`, which are no configuration.
pub const CLIENT_KEYS: &[&str] =
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
    pub(crate) host: Arc<Host>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) shown: Mutex<ShownHunks>,
    /// Held while the pending hunks of a session are drawn, so that another's don't mix with them.
    pub(crate) drawing: tokio::sync::Mutex<()>,
    facts: Arc<OnceLock<ClientFacts>>,
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
    pub(crate) fn new(client: Client, options: HostOptions) -> Self {
        let workspace = Arc::new(Workspace::new(Roots::none()));
        let facts = Arc::default();
        let editor = LspEditor {
            client: client.clone(),
            workspace: workspace.clone(),
            facts: Arc::clone(&facts),
        };
        Self {
            client,
            host: Host::new(options, workspace.clone(), Arc::new(editor)),
            workspace,
            shown: Mutex::default(),
            drawing: tokio::sync::Mutex::default(),
            facts,
            option_problems: Mutex::default(),
            leaving: Default::default(),
            anchors: Mutex::default(),
            moved: Arc::default(),
            reopened: Default::default(),
            desk: Mutex::default(),
            visited: Mutex::default(),
        }
    }

    /// Asks the host, now: the future is its answer.
    pub(crate) fn ask(
        &self,
        session: Option<String>,
        op: Op,
    ) -> impl Future<Output = Result<Reply>> + use<> {
        let answer = self.host.handle(Request::to(session, op));
        async move { answer.await.map_err(|refusal| invalid(refusal.words)) }
    }

    /// The current session's id, if there is one.
    pub(crate) fn current(&self) -> Option<String> {
        self.host.snapshot(None).session.as_ref().map(ToString::to_string)
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
        self.host.meet(roots, init, CLIENT_KEYS);
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
