//! Knowledge of the model: skills and instructions that it was told beside its system prompt.
//!
//! Turn marks keep a copy, so that a rewind knows what the model no longer has. A journal keeps all of it but the
//! nested instructions; a resumed session tells the model the nested instructions again.

use crate::journal::told::ToldSinceOpening;
use ropewalk_guidance::loading::LoadedSkill;
use ropewalk_workspace::ContentHash;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Knowledge {
    /// Skills that were loaded, the newest last.
    pub(crate) skills: Vec<LoadedSkill>,
    /// Instruction files below a root, with the text that was told.
    pub(crate) nested: BTreeMap<PathBuf, ContentHash>,
    /// Changes since the session's opening, of which the model was told.
    pub(crate) since: ToldSinceOpening,
}

impl Knowledge {
    /// The skill's text is what the model has from here on.
    pub(crate) fn load(&mut self, skill: LoadedSkill) {
        self.skills.retain(|known| known.name != skill.name);
        self.skills.push(skill);
    }

    /// True if the model has this very text.
    pub(crate) fn has(&self, skill: &LoadedSkill) -> bool {
        self.skills.contains(skill)
    }
}

/// The knowledge of a conversation: its turn, its tools and its hooks share it.
pub(crate) struct SharedKnowledge {
    inner: Mutex<Knowledge>,
    /// Writes down that a skill is loaded.
    keep: Box<dyn Fn(&LoadedSkill) + Send + Sync>,
}

impl SharedKnowledge {
    pub(crate) fn new(
        knowledge: Knowledge,
        keep: impl Fn(&LoadedSkill) + Send + Sync + 'static,
    ) -> Self {
        Self { inner: Mutex::new(knowledge), keep: Box::new(keep) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Knowledge> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model is given the text of a skill.
    pub(crate) fn load(&self, skill: LoadedSkill) {
        let mut knowledge = self.lock();
        (self.keep)(&skill);
        knowledge.load(skill);
    }

    /// The model has the texts of these skills alone, the newest last.
    pub(crate) fn keep_skills(&self, kept: Vec<LoadedSkill>) {
        self.lock().skills.clear();
        kept.into_iter().for_each(|skill| self.load(skill));
    }

    /// Forgets what was told beside the system prompt, but for loaded skills: it is made anew, and nested instructions
    /// have left the conversation.
    pub(crate) fn forget_told(&self) {
        let mut knowledge = self.lock();
        knowledge.nested.clear();
        knowledge.since = ToldSinceOpening::default();
    }
}
