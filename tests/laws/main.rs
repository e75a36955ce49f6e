//! This binary holds the source to its laws: circles of files, comments, imports, names, and tests that run. It also holds requests and
//! events to their schemas.
#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod circles;
mod comments;
mod imports;
mod names;
mod reached;
mod schemas;
