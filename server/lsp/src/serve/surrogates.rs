//! Lone surrogates in JSON text: `"\ud800"` has no counterpart in UTF-8, editors send it all the same (a
//! user can cut a pair in half), and a JSON parser refuses the whole message for it.
//!
//! Works on the bytes of a message before it is parsed. It is no JSON parser: it knows escapes and nothing else.

/// Replaces each escape of a lone surrogate by `\ufffd`, in place.
///
/// One UTF-16 unit is replaced by one UTF-16 unit, so no position in the text moves. Valid pairs and escaped
/// backslashes (`\\ud800`) are left alone. O(n), no allocation.
pub(super) fn replace_lone(text: &mut [u8]) {
    let mut at = 0;
    while let Some(offset) = text.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let escape = at + offset;
        at = match unit(text, escape) {
            // A high half is a pair's only when the low half follows at once.
            Some(0xD800..=0xDBFF) if matches!(unit(text, escape + 6), Some(0xDC00..=0xDFFF)) => {
                escape + 12
            }
            Some(0xD800..=0xDFFF) => {
                if let Some(digits) = text.get_mut(escape + 2..escape + 6) {
                    digits.copy_from_slice(b"fffd");
                }
                escape + 6
            }
            // Both bytes of any other escape are passed, so that the second `\` of `\\` opens nothing.
            _ => escape + 2,
        };
    }
}

/// The UTF-16 unit which the escape `\uXXXX` at `at` stands for, if that is what is there.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0u16, |unit, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::replace_lone;

    #[track_caller]
    fn check(before: &str, after: &str) {
        let mut text = before.as_bytes().to_vec();
        replace_lone(&mut text);
        assert_eq!(String::from_utf8(text).unwrap(), after);
    }

    #[test]
    fn replaces_only_what_stands_alone() {
        check(r#""\ud800""#, r#""\ufffd""#);
        check(r#""\uDFFF""#, r#""\ufffd""#);
        check(r#""a\uD83Db""#, r#""a\ufffdb""#);
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(r#""\uD83D\uDE00""#, r#""\uD83D\uDE00""#);
        check(r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#);
        check(r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#);
        check(r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#);
        check(r#""\ud7ff\ue000 é 😀""#, r#""\ud7ff\ue000 é 😀""#);
    }

    #[test]
    fn an_escaped_backslash_opens_no_escape() {
        check(r#""\\ud800""#, r#""\\ud800""#);
        check(r#""\\\ud800""#, r#""\\\ufffd""#);
        check(r#""\\\\ud800""#, r#""\\\\ud800""#);
        check(r#""\ud83d\\ude00""#, r#""\ufffd\\ude00""#);
    }

    #[test]
    fn text_cut_short_is_left_alone() {
        for text in ["", "\\", "\\u", "\\ud8", "\\ud80", "\\ud8zz", "\"\\", "\\ud+00"] {
            check(text, text);
        }
        check("\\ud800\\ud", "\\ufffd\\ud");
    }
}
