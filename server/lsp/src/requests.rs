//! Requests of a plugin, beside commands: texts of changes, documents as they are proposed, what a session has said, and
//! what can be completed in a prompt.

use crate::commands::review::is_meant;
use crate::commands::{answer, read};
use crate::convert::invalid;
use crate::state::State;
use ropewalk_protocol::Op;
use ropewalk_protocol::command::HunkArgument;
use ropewalk_protocol::plugin::{
    Completion, CompletionRequest, Completions, DocumentName, HistoryRequest, ProposedDocument,
    ResultRequest,
};
use ropewalk_text::PositionEncoding;
use ropewalk_workspace::DocId;
use serde_json::Value;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

/// `ropewalk/hunk`.
pub(crate) fn hunk(state: &Arc<State>, argument: Value) -> Result<Value> {
    let HunkArgument { hunk, session } = read(argument, "", "{ hunk, session? }")?;
    is_meant(state, session)?;
    let texts = state.host.hunk_texts(hunk);
    answer(texts.ok_or_else(|| invalid("That change does not wait any more"))?)
}

/// `ropewalk/document`.
pub(crate) async fn document(state: &Arc<State>, argument: Value) -> Result<Value> {
    let DocumentName { uri } = read(argument, "uri", "{ uri }")?;
    let asked = state.host.proposed_text(DocId::from_uri(&uri));
    let text = asked.await.map_err(|refusal| invalid(refusal.words))?;
    answer(ProposedDocument { text })
}

/// How many turns a history has unless more or less are asked for.
const TURNS: usize = 20;

/// The most turns that one answer has.
const MOST_TURNS: usize = 200;

/// `ropewalk/history`.
pub(crate) async fn history(state: &Arc<State>, argument: Value) -> Result<Value> {
    let wanted = "{ session?, before?, turns? }";
    let HistoryRequest { session, before, turns } = read(argument, "session", wanted)?;
    let most = turns.unwrap_or(TURNS).min(MOST_TURNS);
    let history = state.host.history(session, before, most).await;
    let mut history = answer(history.map_err(|refusal| invalid(refusal.words))?)?;
    let turns = history.get_mut("turns").and_then(Value::as_array_mut).into_iter().flatten();
    let events = turns.filter_map(|turn| turn.get_mut("events")?.as_array_mut()).flatten();
    events.for_each(|event| state.respell(event));
    Ok(history)
}

/// `ropewalk/result`.
pub(crate) async fn result(state: &Arc<State>, argument: Value) -> Result<Value> {
    let ResultRequest { call, session } = read(argument, "call", "{ call, session? }")?;
    let result = state.host.call_result(session, call).await;
    answer(result.map_err(|refusal| invalid(refusal.words))?)
}

/// `ropewalk/complete`.
pub(crate) async fn complete(state: &Arc<State>, argument: Value) -> Result<Value> {
    let CompletionRequest { text, offset } = read(argument, "", "{ text, offset }")?;
    let encoding = state.workspace.coordinates().encoding;
    let mut left = offset;
    let before: String = text
        .chars()
        .take_while(|c| {
            let rest = left.checked_sub(units(encoding, *c));
            left = rest.unwrap_or_default();
            rest.is_some()
        })
        .collect();
    let (at, items) = completed(state, before.clone()).await.map_err(invalid)?;
    let start = before.get(..at).unwrap_or_default().chars().map(|c| units(encoding, c)).sum();
    answer(Completions { start, items })
}

/// Completes the start of a prompt: the byte in it that the completions replace from, and the
/// completions.
///
/// # Errors
/// When the work breaks down, in words.
pub(crate) async fn completed(
    state: &State,
    before: String,
) -> std::result::Result<(usize, Vec<Completion>), String> {
    if before.starts_with('/') {
        // A session knows the names there are. One that can't be started is said elsewhere.
        let _ = state.ask(None, Op::Status).await;
    }
    state.host.complete(before).await.map_err(|refusal| refusal.words)
}

/// How much a character counts.
fn units(encoding: PositionEncoding, c: char) -> usize {
    match encoding {
        PositionEncoding::Utf8 => c.len_utf8(),
        PositionEncoding::Utf16 => c.len_utf16(),
        PositionEncoding::Utf32 => 1,
    }
}
