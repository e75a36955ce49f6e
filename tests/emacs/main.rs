//! This binary drives real Emacs.

mod conversation;
#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;
