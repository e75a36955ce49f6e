//! Hostile attempts to get a key out: by commands, by the model and its server, by words of the user's and by
//! configurations. The real binary; what it says and leaves behind is searched for the planted keys.
//!
//! That the search finds them is tested where it lives, in the test kit.
#![expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]

mod commands;
mod server;
mod settings;
#[path = "../support/mod.rs"]
mod support;
mod words;
#[expect(dead_code, reason = "each test file uses a part")]
#[path = "../cli/world.rs"]
mod world;
