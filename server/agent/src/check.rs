//! The check: before a turn ends, a look at whether its todos are done, the editor shows no new errors, and `verify`
//! passes. What is found goes back to the model in one message, a few times at most.
//!
//! It decides nothing about a turn that ends otherwise than by the model's own word.

mod errors;
mod verify;
mod words;

use crate::calls::ModelCall;
use crate::conversation::Conversation;
use crate::hooks::{StepHook, TurnOutcome};
use crate::journal::record::Record;
use crate::session::parts::SessionParts;
use errors::{Baseline, ErrorLine, new_errors};
use futures::future::BoxFuture;
use ropewalk_model::{ModelReply, ModelStop};
use ropewalk_protocol::{CheckReport, Content, Event, TodoList};
use ropewalk_tools::ToolOutput;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use verify::{Verified, verify};

/// See the module.
pub(crate) struct Check {
    parts: Arc<SessionParts>,
    state: Mutex<CheckState>,
}

/// The work as it stands: how often calls have changed files, and the todos.
type WorkState = (u64, TodoList);

#[derive(Default)]
struct CheckState {
    turn: u64,
    /// Changes of files before the turn.
    changes_before: u64,
    /// Set once the turn has made a call.
    has_called: bool,
    /// Errors that the editor showed before the turn.
    errors: Baseline,
    /// Reports of the turn, runs of `verify` in it, and how often the model was sent back.
    reports: u32,
    runs: u32,
    rounds: u32,
    told_todos: bool,
    asked_self: bool,
    /// The work when the model was told last.
    told: Option<WorkState>,
    /// Changes of files when `verify` ran last, in whatever turn, and what it printed if it failed.
    verified: u64,
    failure: Option<String>,
    /// True if it had failed when the turn began.
    failed_before: bool,
}

/// Findings of one look.
#[derive(Default)]
struct Findings {
    /// True if there was anything to look at.
    has_looked: bool,
    todos: TodoList,
    errors: Vec<ErrorLine>,
    verified: Option<Verified>,
}

impl Check {
    pub(crate) fn new(parts: Arc<SessionParts>) -> Self {
        Self { parts, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, CheckState> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_on(&self) -> bool {
        self.parts.settings.get().mechanisms.check
    }

    fn turn_begins(&self, turn: u64) {
        if self.state().turn == turn {
            return;
        }
        let changes_before = self.parts.changes.work_begins();
        let errors = Baseline::look(self.parts.changes.editor());
        let mut state = self.state();
        *state = CheckState {
            turn,
            changes_before,
            errors,
            verified: state.verified,
            failed_before: state.failure.is_some(),
            failure: state.failure.take(),
            ..CheckState::default()
        };
    }

    fn work(&self) -> WorkState {
        (self.parts.changes.merges(), self.parts.todos.list())
    }

    /// Looks, tells what is found, and gives what the model is sent back with.
    async fn look(&self) -> Option<Vec<Content>> {
        let work = self.work();
        if self.state().told.as_ref() == Some(&work) {
            return None;
        }
        let findings = self.find(&work).await;
        let report = self.report(&findings);
        let turn = self.state().turn;
        if let Some(report) = &report {
            let record = Record::Check { turn, report: Cow::Borrowed(report) };
            self.parts.journal.write(&record);
            self.parts.events.tell(Event::Check { turn, report: report.clone() });
        }
        let words = self.words(&findings)?;
        self.state().told = Some(work);
        Some(vec![Content::text(words)])
    }

    async fn find(&self, work: &WorkState) -> Findings {
        let (changes, list) = work;
        let mut findings = Findings::default();
        if self.parts.todos.is_touched() {
            (findings.has_looked, findings.todos) = (true, list.clone());
        }
        let baseline = self.state().errors.clone();
        if let Some(errors) = new_errors(&self.parts, &baseline).await {
            (findings.has_looked, findings.errors) = (true, errors);
        }
        let (run, is_due) = {
            let mut state = self.state();
            state.runs += 1;
            (state.runs, *changes > state.changes_before.max(state.verified))
        };
        let turn = self.state().turn;
        if is_due && let Some(verified) = verify(&self.parts, turn, run).await {
            findings.has_looked |= !matches!(verified, Verified::Unknown);
            let mut state = self.state();
            state.verified = *changes;
            state.failure = verified.failure();
            findings.verified = Some(verified);
        }
        findings
    }

    /// The report of a look, if there was anything to look at.
    fn report(&self, findings: &Findings) -> Option<CheckReport> {
        if !findings.has_looked {
            return None;
        }
        let keys = self.parts.settings.keys();
        let mut state = self.state();
        state.reports += 1;
        let todos = findings.todos.open();
        let errors: Vec<String> = findings
            .errors
            .iter()
            .map(|error| keys.redact(&error.to_string()).into_owned())
            .collect();
        // Where it was not run again, it fails as it did.
        let has_run = state.verified > state.changes_before;
        let verify = state.failure.clone().filter(|_| has_run);
        let passed = todos == 0 && errors.is_empty() && verify.is_none();
        Some(CheckReport { round: state.reports, todos, errors, verify, passed })
    }

    /// Words for the model, if it is to be sent back.
    fn words(&self, findings: &Findings) -> Option<String> {
        let settings = self.parts.settings.get();
        let mut state = self.state();
        let mut parts = Vec::new();
        let todos = &findings.todos;
        if todos.open() > 0 && !state.told_todos {
            parts.push(words::todos(todos));
        }
        if !findings.errors.is_empty() {
            parts.push(words::errors(&findings.errors));
        }
        if let Some(Verified::Failed { command, printed }) = &findings.verified {
            parts.push(words::verify(command, printed, state.failed_before));
        }
        let is_sent = !parts.is_empty() && state.rounds < settings.limits.mechanisms.check_rounds;
        if is_sent {
            state.rounds += 1;
            state.told_todos |= todos.open() > 0;
        } else {
            parts.clear();
        }
        let asks = settings.check_self && state.has_called && !state.asked_self;
        state.asked_self |= asks;
        words::message(&parts, asks)
    }
}

impl StepHook for Check {
    fn before_step<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        _: bool,
    ) -> BoxFuture<'a, Result<(), TurnOutcome>> {
        if let (true, Some(turn)) = (self.is_on(), conversation.turns.last()) {
            self.turn_begins(turn.turn);
        }
        Box::pin(async { Ok(()) })
    }

    fn after_call<'a>(&'a self, _: &'a ModelCall, _: &'a mut ToolOutput) -> BoxFuture<'a, ()> {
        self.state().has_called = true;
        Box::pin(async {})
    }

    fn at_stop<'a>(
        &'a self,
        _: &'a Conversation,
        reply: &'a ModelReply,
    ) -> BoxFuture<'a, Option<Vec<Content>>> {
        Box::pin(async move {
            match reply.stop_reason {
                ModelStop::EndTurn if self.is_on() => self.look().await,
                _ => None,
            }
        })
    }
}
