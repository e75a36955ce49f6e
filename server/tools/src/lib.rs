//! The tools an agent calls, their registry, effects and policy.
