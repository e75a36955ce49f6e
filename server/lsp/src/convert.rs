//! Conversions at the door: LSP's types to the rooms' own and back. No other room knows LSP's types.

use ropewalk_protocol::{TextPosition, TextRange};
use ropewalk_text::{LineEnds, Position, PositionEncoding};
use ropewalk_workspace::{ContentChange, Declared, DocumentEdit, EditForm, FileRename};
use serde_json::{Value, json};
use tower_lsp::jsonrpc::Error;
use tower_lsp::lsp_types as lsp;

/// The encoding to speak: utf-8 if the client offers it, else utf-16, which every client speaks.
pub(crate) fn encoding_of(capabilities: &lsp::ClientCapabilities) -> PositionEncoding {
    let offered =
        capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
    let has = |kind: &lsp::PositionEncodingKind| offered.is_some_and(|list| list.contains(kind));
    if has(&lsp::PositionEncodingKind::UTF8) {
        PositionEncoding::Utf8
    } else if offered.is_some()
        && !has(&lsp::PositionEncodingKind::UTF16)
        && has(&lsp::PositionEncodingKind::UTF32)
    {
        PositionEncoding::Utf32
    } else {
        PositionEncoding::Utf16
    }
}

pub(crate) fn encoding_to_lsp(encoding: PositionEncoding) -> lsp::PositionEncodingKind {
    match encoding {
        PositionEncoding::Utf8 => lsp::PositionEncodingKind::UTF8,
        PositionEncoding::Utf16 => lsp::PositionEncodingKind::UTF16,
        PositionEncoding::Utf32 => lsp::PositionEncodingKind::UTF32,
    }
}

pub(crate) fn position_from_lsp(position: lsp::Position) -> Position {
    Position::new(position.line, position.character)
}

pub(crate) fn position_to_lsp(position: Position) -> lsp::Position {
    lsp::Position::new(position.line, position.character)
}

/// A position of our own messages, which count as the client does.
pub(crate) fn position_of(position: TextPosition) -> lsp::Position {
    lsp::Position::new(position.line, position.character)
}

/// A range of our own messages.
pub(crate) fn range_to_lsp(range: TextRange) -> lsp::Range {
    lsp::Range::new(position_of(range.start), position_of(range.end))
}

/// A position of the client's as our own messages have it.
pub(crate) fn text_position(position: lsp::Position) -> TextPosition {
    TextPosition { line: position.line, character: position.character }
}

pub(crate) fn change_from_lsp(change: lsp::TextDocumentContentChangeEvent) -> ContentChange {
    let range =
        change.range.map(|range| (position_from_lsp(range.start), position_from_lsp(range.end)));
    ContentChange { range, text: change.text }
}

/// An edit of one document, as the params of `workspace/applyEdit`. The URI stands as the client spells it, which
/// LSP's types could not hold. None where the client takes none.
pub(crate) fn edit_to_lsp(edit: DocumentEdit, form: EditForm) -> Option<Value> {
    let edits = edit.edits.into_iter().map(|(start, end, new_text)| {
        let range = lsp::Range::new(position_to_lsp(start), position_to_lsp(end));
        lsp::TextEdit { range, new_text }
    });
    let edits: Vec<lsp::TextEdit> = edits.collect();
    let uri = edit.uri;
    let edit_of_all = match form {
        EditForm::None => return None,
        EditForm::Plain => json!({ "changes": { uri: edits } }),
        EditForm::Versioned => {
            let document = json!({ "uri": uri, "version": edit.version });
            json!({ "documentChanges": [{ "textDocument": document, "edits": edits }] })
        }
    };
    Some(match edit.label.as_str() {
        "" => json!({ "edit": edit_of_all }),
        label => json!({ "label": label, "edit": edit_of_all }),
    })
}

/// Another name of a file, as the params of `workspace/applyEdit`.
pub(crate) fn rename_to_lsp(rename: &FileRename) -> Value {
    let options = json!({ "overwrite": false, "ignoreIfExists": false });
    let change = json!({
        "kind": "rename", "oldUri": rename.from, "newUri": rename.to, "options": options,
    });
    json!({ "label": rename.label, "edit": { "documentChanges": [change] } })
}

/// Reads the client's declaration of the edits that it takes.
pub(crate) fn declared_by(capabilities: &lsp::ClientCapabilities) -> Declared {
    let workspace = capabilities.workspace.as_ref();
    let edit = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
    let operations = edit.and_then(|edit| edit.resource_operations.as_deref());
    Declared {
        apply_edit: workspace.and_then(|workspace| workspace.apply_edit).unwrap_or(false),
        document_changes: edit.and_then(|edit| edit.document_changes).unwrap_or(false),
        renames: operations.unwrap_or_default().contains(&lsp::ResourceOperationKind::Rename),
    }
}

/// The folders a client works in, as names and paths: `workspaceFolders`, else `rootUri`, the way of clients
/// that know one root only.
pub(crate) fn roots_of(params: &lsp::InitializeParams) -> Vec<(String, std::path::PathBuf)> {
    let folders = params.workspace_folders.as_deref().unwrap_or_default();
    if !folders.is_empty() {
        return folders.iter().filter_map(root_from_folder).collect();
    }
    let root = params.root_uri.clone();
    let path = root.and_then(|uri| ropewalk_workspace::DocId::from_uri(uri.as_str()).path());
    path.map(|path| (name_of(&path), path)).into_iter().collect()
}

pub(crate) fn root_from_folder(
    folder: &lsp::WorkspaceFolder,
) -> Option<(String, std::path::PathBuf)> {
    let path = ropewalk_workspace::DocId::from_uri(folder.uri.as_str()).path()?;
    let name = if folder.name.is_empty() { name_of(&path) } else { folder.name.clone() };
    Some((name, path))
}

fn name_of(path: &std::path::Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A request that asks for what can't be done, in words.
pub(crate) fn invalid(words: impl Into<String>) -> Error {
    Error::invalid_params(words.into())
}

/// Coordinates of a client, by its encoding and line ends.
pub(crate) fn coordinates(
    encoding: PositionEncoding,
    line_ends: LineEnds,
) -> ropewalk_text::Coordinates {
    ropewalk_text::Coordinates { encoding, line_ends }
}
