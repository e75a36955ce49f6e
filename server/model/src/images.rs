//! Images: which models are known to see them, and which images they take.
//!
//! A request with an image that its model does not take is refused, and so is every later one of the session. So an
//! image is sent where that is known to work, by the model's name or the configuration; else there are words.

use crate::{Block, Message};
use ropewalk_protocol::Content;
use std::borrow::Cow;

/// Beginnings of the names of models that see, without the maker's name before it.
const SEEING: &[&str] = &[
    "chatgpt-4o",
    "claude-3",
    "claude-fable",
    "claude-haiku-",
    "claude-opus-",
    "claude-sonnet-",
    "gemini-",
    "gemma-3",
    "gemma3",
    "gpt-4-turbo",
    "gpt-4.1",
    "gpt-4o",
    "gpt-5",
    "gpt-6",
    "grok-4",
    "llama-4",
    "llama4",
    "llava",
    "minicpm-v",
    "mistral-medium",
    "mistral-small",
    "moondream",
    "o1",
    "o3",
    "o4-mini",
    "pixtral",
];

/// Parts of the names of such models.
const SEEING_IN: &[&str] = &["-vl", "vl:", "vision"];

/// Beginnings of the names of models that don't see, whose names are like those of others that do.
const BLIND: &[&str] = &["claude-3-5-haiku", "gpt-4o-audio", "o1-mini", "o1-preview", "o3-mini"];

/// The types of images that every server takes that takes any.
const TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The most bytes of an image in base64 that every such server takes.
const LARGEST: usize = 5_000_000;

/// True if the model of this name is known to see images.
pub(crate) fn sees(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    !begins(BLIND) && (begins(SEEING) || SEEING_IN.iter().any(|part| name.contains(part)))
}

/// The message with words in the place of images that the model would not take.
pub(crate) fn shown(message: &Message, sees: bool) -> Cow<'_, Message> {
    let is_hidden = |content: &Content| match content {
        Content::Image { mime, data } => !(sees && is_taken(mime, data)),
        _ => false,
    };
    let hides = |block: &Block| match block {
        Block::Content(content) => is_hidden(content),
        Block::ToolResult { content, .. } => content.iter().any(is_hidden),
        _ => false,
    };
    if !message.content.iter().any(hides) {
        return Cow::Borrowed(message);
    }
    let mut message = message.clone();
    let contents = message.content.iter_mut().flat_map(|block| match block {
        Block::Content(content) => std::slice::from_mut(content).iter_mut(),
        Block::ToolResult { content, .. } => content.iter_mut(),
        _ => [].iter_mut(),
    });
    for content in contents.filter(|content| is_hidden(content)) {
        *content = Content::text(content.in_words());
    }
    Cow::Owned(message)
}

fn is_taken(mime: &str, data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    TYPES.contains(&mime)
        && (1..=LARGEST).contains(&data.len())
        && data.len().is_multiple_of(4)
        && data.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_see_is_shown_an_image() {
        for (model, expected) in [
            ("claude-sonnet-4-5", true),
            ("anthropic/claude-sonnet-4.5", true),
            ("GPT-5", true),
            ("qwen2.5vl:7b", true),
            ("qwen3-vl-8b", true),
            ("llama3.2-vision", true),
            ("o3", true),
            ("o3-mini", false),
            ("claude-3-5-haiku-latest", false),
            ("claude-sonnet-5-5", true),
            ("anthropic/claude-sonnet-5.5", true),
            ("gpt-6.1-sol", true),
            ("gemini-3.8-flash", true),
            ("deepseek-v4-flash", false),
            ("qwen3-coder", false),
            ("", false),
        ] {
            assert_eq!(sees(model), expected, "{model}");
        }
    }

    #[test]
    fn what_no_server_takes_is_said_in_words() {
        let long = "A".repeat(LARGEST + 4);
        for (mime, data, is_shown) in [
            ("image/png", "iVBORw0KGgo=", true),
            ("image/svg+xml", "iVBORw0KGgo=", false),
            ("image/png", "", false),
            ("image/png", "no base64!", false),
            ("image/png", "====", false),
            ("image/png", "QQ=Q", false),
            ("image/png", "\u{1F980}AAA", false),
            ("image/png", &long, false),
        ] {
            let image = Content::Image { mime: mime.to_owned(), data: data.to_owned() };
            let mut message = Message::user("Look");
            message.content.push(Block::Content(image.clone()));
            message.content.push(Block::results("c", vec![image], false));
            assert_eq!(*shown(&message, true) == message, is_shown, "{mime} {}", data.len());
            let blind = format!("{:?}", shown(&message, false));
            assert_eq!(blind.matches("An image that is not shown").count(), 2, "{blind}");
        }
    }
}
