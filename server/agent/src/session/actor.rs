//! The session's actor: takes ops in order, runs turns one at a time, keeps what waits.
//!
//! It decides nothing about what a turn does; it never waits for the user or the model.

use super::review::{self, Review};
use super::shared::{Shared, lock};
use super::{ModelChoice, Settings};
use crate::journal::record::{Record, now};
use crate::op::Input;
use crate::turn::{Ended, Turn};
use futures::future::BoxFuture;
use ropewalk_model::{Model, ModelError};
use ropewalk_protocol as protocol;
use ropewalk_protocol::{Event, Level, Op, Prompt, StopReason};
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::runner::Finished;
use ropewalk_workspace::{DocId, HunkId, Note, Selection};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinError;

/// See the module.
pub(super) struct Actor {
    shared: Arc<Shared>,
    /// What was asked for and is not taken yet. The first of it waits while a key is asked for.
    ops: VecDeque<Input>,
    asking: Option<Asking>,
    /// Why there is no key for the op that is taken.
    no_key: Option<ModelError>,
    queue: VecDeque<(u64, Prompt)>,
    running: Option<Running>,
    /// The turn to take back as soon as none is running.
    rewind: Option<u64>,
    /// The end of an undo or a rewind, during which no turn starts: its first message tells of them.
    undoing: Option<oneshot::Receiver<()>>,
    reviews: mpsc::UnboundedSender<Review>,
}

/// The question for the key that texts must not hold.
type Asking = BoxFuture<'static, Result<(), ModelError>>;

struct Running {
    turn: u64,
    interrupt: watch::Sender<bool>,
    task: tokio::task::JoinHandle<Ended>,
}

impl Actor {
    /// An actor that waits for ops; its reviews are done from here on.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let (reviews, receiver) = mpsc::unbounded_channel();
        tokio::spawn(review::run(shared.clone(), receiver));
        Self {
            shared,
            ops: VecDeque::new(),
            asking: None,
            no_key: None,
            queue: VecDeque::new(),
            running: None,
            rewind: None,
            undoing: None,
            reviews,
        }
    }

    /// Takes ops until nobody can send any more.
    pub(super) async fn run(mut self, mut ops: mpsc::UnboundedReceiver<Input>) {
        self.shared.tell(Event::SessionStarted {
            title: self.shared.title(),
            turns: lock(&self.shared.turns).len() as u64,
        });
        self.shared.show_hunks().await;
        let runner = self.shared.runner.clone();
        loop {
            tokio::select! {
                biased;
                ended = ended(&mut self.running) => {
                    self.turn_ended(ended).await;
                    self.rewind();
                    self.start_next();
                }
                () = undone(&mut self.undoing) => {
                    self.undoing = None;
                    self.start_next();
                }
                finished = runner.finished() => {
                    let shared = self.shared.clone();
                    tokio::spawn(async move { take_in(shared, finished).await });
                }
                known = known(&mut self.asking) => {
                    self.asking = None;
                    self.no_key = known.err();
                    self.take_first();
                    self.no_key = None;
                }
                op = ops.recv() => match op {
                    // The prompt that waits for the key is stopped. Its words are kept, as they are: nobody
                    // has said what the key is.
                    Some(Input::Op(Op::Interrupt)) if self.asking.take().is_some() => {
                        self.take_first();
                        self.take(Input::Op(Op::Interrupt));
                    }
                    Some(op) => self.ops.push_back(op),
                    None => break,
                },
            }
            self.take_all().await;
        }
        if let Some(running) = &self.running {
            // Nobody listens any more: the turn stops where it is.
            let _ = running.interrupt.send(true);
            let ended = ended(&mut self.running).await;
            self.turn_ended(ended).await;
        }
    }

    /// Takes the ops in order, up to one that brings text while the key must still be asked for.
    async fn take_all(&mut self) {
        while self.asking.is_none()
            && let Some(op) = self.ops.front()
        {
            let settings = self.shared.settings();
            if let (true, Ok(model)) = (op.brings_text(), &settings.model) {
                let mut asking = model.ready();
                match futures::poll!(&mut asking) {
                    Poll::Ready(known) => self.no_key = known.err(),
                    Poll::Pending => {
                        self.asking = Some(asking);
                        return;
                    }
                }
            }
            self.take_first();
            self.no_key = None;
        }
    }

    fn take_first(&mut self) {
        if let Some(op) = self.ops.pop_front() {
            self.take(op);
        }
    }

    fn take(&mut self, mut input: Input) {
        // What the user pastes by accident goes no further, and not into the log either.
        input.strike(&self.shared.keys());
        tracing::debug!(op = input.name(), session = %self.shared.id, "op");
        match input {
            Input::Prompt(turn, prompt) => {
                if self.running.is_some() {
                    self.shared.tell(Event::Queued { turn, prompt: prompt.briefly() });
                }
                if self.running.is_some() || self.undoing.is_some() {
                    self.waits(&prompt.briefly());
                }
                self.queue.push_back((turn, prompt));
                self.start_next();
            }
            Input::Op(op) => self.take_op(op),
            Input::Model(model) => {
                self.speak_to(&model);
                let name = model.name().to_owned();
                let instead_of = self.shared.settings().configured_model.clone();
                let choice = ModelChoice { name, instead_of };
                self.shared.journal.write(&Record::ModelChoice(Cow::Borrowed(&choice)));
                self.shared.change_settings(|settings| {
                    settings.model = Ok(model);
                    settings.model_choice = Some(choice);
                });
            }
            Input::Configure(new) => self.configure(*new),
            Input::Saved => {
                self.shared.saves.send_modify(|count| *count += 1);
                let shared = self.shared.clone();
                // What is on the disk no longer dies with the editor; the journal is to know that.
                tokio::spawn(async move {
                    shared.show_hunks().await;
                    shared.settle().await;
                });
            }
            Input::Moved => {
                let shared = self.shared.clone();
                tokio::spawn(async move { shared.show_hunks().await });
            }
        }
    }

    fn take_op(&mut self, op: Op) {
        match op {
            Op::Prompt(prompt) => self.take(Input::Prompt(self.shared.next_turn(), prompt)),
            Op::Steer(content) if self.running.is_some() => {
                content.iter().for_each(|part| self.waits(&part.briefly()));
                lock(&self.shared.steers).push(content);
            }
            Op::Steer(content) => {
                let prompt = Prompt { content, selection: None };
                self.queue.push_front((self.shared.next_turn(), prompt));
                self.start_next();
            }
            Op::Interrupt => match &self.running {
                Some(running) => {
                    let _ = running.interrupt.send(true);
                }
                None => self.shared.notice(Level::Info, "Nothing is running."),
            },
            Op::Accept(selection) => self.review(Review::Accept(self.meant(selection))),
            Op::Reject(selection, reason) => {
                self.review(Review::Reject(self.meant(selection), reason));
            }
            Op::Edit(hunk, text) => self.review(Review::Edit(HunkId(hunk), text)),
            Op::Undo(selection) => {
                let (done, receiver) = oneshot::channel();
                // Reviews are done in order, so the last one's end is the end of all before it.
                self.undoing = Some(receiver);
                self.review(Review::Undo(selected(selection), done));
            }
            Op::Rewind(turn) => {
                self.rewind = Some(turn);
                match &self.running {
                    // Its end is the moment: what it is doing then is not half done.
                    Some(running) => drop(running.interrupt.send(true)),
                    None => self.rewind(),
                }
            }
            Op::Rename(title) => self.shared.rename(title),
            Op::Approve(id, verdict) => {
                if !self.shared.approvals.answer(id, verdict) {
                    self.shared.notice(
                        Level::Info,
                        "Nothing waits for that approval any more; your answer changed nothing.",
                    );
                }
            }
            Op::Mode(mode) => {
                self.shared.change_settings(|settings| settings.mode = mode);
                self.shared.journal.write(&Record::Mode(mode));
                self.shared.tell(Event::ModeChanged { mode });
            }
            op => tracing::error!(op = op.name(), "what only the host can do came to a session"),
        }
    }

    /// Other settings. The date stays that of the session's start, or the prompt's prefix would change at
    /// midnight.
    fn configure(&mut self, mut new: Settings) {
        let old = self.shared.settings();
        new.facts.date.clone_from(&old.facts.date);
        if let Ok(model) = &new.model {
            let name =
                |settings: &Settings| settings.model.as_ref().ok().map(|m| m.name().to_owned());
            if name(&old) == name(&new) {
                lock(&self.shared.history).speak_to(model.clone());
            } else {
                self.speak_to(model);
            }
        }
        if old.mode != new.mode {
            self.shared.tell(Event::ModeChanged { mode: new.mode });
        }
        self.shared.change_settings(|settings| *settings = new);
    }

    fn speak_to(&self, model: &Arc<dyn Model>) {
        lock(&self.shared.history).speak_to(model.clone());
        self.shared.tell(Event::ModelChanged { model: model.name().to_owned() });
    }

    /// Words that a crash must not lose before they are taken up.
    fn waits(&self, text: &str) {
        self.shared.journal.write(&Record::Waiting(text.into()));
    }

    fn rewind(&mut self) {
        if let Some(turn) = self.rewind.take() {
            let (done, receiver) = oneshot::channel();
            self.undoing = Some(receiver);
            self.review(Review::Rewind(turn, done));
        }
    }

    /// The hunks a selection means now; those that come later are not meant.
    fn meant(&self, selection: protocol::Selection) -> Selection {
        Selection::Hunks(lock(&self.shared.fork).select(&selected(selection)))
    }

    fn review(&self, review: Review) {
        // The task that takes them lives as long as this sender.
        let _ = self.reviews.send(review);
    }

    fn start_next(&mut self) {
        if self.running.is_some() || self.undoing.is_some() {
            return;
        }
        let Some((turn, prompt)) = self.queue.pop_front() else { return };
        let (interrupt, interrupted) = watch::channel(false);
        let words = prompt.briefly();
        self.shared.begin_turn(turn, &words);
        self.shared.tell(Event::TurnStarted { turn, prompt: words });
        let task = match &self.no_key {
            Some(error) => {
                let ended = (StopReason::Error, Some(error.to_string()));
                tokio::spawn(async { ended })
            }
            None => tokio::spawn(Turn::new(self.shared.clone(), turn, interrupted).run(prompt)),
        };
        self.running = Some(Running { turn, interrupt, task });
    }

    async fn turn_ended(&mut self, ended: Result<Ended, JoinError>) {
        let Some(running) = self.running.take() else { return };
        let (stop_reason, message) = ended.unwrap_or_else(|error| {
            tracing::error!(%error, "a turn panicked");
            lock(&self.shared.history).close(Some("the turn was cut off by an internal error"));
            let message = "Ropewalk has a bug: the turn was cut off. The log has the details.";
            (StopReason::Error, Some(message.to_owned()))
        });
        self.shared.show_hunks().await;
        let ended = Record::Ended { turn: running.turn, at: now(), stop_reason };
        self.shared.journal.write(&ended);
        self.shared.settle().await;
        self.shared.tell(Event::TurnEnded { turn: running.turn, stop_reason, message });
        let late = std::mem::take(&mut *lock(&self.shared.steers));
        if !late.is_empty() {
            // Said to a turn that did not take it up: it starts one of its own, before what was queued.
            let prompt = Prompt { content: late.concat(), selection: None };
            self.queue.push_front((self.shared.next_turn(), prompt));
        }
    }
}

/// The same selection in the workspace's own words.
fn selected(selection: protocol::Selection) -> Selection {
    match selection {
        protocol::Selection::Hunks(ids) => Selection::Hunks(ids.into_iter().map(HunkId).collect()),
        protocol::Selection::File(uri) => Selection::File(DocId::from_uri(&uri)),
        protocol::Selection::Turn(turn) => Selection::Turn(turn),
        protocol::Selection::All => Selection::All,
    }
}

/// What a command did in the background enters the fork like that of any call, and the model is told with its next
/// message.
async fn take_in(shared: Arc<Shared>, finished: Finished) {
    let Finished { id, command, turn: started_in, call, view, mut output } = finished;
    if lock(&shared.turns).iter().all(|mark| mark.turn != started_in) {
        // It ended just when its turn was taken back.
        return;
    }
    // What was made by then is of the turn that goes on, or of the last one.
    let turn = lock(&shared.turns).last().map_or(0, |mark| mark.turn);
    let (_never, interrupted) = watch::channel(false);
    if !output.proposals.is_empty() {
        Turn::new(shared.clone(), turn, interrupted).merge(&call.0, &view, &mut output).await;
    }
    let keys = shared.keys();
    let text = keys.strike(output.words()).into_owned();
    let level = if output.is_error { Level::Warning } else { Level::Info };
    let words = preview(&command, PREVIEW_CHARS);
    let note = Note::BackgroundEnded { id, command: words.clone(), text };
    shared.workspace.tell(Some(shared.id.clone()), note);
    shared.notice(level, format!("The command in the background number {id} has ended: {words}"));
}

/// The end of taking a turn back; never, while none is being taken back.
async fn undone(undoing: &mut Option<oneshot::Receiver<()>>) {
    match undoing {
        // An error means that it broke down, which has been told.
        Some(done) => drop(done.await),
        None => std::future::pending().await,
    }
}

/// The answer to the question for the key; never, while there is none.
async fn known(asking: &mut Option<Asking>) -> Result<(), ModelError> {
    match asking {
        Some(asking) => asking.await,
        None => std::future::pending().await,
    }
}

/// The end of the running turn; never, while none is running.
async fn ended(running: &mut Option<Running>) -> Result<Ended, JoinError> {
    match running {
        Some(running) => (&mut running.task).await,
        None => std::future::pending().await,
    }
}
