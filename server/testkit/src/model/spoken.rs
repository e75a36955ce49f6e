//! The protocols that the scripted model speaks.

use super::{anthropic::Anthropic, chat::Chat, responses::Responses, speech::Speech};
use ropewalk_model::Protocol;

/// The protocol's file.
pub(super) fn speech_of(protocol: Protocol) -> &'static dyn Speech {
    match protocol {
        Protocol::Anthropic => &Anthropic,
        Protocol::Chat => &Chat,
        Protocol::Responses => &Responses,
    }
}
