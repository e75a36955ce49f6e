//! Files by their names: all that `glob` finds, and what narrows a `grep`.
//!
//! Which files there are is [`crate::walk`]'s business.

use crate::blocking::StopSignal;
use crate::tool::ToolOutput;
use crate::walk::{ViewFile, files};
use globset::{GlobBuilder, GlobMatcher};
use ropewalk_workspace::View;
use std::path::Path;

/// The files under `path`, or in all roots, whose names match `pattern`; all of them without one. Sorted by
/// the names they are shown with.
///
/// # Errors
/// When the pattern is not understood, or `path` leads nowhere.
pub(crate) fn files_named<'a>(
    view: &'a View,
    path: Option<&str>,
    pattern: Option<&str>,
    stop: &StopSignal,
) -> Result<impl Iterator<Item = ViewFile<'a>>, ToolOutput> {
    let names = pattern.map(|pattern| NamePattern::new(pattern, view)).transpose()?;
    let path = path.or_else(|| readable_folder(view, pattern?));
    let all = files(view, path, stop)?.into_iter();
    Ok(all.filter(move |file| names.as_ref().is_none_or(|names| names.matches(file))))
}

/// The folder outside the roots that a pattern begins with, if it may be read.
fn readable_folder<'a>(view: &'a View, pattern: &str) -> Option<&'a str> {
    let folders = view.readable().iter().filter_map(|root| root.path().to_str());
    let mut folders = folders.filter(|folder| Path::new(pattern).starts_with(folder));
    folders.next()
}

/// A pattern for names of files.
struct NamePattern {
    matcher: GlobMatcher,
    by_name: bool,
}

impl NamePattern {
    /// Reads a pattern; one that begins with a root's own path is taken from there.
    fn new(pattern: &str, view: &View) -> Result<Self, ToolOutput> {
        let wrong = |why: &dyn std::fmt::Display| {
            ToolOutput::error(format_args!(
                "the pattern {pattern:?} is not understood: {why}. Write it as in src/**/*.rs or *.{{ts,tsx}}"
            ))
        };
        let below_root = view.roots().iter().chain(view.readable().iter()).find_map(|root| {
            let folders = [root.path(), root.given()].into_iter().filter_map(Path::to_str);
            folders.filter_map(|folder| pattern.strip_prefix(folder)?.strip_prefix('/')).next()
        });
        let plain = below_root.or(pattern.strip_prefix("./")).unwrap_or(pattern);
        if plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
            return Err(ToolOutput::error(format_args!(
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

    /// True if a file matches, by its path below the folder that is looked in.
    fn matches(&self, file: &ViewFile<'_>) -> bool {
        let name = file.place.path.file_name().unwrap_or_default();
        // A file that was named itself has nothing below; its name stands for it.
        let below = if file.below.as_os_str().is_empty() { Path::new(name) } else { &file.below };
        self.matcher.is_match(below) || self.by_name && self.matcher.is_match(name)
    }
}
