//! State of the server while it runs: the client, its documents, and the hunks and texts that it is
//! shown.
//!
//! Handlers take what they need from here before their first await. Sessions and their settings are the host's.

use crate::anchors::Anchors;
use crate::chat::ChatInbox;
use crate::client::{ClientFacts, client_keys};
use crate::convert::invalid;
use crate::editor::LspEditor;
use crate::home::Desk;
use crate::lock;
use crate::placed::{ReachableHunk, ShownHunks};
use crate::teammates::Teammates;
use ropewalk_host::{Host, HostOptions};
use ropewalk_protocol::{Op, Reply, Request};
use ropewalk_workspace::{Habits, Roots, Workspace};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use tower_lsp::Client;
use tower_lsp::jsonrpc::Result;

/// See the module.
pub(crate) struct State {
    pub(crate) client: Client,
    pub(crate) host: Arc<Host>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) shown: Mutex<ShownHunks>,
    /// Held while the pending hunks of a session are drawn, so that another's don't mix with them.
    pub(crate) drawing: tokio::sync::Mutex<()>,
    facts: Arc<OnceLock<ClientFacts>>,
    /// Problems of the client's own options, until they are told.
    option_problems: Mutex<Vec<String>>,
    leaving: std::sync::atomic::AtomicBool,
    pub(crate) anchors: Arc<Anchors>,
    /// Wakes the task that shows moved hunks.
    pub(crate) moved: Arc<tokio::sync::Notify>,
    /// Set when a document was opened or closed and what is shown has not followed yet.
    pub(crate) reopened: std::sync::atomic::AtomicBool,
    pub(crate) desk: Desk,
    pub(crate) teammates: Teammates,
    pub(crate) chat: ChatInbox,
    /// The client, for edits that are of no session.
    pub(crate) editor: Arc<LspEditor>,
    /// The hunk that was gone to last.
    pub(crate) visited: Mutex<Option<ReachableHunk>>,
}

impl State {
    pub(crate) fn new(client: Client, options: HostOptions) -> Self {
        let workspace = Arc::new(Workspace::new(Roots::none()));
        let (facts, anchors) = (Arc::default(), Arc::new(Anchors::new(workspace.clone())));
        let editor = Arc::new(LspEditor {
            client: client.clone(),
            workspace: workspace.clone(),
            facts: Arc::clone(&facts),
        });
        Self {
            client,
            host: Host::new(options, workspace.clone(), editor.clone()),
            workspace,
            shown: Mutex::default(),
            drawing: tokio::sync::Mutex::default(),
            facts,
            option_problems: Mutex::default(),
            leaving: Default::default(),
            desk: Desk::new(anchors.clone()),
            teammates: Teammates::default(),
            chat: ChatInbox::new(),
            editor,
            anchors,
            moved: Arc::default(),
            reopened: Default::default(),
            visited: Mutex::default(),
        }
    }

    /// Asks the host, now: the future is its answer.
    pub(crate) fn ask(
        &self,
        session: Option<String>,
        op: Op,
    ) -> impl Future<Output = Result<Reply>> + use<> {
        self.ask_of(session, None, op)
    }

    /// The same of a teammate, if one is named.
    pub(crate) fn ask_of(
        &self,
        session: Option<String>,
        member: Option<String>,
        op: Op,
    ) -> impl Future<Output = Result<Reply>> + use<> {
        let answer = self.host.handle(Request::to(session, op).of_member(member));
        async move { answer.await.map_err(|refusal| invalid(refusal.words)) }
    }

    /// The current session's id, if there is one.
    pub(crate) fn current(&self) -> Option<String> {
        self.host.snapshot(None).session.as_ref().map(ToString::to_string)
    }

    /// Facts that `initialize` told; defaults before it.
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
        self.host.meet(roots, init, client_keys());
    }

    /// Takes the problems of the client's own options, once.
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
}
