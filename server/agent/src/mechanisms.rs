//! The mechanisms around the loop: which hooks a session has, in the order in which they run.

use crate::background::BackgroundRecords;
use crate::check::Check;
use crate::compaction::Compaction;
use crate::hooks::StepHook;
use crate::nested::NestedInstructions;
use crate::session::parts::SessionParts;
use std::sync::Arc;

/// Hooks of the mechanisms. Each looks by itself at whether it is switched on.
pub(crate) fn hooks(parts: &Arc<SessionParts>) -> Vec<Arc<dyn StepHook>> {
    vec![
        Arc::new(Compaction::new(parts.clone())),
        Arc::new(BackgroundRecords::new(parts.clone())),
        Arc::new(NestedInstructions::new(parts.clone())),
        Arc::new(Check::new(parts.clone())),
    ]
}

/// The same for a subagent, which follows the repository's instructions or not.
pub(crate) fn hooks_of_thread(parts: &Arc<SessionParts>) -> Vec<Arc<dyn StepHook>> {
    vec![Arc::new(Compaction::new(parts.clone())), Arc::new(NestedInstructions::new(parts.clone()))]
}
