//! Words from outside made harmless for a terminal.
//!
//! File names, texts of files, outputs of commands and the model's own words can all hold escape sequences.
//! Nothing is left out here: what would drive a terminal is shown instead.

use std::io::Write;

/// Makes a text harmless that comes in pieces. O(length).
///
/// Control characters other than line ends and tabs become their pictures (`␛`); what has no picture, and
/// what turns the direction of writing around, becomes `�`. A `\r` stays only before a `\n`.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// A `\r` came last; what it is depends on what comes next.
    carriage: bool,
}

impl Plain {
    /// The next piece.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 3);
        for c in text.chars() {
            if std::mem::take(&mut self.carriage) {
                out.push(if c == '\n' { '\r' } else { '␍' });
            }
            match c {
                '\r' => self.carriage = true,
                '\n' | '\t' => out.push(c),
                '\0'..='\u{1f}' => out.push(picture(c)),
                '\u{7f}' => out.push('␡'),
                '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    out.push(char::REPLACEMENT_CHARACTER);
                }
                _ => out.push(c),
            }
        }
        out
    }
}

/// Unicode has a picture for each control character, in the same order.
fn picture(c: char) -> char {
    char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A whole text, made harmless.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = Plain::default();
    let mut out = plain.push(text);
    if plain.carriage {
        out.push('␍');
    }
    out
}

/// A whole text on one line, made harmless.
pub(crate) fn plain_line(text: &str) -> String {
    plain(text).replace(['\n', '\t'], " ")
}

/// JSON made harmless, and no other JSON for that: what a terminal could obey can stand only in strings, where
/// it is escaped.
pub(crate) fn plain_json(json: String) -> String {
    if !json.contains(is_control) {
        return json;
    }
    let escaped = |c: char| match is_control(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(escaped).collect()
}

/// Whether JSON leaves a character as it is that a terminal could obey.
pub(crate) fn is_control(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Says something to the user beside what was asked for: on standard error, made harmless. One that is
/// closed hears nothing.
pub(crate) fn say(words: &str) {
    let _ = writeln!(std::io::stderr(), "ropewalk: {}", plain(words));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_and_text_is_left_alone() {
        assert_eq!(plain("\u{1b}]0;owned\u{7}\u{1b}[2J"), "␛]0;owned␇␛[2J");
        assert_eq!(plain("\u{9b}31m\u{7f}\u{202e}txt.exe"), "�31m␡�txt.exe");
        assert_eq!(plain("tab\tnaïve 日本語\n🦀"), "tab\tnaïve 日本語\n🦀");
    }

    #[test]
    fn a_carriage_return_hides_nothing() {
        assert_eq!(plain("rm -rf x\rls"), "rm -rf x␍ls");
        assert_eq!(plain("a\r\nb\r\r\nc\r"), "a\r\nb␍\r\nc␍");
    }

    #[test]
    fn pieces_give_what_the_whole_gives() {
        let text = "a\r\nb\rc\u{1b}[0m\r";
        let mut pieces = Plain::default();
        let joined: String = text.chars().map(|c| pieces.push(&c.to_string())).collect();
        assert_eq!(joined, plain(text).trim_end_matches('␍'));
    }
}
