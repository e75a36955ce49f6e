//! Hostile attempts to get a key out: by commands, by the model and its server, by words of the user's and by
//! configurations. The real binary; what it says and leaves behind is searched for the planted keys.
//!
//! The search itself is tested where it lives, in the test kit.

#[cfg(test)]
mod commands;
#[cfg(test)]
mod server;
#[cfg(test)]
mod settings;
#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;
#[cfg(test)]
mod words;
#[cfg(test)]
#[expect(dead_code, reason = "each test file uses a part")]
#[path = "../cli/world.rs"]
mod world;
