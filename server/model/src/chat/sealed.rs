//! What a server says beside words and calls and wants back as it was: OpenRouter's details of the reasoning, and
//! what Gemini writes at its calls (signatures of its thoughts).
//!
//! Nobody here reads it. It is kept as one block of redacted thinking behind the reply, whose data is JSON, and so
//! goes where thoughts go: back to the model that thought them, and to no other.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Sealed {
    /// OpenRouter's list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reasoning_details: Vec<Value>,
    /// What came with each call, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<Option<Value>>,
    /// Whether a part of the details could not be read: they would not be as they were.
    #[serde(skip)]
    is_broken: bool,
}

/// Members of a detail that come in pieces; all others come whole.
const IN_PIECES: [&str; 2] = ["text", "summary"];

impl Sealed {
    /// What is in the data of a block, if it is of this making.
    pub(super) fn read(data: &str) -> Option<Sealed> {
        serde_json::from_str(data).ok()
    }

    /// The data of a block; none if there is nothing to keep.
    pub(super) fn data(mut self) -> Option<String> {
        if self.is_broken {
            self.reasoning_details.clear();
        }
        let is_empty = self.reasoning_details.is_empty() && self.calls.is_empty();
        (!is_empty).then(|| serde_json::to_string(&self).ok()).flatten()
    }

    /// The next pieces of the details. Those with the same index and type are one.
    pub(super) fn add_details(&mut self, raw: &RawValue) {
        if raw.get() == "null" {
            return;
        }
        let Ok(pieces) = serde_json::from_str::<Vec<Map<String, Value>>>(raw.get()) else {
            self.is_broken = true;
            return;
        };
        for piece in pieces {
            let is_same = |known: &Value| {
                let same = |member: &str| known.get(member) == piece.get(member);
                piece.contains_key("index") && same("index") && same("type")
            };
            let known = self.reasoning_details.iter_mut().rev().find(|known| is_same(known));
            match known.and_then(Value::as_object_mut) {
                Some(known) => join(known, piece),
                None => self.reasoning_details.push(Value::Object(piece)),
            }
        }
    }

    /// What came with the call of this number.
    pub(super) fn add_call(&mut self, number: usize, raw: &RawValue) {
        let Ok(value @ Value::Object(_)) = serde_json::from_str(raw.get()) else { return };
        if self.calls.len() <= number {
            self.calls.resize(number.saturating_add(1), None);
        }
        if let Some(call) = self.calls.get_mut(number) {
            *call = Some(value);
        }
    }
}

fn join(known: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (name, value) in piece {
        match (known.get_mut(&name), value) {
            (Some(_), Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if IN_PIECES.contains(&&*name) => {
                text.push_str(&more);
            }
            (_, value) => {
                known.insert(name, value);
            }
        }
    }
}
