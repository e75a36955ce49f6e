//! Code actions and completions of a document, as its user sees them.

use super::step::DocumentSpot;
use crate::editor::{FakeEditor, RpcError, UserPlace};
use serde_json::{Value, json};
use std::path::Path;

/// The words before every title of ours.
const OURS: &str = "Ropewalk: ";

/// The end of a document.
fn end(text: &str) -> UserPlace {
    let last = text.rsplit('\n').next().unwrap_or_default();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (number(text.matches('\n').count()), number(last.chars().count()))
}

/// Types at the end of a document.
pub(super) fn type_at_end(editor: &FakeEditor, path: &Path, text: &str) {
    let (line, column) = end(&editor.text(path));
    editor.type_at(path, line, column, text);
}

/// Chooses a code action by its title; gives what its command answers.
pub(super) fn choose(
    editor: &FakeEditor,
    path: &Path,
    (spot, title): (&DocumentSpot, &str),
) -> Result<Result<Value, RpcError>, String> {
    let text = editor.text(path);
    let (from, to) = match spot {
        DocumentSpot::End => (end(&text), end(&text)),
        DocumentSpot::LineWith(words) => {
            let line = text.lines().position(|line| line.contains(words.as_str()));
            let line = line.ok_or_else(|| format!("no line has {words:?} in\n{text}"))?;
            let line = u32::try_from(line).unwrap_or(u32::MAX);
            ((line, 0), (line, 0))
        }
        DocumentSpot::Lines(first, last) => ((first - 1, 0), (*last, 0)),
    };
    let offers = editor.code_actions(path, from, to);
    let Some(offer) = offers.iter().find(|offer| offer.title.strip_prefix(OURS) == Some(title))
    else {
        let titles: Vec<&str> = offers.iter().map(|offer| offer.title.as_str()).collect();
        return Err(format!("{title:?} is not offered, but {}", titles.join(", ")));
    };
    Ok(editor.run(offer))
}

/// Compares what can stand at the end of a document.
pub(super) fn completes(editor: &FakeEditor, path: &Path, wanted: &[String]) -> Result<(), String> {
    let at = end(&editor.text(path));
    let position = editor.range(path, at, at).get("start").cloned();
    let params = json!({ "textDocument": { "uri": editor.uri(path) }, "position": position });
    let found = editor.request("textDocument/completion", &params).map_err(|e| e.to_string())?;
    let items = found.get("items").and_then(Value::as_array).into_iter().flatten();
    let labels: Vec<&str> = items.filter_map(|item| item.get("label")?.as_str()).collect();
    match labels == wanted {
        true => Ok(()),
        false => Err(format!("should be completed to {wanted:?}, but to {labels:?}")),
    }
}

/// Waits until a document has these words.
pub(super) fn reads(editor: &FakeEditor, path: &Path, words: &str) -> Result<(), String> {
    let uri = editor.uri(path);
    let mut last = String::new();
    let found = editor.try_wait_for("these words", |seen| {
        last = seen.text(&uri).unwrap_or_default();
        last.contains(words).then_some(())
    });
    found.map_err(|why| format!("should have {words:?}, but is\n{last}\n{why}"))
}

/// Waits until the editor was asked to show a document.
pub(super) fn shown(editor: &FakeEditor, path: &Path) -> Result<(), String> {
    let uri = editor.uri(path);
    editor.try_wait_for("the document to be shown", |seen| {
        let asked = seen.take("window/showDocument");
        asked.iter().any(|params| params.get("uri") == Some(&json!(uri))).then_some(())
    })
}
