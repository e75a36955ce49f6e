//! The session: ops in, events out, one turn at a time.
//!
//! Here is what a front end holds of it. The actor that takes the ops is in `actor`, its parts are in
//! `parts`; what the loop does is in `turn`.

mod actor;
pub(crate) mod parts;
mod review;

use crate::hooks::StepHook;
use crate::journal::Journal;
use crate::journal::past::{Past, TurnMark};
use crate::mechanisms;
use crate::op::Input;
use crate::prompt::PromptFacts;
use crate::tools::load_skill::LoadSkill;
use actor::Actor;
use parts::{Beginning, Parts};
use ropewalk_model::Model;
use ropewalk_protocol::{Approval, Event, Mechanisms, Mode, Op, Prompt, SessionLimits, Spent};
use ropewalk_tools::{CommandRunner, Registry, Rule, Rules, TypedTool as _};
use ropewalk_workspace::publish::Bounds;
use ropewalk_workspace::{Editor, Workspace};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::mpsc;

/// Writes an allow rule where it holds for always; the error is a sentence.
pub type KeepRule = Arc<dyn Fn(&Rule) -> Result<(), String> + Send + Sync>;

/// What of a session may change while it lives.
#[derive(Clone)]
pub struct Settings {
    /// The model, or a sentence that says what to set up.
    pub model: Result<Arc<dyn Model>, String>,
    /// The name of the model that the configuration names.
    pub configured_model: Option<String>,
    /// The user's choice of a model by command, if they made one and it still holds.
    pub model_choice: Option<ModelChoice>,
    /// Names of the tools that are offered; None offers all that the session has.
    pub tools: Option<Vec<String>>,
    /// When changes reach the editor.
    pub mode: Mode,
    /// What runs without being asked for, what is always asked for, what never runs.
    pub rules: Rules,
    /// Keeps a rule for always; None where that can't be done. It may touch the disk.
    pub always: Option<KeepRule>,
    /// The bounds.
    pub limits: SessionLimits,
    /// Which mechanisms are on.
    pub mechanisms: Mechanisms,
    /// The user's folders that may hold skills and prompt commands, the first before the others.
    pub user_folders: Arc<[PathBuf]>,
    /// What the system prompt is made of, apart from tools and roots.
    pub facts: PromptFacts,
    /// Whether somebody is there to be asked.
    pub interactive: bool,
    /// The variables of the environment that hold keys: no command gets them.
    pub secrets: Arc<[String]>,
}

impl Settings {
    /// True if the tool of this name may be offered.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|offered| offered.iter().any(|name| name == tool))
    }

    /// True if skills are switched on, and the tool that loads them is.
    pub(crate) fn offers_skills(&self) -> bool {
        self.mechanisms.skills && self.offers(LoadSkill::NAME)
    }
}

/// A model chosen by command. It holds until the configuration names another model than it did then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelChoice {
    /// The whole name, `provider/name`.
    pub name: String,
    /// The name that the configuration had then.
    pub instead_of: Option<String>,
}

/// What a session starts with.
pub struct SessionConfig {
    /// Its id.
    pub id: Arc<str>,
    /// What may change later.
    pub settings: Settings,
    /// Its tools, made of what it has.
    pub tools: Registry,
    /// Runs its commands.
    pub runner: Arc<dyn CommandRunner>,
    /// Where whole outputs of calls are kept.
    pub outputs: Option<PathBuf>,
    /// The bounds of a publish.
    pub publish: Bounds,
    /// Where it is kept.
    pub journal: Journal,
    /// What it goes on from, which that journal has.
    pub past: Option<Past>,
    /// The number of the last approval, of all sessions that number theirs together.
    pub approvals: Arc<AtomicU64>,
}

/// A running session. When the last handle is dropped, its turn is interrupted and it ends.
#[derive(Clone)]
pub struct Session {
    parts: Arc<Parts>,
    not_restored: Arc<[String]>,
    inputs: mpsc::UnboundedSender<Input>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.parts.id).finish_non_exhaustive()
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
        Self::start_with(config, workspace, editor, events, Vec::new())
    }

    /// The same, with hooks that its turns run in this order, after those of the mechanisms.
    pub fn start_with(
        config: SessionConfig,
        workspace: Arc<Workspace>,
        editor: Arc<dyn Editor>,
        events: mpsc::UnboundedSender<Event>,
        hooks: Vec<Arc<dyn StepHook>>,
    ) -> Session {
        let (inputs, receiver) = mpsc::unbounded_channel();
        let beginning = Beginning::new(config, (workspace, editor), events);
        let (parts, not_restored) = (Arc::new(beginning.parts), beginning.not_restored.into());
        let hooks = mechanisms::hooks(&parts).into_iter().chain(hooks).collect();
        tokio::spawn(Actor::new(parts.clone(), hooks, beginning.conversation).run(receiver));
        Session { parts, not_restored, inputs }
    }

    /// Its id.
    pub fn id(&self) -> &Arc<str> {
        &self.parts.id
    }

    /// The keys that are in no text of it: what goes to a log is struck of them.
    pub fn keys(&self) -> ropewalk_model::Keys {
        self.parts.settings.keys()
    }

    /// Asks for something. Requests take effect in order.
    pub fn send(&self, op: Op) {
        match op {
            Op::Prompt(prompt) => drop(self.prompt(prompt)),
            op => self.put(Input::Op(op)),
        }
    }

    /// Sends a prompt and gives the turn it will be.
    pub fn prompt(&self, prompt: Prompt) -> u64 {
        let turn = self.parts.next_turn();
        self.put(Input::Prompt(turn, prompt));
        turn
    }

    /// Changes the model from the next step on.
    pub fn speak_to(&self, model: Arc<dyn Model>) {
        self.put(Input::Model(model));
    }

    /// Gives it other limits or rules, or offers other tools, from the next step on.
    pub fn configure(&self, settings: Settings) {
        self.put(Input::Configure(Box::new(settings)));
    }

    /// Tells it that a document was saved: a call may be waiting for that.
    pub fn saved(&self) {
        self.put(Input::Saved);
    }

    /// Tells it that the user's text has moved: pending hunks may stand elsewhere.
    pub fn moved(&self) {
        self.put(Input::Moved);
    }

    fn put(&self, input: Input) {
        // The actor lives as long as a handle does.
        let _ = self.inputs.send(input);
    }

    /// The mode now.
    pub fn mode(&self) -> Mode {
        self.parts.settings.get().mode
    }

    /// The name of the model now, or what to set up.
    pub fn model(&self) -> Result<String, String> {
        self.parts
            .settings
            .get()
            .model
            .as_ref()
            .map(|model| model.name().to_owned())
            .map_err(Clone::clone)
    }

    /// The user's choice of a model by command, if it holds.
    pub fn model_choice(&self) -> Option<ModelChoice> {
        self.parts.settings.get().model_choice.clone()
    }

    /// The pending hunks, in sync with the open documents as they are now, and with the disk as it was last looked at.
    /// Touches no disk.
    pub fn hunks(&self) -> Vec<ropewalk_workspace::Hunk> {
        self.parts.changes.hunks()
    }

    /// The same, unless somebody else is at the fork now. Never waits.
    pub fn try_hunks(&self) -> Option<Vec<ropewalk_workspace::Hunk>> {
        self.parts.changes.try_hunks()
    }

    /// The net change that is pending, as `git apply` takes it. Reads the disk. Blocking.
    pub fn patch(&self) -> ropewalk_workspace::Patch {
        self.parts.changes.patch()
    }

    /// Writes where it stands into its journal, for a process that is about to end.
    pub async fn settle(&self) {
        self.parts.settle().await;
    }

    /// The approvals that wait, oldest first.
    pub fn waiting_approvals(&self) -> Vec<Approval> {
        self.parts.approvals.waiting()
    }

    /// Everything said so far.
    pub fn messages(&self) -> Vec<ropewalk_model::Message> {
        self.parts.snapshot.borrow().messages.iter().map(|message| (**message).clone()).collect()
    }

    /// Its name: the user's, or the start of the first prompt; empty while there is neither.
    pub fn title(&self) -> String {
        self.parts.snapshot.borrow().title()
    }

    /// Its turns, oldest first.
    pub fn turns(&self) -> Vec<TurnMark> {
        self.parts.snapshot.borrow().turns.to_vec()
    }

    /// Changes that could not be brought back when it went on, in words: the file, and what is lost.
    pub fn not_restored(&self) -> &[String] {
        &self.not_restored
    }

    /// Whether nothing was asked yet and nothing is pending: another can take its place.
    pub fn is_fresh(&self) -> bool {
        self.parts.snapshot.borrow().last_turn == 0 && self.parts.changes.is_empty()
    }

    /// Tokens used so far, and what they cost.
    pub fn spent(&self) -> Spent {
        self.parts.snapshot.borrow().spent
    }
}
