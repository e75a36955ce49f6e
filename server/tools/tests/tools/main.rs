//! The tools over a folder on the disk, open buffers and a fork, called as a session calls them.

mod bash;
mod edit_file;
mod files;
mod names;
mod registry;
mod search;
mod support;
