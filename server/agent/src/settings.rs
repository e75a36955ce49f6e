//! Settings of a session: what may change while it lives, how they are now, and what follows from them.

use crate::prompt::PromptFacts;
use crate::tools::load_skill::LoadSkill;
use crate::tools::task::TaskTool;
use ropewalk_model::{Keys, Model};
use ropewalk_protocol::{Mechanisms, Mode, SessionLimits};
use ropewalk_tools::secrets::{Redaction, Secrets};
use ropewalk_tools::tool::ReadFilter;
use ropewalk_tools::{Rule, Rules, TypedTool as _};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// Writes an allow rule where it holds for always; the error is a sentence.
pub type KeepRule = Arc<dyn Fn(&Rule) -> Result<(), String> + Send + Sync>;

/// Makes a model by its whole name, `provider/name`, as the configuration has it; the error is a sentence. It may touch the disk.
pub type ModelSource = Arc<dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync>;

/// Settings that may change while a session lives.
#[derive(Clone)]
pub struct Settings {
    /// The model, or a sentence that says what to set up.
    pub model: Result<Arc<dyn Model>, String>,
    /// The name of the model that the configuration names.
    pub configured_model: Option<String>,
    /// The user's choice of a model by command, if they made one and it still holds.
    pub model_choice: Option<ModelChoice>,
    /// Models that the user's own subagent types name; None where there are none beside the session's.
    pub models: Option<ModelSource>,
    /// Names of the tools that are offered; None offers all that the session has.
    pub tools: Option<Vec<String>>,
    /// When changes reach the editor.
    pub mode: Mode,
    /// Calls that run unasked, that are always asked for, and that never run.
    pub rules: Rules,
    /// Keeps a rule for always; None where that can't be done. It may touch the disk.
    pub always: Option<KeepRule>,
    /// The bounds.
    pub limits: SessionLimits,
    /// Which mechanisms are on.
    pub mechanisms: Mechanisms,
    /// A command that checks what was done, in one line.
    pub verify: Option<String>,
    /// True if the model is asked before a turn ends if all is done.
    pub check_self: bool,
    /// The user's folders that may hold skills, prompt commands and subagent types, the first before the others.
    pub user_folders: Arc<[PathBuf]>,
    /// Facts that the system prompt is made of, apart from tools and roots.
    pub facts: PromptFacts,
    /// True if somebody is there to be asked.
    pub interactive: bool,
    /// The variables of the environment that hold keys: no command gets them.
    pub secrets: Arc<[String]>,
}

impl Settings {
    /// True if the tool of this name may be offered.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|offered| offered.iter().any(|name| name == tool))
    }

    /// True if subagents are switched on, and the tool that starts them is.
    pub(crate) fn offers_subagents(&self) -> bool {
        self.mechanisms.subagents && self.offers(TaskTool::NAME)
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

/// The settings as they are now.
pub(crate) struct CurrentSettings {
    current: RwLock<Current>,
    source: Option<SettingsSource>,
}

#[derive(Clone)]
struct Current {
    settings: Arc<Settings>,
    hides: Arc<ReadFilter>,
    /// The settings that these were made of, if they follow others.
    of: Option<Arc<Settings>>,
}

/// Settings that others follow, and what makes those of them.
struct SettingsSource {
    of: Arc<CurrentSettings>,
    change: Box<dyn Fn(&mut Settings) + Send + Sync>,
}

impl CurrentSettings {
    pub(crate) fn new(settings: Settings) -> Self {
        let hides = hides(&settings.rules);
        let current = Current { settings: Arc::new(settings), hides, of: None };
        Self { current: RwLock::new(current), source: None }
    }

    /// Settings that follow others, but for this change.
    pub(crate) fn following(
        of: Arc<CurrentSettings>,
        change: impl Fn(&mut Settings) + Send + Sync + 'static,
    ) -> Self {
        let base = of.current();
        let current = made_of(&base, &change);
        let source = Some(SettingsSource { of, change: Box::new(change) });
        Self { current: RwLock::new(current), source }
    }

    pub(crate) fn get(&self) -> Arc<Settings> {
        self.current().settings
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Settings)) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut new = Settings::clone(&current.settings);
        change(&mut new);
        if new.rules != current.settings.rules {
            current.hides = hides(&new.rules);
        }
        current.settings = Arc::new(new);
    }

    /// The user's rules for those who read; the same one for as long as the rules are the same.
    pub(crate) fn hides(&self) -> Arc<ReadFilter> {
        self.current().hides
    }

    /// The keys that are in no text of the session.
    pub(crate) fn keys(&self) -> Keys {
        self.get().model.as_ref().map(|model| model.keys()).unwrap_or_default()
    }

    /// Secrets that commands are kept from.
    pub(crate) fn secrets(&self) -> Secrets {
        let keys = self.keys();
        let redact = move || {
            let mut redactor = keys.redactor();
            let redact: Redaction = Box::new(move |piece, last| {
                redactor.redact(piece, last);
            });
            redact
        };
        Secrets { variables: self.get().secrets.clone(), redact: Some(Arc::new(redact)) }
    }

    fn current(&self) -> Current {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(source) = &self.source else { return current };
        let base = source.of.current();
        if current.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, &base.settings)) {
            return current;
        }
        let current = made_of(&base, &*source.change);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current.clone();
        current
    }
}

fn made_of(base: &Current, change: &dyn Fn(&mut Settings)) -> Current {
    let mut settings = Settings::clone(&base.settings);
    change(&mut settings);
    let of = Some(base.settings.clone());
    Current { settings: Arc::new(settings), hides: base.hides.clone(), of }
}

fn hides(rules: &Rules) -> Arc<ReadFilter> {
    let rules = rules.clone();
    Arc::new(move |file, start| rules.hides(file, start))
}
