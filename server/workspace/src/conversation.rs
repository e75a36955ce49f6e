//! The conversation document: its name, and how text is put into an open document beside what the user types.
//!
//! It is the user's own file, in which they ask and answers are appended. For the agent it is not there: what was said
//! is in the history, and the draft below it is nobody's business yet.

pub use ropewalk_files::id::{CONVERSATION, is_conversation};

use crate::DocId;
use crate::document::Document;
use crate::editor::Editor;
use crate::publish::{EditStart, Failure, PublishBounds, send, start_edit};
use crate::workspace::Workspace;
use futures::future::BoxFuture;
use ropewalk_text::{ChangeSet, Text};

/// Puts text into an open document, as one edit that is proved by its echo. `place` is asked anew before each try: it
/// gives the byte in the text as it is now, and what to put there; None where there is nothing to do.
///
/// # Errors
/// When it was not put in, or that can't be told.
pub fn insert<'a>(
    workspace: &'a Workspace,
    editor: &'a dyn Editor,
    id: &'a DocId,
    place: &'a mut (dyn FnMut(&mut Document) -> Option<(usize, String)> + Send),
    bounds: PublishBounds,
) -> BoxFuture<'a, Result<(), Failure>> {
    Box::pin(async move {
        let mut start = |publish| {
            let placed = workspace.with_document(id, |document| {
                let text: Text = document.text().clone();
                place(document).map(|(at, words)| {
                    let at = text.floor_boundary(at.min(text.len()));
                    (ChangeSet::single(text.len(), at..at, words), text)
                })
            });
            match placed {
                None => EditStart::Closed,
                Some(None) => EditStart::Nothing,
                Some(Some((set, text))) => start_edit(workspace, id, publish, &text, &set),
            }
        };
        // Some clients print each label; with one at each paragraph they would ask for a key.
        send(workspace, editor, id, &mut start, "", bounds).await.map(drop)
    })
}
