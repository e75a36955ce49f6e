//! `glob`: files by their names.

use crate::blocking::{StopSignal, blocking};
use crate::names::files_named;
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Glob;

/// The most files that are named.
const MOST_FILES: usize = 1_000;

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct GlobInput {
    /// As in src/**/*.rs; without a slash, names in any folder.
    pattern: String,
    /// The folder to look in; all roots if left out.
    path: Option<String>,
}

impl TypedTool for Glob {
    type Input = GlobInput;
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = "Finds files by name, sorted; ignored files are left out.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &GlobInput) -> Subject {
        Subject::search(&input.pattern, input.path.as_deref())
    }

    fn run(&self, input: GlobInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        blocking(move |stop| glob(&input, &context, stop))
    }
}

fn glob(input: &GlobInput, context: &Context, stop: &StopSignal) -> Result<ToolOutput, ToolOutput> {
    let path = input.path.as_deref();
    let files = files_named(&context.view, path, Some(&input.pattern), stop)?;
    let files = files.filter(|file| !file.place.is_untitled());
    let found: Vec<String> = files.map(|file| file.place.shown).collect();
    if found.is_empty() {
        return Ok(ToolOutput::text("(no matches)"));
    }
    let mut out = found.iter().take(MOST_FILES).map(String::as_str).collect::<Vec<_>>().join("\n");
    if found.len() > MOST_FILES {
        out.push_str(&format!(
            "\n... ({} more files; narrow the pattern or the path)",
            found.len() - MOST_FILES
        ));
    }
    Ok(ToolOutput::text(out))
}
