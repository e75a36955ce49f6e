//! The parts of a session, each the owner of what it holds: what turns, reviews and commands in the background have of
//! each other. The [`Conversation`] is not among them: whoever runs a turn has that.

use super::config::SessionConfig;
use crate::approvals::Approvals;
use crate::audit::Audit;
use crate::bundles::Bundles;
use crate::calls::commands;
use crate::changes::{Changes, ChangesConfig};
use crate::compaction::wish::CompactionWish;
use crate::context::ContextNotices;
use crate::conversation::{Conversation, ConversationSnapshot};
use crate::events::Events;
use crate::inbox::{self, Inbox, InboxItem};
use crate::journal::Journal;
use crate::journal::past::{BackgroundCommands, Past, losses};
use crate::journal::record::{JournalSummary, Record, now};
use crate::knowledge::SharedKnowledge;
use crate::prelude::{PreludeCache, PreludeInputs};
use crate::readable::ReadableFolders;
use crate::settings::CurrentSettings;
use crate::skills::Skills;
use crate::subagent::catalogue::AgentTypes;
use crate::subagent::result::crashed;
use crate::subagent::thread::{RunningThreads, SubagentThread};
use crate::todos::Todos;
use crate::tools::compact::Compact;
use crate::tools::load_skill::LoadSkill;
use crate::tools::task::TaskTool;
use crate::tools::todo_write::TodoWrite;
use ropewalk_guidance::loading::LoadedSkill;
use ropewalk_model::{Block, Model, Prelude};
use ropewalk_protocol::{Event, Mode, SessionEvent, StopReason};
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_tools::{CommandRunner, Registry, Rule, TypedTool as _};
use ropewalk_workspace::state::SavedState;
use ropewalk_workspace::{Editor, View, Workspace};
use std::borrow::Cow;
use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// See the module.
pub(crate) struct SessionParts {
    pub(crate) id: Arc<str>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) runner: Arc<dyn CommandRunner>,
    /// All tools of the session; the settings say which of them are offered.
    pub(crate) tools: Registry,
    /// Where whole outputs of calls are kept.
    pub(crate) outputs: Option<PathBuf>,
    pub(crate) journal: Journal,
    pub(crate) events: Events,
    pub(crate) settings: Arc<CurrentSettings>,
    pub(crate) changes: Arc<Changes>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) inbox: Inbox,
    /// Bundles of other members that were taken in.
    pub(crate) bundles: Arc<Bundles>,
    pub(crate) skills: Arc<Skills>,
    pub(crate) types: Arc<AgentTypes>,
    pub(crate) wish: CompactionWish,
    pub(crate) todos: Arc<Todos>,
    pub(crate) snapshot: watch::Sender<ConversationSnapshot>,
    /// The subagents that are at work.
    pub(crate) threads: Arc<RunningThreads>,
    /// The subagent whose parts these are, if they are of one.
    pub(crate) thread: Option<Arc<SubagentThread>>,
}

/// A session that is about to begin.
pub(super) struct SessionBeginning {
    pub(super) parts: SessionParts,
    pub(super) conversation: Conversation,
    /// Changes that could not be brought back, in words.
    pub(super) not_restored: Vec<String>,
}

impl SessionBeginning {
    /// Restores what a journal has. Blocking.
    pub(super) fn new(
        config: SessionConfig,
        (workspace, editor): (Arc<Workspace>, Arc<dyn Editor>),
        events: mpsc::UnboundedSender<SessionEvent>,
    ) -> Self {
        let SessionConfig { id, mut settings, tools, runner, outputs, .. } = config;
        let SessionConfig { publish, journal, past, approvals, .. } = config;
        let (goes_on, mut past) = (past.is_some(), past.unwrap_or_default());
        // A stricter mode stays; a looser one is the configuration's to say again.
        settings.mode = past.mode.map_or(settings.mode, |mode| mode.max(settings.mode));
        let events = Events::new(&id, events, journal.clone());
        let settings = Arc::new(CurrentSettings::new(settings));
        let (notes, background) = (take(&mut past.news), take(&mut past.background));
        let started = take(&mut past.background_calls);
        let granted = past.granted.iter().filter_map(|rule| rule.parse().ok()).collect();
        let (saved, snapshot) = (past.kept.clone(), watch::Sender::default());
        let todos = todos(&mut past, &journal, &events, &settings);
        let (bundles, start) = bundles(&mut past, &journal);
        let conversation = conversation(past, goes_on, &settings, &journal, snapshot.clone());
        let readable = Arc::<ReadableFolders>::default();
        let skills = Arc::new(Skills::new(conversation.knowledge.clone(), readable.clone()));
        let changes = Changes::new(ChangesConfig {
            session: id.clone(),
            workspace: workspace.clone(),
            editor,
            bounds: publish,
            journal: journal.clone(),
            settings: settings.clone(),
            events: events.clone(),
            readable,
            saved: saved.clone(),
            start,
            commands: commands(&conversation.history),
            background: started,
        });
        let wish = CompactionWish::default();
        let (keys, lost) = (settings.keys(), losses(&saved, &id, &workspace));
        let not_restored = lost.iter().map(|words| keys.redact(words).into_owned()).collect();
        let parts = SessionParts {
            inbox: Inbox::new(notes, journal.clone()),
            bundles,
            approvals: Arc::new(Approvals::new(approvals, granted)),
            changes: Arc::new(changes),
            runner,
            tools: tools
                .with(TodoWrite::new(todos.clone()))
                .with(Compact::new(wish.clone()))
                .with(LoadSkill::new(skills.clone()))
                .with(TaskTool::default()),
            skills,
            types: Arc::default(),
            wish,
            todos,
            id,
            workspace,
            outputs,
            journal,
            events,
            settings,
            snapshot,
            threads: Arc::default(),
            thread: None,
        };
        tell_ended(background, &parts.inbox, &parts.journal);
        Self { parts, conversation, not_restored }
    }
}

/// Todos as the journal has them.
fn todos(
    past: &mut Past,
    journal: &Journal,
    events: &Events,
    settings: &Arc<CurrentSettings>,
) -> Arc<Todos> {
    let list = take(&mut past.todos);
    let (journal, events, settings) = (journal.clone(), events.clone(), settings.clone());
    Arc::new(Todos::new(list, past.last_turn, journal, events, settings))
}

/// Bundles that were taken in, and the state that the session's task started from.
fn bundles(past: &mut Past, journal: &Journal) -> (Arc<Bundles>, Option<SavedState>) {
    let (turn, start) = past.start.take().unzip();
    let taken = std::mem::take(&mut past.taken);
    (Arc::new(Bundles::new(taken, turn.unwrap_or_default(), journal.clone())), start)
}

/// A conversation that goes on, or begins.
pub(crate) fn conversation(
    past: Past,
    goes_on: bool,
    settings: &CurrentSettings,
    journal: &Journal,
    snapshot: watch::Sender<ConversationSnapshot>,
) -> Conversation {
    snapshot.send_modify(|snapshot| {
        (snapshot.given_title, snapshot.last_turn) = (past.title, past.last_turn);
    });
    let mut knowledge = past.knowledge;
    if let Some(mark) = past.open_turn.and(past.turns.last()) {
        // Skills given in a turn that was cut off may not have reached the history.
        let is_given = |skill: &LoadedSkill| {
            past.history.since(&mark.history).flat_map(|message| &message.content).any(|block| {
                match block {
                    Block::ToolResult { content, .. } => skill.is_in(content),
                    Block::Content(content) => skill.is_in(std::slice::from_ref(content)),
                    _ => false,
                }
            })
        };
        knowledge.skills.retain(|skill| mark.knowledge.has(skill) || is_given(skill));
    }
    let mut conversation = Conversation {
        history: past.history,
        turns: Arc::new(past.turns),
        words: past.words,
        reads: past.reads,
        goes_on,
        spent: past.spent,
        before: past.spent,
        shared: None,
        told_unkept: false,
        context: ContextNotices::default(),
        prelude: PreludeCache::kept(past.opening),
        knowledge: Arc::new(SharedKnowledge::new(knowledge, keeping(journal.clone()))),
        journal: journal.clone(),
        snapshot,
    };
    conversation.history.keep_in(journal.clone());
    if let Some(turn) = past.open_turn {
        let why = "Ropewalk ended while this turn ran";
        let known = |call: &str| match past.threads.get(call) {
            Some(said) => Some(Block::result(call, crashed(said), true)),
            None => past.calls.result(call, why),
        };
        conversation.history.close_telling(Some(why), known);
        let stop_reason = StopReason::Error;
        journal.write(&Record::Ended { turn, at: now(), stop_reason });
    }
    conversation.follow(&settings.get());
    conversation.publish();
    conversation
}

/// Words for the model on a command that ended with Ropewalk.
const ENDED: &str = "It ended with Ropewalk, before its end; what it had changed since it began is dropped. Start it again if it is \
     still needed.";

/// Tells of the commands of the process before, which have all ended.
fn tell_ended(running: BackgroundCommands, inbox: &Inbox, journal: &Journal) {
    for (id, (turn, command)) in running {
        let text = ENDED.to_owned();
        inbox.put(InboxItem::Finished(inbox::BackgroundNews {
            id,
            turn,
            command: command.clone(),
            text,
        }));
        // Cut off before this line, it is told twice rather than never.
        let (command, ended, call) = (command.into(), true, None);
        journal.write(&Record::Background { id, turn, command, ended, call });
    }
}

/// Writes down the skills that are loaded.
fn keeping(journal: Journal) -> impl Fn(&LoadedSkill) + Send + Sync {
    move |LoadedSkill { name, hash }| {
        journal.write(&Record::Skill { name: name.into(), hash: *hash });
    }
}

impl SessionParts {
    /// Chooses a mode. Calls of a running turn are judged by it from now on.
    pub(crate) fn set_mode(&self, mode: Mode) {
        self.settings.change(|settings| settings.mode = mode);
        self.journal.write(&Record::Mode(mode));
        self.events.tell(Event::ModeChanged { mode });
    }

    /// The tools that are offered now.
    pub(crate) fn registry(&self) -> Registry {
        let settings = self.settings.get();
        let skills = settings.offers_skills() && self.skills.had_any();
        let is_on = |name: &str| match name {
            Compact::NAME => settings.mechanisms.compaction,
            TodoWrite::NAME => settings.mechanisms.todos,
            LoadSkill::NAME => skills,
            TaskTool::NAME => settings.mechanisms.subagents,
            _ => true,
        };
        self.tools.clone().only(|name| is_on(name) && settings.offers(name))
    }

    /// The model of a conversation and the encoded opening of its requests; None before a model is known. A new opening is
    /// journalled, and the history drops its thoughts.
    pub(crate) fn open(
        &self,
        conversation: &mut Conversation,
    ) -> Option<(Arc<dyn Model>, Prelude)> {
        let settings = self.settings.get();
        conversation.follow(&settings);
        let model = conversation.history.model()?.clone();
        let Conversation { prelude, history, journal, .. } = conversation;
        if let Some(opening) = prelude.open(&self.prelude_inputs(), &settings, &*model) {
            // Subagents begin anew with each process.
            if self.thread.is_none() {
                journal.write(&Record::Opening(Cow::Borrowed(opening)));
            }
            history.drop_thoughts();
        }
        let prelude = prelude.prelude(&*model);
        Some((model, prelude))
    }

    /// Facts that the prelude of the next request is made of.
    pub(crate) fn prelude_inputs(&self) -> PreludeInputs {
        PreludeInputs {
            tools: self.registry(),
            commands: self.runner.info().mode,
            roots: self.workspace.roots(),
            skills: self.skills.found(),
            types: self.types.found(),
        }
    }

    /// The view of a call: the user's text as it is now, under the fork, or what a subagent has of both.
    pub(crate) async fn view(&self) -> Arc<View> {
        match &self.thread {
            Some(thread) => self.skills.readable().in_view(thread.files.view().await),
            None => Arc::new(self.changes.view().await),
        }
    }

    /// Tells that the session begins, or goes on.
    pub(super) fn tell_started(&self) {
        let settings = self.settings.get();
        let model = settings.model.as_ref().ok();
        let context = model.and_then(|model| model.limits().context).map(u64::from);
        let (title, turns) = {
            let snapshot = self.snapshot.borrow();
            (snapshot.title(), snapshot.turns.len() as u64)
        };
        let (mode, model) = (settings.mode, model.map(|model| model.name().to_owned()));
        self.events.tell(Event::SessionStarted { title, turns, mode, model, context });
    }

    /// The number of a new turn, from one.
    pub(crate) fn next_turn(&self) -> u64 {
        let mut turn = 0;
        self.snapshot.send_modify(|snapshot| {
            snapshot.last_turn += 1;
            turn = snapshot.last_turn;
        });
        turn
    }

    /// Gives the session a name.
    pub(crate) fn rename(&self, title: String) {
        self.journal.write(&Record::Title(title.clone()));
        self.snapshot.send_modify(|snapshot| snapshot.given_title = Some(title.clone()));
        self.keep_summary();
        self.events.tell(Event::SessionRenamed { title });
    }

    /// Allows what a rule says for the rest of the session.
    pub(crate) fn grant(&self, rule: Rule) {
        let journal = self.journal.of_session();
        journal.write(&Record::Granted(self.settings.keys().redact(&rule.to_string())));
        self.approvals.grant(rule);
    }

    /// Writes down what was decided about a call.
    pub(crate) fn audit(&self, audit: &Audit) {
        tracing::info!(
            target: "ropewalk::audit",
            session = %self.id,
            turn = audit.turn,
            call = %audit.call,
            tool = audit.tool,
            subject = audit.subject,
            decision = audit.decision,
            by = audit.by,
            verdict = audit.verdict,
            secret = audit.secret,
            "judged"
        );
        self.journal.write(&Record::Decision(Cow::Borrowed(audit)));
    }

    /// Writes where the session stands, and has the disk take what was written.
    pub(crate) async fn settle(self: &Arc<Self>) {
        let parts = self.clone();
        let keeping = spawn_blocking(move || {
            parts.changes.keep();
            parts.keep_summary();
        });
        if let Err(error) = keeping.await {
            tracing::error!(%error, "the session could not be kept");
        }
        if let Some(failure) = self.journal.take_failure() {
            self.events.warn(failure);
        }
        let journal = self.journal.clone();
        // Nobody waits for it: what it guards against is a power cut.
        spawn_blocking(move || journal.sync());
    }

    fn keep_summary(&self) {
        let (title, turns) = {
            let snapshot = self.snapshot.borrow();
            (snapshot.title(), snapshot.turns.len() as u64)
        };
        let (pending, unsaved) = self.changes.waiting();
        let summary = JournalSummary { title, at: now(), turns, pending, unsaved };
        self.journal.write(&Record::Summary(summary));
    }
}
