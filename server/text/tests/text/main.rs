//! This binary tests texts, positions in them, change sets and diffs.
#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod changes;
mod diffs;
mod line_ranges;
mod positions;
mod text;
mod typing;
