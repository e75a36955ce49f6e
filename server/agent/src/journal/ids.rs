//! Ids of sessions: made, and told from other words.

use std::hash::{BuildHasher, RandomState};

/// Characters of a new id. Kept journals may have longer ones.
const ID_LENGTH: usize = 5;

/// A short random id, as people can read it out: a letter first, so that it is no number, and nothing that looks
/// like another. All are of one length.
pub(super) fn new_id() -> String {
    const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz";
    const ALL: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
    let mut random = RandomState::new().hash_one(std::process::id());
    let mut digit = |digits: &[u8]| {
        let count = digits.len() as u64;
        let found = digits.get((random % count) as usize).copied();
        random /= count;
        char::from(found.unwrap_or(b'a'))
    };
    std::iter::once(digit(LETTERS)).chain((1..ID_LENGTH).map(|_| digit(ALL))).collect()
}

/// True if a text can be an id, and so a part of a path.
pub(super) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_are_short_and_of_one_length_and_no_numbers() {
        let ids: HashSet<String> = (0..1_000).map(|_| new_id()).collect();
        assert!(ids.len() > 990, "{}", ids.len());
        for id in ids {
            assert!(id.len() == ID_LENGTH && is_id(&id), "{id}");
            assert!(id.starts_with(|c: char| c.is_ascii_lowercase()), "{id}");
            assert!(!id.contains(['0', '1', 'i', 'l', 'o']), "{id}");
        }
    }
}
