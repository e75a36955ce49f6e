//! Spellings of keys: snake_case and camelCase, and the key that a wrong one was meant to be.

use super::{KEYS, Key};

impl Key {
    /// The name as editors' settings spell it: `limits.outputTokens`. Both spellings are taken
    /// there.
    #[must_use]
    pub fn camel_case(&self) -> String {
        camel(self.name)
    }
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
