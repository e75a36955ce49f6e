//! The commands about sessions: new, sessions, resume, rewind, rename, delete, export.
//!
//! Those that touch the disk do so where it blocks nobody, and answer from there.

use super::greet::about;
use super::words::sentence;
use super::{NOT_KEPT, blocking, named, shortened};
use crate::commands::{invalid, no_argument, read, running};
use crate::show::words::count;
use crate::show::{open_document, tell};
use crate::state::State;
use futures::future::BoxFuture;
use ropewalk_agent::Sessions;
use ropewalk_agent::journal::store::{Listed, make_private_folder};
use ropewalk_protocol::Op;
use ropewalk_workspace::DocId;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::MessageType;

type Answer = BoxFuture<'static, Result<Value>>;

/// The most characters of a title.
const MOST_TITLE: usize = 200;

/// The most sessions that a message lists; the answer has them all.
const MOST_LISTED: usize = 20;

pub(crate) fn new(state: Arc<State>, argument: Value) -> Answer {
    Box::pin(async move {
        no_argument(&argument, "ropewalk.new")?;
        let (id, left) = state.begin().await.map_err(invalid)?;
        if let Some(words) = left.and_then(|left| left.words()) {
            tell(&state, MessageType::INFO, words);
        }
        Ok(json!({ "session": &*id }))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    #[serde(default)]
    all: bool,
}

pub(crate) fn sessions(state: Arc<State>, argument: Value) -> Answer {
    Box::pin(async move {
        let Which { all } = read(argument, "", "{ all?: true }")?;
        let sessions = kept(&state)?;
        let worker = state.clone();
        let list = move || {
            let list = if all { sessions.list() } else { sessions.of_roots(&worker.root_names()) };
            worker.number(&list);
            list
        };
        let list = blocking(list).await.map_err(invalid)?;
        tell(&state, MessageType::INFO, in_words(&state, &list, all));
        Ok(list.iter().map(|listed| in_json(&state, listed)).collect())
    })
}

fn in_json(state: &State, listed: &Listed) -> Value {
    let current = state.is_current(&listed.id);
    json!({
        "session": listed.id,
        "title": listed.summary.title,
        "began": listed.began,
        "at": listed.summary.at,
        "roots": listed.roots,
        "turns": listed.summary.turns,
        "pending": listed.summary.pending,
        "bytes": listed.bytes,
        "inUse": listed.in_use && !current,
        "current": current,
    })
}

fn in_words(state: &State, list: &[Listed], all: bool) -> String {
    let of = if all { "" } else { " of these folders" };
    let mut words = match list.len() {
        0 => format!("There are no sessions{of}."),
        1 => format!("1 session{of}:"),
        many => format!("{many} sessions{of}:"),
    };
    for (at, listed) in list.iter().enumerate().take(MOST_LISTED) {
        let current = state.is_current(&listed.id);
        words.push_str(&format!("\n{}: {}", at + 1, about(listed)));
        if all {
            words.push_str(&format!(", of {}", listed.roots.join(", ")));
        }
        if listed.summary.pending > 0 {
            let waits = count(listed.summary.pending, "change waits", "changes wait");
            words.push_str(&format!(", {waits}"));
        }
        if current {
            words.push_str(", the current one");
        } else if listed.in_use {
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    session: Option<String>,
}

pub(crate) fn resume(state: Arc<State>, argument: Value) -> Answer {
    Box::pin(async move {
        let wanted = "{ session? }: its number in the list, an id, or its start";
        let Chosen { session } = read(argument, "session", wanted)?;
        let resumed = state.resume(session).await.map_err(invalid)?;
        tell(&state, MessageType::INFO, resumed.words());
        Ok(json!({
            "session": &*resumed.id,
            "title": resumed.title,
            "turns": resumed.turns,
            "pending": resumed.pending,
        }))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Back {
    turn: Option<u64>,
}

/// Takes turns back. What was done is told by the event.
pub(crate) fn rewind(state: &Arc<State>, argument: Value) -> Result<Value> {
    let Back { turn } = read(argument, "", "{ turn?: number }")?;
    let session = running(state)?;
    let turns = session.turns();
    let (Some(first), Some(last)) = (turns.first(), turns.last()) else {
        return Err(invalid("There is no turn to take back"));
    };
    let turn = turn.unwrap_or(last.turn);
    let mark = turns.iter().find(|mark| mark.turn == turn).ok_or_else(|| {
        let (first, last) = (first.turn, last.turn);
        invalid(format!("There is no turn {turn} to take back; there are {first} to {last}"))
    })?;
    session.send(Op::Rewind(turn));
    Ok(json!({ "turn": turn, "prompt": mark.prompt }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Renamed {
    title: Option<String>,
    session: Option<String>,
}

pub(crate) fn rename(state: Arc<State>, argument: Value) -> Answer {
    Box::pin(async move {
        let Renamed { title, session } = read(argument, "title", "{ title, session? } or a title")?;
        let title = title.map(|title| shortened(title.trim(), MOST_TITLE)).unwrap_or_default();
        if title.is_empty() {
            return Err(invalid("ropewalk.rename needs a title"));
        }
        let id = match session {
            None => running(&state)?.id().to_string(),
            Some(start) => found(&state, start).await?,
        };
        if let Some(current) = state.running_session().filter(|current| **current.id() == *id) {
            current.send(Op::Rename(title.clone()));
        } else {
            let (sessions, id, title) = (kept(&state)?, id.clone(), title.clone());
            on_disk(move || sessions.rename(&id, &title)).await?;
        }
        Ok(json!({ "session": id, "title": title }))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deleted {
    session: Option<String>,
    #[serde(default)]
    force: bool,
}

pub(crate) fn delete(state: Arc<State>, argument: Value) -> Answer {
    Box::pin(async move {
        let wanted = "{ session, force?: true }: an id, or its start";
        let Deleted { session, force } = read(argument, "session", wanted)?;
        let start = session
            .ok_or_else(|| invalid("ropewalk.delete needs a session; /sessions lists them"))?;
        let id = found(&state, start).await?;
        if state.is_current(&id) {
            return Err(invalid("That is the current session: begin another with /new first"));
        }
        let sessions = kept(&state)?;
        let deleted = on_disk(move || {
            if !force {
                may_be_deleted(sessions.listed(&id))?;
            }
            sessions.delete(&id).map_err(|error| sentence(&error))
        });
        let Listed { id, summary, .. } = deleted.await?;
        let lost = match summary.waits() {
            0 => String::new(),
            waited => format!(" with what waited in it ({waited})"),
        };
        tell(&state, MessageType::INFO, format!("{} is deleted{lost}.", named(&summary.title)));
        Ok(json!({ "session": id, "title": summary.title, "pending": summary.pending }))
    })
}

/// Refuses what would lose work of the user's, or may do so. One that is in use is refused for that.
fn may_be_deleted(listed: Option<Listed>) -> std::result::Result<(), String> {
    let lost = match listed {
        Some(listed) if listed.in_use || listed.summary.waits() == 0 => return Ok(()),
        Some(Listed { summary, .. }) => {
            let waits = count(summary.waits(), "change waits", "changes wait");
            format!("{waits} to be accepted or saved in {}", named(&summary.title))
        }
        None => "It can't be read, so what waits in it is not known".to_owned(),
    };
    Err(format!("{lost}; with {{ session, force: true }} it is deleted all the same"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Export {
    session: Option<String>,
    path: Option<String>,
}

pub(crate) fn export(state: Arc<State>, argument: Value) -> Answer {
    Box::pin(async move {
        let Export { session, path } = read(argument, "session", "{ session?, path? }")?;
        let id = match session {
            None => running(&state)?.id().to_string(),
            Some(start) => found(&state, start).await?,
        };
        let sessions = kept(&state)?;
        let given = path.map(|path| place(&state, &path)).transpose()?;
        let is_given = given.is_some();
        let path = given.unwrap_or_else(|| sessions.exports().join(format!("{id}.md")));
        let file = path.clone();
        on_disk(move || {
            let text = sessions.export(&id).map_err(|error| sentence(&error))?;
            let written = if is_given { write_new(&file, &text) } else { write_own(&file, &text) };
            written.map_err(|error| format!("{} can't be written: {error}", file.display()))
        })
        .await?;
        let answer =
            json!({ "path": path.to_string_lossy(), "uri": DocId::from_path(&path).to_uri() });
        let shown = path.display().to_string();
        open_document(&state, path, format!("The session is in {shown}"));
        Ok(answer)
    })
}

/// Where an export goes: a whole path, or one from the first folder.
fn place(state: &State, given: &str) -> Result<PathBuf> {
    let path = if given.starts_with("file:") {
        DocId::from_uri(given).path()
    } else {
        Some(PathBuf::from(given)).filter(|_| !given.trim().is_empty() && !given.contains('\0'))
    };
    let path = path.ok_or_else(|| invalid("ropewalk.export needs a path that names a file"))?;
    if path.is_absolute() {
        return Ok(path);
    }
    let roots = state.workspace.roots();
    let root = roots.first().map(|root| root.path().join(&path));
    root.ok_or_else(|| invalid("Without a folder ropewalk.export needs a whole path"))
}

/// Writes a file of the user's, if there is none.
fn write_new(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// Writes a file in our own folder, in the place of an earlier one.
fn write_own(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        make_private_folder(folder)?;
    }
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => write_new(file, text),
    }
}

fn kept(state: &State) -> Result<Sessions> {
    state.options.sessions.clone().ok_or_else(|| invalid(NOT_KEPT))
}

/// The whole id of the session that is named by its number or by how its id begins; the current one has one before it has a file.
async fn found(state: &Arc<State>, start: String) -> Result<String> {
    if state.is_current(&start) {
        return Ok(start);
    }
    let (sessions, worker) = (kept(state)?, state.clone());
    on_disk(move || worker.find(&sessions, &start)).await
}

/// Runs work on the disk; its error becomes a sentence.
async fn on_disk<T: Send + 'static, E: ToString + Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, E> + Send + 'static,
) -> Result<T> {
    blocking(work).await.map_err(invalid)?.map_err(|error| invalid(sentence(&error)))
}
