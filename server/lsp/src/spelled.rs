//! Messages about documents in which each URI stands as the client spells it.
//!
//! LSP's own types hold parsed URIs, which come back in another spelling (`file://localhost/`, a raw `ö` or space);
//! a client that compares texts then takes the document for another.

use crate::state::State;
use ropewalk_workspace::DocId;
use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;
use tower_lsp::lsp_types::notification::Notification;
use tower_lsp::lsp_types::request::Request;

/// `window/showDocument`.
enum ShowDocument {}

impl Request for ShowDocument {
    type Params = Value;
    type Result = lsp::ShowDocumentResult;
    const METHOD: &'static str = "window/showDocument";
}

/// `textDocument/publishDiagnostics`.
enum PublishDiagnostics {}

impl Notification for PublishDiagnostics {
    type Params = Value;
    const METHOD: &'static str = "textDocument/publishDiagnostics";
}

impl State {
    /// The client's own spelling of a document's URI, if it is open.
    pub(crate) fn spelling(&self, uri: &str) -> String {
        let id = DocId::from_uri(uri);
        let open = self.workspace.with_document(&id, |document| document.spelling.clone());
        open.unwrap_or_else(|| uri.to_owned())
    }

    /// An event's value with every document's URI as the client spells it.
    pub(crate) fn respell(&self, event: &mut Value) {
        for list in ["hunks", "changes"] {
            let all = event.get_mut(list).and_then(Value::as_array_mut);
            all.into_iter().flatten().for_each(|one| self.respell_members(one));
        }
        self.respell_members(event);
    }

    fn respell_members(&self, value: &mut Value) {
        for member in ["uri", "source"] {
            if let Some(Value::String(uri)) = value.get_mut(member) {
                *uri = self.spelling(uri);
            }
        }
    }

    /// Shows the diagnostics of a document; none clear it.
    pub(crate) async fn publish_diagnostics(&self, uri: &str, diagnostics: Vec<lsp::Diagnostic>) {
        let params = json!({ "uri": uri, "diagnostics": diagnostics });
        self.client.send_notification::<PublishDiagnostics>(params).await;
    }

    /// Opens a document in the editor, with this selected in it. False if it was not.
    pub(crate) async fn show_document(&self, uri: &str, selection: Option<lsp::Range>) -> bool {
        let mut params = json!({ "uri": self.spelling(uri), "external": false, "takeFocus": true });
        if let (Some(selection), Some(params)) = (selection, params.as_object_mut()) {
            params.insert("selection".to_owned(), json!(selection));
        }
        let shown = self.client.send_request::<ShowDocument>(params).await;
        shown.is_ok_and(|shown| shown.success)
    }
}
