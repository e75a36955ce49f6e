//! `textDocument/completion` in the conversation document: files behind `@`, commands behind `/` at the start of a draft.

use super::page;
use crate::convert::{invalid, position_from_lsp, position_to_lsp};
use crate::requests::completed;
use crate::state::State;
use ropewalk_protocol::plugin::{Completion, CompletionKind};
use ropewalk_workspace::DocId;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;

/// Characters behind which something can be completed.
const TRIGGERS: [&str; 2] = ["@", "/"];

/// The capability, for clients that have the document.
pub(crate) fn provider() -> lsp::CompletionOptions {
    lsp::CompletionOptions {
        trigger_characters: Some(TRIGGERS.map(str::to_owned).to_vec()),
        resolve_provider: Some(false),
        ..lsp::CompletionOptions::default()
    }
}

/// Completes at the cursor. None outside the draft of a conversation.
pub(crate) async fn complete(
    state: &Arc<State>,
    params: lsp::CompletionParams,
) -> Result<Option<lsp::CompletionResponse>> {
    let at = params.text_document_position;
    let id = DocId::from_uri(at.text_document.uri.as_str());
    if !state.has_chat() || !id.is_conversation() {
        return Ok(None);
    }
    let coordinates = state.workspace.coordinates();
    let found = state.workspace.with_document(&id, |document| {
        let text = document.text().clone();
        let cursor = coordinates.position_to_byte(&text, position_from_lsp(at.position)).byte;
        let start = page::draft(&text.slice(0..cursor)).ok()?.start;
        Some((text, start, cursor))
    });
    let Some((text, start, cursor)) = found.flatten() else { return Ok(None) };
    let start = start.min(cursor);
    let (from, items) = completed(state, text.slice(start..cursor)).await.map_err(invalid)?;
    let range = |from: usize| {
        let position = |byte| position_to_lsp(coordinates.byte_to_position(&text, byte));
        lsp::Range::new(position(start + from), position(cursor))
    };
    let range = range(from);
    let items = items.into_iter().enumerate().map(|(rank, one)| item(one, range, rank)).collect();
    Ok(Some(lsp::CompletionResponse::List(lsp::CompletionList { is_incomplete: true, items })))
}

fn item(one: Completion, range: lsp::Range, rank: usize) -> lsp::CompletionItem {
    let Completion { text, kind, detail } = one;
    let kind = match kind {
        CompletionKind::File => lsp::CompletionItemKind::FILE,
        CompletionKind::Command | CompletionKind::Prompt => lsp::CompletionItemKind::FUNCTION,
        CompletionKind::Skill => lsp::CompletionItemKind::MODULE,
    };
    lsp::CompletionItem {
        label: text.clone(),
        kind: Some(kind),
        detail: Some(detail).filter(|detail| !detail.is_empty()),
        sort_text: Some(format!("{rank:03}")),
        text_edit: Some(lsp::CompletionTextEdit::Edit(lsp::TextEdit { range, new_text: text })),
        ..lsp::CompletionItem::default()
    }
}
