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

    /// Provider, base URL and key variable of the server that the protocol was made for.
    pub(crate) fn home(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Protocol::Anthropic => ("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
            Protocol::Chat => ("openai", "https://api.openai.com", "OPENAI_API_KEY"),
            Protocol::Responses => ("openai", "https://api.openai.com", "OPENAI_API_KEY"),
        }
    }
}
