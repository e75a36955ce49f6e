//! Files over the fork as commands need them: what a view lays over the disk, and changes of files themselves
//! beside changes of their texts.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests and their helpers may be blunt")]
#![cfg(unix)]

mod aliases;
mod bench;
mod doors;
mod law;
mod links;
mod materials;
mod patch;
mod together;
