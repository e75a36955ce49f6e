//! Greeting of a client that has started: the last session of its folders goes on if something waits in it, and
//! is offered if nothing does; so are older ones in which something waits.
//!
//! It runs beside everything else, and gives way to a prompt that comes first. Without a folder nothing is
//! resumed unasked: another window may have other files open.

use crate::show::sessions::{about, resumed};
use crate::show::{tell, tell_news, tell_problems, tell_together};
use crate::state::State;
use futures::FutureExt;
use ropewalk_host::EarlierSessions;
use ropewalk_host::time::ago;
use ropewalk_host::words::{count, named};
use ropewalk_protocol::{Event, SessionInfo};
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::lsp_types::MessageType;

/// How long is waited for a client to open its documents.
const OPENS: Duration = Duration::from_secs(1);

/// The most older sessions that are named; `/sessions` lists them all.
const MOST_NAMED: usize = 5;

/// See the module. Says what is wrong with the configuration too, in one message with the rest where the client
/// shows only one at a time. It waits for nobody longer than a moment.
pub(crate) async fn greet(state: Arc<State>) {
    let problems = state.take_option_problems();
    let news = state.host.configure().await;
    if !state.asks_by_message() {
        tell_problems(&state, problems);
        tell_news(&state, news);
        for (kind, words) in look_back(&state).await {
            tell(&state, kind, words);
        }
        return;
    }
    let problem = |message: String| format!("Ropewalk: {message}");
    let words =
        problems.into_iter().map(problem).chain(news.into_iter().map(|event| match event {
            Event::Notice { message, .. } => problem(message),
            event => crate::trust::in_message(&event),
        }));
    let mut said: Vec<_> = words.map(|words| (MessageType::WARNING, words)).collect();
    said.extend(look_back(&state).await);
    tell_together(&state, said).await;
}

/// Looks for earlier sessions of these folders: what is to be said of them.
async fn look_back(state: &Arc<State>) -> Vec<(MessageType, String)> {
    let EarlierSessions { last, resumed: what, older } =
        match state.host.look_back(has_opened(state)).await {
            Ok(Some(found)) => found,
            Ok(None) => return Vec::new(),
            Err(refusal) => return vec![(MessageType::ERROR, refusal.words)],
        };
    let mut said = Vec::new();
    match what {
        Some(Ok(session)) => said.push((MessageType::INFO, resumed(&session))),
        // Another window was quicker, and has it; this one gets a session of its own.
        Some(Err(refusal)) if refusal.in_use => {}
        Some(Err(refusal)) => {
            let words = format!("{}\n{}.", what_waits(&last), refusal.words);
            said.push((MessageType::WARNING, words));
        }
        None => {
            let how = "can be resumed: /resume, or a code action on a selection.";
            let words = format!("{} {how}", about(&last));
            state.client.log_message(MessageType::INFO, words).await;
        }
    }
    said.extend(of_older(&older).map(|words| (MessageType::INFO, words)));
    said
}

/// Waits for what the client opens at its start, within a bound: what stands in its unsaved texts is not gone.
async fn has_opened(state: &State) {
    if !state.facts().configuration {
        return;
    }
    let client = state.client.clone();
    // Asks for nothing: the answer comes after the texts.
    let asked = tokio::spawn(async move { client.configuration(Vec::new()).await }.boxed());
    let _ = tokio::time::timeout(OPENS, asked).await;
}

fn what_waits(info: &SessionInfo) -> String {
    let changes = count(info.waits(), "unreviewed change", "unreviewed changes");
    let wait = if info.waits() == 1 { "waits" } else { "wait" };
    format!("{changes} from {} ({}) {wait}.", named(&info.title), ago(info.at))
}

/// Older sessions in words, one a line; none if there are none.
fn of_older(older: &[SessionInfo]) -> Option<String> {
    let first = match older.len() {
        0 => return None,
        1 => "An older session has unreviewed changes:",
        _ => "Older sessions have unreviewed changes:",
    };
    let mut words = first.to_owned();
    for info in older.iter().take(MOST_NAMED) {
        let changes = count(info.waits(), "change", "changes");
        let (title, ago) = (named(&info.title), ago(info.at));
        // By its id: its number in the list is another once a session has begun.
        let id = &info.session;
        words.push_str(&format!("\n/resume {id}: {changes} from {title} ({ago})"));
    }
    if let Some(more @ 1..) = older.len().checked_sub(MOST_NAMED) {
        words.push_str(&format!("\n… and {more} more: /sessions"));
    }
    Some(words)
}
