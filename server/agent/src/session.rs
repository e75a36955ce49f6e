//! The session: ops in, events out, one turn at a time.
//!
//! Here is what a front end holds of it. The actor that takes the ops is in `actor`, its parts are in
//! `parts`; what the loop does is in `turn`.

mod actor;
mod background;
pub(crate) mod bundles;
mod config;
pub(crate) mod parts;
mod review;
mod waits;

use crate::bundles::{BundleId, BundleNews, BundleRefusal, IncomingBundle, TaskStart};
use crate::changes::ReviewSnapshot;
use crate::hooks::StepHook;
use crate::journal::past::TurnMark;
use crate::mechanisms;
use crate::op::SessionInput;
use crate::proposed::text_in;
pub use crate::settings::{KeepRule, ModelChoice, ModelSource, Settings};
use crate::slash;
use actor::Actor;
use bundles::BundleWork;
pub use config::SessionConfig;
use futures::FutureExt;
use futures::future::BoxFuture;
use parts::{SessionBeginning, SessionParts};
use ropewalk_guidance::skills::{Skill, SkillCache, find};
use ropewalk_model::Model;
use ropewalk_protocol::plugin::HunkTexts;
use ropewalk_protocol::{Approval, ContextFill, Mode, Op, Prompt, SessionEvent, Spent, TodoList};
use ropewalk_workspace::{Bundle, DocId, Editor, Fork, Workspace};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// A running session. When the last handle is dropped, its turn is interrupted and it ends.
#[derive(Clone)]
pub struct Session {
    parts: Arc<SessionParts>,
    not_restored: Arc<[String]>,
    inputs: mpsc::UnboundedSender<SessionInput>,
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
        events: mpsc::UnboundedSender<SessionEvent>,
    ) -> Session {
        Self::start_with(config, workspace, editor, events, Vec::new())
    }

    /// The same, with hooks that its turns run in this order, after those of the mechanisms.
    pub fn start_with(
        config: SessionConfig,
        workspace: Arc<Workspace>,
        editor: Arc<dyn Editor>,
        events: mpsc::UnboundedSender<SessionEvent>,
        hooks: Vec<Arc<dyn StepHook>>,
    ) -> Session {
        let (inputs, receiver) = mpsc::unbounded_channel();
        let beginning = SessionBeginning::new(config, (workspace, editor), events);
        let (parts, not_restored) = (Arc::new(beginning.parts), beginning.not_restored.into());
        let hooks = mechanisms::hooks(&parts).into_iter().chain(hooks).collect();
        tokio::spawn(
            Actor::new(parts.clone(), hooks, beginning.conversation).run(receiver).boxed(),
        );
        Session { parts, not_restored, inputs }
    }

    /// Its id.
    pub fn id(&self) -> &Arc<str> {
        &self.parts.id
    }

    /// The keys that are in no text of it: they are redacted from what goes to a log.
    pub fn keys(&self) -> ropewalk_model::Keys {
        self.parts.settings.keys()
    }

    /// Asks for something. Requests take effect in order.
    pub fn send(&self, op: Op) {
        match op {
            Op::Prompt(prompt) => drop(self.prompt(prompt)),
            op => self.put(SessionInput::Op(op)),
        }
    }

    /// Sends a prompt and gives the turn it will be.
    pub fn prompt(&self, prompt: Prompt) -> u64 {
        let turn = self.parts.next_turn();
        self.put(SessionInput::Prompt(turn, prompt));
        turn
    }

    /// Names that `/name` can stand for beside built-in commands: prompt commands, and skills with
    /// their descriptions. Blocking: reads the disk.
    pub fn slash_names(&self) -> (Vec<String>, Vec<(String, String)>) {
        let settings = self.parts.settings.get();
        let view = self.parts.changes.view_now();
        let commands = slash::names(&settings, &view).into_iter().collect();
        let mut found = self.parts.skills.found();
        if found.skills.is_empty() && settings.offers_skills() {
            found = Arc::new(find(&view, &settings.user_folders, &mut SkillCache::default()));
        }
        let skill = |skill: &Arc<Skill>| (skill.name.clone(), skill.description.clone());
        let skills = found.skills.values().filter(|_| settings.offers_skills()).map(skill);
        (commands, skills.collect())
    }

    /// Takes a prompt back that waits for its turn: asked for now, the future is its words; none if it does not wait.
    pub fn unqueue(&self, turn: u64) -> impl Future<Output = Option<String>> + use<> {
        let (done, answer) = oneshot::channel();
        self.put(SessionInput::Unqueue(turn, done));
        async { answer.await.ok().flatten() }
    }

    /// Changes the model from the next step on.
    pub fn speak_to(&self, model: Arc<dyn Model>) {
        self.put(SessionInput::Model(model));
    }

    /// Gives it other limits or rules, or offers other tools, from the next step on.
    pub fn configure(&self, settings: Settings) {
        self.put(SessionInput::Configure(Box::new(settings)));
    }

    /// Tells it that a document was saved: a call may be waiting for that.
    pub fn saved(&self) {
        self.put(SessionInput::Saved);
    }

    /// Tells it that the user's text has moved: pending hunks may stand elsewhere.
    pub fn moved(&self) {
        self.put(SessionInput::Moved);
    }

    fn put(&self, input: SessionInput) {
        // The actor lives as long as a handle does.
        let _ = self.inputs.send(input);
    }

    /// Takes in another member's bundle: all of it, or nothing. The answer is how many changes came in, 0 for a bundle
    /// that was taken before.
    ///
    /// # Errors
    /// When changes have lost their place, with each conflict, or the bundle is hostile.
    pub fn take_bundle(
        &self,
        bundle: IncomingBundle,
    ) -> impl Future<Output = Result<usize, BundleRefusal>> + use<> {
        let (done, answer) = oneshot::channel();
        self.put(SessionInput::Bundle(BundleWork::Take(Box::new(bundle), done)));
        async { answer.await.unwrap_or(Err(BundleRefusal::Ended)) }
    }

    /// Begins a task of a member's, between two turns: what was pending gives way to the files that it starts from, and
    /// own work is what comes after.
    ///
    /// # Errors
    /// When a bundle does not fit what those before it made. Nothing has changed then.
    pub fn start_task(
        &self,
        start: TaskStart,
    ) -> impl Future<Output = Result<(), BundleRefusal>> + use<> {
        let (done, answer) = oneshot::channel();
        self.put(SessionInput::Bundle(BundleWork::Start(Box::new(start), done)));
        async { answer.await.unwrap_or(Err(BundleRefusal::Ended)) }
    }

    /// Own work since the task's start, or beyond the checkout, and the files that were left out of it, as they are shown.
    ///
    /// # Errors
    /// When a file that it changes can't be read.
    pub fn bundle(&self) -> BoxFuture<'_, Result<(Bundle, Vec<String>), BundleRefusal>> {
        Box::pin(async move { Ok(self.parts.changes.own_bundle().await?) })
    }

    /// A copy of what is pending, for a member to start from ([`TaskStart::lead`]).
    pub fn fork(&self) -> BoxFuture<'_, Fork> {
        Box::pin(async move { self.parts.changes.handed_on().await })
    }

    /// The bundles that were taken in and not taken back, oldest first.
    pub fn taken_bundles(&self) -> Vec<BundleId> {
        self.parts.bundles.ids()
    }

    /// News of what becomes of taken bundles, for one watcher. Without one, rejections are told to the session's own model.
    pub fn watch_bundles(&self) -> mpsc::UnboundedReceiver<BundleNews> {
        self.parts.bundles.watch()
    }

    /// The mode now.
    pub fn mode(&self) -> Mode {
        self.parts.settings.get().mode
    }

    /// Chooses a mode at once: it holds when this returns, for the calls of a running turn too.
    pub fn set_mode(&self, mode: Mode) {
        self.parts.set_mode(mode);
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

    /// The pending changes as they were shown last. Never waits for the fork.
    pub fn review(&self) -> ReviewSnapshot {
        self.parts.changes.review()
    }

    /// The texts of a pending change as it was shown last, whole.
    pub fn hunk_texts(&self, id: u64) -> Option<HunkTexts> {
        self.parts.changes.hunk_texts(id)
    }

    /// The text that a document would have with all that is proposed; none if there would be no such file, or none of
    /// text. Reads the disk. Blocking.
    ///
    /// # Errors
    /// When the document is none of the workspace, or it can't be read, in words.
    pub fn proposed_text(&self, document: &DocId) -> Result<Option<String>, String> {
        text_in(&self.parts.changes.view_now(), document)
    }

    /// The net change that is pending, as `git apply` takes it. Reads the disk. Blocking.
    pub fn patch(&self) -> ropewalk_workspace::Patch {
        self.parts.changes.patch()
    }

    /// Writes where it stands into its journal, for a process that is about to end.
    pub fn settle(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.parts.settle().await;
        })
    }

    /// True if its journal is gone, so that it can't be resumed once it has ended.
    pub fn is_lost(&self) -> bool {
        self.parts.journal.is_lost()
    }

    /// The approvals that wait, oldest first.
    pub fn waiting_approvals(&self) -> Vec<Approval> {
        self.parts.approvals.waiting()
    }

    /// Everything said so far.
    pub fn messages(&self) -> Vec<ropewalk_model::Message> {
        self.parts.snapshot.borrow().messages.iter().map(|message| (**message).clone()).collect()
    }

    /// The number of messages.
    pub fn message_count(&self) -> usize {
        self.parts.snapshot.borrow().messages.len()
    }

    /// Its name: the user's, or the start of the first prompt; empty while there is neither.
    pub fn title(&self) -> String {
        self.parts.snapshot.borrow().title()
    }

    /// Its turns, oldest first.
    pub fn turns(&self) -> Arc<Vec<TurnMark>> {
        self.parts.snapshot.borrow().turns.clone()
    }

    /// Changes that could not be brought back when it went on, in words: the file, and what is lost.
    pub fn not_restored(&self) -> &[String] {
        &self.not_restored
    }

    /// True if nothing was asked yet and nothing is pending: another can take its place.
    pub fn is_fresh(&self) -> bool {
        self.parts.snapshot.borrow().last_turn == 0 && self.review().files.is_empty()
    }

    /// How full the model's context is by the last request.
    pub fn context(&self) -> ContextFill {
        self.parts.wish.fill()
    }

    /// The todos as they are now.
    pub fn todos(&self) -> TodoList {
        self.parts.todos.list()
    }

    /// Tokens used so far, and what they cost.
    pub fn spent(&self) -> Spent {
        self.parts.snapshot.borrow().spent
    }
}
