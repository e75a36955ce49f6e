//! What happens when a client has started: the last session of its folders goes on if something waits in it, and
//! is offered if nothing does.
//!
//! It runs beside everything else, and gives way to a prompt that comes first. Without a folder nothing is
//! resumed unasked: another window may have other files open.

use super::words::changes;
use super::{NotResumed, blocking, named};
use crate::show::tell;
use crate::state::{State, lock};
use ropewalk_agent::Session;
use ropewalk_agent::journal::store::Listed;
use ropewalk_agent::time::minute;
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::lsp_types::MessageType;

/// How long is waited for a client to open its documents.
const OPENS: Duration = Duration::from_secs(1);

/// See the module. It waits for nobody longer than a moment.
pub(crate) async fn greet(state: Arc<State>) {
    let Some(sessions) = state.options.sessions.clone() else { return };
    if state.root_names().is_empty() {
        return;
    }
    has_opened(&state).await;
    let changing = state.slot.changing.lock().await;
    let worker = state.clone();
    let found = blocking(move || {
        let last = worker.last_session(&sessions)?;
        let waits = last.summary.waits() > 0;
        let resumed = waits.then(|| worker.resume_now(&sessions, &last.id, Session::is_fresh));
        Some((last, resumed))
    });
    match found.await {
        Ok(Some((_, Some(Ok(resumed))))) => tell(&state, MessageType::INFO, resumed.words()),
        // Another window was quicker, and has it; this one gets a session of its own.
        Ok(Some((_, Some(Err(NotResumed { in_use: true, .. }))))) | Ok(None) => {}
        Ok(Some((last, Some(Err(NotResumed { why, .. }))))) => {
            let words = format!("{}\n{why}.", what_waits(&last));
            offer(&state, last);
            tell(&state, MessageType::WARNING, words);
        }
        Ok(Some((last, None))) => {
            let words =
                format!("{} can be resumed by code action or ropewalk.resume.", about(&last));
            offer(&state, last);
            // The client is waited for by nobody who wants another session.
            drop(changing);
            state.client.log_message(MessageType::INFO, words).await;
        }
        Err(words) => tell(&state, MessageType::ERROR, words),
    }
}

/// Waits for what the client opens at its start, within a bound: what stands in its unsaved texts is not gone.
async fn has_opened(state: &State) {
    if !state.facts().configuration {
        return;
    }
    let client = state.client.clone();
    // Asks for nothing: the answer comes after the texts.
    let asked = tokio::spawn(async move { client.configuration(Vec::new()).await });
    let _ = tokio::time::timeout(OPENS, asked).await;
}

/// Offers it by code action, until something is asked.
fn offer(state: &State, listed: Listed) {
    if state.running_session().is_none_or(|session| session.is_fresh()) {
        *lock(&state.slot.offered) = Some(listed);
    }
}

fn what_waits(listed: &Listed) -> String {
    let title = named(&listed.summary.title);
    format!("{} in {title}.", changes(listed.summary.waits(), "change waits", "changes wait"))
}

/// A session in a few words.
pub(crate) fn about(listed: &Listed) -> String {
    let turns =
        changes(usize::try_from(listed.summary.turns).unwrap_or(usize::MAX), "turn", "turns");
    format!("{} ({turns}, {})", named(&listed.summary.title), minute(listed.summary.at))
}
