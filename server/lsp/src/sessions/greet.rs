//! What happens when a client has started: the last session of its folders goes on if something waits in it, and
//! is offered if nothing does; so are older ones in which something waits.
//!
//! It runs beside everything else, and gives way to a prompt that comes first. Without a folder nothing is
//! resumed unasked: another window may have other files open.

use super::words::Resumed;
use super::{NotResumed, blocking, named};
use crate::show::words::count;
use crate::show::{tell, tell_problems, tell_together};
use crate::state::State;
use ropewalk_agent::Session;
use ropewalk_agent::journal::store::Listed;
use ropewalk_agent::time::ago;
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::lsp_types::MessageType;

/// How long is waited for a client to open its documents.
const OPENS: Duration = Duration::from_secs(1);

/// The most older sessions that are named; `/sessions` lists them all.
const MOST_NAMED: usize = 5;

/// What was found of earlier sessions.
struct Found {
    /// The last session, and what became of it if something waits in it.
    last: Listed,
    resumed: Option<Result<Resumed, NotResumed>>,
    /// Older ones in which something waits, with their numbers in the list.
    older: Vec<(usize, Listed)>,
}

/// See the module. Says what is wrong with the configuration too, in one message with the rest where the client
/// shows only one at a time. It waits for nobody longer than a moment.
pub(crate) async fn greet(state: Arc<State>, problems: Vec<String>) {
    if !state.asks_by_message() {
        tell_problems(&state, problems);
        crate::trust::ask(&state);
        for (kind, words) in look_back(&state).await {
            tell(&state, kind, words);
        }
        return;
    }
    let mut said: Vec<(MessageType, String)> = Vec::new();
    let warning = |words: String| (MessageType::WARNING, words);
    said.extend(problems.into_iter().map(|problem| warning(format!("Ropewalk: {problem}"))));
    said.extend(crate::trust::take_messages(&state).into_iter().map(warning));
    said.extend(look_back(&state).await);
    tell_together(&state, said).await;
}

/// Looks for earlier sessions of these folders: what is to be said of them.
async fn look_back(state: &Arc<State>) -> Vec<(MessageType, String)> {
    let Some(sessions) = state.options.sessions.clone() else { return Vec::new() };
    if state.root_names().is_empty() {
        return Vec::new();
    }
    has_opened(state).await;
    let changing = state.slot.changing.lock().await;
    let worker = state.clone();
    let found = blocking(move || {
        let mut others = worker.others(worker.list(&sessions)).into_iter();
        let (_, last) = others.next()?;
        let older = others.filter(|(_, listed)| listed.summary.waits() > 0).collect();
        let waits = last.summary.waits() > 0;
        let resumed = waits.then(|| worker.resume_now(&sessions, &last.id, Session::is_fresh));
        Some(Found { last, resumed, older })
    });
    let found = match found.await {
        Ok(Some(found)) => found,
        Ok(None) => return Vec::new(),
        Err(words) => return vec![(MessageType::ERROR, words)],
    };
    let Found { last, resumed, older } = found;
    let mut said = Vec::new();
    let mut offered = Vec::new();
    let mut log = None;
    match resumed {
        Some(Ok(resumed)) => said.push((MessageType::INFO, resumed.words())),
        // Another window was quicker, and has it; this one gets a session of its own.
        Some(Err(NotResumed { in_use: true, .. })) => {}
        Some(Err(NotResumed { why, .. })) => {
            said.push((MessageType::WARNING, format!("{}\n{why}.", what_waits(&last))));
            offered.push(last);
        }
        None => {
            let how = "can be resumed: /resume, or a code action on a selection.";
            log = Some(format!("{} {how}", about(&last)));
            offered.push(last);
        }
    }
    said.extend(of_older(&older).map(|words| (MessageType::INFO, words)));
    offered.extend(older.into_iter().map(|(_, listed)| listed));
    state.offer(offered);
    // The client is waited for by nobody who wants another session.
    drop(changing);
    if let Some(words) = log {
        state.client.log_message(MessageType::INFO, words).await;
    }
    said
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

fn what_waits(listed: &Listed) -> String {
    let changes = count(listed.summary.waits(), "unreviewed change", "unreviewed changes");
    let wait = if listed.summary.waits() == 1 { "waits" } else { "wait" };
    format!("{changes} from {} ({}) {wait}.", named(&listed.summary.title), ago(listed.summary.at))
}

/// Older sessions in words, one a line; none if there are none.
fn of_older(older: &[(usize, Listed)]) -> Option<String> {
    let first = match older.len() {
        0 => return None,
        1 => "An older session has unreviewed changes:",
        _ => "Older sessions have unreviewed changes:",
    };
    let mut words = first.to_owned();
    for (number, listed) in older.iter().take(MOST_NAMED) {
        let changes = count(listed.summary.waits(), "change", "changes");
        let (title, ago) = (named(&listed.summary.title), ago(listed.summary.at));
        words.push_str(&format!("\n/resume {number}: {changes} from {title} ({ago})"));
    }
    if let Some(more @ 1..) = older.len().checked_sub(MOST_NAMED) {
        words.push_str(&format!("\n… and {more} more: /sessions"));
    }
    Some(words)
}

/// A session in a few words.
pub(crate) fn about(listed: &Listed) -> String {
    let turns = usize::try_from(listed.summary.turns).unwrap_or(usize::MAX);
    let turns = count(turns, "turn", "turns");
    format!("{} ({turns}, {})", named(&listed.summary.title), ago(listed.summary.at))
}
