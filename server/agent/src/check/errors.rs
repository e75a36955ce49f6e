//! Errors that the editor shows in files which the turn has changed there, and did not show before.
//!
//! Only a client with our plugin tells its diagnostics.

use crate::session::parts::SessionParts;
use futures::FutureExt;
use ropewalk_workspace::{DocId, Editor};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{sleep_until, timeout};

/// How long the editor has to find what is wrong with a change, and how long to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Severity of what counts.
const ERROR: &str = ": error: ";

/// An error as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ErrorLine {
    /// The file as it is shown.
    file: String,
    /// Counted from one, as text.
    line: String,
    message: String,
}

impl fmt::Display for ErrorLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// An error wherever its line has moved: the document, and what is said.
type ErrorKey = (DocId, String);

/// Errors that were there before, with how often. Empty where nobody tells them, or not in time.
#[derive(Clone, Default)]
pub(super) struct Baseline(Arc<Mutex<HashMap<ErrorKey, usize>>>);

impl Baseline {
    /// Asks the editor, beside everything else.
    pub(super) fn look(editor: Arc<dyn Editor>) -> Self {
        let baseline = Self::default();
        if editor.gives_diagnostics() {
            let counts = baseline.0.clone();
            // Asked at once, so that no edit comes before it.
            let asked = editor.diagnostics(None);
            tokio::spawn(
                async move {
                    if let Ok(Ok(told)) = timeout(PATIENCE, asked).await {
                        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                        for ToldError { doc, message, .. } in errors(&told) {
                            *counts.entry((doc, message.to_owned())).or_default() += 1;
                        }
                    }
                }
                .boxed(),
            );
        }
        baseline
    }

    fn counts(&self) -> HashMap<ErrorKey, usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An error that an editor tells.
struct ToldError<'a> {
    doc: DocId,
    line: &'a str,
    message: &'a str,
}

/// The errors among diagnostics as an editor tells them.
fn errors(told: &str) -> impl Iterator<Item = ToldError<'_>> {
    told.lines().filter_map(|line| {
        let (place, message) = line.split_once(ERROR)?;
        let (uri, line) = place.rsplit_once(':')?;
        Some(ToldError { doc: DocId::from_uri(uri), line, message })
    })
}

/// Errors that are new in what the turn has brought into the user's text; None where nobody tells them.
pub(super) async fn new_errors(parts: &SessionParts, before: &Baseline) -> Option<Vec<ErrorLine>> {
    let (published, last) = parts.changes.published();
    let editor = parts.changes.editor();
    if !editor.gives_diagnostics() {
        return None;
    }
    sleep_until(last? + PATIENCE).await;
    let told = timeout(PATIENCE, editor.diagnostics(None)).await.ok()?.ok()?;
    let mut known = before.counts();
    let is_new = |ToldError { doc, message, .. }: &ToldError<'_>| {
        let left = known.get_mut(&(doc.clone(), (*message).to_owned()));
        published.contains(doc)
            && left.is_none_or(|left| std::mem::replace(left, left.saturating_sub(1)) == 0)
    };
    let shown = |ToldError { doc, line, message }: ToldError<'_>| ErrorLine {
        file: parts.workspace.shown(&doc),
        line: line.to_owned(),
        message: message.to_owned(),
    };
    Some(errors(&told).filter(is_new).map(shown).collect())
}
