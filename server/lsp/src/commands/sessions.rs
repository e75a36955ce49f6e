//! The commands about sessions: new, sessions, resume, rewind, rename, delete, export.

use super::{CommandAnswer, answer, no_argument, read, show_file};
use crate::convert::invalid;
use crate::show::sessions::{about, left, resumed};
use crate::show::{tell, tell_answer};
use crate::state::State;
use ropewalk_host::words::{count, named};
use ropewalk_protocol::command::{
    CommandSession, DeleteArgument, DeletedSession, ExportArgument, RenameArgument, ResumeArgument,
    RewindArgument, RewoundTurn, SessionName, SessionSummary, SessionsArgument,
};
use ropewalk_protocol::{Op, Reply, ResumedSession, SessionInfo};
use serde_json::Value;
use std::sync::Arc;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::MessageType;

/// The most sessions that a message lists; the answer has them all.
const MOST_LISTED: usize = 20;

pub(super) fn new(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        no_argument(&argument, "ropewalk.new")?;
        let reply = state.ask(None, Op::New { beside: false }).await?;
        let Reply::Begun(id, before) = reply else { return Ok(Value::Null) };
        if let Some(words) = before.and_then(|before| left(&before)) {
            tell(&state, MessageType::INFO, words);
        }
        answer(CommandSession { session: id })
    })
}

pub(super) fn sessions(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let SessionsArgument { all } = read(argument, "", "{ all?: true }")?;
        let (list, words) = list(&state, all).await?;
        tell_answer(&state, words);
        answer(list)
    })
}

/// The sessions, and the same in words.
pub(super) async fn list(state: &State, all: bool) -> Result<(Vec<SessionInfo>, String)> {
    match state.ask(None, Op::Sessions { all }).await? {
        Reply::Sessions(list) => {
            let words = in_words(&list, all);
            Ok((list, words))
        }
        _ => Err(Error::internal_error()),
    }
}

fn in_words(list: &[SessionInfo], all: bool) -> String {
    let of = if all { "" } else { " of these folders" };
    let mut words = match list.len() {
        0 => format!("There are no sessions{of}."),
        1 => format!("1 session{of}:"),
        many => format!("{many} sessions{of}:"),
    };
    for (at, info) in list.iter().enumerate().take(MOST_LISTED) {
        words.push_str(&format!("\n{}: {}", at + 1, about(info)));
        if all {
            words.push_str(&format!(", of {}", info.roots.join(", ")));
        }
        if info.pending > 0 {
            let waits = count(info.pending, "change waits", "changes wait");
            words.push_str(&format!(", {waits}"));
        }
        if info.current {
            words.push_str(", the current one");
        } else if info.in_use {
            words.push_str(", open in another window");
        }
    }
    if let Some(more @ 1..) = list.len().checked_sub(MOST_LISTED) {
        words.push_str(&format!("\n… and {more} more."));
    }
    if !list.is_empty() {
        words.push_str("\nGo on with one: /resume and its number.");
    }
    words
}

pub(super) fn resume(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let wanted = "{ session? }: its number in the list, an id, or its start";
        let ResumeArgument { session } = read(argument, "session", wanted)?;
        let reply = state.ask(session, Op::Resume { beside: false }).await?;
        let Reply::Resumed(session) = reply else { return Ok(Value::Null) };
        tell(&state, MessageType::INFO, resumed(&session));
        let ResumedSession { session, title, turns, pending, .. } = session;
        answer(SessionSummary { session, title, turns, pending })
    })
}

/// Takes turns back. What was done is told by the event.
pub(super) fn rewind(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let RewindArgument { turn } = read(argument, "", "{ turn?: number }")?;
        let last = || state.host.snapshot(None).turns.last().copied().unwrap_or_default();
        let reply = state.ask(None, Op::Rewind(turn.unwrap_or_else(last))).await?;
        let Reply::Rewinding(turn, prompt) = reply else { return Ok(Value::Null) };
        answer(RewoundTurn { turn, prompt })
    })
}

pub(super) fn rename(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let RenameArgument { title, session } =
            read(argument, "title", "{ title, session? } or a title")?;
        if title.trim().is_empty() {
            return Err(invalid("ropewalk.rename needs a title"));
        }
        let reply = state.ask(session, Op::Rename(title)).await?;
        let Reply::Renamed(session, title) = reply else { return Ok(Value::Null) };
        answer(SessionName { session, title })
    })
}

pub(super) fn delete(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let wanted = "{ session, force?: true }: an id, or its start";
        let DeleteArgument { session, force } = read(argument, "session", wanted)?;
        if session.is_empty() {
            return Err(invalid("ropewalk.delete needs a session; /sessions lists them"));
        }
        let reply = state.ask(Some(session), Op::Delete { force }).await?;
        let Reply::Deleted(gone) = reply else { return Ok(Value::Null) };
        let lost = match gone.waits() {
            0 => String::new(),
            waited => format!(" with what waited in it ({waited})"),
        };
        tell_answer(&state, format!("{} is deleted{lost}.", named(&gone.title)));
        let SessionInfo { session, title, pending, .. } = gone;
        answer(DeletedSession { session, title, pending })
    })
}

pub(super) fn export(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let wanted = "{ session?, path?, member? }";
        let ExportArgument { session, path, member } = read(argument, "session", wanted)?;
        let reply = state.ask_of(session, member, Op::Export(path)).await?;
        let Reply::File(file) = reply else { return Ok(Value::Null) };
        show_file(&state, &file, format!("The session is in {file}"))
    })
}
