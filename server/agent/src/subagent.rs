//! Subagents: a call of `task` has another conversation do a part of the work, by the session's own loop, and gets its
//! summary as a result.
//!
//! [`types`] says what each is, [`find`] looks for those of files, [`catalogue`] has those of a session, [`files`] what one sees and changes, [`group`] how those of a turn stand to each other,
//! [`spending`] what they use together, [`run`] runs one from its call to its result. One is like a command: interrupted, what it
//! had changed is dropped, and it never starts again by itself.

pub(crate) mod catalogue;
pub(crate) mod commands;
pub(crate) mod files;
pub(crate) mod group;
mod lost;
pub(crate) mod result;
mod run;
pub(crate) mod spending;
mod start;
pub(crate) mod thread;
