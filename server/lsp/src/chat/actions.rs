//! Code actions in the conversation document: send, and the review of the changes whose lines are chosen.

use super::{page, transcript::ChangeListing};
use crate::actions::action;
use crate::lock;
use crate::state::State;
use ropewalk_text::Text;
use ropewalk_workspace::DocId;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use tower_lsp::lsp_types as lsp;

impl State {
    /// The actions for a range of the conversation, what is sent first.
    pub(crate) fn actions_in_chat(
        &self,
        (uri, id): (&str, &DocId),
        version: Option<i32>,
        range: lsp::Range,
    ) -> Vec<lsp::CodeAction> {
        let Some(text) = self.workspace.with_document(id, |document| document.text().clone())
        else {
            return Vec::new();
        };
        let mut out = Vec::new();
        let is_selection = range.start != range.end;
        let has_draft = page::draft(&text.to_string()).is_ok_and(|draft| !draft.is_empty());
        let listed = self.listed_in(&text, range);
        if listed.is_empty() && (is_selection || has_draft) {
            let argument = |queue: bool| {
                let mut value = json!({ "textDocument": { "uri": uri, "version": version } });
                if let (true, Some(value)) = (is_selection, value.as_object_mut()) {
                    value.insert("range".to_owned(), json!(range));
                }
                if let (true, Some(value)) = (queue, value.as_object_mut()) {
                    value.insert("queue".to_owned(), json!(true));
                }
                value
            };
            let what = if is_selection { "send the selection" } else { "send" };
            match self.chat.is_running.load(Ordering::Relaxed) {
                false => out.push(quick(&format!("Ropewalk: {what}"), "send", argument(false))),
                true => {
                    let now = format!("Ropewalk: {what}, to what runs now");
                    let later = format!("Ropewalk: {what}, once that is done");
                    out.push(quick(&now, "send", argument(false)));
                    out.push(quick(&later, "send", argument(true)));
                }
            }
        }
        out.extend(self.on_listed(&listed));
        out
    }

    /// The changes that the chosen lines name, as far as something can be done with them.
    fn listed_in(&self, text: &Text, range: lsp::Range) -> Vec<ChangeListing> {
        let pending: Vec<ChangeListing> = lock(&self.shown)
            .hunks
            .iter()
            .map(|hunk| ChangeListing {
                name: format!("{}:{}", hunk.file, hunk.line + 1),
                hunk: hunk.id,
                is_made: false,
            })
            .collect();
        let listed = lock(&self.chat.listed);
        let find = |name: &str| {
            let known = listed.iter().rfind(|listed| listed.name == name);
            // After a restart a line means the change that is there now.
            let here = pending.iter().find(|pending| pending.name == name);
            let found = known.or(here)?;
            let waits = || pending.iter().any(|pending| pending.hunk == found.hunk);
            (found.is_made || waits()).then(|| found.clone())
        };
        let end = if range.end.character == 0 && range.end.line > range.start.line {
            range.end.line
        } else {
            range.end.line + 1
        };
        let lines = text.to_string();
        let lines = lines.lines().skip(range.start.line as usize);
        let chosen = lines.take(end.saturating_sub(range.start.line) as usize);
        chosen.filter_map(page::named).filter_map(find).collect()
    }

    fn on_listed(&self, listed: &[ChangeListing]) -> Vec<lsp::CodeAction> {
        let session = self.current();
        let ids = |is_made: bool| -> Vec<u64> {
            let some = listed.iter().filter(|listed| listed.is_made == is_made);
            some.map(|listed| listed.hunk).collect()
        };
        let argument = |ids: &[u64]| -> Value { json!({ "hunk": ids, "session": session }) };
        let (waiting, made) = (ids(false), ids(true));
        let these = |ids: &[u64]| match ids {
            [_] => "this change".to_owned(),
            many => format!("these {} changes", many.len()),
        };
        let mut out = Vec::new();
        if !waiting.is_empty() {
            for command in ["accept", "reject"] {
                let title = format!("Ropewalk: {command} {}", these(&waiting));
                out.push(quick(&title, command, argument(&waiting)));
            }
        }
        if let [one] = *waiting {
            let argument = json!({ "hunk": one, "session": session });
            out.push(quick("Ropewalk: show this change", "show", argument));
        }
        if !made.is_empty() {
            out.push(quick(&format!("Ropewalk: undo {}", these(&made)), "undo", argument(&made)));
        }
        out
    }
}

fn quick(title: &str, command: &str, argument: Value) -> lsp::CodeAction {
    action(title, lsp::CodeActionKind::QUICKFIX, command, argument)
}
