//! Prompts that are commands: each does at once the work of the command of that name. The words
//! come as a message, for a client that can do nothing but prompt.

use super::{review, sessions, team};
use crate::convert::invalid;
use crate::show::tell;
use crate::state::State;
use ropewalk_host::slash::Slash;
use ropewalk_protocol::command::PromptTurn;
use ropewalk_protocol::{Mode, Op, Selection, Status};
use serde_json::{Value, json};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::MessageType;

/// Runs one. Its failure is said like its success: the answer goes nowhere in some clients.
pub(crate) async fn run(
    state: Arc<State>,
    slash: std::result::Result<Slash, String>,
) -> Result<Value> {
    let done = match slash {
        Ok(slash) => act(&state, slash).await,
        Err(words) => Err(invalid(words)),
    };
    let said = match done {
        Ok(said) => said.inspect(|said| tell(&state, MessageType::INFO, said.clone())),
        Err(error) => {
            let words = error.message.into_owned();
            tell(&state, MessageType::WARNING, words.clone());
            Some(words)
        }
    };
    let session = state.current();
    let session = session.map(Into::into);
    super::answer(PromptTurn { session, turn: None, said })
}

/// Does it. Gives what is to be said, unless what it does is told by itself.
async fn act(state: &Arc<State>, slash: Slash) -> Result<Option<String>> {
    let said = match slash {
        Slash::Stop => match state.ask(None, Op::Interrupt(None)).await {
            Ok(_) => return Ok(None),
            Err(_) => "Nothing is running.".to_owned(),
        },
        Slash::New => {
            sessions::new(state.clone(), Value::Null).await?;
            "Your next request begins another conversation.".to_owned()
        }
        Slash::Mode(mode) => change_mode(state, mode).await?,
        Slash::Model(name) => change_model(state, name).await?,
        Slash::Accept => match state.waiting() {
            Some(waiting) => {
                review::accept(state.clone(), Value::Null).await?;
                format!("Accepting {}.", waiting.changes())
            }
            None => NOTHING_WAITS.to_owned(),
        },
        Slash::Reject(reason) => match state.waiting() {
            Some(waiting) => {
                review::reject(state.clone(), json!({ "reason": reason })).await?;
                format!("Rejecting {}.", waiting.changes())
            }
            None => NOTHING_WAITS.to_owned(),
        },
        Slash::Undo => undo(state).await?,
        Slash::Context => super::status_of(state).await?.context.in_words(),
        Slash::Allow => answer(state, json!({ "answer": "once" }), "Allowed once.").await?,
        Slash::Refuse(words) => {
            answer(state, json!({ "answer": "refuse", "words": words }), "Refused.").await?
        }
        Slash::Todos => state.host.snapshot(None).todos.to_string(),
        Slash::Help => Slash::help(),
        Slash::Status => super::status_and_words(state).await?.1,
        Slash::Tasks(page) => {
            return Ok(team::with_words(state, Op::Tasks { page }).await?.1);
        }
        Slash::Team(about) => return Ok(team::with_words(state, Op::Team(about)).await?.1),
        Slash::Inbox => return Ok(team::with_words(state, Op::Inbox).await?.1),
        Slash::Sessions => sessions::list(state, false).await?.1,
        // These say by themselves what they did.
        Slash::Compact(focus) => {
            return state.ask(None, Op::Compact(focus)).await.map(|_| None);
        }
        Slash::Next => return review::next(state, Value::Null).map(|_| None),
        Slash::Rewind(turn) => {
            return sessions::rewind(state.clone(), json!({ "turn": turn })).await.map(|_| None);
        }
        Slash::Resume(session) => {
            let argument = json!({ "session": session });
            return sessions::resume(state.clone(), argument).await.map(|_| None);
        }
    };
    Ok(Some(said))
}

async fn change_mode(state: &Arc<State>, mode: Option<Mode>) -> Result<String> {
    let now = match mode {
        Some(mode) => state.ask(None, Op::Mode(mode)).await.map(|_| mode)?,
        None => super::status_of(state).await?.mode,
    };
    Ok(format!("The mode is {now}: {}.", meaning(now)))
}

async fn change_model(state: &Arc<State>, name: Option<String>) -> Result<String> {
    let now = match name {
        Some(name) => state.ask(None, Op::SetModel(name.clone())).await.map(|_| Ok(name))?,
        None => {
            let Status { model, missing, .. } = super::status_of(state).await?;
            model.ok_or_else(|| missing.unwrap_or_default())
        }
    };
    Ok(now.map_or_else(|missing| missing, |model| format!("The model is {model}.")))
}

async fn undo(state: &Arc<State>) -> Result<String> {
    if review::latest(state) == Selection::Turn(0) {
        return Ok("There is nothing to take back.".to_owned());
    }
    review::undo(state.clone(), Value::Null).await?;
    Ok("Taking back what was accepted last.".to_owned())
}

const NOTHING_WAITS: &str = "Nothing waits for review.";

/// Answers the call that has waited longest.
async fn answer(state: &Arc<State>, argument: Value, said: &str) -> Result<String> {
    let nobody_else = state.teammates.questions().is_empty();
    if nobody_else && state.host.snapshot(None).approvals.is_empty() {
        return Ok("Nothing waits for your approval.".to_owned());
    }
    review::approve(state.clone(), argument).await?;
    Ok(said.to_owned())
}

fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "changes go to your text at once",
        Mode::Review => "changes wait for your review",
        Mode::Plan => "nothing is changed",
    }
}
