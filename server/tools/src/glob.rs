//! `glob`: files by their names.

use crate::blocking::{Stop, blocking};
use crate::bounds::bound;
use crate::tool::{Context, Effect, Output, Subject, Tool};
use crate::walk::files;
use futures::future::BoxFuture;
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Glob;

/// The most files that are named.
const MOST_FILES: usize = 1_000;

/// What the model gives.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct Input {
    /// As in src/**/*.rs; without a slash, names in any folder.
    pattern: String,
    /// The folder to look in; all roots if left out.
    path: Option<String>,
}

impl Tool for Glob {
    type Input = Input;
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = "Finds files by name, sorted; ignored files are left out.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &Input) -> Subject {
        Subject {
            title: input.pattern.clone(),
            command: None,
            paths: input.path.iter().cloned().collect(),
        }
    }

    fn run(&self, input: Input, context: Context) -> BoxFuture<'static, Output> {
        blocking(move |stop| glob(&input, &context, stop))
    }
}

fn glob(input: &Input, context: &Context, stop: &Stop) -> Result<Output, Output> {
    let names = Names::new(&input.pattern, context)?;
    let found: Vec<String> = files(&context.view, input.path.as_deref(), stop)?
        .into_iter()
        .filter(|file| names.matches(&file.below, &file.place.path))
        .map(|file| file.place.shown)
        .collect();
    if found.is_empty() {
        return Ok(Output::text("(no matches)"));
    }
    let mut out = found.iter().take(MOST_FILES).map(String::as_str).collect::<Vec<_>>().join("\n");
    if found.len() > MOST_FILES {
        out.push_str(&format!(
            "\n... ({} more files; narrow the pattern or the path)",
            found.len() - MOST_FILES
        ));
    }
    Ok(Output::text(bound(&out, context.bounds, None).to_string()))
}

/// A pattern for names of files.
pub(crate) struct Names {
    matcher: GlobMatcher,
    by_name: bool,
}

impl Names {
    /// Reads a pattern; one that begins with a root's own path is taken from there.
    pub(crate) fn new(pattern: &str, context: &Context) -> Result<Self, Output> {
        let wrong = |why: &dyn std::fmt::Display| {
            Output::error(format_args!(
                "the pattern {pattern:?} is not understood: {why}. Write it as in src/**/*.rs or *.{{ts,tsx}}"
            ))
        };
        let below_root = context.view.roots().iter().find_map(|root| {
            let folders = [root.path(), root.given()].into_iter().filter_map(Path::to_str);
            folders.filter_map(|folder| pattern.strip_prefix(folder)?.strip_prefix('/')).next()
        });
        let plain = below_root.or(pattern.strip_prefix("./")).unwrap_or(pattern);
        if plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
            return Err(Output::error(format_args!(
                "Path escapes workspace: {pattern} (give a pattern without .., relative to the folder)"
            )));
        }
        if plain.is_empty() {
            return Err(wrong(&"it is empty"));
        }
        let glob = GlobBuilder::new(plain).literal_separator(true).build();
        let matcher = glob.map_err(|error| wrong(error.kind()))?.compile_matcher();
        Ok(Self { matcher, by_name: !plain.contains('/') && below_root.is_none() })
    }

    /// Whether a file matches, by its path below the folder that is looked in.
    pub(crate) fn matches(&self, below: &Path, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default();
        // A file that was named itself has nothing below; its name stands for it.
        let below = if below.as_os_str().is_empty() { Path::new(name) } else { below };
        self.matcher.is_match(below) || self.by_name && self.matcher.is_match(name)
    }
}
