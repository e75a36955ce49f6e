//! The binary as a command: `ropewalk run`, `sessions`, `trust` and `doctor` in a world of their own, against a scripted
//! model over HTTP. The server behind an editor is the business of other tests.
#![expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]

mod doctor;
mod errors;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
#[path = "../support/hostile.rs"]
mod hostile_repository;
mod key_command;
mod limits;
mod log;
mod models;
#[cfg(unix)]
mod review;
mod run;
#[cfg(unix)]
mod sessions;
mod setup;
#[cfg(unix)]
mod signals;
#[cfg(target_os = "linux")]
#[path = "../support/skip.rs"]
mod skip;
mod slash;
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
