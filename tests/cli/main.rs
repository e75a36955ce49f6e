//! The binary as a command: `ropewalk run`, `sessions`, `trust` and `doctor` in a world of their own, against a scripted
//! model over HTTP. The server behind an editor is the business of other tests.
//!
//! `keys` attacks it for its keys, `kill` kills its server at any moment of a session, and `readme` holds the pages for
//! users to what it says.
#![expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]

mod demo;
mod doctor;
mod errors;
#[cfg(unix)]
mod hostile;
mod key_command;
#[cfg(test)]
mod keys;
mod kill;
mod limits;
mod log;
mod models;
mod readme;
#[cfg(unix)]
mod recipes;
#[cfg(unix)]
mod review;
mod run;
#[cfg(unix)]
mod sessions;
mod setup;
#[cfg(unix)]
mod signals;
mod slash;
#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;
mod tape;
#[cfg(unix)]
mod team;
#[cfg(unix)]
#[path = "../support/team_board.rs"]
mod team_board;
#[cfg(unix)]
mod team_run;
#[cfg(target_os = "linux")]
mod terminal;
mod thinking;
mod trust;
mod world;
