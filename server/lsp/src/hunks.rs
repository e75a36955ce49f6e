//! Pending hunks and calls that wait, for clients that don't draw them: diagnostics and code lenses.
//!
//! Hunks are Information, because "next problem" of VS Code and others skips hints. What stands in a file that can't
//! be opened yet is shown in the user's own document (see `home`).

use crate::lock;
use crate::placed::{ReachableHunk, ShownHunks, ShownQuestion, placed_in_file, range_of};
use crate::show::words::{ReviewCounts, how_to_review, lines_changed, made_by};
use crate::state::State;
use futures::FutureExt;
use ropewalk_protocol::{ChangeKind, HunkInfo};
use ropewalk_text::plain::{plain, plain_line};
use ropewalk_workspace::DocId;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use tower_lsp::lsp_types as lsp;

/// How much of a diff a diagnostic's message holds, in characters.
const DIFF_SHOWN: usize = 2_000;

impl State {
    /// Shows the pending hunks of a session, if it is the current one.
    pub(crate) async fn show_hunks(&self, session: &str, hunks: Vec<HunkInfo>) {
        self.show_change(session, |shown| shown.hunks = hunks).await;
    }

    /// Shows nothing any more of the session that was current before.
    pub(crate) async fn show_nothing(&self, session: &str) {
        self.show_change(session, |shown| {
            shown.hunks.clear();
            shown.questions.retain(|_, question| question.member.is_some());
        })
        .await;
    }

    /// Shows a call that waits, until [`State::hide_question`].
    pub(crate) async fn show_question(&self, session: &str, id: u64, question: ShownQuestion) {
        self.show_change(session, |shown| drop(shown.questions.insert(id, question))).await;
    }

    /// A call waits no more.
    pub(crate) async fn hide_question(&self, session: &str, id: u64) {
        if lock(&self.shown).questions.contains_key(&id) {
            self.show_change(session, |shown| drop(shown.questions.remove(&id))).await;
        }
    }

    /// No call of the session's own waits any more.
    pub(crate) async fn hide_questions(&self, session: &str) {
        let is_own = |question: &ShownQuestion| question.member.is_none();
        if lock(&self.shown).questions.values().any(is_own) {
            self.show_change(session, |shown| shown.questions.retain(|_, one| !is_own(one))).await;
        }
    }

    /// These calls of a teammate wait no more.
    pub(crate) async fn hide_member_questions(&self, ids: &[u64]) {
        let is_shown = |id: &u64| lock(&self.shown).questions.contains_key(id);
        if !ids.iter().any(is_shown) {
            return;
        }
        let screen = self.current().unwrap_or_default();
        self.show_change(&screen, |shown| shown.questions.retain(|id, _| !ids.contains(id))).await;
        // Without a session there is no screen, and what is remembered goes all the same.
        lock(&self.shown).questions.retain(|id, _| !ids.contains(id));
    }

    /// Shows all anew: documents were opened or closed.
    pub(crate) async fn show_again(&self, session: &str) {
        self.show_change(session, |_| ()).await;
    }

    async fn show_change(&self, session: &str, change: impl FnOnce(&mut ShownHunks)) {
        let _drawing = self.drawing.lock().await;
        if !self.host.is_current(session) {
            return;
        }
        let facts = self.facts();
        let (hunks, questions) = {
            let mut shown = lock(&self.shown);
            change(&mut shown);
            (shown.hunks.clone(), shown.questions.clone())
        };
        let mut by_uri: BTreeMap<String, Vec<lsp::Diagnostic>> = BTreeMap::new();
        if !facts.options.draws_hunks {
            let places: HashMap<u64, ReachableHunk> =
                self.placed_hunks().into_iter().map(|placed| (placed.id, placed)).collect();
            for hunk in &hunks {
                let (uri, diagnostic) = self.diagnostic(hunk, places.get(&hunk.id));
                by_uri.entry(uri).or_default().push(diagnostic);
            }
        }
        for (id, question) in &questions {
            if let Some((uri, diagnostic)) = self.question(*id, question) {
                by_uri.entry(uri).or_default().push(diagnostic);
            }
        }
        let now = by_uri.keys().cloned().collect();
        let before = std::mem::replace(&mut lock(&self.shown).uris, now);
        if before.is_empty() && by_uri.is_empty() {
            return;
        }
        for uri in before {
            by_uri.entry(uri).or_default();
        }
        for (uri, diagnostics) in by_uri {
            self.publish_diagnostics(&uri, diagnostics).await;
        }
        if facts.lens_refresh && self.habits().lenses && !facts.options.draws_hunks {
            let client = self.client.clone();
            // Waited for in a task of its own: the client may take its time.
            tokio::spawn(async move { client.code_lens_refresh().await }.boxed());
        }
    }

    /// A hunk's diagnostic, and the URI of the document it stands in.
    fn diagnostic(
        &self,
        hunk: &HunkInfo,
        placed: Option<&ReachableHunk>,
    ) -> (String, lsp::Diagnostic) {
        let own = DocId::from_uri(&hunk.uri);
        let is_elsewhere = placed.is_some_and(|placed| placed.is_elsewhere);
        let (at, range) = match placed {
            Some(placed) if is_elsewhere => (placed.at.clone(), placed.range),
            _ => (own.clone(), range_of(&self.workspace, &own, hunk.line..hunk.line + hunk.lines)),
        };
        let file =
            if is_elsewhere { format!(" {}", plain_line(&hunk.file)) } else { String::new() };
        let mut head = match hunk.kind {
            ChangeKind::Create => format!("Proposed new file{file}"),
            _ => format!("Proposed change{file}"),
        };
        let commands: Vec<_> = hunk.commands.iter().map(|command| format!("`{command}`")).collect();
        let by = (!commands.is_empty()).then(|| format!("by {}", commands.join(", ")));
        let review = hunk.review.as_ref();
        let review = review.map(|reader| format!("waits in every mode, because {reader}"));
        let whole = || self.host.hunk_texts(hunk.id).map(|texts| texts.diff).unwrap_or_default();
        let diff = hunk.diff.clone().unwrap_or_else(whole);
        let makers = made_by(&hunk.members);
        let parts = [lines_changed(&diff), makers, by, review, Some(how_to_review(&self.habits()))];
        for part in parts.into_iter().flatten() {
            head.push_str(&format!(" · {part}"));
        }
        let diff = match diff.split_once('\n') {
            // It stands at the lines that this names.
            Some((first, rest)) if first.starts_with("@@ ") => rest,
            _ => &diff,
        };
        let diff = match diff.char_indices().nth(DIFF_SHOWN) {
            Some((at, _)) => format!("{}\n…", diff.get(..at).unwrap_or_default()),
            None => diff.trim_end().to_owned(),
        };
        let diagnostic = lsp::Diagnostic {
            range,
            severity: Some(lsp::DiagnosticSeverity::INFORMATION),
            source: Some("ropewalk".to_owned()),
            message: plain(&format!("{head}\n{diff}")),
            data: Some(json!({ "hunk": hunk.id, "uri": self.spelling(&hunk.uri) })),
            ..lsp::Diagnostic::default()
        };
        (self.workspace.spelling(&at), diagnostic)
    }

    /// The diagnostic of a call that waits, and the URI of the document it stands in; none when nothing is open.
    fn question(&self, id: u64, question: &ShownQuestion) -> Option<(String, lsp::Diagnostic)> {
        let (at, line) = self.desk.home()?;
        let diagnostic = lsp::Diagnostic {
            range: range_of(&self.workspace, &at, line..line + 1),
            severity: Some(lsp::DiagnosticSeverity::WARNING),
            source: Some("ropewalk".to_owned()),
            message: plain(&question.words),
            data: Some(json!({ "approval": id })),
            ..lsp::Diagnostic::default()
        };
        Some((self.workspace.spelling(&at), diagnostic))
    }

    /// The pending hunks of the current session as they were shown last, where they stand now, in the order of files and
    /// lines. Their texts may hold keys, and reach the client only by events, without them.
    pub(crate) fn placed_hunks(&self) -> Vec<ReachableHunk> {
        let snapshot = self.host.snapshot(None);
        let home = self.desk.home().map(|(id, line)| {
            let range = range_of(&self.workspace, &id, line..line + 1);
            (id, range)
        });
        let placed = |file| placed_in_file(&self.workspace, file, home.as_ref());
        snapshot.review.files.iter().flat_map(placed).collect()
    }

    /// Counts of the changes that wait for review in the current session; None if there is no
    /// change.
    pub(crate) fn waiting(&self) -> Option<ReviewCounts> {
        ReviewCounts::of(&self.host.snapshot(None))
    }

    /// Accept and reject above each pending hunk, and the way to the next one if there are several.
    pub(crate) fn lenses(&self, uri: &lsp::Url) -> Vec<lsp::CodeLens> {
        if self.facts().options.draws_hunks {
            return Vec::new();
        }
        let session = self.current();
        let id = DocId::from_uri(uri.as_str());
        let all = self.placed_hunks();
        let several = all.len() > 1;
        let mut lenses = Vec::new();
        for hunk in all.into_iter().filter(|placed| placed.at == id) {
            let file = match hunk.is_elsewhere {
                true => format!(" {}", plain_line(&hunk.file)),
                false => String::new(),
            };
            let words = [("Accept", &*file, "accept"), ("Reject", &*file, "reject")];
            let next = several.then_some(("Next change", "", "next"));
            for (title, file, command) in words.into_iter().chain(next) {
                lenses.push(lsp::CodeLens {
                    range: hunk.range,
                    command: Some(lsp::Command {
                        title: format!("{title}{file}"),
                        command: format!("ropewalk.{command}"),
                        arguments: Some(vec![json!({ "hunk": hunk.id, "session": session })]),
                    }),
                    data: None,
                });
            }
        }
        lenses
    }
}
