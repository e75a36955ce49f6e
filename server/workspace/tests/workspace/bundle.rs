//! Bundles: made of a branch's work, read with suspicion, taken in as a whole or not at all.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests and their helpers may be blunt"
)]

mod hostile;
mod law;
mod take;
mod world;
