//! The session's actor: takes ops in order, runs turns one at a time, keeps what waits.
//!
//! It decides nothing about what a turn does; it never waits for the user or the model.

use super::Settings;
use super::review::{self, Review};
use super::shared::{Shared, lock};
use crate::event::{Event, Level, StopReason};
use crate::journal::record::{Record, now};
use crate::op::{Op, Prompt};
use crate::turn::{Ended, Turn};
use futures::future::BoxFuture;
use ropewalk_model::{Model, ModelError};
use ropewalk_tools::Registry;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::commands::Finished;
use ropewalk_workspace::{Note, Selection};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinError;

/// See the module.
pub(super) struct Actor {
    shared: Arc<Shared>,
    /// What was asked for and is not taken yet. The first of it waits while a key is asked for.
    ops: VecDeque<Op>,
    asking: Option<Asking>,
    /// Why there is no key for the op that is taken.
    no_key: Option<ModelError>,
    queue: VecDeque<(u64, Prompt)>,
    running: Option<Running>,
    /// The turn to take back as soon as none is running.
    rewind: Option<u64>,
    /// The end of taking a turn back, during which none starts.
    rewinding: Option<oneshot::Receiver<()>>,
    reviews: mpsc::UnboundedSender<Review>,
    /// The tools of earlier settings. What they hold, such as commands left in the background, lives as long
    /// as the session.
    retired: Vec<Registry>,
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
            rewinding: None,
            reviews,
            retired: Vec::new(),
        }
    }

    /// Takes ops until nobody can send any more.
    pub(super) async fn run(mut self, mut ops: mpsc::UnboundedReceiver<Op>) {
        self.shared.tell(Event::SessionStarted {
            title: self.shared.title(),
            turns: lock(&self.shared.turns).len() as u64,
        });
        self.shared.show_hunks().await;
        let commands = self.shared.commands.clone();
        loop {
            tokio::select! {
                biased;
                ended = ended(&mut self.running) => {
                    self.turn_ended(ended).await;
                    self.rewind();
                    self.start_next();
                }
                () = rewound(&mut self.rewinding) => {
                    self.rewinding = None;
                    self.start_next();
                }
                finished = commands.next_finished() => {
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
                    Some(Op::Interrupt) if self.asking.take().is_some() => {
                        self.take_first();
                        self.take(Op::Interrupt);
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

    fn take(&mut self, mut op: Op) {
        // What the user pastes by accident goes no further, and not into the log either.
        op.strike(&self.shared.keys());
        tracing::debug!(?op, session = %self.shared.id, "op");
        match op {
            Op::Prompt(turn, prompt) => {
                if self.running.is_some() || self.rewinding.is_some() {
                    self.waits(&prompt.text);
                    self.shared.tell(Event::Queued { turn, prompt: prompt.text.clone() });
                }
                self.queue.push_back((turn, prompt));
                self.start_next();
            }
            Op::Steer(text) if self.running.is_some() => {
                self.waits(&text);
                lock(&self.shared.steers).push(text);
            }
            Op::Steer(text) => {
                self.queue.push_front((self.shared.next_turn(), Prompt::new(text)));
                self.start_next();
            }
            Op::Interrupt => match &self.running {
                Some(running) => {
                    let _ = running.interrupt.send(true);
                }
                None => self.shared.notice(Level::Info, "No turn is running."),
            },
            Op::Accept(selection) => self.review(Review::Accept(self.meant(&selection))),
            Op::Reject(selection, reason) => {
                self.review(Review::Reject(self.meant(&selection), reason));
            }
            Op::Edit(hunk, text) => self.review(Review::Edit(hunk, text)),
            Op::Undo(selection) => self.review(Review::Undo(selection)),
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
                self.shared.tell(Event::ModeChanged { mode: mode.to_string() });
            }
            Op::Model(model) => {
                self.speak_to(&model);
                self.shared.change_settings(|settings| settings.model = Ok(model));
            }
            Op::Configure(new) => self.configure(*new),
            Op::Saved => {
                self.shared.saves.send_modify(|count| *count += 1);
                let shared = self.shared.clone();
                // What is on the disk no longer dies with the editor; the journal is to know that.
                tokio::spawn(async move {
                    shared.show_hunks().await;
                    shared.settle().await;
                });
            }
            Op::Moved => {
                let shared = self.shared.clone();
                tokio::spawn(async move { shared.show_hunks().await });
            }
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
            self.shared.tell(Event::ModeChanged { mode: new.mode.to_string() });
        }
        self.retired.push(old.registry.clone());
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
            self.rewinding = Some(receiver);
            self.review(Review::Rewind(turn, done));
        }
    }

    /// The hunks a selection means now; those that come later are not meant.
    fn meant(&self, selection: &Selection) -> Selection {
        Selection::Hunks(lock(&self.shared.fork).select(selection))
    }

    fn review(&self, review: Review) {
        // The task that takes them lives as long as this sender.
        let _ = self.reviews.send(review);
    }

    fn start_next(&mut self) {
        if self.running.is_some() || self.rewinding.is_some() {
            return;
        }
        let Some((turn, prompt)) = self.queue.pop_front() else { return };
        let (interrupt, interrupted) = watch::channel(false);
        self.shared.begin_turn(turn, &prompt.text);
        self.shared.tell(Event::TurnStarted { turn, prompt: prompt.text.clone() });
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
            self.queue.push_front((self.shared.next_turn(), Prompt::new(late.join("\n"))));
        }
    }
}

/// What a command did in the background enters the fork like that of any call, and the model is told with its next
/// message.
async fn take_in(shared: Arc<Shared>, finished: Finished) {
    let Finished { id, command, call, view, mut output } = finished;
    // What was made by then is of the turn that goes on, or of the last one.
    let turn = lock(&shared.turns).last().map_or(0, |mark| mark.turn);
    let (_never, interrupted) = watch::channel(false);
    if !output.proposals.is_empty() {
        Turn::new(shared.clone(), turn, interrupted).merge(&call, &view, &mut output).await;
    }
    shared.keys().strike_in(&mut output.text);
    let level = if output.is_error { Level::Warning } else { Level::Info };
    let words = preview(&command, PREVIEW_CHARS);
    let note = Note::BackgroundEnded { id, command: words.clone(), text: output.text };
    shared.workspace.tell(Some(shared.id.clone()), note);
    shared.notice(level, format!("The command in the background number {id} has ended: {words}"));
}

/// The end of taking a turn back; never, while none is being taken back.
async fn rewound(rewinding: &mut Option<oneshot::Receiver<()>>) {
    match rewinding {
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
