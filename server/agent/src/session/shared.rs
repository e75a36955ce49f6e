//! What the parts of a session share, beside its changes and its settings: its history, its title, its spending.
//!
//! Locks are held for moments and never over an await. Where two are held, it is `title` before `turns`.

use super::SessionConfig;
use crate::approval::Approvals;
use crate::audit::Audit;
use crate::calls::commands;
use crate::changes::{Changes, ChangesConfig};
use crate::context::ToldOfContext;
use crate::events::Events;
use crate::history::History;
use crate::journal::Journal;
use crate::journal::past::{TurnMark, losses, title_of};
use crate::journal::record::{Record, Summary, now};
use crate::prompt::{PromptFacts, system_prompt};
use crate::reads::Read;
use crate::session::Settings;
use crate::settings::CurrentSettings;
use ropewalk_model::{Model, Prelude, ToolSpec};
use ropewalk_protocol::{Content, Event, Spent, StopReason};
use ropewalk_tools::{Commands, Rule, ToolInfo};
use ropewalk_workspace::{ContentHash, DocId, Editor, Workspace};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, watch};

/// See the module.
pub(crate) struct Shared {
    pub(crate) id: Arc<str>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) editor: Arc<dyn Editor>,
    pub(crate) changes: Arc<Changes>,
    pub(crate) settings: Arc<CurrentSettings>,
    pub(crate) events: Events,
    pub(crate) history: Mutex<History>,
    /// What the user has said to the running turn and it has not taken up yet.
    pub(crate) steers: Mutex<Vec<Vec<Content>>>,
    pub(crate) approvals: Approvals,
    /// What the user has allowed for the rest of the session. It outlives other settings.
    pub(crate) granted: Mutex<Vec<Rule>>,
    pub(crate) saves: watch::Sender<u64>,
    pub(crate) spent: Mutex<Spent>,
    /// Whether it was said that a budget in money can't be kept.
    pub(crate) told_unkept: AtomicBool,
    /// What was said of the model's context, so that it is said once.
    pub(crate) told_of_context: Mutex<ToldOfContext>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) outputs: Option<PathBuf>,
    pub(crate) journal: Journal,
    /// The turns, oldest first.
    pub(crate) turns: Mutex<Vec<TurnMark>>,
    /// What the model has read; of a session that goes on, until it is compared with what is there now.
    pub(crate) reads: Mutex<BTreeMap<DocId, ContentHash>>,
    /// Whether `reads` are to be compared.
    pub(crate) goes_on: AtomicBool,
    title: Mutex<Option<String>>,
    prelude: Mutex<Option<KeptPrelude>>,
    /// Changes that could not be brought back when the session went on, in words.
    pub(super) not_restored: Vec<String>,
    last_turn: AtomicU64,
}

/// A prelude and what it was made of.
struct KeptPrelude {
    settings: Arc<Settings>,
    facts: PromptFacts,
    model: String,
    system: String,
    prelude: Prelude,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(
        config: SessionConfig,
        workspace: Arc<Workspace>,
        editor: Arc<dyn Editor>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Self {
        let mut settings = config.settings;
        let goes_on = config.past.is_some();
        let past = config.past.unwrap_or_default();
        let mut history = past.history;
        history.keep_in(config.journal.clone());
        if let Some(turn) = past.open_turn {
            history.close(Some("Ropewalk ended while this turn ran"));
            let stop_reason = StopReason::Error;
            config.journal.write(&Record::Ended { turn, at: now(), stop_reason });
        }
        if let Ok(model) = &settings.model {
            history.speak_to(model.clone());
        }
        // What was stricter stays so; what was looser is the configuration's to say again.
        settings.mode = past.mode.map_or(settings.mode, |mode| mode.max(settings.mode));
        let granted = past.granted.iter().filter_map(|rule| rule.parse().ok()).collect();
        let runner = Arc::new(Commands::new(settings.commands.clone()));
        let (settings, events) = (Arc::new(CurrentSettings::new(settings)), Events::new(events));
        let saved = past.kept.clone();
        let changes = Changes::new(ChangesConfig {
            session: config.id.clone(),
            workspace: workspace.clone(),
            editor: editor.clone(),
            bounds: config.publish,
            journal: config.journal.clone(),
            settings: settings.clone(),
            events: events.clone(),
            saved: past.kept,
            commands: commands(&history),
        });
        let mut not_restored = losses(&saved, &config.id, &workspace);
        let keys = settings.keys();
        not_restored.iter_mut().for_each(|words| *words = keys.strike(words).into_owned());
        Self {
            changes: Arc::new(changes),
            id: config.id,
            journal: config.journal,
            turns: Mutex::new(past.turns),
            reads: Mutex::new(past.reads),
            goes_on: AtomicBool::new(goes_on),
            title: Mutex::new(past.title),
            workspace,
            editor,
            history: Mutex::new(history),
            steers: Mutex::default(),
            approvals: Approvals::default(),
            granted: Mutex::new(granted),
            saves: watch::Sender::new(0),
            spent: Mutex::new(past.spent),
            told_unkept: AtomicBool::new(false),
            told_of_context: Mutex::default(),
            commands: runner,
            outputs: config.outputs,
            settings,
            prelude: Mutex::default(),
            events,
            not_restored,
            last_turn: AtomicU64::new(past.last_turn),
        }
    }

    /// The number of a new turn, from one.
    pub(crate) fn next_turn(&self) -> u64 {
        self.last_turn.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Its name; empty while it has none.
    pub(crate) fn title(&self) -> String {
        let given = lock(&self.title).clone();
        let first = || lock(&self.turns).first().map(|turn| title_of(&turn.prompt));
        given.or_else(first).unwrap_or_default()
    }

    /// Whether a turn was ever asked for, also one that waits or was taken back.
    pub(crate) fn was_asked(&self) -> bool {
        self.last_turn.load(Ordering::Relaxed) > 0
    }

    /// Gives it a name.
    pub(crate) fn rename(&self, title: String) {
        self.journal.write(&Record::Title(title.clone()));
        *lock(&self.title) = Some(title.clone());
        self.keep_summary();
        self.events.tell(Event::SessionRenamed { title });
    }

    /// A turn begins: what was before it is remembered, for taking it back.
    pub(crate) fn begin_turn(&self, turn: u64, prompt: &str) {
        let kept = self.changes.keep();
        let (at, prompt) = (now(), prompt.to_owned());
        self.journal.write(&Record::Turn { turn, at, prompt: (&*prompt).into() });
        let mark = TurnMark { turn, at, prompt, history: lock(&self.history).place(), kept };
        lock(&self.turns).push(mark);
    }

    /// Allows what a rule says for the rest of the session.
    pub(crate) fn grant(&self, rule: Rule) {
        self.journal.write(&Record::Granted(self.settings.keys().strike(&rule.to_string())));
        lock(&self.granted).push(rule);
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

    /// The model has seen these texts.
    pub(crate) fn note_reads(&self, reads: Vec<Read>) {
        let mut known = lock(&self.reads);
        for (doc, hash) in reads {
            if known.insert(doc.clone(), hash) != Some(hash) {
                self.journal.write(&Record::Read { doc, hash });
            }
        }
    }

    /// Writes where the session stands, and has the disk take what was written.
    pub(crate) async fn settle(self: &Arc<Self>) {
        let shared = self.clone();
        let keeping = tokio::task::spawn_blocking(move || {
            shared.changes.keep();
            shared.keep_summary();
        });
        if let Err(error) = keeping.await {
            tracing::error!(%error, "the session could not be kept");
        }
        if let Some(failure) = self.journal.take_failure() {
            self.events.warn(failure);
        }
        let journal = self.journal.clone();
        // Nobody waits for it: what it guards against is a power cut.
        tokio::task::spawn_blocking(move || journal.sync());
    }

    fn keep_summary(&self) {
        let title = self.title();
        let turns = lock(&self.turns).len() as u64;
        let (pending, unsaved) = self.changes.waiting();
        let summary = Summary { title, at: now(), turns, pending, unsaved };
        self.journal.write(&Record::Summary(summary));
    }

    /// System prompt and tools, serialised once and kept until something in them changes.
    pub(crate) fn prelude(&self, settings: &Arc<Settings>, model: &dyn Model) -> Prelude {
        let roots = self.workspace.roots();
        let lean = model.is_lean();
        let mut kept = lock(&self.prelude);
        if let Some(kept) = kept.as_ref()
            && Arc::ptr_eq(&kept.settings, settings)
            && kept.model == model.name()
            && kept.facts.lean == lean
            && kept.system == system_prompt(&kept.facts, &roots)
        {
            return kept.prelude.clone();
        }
        let tier = self.commands.tier();
        let registry = if lean { settings.registry.lean() } else { settings.registry.clone() };
        let infos = registry.infos(tier);
        let tools = infos.iter().map(|info| info.effect).collect();
        let facts = PromptFacts { tools, commands: tier, lean, ..settings.facts.clone() };
        let system = system_prompt(&facts, &roots);
        let spec = |info: ToolInfo| ToolSpec {
            name: info.name.to_owned(),
            description: info.description.to_owned(),
            input_schema: info.schema,
        };
        let specs: Vec<ToolSpec> = infos.into_iter().map(spec).collect();
        let prelude = model.encode_prelude(&model.keys().strike(&system), &specs);
        *kept = Some(KeptPrelude {
            settings: settings.clone(),
            facts,
            model: model.name().to_owned(),
            system,
            prelude: prelude.clone(),
        });
        prelude
    }
}
