//! Files over the fork as commands need them: what a view lays over the disk, and changes of files themselves
//! beside changes of their texts.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod bench;
mod materials;
