//! The document in which things are shown that have no text of their own: a call that waits for an answer, a new file.
//!
//! It is the one in which the user asked, else the one they looked at last, else any that is open. Never the conversation, where all that has a line.

use crate::anchors::Anchors;
use crate::lock;
use ropewalk_workspace::DocId;
use std::sync::{Arc, Mutex};
use tower_lsp::lsp_types as lsp;

/// See the module.
pub(crate) struct Desk {
    anchors: Arc<Anchors>,
    places: Mutex<UserPlaces>,
}

/// Places where the user is known to have been.
#[derive(Debug, Default)]
struct UserPlaces {
    /// Where the last request was made.
    asked: Option<QuestionPlaces>,
    /// The document that was opened, or asked about, last.
    looked: Option<DocId>,
}

#[derive(Clone, Debug)]
struct QuestionPlaces {
    id: DocId,
    /// The version that the range is of.
    version: Option<i32>,
    range: Option<lsp::Range>,
}

impl Desk {
    pub(crate) fn new(anchors: Arc<Anchors>) -> Self {
        Self { anchors, places: Mutex::default() }
    }

    /// Remembers the document of a request, and the range it was about; where the client names none, it was made in the
    /// document that was looked at last.
    pub(crate) fn note_asked(&self, at: Option<(&DocId, Option<lsp::Range>)>) {
        let looked = lock(&self.places).looked.clone();
        let at = at.filter(|(id, _)| !id.is_conversation());
        let at = at.map(|(id, range)| (id.clone(), range)).or(looked.map(|id| (id, None)));
        let asked =
            at.map(|(id, range)| QuestionPlaces { version: self.anchors.remember(&id), id, range });
        let mut places = lock(&self.places);
        places.looked = asked.as_ref().map(|asked| asked.id.clone()).or(places.looked.take());
        places.asked = asked;
    }

    /// Remembers that the user looks at a document.
    pub(crate) fn note_looked(&self, id: &DocId) {
        if !id.is_conversation() {
            lock(&self.places).looked = Some(id.clone());
        }
    }

    /// The document, and the line in it, counted from zero; none when nothing is open.
    pub(crate) fn home(&self) -> Option<(DocId, usize)> {
        let is_open = |id: &DocId| self.anchors.is_open(id);
        let (asked, looked) = {
            let places = lock(&self.places);
            (places.asked.clone(), places.looked.clone())
        };
        if let Some(QuestionPlaces { id, version, range }) =
            asked.filter(|asked| is_open(&asked.id))
        {
            let place = range.and_then(|range| self.anchors.locate(&id, version, range));
            let line = place.map_or(0, |(text, bytes)| text.line_feeds_before(bytes.start));
            return Some((id, line));
        }
        let any = || {
            let open = self.anchors.open_documents().into_iter().filter(|id| !id.is_conversation());
            open.min_by(|a, b| a.as_str().cmp(b.as_str()))
        };
        looked.filter(is_open).or_else(any).map(|id| (id, 0))
    }
}
