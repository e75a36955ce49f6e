//! Hostile attempts to get a key out: by commands, by the model and its server, by words of the user's and by
//! configurations. The real binary; what it says and leaves behind is searched for the planted keys.
//!
//! The search itself is tested where it lives, in the test kit.

mod commands;
mod server;
mod settings;
mod words;
