//! Opening of the conversation document: made if there is none, and shown by an editor that can be told to.

use super::page::opening;
use crate::commands::answer;
use crate::convert::invalid;
use crate::show::open_document;
use crate::state::State;
use ropewalk_files::disk::{self, Expect, FileError};
use ropewalk_files::paths::Root;
use ropewalk_protocol::command::CommandFile;
use ropewalk_text::{Position, Text};
use ropewalk_workspace::conversation::CONVERSATION;
use ropewalk_workspace::{DocId, Roots, Workspace};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

/// The most bytes of a file that are read to find its end.
const MOST: u64 = 64 << 20;

/// Opens the conversation, and gives where it is.
pub(crate) async fn open(state: Arc<State>) -> Result<Value> {
    let already = state.chat_document();
    let roots = state.workspace.roots();
    let (path, end) = match already {
        Some(id) => {
            let end = end_of(&state.workspace, &id);
            (id.path().unwrap_or_default(), end)
        }
        None => {
            let habits = state.habits();
            let words = move |in_git| opening(&habits, in_git);
            let made = tokio::task::spawn_blocking(move || make(&roots, words)).await;
            let (path, text) =
                made.map_err(|error| invalid(error.to_string()))?.map_err(invalid)?;
            let end = state.workspace.coordinates().byte_to_position(&text, text.len());
            (path, Some(end))
        }
    };
    let id = DocId::from_path(&path);
    state.chat.note_place(&id);
    let uri = id.to_uri();
    let shown = path.display().to_string();
    let words =
        format!("Open {shown} to ask: write at its end and choose the code action \"send\".");
    open_document(&state, &uri, end.map(crate::convert::position_to_lsp), words);
    answer(CommandFile { path: shown, uri })
}

fn end_of(workspace: &Workspace, id: &DocId) -> Option<Position> {
    let coordinates = workspace.coordinates();
    workspace.with_document(id, |document| {
        coordinates.byte_to_position(document.text(), document.text().len())
    })
}

/// Makes the file in the first root that takes it, unless it is there. Gives its path and text. Blocking.
fn make(
    roots: &Roots,
    words: impl Fn(bool) -> String,
) -> std::result::Result<(PathBuf, Text), String> {
    let mut refused = None;
    for root in roots.iter() {
        match make_in(roots, root, &words) {
            Ok(made) => return Ok(made),
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    Err(match refused {
        Some(why) => format!(
            "{why}. Open a file named {CONVERSATION} in a folder that you can write in: it is the conversation then."
        ),
        None => format!(
            "No folder is open, so there is no place for {CONVERSATION}: open a folder, or a file of that name."
        ),
    })
}

/// The same in one root.
fn make_in(
    roots: &Roots,
    root: &Root,
    words: impl Fn(bool) -> String,
) -> std::result::Result<(PathBuf, Text), String> {
    let path = root.given().join(CONVERSATION);
    let refused =
        |why: String| format!("{} can't be used for the conversation: {why}", path.display());
    let place = roots.place_of(&path).map_err(|error| refused(error.to_string()))?;
    let text = words(is_in_git(root.path()));
    match disk::write(roots, &place, text.as_bytes(), Expect::Absent) {
        Ok(_) => Ok((path, Text::from(text.as_str()))),
        Err(FileError::Exists { .. }) => {
            let read =
                disk::read(roots, &place, MOST).map_err(|error| refused(error.to_string()))?;
            Ok((path.clone(), Text::from(&*String::from_utf8_lossy(&read.bytes))))
        }
        Err(error) => Err(refused(error.to_string())),
    }
}

/// True if git would see a file in this folder.
fn is_in_git(folder: &Path) -> bool {
    folder.ancestors().any(|folder| folder.join(".git").exists())
}
