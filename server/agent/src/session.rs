//! The session: ops in, events out, one turn at a time.
//!
//! Here is what a front end holds of it. The actor that takes the ops is in `actor`, what its parts share in
//! `shared`; what the loop does is in `turn`.

mod actor;
mod review;
pub(crate) mod shared;

use crate::approval::Choices;
use crate::budget::NO_BOUND;
use crate::event::Event;
use crate::journal::Journal;
use crate::journal::past::{Past, TurnMark};
use crate::op::{Op, Prompt};
use crate::prompt::PromptFacts;
use actor::Actor;
use ropewalk_model::{Model, Money, Spent};
use ropewalk_tools::commands::CommandSettings;
use ropewalk_tools::{Mode, Registry, Rule, Rules};
use ropewalk_workspace::publish::Bounds;
use ropewalk_workspace::{Editor, Workspace};
use shared::{Shared, lock};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Where a turn, a step or an output must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most steps of a turn.
    pub steps: u32,
    /// Most output tokens of a step.
    pub output_tokens: u32,
    /// Most characters of a tool result.
    pub tool_output: usize,
    /// Most seconds of a command.
    pub command_seconds: u64,
    /// Most identical failing calls in a row.
    pub identical_failures: u32,
    /// The budget of a turn, in tokens read and written.
    pub turn_tokens: u64,
    /// That of a session, which is renewed when the user goes on.
    pub session_tokens: u64,
    /// The budget of a turn, in money.
    pub turn_money: Money,
    /// That of a session, likewise renewed.
    pub session_money: Money,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 50,
            output_tokens: 8_000,
            tool_output: 50_000,
            command_seconds: 120,
            identical_failures: 3,
            turn_tokens: u64::MAX,
            session_tokens: u64::MAX,
            turn_money: NO_BOUND,
            session_money: NO_BOUND,
        }
    }
}

/// Writes an allow rule where it holds for always; the error is a sentence.
pub type KeepRule = Arc<dyn Fn(&Rule) -> Result<(), String> + Send + Sync>;

/// What of a session may change while it lives.
#[derive(Clone)]
pub struct Settings {
    /// The model, or a sentence that says what to set up.
    pub model: Result<Arc<dyn Model>, String>,
    /// The tools.
    pub registry: Registry,
    /// When changes reach the editor.
    pub mode: Mode,
    /// What runs without being asked for, what is always asked for, what never runs.
    pub rules: Rules,
    /// Keeps a rule for always; None where that can't be done. It may touch the disk.
    pub always: Option<KeepRule>,
    /// The bounds.
    pub limits: Limits,
    /// How commands run; what it says when the session starts holds as long as it lives.
    pub commands: CommandSettings,
    /// What the system prompt is made of, apart from tools and roots.
    pub facts: PromptFacts,
    /// Whether somebody is there to be asked.
    pub interactive: bool,
    /// The variables of the environment that hold keys: no command gets them.
    pub secrets: Arc<[String]>,
}

/// What a session starts with.
pub struct SessionConfig {
    /// Its id.
    pub id: Arc<str>,
    /// What may change later.
    pub settings: Settings,
    /// Where whole outputs of calls are kept.
    pub outputs: Option<PathBuf>,
    /// The bounds of a publish.
    pub publish: Bounds,
    /// Where it is kept.
    pub journal: Journal,
    /// What it goes on from, which that journal has.
    pub past: Option<Past>,
}

/// A running session. When the last handle is dropped, its turn is interrupted and it ends.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
    ops: mpsc::UnboundedSender<Op>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

impl Session {
    /// Starts a session on the current tokio runtime. Its events go to `events`, in order. One that goes on
    /// looks at the disk for its pending changes. Blocking then.
    pub fn start(
        config: SessionConfig,
        workspace: Arc<Workspace>,
        editor: Arc<dyn Editor>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Session {
        let (ops, receiver) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared::new(config, workspace, editor, events));
        tokio::spawn(Actor::new(shared.clone()).run(receiver));
        Session { shared, ops }
    }

    /// Its id.
    pub fn id(&self) -> &Arc<str> {
        &self.shared.id
    }

    /// The keys that are in no text of it: what goes to a log is struck of them.
    pub fn keys(&self) -> ropewalk_model::Keys {
        self.shared.keys()
    }

    /// Sends an op. Ops take effect in order.
    pub fn send(&self, op: Op) {
        // The actor lives as long as a handle does.
        let _ = self.ops.send(op);
    }

    /// Sends a prompt and gives the turn it will be.
    pub fn prompt(&self, prompt: Prompt) -> u64 {
        let turn = self.shared.next_turn();
        self.send(Op::Prompt(turn, prompt));
        turn
    }

    /// The mode now.
    pub fn mode(&self) -> Mode {
        self.shared.settings().mode
    }

    /// The name of the model now, or what to set up.
    pub fn model(&self) -> Result<String, String> {
        self.shared
            .settings()
            .model
            .as_ref()
            .map(|model| model.name().to_owned())
            .map_err(Clone::clone)
    }

    /// The pending hunks, in sync with the user's text as it is now.
    pub fn hunks(&self) -> Vec<ropewalk_workspace::Hunk> {
        let mut fork = lock(&self.shared.fork);
        fork.sync(&self.shared.workspace);
        fork.hunks()
    }

    /// The net change that is pending, as a unified diff.
    pub fn diff(&self) -> String {
        let mut fork = lock(&self.shared.fork);
        fork.sync(&self.shared.workspace);
        fork.diff()
    }

    /// The approvals that wait, oldest first, and what may be said to each.
    pub fn waiting_approvals(&self) -> Vec<(u64, Choices)> {
        self.shared.approvals.waiting()
    }

    /// Everything said so far.
    pub fn messages(&self) -> Vec<ropewalk_model::Message> {
        lock(&self.shared.history).messages().cloned().collect()
    }

    /// Its name: the user's, or the start of the first prompt; empty while there is neither.
    pub fn title(&self) -> String {
        self.shared.title()
    }

    /// Its turns, oldest first.
    pub fn turns(&self) -> Vec<TurnMark> {
        lock(&self.shared.turns).clone()
    }

    /// Whether nothing was asked yet and nothing is pending: another can take its place.
    pub fn is_fresh(&self) -> bool {
        !self.shared.was_asked() && lock(&self.shared.fork).is_empty()
    }

    /// Tokens used so far, and what they cost.
    pub fn spent(&self) -> Spent {
        *lock(&self.shared.spent)
    }
}
