//! Content: what a prompt or a result is made of, in words and otherwise.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A part of a prompt or of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Its MIME type, such as `image/png`.
        mime: String,
        /// Its bytes in base64, without line ends.
        data: String,
    },
    /// The text of something that has a URI.
    Resource {
        /// The URI.
        uri: String,
        /// Its MIME type, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<String>,
        /// The text.
        text: String,
    },
    /// Something that is only named.
    Link {
        /// The URI.
        uri: String,
        /// The name to show for it.
        name: String,
    },
}

impl Content {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Content {
        Content::Text { text: text.into() }
    }

    /// The whole of it for a model that takes words alone; of an image only that there is one.
    pub fn in_words(&self) -> Cow<'_, str> {
        match self {
            Content::Text { text } => Cow::Borrowed(text),
            Content::Image { .. } => {
                Cow::Owned(format!("(An image that is not shown: {}.)", self.briefly()))
            }
            Content::Resource { uri, text, .. } => {
                let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
                let fence = "`".repeat(longest.saturating_add(1).max(3));
                Cow::Owned(format!("{uri}:\n{fence}\n{text}\n{fence}"))
            }
            Content::Link { .. } => self.briefly(),
        }
    }

    /// A short form for people: a text as it is, of others the name.
    pub fn briefly(&self) -> Cow<'_, str> {
        match self {
            Content::Text { text } => Cow::Borrowed(text),
            Content::Image { mime, data } => {
                Cow::Owned(format!("{mime}, {} KB", (data.len() / 4 * 3).div_ceil(1_000)))
            }
            Content::Resource { uri, .. } => Cow::Borrowed(uri),
            Content::Link { uri, name } => Cow::Owned(format!("{name}: {uri}")),
        }
    }

    /// True if it is plain text.
    pub fn is_text(&self) -> bool {
        matches!(self, Content::Text { .. })
    }

    /// True if it says nothing: an empty text.
    pub fn is_blank(&self) -> bool {
        matches!(self, Content::Text { text } if text.trim().is_empty())
    }

    /// All its texts, to be changed in place.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (one, other) = match self {
            Content::Text { text } => (Some(text), None),
            Content::Image { .. } => (None, None),
            Content::Resource { uri, text, .. } => (Some(text), Some(uri)),
            Content::Link { uri, name } => (Some(name), Some(uri)),
        };
        one.into_iter().chain(other)
    }
}

/// All of it for a model that takes words alone.
pub fn in_words(content: &[Content]) -> String {
    content.iter().map(Content::in_words).collect::<Vec<_>>().join("\n")
}

/// All of it for people, a line for each part that is no text.
pub fn briefly(content: &[Content]) -> String {
    let parts: Vec<_> =
        content.iter().filter(|part| !part.is_blank()).map(Content::briefly).collect();
    parts.join("\n")
}
