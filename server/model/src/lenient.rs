//! Members of an event that a server may write as another type than it should.
//!
//! They are read apart from their event, which so stays readable: a count written `5.0` must not cost the reason of
//! the end beside it. What the words of a reply are is not read so: a hole in them must be noticed.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A member that may be of any type, and is looked at when it is needed; none when it is null.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// Reads a member; what is null or of another type is none.
pub(crate) fn maybe<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let raw = Option::<&RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| serde_json::from_str(raw.get()).ok()))
}

/// Reads a member that is a string; any other is none. It is borrowed where it has no escapes.
pub(crate) fn words<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Cow<'a, str>>, D::Error> {
    let raw = Option::<&'a RawValue>::deserialize(deserializer)?;
    Ok(raw.and_then(|raw| match serde_json::from_str(raw.get()) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => string(raw).map(Cow::Owned),
    }))
}

/// Reads a member that is a [number](number_in); any other is none.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<&RawValue>::deserialize(deserializer)?.and_then(number_in))
}

/// Reads a member that is a place; any other is none.
pub(crate) fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Ok(number(deserializer)?.and_then(|number| u32::try_from(number).ok()))
}

/// A whole number that is not negative, as servers write it: `5`, `5.0` or `"5"`.
pub(crate) fn number_in(raw: &RawValue) -> Option<u64> {
    let text = raw.get().trim_matches('"');
    let whole = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        _ => text,
    };
    whole.parse().ok()
}

/// A member that is a string; all else is none.
pub(crate) fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}
