//! Files by their names: identities, the folders that may be worked in, and reading and writing in them.
//!
//! Nothing here reads open documents or forks; [`paths::Links`] and some errors name what the rooms above add to the disk.
//!
//! Reading order: [`id`] (one identity for all spellings of a URI), [`paths`] (what is inside), [`repository`] (what nobody writes), [`tracked`] (what git
//! tracks), [`disk`].

pub mod disk;
pub mod id;
pub mod paths;
pub mod repository;
pub mod tracked;

pub use id::DocId;
pub use paths::{PathError, Place, Roots};
