//! The head of a `SKILL.md`, of a prompt command or of a subagent type: YAML between two lines of dashes.
//!
//! The files come from anywhere, so it is read within a budget, and what people write without thinking of YAML, such as
//! a colon in a description, is read as they meant it.

use crate::marks::{one_line, said};
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeMap;

/// Words of a head, as far as they are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    /// The name that it gives.
    pub(crate) name: Option<String>,
    /// Words on when to use it.
    pub(crate) description: Option<String>,
}

/// Words of the head of a subagent type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeHead {
    /// The name that it gives.
    pub(crate) name: Option<String>,
    /// Words on when to use it.
    pub(crate) description: Option<String>,
    /// The only tools that it has.
    pub(crate) tools: Option<NameList>,
    /// The model that it works with.
    pub(crate) model: Option<String>,
}

/// Names as a list, or in one text with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    parse(head, &["name", "description"], |found| {
        Ok(FrontMatter { name: found.text("name")?, description: found.text("description")? })
    })
}

/// Reads the head of a subagent type in the same way.
///
/// # Errors
/// Its fault, in words.
pub(crate) fn read_type(head: &str) -> Result<TypeHead, String> {
    parse(head, &["name", "description", "tools", "model"], |found| {
        let (name, description) = (found.text("name")?, found.text("description")?);
        Ok(TypeHead {
            name,
            description,
            tools: found.names("tools")?,
            model: found.text("model")?,
        })
    })
}

fn parse<T>(
    head: &str,
    keys: &[&str],
    read: impl Fn(&Head) -> Result<T, String>,
) -> Result<T, String> {
    let from = |text: &str| read(&Head::of(text)?);
    from(head).or_else(|error| from(&quoted(&said(head), keys)).map_err(|_| error))
}

/// Most events of the parser that a head may cost, and the deepest nesting in it.
const MOST_EVENTS: usize = 10_000;
const DEEPEST: usize = 32;

/// Values of a head by their keys. The last value of a key counts.
#[derive(Default)]
struct Head(BTreeMap<String, HeadValue>);

/// Value of a key: what is read of it.
enum HeadValue {
    Null,
    Text(String),
    List(Vec<String>),
    Other,
}

impl Head {
    /// Reads one YAML mapping, or nothing at all. O(length).
    fn of(text: &str) -> Result<Head, String> {
        let mut head = Head::default();
        let mut depth = 0;
        let (mut key, mut list): (Option<String>, Option<Vec<String>>) = (None, None);
        for (count, event) in Parser::new_from_str(text).enumerate() {
            let (event, _) = event.map_err(|error| one_line(&error.to_string()))?;
            if count > MOST_EVENTS || depth > DEEPEST {
                return Err("it is nested too deeply or has too many parts".to_owned());
            }
            let value = match event {
                Event::MappingStart(..) | Event::SequenceStart(..) => {
                    depth += 1;
                    match (depth, &event) {
                        (1, Event::SequenceStart(..)) => return Err(NO_MAPPING.to_owned()),
                        (2, _) if key.is_none() => return Err("a key of it is no text".to_owned()),
                        (2, Event::SequenceStart(..)) => list = Some(Vec::new()),
                        (2.., _) => list = None,
                        _ => {}
                    }
                    continue;
                }
                Event::MappingEnd | Event::SequenceEnd => {
                    depth -= 1;
                    match depth {
                        1 => list.take().map_or(HeadValue::Other, HeadValue::List),
                        _ => continue,
                    }
                }
                Event::Scalar(text, style, ..) => match (depth, &mut list) {
                    (0, _) if is_null(&text, style) => continue,
                    (0, _) => return Err(NO_MAPPING.to_owned()),
                    (1, _) if key.is_none() => {
                        key = Some(text.into_owned());
                        continue;
                    }
                    (1, _) if is_null(&text, style) => HeadValue::Null,
                    (1, _) => HeadValue::Text(text.into_owned()),
                    (_, Some(list)) => {
                        list.push(text.into_owned());
                        continue;
                    }
                    (_, None) => continue,
                },
                Event::Alias(_) if depth == 1 && key.is_some() => HeadValue::Other,
                Event::Alias(_) if depth == 1 => return Err("a key of it is no text".to_owned()),
                Event::Alias(_) => {
                    list = None;
                    continue;
                }
                _ => continue,
            };
            if let Some(key) = key.take() {
                head.0.insert(key, value);
            }
        }
        Ok(head)
    }

    /// The text of a key, on one line. `None` if it is empty.
    fn text(&self, key: &str) -> Result<Option<String>, String> {
        match self.0.get(key) {
            None | Some(HeadValue::Null) => Ok(None),
            Some(HeadValue::Text(text)) => Ok(Some(one_line(text)).filter(|text| !text.is_empty())),
            Some(_) => Err(format!("`{key}` is no text")),
        }
    }

    /// The names of a key.
    fn names(&self, key: &str) -> Result<Option<NameList>, String> {
        match self.0.get(key) {
            None | Some(HeadValue::Null) => Ok(None),
            Some(HeadValue::Text(text)) => Ok(Some(NameList::Text(text.clone()))),
            Some(HeadValue::List(names)) => Ok(Some(NameList::List(names.clone()))),
            Some(HeadValue::Other) => Err(format!("`{key}` is neither a text nor a list of texts")),
        }
    }
}

const NO_MAPPING: &str = "it is no mapping of keys to values";

/// True for a value that YAML's core schema reads as nothing.
fn is_null(text: &str, style: ScalarStyle) -> bool {
    style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL")
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
