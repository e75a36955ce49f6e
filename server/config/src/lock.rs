//! A lock: keys that only the system's file sets.

use crate::problem::ValueSource;

/// One lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyLock {
    /// As written, such as `mode`, `limits` or `provider.*.base_url`.
    pub(crate) pattern: String,
    /// Where.
    pub(crate) source: ValueSource,
}

impl KeyLock {
    /// True if it locks a key. A pattern locks what it names and all that lies below; `*` stands for
    /// one name.
    pub(crate) fn holds(&self, key: &str) -> bool {
        let mut segments = key.split('.');
        self.pattern
            .split('.')
            .all(|wanted| segments.next().is_some_and(|segment| wanted == "*" || wanted == segment))
    }
}
