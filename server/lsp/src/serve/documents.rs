//! Documents: the four notifications about open documents, which come with every key and go a shorter way
//! than all other messages: from the frame's bytes straight into their types, and to the server in one call.
//!
//! What they do is done when that call returns: there is no await in it behind which a later message could
//! overtake an earlier one. When they are heeded is `dispatch`'s business.

use serde::Deserialize;
use serde_json::value::RawValue;
use tower_lsp::lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
    Notification,
};
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams,
};

/// A server's side of the document notifications, in the place of `did_open` and its like of
/// [`LanguageServer`](tower_lsp::LanguageServer), which [`serve`](super::serve) never calls.
///
/// Called in the order of the client's messages, between `initialize` and `shutdown`, before any later message
/// is looked at. So these block everything while they run.
pub trait Documents {
    /// `textDocument/didOpen`.
    fn opened(&self, params: DidOpenTextDocumentParams);
    /// `textDocument/didChange`.
    fn changed(&self, params: DidChangeTextDocumentParams);
    /// `textDocument/didSave`.
    fn saved(&self, params: DidSaveTextDocumentParams);
    /// `textDocument/didClose`.
    fn closed(&self, params: DidCloseTextDocumentParams);
}

/// One of the notifications.
#[derive(Debug)]
pub(super) enum DocumentNotification {
    Opened(DidOpenTextDocumentParams),
    Changed(DidChangeTextDocumentParams),
    Saved(DidSaveTextDocumentParams),
    Closed(DidCloseTextDocumentParams),
}

impl DocumentNotification {
    /// Reads the params of `method`; `None` when it is no document notification.
    pub(super) fn read(
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<serde_json::Result<Self>> {
        Some(match method {
            DidChangeTextDocument::METHOD => read(params).map(Self::Changed),
            DidOpenTextDocument::METHOD => read(params).map(Self::Opened),
            DidSaveTextDocument::METHOD => read(params).map(Self::Saved),
            DidCloseTextDocument::METHOD => read(params).map(Self::Closed),
            _ => return None,
        })
    }

    /// Hands it to the server.
    pub(super) fn tell(self, server: &impl Documents) {
        match self {
            Self::Opened(params) => server.opened(params),
            Self::Changed(params) => server.changed(params),
            Self::Saved(params) => server.saved(params),
            Self::Closed(params) => server.closed(params),
        }
    }
}

fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> serde_json::Result<T> {
    serde_json::from_str(params.map_or("null", RawValue::get))
}
