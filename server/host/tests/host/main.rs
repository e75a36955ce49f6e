//! The host as a front end sees it, with the scripted model over HTTP.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may be blunt, as tests are"
)]

mod configuration;
mod front_end;
mod team;
mod two_sessions;
mod world;
