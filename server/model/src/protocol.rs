//! The wire protocols by name.

/// The protocols that are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, and what others make of it.
    Chat,
    /// OpenAI's Responses.
    Responses,
}

impl Protocol {
    /// All of them.
    pub const ALL: &[Protocol] = &[Protocol::Anthropic, Protocol::Chat, Protocol::Responses];

    /// The word for it in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Anthropic => "anthropic",
            Protocol::Chat => "chat",
            Protocol::Responses => "responses",
        }
    }

    /// The protocol of that name; names are lower case.
    pub fn from_name(name: &str) -> Option<Protocol> {
        Protocol::ALL.iter().copied().find(|protocol| protocol.name() == name)
    }

    /// The server that the protocol was made for.
    pub(crate) fn home(self) -> HomeServer {
        match self {
            Protocol::Anthropic => HomeServer {
                provider: "anthropic",
                base_url: "https://api.anthropic.com",
                key_var: "ANTHROPIC_API_KEY",
            },
            Protocol::Chat | Protocol::Responses => HomeServer {
                provider: "openai",
                base_url: "https://api.openai.com",
                key_var: "OPENAI_API_KEY",
            },
        }
    }
}

/// A server that a protocol was made for.
pub(crate) struct HomeServer {
    pub(crate) provider: &'static str,
    pub(crate) base_url: &'static str,
    /// The environment variable that has its key.
    pub(crate) key_var: &'static str,
}
