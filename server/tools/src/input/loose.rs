//! JSON as models write it: with raw line ends in strings, a comma behind the last item, a fence or a byte order mark
//! around it.
//!
//! Each of these has one meaning only. What is not whole is not completed, and what could mean two things is not read.

use serde_json::Value;

/// The sign of which a fence is made.
const FENCE: char = '`';

/// The value in such a text, and what had to be overlooked, in words; none if nothing in it is sure. Linear in the
/// text.
pub fn read(text: &str) -> Option<(Value, Vec<&'static str>)> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some((value, Vec::new()));
    }
    let mut overlooked = Vec::new();
    let mut bare = text.trim();
    if let Some(rest) = bare.strip_prefix('\u{feff}') {
        overlooked.push("a byte order mark");
        bare = rest.trim();
    }
    if bare.starts_with(FENCE) {
        overlooked.push("a fence");
        bare = without_fence(bare);
    }
    if let Ok(value) = serde_json::from_str(bare) {
        return Some((value, overlooked));
    }
    let plain = PlainJson::of(bare);
    let value = serde_json::from_str(&plain.text).ok()?;
    overlooked.extend(plain.had_raw.then_some("raw line ends or tabs in a string"));
    overlooked.extend(plain.had_commas.then_some("a comma behind the last item"));
    Some((value, overlooked))
}

/// The text inside of a fence, without the word that names its language.
fn without_fence(text: &str) -> &str {
    let text = text.trim_matches(FENCE).trim();
    let inside = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim_start();
    if inside.starts_with(['{', '[']) { inside } else { text }
}

/// A text with control characters in strings escaped, and without commas that nothing follows.
struct PlainJson {
    text: String,
    had_raw: bool,
    had_commas: bool,
}

impl PlainJson {
    fn of(text: &str) -> Self {
        let mut plain =
            Self { text: String::with_capacity(text.len()), had_raw: false, had_commas: false };
        let (mut in_string, mut after_backslash) = (false, false);
        // Where a comma stands in the plain text that nothing but white space has followed yet.
        let mut comma: Option<usize> = None;
        // True if an item could end here, so that a comma behind it is one too many and no other fault.
        let mut after_item = false;
        for c in text.chars() {
            if in_string {
                let is_escaped = after_backslash;
                after_backslash = !is_escaped && c == '\\';
                in_string = is_escaped || c != '"';
                // Behind a backslash it could mean two things, and stays as it is.
                match escape(c).filter(|_| !is_escaped) {
                    Some(escaped) => {
                        plain.had_raw = true;
                        plain.text.push_str(&escaped);
                    }
                    None => plain.text.push(c),
                }
                continue;
            }
            if let (Some(at), '}' | ']') = (comma, c) {
                plain.had_commas = true;
                plain.text.remove(at);
            }
            if !c.is_ascii_whitespace() {
                comma = (c == ',' && after_item).then_some(plain.text.len());
                after_item = !matches!(c, ',' | '{' | '[' | ':');
            }
            in_string = c == '"';
            plain.text.push(c);
        }
        plain
    }
}

/// A control character as JSON writes it in a string.
fn escape(c: char) -> Option<String> {
    match c {
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        c if c < ' ' => Some(format!("\\u{:04x}", u32::from(c))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_models_write_around_json_is_overlooked_and_said() {
        let object = json!({"command": "a\nb", "all": [1, 2]});
        for (text, words) in [
            ("{\"command\": \"a\\nb\", \"all\": [1, 2]}", vec![]),
            ("{\"command\": \"a\nb\", \"all\": [1, 2]}", vec!["raw line ends"]),
            ("{\"command\": \"a\\nb\", \"all\": [1, 2, ] ,\n}", vec!["a comma"]),
            ("\u{feff}{\"command\": \"a\\nb\", \"all\": [1, 2]}", vec!["a byte order mark"]),
            ("```json\n{\"command\": \"a\\nb\", \"all\": [1, 2]}\n```", vec!["a fence"]),
            ("```{\"command\": \"a\\nb\", \"all\": [1, 2]}```", vec!["a fence"]),
            (
                " \u{feff}```JSON\n{\"command\": \"a\nb\", \"all\": [1, 2,],}\n``` ",
                vec!["a byte order mark", "a fence", "raw line ends", "a comma"],
            ),
        ] {
            let (value, overlooked) = read(text).unwrap();
            assert_eq!(value, object, "{text}");
            assert_eq!(overlooked.len(), words.len(), "{text}: {overlooked:?}");
            for (said, word) in overlooked.iter().zip(words) {
                assert!(said.starts_with(word), "{text}: {overlooked:?}");
            }
        }
    }

    #[test]
    fn strings_keep_what_they_hold() {
        for (text, value) in [
            ("{\"a\": \"x,}\",}", json!({"a": "x,}"})),
            ("{\"a\": \"\\\",]\",}", json!({"a": "\",]"})),
            ("{\"a\": \"tab\there\r\n\u{1}\"}", json!({"a": "tab\there\r\n\u{1}"})),
            ("{\"a\": \"```\n\"}", json!({"a": "```\n"})),
            ("```json\n{\"a\": \"é𝄞```\"}\n```", json!({"a": "é𝄞```"})),
            ("{\"a\": \"a\\\nb\"}", json!(null)),
        ] {
            match read(text) {
                Some((read, _)) => assert_eq!(read, value, "{text:?}"),
                None => assert_eq!(value, json!(null), "{text:?}"),
            }
        }
    }

    #[test]
    fn what_is_not_whole_or_not_sure_is_not_read() {
        for text in [
            "",
            "```",
            "```json",
            "{",
            "{\"a\": \"half of",
            "{\"a\": 1,",
            "{\"a\": 1,, }",
            "{,}",
            "[,1]",
            "{\"a\":,}",
            "{\"a\": 1} {\"a\": 2}",
            "Here it is: {\"a\": 1}",
            "{'a': 1}",
            "{\"a\": 1 // one\n}",
        ] {
            assert!(read(text).is_none(), "{text:?} is {:?}", read(text));
        }
    }

    #[test]
    fn a_long_text_takes_no_longer_than_it_is_long() {
        let many = format!("[{}]", "1,\n".repeat(200_000));
        let (value, _) = read(&many).unwrap();
        assert_eq!(value.as_array().unwrap().len(), 200_000);
        assert!(read(&"[1,]".repeat(200_000)).is_none());
        let deep = "[".repeat(100_000);
        assert!(read(&deep).is_none());
    }
}
