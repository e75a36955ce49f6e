//! Reductions of a history that a model's server refuses, as journals name them.

use serde::{Deserialize, Serialize};

/// A part of the history that words stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// Thoughts are dropped.
    Thoughts,
    /// As [`Reduction::Thoughts`]; prompts that were never answered are left out.
    Prompts,
    /// As [`Reduction::Prompts`]; a sentence takes the place of each image and each document.
    Media,
    /// As [`Reduction::Media`]; calls and results are plain texts.
    Calls,
    /// All is left out but the prompt of the turn.
    All,
}

impl Reduction {
    /// All of them, the one that takes least first. Each takes what those before it take.
    pub(crate) const ALL: [Reduction; 5] =
        [Self::Thoughts, Self::Prompts, Self::Media, Self::Calls, Self::All];

    /// Words for the user on what is gone.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Thoughts => "without what the model had thought",
            Self::Prompts => "without the prompts that were refused",
            Self::Media => "with images and documents only named",
            Self::Calls => "with all calls and results as plain text",
            Self::All => "with nothing but the last prompt",
        }
    }
}
