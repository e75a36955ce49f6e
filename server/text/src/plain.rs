//! Words from outside made harmless for whoever shows them: a terminal, or an editor's message or menu.
//!
//! File names, texts of files, outputs of commands and the model's own words can all hold escape sequences, and
//! characters that turn writing around, so that one thing is read and another is run. Nothing is left out here:
//! what would be obeyed is shown instead.

/// Makes a text harmless that comes in pieces. O(length).
///
/// Control characters other than line ends and tabs become their pictures (`␛`); what has no picture, and
/// what turns the direction of writing around, becomes `�`. A `\r` stays only before a `\n`.
#[derive(Debug, Default)]
pub struct Plain {
    /// A `\r` came last; what it is depends on what comes next.
    carriage: bool,
}

impl Plain {
    /// The next piece.
    pub fn push(&mut self, text: &str) -> String {
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
                '\u{80}'..='\u{9f}' => out.push(char::REPLACEMENT_CHARACTER),
                c if turns_text(c) => out.push(char::REPLACEMENT_CHARACTER),
                _ => out.push(c),
            }
        }
        out
    }
}

/// True if it turns the direction of the text behind it.
pub fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Unicode has a picture for each control character, in the same order.
fn picture(c: char) -> char {
    char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A whole text, made harmless.
pub fn plain(text: &str) -> String {
    let mut plain = Plain::default();
    let mut out = plain.push(text);
    if plain.carriage {
        out.push('␍');
    }
    out
}

/// A whole text on one line, made harmless.
pub fn plain_line(text: &str) -> String {
    plain(text).replace(['\n', '\t'], " ")
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
