//! `grep`: lines of the view's files that match a pattern.
//!
//! Which files there are is `names`' business, searching one text is `search`'s.

mod search;

use crate::blocking::{StopSignal, blocking};
use crate::names::files_named;
use crate::policy::is_sensitive;
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use ropewalk_workspace::Place;
use schemars::JsonSchema;
use search::{Hits, SearchPattern};
use serde::Deserialize;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grep;

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct GrepInput {
    /// A regular expression (Rust's).
    pattern: String,
    /// A file or folder; all roots if left out.
    path: Option<String>,
    /// Only files of these names, as in *.rs.
    include: Option<String>,
    /// Search for the pattern as it is.
    literal: Option<bool>,
    /// Upper and lower case are the same.
    ignore_case: Option<bool>,
    /// Lines to show around each match.
    context: Option<u32>,
}

impl TypedTool for Grep {
    type Input = GrepInput;
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Searches files for a pattern, giving path:line: text. Unsaved text and your own pending changes are searched; ignored files are left out unless named by path.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &GrepInput) -> Subject {
        Subject::search(&input.pattern, input.path.as_deref())
    }

    fn run(&self, input: GrepInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        blocking(move |stop| grep(&input, &context, stop))
    }
}

fn grep(input: &GrepInput, context: &Context, stop: &StopSignal) -> Result<ToolOutput, ToolOutput> {
    let pattern = SearchPattern::new(
        &input.pattern,
        input.literal.unwrap_or(false),
        input.ignore_case.unwrap_or(false),
    )?;
    let (path, include) = (input.path.as_deref(), input.include.as_deref());
    let files = files_named(&context.view, path, include, stop)?;
    let mut hits = Hits::new(input.context.unwrap_or(0).min(20) as usize);
    let mut left = UnsearchedFiles::default();
    let start = path.and_then(|path| context.view.named(path).ok());
    for file in files {
        if stop.is_set() || hits.is_full() {
            break;
        }
        // One that was named itself has passed policy by its names.
        let former = match file.below.as_os_str().is_empty() {
            true => Vec::new(),
            false => context.view.former_places(&file.place),
        };
        let was_secret = former.iter().any(|place| is_sensitive(&place.shown));
        if was_secret || is_sensitive(&file.below.to_string_lossy()) {
            left.secret.push(file.place.shown);
            continue;
        }
        let is_hidden = |place: &Place| (context.grant.hides)(place, start.as_ref());
        if is_hidden(&file.place) || former.iter().any(is_hidden) {
            left.hidden.push(file.place.shown);
            continue;
        }
        if let Err(error) = search::file(&context.view, &file, &pattern, &mut hits) {
            tracing::debug!(%error, "a file was not searched");
            left.unread.push(file.place.shown);
        }
    }
    let mut out = hits.into_text();
    if let Some(why) = &pattern.fell_back {
        out.push_str(&format!(
            "\n(the pattern is no regular expression, so it was searched as it is: {why})"
        ));
    }
    left.say(&mut out);
    Ok(ToolOutput::text(out))
}

/// Files that were not searched.
#[derive(Default)]
struct UnsearchedFiles {
    secret: Vec<String>,
    hidden: Vec<String>,
    unread: Vec<String>,
}

impl UnsearchedFiles {
    fn say(&self, out: &mut String) {
        let list = |names: &[String]| {
            let more = names.len().saturating_sub(5);
            let first = names.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
            if more > 0 { format!("{first} and {more} more") } else { first }
        };
        if !self.secret.is_empty() {
            out.push_str(&format!(
                "\n(not searched, because they may hold secrets: {}. Name one as path to search it)",
                list(&self.secret)
            ));
        }
        if !self.hidden.is_empty() {
            out.push_str(&format!(
                "\n(not searched, because the user's rules keep them from being read unasked: {})",
                list(&self.hidden)
            ));
        }
        if !self.unread.is_empty() {
            out.push_str(&format!(
                "\n(not searched, because they can't be read or are too large: {})",
                list(&self.unread)
            ));
        }
    }
}
