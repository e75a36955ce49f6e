//! `move_file`: a file gets another name or folder, with all that is pending in it; or a link, whose target stays as it
//! is written.

use crate::blocking::blocking;
use crate::files::{
    fits_the_fork, link_itself, look_to_change, may_change, missing, no_untitled, unsaved_words,
};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use ropewalk_files::disk::FileError;
use ropewalk_workspace::{FileState, Proposal, ProposedChange};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoveFile;

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct MoveFileInput {
    /// The file.
    path: String,
    /// Its whole new path; nothing may be there.
    to: String,
}

impl TypedTool for MoveFile {
    type Input = MoveFileInput;
    const NAME: &'static str = "move_file";
    const DESCRIPTION: &'static str = "Renames or moves one file.";
    const EFFECT: Effect = Effect::Write;

    fn subject(&self, input: &MoveFileInput) -> Subject {
        Subject {
            title: format!("{} → {}", input.path, input.to),
            paths: vec![input.path.clone(), input.to.clone()],
            ..Subject::default()
        }
    }

    fn run(&self, input: MoveFileInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        blocking(move |_| move_file(&input, &context))
    }
}

fn move_file(input: &MoveFileInput, context: &Context) -> Result<ToolOutput, ToolOutput> {
    let view = &context.view;
    let (place, target) = match link_itself(view, &input.path)? {
        Some((place, target)) => (place, Some(target)),
        None => {
            let (place, state) = look_to_change(view, &input.path)?;
            no_untitled(&place, "move")?;
            if matches!(state, FileState::Missing) {
                return Err(missing(view, &place));
            }
            (place, None)
        }
    };
    let to = view.contain(&input.to).map_err(ToolOutput::error)?;
    may_change(view, &to)?;
    if to == place {
        return Err(ToolOutput::error(format_args!(
            "both paths are {}; nothing to move",
            place.shown
        )));
    }
    let folder = || {
        ToolOutput::error(format_args!(
            "{} is a folder. Give the whole new path, with the file's name",
            to.shown
        ))
    };
    if input.to.ends_with('/') {
        return Err(folder());
    }
    // Where a link leads to nothing, the link is there still.
    let link = view.link_named(&input.to).map(|(link, _)| link.shown);
    match view.read(&to) {
        Ok(FileState::Missing) if link.is_none() => {}
        Err(FileError::NotAFile { .. }) if to.path.is_dir() => return Err(folder()),
        Ok(_) | Err(_) => {
            return Err(ToolOutput::error(format_args!(
                "{} exists already. Choose another name, or delete it first",
                link.as_ref().unwrap_or(&to.shown)
            )));
        }
    }
    fits_the_fork(view, &to)?;
    let (shown, now) = (&place.shown, &to.shown);
    let words = match &target {
        None => format!("Moved {shown} to {now}{}", unsaved_words(view, &place)),
        Some(target) => {
            let elsewhere = target.is_relative() && place.path.parent() != to.path.parent();
            let target = target.display();
            let words = match elsewhere {
                true => ", read from its new folder",
                false => "",
            };
            format!("Moved {shown} to {now}; it is a link to {target}{words}")
        }
    };
    Ok(ToolOutput::proposing(
        words,
        vec![Proposal { place, change: ProposedChange::Rename { to } }],
    ))
}
