//! The tools over a folder on the disk, open buffers and a fork, called as a session calls them.
//!
//! `policy` and `danger` decide on calls without running them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may be blunt")]

mod bash;
mod bounds;
mod danger;
mod doors;
mod edit_file;
mod files;
mod names;
mod policy;
mod registry;
mod search;
mod support;
