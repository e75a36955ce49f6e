//! Pending hunks for clients that don't draw them: Information diagnostics and code lenses.
//!
//! Information, because "next problem" of VS Code and others skips hints.

use crate::convert::position_to_lsp;
use crate::state::{State, lock};
use ropewalk_agent::event::HunkInfo;
use ropewalk_tools::plain::plain;
use ropewalk_workspace::DocId;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tower_lsp::lsp_types as lsp;

/// How much of a diff a diagnostic's message holds, in characters.
const DIFF_SHOWN: usize = 2_000;

/// The hunks as they were shown last.
#[derive(Debug, Default)]
pub(crate) struct ShownHunks {
    pub(crate) hunks: Vec<HunkInfo>,
    /// The documents that have diagnostics of ours.
    uris: BTreeSet<String>,
}

impl State {
    /// Shows the pending hunks of a session as diagnostics, and asks for the lenses anew, if it is the current one.
    pub(crate) async fn show_hunks(&self, session: &str, hunks: Vec<HunkInfo>) {
        let _drawing = self.drawing.lock().await;
        let nothing_changes = hunks.is_empty() && lock(&self.shown).hunks.is_empty();
        if nothing_changes || !self.is_current(session) {
            return;
        }
        let facts = self.facts();
        let mut by_uri: BTreeMap<String, Vec<lsp::Diagnostic>> = BTreeMap::new();
        for hunk in &hunks {
            by_uri.entry(self.spelling(&hunk.uri)).or_default().push(self.diagnostic(hunk));
        }
        let gone: Vec<String> = {
            let mut shown = lock(&self.shown);
            shown.hunks = hunks;
            let now = by_uri.keys().cloned().collect();
            let before = std::mem::replace(&mut shown.uris, now);
            before.into_iter().filter(|uri| !by_uri.contains_key(uri)).collect()
        };
        if facts.options.draws_hunks {
            return;
        }
        by_uri.extend(gone.into_iter().map(|uri| (uri, Vec::new())));
        for (uri, diagnostics) in by_uri {
            if let Ok(uri) = lsp::Url::parse(&uri) {
                self.client.publish_diagnostics(uri, diagnostics, None).await;
            }
        }
        if facts.lens_refresh && self.habits().lenses {
            let client = self.client.clone();
            // Waited for in a task of its own: the client may take its time.
            tokio::spawn(async move { client.code_lens_refresh().await });
        }
    }

    /// The client's own spelling of a document's URI, if it is open.
    fn spelling(&self, uri: &str) -> String {
        let id = DocId::from_uri(uri);
        let open = self.workspace.with_document(&id, |document| document.spelling.clone());
        open.unwrap_or_else(|| uri.to_owned())
    }

    fn diagnostic(&self, hunk: &HunkInfo) -> lsp::Diagnostic {
        let message = match hunk.diff.char_indices().nth(DIFF_SHOWN) {
            Some((at, _)) => format!("{}\n…", hunk.diff.get(..at).unwrap_or_default()),
            None => hunk.diff.trim_end().to_owned(),
        };
        let by: Vec<String> = hunk.commands.iter().map(|command| format!("`{command}`")).collect();
        let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
        lsp::Diagnostic {
            range: self.range_of(&DocId::from_uri(&hunk.uri), hunk.line..hunk.line + hunk.lines),
            severity: Some(lsp::DiagnosticSeverity::INFORMATION),
            code: Some(lsp::NumberOrString::String(format!("hunk {}", hunk.id))),
            source: Some("ropewalk".to_owned()),
            message: plain(&format!("Proposed change{by}:\n{message}")),
            data: Some(json!({ "hunk": hunk.id })),
            ..lsp::Diagnostic::default()
        }
    }

    /// A hunk's lines in the client's coordinates; for pure insertions the start of the line they go
    /// before.
    fn range_of(&self, id: &DocId, lines: Range<usize>) -> lsp::Range {
        let coordinates = self.workspace.coordinates();
        let range = self.workspace.with_document(id, |document| {
            let text = document.text();
            let start = text.line_feed_start(lines.start);
            let mut end = text.line_feed_start(lines.end);
            if !lines.is_empty() && end > start && text.byte(end - 1) == Some(b'\n') {
                // Up to the last line's own end, so that the next line is not marked.
                end -= 1;
            }
            let at = |byte| position_to_lsp(coordinates.byte_to_position(text, byte));
            lsp::Range::new(at(start), at(end))
        });
        range.unwrap_or_else(|| {
            let line = |line: usize| lsp::Position::new(u32::try_from(line).unwrap_or(u32::MAX), 0);
            lsp::Range::new(line(lines.start), line(lines.end))
        })
    }

    /// The pending hunks of a document as they are now: their ids and places. Their texts may hold keys, and
    /// reach the client only by events, without them.
    pub(crate) fn hunks_of(&self, id: &DocId) -> Vec<(u64, lsp::Range)> {
        let Some(session) = self.running_session() else { return Vec::new() };
        let hunks = session.hunks().into_iter().filter(|hunk| hunk.doc == *id);
        hunks.map(|hunk| (hunk.id.0, self.range_of(id, hunk.lines))).collect()
    }

    /// Accept and reject above each pending hunk.
    pub(crate) fn lenses(&self, uri: &lsp::Url) -> Vec<lsp::CodeLens> {
        if self.facts().options.draws_hunks {
            return Vec::new();
        }
        let session = self.running_session().map(|session| session.id().to_string());
        let lens = |(hunk, range): (u64, lsp::Range), title: &str, command: &str| lsp::CodeLens {
            range,
            command: Some(lsp::Command {
                title: title.to_owned(),
                command: command.to_owned(),
                arguments: Some(vec![json!({ "hunk": hunk, "session": session })]),
            }),
            data: None,
        };
        let hunks = self.hunks_of(&DocId::from_uri(uri.as_str()));
        hunks
            .into_iter()
            .flat_map(|hunk| {
                [lens(hunk, "Accept", "ropewalk.accept"), lens(hunk, "Reject", "ropewalk.reject")]
            })
            .collect()
    }
}
