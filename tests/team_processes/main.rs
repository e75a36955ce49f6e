//! A team of real processes: a server behind an editor as its lead, `ropewalk worker`s on the same board, and what kills and
//! stops them. Whatever happens, each task is done once, and one bundle of it comes to the lead's review.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests and their helpers may be blunt"
)]

mod adopted;
mod crew;
mod crowd;
mod killed;
mod lead_killed;
mod lead_moments;
mod many;
mod postgres;
mod stopped;
mod story;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/team_board.rs"]
mod team_board;
