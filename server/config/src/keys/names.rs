//! Names of keys as people write them: how they are taken apart, found, and corrected.

use super::{KEYS, Key};
use crate::value::MAX_DEPTH;

/// True if what stands below `path` are names of the user's own, as he spells them: of providers, headers, models.
pub(crate) fn holds_own_names(path: &[&str]) -> bool {
    matches!(path, ["provider"]) || holds_dotted_names(path)
}

/// True if names of the user's own stand below `path` that may have dots in them, as `gpt-4.1` has.
fn holds_dotted_names(path: &[&str]) -> bool {
    matches!(path, ["provider", _, "headers" | "models"])
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

/// The key nearest to an unknown path: by spelling, or the same name in another table.
pub(crate) fn nearest(path: &[String]) -> Option<String> {
    let written = path.join(".");
    if written.len() > LONGEST_COMPARED {
        return None;
    }
    let last = path.last().map_or("", String::as_str);
    let (distance, best) = KEYS
        .iter()
        .flat_map(|key| spelled_like(key, path))
        .map(|candidate| {
            // The right name in the wrong table is one slip, however far the table is.
            let misplaced = candidate.rsplit('.').next() == Some(last);
            let distance = strsim::damerau_levenshtein(&folded(&written), &folded(&candidate));
            (if misplaced { distance.min(1) } else { distance }, candidate)
        })
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= slips_allowed(&written)).then_some(best)
}

/// Capitals and `_` or `-` between words make no difference to what was meant.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The name of a key and of the tables it lies in, with the user's own words where it has `*`.
fn spelled_like(key: &Key, path: &[String]) -> Vec<String> {
    let mut name = String::new();
    let mut names = Vec::new();
    for (index, segment) in key.name.split('.').enumerate() {
        let written = path.get(index).filter(|_| segment == "*").map_or(segment, String::as_str);
        if index > 0 {
            name.push('.');
        }
        name.push_str(written);
        if segment != "*" {
            names.push(name.clone());
        }
    }
    names
}

/// The one of some names that a word was probably meant to be.
pub(crate) fn nearest_name<'a>(word: &str, names: &'a [String]) -> Option<&'a str> {
    if word.len() > LONGEST_COMPARED {
        return None;
    }
    let distance = |name: &&String| strsim::damerau_levenshtein(word, name);
    let best = names.iter().min_by_key(distance)?;
    (distance(&best) <= slips_allowed(word)).then_some(best.as_str())
}

/// Longer words are no slips of the pen, and the distance takes quadratic time.
const LONGEST_COMPARED: usize = 100;

fn slips_allowed(word: &str) -> usize {
    (word.chars().count() / 3).clamp(1, 3)
}

/// `outputTokens` to `output_tokens`; leaves snake_case as it is.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// `output_tokens` to `outputTokens`.
pub(crate) fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut after_underscore = false;
    for c in name.chars() {
        match c {
            '_' => after_underscore = true,
            _ if after_underscore => {
                out.push(c.to_ascii_uppercase());
                after_underscore = false;
            }
            _ => out.push(c),
        }
    }
    out
}
