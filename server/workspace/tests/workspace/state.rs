//! State that outlives the process: records and how they fold, restoring on texts that have moved
//! or not, crashes before and after each side effect, going back, and journals that were edited by
//! hand.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests and their helpers may be blunt"
)]

mod back;
mod crash;
mod creates;
mod deletes;
mod hostile;
mod law;
mod renames;
mod restore;
mod under_way;
mod world;
