//! The protocols that the scripted model speaks.

use super::{
    anthropic::AnthropicSpeech, chat::ChatSpeech, responses::ResponsesSpeech, speech::Speech,
};
use ropewalk_model::Protocol;

/// The protocol's file.
pub(super) fn speech_of(protocol: Protocol) -> &'static dyn Speech {
    match protocol {
        Protocol::Anthropic => &AnthropicSpeech,
        Protocol::Chat => &ChatSpeech,
        Protocol::Responses => &ResponsesSpeech,
    }
}
