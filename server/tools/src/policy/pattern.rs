//! Patterns of rules: a text in which `*` stands for any text.
//!
//! The texts that patterns are matched against are [`super::rule`]'s.

use unicode_normalization::UnicodeNormalization as _;

/// A pattern: `*` stands for any text, also for none and across slashes; `\*` is a star and `\\` a backslash.
#[derive(Clone, Debug)]
pub(super) struct RulePattern {
    text: String,
    /// The texts between its stars. Never empty.
    pieces: Vec<String>,
    /// The same as [`fold`] leaves them.
    folded: Vec<String>,
    /// The text before a ` *` that is its end.
    bare: Option<String>,
}

impl PartialEq for RulePattern {
    fn eq(&self, other: &Self) -> bool {
        // The rest is made of it.
        self.text == other.text
    }
}

impl Eq for RulePattern {}

impl RulePattern {
    pub(super) fn new(text: &str) -> Self {
        let pieces = pieces(text);
        let folded = pieces.iter().map(|piece| fold(piece)).collect();
        let mut pattern = Self { text: text.to_owned(), pieces, folded, bare: None };
        pattern.bare =
            pattern.before_star().and_then(|start| start.strip_suffix(' ')).map(str::to_owned);
        pattern
    }

    /// The pattern that matches this text alone.
    pub(super) fn exactly(text: &str) -> Self {
        Self::new(&text.replace('\\', "\\\\").replace('*', "\\*"))
    }

    /// As it is written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// True if it matches every text.
    pub(super) fn is_all(&self) -> bool {
        self.pieces.len() > 1 && self.pieces.iter().all(String::is_empty)
    }

    /// The one text it matches, if it has no star.
    pub(super) fn exact(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [text] => Some(text),
            _ => None,
        }
    }

    /// The text before a ` *` that is its end: any arguments or none may follow.
    pub(super) fn bare(&self) -> Option<&str> {
        self.bare.as_deref()
    }

    /// The text before its one star, which is its end: `src/` of `src/**`.
    pub(super) fn before_star(&self) -> Option<&str> {
        let (first, rest) = self.pieces.split_first()?;
        (!rest.is_empty() && rest.iter().all(String::is_empty)).then_some(first)
    }

    /// The pieces between its stars.
    pub(super) fn pieces(&self) -> &[String] {
        &self.pieces
    }

    /// True if it matches a simple command: with ` *` at its end, also without arguments.
    pub(super) fn matches_command(&self, line: &str) -> bool {
        self.bare.as_deref() == Some(line) || glob(&self.pieces, line)
    }

    /// True if it could match a command of which only the start is known.
    pub(super) fn could_match(&self, start: &str) -> bool {
        let first = self.pieces.first().map_or("", String::as_str);
        match self.exact() {
            Some(whole) => whole.starts_with(start),
            None => first.starts_with(start) || start.starts_with(first),
        }
    }

    /// True if it matches a path: with `/*` at its end, also the folder itself.
    pub(super) fn matches_path(&self, path: &str) -> bool {
        in_folder(&self.pieces, path)
    }

    /// The same for a path that [`fold`] has gone over: no difference of case or of normal forms gets round it.
    pub(super) fn matches_folded(&self, path: &str) -> bool {
        in_folder(&self.folded, path)
    }
}

/// A path as systems that don't tell upper from lower case see it.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().flat_map(char::to_lowercase).nfc().collect()
}

fn in_folder(pieces: &[String], path: &str) -> bool {
    // A path is given as `src/a`; a pattern may be written `./src/*`.
    let (first, rest) = match pieces.split_first() {
        Some((first, rest)) => (first.strip_prefix("./").unwrap_or(first), rest),
        None => return false,
    };
    let folder = first.strip_suffix('/').filter(|_| !rest.is_empty());
    if rest.iter().all(String::is_empty) && folder == Some(path) {
        return true;
    }
    glob_from(first, rest.iter().map(String::as_str), path)
}

/// The texts between the stars. Never empty.
fn pieces(pattern: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('*' | '\\')) => piece.extend(chars.next()),
            ('*', _) => pieces.push(std::mem::take(&mut piece)),
            _ => piece.push(c),
        }
    }
    pieces.push(piece);
    pieces
}

/// True if `text` matches `pattern`, in which each `*` stands for any text, and nothing is escaped. Nothing is allocated.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    glob_from(first, pieces, text)
}

fn glob(pieces: &[String], text: &str) -> bool {
    pieces
        .split_first()
        .is_some_and(|(first, rest)| glob_from(first, rest.iter().map(String::as_str), text))
}

/// Takes each piece where it comes first, which is as good a place as any. O(both lengths multiplied).
fn glob_from<'a>(
    first: &str,
    mut rest: impl DoubleEndedIterator<Item = &'a str>,
    text: &str,
) -> bool {
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let Some(last) = rest.next_back() else { return text.is_empty() };
    for piece in rest {
        match text.split_once(piece) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(last)
}
