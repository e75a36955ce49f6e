//! Service of a session: its requests are done one after the other, and its events told.
//!
//! Work on the disk that a request needs is done before the session gets it, and beside everything else: the session is
//! started, edits of the configuration are taken in, a model is made. Requests that come meanwhile wait in line.

use crate::blocking;
use crate::host::Host;
use crate::seat::{OpQueue, QueuedOp};
use futures::FutureExt;
use ropewalk_agent::Session;
use ropewalk_model::Model;
use ropewalk_protocol::{Op, Refusal, Reply, SessionEvent, Status};
use std::sync::{Arc, Weak};
use tokio::sync::mpsc::UnboundedReceiver;

/// Work on the disk that a request needs before the session gets it.
enum Preparation {
    Prompt,
    Status,
    Mode,
    Model(String),
}

impl Preparation {
    fn of(op: &Op) -> Option<Self> {
        match op {
            Op::Prompt(_) => Some(Self::Prompt),
            Op::Status => Some(Self::Status),
            Op::Mode(_) => Some(Self::Mode),
            Op::SetModel(name) => Some(Self::Model(name.clone())),
            _ => None,
        }
    }
}

/// Serves a session until its seat is gone.
pub(crate) async fn serve(host: Weak<Host>, session: Session, mut queue: OpQueue) {
    while let Some(QueuedOp { op, done }) = queue.next().await {
        let Some(host) = host.upgrade() else { break };
        let prepared = match Preparation::of(&op) {
            Some(preparation) => {
                let (host, session) = (host.clone(), session.clone());
                let work = blocking(move || host.prepare(&session, preparation));
                match queue.unless_interrupted(work).await {
                    Some(prepared) => prepared.and_then(|prepared| prepared),
                    // It starts, for what comes next stops it.
                    None if matches!(op, Op::Prompt(_) | Op::Status) => Ok(None),
                    None => Err("It was interrupted".into()),
                }
            }
            None => Ok(None),
        };
        if let Op::Unqueue(turn) = op {
            let words = session.unqueue(turn);
            // Beside what comes next: an interrupt may have to stop what the session waits for.
            tokio::spawn(
                async move {
                    let words =
                        words.await.ok_or(Refusal::from("That request does not wait any more"));
                    let _ = done.send(words.map(Reply::Unqueued));
                }
                .boxed(),
            );
            continue;
        }
        // Nobody may want to know.
        let _ = done.send(prepared.and_then(|model| host.pass(&session, op, model)));
    }
}

/// Tells what happens in a session until it has ended.
pub(crate) async fn tell(host: Weak<Host>, mut events: UnboundedReceiver<SessionEvent>) {
    while let Some(event) = events.recv().await {
        let Some(host) = host.upgrade() else { return };
        host.tell(event);
    }
}

impl Host {
    /// Does what is needed of the disk; gives the model that was asked for. Blocking.
    fn prepare(
        &self,
        session: &Session,
        preparation: Preparation,
    ) -> Result<Option<Arc<dyn Model>>, Refusal> {
        self.tell_all(self.read_if_changed());
        match (preparation, self.configuration.mode_lock()) {
            (Preparation::Prompt, _) => self.make_outputs(session.id()),
            (Preparation::Status, _) | (Preparation::Mode, None) => {}
            (Preparation::Mode, Some(by)) => {
                return Err(format!("The mode can't be changed: it is locked by {by}").into());
            }
            (Preparation::Model(name), _) => return Ok(Some(self.model_named(&name)?)),
        }
        Ok(None)
    }

    /// Hands a request to its session.
    fn pass(
        &self,
        session: &Session,
        op: Op,
        model: Option<Arc<dyn Model>>,
    ) -> Result<Reply, Refusal> {
        let id = || session.id().clone().into();
        Ok(match op {
            Op::Prompt(prompt) => Reply::Turn(id(), session.prompt(prompt)),
            Op::SetModel(_) => {
                model.into_iter().for_each(|model| session.speak_to(model));
                Reply::Taken
            }
            Op::Status => Reply::Status(self.status(session)),
            Op::Rename(title) => {
                session.send(Op::Rename(title.clone()));
                Reply::Renamed(id(), title)
            }
            Op::Rewind(turn) => {
                let prompt = prompt_of(session, turn)?;
                session.send(op);
                Reply::Rewinding(turn, prompt)
            }
            op => {
                self.reviews.begin(id(), &op, &session.review());
                session.send(op);
                Reply::Taken
            }
        })
    }

    fn status(&self, session: &Session) -> Status {
        let todos = session.todos();
        let (model, missing) = match session.model() {
            Ok(model) => (Some(model), None),
            Err(missing) => (None, Some(missing)),
        };
        Status {
            session: session.id().clone().into(),
            title: session.title(),
            turns: session.turns().len(),
            locks: self.configuration.locks(),
            mode: session.mode(),
            model,
            missing,
            hunks: session.review().pending(),
            approvals: session.waiting_approvals().iter().map(|asked| asked.id).collect(),
            todos: todos.0.len(),
            todos_done: todos.done(),
            messages: session.message_count(),
            tokens: session.spent().into(),
            context: session.context(),
            desync_alarms: self.workspace.desync_alarms(),
        }
    }
}

/// The words that a turn had begun with.
fn prompt_of(session: &Session, turn: u64) -> Result<String, String> {
    let turns = session.turns();
    let (Some(first), Some(last)) = (turns.first(), turns.last()) else {
        return Err("There is no turn to take back".to_owned());
    };
    let mark = turns.iter().find(|mark| mark.turn == turn).ok_or_else(|| {
        let (first, last) = (first.turn, last.turn);
        format!("There is no turn {turn} to take back; there are {first} to {last}")
    })?;
    Ok(mark.prompt.clone())
}
