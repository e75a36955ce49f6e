//! The language server: serve loop, requests, and the agent's events shown to an editor.

pub mod serve;
