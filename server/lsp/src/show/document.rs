//! Documents opened in the editor for the user: the rules that hold for always, an exported session, the next change.

use crate::state::State;
use futures::FutureExt;
use ropewalk_workspace::DocId;
use std::sync::Arc;
use tower_lsp::lsp_types as lsp;

/// Opens a document in the editor, with the cursor at a place if one is given; where the client can't be told to, `words`
/// are said.
pub(crate) fn open_document(
    state: &Arc<State>,
    uri: &str,
    at: Option<lsp::Position>,
    words: String,
) {
    let (state, uri) = (state.clone(), uri.to_owned());
    let selection = at.map(|at| lsp::Range::new(at, at));
    tokio::spawn(
        async move {
            if state.facts().shows_documents && state.show_document(&uri, selection).await {
                return;
            }
            // Words on how to open the conversation are for those who are not at it.
            if DocId::from_uri(&uri).is_conversation() {
                state.show_message(lsp::MessageType::INFO, words, None).await;
            } else {
                state.say(lsp::MessageType::INFO, words).await;
            }
        }
        .boxed(),
    );
}
