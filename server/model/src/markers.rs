//! Markers of a prompt cache: where a server may cut what it keeps. Anthropic's servers want them, and fronts before them.
//!
//! They are no part of a piece: they are spliced in when a request is written, and rely on how the encoder that calls here
//! ends its objects.

use crate::Piece;
use ropewalk_protocol::CacheLife;

/// The longest marker, in bytes.
pub(crate) const MARKER_BYTES: usize = 64;

/// A marker, behind the other members of an object; nothing where no prompt is to be kept.
pub(crate) fn marker(life: CacheLife) -> &'static str {
    match life {
        CacheLife::FiveMinutes => r#","cache_control":{"type":"ephemeral"}"#,
        CacheLife::Hour => r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
        CacheLife::Off => "",
    }
}

/// Messages of the user's side that are marked: the last ones. The earlier marker is where the request before was cut.
pub(crate) const MARKED: usize = 2;

/// Numbers of the pieces that are marked, among those for which `is_user` holds; the latest first.
pub(crate) fn marked<'a>(
    pieces: &'a [Piece],
    is_user: impl Fn(&Piece) -> bool + 'a,
) -> impl Iterator<Item = usize> + 'a {
    let users = pieces.iter().enumerate().rev().filter(move |(_, piece)| is_user(piece));
    users.map(|(at, _)| at).take(MARKED)
}

/// Appends `object` with `marker` before its closing `tail`; without one where it ends otherwise.
pub(crate) fn push_marked(text: &mut String, marker: &str, object: &str, tail: &str) {
    match object.strip_suffix(tail) {
        Some(head) => {
            text.push_str(head);
            text.push_str(marker);
            text.push_str(tail);
        }
        None => text.push_str(object),
    }
}
