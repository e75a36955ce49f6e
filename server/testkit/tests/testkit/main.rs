//! This binary tests what other tests use: the fake editor, the scripted model, the reader of pages and the search for
//! keys. `keystrokes` plays random sessions of typing users, and checks every text.
#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod checker;
mod counting;
mod habits;
mod keystrokes;
mod model;
mod planted;
mod scenario;
mod typing;
mod wire;
