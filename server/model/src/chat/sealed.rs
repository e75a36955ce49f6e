//! Data beside words and calls that a server wants back as it was: OpenRouter's details of the reasoning, and
//! what Gemini writes at its calls (signatures of its thoughts).
//!
//! Nobody here reads it. It is kept as one block of redacted thinking behind the reply, whose data is JSON, and so
//! goes where thoughts go: back to the model that thought them, and to no other.

use crate::blocks::MOST_BLOCKS;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use std::collections::{HashMap, hash_map::Entry};

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Sealed {
    /// OpenRouter's list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reasoning_details: Vec<Value>,
    /// Data that came with each call, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<Option<Value>>,
    /// True if a part of the details could not be read, or there are too many: they would not be as they were.
    #[serde(skip)]
    is_broken: bool,
    /// Where the detail of an index and a type is, both as JSON.
    #[serde(skip)]
    places: HashMap<(String, Option<String>), usize>,
}

/// Members of a detail that come in pieces; all others come whole.
const IN_PIECES: [&str; 2] = ["text", "summary"];

impl Sealed {
    /// Reads the data of a block, if it is of this making.
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

    /// The next pieces of the details. Those with the same index and type are one; beyond [`MOST_BLOCKS`] none is
    /// kept, and the reply is good without. Linear in the pieces.
    pub(super) fn add_details(&mut self, raw: &RawValue) {
        if self.is_broken || raw.get() == "null" {
            return;
        }
        let Ok(pieces) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else {
            self.is_broken = true;
            return;
        };
        for piece in pieces {
            let piece = serde_json::from_str(piece.get());
            if !piece.is_ok_and(|piece| self.add_detail(piece)) {
                self.is_broken = true;
                return;
            }
        }
    }

    /// True if there was room for it.
    fn add_detail(&mut self, piece: Map<String, Value>) -> bool {
        let next = self.reasoning_details.len();
        let kind = || piece.get("type").map(Value::to_string);
        let place = piece.get("index").map(|index| (index.to_string(), kind()));
        if let Some(place) = place {
            match self.places.entry(place) {
                Entry::Occupied(place) => {
                    let known = self.reasoning_details.get_mut(*place.get());
                    if let Some(known) = known.and_then(Value::as_object_mut) {
                        join(known, piece);
                    }
                    return true;
                }
                Entry::Vacant(place) => place.insert(next),
            };
        }
        if next >= MOST_BLOCKS {
            return false;
        }
        self.reasoning_details.push(Value::Object(piece));
        true
    }

    /// True if data came with the call of this number.
    pub(super) fn has_call(&self, number: usize) -> bool {
        self.calls.get(number).is_some_and(Option::is_some)
    }

    /// Adds the data that came with the call of this number.
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
