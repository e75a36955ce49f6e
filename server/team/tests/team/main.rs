//! Teams over the scripted model and a SQLite board: a lead and its teammates in one process, on a clock that a test moves.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod bench;
mod changes;
mod idle;
mod losses;
mod outages;
mod requests;
mod sizes;
mod stops;
mod work;
