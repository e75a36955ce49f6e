//! What the parts of a session share: its fork, its history, its settings, its events.
//!
//! Locks are held for moments and never over an await. Where two are held, it is `shown` before `fork`, and
//! both before anything of the workspace.

use super::{SessionConfig, Settings};
use crate::approval::Approvals;
use crate::audit::Audit;
use crate::event::{Event, HunkInfo, Level};
use crate::history::History;
use crate::prompt::{PromptFacts, system_prompt};
use ropewalk_model::{Model, Prelude, ToolSpec, Usage};
use ropewalk_tools::{Rule, ToolInfo};
use ropewalk_workspace::publish::{Bounds, PublishReport};
use ropewalk_workspace::{Editor, Fork, Workspace};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::{mpsc, watch};

/// See the module.
pub(crate) struct Shared {
    pub(crate) id: Arc<str>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) editor: Arc<dyn Editor>,
    pub(crate) fork: Mutex<Fork>,
    pub(crate) history: Mutex<History>,
    /// What the user has said to the running turn and it has not taken up yet.
    pub(crate) steers: Mutex<Vec<String>>,
    pub(crate) approvals: Approvals,
    /// What the user has allowed for the rest of the session. It outlives other settings.
    pub(crate) granted: Mutex<Vec<Rule>>,
    pub(crate) saves: watch::Sender<u64>,
    pub(crate) usage: Mutex<Usage>,
    pub(crate) outputs: Option<PathBuf>,
    pub(crate) publish: Bounds,
    settings: RwLock<Arc<Settings>>,
    prelude: Mutex<Option<KeptPrelude>>,
    events: mpsc::UnboundedSender<Event>,
    shown: Mutex<Vec<HunkInfo>>,
    turns: AtomicU64,
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
        let mut history = History::default();
        if let Ok(model) = &config.settings.model {
            history.speak_to(model.clone());
        }
        workspace.join(config.id.clone());
        Self {
            fork: Mutex::new(Fork::new(config.id.clone())),
            id: config.id,
            workspace,
            editor,
            history: Mutex::new(history),
            steers: Mutex::default(),
            approvals: Approvals::default(),
            granted: Mutex::default(),
            saves: watch::Sender::new(0),
            usage: Mutex::default(),
            outputs: config.outputs,
            publish: config.publish,
            settings: RwLock::new(Arc::new(config.settings)),
            prelude: Mutex::default(),
            events,
            shown: Mutex::default(),
            turns: AtomicU64::new(0),
        }
    }

    /// The number of a new turn, from one.
    pub(crate) fn next_turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn settings(&self) -> Arc<Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        let mut new = Settings::clone(&settings);
        change(&mut new);
        *settings = Arc::new(new);
    }

    /// Tells the front end. One that has gone away hears nothing; the session ends by its ops.
    pub(crate) fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    pub(crate) fn notice(&self, level: Level, message: impl Into<String>) {
        self.tell(Event::Notice { level, message: message.into() });
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
    }

    /// Tells the model with its next message what it has not heard yet of a publish.
    pub(crate) fn tell_later(&self, report: PublishReport) {
        for note in report.notes {
            self.workspace.tell(Some(self.id.clone()), note);
        }
    }

    /// System prompt and tools, serialised once and kept until something in them changes.
    pub(crate) fn prelude(&self, settings: &Arc<Settings>, model: &dyn Model) -> Prelude {
        let roots = self.workspace.roots();
        let mut kept = lock(&self.prelude);
        if let Some(kept) = kept.as_ref()
            && Arc::ptr_eq(&kept.settings, settings)
            && kept.model == model.name()
            && kept.system == system_prompt(&kept.facts, &roots)
        {
            return kept.prelude.clone();
        }
        let infos = settings.registry.infos();
        let tools = infos.iter().map(|info| info.effect).collect();
        let facts = PromptFacts { tools, ..settings.facts.clone() };
        let system = system_prompt(&facts, &roots);
        let spec = |info: ToolInfo| ToolSpec {
            name: info.name.to_owned(),
            description: info.description.to_owned(),
            input_schema: info.schema,
        };
        let specs: Vec<ToolSpec> = infos.into_iter().map(spec).collect();
        let prelude = model.encode_prelude(&system, &specs);
        *kept = Some(KeptPrelude {
            settings: settings.clone(),
            facts,
            model: model.name().to_owned(),
            system,
            prelude: prelude.clone(),
        });
        prelude
    }

    /// Shows the pending hunks if they are not as they were shown last. What is told last is the newest.
    pub(crate) async fn show_hunks(self: &Arc<Self>) {
        let shared = self.clone();
        let showing = tokio::task::spawn_blocking(move || {
            let mut shown = lock(&shared.shown);
            let hunks: Vec<HunkInfo> = {
                let mut fork = lock(&shared.fork);
                fork.sync(&shared.workspace);
                fork.hunks().iter().map(HunkInfo::from).collect()
            };
            if *shown != hunks {
                (*shown).clone_from(&hunks);
                shared.tell(Event::Hunks { hunks });
            }
        });
        if let Err(error) = showing.await {
            tracing::error!(%error, "the pending hunks could not be shown");
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.workspace.leave(&self.id);
    }
}

/// How many hunks a report is about, and what failed.
pub(crate) fn in_words(report: &PublishReport) -> (usize, Vec<String>) {
    let failed = report.failed.iter().map(|(file, why)| format!("{file}: {why}")).collect();
    (report.done.len(), failed)
}
