//! This binary tests paths, names of documents, and reading and writing on the disk.

mod disk;
mod disk_hostile;
mod paths;
mod paths_ids;
mod paths_law;
mod tracked;
