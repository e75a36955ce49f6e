//! The fake editor in the same process as the workspace: no JSON, no threads, no time.
//!
//! [`Direct`] is the workspace's [`Editor`]; what it is asked waits in its [`Client`] until the test handles
//! it, and what the client tells reaches the workspace when the test delivers it.

use super::buffer::Cell;
use super::client::{Client, FileOp, Outgoing, RequestId, ServerRequest};
use super::profile::Profile;
use futures::future::BoxFuture;
use ropewalk_workspace::{
    DocId, DocumentEdit, Editor, EditorError, FileRename, Habits, PublishId, Workspace,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

type EditAnswer = Result<(), EditorError>;

/// The client's answer in the workspace's terms.
fn claimed(answer: Result<bool, String>) -> EditAnswer {
    match answer {
        Ok(true) => Ok(()),
        Ok(false) => Err(EditorError::Declined(String::new())),
        Err(why) => Err(EditorError::Refused(why)),
    }
}

/// See the module.
#[derive(Debug)]
pub struct Direct {
    workspace: Arc<Workspace>,
    state: Mutex<DirectState>,
}

#[derive(Debug)]
struct DirectState {
    client: Client,
    waiting: HashMap<RequestId, oneshot::Sender<EditAnswer>>,
    /// Edits whose answers may still come.
    unanswered: HashMap<RequestId, PublishId>,
    /// The characters of each open document as the workspace has been told.
    delivered: HashMap<String, Vec<Cell>>,
    /// How many didOpen were delivered.
    openings: HashMap<String, u32>,
}

impl Direct {
    /// A client with these habits, and the workspace told of it.
    pub fn new(workspace: Arc<Workspace>, profile: Profile) -> Self {
        let client = Client::new(profile);
        workspace.set_client(client.coordinates, Habits::of(profile.client_name));
        let state = DirectState {
            client,
            waiting: HashMap::new(),
            unanswered: HashMap::new(),
            delivered: HashMap::new(),
            openings: HashMap::new(),
        };
        Self { workspace, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, DirectState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the client.
    pub fn with<T>(&self, f: impl FnOnce(&mut Client) -> T) -> T {
        f(&mut self.state().client)
    }

    /// The characters of a document as the workspace was told. None when it is not open there.
    pub fn delivered(&self, uri: &str) -> Option<Vec<Cell>> {
        self.state().delivered.get(uri).cloned()
    }

    /// How often the workspace was told that a document is open now.
    pub fn openings(&self, uri: &str) -> u32 {
        self.state().openings.get(uri).copied().unwrap_or(0)
    }

    /// Delivers the next thing the client writes. False when there is nothing.
    pub fn deliver(&self) -> bool {
        let mut state = self.state();
        let Some(next) = state.client.next_outgoing() else {
            return false;
        };
        match next {
            Outgoing::Open { uri, version, text, cells } => {
                self.workspace.open(&uri, "text", version, &text);
                *state.openings.entry(uri.clone()).or_default() += 1;
                state.delivered.insert(uri, cells);
            }
            Outgoing::Change { uri, version, changes, cells } => {
                self.workspace.change(&uri, version, &changes);
                state.delivered.insert(uri, cells);
            }
            Outgoing::Save { uri } => {
                let id = DocId::from_uri(&uri);
                self.workspace.written(&id);
                self.workspace.look_after_save(&id);
            }
            Outgoing::Close { uri } => {
                self.workspace.close(&uri);
                state.delivered.remove(&uri);
            }
            Outgoing::Answer(id, answer) => {
                let (waiter, edit) = (state.waiting.remove(&id), state.unanswered.remove(&id));
                let late = waiter.map_or(Some(claimed(answer.clone())), |waiter| {
                    waiter.send(claimed(answer)).err()
                });
                if let (Some(late), Some(edit)) = (late, edit) {
                    self.workspace.answered(edit, late);
                }
            }
        }
        true
    }

    /// Delivers all that the client has to write.
    pub fn deliver_all(&self) {
        while self.deliver() {}
    }

    /// Tells one who asked that no answer came in time: requests that were handled without an answer, and
    /// those of previews nobody acts on. Gives how many there were. An answer that comes later is late.
    pub fn time_out(&self) -> usize {
        let mut state = self.state();
        let waiting = std::mem::take(&mut state.waiting);
        let count = waiting.len();
        for (_, waiter) in waiting {
            let _ = waiter.send(Err(EditorError::NoAnswer));
        }
        count
    }

    /// How many of the server's requests have no answer yet, delivered or not.
    pub fn unanswered(&self) -> usize {
        self.state().waiting.len()
    }

    fn ask(
        &self,
        request: ServerRequest,
        edit: Option<PublishId>,
    ) -> oneshot::Receiver<EditAnswer> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state();
        let id = state.client.receive(request);
        state.waiting.insert(id, sender);
        state.unanswered.extend(edit.map(|edit| (id, edit)));
        receiver
    }
}

impl Editor for Direct {
    fn habits(&self) -> Habits {
        self.workspace.habits()
    }

    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, EditAnswer> {
        let op = FileOp::Edit {
            uri: edit.uri,
            version: Some(edit.version),
            edits: edit.edits,
            needs_confirmation: false,
        };
        let answer = self.ask(ServerRequest::Apply(vec![op]), edit.publish);
        Box::pin(async { answer.await.unwrap_or(Err(EditorError::NoAnswer)) })
    }

    fn rename(&self, rename: FileRename) -> BoxFuture<'static, EditAnswer> {
        let op = FileOp::Rename { from: rename.from, to: rename.to };
        let answer = self.ask(ServerRequest::Apply(vec![op]), None);
        Box::pin(async { answer.await.unwrap_or(Err(EditorError::NoAnswer)) })
    }

    fn barrier(&self) -> BoxFuture<'static, ()> {
        if !self.habits().barrier {
            return Box::pin(async {});
        }
        let answer = self.ask(ServerRequest::Barrier, None);
        Box::pin(async {
            let _ = answer.await;
        })
    }

    fn save(&self, _: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(async { Err(EditorError::Unsupported("only our plugins save")) })
    }

    fn diagnostics(&self, _: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        Box::pin(async { Err(EditorError::Unsupported("only our plugins have diagnostics")) })
    }
}
