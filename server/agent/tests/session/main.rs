//! A session over a scripted model that is spoken to by real HTTP and checks every request: roles alternate,
//! every call has one result, nothing that was sent changes. No test sleeps: gates and events decide.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what fails in a test's helper fails the test"
)]

mod approvals;
mod asked;
mod background;
mod bench;
mod breakdown;
mod bundles;
mod calls;
mod check;
mod compaction;
mod content;
mod cut;
mod history;
mod hooks;
mod ids;
mod instructions;
mod interrupt;
mod journal;
mod lean;
mod members;
mod news;
mod opening;
mod prefix;
mod queue;
mod refused;
mod repeats;
mod resume;
mod review;
mod rewind;
mod settings;
mod skills;
mod steps;
mod subagents;
mod todos;
mod tool_sets;
mod weather;
