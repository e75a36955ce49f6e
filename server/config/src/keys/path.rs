//! Paths of keys: how they are written, and which key or table one leads to.

use super::{KEYS, Key};
use crate::value::MAX_DEPTH;

/// True if what stands below `path` are names of the user's own, as he spells them: of providers, headers, models.
pub(crate) fn holds_own_names(path: &[&str]) -> bool {
    matches!(path, ["provider"] | ["provider", _, "body"]) || holds_dotted_names(path)
}

/// True if names of the user's own stand below `path` that may have dots in them, as `gpt-4.1` has.
fn holds_dotted_names(path: &[&str]) -> bool {
    matches!(path, ["provider", _, "headers" | "models" | "query"])
}

/// A key with dots in it, below `path`, as segments of a path. The name of a header or a model is one segment,
/// dots and all: what stands behind the last dot is the key of a model, unless `is_table` of them is said.
pub(crate) fn segments<'a>(path: &[&'a str], key: &'a str, is_table: bool) -> Vec<&'a str> {
    let (mut whole, mut rest) = (path.to_vec(), key);
    loop {
        let split = match holds_dotted_names(&whole) {
            true if whole.last() == Some(&"models") && !is_table => rest.rsplit_once('.'),
            true => None,
            // A deeper key is unknown anyway.
            false if whole.len() >= path.len() + MAX_DEPTH - 1 => None,
            false => rest.split_once('.'),
        };
        let Some((first, more)) = split else { break };
        whole.push(first);
        rest = more;
    }
    whole.push(rest);
    whole.split_off(path.len())
}

pub(crate) enum KeyPath {
    Key(&'static Key),
    /// A table that holds keys.
    Table,
    Unknown,
}

/// Looks a path up, one segment after the other.
pub(crate) fn find(path: &[String]) -> KeyPath {
    for key in KEYS {
        let mut pattern = key.name.split('.');
        let matches = path
            .iter()
            .all(|segment| pattern.next().is_some_and(|wanted| wanted == "*" || wanted == segment));
        if matches {
            return if pattern.next().is_none() { KeyPath::Key(key) } else { KeyPath::Table };
        }
    }
    KeyPath::Unknown
}

/// True if a pattern with `*` for a name fits a key or a table of keys.
pub(crate) fn some_fits(pattern: &str) -> bool {
    KEYS.iter().any(|key| {
        let mut known = key.name.split('.');
        pattern.split('.').all(|segment| {
            known.next().is_some_and(|known| {
                segment == "*" || segment == known || (known == "*" && !segment.is_empty())
            })
        })
    })
}
