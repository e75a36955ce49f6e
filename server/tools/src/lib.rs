//! The tools an agent calls, their registry, effects and policy.

pub mod bounds;
pub mod command;
pub mod danger;
