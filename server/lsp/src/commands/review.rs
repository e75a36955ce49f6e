//! Commands about hunks and approvals: accept, reject, undo, edit, show, approve.

use super::{invalid, read, running};
use crate::state::State;
use ropewalk_agent::{Op, Session, Verdict};
use ropewalk_workspace::{DocId, HunkId, Selection};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

/// The current session, if it is the one that a hunk or an approval is of: another has the same numbers.
fn meant(state: &Arc<State>, session: Option<String>) -> Result<Session> {
    is_meant(state, session)?;
    running(state)
}

fn is_meant(state: &State, session: Option<String>) -> Result<()> {
    match session {
        Some(id) if !state.is_current(&id) => Err(invalid(
            "That is of another session than the current one; ropewalk.resume brings it back",
        )),
        _ => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Chosen {
    hunk: Option<OneOrMany>,
    uri: Option<String>,
    turn: Option<u64>,
    #[serde(default)]
    all: bool,
    reason: Option<String>,
    session: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(u64),
    Many(Vec<u64>),
}

const SELECTION: &str = "{ hunk: number or list } or { uri } or { turn } or { all: true }";

impl Chosen {
    fn selection(&self) -> Result<Option<Selection>> {
        let hunks = self.hunk.as_ref().map(|hunk| match hunk {
            OneOrMany::One(id) => Selection::Hunks(vec![HunkId(*id)]),
            OneOrMany::Many(ids) => Selection::Hunks(ids.iter().map(|id| HunkId(*id)).collect()),
        });
        let file = self.uri.as_ref().map(|uri| Selection::File(DocId::from_uri(uri)));
        let turn = self.turn.map(Selection::Turn);
        let all = self.all.then_some(Selection::All);
        let mut given = [hunks, file, turn, all].into_iter().flatten();
        let first = given.next();
        if given.next().is_some() {
            return Err(invalid(format!("give one of them: {SELECTION}")));
        }
        Ok(first)
    }
}

pub(super) fn accept(state: &Arc<State>, argument: Value) -> Result<Value> {
    let chosen: Chosen = read(argument, "uri", SELECTION)?;
    let selection = chosen.selection()?.unwrap_or(Selection::All);
    meant(state, chosen.session)?.send(Op::Accept(selection));
    Ok(Value::Null)
}

pub(super) fn reject(state: &Arc<State>, argument: Value) -> Result<Value> {
    let chosen: Chosen = read(argument, "uri", SELECTION)?;
    let selection = chosen.selection()?.unwrap_or(Selection::All);
    meant(state, chosen.session)?.send(Op::Reject(selection, chosen.reason));
    Ok(Value::Null)
}

pub(super) fn undo(state: &Arc<State>, argument: Value) -> Result<Value> {
    let chosen: Chosen = read(argument, "uri", SELECTION)?;
    let session = meant(state, chosen.session.clone())?;
    // Without a choice, what was published last.
    let latest = || Selection::Turn(state.workspace.ledger().latest_turn(session.id()));
    let selection = chosen.selection()?.unwrap_or_else(latest);
    session.send(Op::Undo(selection));
    Ok(Value::Null)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edited {
    hunk: u64,
    text: String,
    session: Option<String>,
}

pub(super) fn edit(state: &Arc<State>, argument: Value) -> Result<Value> {
    let wanted = "{ hunk, text }: the new lines, whole";
    let Edited { hunk, text, session } = read(argument, "text", wanted)?;
    meant(state, session)?.send(Op::Edit(HunkId(hunk), text));
    Ok(Value::Null)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    hunk: u64,
    session: Option<String>,
}

pub(super) fn show(state: &Arc<State>, argument: Value) -> Result<Value> {
    let Shown { hunk, session } = read(argument, "hunk", "{ hunk }")?;
    is_meant(state, session)?;
    let diff = state
        .shown_diff(hunk)
        .ok_or_else(|| invalid(format!("There is no pending hunk {hunk}")))?;
    crate::show::tell(state, lsp::MessageType::INFO, diff.clone());
    Ok(json!({ "diff": diff }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    approval: Option<u64>,
    answer: Option<String>,
    words: Option<String>,
    session: Option<String>,
}

pub(super) fn approve(state: &Arc<State>, argument: Value) -> Result<Value> {
    let wanted = "{ approval?, answer?: once, session, always, afterSave or refuse, words? }";
    let Answer { approval, answer, words, session } = read(argument, "answer", wanted)?;
    let verdict = match answer.as_deref().unwrap_or("once") {
        "once" => Verdict::Once,
        "session" => Verdict::Session,
        "always" => Verdict::Always,
        "afterSave" => Verdict::AfterSave,
        "refuse" => Verdict::Refuse(words),
        other => return Err(invalid(format!("{other:?} is no answer; wanted is {wanted}"))),
    };
    meant(state, session)?.send(Op::Approve(approval, verdict));
    Ok(Value::Null)
}
