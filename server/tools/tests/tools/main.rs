//! The tools over a folder on the disk, open buffers and a fork, called as a session calls them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may be blunt")]

mod bash;
mod doors;
mod edit_file;
mod files;
mod names;
mod registry;
mod search;
mod support;
