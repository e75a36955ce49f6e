//! The serve loop against everything a client, or what pretends to be one, can do to it: over operating
//! system pipes, with a toy server. Nothing here depends on time; the timeouts only end a test that hangs.
//!
//! `disk` and `locks` ask the room's own server instead. `speed` measures the loop, and is started by hand.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

mod disk;
mod documents;
mod editor;
mod handlers;
mod hostile;
mod life;
mod locks;
mod messages;
mod order;
mod speed;
mod toy;
mod unread;
