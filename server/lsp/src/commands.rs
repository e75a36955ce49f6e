//! Commands: `workspace/executeCommand`, from JSON to ops.
//!
//! Every command answers at once, or as soon as the disk has done its part; none waits for the client. Bad
//! arguments get -32602 with words that say what is wanted. Commands about sessions and trust are beside what they
//! are about.

mod review;
mod slash;

use crate::sessions::commands as sessions;
use crate::show::words::count;
use crate::state::State;
use futures::future::BoxFuture;
use ropewalk_agent::Session;
use ropewalk_agent::prompt::is_named;
use ropewalk_agent::slash::Slash;
use ropewalk_protocol::{Content, Mode, Op, Prompt, SelectedText, Tokens};
use ropewalk_workspace::DocId;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types as lsp;

/// What runs a command.
#[derive(Clone, Copy)]
enum Handler {
    /// It is done when it returns.
    Now(fn(&Arc<State>, Value) -> Result<Value>),
    /// It may touch the disk. What it needs of the moment is taken when it is polled first.
    Later(fn(Arc<State>, Value) -> BoxFuture<'static, Result<Value>>),
}

use Handler::{Later, Now};

/// Every command, by the name that clients call.
const COMMANDS: &[(&str, Handler)] = &[
    ("ropewalk.prompt", Later(prompt)),
    ("ropewalk.steer", Now(steer)),
    ("ropewalk.interrupt", Now(interrupt)),
    ("ropewalk.accept", Now(review::accept)),
    ("ropewalk.reject", Now(review::reject)),
    ("ropewalk.edit", Now(review::edit)),
    ("ropewalk.undo", Now(review::undo)),
    ("ropewalk.show", Now(review::show)),
    ("ropewalk.next", Now(review::next)),
    ("ropewalk.approve", Now(review::approve)),
    ("ropewalk.rules", Now(rules)),
    ("ropewalk.mode", Now(mode)),
    ("ropewalk.model", Now(model)),
    ("ropewalk.status", Now(status)),
    ("ropewalk.new", Later(sessions::new)),
    ("ropewalk.sessions", Later(sessions::sessions)),
    ("ropewalk.resume", Later(sessions::resume)),
    ("ropewalk.rewind", Now(sessions::rewind)),
    ("ropewalk.rename", Later(sessions::rename)),
    ("ropewalk.delete", Later(sessions::delete)),
    ("ropewalk.export", Later(sessions::export)),
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

pub(crate) fn invalid(words: impl Into<String>) -> Error {
    Error::invalid_params(words.into())
}

/// Reads the argument, for which a bare string stands for `{ main: string }`.
pub(crate) fn read<T: DeserializeOwned>(argument: Value, main: &str, wanted: &str) -> Result<T> {
    let object = match argument {
        Value::Null => json!({}),
        Value::String(text) if !main.is_empty() => json!({ main: text }),
        other => other,
    };
    serde_json::from_value(object).map_err(|error| invalid(format!("{error}; wanted is {wanted}")))
}

/// Refuses an argument where there is nothing to say.
pub(crate) fn no_argument(argument: &Value, command: &str) -> Result<()> {
    let is_nothing =
        argument.is_null() || argument.as_object().is_some_and(|given| given.is_empty());
    if is_nothing { Ok(()) } else { Err(invalid(format!("{command} takes no argument"))) }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PromptArgument {
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    content: Vec<Content>,
    text_document: Option<Document>,
    range: Option<lsp::Range>,
}

#[derive(Deserialize)]
struct Document {
    uri: String,
    version: Option<i32>,
}

fn prompt(state: Arc<State>, argument: Value) -> BoxFuture<'static, Result<Value>> {
    Box::pin(async move {
        let PromptArgument { prompt, mut content, text_document, range } = read_prompt(argument)?;
        match Slash::read(&prompt) {
            None => {
                content.insert(0, Content::text(prompt));
                ask(&state, content, text_document, range)
            }
            Some(slash) => slash::run(state, slash).await,
        }
    })
}

fn read_prompt(argument: Value) -> Result<PromptArgument> {
    let wanted = "{ prompt, content?, textDocument?: { uri, version? }, range? } or a string";
    let argument: PromptArgument = read(argument, "prompt", wanted)?;
    if argument.prompt.trim().is_empty() {
        return Err(invalid(format!(
            "ropewalk.prompt needs a prompt: {wanted}. In an editor without a plugin, bind a key to it or select text and use a code action"
        )));
    }
    Ok(argument)
}

fn ask(
    state: &Arc<State>,
    content: Vec<Content>,
    document: Option<Document>,
    range: Option<lsp::Range>,
) -> Result<Value> {
    let at = document.as_ref().map(|document| DocId::from_uri(&document.uri));
    let selection = match (document, range) {
        (Some(document), Some(range)) => selected(state, &document, range)?,
        (None, Some(_)) => return Err(invalid("a range needs its textDocument")),
        _ => None,
    };
    state.note_asked(at.as_ref().map(|id| (id, range)));
    let problems = state.configure_if_changed();
    let (session, turn) = state.prompt(Prompt { content, selection });
    crate::show::tell_problems(state, problems);
    crate::trust::ask(state);
    Ok(json!({ "session": &*session, "turn": turn }))
}

/// The selected text, as it is now wherever the user has moved it since.
fn selected(
    state: &Arc<State>,
    document: &Document,
    range: lsp::Range,
) -> Result<Option<SelectedText>> {
    let id = DocId::from_uri(&document.uri);
    let Some((text, bytes)) = state.locate(&id, document.version, range) else {
        return Err(invalid(format!("{} is not open", document.uri)));
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    let language = state
        .workspace
        .with_document(&id, |document| document.language.clone())
        .unwrap_or_default();
    let last = text.line_feeds_before(bytes.end.saturating_sub(1).max(bytes.start));
    Ok(Some(SelectedText {
        file: if is_named(&id) { state.workspace.shown(&id) } else { "(no file)".to_owned() },
        language,
        lines: (text.line_feeds_before(bytes.start) + 1, last + 1),
        text: text.slice(bytes),
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    text: Option<String>,
}

fn steer(state: &Arc<State>, argument: Value) -> Result<Value> {
    let Words { text } = read(argument, "text", "{ text } or a string")?;
    let text = text
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| invalid("ropewalk.steer needs a text"))?;
    running(state)?.send(Op::Steer(vec![Content::text(text)]));
    Ok(Value::Null)
}

fn interrupt(state: &Arc<State>, _: Value) -> Result<Value> {
    if let Some(session) = state.running_session() {
        session.send(Op::Interrupt);
    }
    Ok(Value::Null)
}

pub(crate) fn running(state: &Arc<State>) -> Result<Session> {
    state.running_session().ok_or_else(|| invalid("Nothing was asked yet"))
}

fn rules(state: &Arc<State>, _: Value) -> Result<Value> {
    let file = state.rules_file().ok_or_else(|| {
        invalid("There is no home folder, so there is no place for rules that hold for always")
    })?;
    let uri = DocId::from_path(&file).to_uri();
    let answer = json!({ "path": file.to_string_lossy(), "uri": uri });
    crate::show::open_rules(state, file);
    Ok(answer)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModeArgument {
    mode: Option<String>,
}

fn mode(state: &Arc<State>, argument: Value) -> Result<Value> {
    let ModeArgument { mode } = read(argument, "mode", "{ mode: auto, review or plan }")?;
    let session = state.session();
    if let Some(mode) = mode {
        let chosen = mode.parse::<Mode>().map_err(invalid)?;
        if let Some(lock) = state.config().is_locked("mode") {
            return Err(invalid(format!("The mode can't be changed: it is locked by {lock}")));
        }
        session.send(Op::Mode(chosen));
        return Ok(json!({ "mode": mode }));
    }
    Ok(json!({ "mode": session.mode().to_string() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelArgument {
    model: Option<String>,
}

fn model(state: &Arc<State>, argument: Value) -> Result<Value> {
    let ModelArgument { model } = read(argument, "model", "{ model: provider/name }")?;
    let session = state.session();
    if let Some(name) = model {
        session.speak_to(state.model_named(&name).map_err(invalid)?);
        return Ok(json!({ "model": name }));
    }
    match session.model() {
        Ok(name) => Ok(json!({ "model": name })),
        Err(sentence) => Ok(json!({ "model": null, "missing": sentence })),
    }
}

fn status(state: &Arc<State>, _: Value) -> Result<Value> {
    let session = state.session();
    let spent = session.spent();
    let model = session.model().unwrap_or_else(|sentence| sentence);
    let hunks = session.hunks().len();
    let waiting: Vec<u64> = session.waiting_approvals().iter().map(|asked| asked.id).collect();
    let (title, turns, locks) = (session.title(), session.turns().len(), state.locks());
    let status = json!({
        "session": &**session.id(),
        "title": title,
        "turns": turns,
        "locks": locks.iter().map(|(key, by)| json!({ "key": key, "by": by })).collect::<Vec<_>>(),
        "mode": session.mode().to_string(),
        "model": model,
        "hunks": hunks,
        "approvals": waiting,
        "messages": session.messages().len(),
        "tokens": Tokens::from(spent),
        "desyncAlarms": state.workspace.desync_alarms(),
    });
    let waits = match state.waiting() {
        Some(waiting) => waiting.in_words(),
        None => "Nothing waits for review".to_owned(),
    };
    let asks = match waiting.len() {
        0 => "Nothing waits for your approval".to_owned(),
        calls => count(calls, "call waits for your approval", "calls wait for your approval"),
    };
    let mut words = format!("{waits}. {asks}.\n{model}, mode {}.", session.mode());
    if turns > 0 {
        let (title, turns) = (crate::sessions::named(&title), count(turns, "turn", "turns"));
        words.push_str(&format!("\n{title}: {turns}, {}.", Tokens::from(spent).in_short()));
    }
    for (key, by) in &locks {
        words.push_str(&format!("\n{key} is locked by {by}."));
    }
    crate::show::tell(state, lsp::MessageType::INFO, words);
    Ok(status)
}
