//! Guidance: the files that users and repositories write for the model, found, read within bounds, and put into words.
//!
//! All of them are text: they grant nothing, and can't end the marks around them. What a session makes of them is in
//! the room agent.
//!
//! Reading order: [`marks`] (text from elsewhere), [`instructions`], [`mentions`] (`@path` in a prompt), [`front_matter`] (heads of files),
//! [`skills`] and [`loading`], [`types`] and [`type_files`] (subagents), [`section`] (lists in a prompt).

pub mod front_matter;
pub mod instructions;
pub mod loading;
pub mod marks;
pub mod mentions;
pub mod section;
pub mod skills;
mod stamp;
pub mod type_files;
pub mod types;
