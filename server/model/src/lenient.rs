//! Members of an event that a server may write as another type than it should.
//!
//! They are read apart from their event, which so stays readable: a count written `5.0` must not cost the reason of
//! the end beside it. What the words of a reply are is not read so: a hole in them must be noticed.

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

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

/// Reads a member that is a whole number and not negative, as servers write it: `5`, `5.0` or `"5"`; any other is
/// none.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_any(LenientNumber)
}

/// More tokens than any exchange has.
const MOST_TOKENS: u64 = 1 << 40;

/// Reads a member that counts tokens; any that is no such number, or beyond all measure, is none: not known.
pub(crate) fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(number(deserializer)?.filter(|tokens| *tokens <= MOST_TOKENS))
}

/// JSON without the numbers that only some writers know, `NaN` and the infinities, which become null; none if there are
/// no such. Linear in the text.
pub(crate) fn without_odd_numbers(json: &str) -> Option<String> {
    const ODD: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !ODD.iter().any(|word| json.contains(word)) {
        return None;
    }
    let (mut out, mut rest, mut in_string, mut found) = (String::new(), json, false, false);
    while let Some(c) = rest.chars().next() {
        let odd = ODD.iter().find(|word| !in_string && rest.starts_with(**word));
        let length = match (odd, c) {
            (Some(word), _) => word.len(),
            // An escaped quote ends no string.
            (None, '\\') if in_string => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        let (part, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        in_string ^= part == "\"";
        found |= odd.is_some();
        out.push_str(if odd.is_some() { "null" } else { part });
        rest = after;
    }
    found.then_some(out)
}

/// Reads a member that is a place; any other is none.
pub(crate) fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Ok(number(deserializer)?.and_then(|number| u32::try_from(number).ok()))
}

/// A member that is a [`number`]; all else is none.
pub(crate) fn number_in(raw: &RawValue) -> Option<u64> {
    number(&mut serde_json::Deserializer::from_str(raw.get())).ok().flatten()
}

/// A member that is a string; all else is none.
pub(crate) fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// A number without a fraction is written like a whole one.
fn whole(number: f64) -> Option<u64> {
    number.to_string().parse().ok()
}

struct LenientNumber;

impl<'de> Visitor<'de> for LenientNumber {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Option<u64>, E> {
        Ok(Some(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Option<u64>, E> {
        Ok(u64::try_from(number).ok())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Option<u64>, E> {
        Ok(whole(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Option<u64>, E> {
        Ok(text.parse().ok().or_else(|| text.parse().ok().and_then(whole)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Option<u64>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<u64>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
