//! The end of a page: everything has ended and been looked at, and the model sees the very text of the editor.

use super::{Play, place};
use crate::editor::{FakeEditor, Kind};
use crate::model::{RecordedRequest, ScriptedModel, ScriptedReply};
use crate::scenario::check::Checks;
use ropewalk_workspace::DocId;
use serde_json::{Value, json};

/// Prompt when all steps are done.
pub(super) const LAST: &str = "The page has ended: what do you see?";

/// Answer of the model to it.
const LAST_WORDS: &str = "That is all I see.";

/// Messages of every kind, for when a page has looked at all it wants to.
pub(super) const EVERYTHING: &[Kind] =
    &[Kind::Progress, Kind::Diagnostics, Kind::Message, Kind::Log, Kind::Dialog, Kind::Event];

/// The model's last reply.
pub(super) fn last_reply() -> ScriptedReply {
    ScriptedReply::new().expect_text(LAST).text(LAST_WORDS).forever()
}

impl Play<'_> {
    /// Checks the rules for the end of every page, in one window after the other. The model is
    /// asked only in the window in which the page ends.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        self.last_command_worked()?;
        self.finish_window(!self.has_other_model())?;
        while let Some(number) = self.others.keys().next().copied() {
            self.turn_to(number);
            self.finish_window(false)?;
        }
        self.model.finish().map_err(|faults| faults.join("\n"))
    }

    fn finish_window(&mut self, asks: bool) -> Result<(), String> {
        let Some(editor) = &self.editor else { return Ok(()) };
        self.checks.all_ended(editor)?;
        if asks {
            // Afterwards all that the turns before had to say has come.
            ask_what_is_seen(editor, &self.model, &mut self.checks)?;
        }
        self.checks.no_message_is_left(editor, LAST_WORDS)?;
        if let Some(dialog) = editor.with(|seen| seen.dialogs().first().cloned()) {
            return Err(format!("nobody has answered this dialog: {}", dialog.message));
        }
        editor.ignore(EVERYTHING);
        let status = editor.execute("ropewalk.status", Value::Null).map_err(|e| e.to_string())?;
        if status.get("desyncAlarms") != Some(&json!(0)) {
            return Err(format!("the server has lost step with the editor: {status}"));
        }
        if let Some(editor) = self.editor.take() {
            editor.shutdown();
        }
        Ok(())
    }

    /// True if the page names another model than the scripted one, or another way to it.
    fn has_other_model(&self) -> bool {
        let mut keys = self.scenario.setup.config.iter().map(|(key, _)| key);
        keys.any(|key| key == "model" || key.starts_with("provider.") && key.ends_with(".base_url"))
    }
}

/// Asks the model about each open document, whole: it must see what the editor has.
fn ask_what_is_seen(
    editor: &FakeEditor,
    model: &ScriptedModel,
    checks: &mut Checks,
) -> Result<(), String> {
    let mut questions = vec![(json!({ "prompt": LAST }), LAST.to_owned())];
    for uri in editor.with(|seen| seen.client().open_uris()) {
        // It is appended to, and the model does not see it.
        if DocId::from_uri(&uri).is_conversation() {
            continue;
        }
        let text = editor.text(&uri);
        let range = editor.range(&uri, (0, 0), place(&text, text.len()));
        let document = json!({ "uri": uri });
        questions.push((json!({ "prompt": LAST, "textDocument": document, "range": range }), text));
    }
    for (argument, text) in questions {
        editor.execute("ropewalk.prompt", argument).map_err(|error| error.to_string())?;
        checks.prompted();
        checks.last_end(editor, LAST_WORDS)?;
        // Members of a team may have asked meanwhile.
        let requests = model.recorded();
        let asked = requests.iter().rev().map(last_words).find(|said| said.contains(LAST));
        let said = asked.unwrap_or_default();
        if !said.contains(&text) {
            return Err(format!("the editor has\n{text}\nbut the model was told\n{said}"));
        }
    }
    Ok(())
}

/// The words of a request's last message.
fn last_words(request: &RecordedRequest) -> String {
    let last = request.said.get("messages").and_then(Value::as_array).and_then(|all| all.last());
    let blocks = last.and_then(|message| message.get("content")).and_then(Value::as_array);
    let blocks = blocks.into_iter().flatten();
    let texts = blocks.filter_map(|block| block.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join("\n")
}
