//! Files that a prompt names by `@path` or `@path:10-20`: their lines go with it.
//!
//! Anything else behind an `@` is plain text. What may hold secrets, or is kept from readers, is not attached.

use crate::marks::{one_line, unmarked};
use ropewalk_text::Text;
use ropewalk_tools::policy::is_sensitive;
use ropewalk_tools::tool::ReadFilter;
use ropewalk_workspace::{FileState, View};
use std::fmt::Write as _;

/// The most lines that are attached of a file.
const MOST_LINES: usize = 200;

/// The most characters of all that is attached.
const MOST: usize = 40_000;

/// The most files of a prompt.
const MOST_FILES: usize = 20;

/// The name of the marks around a file.
const MARK: &str = "attached";

/// A file that is named, and lines of it, counted from one.
#[derive(Debug, PartialEq, Eq)]
struct Mention<'a> {
    path: &'a str,
    lines: Option<(usize, usize)>,
}

/// Gives the files that the texts of a prompt name, as they stand before the prompt. Reads the
/// disk.
pub fn attached<'a>(
    (view, hides): (&View, &ReadFilter),
    texts: impl Iterator<Item = &'a str>,
) -> String {
    let (mut out, mut seen) = (String::new(), Vec::new());
    for mention in texts.flat_map(mentions) {
        if seen.contains(&mention) || seen.len() == MOST_FILES {
            continue;
        }
        out.push_str(&file(view, hides, &mention, MOST.saturating_sub(out.len())));
        seen.push(mention);
    }
    out
}

/// The lines of one file; nothing if there is no such file.
fn file(view: &View, hides: &ReadFilter, mention: &Mention<'_>, room: usize) -> String {
    let Ok(place) = view.named(mention.path) else { return String::new() };
    let Ok(FileState::Text { text, .. }) = view.read(&place) else { return String::new() };
    let shown = one_line(&place.shown).replace('"', "'");
    if hides(&place, None) || is_sensitive(&place.shown) {
        return format!("(@{shown} is not attached, because it may hold secrets.)\n");
    }
    let all = line_count(&text);
    let (first, last) = mention.lines.unwrap_or((1, all));
    let (first, last) = (first.clamp(1, all.max(1)), last.min(all));
    let end = last.min(first.saturating_add(MOST_LINES - 1));
    let start = text.line_feed_start(first - 1);
    let lines = text.slice(start..text.line_feed_start(end).max(start));
    let cut = lines.char_indices().nth(room).map(|(at, _)| at);
    let lines = unmarked(lines.get(..cut.unwrap_or(lines.len())).unwrap_or_default(), MARK);
    let mut out = format!("<{MARK} file=\"{shown}\" lines=\"{first}-{end}\">\n{lines}");
    if !out.ends_with('\n') {
        out.push('\n');
    }
    if end < last || cut.is_some() {
        let _ = writeln!(
            out,
            "(of {} lines that were named, in a file of {all}; read on from there)",
            (last + 1).saturating_sub(first)
        );
    }
    let _ = writeln!(out, "</{MARK}>");
    out
}

fn line_count(text: &Text) -> usize {
    let ends_whole = text.len() == text.line_feed_start(text.line_feeds());
    text.line_feeds() + usize::from(!ends_whole)
}

/// Finds the mentions in a text. O(length).
fn mentions(text: &str) -> Vec<Mention<'_>> {
    let mut all = Vec::new();
    for (at, _) in text.match_indices('@') {
        let (before, after) = text.split_at(at);
        let is_apart = |c: char| c.is_whitespace() || "([{\"'`,;".contains(c);
        let Some(named) =
            after.get(1..).filter(|_| before.chars().next_back().is_none_or(is_apart))
        else {
            continue;
        };
        all.extend(match named.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(path, behind)| {
                let behind = behind.split(char::is_whitespace).next().unwrap_or_default();
                Mention { path, lines: range(behind) }
            }),
            None => bare(named.split(char::is_whitespace).next().unwrap_or_default()),
        });
    }
    all.retain(|mention| !mention.path.is_empty());
    all
}

/// A name up to a blank, without what ends a sentence behind it.
fn bare(word: &str) -> Option<Mention<'_>> {
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`']);
    Some(match word.rsplit_once(':') {
        Some((path, digits)) if range(&format!(":{digits}")).is_some() => {
            Mention { path, lines: range(&format!(":{digits}")) }
        }
        _ => Mention { path: word, lines: None },
    })
}

/// Lines as in `:10-20` or `:10`, with nothing but the end of a sentence behind.
fn range(text: &str) -> Option<(usize, usize)> {
    let text = text.strip_prefix(':')?;
    let text = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first >= 1 && last >= first).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_other_words() {
        let named = |path, lines| Mention { path, lines };
        for (text, found) in [
            (
                "look at @src/a.rs, and (@b.rs:10-20).",
                vec![named("src/a.rs", None), named("b.rs", Some((10, 20)))],
            ),
            ("@a.txt:7", vec![named("a.txt", Some((7, 7)))]),
            ("@a.txt:20-10", vec![named("a.txt:20-10", None)]),
            (
                "@\"a b.txt\":3-4 and @\"c d\"",
                vec![named("a b.txt", Some((3, 4))), named("c d", None)],
            ),
            ("mail me@example.org", vec![]),
            ("@", vec![]),
            ("@\"open", vec![]),
            ("@ünï😀.txt:1", vec![named("ünï😀.txt", Some((1, 1)))]),
            ("@a:99999999999999999999", vec![named("a:99999999999999999999", None)]),
        ] {
            assert_eq!(mentions(text), found, "{text}");
        }
    }
}
