//! Skills: instructions for special tasks in files, of which the model knows name and description, and which it loads
//! when a task fits one.
//!
//! The room `guidance` finds and reads them; here is what a session knows of them. A skill is text: it grants nothing.

use crate::knowledge::SharedKnowledge;
use crate::readable::ReadableFolders;
use ropewalk_guidance::loading::Loading;
use ropewalk_guidance::skills::{FoundSkills, Skill, SkillCache, find};
use ropewalk_tools::tool::ReadFilter;
use ropewalk_workspace::View;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The skills of a session.
pub(crate) struct Skills {
    state: Mutex<SkillsState>,
    pub(crate) knowledge: Arc<SharedKnowledge>,
    readable: Arc<ReadableFolders>,
}

#[derive(Default)]
struct SkillsState {
    cache: SkillCache,
    found: Arc<FoundSkills>,
    /// The user's folders, as they were given last.
    user: Arc<[PathBuf]>,
    /// The user's rules for those who read.
    hides: Option<Arc<ReadFilter>>,
    /// Faults that the user was told of.
    told: HashSet<String>,
    /// Set once there was one.
    had_any: bool,
    /// True if the model reads the files itself, because it has no tool that loads them.
    by_path: bool,
}

impl Skills {
    pub(crate) fn new(knowledge: Arc<SharedKnowledge>, readable: Arc<ReadableFolders>) -> Self {
        Self { state: Mutex::default(), knowledge, readable }
    }

    /// Makes a subagent's: the same skills, of which it has loaded none.
    pub(crate) fn beside(&self, knowledge: Arc<SharedKnowledge>) -> Self {
        let SkillsState { found, user, hides, told, had_any, .. } = &*self.state();
        let state = SkillsState {
            found: found.clone(),
            user: user.clone(),
            hides: hides.clone(),
            told: told.clone(),
            had_any: *had_any,
            ..SkillsState::default()
        };
        let readable = Arc::new(self.readable.beside());
        Self { state: Mutex::new(state), knowledge, readable }
    }

    /// The folders that may be read for a loaded skill's sake.
    pub(crate) fn readable(&self) -> Arc<ReadableFolders> {
        self.readable.clone()
    }

    fn state(&self) -> MutexGuard<'_, SkillsState> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for them, and gives the faults that the user was not told of yet. A file that the user's rules keep from
    /// readers is no skill. Blocking.
    pub(crate) fn look(
        &self,
        view: &View,
        user: &Arc<[PathBuf]>,
        hides: &Arc<ReadFilter>,
    ) -> Vec<String> {
        let mut state = self.state();
        (state.user, state.hides) = (user.clone(), Some(hides.clone()));
        let SkillsState { cache, found, told, had_any, .. } = &mut *state;
        let mut new = find(view, user, cache);
        new.skills.retain(|_, skill| skill.place.as_ref().is_none_or(|place| !hides(place, None)));
        *found = Arc::new(new);
        *had_any |= !found.skills.is_empty();
        let faults = found.faults.clone().into_iter().filter(|fault| told.insert(fault.clone()));
        let faults = faults.collect();
        drop(state);
        self.let_read();
        faults
    }

    /// Forgets all of them: they were switched off.
    pub(crate) fn clear(&self) {
        self.state().found = Arc::default();
        self.let_read();
    }

    /// As they were looked at last.
    pub(crate) fn found(&self) -> Arc<FoundSkills> {
        self.state().found.clone()
    }

    /// True if there is one, or was: the tool that loads them may be called.
    pub(crate) fn had_any(&self) -> bool {
        self.state().had_any
    }

    /// The skill of this name as it is now, with its text. Blocking.
    ///
    /// # Errors
    /// Words for the model: there is none, or it can't be read.
    pub(crate) fn get(&self, view: &View, name: &str) -> Result<Loading, String> {
        let (user, hides) = {
            let state = self.state();
            (state.user.clone(), state.hides.clone())
        };
        if let Some(hides) = hides {
            // A skill that was made in this turn counts too.
            self.look(view, &user, &hides);
        }
        let found = self.found();
        let skill = found.skills.get(name.trim()).ok_or_else(|| not_found(name, &found))?;
        Loading::read(view, skill)
    }

    /// The text that gives a skill to the model, which has it from here on.
    pub(crate) fn give(&self, loading: Loading) -> String {
        let words = match self.knowledge.lock().has(&loading.skill) {
            true => {
                return format!(
                    "The skill {} is loaded already and unchanged: follow it.",
                    loading.skill.name
                );
            }
            false => loading.words,
        };
        self.knowledge.load(loading.skill);
        self.let_read();
        words
    }

    /// The model is told of skills by their files, and reads those itself.
    pub(crate) fn let_read_all(&self) {
        self.state().by_path = true;
        self.let_read();
    }

    /// The folders of the user's skills that are loaded can be read.
    fn let_read(&self) {
        let (found, by_path) = (self.found(), self.state().by_path);
        let is_users = |skill: &&Arc<Skill>| skill.place.is_none();
        let knowledge = self.knowledge.lock();
        let is_loaded = |skill: &&Arc<Skill>| {
            by_path || knowledge.skills.iter().any(|loaded| loaded.name == skill.name)
        };
        let open = found.skills.values().filter(is_users).filter(is_loaded);
        let folders = open.map(|skill| skill.folder.clone()).collect();
        drop(knowledge);
        self.readable.set(folders);
    }
}

/// How many names a failure lists.
const NAMED: usize = 50;

fn not_found(name: &str, found: &FoundSkills) -> String {
    let name: String = name.chars().take(64).collect();
    let mut known: Vec<&str> = found.skills.keys().map(String::as_str).collect();
    let more = known.len().saturating_sub(NAMED);
    known.truncate(NAMED);
    let known = match (known.is_empty(), more) {
        (true, _) => "(no skills loaded)".to_owned(),
        (false, 0) => format!("The skills are: {}", known.join(", ")),
        (false, more) => format!("The skills are: {} and {more} more", known.join(", ")),
    };
    format!("Skill '{name}' not found. {known}")
}
