//! Texts of files on their way to the model: they can't end the marks that they stand between, and hold nothing that a
//! person who reads the file would not see.

use ropewalk_text::plain::turns_text;

/// Text in which nothing looks like marks of this name, so that it can't end them early. O(length).
pub fn unmarked(text: &str, mark: &str) -> String {
    let mut parts = text.split('<');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '/' | '\\'));
        let is_mark = name.get(..mark.len()).is_some_and(|name| name.eq_ignore_ascii_case(mark));
        out.push_str(if is_mark { "&lt;" } else { "<" });
        out.push_str(part);
    }
    out
}

/// A text of at most so many bytes, and whether that is all of it. O(`most`).
pub fn cut(text: &str, most: usize) -> (&str, bool) {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let start = text.get(..end.unwrap_or_default()).unwrap_or_default();
    (start, start.len() == text.len())
}

/// Words on one line, in which a person who reads the file and the model see the same.
pub fn one_line(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(said).collect();
    words.iter().filter(|word| !word.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// A text without what shows nothing, or turns other text around. O(length).
pub fn said(text: &str) -> String {
    let is_tag = |c: char| ('\u{e0000}'..='\u{e007f}').contains(&c);
    let is_said = |c: &char| match *c {
        '\n' | '\t' => true,
        c => !(c.is_control() || turns_text(c) || is_tag(c) || c == '\u{feff}'),
    };
    text.chars().filter(is_said).collect()
}
