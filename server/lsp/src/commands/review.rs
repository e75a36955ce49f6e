//! Commands about hunks and approvals: accept, reject, undo, edit, show, next, approve.

use super::{CommandAnswer, answer, read};
use crate::convert::{invalid, position_of, text_position};
use crate::lock;
use crate::placed::ReachableHunk;
use crate::state::State;
use ropewalk_protocol::command::{
    ApprovalAnswer, ApprovalArgument, EditArgument, HunkArgument, HunkChoice, HunkDiff, HunkIds,
    NextArgument, NextHunk,
};
use ropewalk_protocol::{Op, Selection, Verdict};
use ropewalk_workspace::DocId;
use serde_json::Value;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

/// Refuses what is of another session than the current one: it has other hunks on the screen.
pub(crate) fn is_meant(state: &State, session: Option<String>) -> Result<()> {
    match session {
        Some(id) if !state.host.is_current(&id) => {
            Err(invalid("That is of another session than the current one; /resume brings it back"))
        }
        _ => Ok(()),
    }
}

const SELECTION: &str = "{ hunk: number or list } or { uri } or { turn } or { all: true }";

/// The hunks that are meant; none where nothing says which.
fn selection(choice: &HunkChoice) -> Result<Option<Selection>> {
    let hunks = choice.hunk.as_ref().map(|hunk| match hunk {
        HunkIds::One(id) => Selection::Hunks(vec![*id]),
        HunkIds::Many(ids) => Selection::Hunks(ids.clone()),
    });
    let file = choice.uri.as_ref().map(|uri| Selection::File(uri.clone()));
    let turn = choice.turn.map(Selection::Turn);
    let all = choice.all.then_some(Selection::All);
    let mut given = [hunks, file, turn, all].into_iter().flatten();
    let first = given.next();
    if given.next().is_some() {
        return Err(invalid(format!("give one of them: {SELECTION}")));
    }
    Ok(first)
}

/// Asks for a review of what was chosen, or else of what `otherwise` says.
fn review(
    state: Arc<State>,
    argument: Value,
    otherwise: fn(&State) -> Selection,
    op: fn(Selection, Option<String>) -> Op,
) -> CommandAnswer {
    Box::pin(async move {
        let choice: HunkChoice = read(argument, "uri", SELECTION)?;
        let selection = selection(&choice)?.unwrap_or_else(|| otherwise(&state));
        state.ask(choice.session, op(selection, choice.reason)).await?;
        Ok(Value::Null)
    })
}

pub(super) fn accept(state: Arc<State>, argument: Value) -> CommandAnswer {
    review(state, argument, |_| Selection::All, |selection, _| Op::Accept(selection))
}

pub(super) fn reject(state: Arc<State>, argument: Value) -> CommandAnswer {
    review(state, argument, |_| Selection::All, Op::Reject)
}

pub(super) fn undo(state: Arc<State>, argument: Value) -> CommandAnswer {
    review(state, argument, latest, |selection, _| Op::Undo(selection))
}

/// The turn that was published last.
pub(super) fn latest(state: &State) -> Selection {
    Selection::Turn(state.host.snapshot(None).review.latest_turn)
}

pub(super) fn edit(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let wanted = "{ hunk, text }: the new lines, whole";
        let EditArgument { hunk, text, session } = read(argument, "text", wanted)?;
        state.ask(session, Op::Edit(hunk, text)).await?;
        Ok(Value::Null)
    })
}

pub(super) fn show(state: &Arc<State>, argument: Value) -> Result<Value> {
    let HunkArgument { hunk, session } = read(argument, "hunk", "{ hunk }")?;
    is_meant(state, session)?;
    let diff =
        state.shown_diff(hunk).ok_or_else(|| invalid("That change does not wait any more"))?;
    crate::show::tell(state, lsp::MessageType::INFO, diff.clone());
    answer(HunkDiff { diff })
}

/// Leads to the next pending change.
pub(super) fn next(state: &Arc<State>, argument: Value) -> Result<Value> {
    let wanted = "{ hunk } or { textDocument: { uri }, position }, or nothing";
    let NextArgument { hunk, text_document, position, session } = read(argument, "", wanted)?;
    is_meant(state, session)?;
    let all = state.placed_hunks();
    let here = match (text_document, position) {
        (Some(document), Some(position)) => {
            Some((DocId::from_uri(&document.uri), position_of(position)))
        }
        (None, None) => None,
        _ => return Err(invalid(format!("wanted is {wanted}"))),
    };
    let visited = lock(&state.visited).clone();
    let at = match (hunk, here, &visited) {
        (Some(hunk), ..) => all.iter().position(|placed| placed.id == hunk).map_or(0, |at| at + 1),
        (None, Some((id, position)), _) => after(&all, &id, position, false),
        (None, None, Some(last)) => match all.iter().position(|placed| placed.id == last.id) {
            Some(at) => at + 1,
            // It was accepted or rejected: what stood behind it stands there now.
            None => after(&all, &last.at, last.range.start, true),
        },
        (None, None, None) => 0,
    };
    let Some(placed) = all.get(at).or_else(|| all.first()) else {
        crate::show::tell(state, lsp::MessageType::INFO, "Nothing waits for review.".to_owned());
        return Ok(Value::Null);
    };
    *lock(&state.visited) = Some(placed.clone());
    let (uri, start) = (state.workspace.spelling(&placed.at), placed.range.start);
    let number = all.iter().position(|one| one.id == placed.id).map_or(1, |at| at + 1);
    let shown =
        if placed.is_elsewhere { state.workspace.name(&placed.at) } else { placed.file.clone() };
    let words = format!("{shown}:{} (change {number} of {})", start.line + 1, all.len());
    crate::show::open_document(state, &uri, Some(start), words);
    let (position, file) = (text_position(start), placed.file.clone());
    answer(NextHunk { hunk: placed.id, uri, position, file })
}

/// The place in the list of the first change behind a position, or at it. New files that are shown there come in their own
/// place.
fn after(all: &[ReachableHunk], id: &DocId, position: lsp::Position, or_at: bool) -> usize {
    let is_there = |placed: &ReachableHunk| placed.at == *id && !placed.is_elsewhere;
    let is_behind = |placed: &ReachableHunk| {
        let start = placed.range.start;
        is_there(placed) && (start.line > position.line || or_at && start.line == position.line)
    };
    let last = all.iter().rposition(is_there).map_or(0, |last| last + 1);
    all.iter().position(is_behind).unwrap_or(last)
}

pub(super) fn approve(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let wanted =
            "{ approval?, answer?: once, session, always, afterSave or refuse, words?, member? }";
        let ApprovalArgument { approval, answer, words, session, member } =
            read(argument, "answer", wanted)?;
        let verdict = match answer.unwrap_or_default() {
            ApprovalAnswer::Once => Verdict::Once,
            ApprovalAnswer::Session => Verdict::Session,
            ApprovalAnswer::Always => Verdict::Always,
            ApprovalAnswer::AfterSave => Verdict::AfterSave,
            ApprovalAnswer::Refuse => Verdict::Refuse(words),
        };
        let own: Vec<u64> =
            state.host.snapshot(None).approvals.iter().map(|asked| asked.id).collect();
        let asking = || state.teammates.session_asking(approval, &own);
        let session = if member.is_none() { session.or_else(asking) } else { session };
        state.ask_of(session, member, Op::Approve(approval, verdict)).await?;
        Ok(Value::Null)
    })
}
