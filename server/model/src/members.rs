//! Members that a configuration adds to requests, merged into the bytes that a protocol has written.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Members of requests, as configured. A null takes the member away.
#[derive(Debug, Clone, Default)]
pub struct BodyMembers(BTreeMap<String, serde_json::Value>);

impl BodyMembers {
    /// These members.
    pub fn new(members: impl IntoIterator<Item = (String, serde_json::Value)>) -> BodyMembers {
        BodyMembers(members.into_iter().collect())
    }

    /// The body with these members, each in the place of its namesake or else before all others. Other members keep their
    /// bytes and their order. A body that is no object stays as it is. Costs a scan of it where there are members.
    pub(crate) fn merged_into(&self, body: Vec<u8>) -> Vec<u8> {
        if self.0.is_empty() {
            return body;
        }
        let Ok(written) = serde_json::from_slice::<OrderedMembers<'_>>(&body) else { return body };
        let is_new = |name: &&String| written.0.iter().all(|(known, _)| *known != ***name);
        let added = self.0.keys().filter(is_new).map(|name| (Cow::Borrowed(&**name), "null"));
        let kept = written.0.iter().map(|(name, raw)| (name.clone(), raw.get()));
        let members = added.chain(kept).filter_map(|(name, raw)| {
            let value = match self.0.get(&*name) {
                Some(serde_json::Value::Null) => return None,
                Some(value) => Cow::Owned(value.to_string()),
                None => Cow::Borrowed(raw),
            };
            Some(format!("{}:{value}", serde_json::Value::from(&*name)))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(",")).into_bytes()
    }
}

/// An object's members in the order of its text.
struct OrderedMembers<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for OrderedMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = OrderedMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(OrderedMembers(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_take_the_place_of_their_namesakes() {
        let body = br#"{"model":"m","max_tokens":1.50e3,"messages":[{"a": 1e400}]}"#;
        for (members, expected) in [
            (json!({}), r#"{"model":"m","max_tokens":1.50e3,"messages":[{"a": 1e400}]}"#),
            (
                json!({"top_p": 0.5, "max_tokens": 7}),
                r#"{"top_p":0.5,"model":"m","max_tokens":7,"messages":[{"a": 1e400}]}"#,
            ),
            (json!({"max_tokens": null}), r#"{"model":"m","messages":[{"a": 1e400}]}"#),
            (
                json!({"absent": null, "é\"": {"b": [null]}}),
                r#"{"é\"":{"b":[null]},"model":"m","max_tokens":1.50e3,"messages":[{"a": 1e400}]}"#,
            ),
        ] {
            let members = BodyMembers::new(members.as_object().unwrap().clone());
            let merged = String::from_utf8(members.merged_into(body.to_vec())).unwrap();
            assert_eq!(merged, expected);
        }
        let members = BodyMembers::new([("a".to_owned(), json!(1))]);
        assert_eq!(members.merged_into(b"[]".to_vec()), b"[]");
    }
}
