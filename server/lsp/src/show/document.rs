//! Files opened in the editor for the user: the rules that hold for always, an exported session.

use crate::state::State;
use ropewalk_agent::journal::store::make_private_folder;
use ropewalk_workspace::DocId;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tower_lsp::lsp_types as lsp;

/// What the file of rules says before there is one.
const ABOUT_RULES: &str = "\
# Ropewalk's rules that hold for always, in every project. What you allow for always is added to `allow`.
# `deny` comes before `ask`, and `ask` before `allow`. `*` stands for any text. For example:
#   deny = [\"bash(git push *)\", \"read_file(secrets/*)\"]
#   ask = [\"edit_file(*.lock)\"]
#   allow = [{ rule = \"bash(git status *)\", matches = [\"git status -s\"], refuses = [\"git push\"] }]
# A command in the sandbox has the network, or a path outside, where its rule says so:
#   allow = [\"bash(npm install *) with network\", \"bash(cat *) with ~/notes\"]
";

/// Opens the file of rules in the editor, made now if there is none; where an editor can't be told to, its path
/// is said.
pub(crate) fn open_rules(state: &Arc<State>, file: PathBuf) {
    let state = state.clone();
    tokio::spawn(async move {
        let path = file.clone();
        let made = tokio::task::spawn_blocking(move || make_rules(&path)).await;
        let shown = file.display();
        match made {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let words = format!("The rules can't be opened: {shown}: {error}");
                return state.say(lsp::MessageType::WARNING, words).await;
            }
            Err(error) => return tracing::error!(%error, "the rules could not be made"),
        }
        show_file(&state, &file, format!("The rules are in {shown}")).await;
    });
}

/// Opens a file in the editor; where that can't be told to, `words` are said.
pub(crate) fn open_document(state: &Arc<State>, file: PathBuf, words: String) {
    let state = state.clone();
    tokio::spawn(async move { show_file(&state, &file, words).await });
}

/// Puts the cursor at a place in a document; where the client can't be told to, `words` are said.
pub(crate) fn go_to(state: &Arc<State>, uri: &str, at: lsp::Position, words: String) {
    let (state, uri) = (state.clone(), uri.to_owned());
    let selection = Some(lsp::Range::new(at, at));
    tokio::spawn(async move { show_document(&state, &uri, selection, words).await });
}

async fn show_file(state: &State, file: &Path, words: String) {
    show_document(state, &DocId::from_path(file).to_uri(), None, words).await;
}

async fn show_document(state: &State, uri: &str, selection: Option<lsp::Range>, words: String) {
    if state.facts().shows_documents && state.show_document(uri, selection).await {
        return;
    }
    state.say(lsp::MessageType::INFO, words).await;
}

/// Makes the file, for its owner alone, unless it is there.
fn make_rules(file: &Path) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        make_private_folder(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Ok(mut made) => made.write_all(ABOUT_RULES.as_bytes()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
