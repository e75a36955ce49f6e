//! Conversions at the door: LSP's types to the rooms' own and back. No other room knows LSP's types.

use ropewalk_text::{LineEnds, Position, PositionEncoding};
use ropewalk_workspace::{ContentChange, DocumentEdit};
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

pub(crate) fn change_from_lsp(change: lsp::TextDocumentContentChangeEvent) -> ContentChange {
    let range =
        change.range.map(|range| (position_from_lsp(range.start), position_from_lsp(range.end)));
    ContentChange { range, text: change.text }
}

/// An edit of one document. None when its URI is not one that LSP's types can hold.
pub(crate) fn edit_to_lsp(edit: DocumentEdit) -> Option<lsp::ApplyWorkspaceEditParams> {
    let edits = edit.edits.into_iter().map(|(start, end, new_text)| {
        let range = lsp::Range::new(position_to_lsp(start), position_to_lsp(end));
        lsp::OneOf::Left(lsp::TextEdit { range, new_text })
    });
    let document = lsp::TextDocumentEdit {
        text_document: lsp::OptionalVersionedTextDocumentIdentifier {
            uri: lsp::Url::parse(&edit.uri).ok()?,
            version: Some(edit.version),
        },
        edits: edits.collect(),
    };
    Some(lsp::ApplyWorkspaceEditParams {
        label: Some(edit.label),
        edit: lsp::WorkspaceEdit {
            document_changes: Some(lsp::DocumentChanges::Edits(vec![document])),
            ..lsp::WorkspaceEdit::default()
        },
    })
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

/// What a client's habits and our defaults say of its line ends.
pub(crate) fn coordinates(
    encoding: PositionEncoding,
    line_ends: LineEnds,
) -> ropewalk_text::Coordinates {
    ropewalk_text::Coordinates { encoding, line_ends }
}
