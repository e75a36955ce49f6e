//! The head of a `SKILL.md`, of a prompt command or of a subagent type: YAML between two lines of dashes.
//!
//! The files come from anywhere, so it is read within a budget, and what people write without thinking of YAML, such as
//! a colon in a description, is read as they meant it.

use crate::marks::{one_line, said};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_saphyr::options::DuplicateKeyPolicy;

/// Words of a head, as far as they are used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct FrontMatter {
    /// The name that it gives.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Words on when to use it.
    #[serde(default)]
    pub(crate) description: Option<String>,
}

/// Words of the head of a subagent type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct TypeHead {
    /// The name that it gives.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Words on when to use it.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// The only tools that it has.
    #[serde(default)]
    pub(crate) tools: Option<NameList>,
    /// The model that it works with.
    #[serde(default)]
    pub(crate) model: Option<String>,
}

/// Names as a list, or in one text with commas between them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum NameList {
    /// One text, with commas.
    Text(String),
    /// A list.
    List(Vec<String>),
}

impl NameList {
    /// The names, on one line each.
    pub(crate) fn names(&self) -> Vec<String> {
        let all: Vec<&str> = match self {
            Self::Text(text) => text.split(',').collect(),
            Self::List(all) => all.iter().map(String::as_str).collect(),
        };
        all.into_iter().map(one_line).filter(|name| !name.is_empty()).collect()
    }
}

/// The longest head that is read, in bytes.
pub(crate) const LONGEST_HEAD: usize = 64 << 10;

/// Parts a text into its head and the body behind it. Without a head all is body. O(length).
pub fn parted(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((first, rest)) = text.split_once('\n') else { return (None, text) };
    if first.trim_end() != "---" {
        return (None, text);
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            let (head, body) = (rest.get(..at), rest.get(at + line.len()..));
            return (head, body.unwrap_or_default());
        }
        at += line.len();
        if at > LONGEST_HEAD {
            break;
        }
    }
    (None, text)
}

/// Reads a head: as YAML, and if that fails once more with the values in quotes.
///
/// # Errors
/// Its fault, in words.
pub(crate) fn read(head: &str) -> Result<FrontMatter, String> {
    let found: FrontMatter = parse(head, &["name", "description"])?;
    Ok(FrontMatter { name: clean(found.name), description: clean(found.description) })
}

/// Reads the head of a subagent type in the same way.
///
/// # Errors
/// Its fault, in words.
pub(crate) fn read_type(head: &str) -> Result<TypeHead, String> {
    let found: TypeHead = parse(head, &["name", "description", "tools", "model"])?;
    let (name, description) = (clean(found.name), clean(found.description));
    Ok(TypeHead { name, description, tools: found.tools, model: clean(found.model) })
}

fn clean(text: Option<String>) -> Option<String> {
    text.map(|text| one_line(&text)).filter(|text| !text.is_empty())
}

fn parse<T: DeserializeOwned + Default>(head: &str, keys: &[&str]) -> Result<T, String> {
    yaml(head).or_else(|error| yaml(&quoted(&said(head), keys)).map_err(|_| error))
}

fn yaml<T: DeserializeOwned + Default>(head: &str) -> Result<T, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 10_000,
            max_nodes: 5_000,
            max_depth: 32,
            max_aliases: 100,
            max_anchors: 100,
            max_documents: 1,
            max_total_scalar_bytes: LONGEST_HEAD,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        with_snippet: false,
    };
    let found = serde_saphyr::from_str_with_options::<Option<T>>(head, options);
    found.map(Option::unwrap_or_default).map_err(|error| one_line(&error.to_string()))
}

/// The same head with the values of these keys in quotes, and without the others.
fn quoted(head: &str, keys: &[&str]) -> String {
    let mut out = String::new();
    let mut lines = head.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once(':') else { continue };
        if !keys.contains(&key) {
            continue;
        }
        let mut value = value.trim().to_owned();
        let is_block = value.starts_with(['|', '>']);
        let mut block = String::new();
        while let Some(more) =
            lines.next_if(|more| more.starts_with([' ', '\t']) || more.is_empty())
        {
            if is_block {
                block.push_str(&more.replace('\t', " "));
                block.push('\n');
            } else {
                value.push(' ');
                value.push_str(more.trim());
            }
        }
        match is_block {
            true => out.push_str(&format!("{key}: {value}\n{block}")),
            false => out.push_str(&format!("{key}: '{}'\n", unquoted(&value).replace('\'', "''"))),
        }
    }
    out
}

/// A value without the quotes around it, if there are two.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let within = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<(Option<String>, Option<String>), String> {
        let (head, _) = parted(text);
        read(head.unwrap_or_default()).map(|found| (found.name, found.description))
    }

    #[test]
    fn heads_are_read_as_they_were_meant() {
        let cases: &[(&str, Option<&str>, Option<&str>)] = &[
            ("---\nname: pdf\ndescription: Reads PDF\n---\nbody", Some("pdf"), Some("Reads PDF")),
            ("---\r\nname: pdf\r\ndescription: x y\r\n---\r\nbody", Some("pdf"), Some("x y")),
            ("\u{feff}---\nname: pdf\ndescription: x\n---\n", Some("pdf"), Some("x")),
            (
                "---\nname: übung\ndescription: 日本語 é 😀\n---\n",
                Some("übung"),
                Some("日本語 é 😀"),
            ),
            ("---\nname: a\ndescription: >\n  one\n  two\n---\n", Some("a"), Some("one two")),
            ("---\nname: a\ndescription: |\n  one\n  two\n...\n", Some("a"), Some("one two")),
            ("---\nname: \"a\"\ndescription: 'it''s'\n---\n", Some("a"), Some("it's")),
            (
                "---\nname: a\ndescription: x\ntags: [a, b]\nallowed-tools: Bash(*)\n---\n",
                Some("a"),
                Some("x"),
            ),
            ("---\nname: 7\ndescription: 1.50\n---\n", Some("7"), Some("1.50")),
            ("---\nname: a\nname: b\ndescription: x\n---\n", Some("b"), Some("x")),
            // People forget that a colon means something.
            ("---\nname: a\ndescription: Use this: now\n---\n", Some("a"), Some("Use this: now")),
            (
                "---\nname: a\ndescription: Use: x\n  and: y\n---\n",
                Some("a"),
                Some("Use: x and: y"),
            ),
            ("---\nname: a\ndescription: @x `y` {z\n---\n", Some("a"), Some("@x `y` {z")),
            ("---\nname: a\ndescription: [x, y]\n---\n", Some("a"), Some("[x, y]")),
            (
                "---\nname: a\ndescription: \"x\" and \"y\": z\n---\n",
                Some("a"),
                Some("\"x\" and \"y\": z"),
            ),
            ("---\nname: a\ntags: {{\ndescription: it's: x\n---\n", Some("a"), Some("it's: x")),
            ("---\nname: a\ndescription: x\u{202e}y\u{7}\u{e0041}z\n---\n", Some("a"), Some("xyz")),
            ("---\nname: a\ndescription:\n---\n", Some("a"), None),
            ("---\nname: a\ndescription: ~\n---\n", Some("a"), None),
            ("---\nname: a\ndescription: '  '\n---\n", Some("a"), None),
            ("---\n---\nbody", None, None),
            ("no head at all", None, None),
            ("---\nname: a\ndescription: never closed\n", None, None),
            ("", None, None),
        ];
        for (text, name, description) in cases {
            let expected = (name.map(str::to_owned), description.map(str::to_owned));
            assert_eq!(head(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn hostile_heads_cost_little_and_break_nothing() {
        let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned()
            + &(b'b'..=b'i')
                .map(|c| {
                    let (own, other) = (c as char, (c - 1) as char);
                    format!("{own}: &{own} [{}]\n", vec![format!("*{other}"); 9].join(","))
                })
                .collect::<String>()
            + "name: *i\ndescription: x\n";
        let nested = format!("name: {}\ndescription: x\n", "[".repeat(20_000));
        let huge = format!("name: a\ndescription: {}\n", "x ".repeat(40_000));
        let other = "name: a\ndescription: !!binary |\n  AAAA\n";
        for text in
            [&bomb, &nested, &huge, other, "\0: \0\n", "- a\n- b\n", "? [a]\n: b\n", "&a *a\n"]
        {
            let began = std::time::Instant::now();
            let read = head(&format!("---\n{text}---\nbody"));
            assert!(began.elapsed().as_secs() < 2, "{:.60}", text);
            if let Ok((Some(name), _)) = read {
                assert!(name.len() <= LONGEST_HEAD);
            }
        }
        // Longer than any head: all of it is body.
        assert_eq!(parted(&format!("---\n{huge}---\nbody")).0, None);
    }

    #[test]
    fn the_body_is_all_behind_the_head() {
        for (text, body) in [
            ("---\nname: a\n---\nbody\n---\nmore", "body\n---\nmore"),
            ("---\r\nname: a\r\n---\r\nbody\r\n", "body\r\n"),
            ("body", "body"),
            ("--- \nname: a\n---\n", ""),
            ("---\nname: a", "---\nname: a"),
            ("\u{feff}body", "body"),
        ] {
            assert_eq!(parted(text).1, body, "{text:?}");
        }
    }
}
