//! `edit_file`: one text of a file replaced by another.
//!
//! Finding and changing is in `plan`, saying why nothing was found in `nearest`.

mod fold;
mod nearest;
mod plan;

use crate::blocking::{StopSignal, blocking};
use crate::files::{ViewText, bytes_in_file, text_to_edit};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use plan::{EditPlan, MOST, NoPlan, OccurrenceChoice, plan};
use ropewalk_text::Text;
use ropewalk_workspace::{Proposal, ProposedChange};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct EditFile;

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct EditFileInput {
    /// The file.
    path: String,
    /// The text as it is now, exactly, without line numbers.
    old_text: String,
    /// The text that replaces it.
    new_text: String,
    /// Replace every occurrence.
    replace_all: Option<bool>,
    /// Which occurrence, from 1; the first if left out.
    occurrence: Option<u32>,
}

impl TypedTool for EditFile {
    type Input = EditFileInput;
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str =
        "Replaces old_text by new_text in a file. White space counts; line ends are the file's.";
    const EFFECT: Effect = Effect::Write;

    fn subject(&self, input: &EditFileInput) -> Subject {
        Subject::path(&input.path)
    }

    fn run(&self, input: EditFileInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        blocking(move |stop| edit(&input, &context, stop))
    }
}

fn edit(
    input: &EditFileInput,
    context: &Context,
    stop: &StopSignal,
) -> Result<ToolOutput, ToolOutput> {
    let which = match (input.replace_all, input.occurrence) {
        (Some(true), Some(_)) => {
            return Err(ToolOutput::error("give replace_all or occurrence, not both"));
        }
        (Some(true), None) => OccurrenceChoice::All,
        (_, Some(0)) => return Err(ToolOutput::error("occurrence counts from 1")),
        (_, Some(occurrence)) => OccurrenceChoice::Nth(occurrence as usize),
        (_, None) => OccurrenceChoice::Nth(1),
    };
    if input.old_text.is_empty() {
        return Err(ToolOutput::error(
            "old_text is empty, so there is nothing to find. To make a file or replace its whole text use write_file",
        ));
    }
    if input.new_text.contains('\0') {
        return Err(ToolOutput::error(
            "new_text holds a NUL character, so the file would be no text",
        ));
    }
    let ViewText { place, text, format } = text_to_edit(&context.view, &input.path)?;
    let shown = &place.shown;
    bytes_in_file(&Text::from(input.new_text.as_str()), format).map_err(|error| {
        ToolOutput::error(format_args!("{shown}: {error}; write it another way"))
    })?;
    let planned = plan(&text, &input.old_text, &input.new_text, which, stop);
    let EditPlan { set, edited, others } =
        planned.map_err(|why| no_plan(why, shown, &text, input))?;
    let words = match which {
        OccurrenceChoice::All if edited.count > 1 => {
            format!("Edited {shown} ({} places, in lines {edited})", edited.count)
        }
        _ if others.count == 0 => format!("Edited {shown} (line {edited})"),
        _ => format!(
            "Edited {shown} (line {edited}). old_text is also in line{} {others}: occurrence chooses another, replace_all takes all",
            if others.count == 1 { "" } else { "s" }
        ),
    };
    Ok(ToolOutput::proposing(words, vec![Proposal { place, change: ProposedChange::Edit(set) }]))
}

fn no_plan(why: NoPlan, shown: &str, text: &Text, input: &EditFileInput) -> ToolOutput {
    match why {
        NoPlan::Same => ToolOutput::error(format_args!(
            "old_text and new_text are equal (line ends aside), so there is nothing to change in {shown}"
        )),
        NoPlan::TooFew(found) => ToolOutput::error(format_args!(
            "old_text is in {shown} only {} time{} (line {found}). Choose a smaller occurrence",
            found.count,
            if found.count == 1 { "" } else { "s" }
        )),
        NoPlan::TooMany => ToolOutput::error(format_args!(
            "old_text is in {shown} more than {MOST} times, too many for one edit. Give a longer old_text, or change the file with a command (sed)"
        )),
        NoPlan::Stopped => ToolOutput::error("nobody waits for this edit any more"),
        NoPlan::NotFound => {
            let why = nearest::explain(text, &input.old_text, &input.new_text);
            ToolOutput::error(format_args!("Text not found in {shown}{why}"))
        }
    }
}
