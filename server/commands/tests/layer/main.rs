//! A layer over a folder of the disk: written as a view has it, then changed by hand as an overlay would change it,
//! or by a real one, and collected.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests may be blunt")]

mod by_hand;
mod caches;
mod copied;
mod forked;
mod git;
mod half_moves;
mod hostile;
mod ignored;
mod ordinary_user;
mod out_of_reach;
mod real;
#[path = "../../../../tests/support/skip.rs"]
mod skip;
mod support;
mod times;
