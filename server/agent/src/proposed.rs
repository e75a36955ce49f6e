//! Documents as they would be with all that is proposed.

use ropewalk_workspace::{DocId, FileState, View};

/// The text of a document in a view; none if there is no such file there, or none of text. Reads the disk.
///
/// # Errors
/// When the document is none of the workspace, or it can't be read, in words.
pub fn text_in(view: &View, document: &DocId) -> Result<Option<String>, String> {
    let place = view.named(document.as_str()).map_err(|error| error.to_string())?;
    match view.read(&place).map_err(|error| error.to_string())? {
        FileState::Text { text, .. } => Ok(Some(text.to_string())),
        FileState::Binary { .. } | FileState::Missing => Ok(None),
    }
}
