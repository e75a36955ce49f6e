//! The events as they are on the wire.
//!
//! Nothing here says what they mean. What a server may send as another type than it should is not looked at.

use crate::lenient::{Raw, maybe, tokens};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use std::fmt;

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Choices<'a>,
    #[serde(borrow)]
    pub(super) usage: Raw<'a>,
    #[serde(borrow)]
    pub(super) x_groq: Option<Groq<'a>>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
}

/// The first of the choices: no more are asked for.
#[derive(Default)]
pub(super) enum Choices<'a> {
    #[default]
    Absent,
    First(Option<Box<Choice<'a>>>),
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    pub(super) delta: Option<ChatDelta<'a>>,
    /// The whole reply, where a server answers as if it had not been asked to stream.
    #[serde(borrow)]
    pub(super) message: Option<ChatDelta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Raw<'a>,
    #[serde(borrow)]
    pub(super) usage: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct ChatDelta<'a> {
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    #[serde(borrow)]
    pub(super) reasoning_content: Raw<'a>,
    #[serde(borrow)]
    pub(super) reasoning: Raw<'a>,
    #[serde(borrow)]
    pub(super) reasoning_details: Raw<'a>,
    #[serde(borrow)]
    pub(super) refusal: Raw<'a>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<WireCall<'a>>>,
    #[serde(borrow)]
    pub(super) function_call: Option<Function<'a>>,
    #[serde(borrow)]
    pub(super) extra_content: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct WireCall<'a> {
    #[serde(borrow)]
    pub(super) index: Raw<'a>,
    #[serde(borrow)]
    pub(super) id: Raw<'a>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    #[serde(borrow)]
    pub(super) extra_content: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Raw<'a>,
    #[serde(borrow)]
    pub(super) arguments: Raw<'a>,
}

impl Function<'_> {
    /// True if it names a tool.
    pub(super) fn has_name(&self) -> bool {
        self.name.is_some_and(|name| name.get().len() > 2 && name.get().starts_with('"'))
    }
}

#[derive(Deserialize)]
pub(super) struct Groq<'a> {
    #[serde(borrow)]
    pub(super) usage: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct ChatUsage {
    #[serde(default, deserialize_with = "tokens")]
    pub(super) prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "tokens")]
    pub(super) completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "maybe")]
    pub(super) prompt_tokens_details: Option<Details>,
    /// DeepSeek's name for cached tokens.
    #[serde(default, deserialize_with = "tokens")]
    pub(super) prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Details {
    #[serde(default, deserialize_with = "tokens")]
    pub(super) cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "tokens")]
    pub(super) cache_write_tokens: Option<u64>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Choices<'a>, D::Error> {
        struct First;
        impl<'de> Visitor<'de> for First {
            type Value = Choices<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_unit<E>(self) -> Result<Choices<'de>, E> {
                Ok(Choices::First(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Choices<'de>, A::Error> {
                let first = seq.next_element::<Option<Choice<'de>>>()?;
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Choices::First(first.flatten().map(Box::new)))
            }
        }
        deserializer.deserialize_any(First)
    }
}
