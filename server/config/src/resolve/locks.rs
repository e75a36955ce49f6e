//! Locks: the keys that only the system's file sets. Everything here is about which keys; saying so
//! to those who try is done where keys are set.

use crate::keys;
use crate::lock::KeyLock;
use crate::problem::{ValueSource, shown};
use crate::value::{ListItem, Value};

use super::check::{MOST_ENTRIES, ValueRefusal};

/// The locks of a list. Each must name a key there is, since one that locks nothing would be taken
/// for one that does.
pub(super) fn read(
    items: Vec<ListItem>,
    source: &ValueSource,
    refusals: &mut Vec<ValueRefusal>,
) -> Result<Vec<KeyLock>, ValueRefusal> {
    if items.len() > MOST_ENTRIES {
        return Err(ValueRefusal(format!("has more than {MOST_ENTRIES} entries; it is ignored")));
    }
    let mut locks = Vec::new();
    for ListItem { line, value } in items {
        let Value::Text(text) = value else {
            let got = value.describe();
            refusals.push(ValueRefusal(format!(
                "may only list text, not {got}; that entry is ignored"
            )));
            continue;
        };
        let lock = KeyLock { pattern: text.trim().to_owned(), source: source.at(line) };
        if keys::some_fits(&lock.pattern) {
            locks.push(lock);
            continue;
        }
        let path: Vec<String> = lock.pattern.split('.').map(str::to_owned).collect();
        let advice = keys::nearest(&path)
            .filter(|nearest| *nearest != lock.pattern)
            .map_or_else(String::new, |nearest| format!(": did you mean `{}`?", shown(&nearest)));
        refusals.push(ValueRefusal(format!(
            "names no key with `{}`, which locks nothing{advice}",
            shown(&lock.pattern)
        )));
    }
    Ok(locks)
}
