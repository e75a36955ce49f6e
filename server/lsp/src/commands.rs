//! Commands: `workspace/executeCommand`, from JSON to requests.
//!
//! Every command answers at once, or as soon as the disk has done its part; none waits for the client. Bad
//! arguments get -32602 with words that say what is wanted, and so does what the host refuses.

pub(crate) mod review;
mod sessions;
mod slash;
mod team;

pub(crate) use slash::run as run_slash;

use crate::convert::{invalid, range_to_lsp};
use crate::state::State;
use futures::future::BoxFuture;
use ropewalk_host::is_named;
use ropewalk_host::slash::Slash;
use ropewalk_host::words::{count, status_in_words};
use ropewalk_protocol::command::{
    CommandFile, CommandModel, CompactArgument, DocumentVersion, InterruptArgument, ModeArgument,
    ModelArgument, PromptArgument, PromptTurn, SessionMode, StatusArgument, SteerArgument,
    UnqueueArgument, UnqueuedPrompt,
};
use ropewalk_protocol::{Content, Op, Prompt, Reply, SelectedText, Status, TextRange};
use ropewalk_workspace::DocId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types as lsp;

/// A function that runs a command.
#[derive(Clone, Copy)]
enum Handler {
    /// It is done when it returns.
    Now(fn(&Arc<State>, Value) -> Result<Value>),
    /// The host answers it. What it needs of the moment is taken when it is polled first.
    Later(fn(Arc<State>, Value) -> CommandAnswer),
}

/// The answer to a command, which may wait for the disk and never for the client.
type CommandAnswer = BoxFuture<'static, Result<Value>>;

use Handler::{Later, Now};

/// Every command, by the name that clients call.
const COMMANDS: &[(&str, Handler)] = &[
    ("ropewalk.prompt", Later(prompt)),
    ("ropewalk.send", Later(crate::chat::send)),
    ("ropewalk.steer", Later(steer)),
    ("ropewalk.unqueue", Later(unqueue)),
    ("ropewalk.interrupt", Later(interrupt)),
    ("ropewalk.accept", Later(review::accept)),
    ("ropewalk.reject", Later(review::reject)),
    ("ropewalk.edit", Later(review::edit)),
    ("ropewalk.undo", Later(review::undo)),
    ("ropewalk.show", Now(review::show)),
    ("ropewalk.next", Now(review::next)),
    ("ropewalk.approve", Later(review::approve)),
    ("ropewalk.rules", Later(rules)),
    ("ropewalk.mode", Later(mode)),
    ("ropewalk.model", Later(model)),
    ("ropewalk.models", Later(models)),
    ("ropewalk.status", Later(status)),
    ("ropewalk.new", Later(sessions::new)),
    ("ropewalk.sessions", Later(sessions::sessions)),
    ("ropewalk.resume", Later(sessions::resume)),
    ("ropewalk.rewind", Later(sessions::rewind)),
    ("ropewalk.compact", Later(compact)),
    ("ropewalk.rename", Later(sessions::rename)),
    ("ropewalk.delete", Later(sessions::delete)),
    ("ropewalk.export", Later(sessions::export)),
    ("ropewalk.tasks", Later(team::tasks)),
    ("ropewalk.team", Later(team::team)),
    ("ropewalk.inbox", Later(team::inbox)),
    ("ropewalk.trust", Later(crate::trust::command)),
];

/// The names, for the capabilities.
pub(crate) fn names() -> Vec<String> {
    COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Runs a command on its one argument, an object or nothing; a bare string is the main field.
pub(crate) async fn execute(
    state: &Arc<State>,
    params: lsp::ExecuteCommandParams,
) -> Result<Value> {
    let Some((_, handler)) = COMMANDS.iter().find(|(name, _)| *name == params.command) else {
        let known = names().join(", ");
        return Err(invalid(format!(
            "There is no command {}. The commands are {known}",
            params.command
        )));
    };
    let mut arguments = params.arguments.into_iter();
    let argument = arguments.next().unwrap_or(Value::Null);
    if arguments.next().is_some() {
        return Err(invalid(format!("{} takes one argument, an object", params.command)));
    }
    match handler {
        Now(handler) => handler(state, argument),
        Later(handler) => handler(state.clone(), argument).await,
    }
}

/// Reads the argument, for which a bare string stands for `{ main: string }`.
pub(crate) fn read<T: DeserializeOwned>(argument: Value, main: &str, wanted: &str) -> Result<T> {
    let object = match argument {
        Value::Null => json!({}),
        Value::String(text) if !main.is_empty() => json!({ main: text }),
        // A list would be taken for the fields in their order.
        Value::Array(_) => {
            return Err(invalid(format!("a list is no argument; wanted is {wanted}")));
        }
        other => other,
    };
    serde_json::from_value(object).map_err(|error| invalid(format!("{error}; wanted is {wanted}")))
}

/// An answer as it goes to the client.
pub(crate) fn answer(answer: impl Serialize) -> Result<Value> {
    serde_json::to_value(answer).map_err(|_| Error::internal_error())
}

/// Refuses an argument where there is nothing to say.
pub(crate) fn no_argument(argument: &Value, command: &str) -> Result<()> {
    let is_nothing =
        argument.is_null() || argument.as_object().is_some_and(|given| given.is_empty());
    if is_nothing { Ok(()) } else { Err(invalid(format!("{command} takes no argument"))) }
}

fn prompt(state: Arc<State>, argument: Value) -> CommandAnswer {
    let is_nothing = no_argument(&argument, "").is_ok();
    if is_nothing && state.has_chat() {
        return Box::pin(crate::chat::open(state));
    }
    Box::pin(async move {
        let PromptArgument { prompt, content, text_document, range, member } =
            read_prompt(argument)?;
        let at = text_document.as_ref().map(|document| DocId::from_uri(&document.uri));
        state.chat.note_asked(at.as_ref());
        let slash = Slash::read(&prompt);
        match (slash, member) {
            (None, member) => {
                let content = [Content::text(prompt)].into_iter().chain(content).collect();
                ask(&state, content, text_document, range, member).await
            }
            (Some(_), Some(_)) => Err(invalid(
                "A teammate takes no commands: they are about your own session. Send it words",
            )),
            (Some(slash), None) => slash::run(state, slash).await,
        }
    })
}

fn read_prompt(argument: Value) -> Result<PromptArgument> {
    let wanted =
        "{ prompt, content?, textDocument?: { uri, version? }, range?, member? } or a string";
    let argument: PromptArgument = read(argument, "prompt", wanted)?;
    if argument.prompt.trim().is_empty() {
        return Err(invalid(format!(
            "ropewalk.prompt needs a prompt: {wanted}. In an editor without a plugin, bind a key to it or select text and use a code action"
        )));
    }
    Ok(argument)
}

async fn ask(
    state: &State,
    content: Vec<Content>,
    document: Option<DocumentVersion>,
    range: Option<TextRange>,
    member: Option<String>,
) -> Result<Value> {
    let range = range.map(range_to_lsp);
    let at = document.as_ref().map(|document| DocId::from_uri(&document.uri));
    let selection = match (document, range) {
        (Some(document), Some(range)) => selected(state, &document, range)?,
        (None, Some(_)) => return Err(invalid("a range needs its textDocument")),
        _ => None,
    };
    state.desk.note_asked(at.as_ref().map(|id| (id, range)));
    match state.ask_of(None, member, Op::Prompt(Prompt { content, selection })).await? {
        Reply::Turn(session, turn) => {
            answer(PromptTurn { session: Some(session), turn: Some(turn), said: None })
        }
        _ => Ok(Value::Null),
    }
}

/// The selected text, as it is now wherever the user has moved it since; of none, the line of the cursor.
fn selected(
    state: &State,
    document: &DocumentVersion,
    range: lsp::Range,
) -> Result<Option<SelectedText>> {
    let id = DocId::from_uri(&document.uri);
    let Some((text, bytes)) = state.anchors.locate(&id, document.version, range) else {
        return Err(invalid(format!("{} is not open", document.uri)));
    };
    let language = state
        .workspace
        .with_document(&id, |document| document.language.clone())
        .unwrap_or_default();
    let last = text.line_feeds_before(bytes.end.saturating_sub(1).max(bytes.start));
    Ok(Some(SelectedText {
        file: if is_named(&id) { state.workspace.name(&id) } else { "(no file)".to_owned() },
        language,
        lines: (text.line_feeds_before(bytes.start) + 1, last + 1),
        text: text.slice(bytes),
    }))
}

fn steer(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let SteerArgument { text, member } =
            read(argument, "text", "{ text, member? } or a string")?;
        if text.trim().is_empty() {
            return Err(invalid("ropewalk.steer needs a text"));
        }
        state.ask_of(None, member, Op::Steer(vec![Content::text(text)])).await?;
        Ok(Value::Null)
    })
}

fn unqueue(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let UnqueueArgument { turn, member } = read(argument, "", "{ turn, member? }")?;
        let asked = state.ask_of(None, member, Op::Unqueue(turn)).await?;
        let Reply::Unqueued(prompt) = asked else {
            return Ok(Value::Null);
        };
        answer(UnqueuedPrompt { prompt })
    })
}

fn compact(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let CompactArgument { focus } = read(argument, "focus", "{ focus? } or a string")?;
        state.ask(None, Op::Compact(focus)).await?;
        Ok(Value::Null)
    })
}

fn interrupt(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let wanted = "{ thread?, member? } or a string";
        let InterruptArgument { thread, member } = read(argument, "thread", wanted)?;
        let names_one = member.is_some();
        match state.ask_of(None, member, Op::Interrupt(thread)).await {
            Err(error) if names_one => Err(error),
            // Without a session there is nothing to stop.
            _ => Ok(Value::Null),
        }
    })
}

fn rules(state: Arc<State>, _: Value) -> CommandAnswer {
    Box::pin(async move {
        let Reply::File(file) = state.ask(None, Op::Rules).await? else { return Ok(Value::Null) };
        show_file(&state, &file, format!("The rules are in {file}"))
    })
}

/// Opens a file in the editor; where an editor can't be told to, `words` are said. Gives where it is.
fn show_file(state: &Arc<State>, file: &str, words: String) -> Result<Value> {
    let uri = DocId::from_path(file.as_ref()).to_uri();
    crate::show::open_document(state, &uri, None, words);
    answer(CommandFile { path: file.to_owned(), uri })
}

fn mode(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let ModeArgument { mode } = read(argument, "mode", "{ mode: auto, review or plan }")?;
        let mode = match mode {
            Some(mode) => state.ask(None, Op::Mode(mode)).await.map(|_| mode)?,
            None => status_of(&state).await?.mode,
        };
        answer(SessionMode { mode })
    })
}

fn model(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let ModelArgument { model } = read(argument, "model", "{ model: provider/name }")?;
        if let Some(name) = model {
            state.ask(None, Op::SetModel(name.clone())).await?;
            let missing = state.host.missing_for(name.clone()).await;
            return answer(CommandModel { model: Some(name), missing });
        }
        let Status { model, mut missing, .. } = status_of(&state).await?;
        if let Some(name) = model.clone() {
            missing = state.host.missing_for(name).await;
        }
        answer(CommandModel { model, missing })
    })
}

fn models(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        no_argument(&argument, "ropewalk.models")?;
        let found = state.host.models().await;
        answer(found.map_err(|refusal| invalid(refusal.words))?)
    })
}

/// How the current session stands, started now if there was none.
async fn status_of(state: &State) -> Result<Status> {
    status_of_member(state, None).await
}

/// How a teammate's session stands, if one is named.
async fn status_of_member(state: &State, member: Option<String>) -> Result<Status> {
    match state.ask_of(None, member, Op::Status).await? {
        Reply::Status(status) => Ok(status),
        _ => Err(Error::internal_error()),
    }
}

fn status(state: Arc<State>, argument: Value) -> CommandAnswer {
    Box::pin(async move {
        let StatusArgument { member } = read(argument, "member", "{ member? } or a name")?;
        let (status, words) = match member {
            None => status_and_words(&state).await?,
            Some(member) => {
                let status = status_of_member(&state, Some(member)).await?;
                let changes = count(status.hunks, "change waits", "changes wait");
                let waits = (status.hunks > 0).then(|| format!("{changes} for review"));
                let words = status_in_words(waits, &status);
                (status, words)
            }
        };
        crate::show::tell_answer(&state, words);
        answer(status)
    })
}

async fn status_and_words(state: &State) -> Result<(Status, String)> {
    let status = status_of(state).await?;
    let waits = state.waiting().map(|waiting| waiting.in_words());
    let words = status_in_words(waits, &status);
    Ok((status, words))
}
