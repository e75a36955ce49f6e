//! The subagent types of a session: looked for when a turn begins, told in the description of `task`.

use ropewalk_guidance::type_files::{FoundTypes, find};
use ropewalk_guidance::types::AgentType;
use ropewalk_protocol::Mode;
use ropewalk_tools::tool::ReadFilter;
use ropewalk_workspace::View;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Default)]
pub(crate) struct AgentTypes(Mutex<CatalogueState>);

#[derive(Default)]
struct CatalogueState {
    found: Arc<FoundTypes>,
    /// Faults that the user was told of.
    told: HashSet<String>,
}

impl AgentTypes {
    fn state(&self) -> MutexGuard<'_, CatalogueState> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for them, and gives the faults that the user was not told of yet. Blocking.
    pub(crate) fn look(
        &self,
        view: &View,
        user: &[PathBuf],
        tools: &[String],
        hides: &ReadFilter,
    ) -> Vec<String> {
        let found = find(view, user, tools, hides);
        let mut state = self.state();
        let faults = found.faults.clone().into_iter();
        let faults = faults.filter(|fault| state.told.insert(fault.clone())).collect();
        state.found = Arc::new(found);
        faults
    }

    /// As they were looked at last.
    pub(crate) fn found(&self) -> Arc<FoundTypes> {
        self.state().found.clone()
    }

    /// The type of this name.
    ///
    /// # Errors
    /// Words for the model if there is none, or if it may not be started in this mode.
    pub(crate) fn get(&self, name: &str, mode: Mode) -> Result<Arc<AgentType>, String> {
        let found = self.found();
        let kind = found.types.iter().find(|one| one.name == name.trim()).ok_or_else(|| {
            let known: Vec<&str> = found.types.iter().map(|one| &*one.name).collect();
            format!("there is no subagent type {name:?}; the types are: {}", known.join(", "))
        })?;
        if mode == Mode::Plan && !kind.is_reading {
            return Err(format!(
                "the mode is plan, in which nothing is changed: no {name} subagent starts in it"
            ));
        }
        Ok(kind.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_mode_plan_nobody_implements() {
        let types = AgentTypes::default();
        assert!(types.get("explore", Mode::Plan).is_ok());
        assert!(types.get("code", Mode::Plan).unwrap_err().contains("plan"));
        let unknown = types.get("test", Mode::Auto).unwrap_err();
        assert!(unknown.contains("explore, plan, code"), "{unknown}");
    }
}
