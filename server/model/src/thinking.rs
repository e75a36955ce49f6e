//! How much a model is asked to think before it answers: a level, and what the protocols make of it, as data.
//!
//! Nothing is asked for that nobody configured, and nobody is asked who would refuse the request for it, as far as
//! that is known by name.

/// How much a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thinking {
    /// Briefly.
    Low,
    /// As long as most tasks need.
    Medium,
    /// Long.
    High,
}

impl Thinking {
    /// All levels, the briefest first.
    pub const ALL: &[Thinking] = &[Thinking::Low, Thinking::Medium, Thinking::High];

    /// The word for it, in a configuration and in the protocols that know efforts.
    pub fn name(self) -> &'static str {
        match self {
            Thinking::Low => "low",
            Thinking::Medium => "medium",
            Thinking::High => "high",
        }
    }

    /// The level of that name; names are lower case.
    pub fn from_name(name: &str) -> Option<Thinking> {
        Thinking::ALL.iter().copied().find(|level| level.name() == name)
    }

    /// The tokens it may take, which count as output.
    pub(crate) fn tokens(self) -> u32 {
        match self {
            Thinking::Low => 4_096,
            Thinking::Medium => 10_240,
            Thinking::High => 24_576,
        }
    }
}

/// Beginnings of the names of OpenAI's models that do not reason. They refuse a request that speaks of it.
const UNREASONING: &[&str] = &["gpt-3.5", "gpt-4", "gpt-5-chat", "chatgpt-"];

/// Whether a model of OpenAI's is known not to reason.
pub(crate) fn never_reasons(model: &str) -> bool {
    UNREASONING.iter().any(|start| model.starts_with(start))
}

/// Beginnings of the names of Anthropic's models that are told how many tokens they may think. Its later ones judge
/// by themselves, are told an effort, and refuse a number.
const BUDGETED: &[&str] = &[
    "claude-3",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2025",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2025",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
];

/// Whether a model that speaks Anthropic's protocol is told how many tokens it may think. Other makers' models are.
pub(crate) fn has_budget(model: &str) -> bool {
    !model.starts_with("claude-") || BUDGETED.iter().any(|start| model.starts_with(start))
}

/// Whether a model without a budget keeps its thoughts to itself unless it is asked for a summary. The first ones
/// give it unasked.
pub(crate) fn must_be_asked_for_words(model: &str) -> bool {
    !model.contains("-4-6")
}
