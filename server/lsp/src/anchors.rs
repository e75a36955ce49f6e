//! Places in documents that code actions were made for, to be found again whatever was typed since.

use crate::convert::position_from_lsp;
use crate::lock;
use ropewalk_text::Text;
use ropewalk_workspace::log::Cursor;
use ropewalk_workspace::{DocId, Document, Workspace};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The state of a document when a code action was made for it.
struct Anchor {
    id: DocId,
    version: i32,
    text: Text,
    cursor: Cursor,
}

impl Anchor {
    /// False for a document that was opened anew: it may count from the same version, with another text. So may one of
    /// which a save has told what it really holds.
    fn is_of(&self, document: &Document) -> bool {
        let log = document.log();
        log.knows(&self.cursor)
            && (self.version != document.version || log.since(&self.cursor).next().is_none())
    }
}

/// The most documents whose places are remembered for code actions.
const ANCHORS: usize = 32;

/// See the module.
pub(crate) struct Anchors {
    workspace: Arc<Workspace>,
    known: Mutex<VecDeque<Anchor>>,
}

impl Anchors {
    pub(crate) fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace, known: Mutex::default() }
    }

    /// True if a document is open.
    pub(crate) fn is_open(&self, id: &DocId) -> bool {
        self.workspace.with_document(id, |_| ()).is_some()
    }

    /// The documents that are open.
    pub(crate) fn open_documents(&self) -> Vec<DocId> {
        self.workspace.open_documents()
    }

    /// Remembers where `id` stands, so that a range of this version can be found again later.
    pub(crate) fn remember(&self, id: &DocId) -> Option<i32> {
        let mut anchors = lock(&self.known);
        let (version, new) = self.workspace.with_document(id, |document| {
            anchors.retain(|known| known.id != *id || known.is_of(document));
            let version = document.version;
            let is_known = anchors.iter().any(|known| known.id == *id && known.version == version);
            let new = (!is_known).then(|| Anchor {
                id: id.clone(),
                version,
                text: document.text().clone(),
                cursor: document.cursor(),
            });
            (version, new)
        })?;
        anchors.extend(new);
        if anchors.len() > ANCHORS {
            anchors.pop_front();
        }
        Some(version)
    }

    /// The bytes of `range` in the document's text as it is now, with that text. The range is given in the
    /// text of `version` if that is remembered, else in the text now. None when the document is not open.
    pub(crate) fn locate(
        &self,
        id: &DocId,
        version: Option<i32>,
        range: tower_lsp::lsp_types::Range,
    ) -> Option<(Text, std::ops::Range<usize>)> {
        let coordinates = self.workspace.coordinates();
        let anchors = lock(&self.known);
        let anchor =
            anchors.iter().find(|anchor| anchor.id == *id && Some(anchor.version) == version);
        self.workspace.with_document(id, |document| {
            let now = document.text().clone();
            let anchor = anchor.filter(|anchor| anchor.is_of(document));
            let then = anchor.map_or(&now, |anchor| &anchor.text);
            let byte =
                |position| coordinates.position_to_byte(then, position_from_lsp(position)).byte;
            let mut bytes = byte(range.start)..byte(range.end);
            if let Some(anchor) = anchor {
                for delta in document.log().since(&anchor.cursor) {
                    bytes = delta.change.map_range(bytes);
                }
            }
            let end = bytes.end.max(bytes.start);
            (now, bytes.start..end)
        })
    }
}
