//! What is typed as a prompt and is a command: it does what the command of that name does, at once, and its words
//! come as a message, for a client that can do nothing but prompt.

use super::{invalid, review};
use crate::sessions::commands as sessions;
use crate::show::tell;
use crate::state::State;
use ropewalk_agent::slash::Slash;
use ropewalk_protocol::{Mode, Op};
use serde_json::{Value, json};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::MessageType;

/// Runs one. Its failure is said like its success: the answer goes nowhere in some clients.
pub(super) async fn run(
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
    let session = state.running_session().map(|session| session.id().to_string());
    Ok(json!({ "session": session, "turn": null, "said": said }))
}

/// Does it. Gives what is to be said, unless what it does is told by itself.
async fn act(state: &Arc<State>, slash: Slash) -> Result<Option<String>> {
    let said = match slash {
        Slash::Stop => match state.running_session() {
            Some(session) => {
                session.send(Op::Interrupt);
                return Ok(None);
            }
            None => "Nothing is running.".to_owned(),
        },
        Slash::New => {
            sessions::new(state.clone(), Value::Null).await?;
            "Your next request begins another conversation.".to_owned()
        }
        Slash::Mode(mode) => change_mode(state, mode)?,
        Slash::Model(name) => change_model(state, name.as_deref())?,
        Slash::Accept => match state.waiting() {
            Some(waiting) => {
                review::accept(state, Value::Null)?;
                format!("Accepting {}.", waiting.changes())
            }
            None => NOTHING_WAITS.to_owned(),
        },
        Slash::Reject(reason) => match state.waiting() {
            Some(waiting) => {
                review::reject(state, json!({ "reason": reason }))?;
                format!("Rejecting {}.", waiting.changes())
            }
            None => NOTHING_WAITS.to_owned(),
        },
        Slash::Undo => undo(state)?,
        Slash::Allow => answer(state, json!({ "answer": "once" }), "Allowed once.")?,
        Slash::Refuse(words) => {
            answer(state, json!({ "answer": "refuse", "words": words }), "Refused.")?
        }
        Slash::Help => Slash::help(),
        // These say by themselves what they did.
        Slash::Next => return review::next(state, Value::Null).map(|_| None),
        Slash::Rewind(turn) => {
            return sessions::rewind(state, json!({ "turn": turn })).map(|_| None);
        }
        Slash::Status => return super::status(state, Value::Null).map(|_| None),
        Slash::Sessions => {
            return sessions::sessions(state.clone(), Value::Null).await.map(|_| None);
        }
        Slash::Resume(session) => {
            let argument = json!({ "session": session });
            return sessions::resume(state.clone(), argument).await.map(|_| None);
        }
    };
    Ok(Some(said))
}

fn change_mode(state: &Arc<State>, mode: Option<Mode>) -> Result<String> {
    super::mode(state, json!({ "mode": mode.map(|mode| mode.to_string()) }))?;
    let now = mode.unwrap_or_else(|| state.session().mode());
    Ok(format!("The mode is {now}: {}.", meaning(now)))
}

fn change_model(state: &Arc<State>, name: Option<&str>) -> Result<String> {
    let answer = super::model(state, json!({ "model": name }))?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    let missing = || text("missing").unwrap_or_default();
    Ok(text("model").map_or_else(missing, |model| format!("The model is {model}.")))
}

fn undo(state: &Arc<State>) -> Result<String> {
    let session = state.running_session();
    let turn = session.map(|session| state.workspace.ledger().latest_turn(session.id()));
    if turn.is_none_or(|turn| turn == 0) {
        return Ok("There is nothing to take back.".to_owned());
    }
    review::undo(state, Value::Null)?;
    Ok("Taking back what was accepted last.".to_owned())
}

const NOTHING_WAITS: &str = "Nothing waits for review.";

/// Answers the call that has waited longest.
fn answer(state: &Arc<State>, argument: Value, said: &str) -> Result<String> {
    let waits = state.running_session().is_some_and(|it| !it.waiting_approvals().is_empty());
    if !waits {
        return Ok("Nothing waits for your approval.".to_owned());
    }
    review::approve(state, argument)?;
    Ok(said.to_owned())
}

fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "changes go to your text at once",
        Mode::Review => "changes wait for your review",
        Mode::Plan => "nothing is changed",
    }
}
