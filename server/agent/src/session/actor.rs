//! The session's actor: takes ops in order, runs turns one at a time, keeps what waits.
//!
//! It decides nothing about what a turn does; it never waits for the user or the model.

use super::parts::SessionParts;
use super::review::{self, ReviewStep, compact_idle, selected};
use super::waits::{KeyQuestion, RunningTurn, back, ended, known, undone};
use crate::conversation::Conversation;
use crate::hooks::{StepHook, TurnOutcome};
use crate::inbox::InboxItem;
use crate::interrupt::Interrupt;
use crate::journal::record::{Record, now};
use crate::op::SessionInput;
use crate::settings::{ModelChoice, Settings};
use crate::turn::Turn;
use futures::FutureExt;
use ropewalk_model::{Model, ModelError};
use ropewalk_protocol as protocol;
use ropewalk_protocol::{Event, Level, Op, Prompt, StopReason};
use ropewalk_workspace::{HunkId, HunkSelection};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::{mpsc, oneshot, watch};

/// See the module.
pub(super) struct Actor {
    parts: Arc<SessionParts>,
    hooks: Arc<[Arc<dyn StepHook>]>,
    /// None while a turn or a rewind has it.
    conversation: Option<Conversation>,
    /// Inputs that are not taken yet. The first of them waits while a key is asked for.
    ops: VecDeque<SessionInput>,
    asking: Option<KeyQuestion>,
    /// Why there is no key for the op that is taken.
    no_key: Option<ModelError>,
    queue: VecDeque<(u64, Prompt)>,
    running: Option<RunningTurn>,
    /// The turn to take back as soon as none is running.
    rewind: Option<u64>,
    /// The conversation on its way back from a rewind, or a compaction between turns.
    rewinding: Option<oneshot::Receiver<Box<Conversation>>>,
    /// Stops a compaction between turns.
    compacting: Option<watch::Sender<bool>>,
    /// The end of an undo, during which no turn starts: its first message tells of it.
    undoing: Option<oneshot::Receiver<()>>,
    reviews: mpsc::UnboundedSender<ReviewStep>,
}

impl Actor {
    /// An actor that waits for ops; its reviews are done from here on.
    pub(super) fn new(
        parts: Arc<SessionParts>,
        hooks: Arc<[Arc<dyn StepHook>]>,
        conversation: Conversation,
    ) -> Self {
        let (reviews, receiver) = mpsc::unbounded_channel();
        tokio::spawn(review::run(parts.clone(), receiver).boxed());
        Self {
            parts,
            hooks,
            conversation: Some(conversation),
            ops: VecDeque::new(),
            asking: None,
            no_key: None,
            queue: VecDeque::new(),
            running: None,
            rewind: None,
            rewinding: None,
            compacting: None,
            undoing: None,
            reviews,
        }
    }

    /// Takes ops until nobody can send any more.
    pub(super) async fn run(mut self, mut ops: mpsc::UnboundedReceiver<SessionInput>) {
        self.parts.tell_started();
        self.parts.todos.session_begins();
        self.parts.changes.show().await;
        let runner = self.parts.runner.clone();
        loop {
            tokio::select! {
                biased;
                ended = ended(&mut self.running) => {
                    self.turn_ended(ended).await;
                    self.rewind();
                    self.start_next();
                }
                conversation = back(&mut self.rewinding) => {
                    (self.rewinding, self.compacting) = (None, None);
                    self.conversation = Some(conversation);
                    self.rewind();
                    self.start_next();
                }
                () = undone(&mut self.undoing) => {
                    self.undoing = None;
                    self.start_next();
                }
                finished = runner.finished() => self.review(ReviewStep::Finished(Box::new(finished))),
                known = known(&mut self.asking) => {
                    self.asking = None;
                    self.no_key = known.err();
                    self.take_first();
                    self.no_key = None;
                }
                op = ops.recv() => match op {
                    // The prompt that waits for the key is stopped. Its words are kept, as they are: nobody
                    // has said what the key is.
                    Some(SessionInput::Op(Op::Interrupt(None))) if self.asking.take().is_some() => {
                        self.take_first();
                        self.take(SessionInput::Op(Op::Interrupt(None)));
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
            let settings = self.parts.settings.get();
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

    fn take(&mut self, mut input: SessionInput) {
        // A key that the user pastes by accident goes no further, and not into the log either.
        input.redact(&self.parts.settings.keys());
        tracing::debug!(op = input.name(), session = %self.parts.id, "op");
        match input {
            SessionInput::Prompt(turn, prompt) => {
                self.keep_waiting(turn, &prompt);
                self.queue.push_back((turn, prompt));
                self.start_next();
            }
            SessionInput::Unqueue(turn, done) => drop(done.send(self.unqueue(turn))),
            SessionInput::Op(op) => self.take_op(op),
            SessionInput::Model(model) => {
                self.choose(model);
            }
            SessionInput::Configure(new) => self.configure(*new),
            SessionInput::Bundle(work) => self.review(ReviewStep::Bundle(work)),
            SessionInput::Saved => {
                self.parts.approvals.saved();
                let parts = self.parts.clone();
                // Text on the disk no longer dies with the editor; the journal is to know that.
                tokio::spawn(
                    async move {
                        parts.changes.show().await;
                        parts.settle().await;
                    }
                    .boxed(),
                );
            }
            SessionInput::Moved => {
                let parts = self.parts.clone();
                tokio::spawn(async move { parts.changes.show().await }.boxed());
            }
        }
    }

    fn take_op(&mut self, op: Op) {
        match op {
            Op::Prompt(prompt) => self.take(SessionInput::Prompt(self.parts.next_turn(), prompt)),
            Op::Steer(content) if self.running.is_some() => {
                content.iter().for_each(|part| self.waits(&part.briefly()));
                self.parts.inbox.put(InboxItem::Words(content));
            }
            Op::Steer(content) => {
                let prompt = Prompt { content, selection: None };
                let turn = self.parts.next_turn();
                self.keep_waiting(turn, &prompt);
                self.queue.push_front((turn, prompt));
                self.start_next();
            }
            Op::Interrupt(Some(thread)) => {
                if !self.parts.threads.stop(&thread) {
                    self.parts.events.notice(Level::Info, "No such subagent is at work.");
                }
            }
            Op::Interrupt(None) => match &self.running {
                Some(running) => {
                    let _ = running.interrupt.send(true);
                }
                None => match self.compacting.take() {
                    Some(stop) => drop(stop.send(true)),
                    None => self.parts.events.nothing_done("Nothing is running."),
                },
            },
            Op::Accept(selection) => self.review(ReviewStep::Accept(self.meant(selection))),
            Op::Reject(selection, reason) => {
                self.review(ReviewStep::Reject(self.meant(selection), reason));
            }
            Op::Edit(hunk, text) => self.review(ReviewStep::Edit(HunkId(hunk), text)),
            Op::Undo(selection) => {
                let (done, receiver) = oneshot::channel();
                // Reviews are done in order, so the last one's end is the end of all before it.
                self.undoing = Some(receiver);
                self.review(ReviewStep::Undo(selected(selection), done));
            }
            Op::Rewind(turn) => {
                self.rewind = Some(turn);
                match &self.running {
                    // Its end is the moment: what it is doing then is not half done.
                    Some(running) => drop(running.interrupt.send(true)),
                    None => self.rewind(),
                }
            }
            Op::Compact(focus) => self.compact(focus),
            Op::Rename(title) => self.parts.rename(title),
            Op::Approve(id, verdict) => {
                if !self.parts.approvals.answer(id, verdict) {
                    self.parts.events.notice(
                        Level::Info,
                        "Nothing waits for that approval any more; your answer changed nothing.",
                    );
                }
            }
            Op::Mode(mode) => self.parts.set_mode(mode),
            op => tracing::error!(op = op.name(), "what only the host can do came to a session"),
        }
    }

    /// The user has chosen a model. A running turn follows with its next step.
    fn choose(&mut self, model: Arc<dyn Model>) {
        let name = model.name().to_owned();
        let instead_of = self.parts.settings.get().configured_model.clone();
        let choice = ModelChoice { name: name.clone(), instead_of };
        self.parts.settings.change(|settings| {
            settings.model = Ok(model);
            settings.model_choice = Some(choice.clone());
        });
        if let Some(conversation) = &mut self.conversation {
            conversation.follow(&self.parts.settings.get());
        }
        self.parts.events.tell(Event::ModelChanged { model: name });
        self.parts.journal.write(&Record::ModelChoice(Cow::Borrowed(&choice)));
    }

    /// Other settings. The identity stays, and the date of the session's start: else the prompt's prefix would change at
    /// midnight.
    fn configure(&mut self, mut new: Settings) {
        let old = self.parts.settings.get();
        new.facts.date.clone_from(&old.facts.date);
        new.facts.identity.clone_from(&old.facts.identity);
        if let Some(conversation) = &mut self.conversation {
            conversation.follow(&new);
        }
        let name = |settings: &Settings| settings.model.as_ref().ok().map(|m| m.name().to_owned());
        if let (now, Some(model)) = (name(&old), name(&new))
            && now.as_ref() != Some(&model)
        {
            self.parts.events.tell(Event::ModelChanged { model });
        }
        if old.mode != new.mode {
            self.parts.events.tell(Event::ModeChanged { mode: new.mode });
        }
        self.parts.settings.change(|settings| *settings = new);
    }

    /// Takes a prompt back that waits, and gives its words.
    fn unqueue(&mut self, turn: u64) -> Option<String> {
        let at = self.queue.iter().position(|(waiting, _)| *waiting == turn)?;
        let (_, prompt) = self.queue.remove(at)?;
        let words = prompt.briefly();
        self.parts.journal.write(&Record::Unqueued(words.as_str().into()));
        Some(words)
    }

    /// Keeps the words of a prompt if it can't begin at once, and says so where that may take a while.
    fn keep_waiting(&self, turn: u64, prompt: &Prompt) {
        if self.running.is_some() || self.compacting.is_some() {
            self.parts.events.tell(Event::Queued { turn, prompt: prompt.briefly() });
        }
        if self.conversation.is_none() || self.undoing.is_some() {
            self.waits(&prompt.briefly());
        }
    }

    /// Words that a crash must not lose before they are taken up.
    fn waits(&self, text: &str) {
        self.parts.journal.write(&Record::Waiting(text.into()));
    }

    /// Takes back the turn that is to be taken back, unless the conversation has to come back first.
    fn rewind(&mut self) {
        if self.conversation.is_none() {
            return;
        }
        let Some(turn) = self.rewind.take() else { return };
        let Some(conversation) = self.conversation.take() else { return };
        let (back, receiver) = oneshot::channel();
        self.rewinding = Some(receiver);
        self.review(ReviewStep::Rewind(turn, Box::new(conversation), back));
    }

    /// Has the conversation compacted: before the next step of a running turn, else now.
    fn compact(&mut self, focus: Option<String>) {
        if !self.parts.settings.get().mechanisms.compaction {
            let words = "Compaction is switched off (`mechanisms.compaction`).";
            return self.parts.events.notice(Level::Info, words);
        }
        let Some(conversation) = self.conversation.take() else {
            return self.parts.wish.want(focus);
        };
        let (back, receiver) = oneshot::channel();
        let (stop, stopped) = watch::channel(false);
        (self.rewinding, self.compacting) = (Some(receiver), Some(stop));
        let interrupt = Interrupt(Some(stopped));
        tokio::spawn(
            compact_idle(self.parts.clone(), conversation, focus, (interrupt, back)).boxed(),
        );
    }

    /// The hunks a selection means now; those that come later are not meant.
    fn meant(&self, selection: protocol::Selection) -> HunkSelection {
        HunkSelection::Hunks(self.parts.changes.select(&selected(selection)))
    }

    fn review(&self, review: ReviewStep) {
        // The task that takes them lives as long as this sender.
        let _ = self.reviews.send(review);
    }

    fn start_next(&mut self) {
        if self.conversation.is_none() || self.undoing.is_some() {
            return;
        }
        let Some((turn, prompt)) = self.queue.pop_front() else { return };
        let Some(mut conversation) = self.conversation.take() else { return };
        let (interrupt, interrupted) = watch::channel(false);
        let words = prompt.briefly();
        let todos = self.parts.todos.list();
        conversation.begin_turn(turn, &words, self.parts.changes.keep(), todos);
        self.parts.events.tell(Event::TurnStarted { turn, prompt: words });
        self.parts.todos.turn_begins(turn);
        let task = match &self.no_key {
            Some(error) => {
                let outcome = TurnOutcome::told(StopReason::Error, error.to_string());
                tokio::spawn(async { (conversation, outcome) }.boxed())
            }
            None => {
                let interrupt = Interrupt(Some(interrupted));
                let turn = Turn::new(
                    (self.parts.clone(), self.hooks.clone()),
                    turn,
                    interrupt,
                    conversation,
                );
                tokio::spawn(turn.run(prompt).boxed())
            }
        };
        self.running = Some(RunningTurn { turn, interrupt, task });
    }

    async fn turn_ended(&mut self, (mut conversation, outcome): (Conversation, TurnOutcome)) {
        let Some(running) = self.running.take() else { return };
        conversation.follow(&self.parts.settings.get());
        self.conversation = Some(conversation);
        let TurnOutcome { stop_reason, message } = outcome;
        self.parts.changes.show().await;
        let ended = Record::Ended { turn: running.turn, at: now(), stop_reason };
        self.parts.journal.write(&ended);
        self.parts.settle().await;
        self.parts.events.tell(Event::TurnEnded { turn: running.turn, stop_reason, message });
        let late = self.parts.inbox.take_words();
        if !late.is_empty() {
            // Said to a turn that did not take it up: it starts one of its own, before what was queued.
            let prompt = Prompt { content: late.concat(), selection: None };
            self.queue.push_front((self.parts.next_turn(), prompt));
        }
    }
}
