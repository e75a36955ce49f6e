//! Shapes of the stream's events, as far as they are read.
//!
//! All members may be missing, or of another type: servers differ in what they send. Items and the response at the end
//! are parsed only when their event needs them, since those at the start repeat the whole request.

use crate::lenient::{Raw, maybe, place, tokens, words};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
pub(super) struct ResponsesEvent<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, deserialize_with = "place")]
    pub(super) output_index: Option<u32>,
    #[serde(borrow, default, deserialize_with = "words")]
    pub(super) item_id: Option<Cow<'a, str>>,
    /// Which part of an item; reasoning counts the parts of its summary apart.
    #[serde(default, deserialize_with = "place")]
    pub(super) content_index: Option<u32>,
    #[serde(default, deserialize_with = "place")]
    pub(super) summary_index: Option<u32>,
    #[serde(borrow)]
    pub(super) delta: Raw<'a>,
    #[serde(borrow)]
    pub(super) item: Raw<'a>,
    #[serde(borrow)]
    pub(super) response: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct WireItem<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) call_id: Option<String>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) name: Option<String>,
    /// JSON in a string; some servers send the object itself.
    #[serde(borrow)]
    pub(super) arguments: Raw<'a>,
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    #[serde(borrow)]
    pub(super) summary: Raw<'a>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) encrypted_content: Option<String>,
    /// The part of the answer that a message is.
    #[serde(default, deserialize_with = "maybe")]
    pub(super) phase: Option<String>,
}

/// A part of a message, or of reasoning.
#[derive(Deserialize)]
pub(super) struct ItemPart {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    pub(super) text: Option<String>,
    pub(super) refusal: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(default, deserialize_with = "maybe")]
    pub(super) id: Option<String>,
    #[serde(borrow, default, deserialize_with = "maybe")]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) usage: Option<ResponsesUsage>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) status: Option<String>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize)]
pub(super) struct Incomplete {
    #[serde(default, deserialize_with = "maybe")]
    pub(super) reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ResponsesUsage {
    #[serde(default, deserialize_with = "tokens")]
    pub(super) input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "tokens")]
    pub(super) output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) input_tokens_details: Option<InputDetails>,
}

#[derive(Deserialize)]
pub(super) struct InputDetails {
    #[serde(default, deserialize_with = "tokens")]
    pub(super) cached_tokens: Option<u64>,
    /// Only from servers that charge for them.
    #[serde(default, deserialize_with = "tokens")]
    pub(super) cache_write_tokens: Option<u64>,
}

impl WireItem<'_> {
    /// Its id; empty when it has none.
    pub(super) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// Id that its call's result is to name; empty when there is none.
    pub(super) fn call_id(&self) -> &str {
        self.call_id.as_deref().unwrap_or_default()
    }

    /// The arguments as JSON text.
    pub(super) fn arguments(&self) -> String {
        let raw = self.arguments.map(RawValue::get).unwrap_or_default();
        serde_json::from_str(raw).unwrap_or_else(|_| match raw {
            "null" => String::new(),
            raw => raw.to_owned(),
        })
    }

    /// The parts of its content or of its summary; none of what is not such a list.
    pub(super) fn parts(list: Option<&RawValue>) -> Vec<ItemPart> {
        list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default()
    }
}
