//! This binary drives real Neovim: a server that does only as it is told finds its habits, and ours is used in it with
//! the plugin and without.
#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod apply_edit;
mod commands;
mod conversation;
mod demo;
mod echo;
mod first_line;
mod handshake;
mod harness;
mod plugin_answers;
mod plugin_approval;
mod plugin_bad_days;
mod plugin_chat;
mod plugin_much;
mod plugin_pages;
mod plugin_pictures;
mod plugin_places;
mod plugin_review;
mod plugin_setup;
mod plugin_team;
mod plugin_typing;
mod prompts;
mod readme;
mod reorder;
#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;
mod versions;
