//! Beginning of a subagent: parts of its own beside those of the session.

use super::commands::Foreground;
use super::thread::SubagentThread;
use crate::compaction::wish::CompactionWish;
use crate::conversation::Conversation;
use crate::inbox::Inbox;
use crate::interrupt::Interrupt;
use crate::journal::past::Past;
use crate::mechanisms::hooks_of_thread;
use crate::news::News;
use crate::session::parts::{SessionParts, conversation};
use crate::settings::{CurrentSettings, Settings};
use crate::skills::Skills;
use crate::tools::load_skill::LoadSkill;
use crate::turn::Turn;
use ropewalk_guidance::types::AgentType;
use ropewalk_model::Model;
use ropewalk_protocol::TodoList;
use ropewalk_tools::bash::Bash;
use ropewalk_tools::{CommandRunner, Registry, TypedTool as _};
use ropewalk_workspace::state::SavedState;
use std::sync::Arc;
use tokio::sync::watch;

impl Turn {
    /// The turn of a subagent that begins.
    pub(super) fn of_thread(
        &self,
        thread: &Arc<SubagentThread>,
        (kind, model): (&Arc<AgentType>, Option<Arc<dyn Model>>),
        prompt: &str,
        stopped: watch::Receiver<bool>,
    ) -> Turn {
        // A budget that can't be kept was told of the session, unless the model is another.
        let told_unkept = model.is_none();
        let (parts, fresh) = of_thread(&self.parts, thread.clone(), (kind, model));
        let parts = Arc::new(parts);
        let shared = self.subagents.spending();
        let mut own = Conversation { shared, told_unkept, ..fresh };
        own.history.name_calls(format!("{}-", thread.id));
        own.begin_turn(self.number, prompt, SavedState::default(), TodoList::default());
        let hooks = hooks_of_thread(&parts).into();
        Turn::new((parts, hooks), self.number, Interrupt(Some(stopped)), own)
    }
}

/// Parts of a subagent, and its conversation, in which nothing was said yet.
fn of_thread(
    session: &SessionParts,
    thread: Arc<SubagentThread>,
    (kind, model): (&Arc<AgentType>, Option<Arc<dyn Model>>),
) -> (SessionParts, Conversation) {
    let runner = session.runner.beside().unwrap_or_else(|| session.runner.clone());
    let runner: Arc<dyn CommandRunner> = Arc::new(Foreground(runner));
    let journal = session.journal.of_thread(thread.id.clone(), thread.call.clone());
    let identity = thread.identity.clone();
    let settings = CurrentSettings::following(session.settings.clone(), move |settings| {
        change(settings, &identity);
        if let Some(model) = &model {
            settings.model = Ok(model.clone());
        }
    });
    let snapshot = watch::Sender::default();
    let fresh = conversation(Past::default(), false, &settings, &journal, snapshot.clone());
    let skills = Arc::new(session.skills.beside(fresh.knowledge.clone()));
    let tools = tools(session.registry(), kind, (&runner, &skills));
    let parts = SessionParts {
        // News of the session are for the session's own conversation.
        id: format!("{}/{}", session.id, thread.id).into(),
        workspace: session.workspace.clone(),
        tools,
        skills,
        types: session.types.clone(),
        todos: session.todos.clone(),
        runner,
        outputs: session.outputs.clone(),
        inbox: Inbox::new(News::default(), journal.clone()),
        bundles: session.bundles.clone(),
        journal,
        events: session.events.of_thread(&thread.id),
        settings: Arc::new(settings),
        changes: session.changes.clone(),
        approvals: session.approvals.clone(),
        wish: CompactionWish::default(),
        snapshot,
        threads: session.threads.clone(),
        thread: Some(thread),
    };
    (parts, fresh)
}

/// The session's settings as they are for a subagent.
fn change(settings: &mut Settings, identity: &str) {
    settings.tools = None;
    settings.facts.identity = None;
    settings.limits.steps = settings.limits.mechanisms.subagent_steps;
    let mechanisms = &mut settings.mechanisms;
    (mechanisms.subagents, mechanisms.todos, mechanisms.check) = (false, false, false);
    let before = settings.facts.append.take().map(|text| format!("{text}\n\n"));
    settings.facts.append = Some(format!("{}{identity}\n", before.unwrap_or_default()));
}

/// The tools of the session that a type has, with commands by its own runner and skills that it loads for itself.
fn tools(
    offered: Registry,
    kind: &AgentType,
    (runner, skills): (&Arc<dyn CommandRunner>, &Arc<Skills>),
) -> Registry {
    let mode = runner.info().mode;
    let mut tools = offered.only(|name| kind.has_tool(name, mode));
    if tools.names().any(|name| name == LoadSkill::NAME) {
        tools = tools.with(LoadSkill::new(skills.clone()));
    }
    match tools.has_commands() {
        true => tools.with(Bash::new(runner.clone())),
        false => tools,
    }
}
