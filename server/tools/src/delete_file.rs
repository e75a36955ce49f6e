//! `delete_file`: a file goes, or a link, which leaves what it leads to.

use crate::blocking::blocking;
use crate::files::{link_itself, look_to_change, missing, no_untitled, unsaved_words};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use ropewalk_workspace::{FileState, Proposal, ProposedChange};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteFile;

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct DeleteFileInput {
    /// The file.
    path: String,
}

impl TypedTool for DeleteFile {
    type Input = DeleteFileInput;
    const NAME: &'static str = "delete_file";
    const DESCRIPTION: &'static str = "Deletes one file.";
    const EFFECT: Effect = Effect::Write;

    fn subject(&self, input: &DeleteFileInput) -> Subject {
        Subject::path(&input.path)
    }

    fn run(&self, input: DeleteFileInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        blocking(move |_| delete(&input, &context))
    }
}

fn delete(input: &DeleteFileInput, context: &Context) -> Result<ToolOutput, ToolOutput> {
    if let Some((place, target)) = link_itself(&context.view, &input.path)? {
        let (shown, target) = (&place.shown, target.display());
        let words = format!("Deleted {shown}, a link to {target}, which is left as it is");
        let proposals = vec![Proposal { place, change: ProposedChange::Delete }];
        return Ok(ToolOutput::proposing(words, proposals));
    }
    let (place, state) = look_to_change(&context.view, &input.path)?;
    no_untitled(&place, "delete")?;
    if matches!(state, FileState::Missing) {
        return Err(missing(&context.view, &place));
    }
    let words = format!("Deleted {}{}", place.shown, unsaved_words(&context.view, &place));
    Ok(ToolOutput::proposing(words, vec![Proposal { place, change: ProposedChange::Delete }]))
}
