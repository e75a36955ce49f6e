//! The configuration from outside: layers, projects, spellings, and input meant to break it. Every
//! test is a world of files, variables, settings and flags, and what must come of it.

mod documents;
mod hostile;
mod instructions;
mod layers;
mod locks;
mod problems;
mod project;
mod providers;
mod rules;
mod spelling;
mod team;
mod trust;
mod verify;
mod world;
