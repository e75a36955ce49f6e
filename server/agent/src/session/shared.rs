//! What the parts of a session share: its fork, its history, its settings, its events.
//!
//! Locks are held for moments and never over an await. Where two are held, it is `shown` before `fork` before
//! `kept`, `shown` before `history`, and all before anything of the workspace.

use super::{SessionConfig, Settings};
use crate::approval::Approvals;
use crate::audit::Audit;
use crate::context::ToldOfContext;
use crate::held::reader_of;
use crate::history::History;
use crate::journal::Journal;
use crate::journal::past::{TurnMark, losses, title_of};
use crate::journal::record::{Record, Summary, now};
use crate::prompt::{PromptFacts, system_prompt};
use crate::reads::Read;
use crate::shown::hunk_info;
use ropewalk_model::{Block, Keys, Model, Prelude, ToolInput, ToolSpec};
use ropewalk_protocol::{Content, Event, HunkInfo, Level, Spent, StopReason};
use ropewalk_text::plain::plain_line;
use ropewalk_tools::bash::Bash;
use ropewalk_tools::bounds::preview;
use ropewalk_tools::policy::TrustedFiles;
use ropewalk_tools::secrets::{Secrets, Strike};
use ropewalk_tools::tool::Hides;
use ropewalk_tools::{CommandRunner, Registry, Rule, Rules, TypedTool as _};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::synced;
use ropewalk_workspace::publish::{Bounds, PublishReport};
use ropewalk_workspace::state::{Kept, Private, StateRecord};
use ropewalk_workspace::{ContentHash, DocId, Editor, Fork, Hunk, Witness, Workspace};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    pub(crate) runner: Arc<dyn CommandRunner>,
    tools: Registry,
    pub(crate) outputs: Option<PathBuf>,
    pub(crate) publish: Bounds,
    pub(crate) journal: Journal,
    /// The turns, oldest first.
    pub(crate) turns: Mutex<Vec<TurnMark>>,
    /// What the model has read; of a session that goes on, until it is compared with what is there now.
    pub(crate) reads: Mutex<BTreeMap<DocId, ContentHash>>,
    /// Whether `reads` are to be compared.
    pub(crate) goes_on: AtomicBool,
    /// The fork, ledger and news as the journal has them.
    kept: Mutex<Kept>,
    title: Mutex<Option<String>>,
    settings: RwLock<Arc<Settings>>,
    /// See [`Shared::hides`].
    hides: Mutex<Option<(Arc<Rules>, Arc<Hides>)>>,
    prelude: Mutex<Option<KeptPrelude>>,
    events: mpsc::UnboundedSender<Event>,
    shown: Mutex<Vec<HunkInfo>>,
    /// What was told once and is not told again.
    told_once: Mutex<HashSet<String>>,
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
        workspace.join(config.id.clone());
        let fork = past.kept.restore(config.id.clone(), &workspace);
        let mut not_restored = losses(&past.kept, &config.id, &workspace);
        if let Ok(model) = &settings.model {
            not_restored
                .iter_mut()
                .for_each(|words| *words = model.keys().strike(words).into_owned());
        }
        Self {
            fork: Mutex::new(fork),
            id: config.id,
            journal: config.journal,
            turns: Mutex::new(past.turns),
            reads: Mutex::new(past.reads),
            goes_on: AtomicBool::new(goes_on),
            kept: Mutex::new(past.kept),
            title: Mutex::new(past.title),
            workspace,
            editor,
            history: Mutex::new(history),
            steers: Mutex::default(),
            approvals: Approvals::numbered_from(config.approvals),
            granted: Mutex::new(granted),
            saves: watch::Sender::new(0),
            spent: Mutex::new(past.spent),
            told_unkept: AtomicBool::new(false),
            told_of_context: Mutex::default(),
            runner: config.runner,
            tools: config.tools,
            outputs: config.outputs,
            publish: config.publish,
            settings: RwLock::new(Arc::new(settings)),
            hides: Mutex::default(),
            prelude: Mutex::default(),
            events,
            shown: Mutex::default(),
            told_once: Mutex::default(),
            not_restored,
            last_turn: AtomicU64::new(past.last_turn),
        }
    }

    /// The number of a new turn, from one.
    pub(crate) fn next_turn(&self) -> u64 {
        self.last_turn.fetch_add(1, Ordering::Relaxed) + 1
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

    /// The tools that are offered now.
    pub(crate) fn registry(&self) -> Registry {
        let settings = self.settings();
        match &settings.tools {
            Some(offered) => self.tools.clone().only(|name| offered.iter().any(|one| one == name)),
            None => self.tools.clone(),
        }
    }

    /// The keys that are in no text of the session.
    pub(crate) fn keys(&self) -> Keys {
        self.settings().model.as_ref().map(|model| model.keys()).unwrap_or_default()
    }

    /// What commands are kept from.
    pub(crate) fn secrets(&self) -> Secrets {
        let keys = self.keys();
        let strike = move || {
            let mut striker = keys.striker();
            let strike: Strike = Box::new(move |piece, last| {
                striker.strike(piece, last);
            });
            strike
        };
        Secrets { variables: self.settings().secrets.clone(), strike: Some(Arc::new(strike)) }
    }

    /// What the user's rules keep from those who read; the same one for as long as the rules are the same.
    pub(crate) fn hides(&self) -> Arc<Hides> {
        let settings = self.settings();
        let mut kept = lock(&self.hides);
        if let Some((_, hides)) = kept.as_ref().filter(|(rules, _)| **rules == settings.rules) {
            return hides.clone();
        }
        let rules = Arc::new(settings.rules.clone());
        let by = rules.clone();
        let hides: Arc<Hides> = Arc::new(move |file, start| by.hides(file, start));
        *kept = Some((rules, hides.clone()));
        hides
    }

    /// Tells the front end. One that has gone away hears nothing; the session ends by its ops.
    pub(crate) fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    pub(crate) fn notice(&self, level: Level, message: impl Into<String>) {
        self.tell(Event::Notice { level, message: message.into() });
    }

    /// The same, unless it was told already for the same reason.
    pub(crate) fn notice_once(&self, level: Level, reason: &str, message: String) {
        if lock(&self.told_once).insert(format!("{reason} {message}")) {
            self.notice(level, message);
        }
    }

    /// Tells the user of changed files that are open under another name too.
    pub(crate) fn tell_others(&self, report: &PublishReport) {
        for (file, other, is_dirty) in &report.also_open {
            let mut words = format!(
                "{other} is the same file as {file}, and both are open. The change was made in {file}: {other} shows it \
                 once that is saved and {other} is read anew."
            );
            if *is_dirty {
                words.push_str(&format!(
                    " {other} has unsaved text of its own, which would be lost then, or would take the change back if \
                     it is saved."
                ));
            }
            self.notice_once(Level::Warning, "", words);
        }
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
        self.tell(Event::SessionRenamed { title });
    }

    /// A turn begins: what was before it is remembered, for taking it back.
    pub(crate) fn begin_turn(&self, turn: u64, prompt: &str) {
        self.keep();
        let at = now();
        self.journal.write(&Record::Turn { turn, at, prompt: prompt.into() });
        let mark = TurnMark {
            turn,
            at,
            prompt: prompt.to_owned(),
            history: lock(&self.history).place(),
            kept: lock(&self.kept).clone(),
        };
        lock(&self.turns).push(mark);
    }

    /// Allows what a rule says for the rest of the session.
    pub(crate) fn grant(&self, rule: Rule) {
        self.journal.write(&Record::Granted(self.keys().strike(&rule.to_string())));
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

    /// Writes what is new in fork, ledger and news into the journal.
    pub(crate) fn keep(&self) {
        self.keep_state(&lock(&self.fork), Kept::record);
    }

    /// Writes what is new of the state. A text with a key in it is in no journal: what is pending in such a file
    /// does not outlive the process, which is said.
    fn keep_state(
        &self,
        fork: &Fork,
        record: impl FnOnce(&mut Kept, &Fork, &Workspace, Private<'_>) -> Vec<StateRecord>,
    ) {
        if !self.journal.is_kept() {
            return;
        }
        let keys = self.keys();
        let is_private = |bytes: &[u8]| keys.are_in(bytes);
        let private: Private<'_> = if keys.is_empty() { None } else { Some(&is_private) };
        let mut kept = lock(&self.kept);
        for state in record(&mut kept, fork, &self.workspace, private) {
            self.journal.write(&Record::State(state));
        }
        for file in kept.take_left_out() {
            let message = format!(
                "{file} holds an API key, so what is pending in it is not written into the journal and would not \
                 survive a crash."
            );
            self.notice(Level::Warning, message);
        }
    }

    /// Writes where the session stands, and has the disk take what was written.
    pub(crate) async fn settle(self: &Arc<Self>) {
        let shared = self.clone();
        let keeping = tokio::task::spawn_blocking(move || {
            shared.keep();
            shared.keep_summary();
        });
        if let Err(error) = keeping.await {
            tracing::error!(%error, "the session could not be kept");
        }
        if let Some(failure) = self.journal.take_failure() {
            self.notice(Level::Warning, failure);
        }
        let journal = self.journal.clone();
        // Nobody waits for it: what it guards against is a power cut.
        tokio::task::spawn_blocking(move || journal.sync());
    }

    fn keep_summary(&self) {
        let title = self.title();
        let turns = lock(&self.turns).len() as u64;
        let (pending, unsaved) = {
            let kept = lock(&self.kept);
            (kept.pending(), kept.unsaved())
        };
        let summary = Summary { title, at: now(), turns, pending, unsaved };
        self.journal.write(&Record::Summary(summary));
    }

    /// Tells the user what they should know of what was done.
    pub(crate) fn tell_now(&self, report: &PublishReport) {
        for sentence in &report.told {
            self.notice(Level::Warning, sentence.clone());
        }
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
        let tools = if lean { self.registry().lean() } else { self.registry() };
        let facts = PromptFacts {
            commands: tools.has_commands().then(|| self.runner.info().mode),
            has_file_tools: tools.has_file_tools(),
            lean,
            ..settings.facts.clone()
        };
        let system = system_prompt(&facts, &roots);
        let specs = tools.specs().into_iter().map(|spec| ToolSpec {
            name: spec.name,
            description: spec.description,
            input_schema: spec.schema,
        });
        let specs: Vec<ToolSpec> = specs.collect();
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

    /// Shows the pending hunks if they are not as they were shown last. What is told last is the newest.
    pub(crate) async fn show_hunks(self: &Arc<Self>) {
        let shared = self.clone();
        let showing = tokio::task::spawn_blocking(move || {
            let mut shown = lock(&shared.shown);
            let hunks = synced(&shared.workspace, &shared.fork, |fork, _| {
                shared.keep_state(fork, Kept::record_promptly);
                fork.hunks()
            });
            let makers = hunks.iter().flat_map(|hunk| &hunk.makers);
            let calls: HashSet<Arc<str>> = makers.filter_map(Maker::call).cloned().collect();
            let commands = commands(&lock(&shared.history), calls);
            let keys = shared.keys();
            let roots = shared.workspace.roots();
            let trusted = match hunks.is_empty() {
                true => TrustedFiles::default(),
                false => TrustedFiles::of(&roots),
            };
            let info = |hunk: &Hunk| {
                let reader = reader_of(hunk, &roots, &trusted);
                hunk_info(hunk, &commands, reader, &keys)
            };
            let hunks: Vec<HunkInfo> = hunks.iter().map(info).collect();
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

impl Witness for Shared {
    fn ahead(&self, fork: &Fork, files: &[DocId]) {
        self.keep_state(fork, |kept, fork, workspace, private| {
            kept.record_at_hand(files, fork, workspace, private)
        });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.workspace.leave(&self.id);
    }
}

/// How much of a command is shown with what it changed, in characters.
const LONGEST_COMMAND: usize = 80;

/// Which of these calls ran a command, and its first line.
fn commands(history: &History, mut calls: HashSet<Arc<str>>) -> HashMap<Arc<str>, String> {
    let mut commands = HashMap::new();
    // A server may give an id again in a later reply: the newest is meant.
    for block in history.messages().rev().flat_map(|message| message.content.iter().rev()) {
        if calls.is_empty() {
            break;
        }
        let Block::ToolUse { id, name, input: ToolInput::Json(input) } = block else { continue };
        let Some(call) = calls.take(id.as_str()) else { continue };
        if let Some(command) = input.get("command").and_then(Value::as_str)
            && name == Bash::NAME
        {
            let line = command.trim().lines().next().unwrap_or_default();
            commands.insert(call, plain_line(&preview(line, LONGEST_COMMAND)));
        }
    }
    commands
}

/// How many hunks a report is about, and what failed.
pub(crate) fn in_words(report: &PublishReport) -> (usize, Vec<String>) {
    let failed = report.failed.iter().map(|(file, why)| format!("{file}: {why}")).collect();
    (report.done.len(), failed)
}
