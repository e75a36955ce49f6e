//! This binary drives real VS Code, with the extension and without.
#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod apply_edit;
mod first_line;
mod plugin;
mod rename;
mod review;
#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;
