//! Code actions: requests on a selection or a diagnostic, and answers to what waits (hunks, approvals).

use crate::lock;
use crate::placed::{ReachableHunk, ShownHunks};
use crate::state::State;
use crate::teammates::TeammateQuestion;
use ropewalk_protocol::{Approval, Verdict};
use ropewalk_text::plain::plain_line;
use ropewalk_workspace::DocId;
use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

/// Questions about a selection: the title, and the words for the model.
const ON_SELECTION: &[(&str, &str)] = &[
    (
        "explain",
        "Explain the selected code: what it does, and why it is done this way. Change nothing.",
    ),
    ("fix", "Find what is wrong in the selected code and fix it."),
    (
        "document",
        "Write the documentation comments that the selected code lacks, in the style of the file.",
    ),
    (
        "test",
        "Write tests for the selected code, where this project keeps its tests and in their style.",
    ),
    (
        "refactor",
        "Refactor the selected code so that it is simpler to read, without changing what it does.",
    ),
];

/// How line comments begin, and what else may stand around a comment.
const COMMENT_STARTS: &[&str] = &["//", "#", "--", ";", "%", "/*", "*", "<!--", "\"\"\"", "'''"];

/// An answer to an approval.
pub(crate) struct AnswerAction {
    /// Title that the user reads, beginning with a small letter.
    pub(crate) title: &'static str,
    /// The word of `ropewalk.approve`.
    pub(crate) word: &'static str,
    /// Verdict that it gives.
    pub(crate) verdict: Verdict,
}

/// All that may be said to a call that waits, the refusal first. Short, because VS Code cuts long buttons to nothing.
pub(crate) fn answers_to(asked: &Approval) -> Vec<AnswerAction> {
    let answer = |title, word, verdict| AnswerAction { title, word, verdict };
    let mut answers = vec![
        answer("refuse", "refuse", Verdict::Refuse(None)),
        answer("allow once", "once", Verdict::Once),
    ];
    if asked.rule_words.is_some() {
        answers.push(answer("allow this session", "session", Verdict::Session));
        if asked.always {
            answers.push(answer("always allow", "always", Verdict::Always));
        }
    }
    if !asked.unseen.is_empty() {
        answers.push(answer("run after saving", "afterSave", Verdict::AfterSave));
    }
    answers
}

impl State {
    /// The actions for a range of a document.
    pub(crate) fn actions(&self, params: &lsp::CodeActionParams) -> Vec<lsp::CodeAction> {
        let id = DocId::from_uri(params.text_document.uri.as_str());
        let uri = &self.spelling(params.text_document.uri.as_str());
        let version = self.anchors.remember(&id);
        self.desk.note_looked(&id);
        self.chat.note_place(&id);
        let is_chat = self.has_chat() && id.is_conversation();
        let mut out = match is_chat {
            true => self.actions_in_chat((uri, &id), version, params.range),
            false => Vec::new(),
        };
        out.extend(self.answers());
        out.extend(self.on_changes(uri, params.range));
        let about = |prompt: &str, range: lsp::Range| {
            json!({
                "prompt": prompt,
                "textDocument": { "uri": uri, "version": version },
                "range": range,
            })
        };
        if is_chat {
            out.extend(self.offered_sessions());
        } else {
            out.extend(fixes(&params.context.diagnostics, about));
            if params.range.start != params.range.end {
                out.extend(self.on_selection(&id, version, params.range, about));
            }
        }
        if let Some(only) = &params.context.only {
            out.retain(|action| action.kind.as_ref().is_some_and(|kind| is_among(kind, only)));
        }
        out
    }

    /// Requests about a selection. `about` makes the arguments of a prompt about a range.
    fn on_selection(
        &self,
        id: &DocId,
        version: Option<i32>,
        range: lsp::Range,
        about: impl Fn(&str, lsp::Range) -> Value,
    ) -> Vec<lsp::CodeAction> {
        let refactor = |title: &str, command, arguments| {
            action(title, lsp::CodeActionKind::REFACTOR, command, arguments)
        };
        let asked = self.comment(id, version, range).map(|request| {
            refactor("Ropewalk: do what this comment asks", "prompt", about(&request, range))
        });
        let mut out = Vec::from_iter(asked);
        out.extend(self.offered_sessions());
        out.extend(ON_SELECTION.iter().map(|(name, prompt)| {
            let title = format!("Ropewalk: {name} the selection");
            refactor(&title, "prompt", about(prompt, range))
        }));
        out
    }

    /// Earlier sessions that can go on.
    fn offered_sessions(&self) -> impl Iterator<Item = lsp::CodeAction> {
        self.host.offered().into_iter().map(|info| {
            let title = format!("Ropewalk: resume {}", crate::show::sessions::about(&info));
            let argument = json!({ "session": info.session });
            action(&title, lsp::CodeActionKind::REFACTOR, "resume", argument)
        })
    }

    /// Actions on pending changes: on each that the range touches, and on all.
    fn on_changes(&self, uri: &str, range: lsp::Range) -> Vec<lsp::CodeAction> {
        let session = self.current();
        let (kind, id) = (lsp::CodeActionKind::QUICKFIX, DocId::from_uri(uri));
        let quick =
            |title: &str, command, arguments| action(title, kind.clone(), command, arguments);
        let touches = |hunk: &&ReachableHunk| {
            let at = hunk.range;
            hunk.at == id && at.start.line <= range.end.line && range.start.line <= at.end.line
        };
        let all = self.placed_hunks();
        let mut out = Vec::new();
        for hunk in all.iter().filter(touches) {
            let arguments = json!({ "hunk": hunk.id, "session": session });
            let what = match hunk.is_elsewhere {
                true => format!("the change of {}", hunk.file),
                false => "this change".to_owned(),
            };
            for command in ["accept", "reject", "show"] {
                let title = format!("Ropewalk: {command} {what}");
                out.push(quick(&title, command, arguments.clone()));
            }
        }
        if all.is_empty() {
            return out;
        }
        let here = match all.iter().rfind(touches) {
            Some(hunk) => json!({ "hunk": hunk.id, "session": session }),
            None => json!({
                "textDocument": { "uri": uri },
                "position": range.end,
                "session": session,
            }),
        };
        out.push(quick("Ropewalk: go to the next change", "next", here));
        for command in ["accept", "reject"] {
            let arguments = json!({ "all": true, "session": session });
            out.push(quick(&format!("Ropewalk: {command} all changes"), command, arguments));
        }
        out
    }

    /// Answers to the calls that wait for the user.
    fn answers(&self) -> Vec<lsp::CodeAction> {
        let mut actions = self.trust_answers();
        let snapshot = self.host.snapshot(None);
        let own = snapshot.session.as_ref().map(ToString::to_string);
        let own = snapshot.approvals.iter().map(|asked| (asked.clone(), own.clone(), None));
        let theirs = self.teammates.questions().into_iter().map(|question| {
            let TeammateQuestion { member, session, approval } = question;
            (approval, Some(session), Some(member))
        });
        let mut waiting: Vec<_> = own.chain(theirs).collect();
        waiting.sort_by_key(|(asked, ..)| asked.id);
        let several = waiting.len() > 1;
        for (asked, session, member) in &waiting {
            let (id, mut answers) = (asked.id, answers_to(asked));
            // A menu is opened on purpose, and what stands first in it does least for later.
            answers.rotate_left(1);
            let shown = lock(&self.shown).questions.get(&id).map(|shown| shown.about.clone());
            let about = several.then(|| shown.unwrap_or_else(|| format!("number {id}")));
            let which: Vec<String> = member.clone().into_iter().chain(about).collect();
            let which = match which.join(", ") {
                which if which.is_empty() => which,
                which => format!(": {which}"),
            };
            for AnswerAction { title, word, .. } in answers {
                let arguments = json!({ "approval": id, "answer": word, "session": session });
                let title = format!("Ropewalk: {title}{which}");
                actions.push(action(&title, lsp::CodeActionKind::QUICKFIX, "approve", arguments));
            }
        }
        actions
    }

    /// Answers to the questions whether a folder is trusted.
    fn trust_answers(&self) -> Vec<lsp::CodeAction> {
        if !self.asks_by_message() {
            return Vec::new();
        }
        let questions = self.host.open_questions();
        let several = questions.len() > 1;
        let answers = questions.iter().flat_map(|question| {
            let which = match question.root.file_name() {
                Some(name) if several => {
                    format!("the configuration of {}", shorten(&name.to_string_lossy(), 60))
                }
                _ => "this folder's configuration".to_owned(),
            };
            [("trust", "trust"), ("never trust", "never")].map(|(words, answer)| {
                let arguments =
                    json!({ "root": question.root, "hash": question.hash, "answer": answer });
                let title = format!("Ropewalk: {words} {which}");
                action(&title, lsp::CodeActionKind::QUICKFIX, "trust", arguments)
            })
        });
        answers.collect()
    }

    /// Words of a selected comment, if the selection is nothing but a comment.
    fn comment(&self, id: &DocId, version: Option<i32>, range: lsp::Range) -> Option<String> {
        let (text, bytes) = self.anchors.locate(id, version, range)?;
        let text = text.slice(bytes);
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let first = lines.first()?;
        let block =
            first.starts_with("/*") || first.starts_with("<!--") || first.starts_with("\"\"\"");
        let is_comment = |line: &&str| COMMENT_STARTS.iter().any(|start| line.starts_with(start));
        if !block && !lines.iter().all(is_comment) {
            return None;
        }
        let bare = lines.iter().map(|line| {
            line.trim_start_matches(['/', '#', '-', ';', '%', '*', '<', '!', '"', '\''])
                .trim_end_matches(['*', '/', '-', '>', '"', '\''])
                .trim()
        });
        let request = bare.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        (!request.is_empty()).then(|| {
            format!("{request}\n\n(This is what the selected comment asks. Do it at that place; leave the comment out if it has served its purpose.)")
        })
    }

    /// The diff of a shown hunk.
    pub(crate) fn shown_diff(&self, hunk: u64) -> Option<String> {
        let file = {
            let ShownHunks { hunks, .. } = &*lock(&self.shown);
            hunks.iter().find(|shown| shown.id == hunk)?.file.clone()
        };
        Some(format!("{file}\n{}", self.host.hunk_texts(hunk)?.diff))
    }
}

/// Requests to fix what others than Ropewalk report. `about` makes the arguments of a prompt about a range.
fn fixes(
    diagnostics: &[lsp::Diagnostic],
    about: impl Fn(&str, lsp::Range) -> Value,
) -> impl Iterator<Item = lsp::CodeAction> {
    let others = diagnostics.iter().filter(|it| it.source.as_deref() != Some("ropewalk"));
    others.map(move |diagnostic| {
        let first = diagnostic.message.lines().next().unwrap_or_default();
        let source = diagnostic.source.as_deref().unwrap_or("the editor");
        let prompt = format!(
            "Fix this problem, which {source} reports for the selected text: {}",
            diagnostic.message
        );
        let title = format!("Ropewalk: fix “{}”", shorten(first, 60));
        let arguments = about(&prompt, lines_of(diagnostic.range));
        let mut fix = action(&title, lsp::CodeActionKind::QUICKFIX, "prompt", arguments);
        fix.diagnostics = Some(vec![diagnostic.clone()]);
        fix
    })
}

/// True if a client that asks only for these kinds, and what is below them, wants this one.
fn is_among(kind: &lsp::CodeActionKind, only: &[lsp::CodeActionKind]) -> bool {
    only.iter().any(|only| {
        kind == only
            || kind.as_str().starts_with(&format!("{}.", only.as_str()))
            || only.as_str().is_empty()
    })
}

pub(crate) fn action(
    title: &str,
    kind: lsp::CodeActionKind,
    command: &str,
    arguments: Value,
) -> lsp::CodeAction {
    let title = plain_line(title);
    lsp::CodeAction {
        title: title.clone(),
        kind: Some(kind),
        command: Some(lsp::Command {
            title,
            command: format!("ropewalk.{command}"),
            arguments: Some(vec![arguments]),
        }),
        ..lsp::CodeAction::default()
    }
}

/// The whole lines of a range: what a diagnostic marks may be a character, or nothing at all.
fn lines_of(range: lsp::Range) -> lsp::Range {
    let start = lsp::Position::new(range.start.line, 0);
    let end_line = range.end.line.max(range.start.line);
    // Past the line's end, which is clamped to it.
    lsp::Range::new(start, lsp::Position::new(end_line, u32::MAX))
}

fn shorten(text: &str, chars: usize) -> String {
    let mut short: String = text.chars().take(chars).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
