//! Documents: the four notifications about open documents, which come with every key and go a shorter way
//! than all other messages: from the frame's bytes straight into their types, and to the server in one call.
//!
//! Their work is done when that call returns: there is no await in it behind which a later message could
//! overtake an earlier one. When they are heeded is `dispatch`'s business.

use serde::Deserialize;
use serde_json::value::RawValue;
use tower_lsp::lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
    Notification,
};
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, Url,
};

/// A server's side of the document notifications, in the place of `did_open` and its like of
/// [`LanguageServer`](tower_lsp::LanguageServer), which [`serve`](super::serve) never calls.
///
/// Called in the order of the client's messages, between `initialize` and `shutdown`, before any later message
/// is looked at. So these block everything while they run.
pub trait Documents {
    /// `textDocument/didOpen`, and the URI as the client spells it, which the params have parsed.
    fn opened(&self, params: DidOpenTextDocumentParams, spelling: &str);
    /// `textDocument/didChange`.
    fn changed(&self, params: DidChangeTextDocumentParams);
    /// `textDocument/didSave`.
    fn saved(&self, params: DidSaveTextDocumentParams);
    /// `textDocument/didClose`.
    fn closed(&self, params: DidCloseTextDocumentParams);
    /// One of them could not be read, or failed: what the document `uri` holds in the editor is not known any more.
    /// None if not even its document can be read.
    fn unread(&self, uri: Option<&str>);
}

/// One of the notifications.
#[derive(Debug)]
pub(super) enum DocumentNotification {
    Opened(DidOpenTextDocumentParams, String),
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
            DidOpenTextDocument::METHOD => read(params).and_then(|opened| {
                let Named { text_document } = read(params)?;
                Ok(Self::Opened(opened, text_document.uri))
            }),
            DidSaveTextDocument::METHOD => read(params).map(Self::Saved),
            DidCloseTextDocument::METHOD => read(params).map(Self::Closed),
            _ => return None,
        })
    }

    /// The document that it is about.
    pub(super) fn uri(&self) -> &Url {
        match self {
            Self::Opened(params, _) => &params.text_document.uri,
            Self::Changed(params) => &params.text_document.uri,
            Self::Saved(params) => &params.text_document.uri,
            Self::Closed(params) => &params.text_document.uri,
        }
    }

    /// Hands it to the server.
    pub(super) fn tell(self, server: &impl Documents) {
        match self {
            Self::Opened(params, spelling) => server.opened(params, &spelling),
            Self::Changed(params) => server.changed(params),
            Self::Saved(params) => server.saved(params),
            Self::Closed(params) => server.closed(params),
        }
    }
}

/// The document of a notification, as the client spells it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    text_document: DocumentUri,
}

#[derive(Deserialize)]
struct DocumentUri {
    uri: String,
}

fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> serde_json::Result<T> {
    serde_json::from_str(params.map_or("null", RawValue::get))
}
