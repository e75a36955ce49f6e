//! This binary tests documents and forks: how changes reach the editor beside typing, are taken back, outlive the
//! process, and come from elsewhere.
#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod batches;
mod branch;
mod bundle;
mod deleted_undone;
mod desync;
mod files;
mod first_version;
mod fork;
mod halfway;
mod hurried;
mod islands;
mod look;
mod moved;
mod news;
mod own_steps;
mod parts;
mod placed;
mod proof;
mod renamed;
mod saves;
mod state;
mod together;
mod under_typing;
