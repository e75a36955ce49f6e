//! Mechanisms around the loop: which of them are on, and the bounds that they keep.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mechanisms that are on. What is off is absent from prompt and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mechanisms {
    /// The list of todos and its reminder.
    pub todos: bool,
    /// Subagents, by the tool `task`.
    pub subagents: bool,
    /// Skills, by the tool `load_skill`.
    pub skills: bool,
    /// The repository's instructions.
    pub instructions: bool,
    /// The user's own commands, as `/review a b`.
    pub prompt_commands: bool,
    /// A summary in the place of what a conversation began with.
    pub compaction: bool,
    /// The look at what is done before a turn ends.
    pub check: bool,
}

impl Mechanisms {
    /// The names that a configuration has for them.
    pub const NAMES: [&'static str; 7] =
        ["todos", "subagents", "skills", "instructions", "prompt_commands", "compaction", "check"];

    /// Mechanisms that are on, by their names.
    pub fn named(is_on: impl Fn(&str) -> bool) -> Self {
        let [todos, subagents, skills, instructions, prompt_commands, compaction, check] =
            Self::NAMES.map(is_on);
        Self { todos, subagents, skills, instructions, prompt_commands, compaction, check }
    }
}

impl Default for Mechanisms {
    /// All of them.
    fn default() -> Self {
        Self::named(|_| true)
    }
}

/// Bounds of the mechanisms. The configuration states the range of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct MechanismLimits {
    /// The part of the context, in percent, that a request may fill before the conversation is compacted.
    pub compaction_percent: u32,
    /// Steps after the last update of the todos until the model is reminded of them; 0 is never.
    pub remind_after: u32,
    /// Steps of one subagent.
    pub subagent_steps: u32,
    /// Subagents at work at a time.
    pub subagents_parallel: u32,
    /// Subagents in one turn.
    pub subagents_per_turn: u32,
    /// Tokens of one subagent, read and written.
    pub subagent_tokens: u32,
    /// Characters of a subagent's result that reach the model.
    pub subagent_result: u32,
    /// How often a turn is checked at most.
    pub check_rounds: u32,
    /// Seconds that `verify` may run.
    pub verify_seconds: u32,
}

impl MechanismLimits {
    /// The built-in bounds.
    pub const DEFAULT: MechanismLimits = MechanismLimits {
        compaction_percent: 90,
        remind_after: 10,
        subagent_steps: 30,
        subagents_parallel: 4,
        subagents_per_turn: 12,
        subagent_tokens: 2_000_000,
        subagent_result: 10_000,
        check_rounds: 2,
        verify_seconds: 600,
    };
}
