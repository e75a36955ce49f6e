//! Knowledge that the editor's language servers have of the code: `symbols`, `definition` and
//! `references`.
//!
//! They know the user's text as it is. A line of the model's is found there again, unless it lies in a pending change,
//! which is said.

mod definition;
mod references;
mod symbols;

pub use definition::Definition;
pub use references::References;
pub use symbols::Symbols;

use crate::blocking::on_thread;
use crate::bounds::bound;
use crate::lines::{line_number, line_start};
use crate::policy::is_sensitive;
use crate::tool::{Context, ReadFilter, ToolOutput, TypedTool as _};
use futures::future::BoxFuture;
use ropewalk_text::{Text, diff, line_hunks};
use ropewalk_workspace::editor::{EditorPlace, SymbolSpot};
use ropewalk_workspace::{DocId, EditorError, FileState, View};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

/// The names of the tools, which are offered where a plugin answers them.
pub const NAMES: [&str; 3] = [Symbols::NAME, Definition::NAME, References::NAME];

/// The most places that are shown.
const MOST: usize = 100;

/// The most characters of a line that is shown.
const LONGEST: usize = 200;

/// A symbol that the model means.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct SymbolInput {
    /// The file it stands in.
    path: String,
    /// The number of its line, as read_file shows it.
    line: usize,
    /// Its name as it stands in that line.
    symbol: String,
}

/// Asks the editor about a symbol, and shows the places that it names.
async fn places(
    input: SymbolInput,
    context: Context,
    ask: impl FnOnce(SymbolSpot) -> BoxFuture<'static, Result<Vec<EditorPlace>, EditorError>>,
) -> ToolOutput {
    let answered = async {
        let spot = spot(input, &context).await?;
        let found = ask(spot).await.map_err(|error| refused(&error))?;
        shown(found, &context).await
    };
    answered.await.unwrap_or_else(|failure| failure)
}

/// The symbol in the user's text.
async fn spot(input: SymbolInput, context: &Context) -> Result<SymbolSpot, ToolOutput> {
    let view = context.view.clone();
    on_thread(move |_| spot_in(&view, &input)).await
}

fn spot_in(view: &View, input: &SymbolInput) -> Result<SymbolSpot, ToolOutput> {
    let SymbolInput { path, line, symbol } = input;
    let (place, state) = crate::files::look(view, path)?;
    let shown = &place.shown;
    let FileState::Text { text, .. } = state else {
        return Err(ToolOutput::error(format_args!("{shown} has no text to look in")));
    };
    let at = in_line(&text, *line, symbol).ok_or_else(|| {
        ToolOutput::error(format_args!(
            "{symbol:?} does not stand in line {line} of {shown}. Read the file, and name the line and the symbol as they are there"
        ))
    })?;
    let doc = view.id_of(&place, view.roots());
    let own = user_text(view, &doc).ok_or_else(|| {
        ToolOutput::error(format_args!(
            "{shown} is new and not in the user's files yet, so the editor does not know it. Search for its text instead"
        ))
    })?;
    let byte = back(&own, &text, at).ok_or_else(|| {
        ToolOutput::error(format_args!(
            "line {line} of {shown} is in a pending change, which the editor does not know yet. Search for its text instead"
        ))
    })?;
    Ok(SymbolSpot { doc, text: own, byte })
}

/// Where a name stands in a line, as a whole word if it does.
fn in_line(text: &Text, line: usize, symbol: &str) -> Option<usize> {
    let start = line_start(text, line)?;
    let end = line_start(text, line + 1).unwrap_or(text.len());
    let own = text.slice(start..end);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: &usize| {
        let (before, after) = (own.get(..*at), own.get(at + symbol.len()..));
        let touches = |c: Option<char>| c.is_some_and(is_word);
        !touches(before.and_then(|text| text.chars().next_back()))
            && !touches(after.and_then(|text| text.chars().next()))
    };
    let mut found = own.match_indices(symbol).map(|(at, _)| at);
    let first = found.clone().next()?;
    (!symbol.is_empty()).then(|| start + found.find(is_whole).unwrap_or(first))
}

/// The byte of the user's text that stands at this one of the proposed text. None in a change.
fn back(own: &Text, proposed: &Text, at: usize) -> Option<usize> {
    let line = proposed.line_feeds_before(at);
    let mut moved = line;
    for hunk in line_hunks(own, proposed, &diff(own, proposed)) {
        if hunk.after.contains(&line) {
            return None;
        }
        if hunk.after.end <= line {
            moved = hunk.before.end + (line - hunk.after.end);
        }
    }
    Some(own.line_feed_start(moved) + (at - proposed.line_feed_start(line)))
}

/// A document's text as the user has it.
fn user_text(view: &View, doc: &DocId) -> Option<Text> {
    let source = view.entries().get(doc).map_or(doc, |frozen| &frozen.source);
    if let Some(seen) = view.buffers().get(source) {
        return Some(seen.text.clone());
    }
    let place = view.roots().place_of(&source.path()?).ok()?;
    match view.without_fork().read(&place).ok()? {
        FileState::Text { text, .. } => Some(text),
        _ => None,
    }
}

/// Places for the model, each with its line.
async fn shown(places: Vec<EditorPlace>, context: &Context) -> Result<ToolOutput, ToolOutput> {
    if places.is_empty() {
        return Ok(ToolOutput::text("(nothing found)"));
    }
    let (view, hides) = (context.view.clone(), context.grant.hides.clone());
    let out = on_thread(move |_| Ok(lines(&view, &*hides, &places))).await?;
    Ok(ToolOutput::text(bound(&out, context.bounds, None).to_string()))
}

fn lines(view: &View, hides: &ReadFilter, places: &[EditorPlace]) -> String {
    let mut texts: HashMap<&DocId, Option<(String, Text)>> = HashMap::new();
    let mut out = Vec::new();
    let mut is_pending = false;
    for place in places.iter().take(MOST) {
        let known = texts.entry(&place.doc).or_insert_with(|| {
            let found = view.roots().place_of(&place.doc.path()?).ok()?;
            let is_shown = !hides(&found, None) && !is_sensitive(&found.shown);
            let text = is_shown.then(|| user_text(view, &place.doc)).flatten();
            Some((found.shown, text.unwrap_or_default()))
        });
        is_pending |= view.entries().contains_key(&place.doc);
        let about = place.about.as_ref().map(|about| format!(" {about}")).unwrap_or_default();
        let Some((name, text)) = known else {
            out.push(format!(
                "{}:{}:{about} (outside of the open folders)",
                place.doc.as_str(),
                place.start.line + 1
            ));
            continue;
        };
        let start = text.line_feed_start(place.start.line as usize);
        let line =
            text.slice(start..text.line_feed_start(place.start.line as usize + 1).max(start));
        let line: String = line.trim().chars().take(LONGEST).collect();
        let number =
            if text.is_empty() { place.start.line as usize + 1 } else { line_number(text, start) };
        out.push(format!("{name}:{number}:{about} {line}").trim_end().to_owned());
    }
    if let Some(more @ 1..) = places.len().checked_sub(MOST) {
        out.push(format!("... ({more} more)"));
    }
    if is_pending {
        out.push(
            "(lines of the user's text; files with changes of yours that are pending may count others)".to_owned(),
        );
    }
    out.join("\n")
}

/// The editor could not tell, in words.
fn refused(error: &EditorError) -> ToolOutput {
    ToolOutput::error(format_args!("the editor gave no answer, because {error}. Use grep"))
}

/// Editor that all these tools ask.
type SharedEditor = Arc<dyn ropewalk_workspace::Editor>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_found_as_a_whole_word_first() {
        let text = Text::from("one\nlet abc = a + 😀a;\n");
        for (line, symbol, at) in [
            (2, "a", Some(14)),
            (2, "abc", Some(8)),
            (2, "b", Some(9)),
            (1, "a", None),
            (9, "a", None),
            (2, "", None),
        ] {
            assert_eq!(in_line(&text, line, symbol), at, "{line} {symbol}");
        }
    }

    #[test]
    fn a_place_is_found_again_before_the_pending_changes() {
        let (own, proposed) = (Text::from("a\nb\nc\nd\n"), Text::from("new\na\nB\nc\nmore\nd\n"));
        // The byte in the proposed text, and in the user's.
        for (at, byte) in [(4, Some(0)), (6, None), (8, Some(4)), (0, None), (15, Some(6))] {
            assert_eq!(back(&own, &proposed, at), byte, "{at}");
        }
        assert_eq!(back(&own, &own, 2), Some(2));
    }
}
