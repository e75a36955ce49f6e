//! Offers of files: skills and subagent types as they are now, looked at when a turn begins and when the system prompt is
//! made anew.

use crate::session::parts::SessionParts;
use crate::settings::Settings;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_workspace::View;
use std::sync::Arc;

/// Looks at both, as far as they are on. The user is told what is wrong with them.
pub(crate) async fn look(parts: &Arc<SessionParts>, settings: &Arc<Settings>, view: &Arc<View>) {
    let looking = spawn_blocking({
        let (parts, settings, view) = (parts.clone(), settings.clone(), view.clone());
        move || faults(&parts, &settings, &view)
    });
    match looking.await {
        Ok(faults) => faults.into_iter().for_each(|fault| parts.events.warn(fault)),
        Err(error) => tracing::error!(%error, "skills could not be looked at"),
    }
}

/// Looks, and gives the faults that the user was not told of yet. Blocking.
pub(crate) fn faults(parts: &SessionParts, settings: &Settings, view: &View) -> Vec<String> {
    let hides = parts.settings.hides();
    let mut faults = match settings.offers_skills() {
        true => parts.skills.look(view, &settings.user_folders, &hides),
        false => {
            parts.skills.clear();
            Vec::new()
        }
    };
    if settings.offers_subagents() {
        let tools: Vec<String> = parts.tools.names().map(str::to_owned).collect();
        faults.extend(parts.types.look(view, &settings.user_folders, &tools, &*hides));
    }
    faults
}
