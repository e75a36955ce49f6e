//! The commands about a team: tasks, team, inbox.

use super::{CommandAnswer, answer, no_argument, read};
use crate::convert::invalid;
use crate::show::tell_answer;
use crate::state::State;
use ropewalk_host::team_words;
use ropewalk_protocol::command::{TaskPage, TasksArgument, TeamArgument};
use ropewalk_protocol::{Op, Reply, TeamOp};
use serde_json::Value;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

pub(super) fn tasks(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let TasksArgument { page } = read(argument, "", "{ page? }")?;
        asked(&state, Op::Tasks { page }).await
    })
}

pub(super) fn team(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let wanted = "one of { stop: name }, { plan: { request, approve, words? } } and { adopt: team }, or nothing";
        let argument: TeamArgument = read(argument, "", wanted)?;
        let op = argument.op().ok_or_else(|| invalid(format!("give {wanted}")))?;
        asked(&state, Op::Team(op)).await
    })
}

pub(super) fn inbox(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        no_argument(&argument, "ropewalk.inbox")?;
        asked(&state, Op::Inbox).await
    })
}

/// Asks, says the reply in words where the client shows no answers, and gives it.
async fn asked(state: &Arc<State>, op: Op) -> Result<Value> {
    let (reply, words) = with_words(state, op).await?;
    words.into_iter().for_each(|words| tell_answer(state, words));
    match reply {
        Reply::Tasks { tasks, more } => answer(TaskPage { tasks, more }),
        Reply::Team(roster) => answer(roster),
        Reply::Inbox(messages) => answer(messages),
        _ => Ok(Value::Null),
    }
}

/// The reply about a team, and the same in words.
pub(super) async fn with_words(state: &State, op: Op) -> Result<(Reply, Option<String>)> {
    let page = if let Op::Tasks { page } = op { page } else { None };
    let about = if let Op::Team(about) = &op { about.clone() } else { TeamOp::Show };
    let reply = state.ask(None, op).await?;
    let words = team_words::in_words(&reply, page, &about);
    Ok((reply, words))
}
