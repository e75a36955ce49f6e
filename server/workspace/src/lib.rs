//! Open documents, files, forks, and how changes reach the editor.

pub mod disk;
pub mod id;
pub mod paths;

pub use id::DocId;
