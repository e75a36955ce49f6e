//! Images that models take; words for the others.
//!
//! A request with an image that its model does not take is refused, and so is every later one of the session. So an
//! image is sent where that is known to work, by the catalogue or the configuration; else there are words.

use crate::{Block, Message};
use ropewalk_protocol::Content;
use std::borrow::Cow;

/// The types of images that every server takes that takes any.
const TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The most bytes of an image in base64 that every such server takes.
const LARGEST: usize = 5_000_000;

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
