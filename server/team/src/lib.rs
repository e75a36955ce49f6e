//! Teams: members that find their own work on a board, message each other, and hand what they have done to one review.
//!
//! The board keeps order, whoever looks at it; see `server/board`. Here are the members. The lead is the user's session,
//! teammates are sessions beside it in the same process, workers are sessions of other processes. Each works until its turn
//! ends, then waits for a message or a task, and leaves when there was nothing for a while.
//!
//! Reading order: [`Identity`], [`Station`] (a member's place on the board), `mailbox`, `lease` and `plan` (what attaches to
//! its steps), `tools` (what its model can do), `idle` (what comes next; pure), `teammate` (work and waiting), `handover` (from
//! its fork to the board), `intake` (from the board into the lead's review), [`Lead`] (spawning, waking, adopting) and
//! `lead/questions` (what front ends are told).

mod budget;
pub mod clock;
mod error;
mod handover;
mod identity;
mod idle;
mod intake;
mod launch;
mod lead;
mod lead_turns;
mod lease;
mod mailbox;
mod options;
mod owner;
mod plan;
mod refusals;
mod report;
mod running;
mod session_host;
mod station;
mod teammate;
mod tools;
mod turns;
mod words;
mod worker;

pub use error::TeamError;
pub use identity::Identity;
pub use lead::{Lead, LeadConfig};
pub use options::TeamOptions;
pub use session_host::{MoreTools, SessionHost, StartedSession, TeammateStart};
pub use station::Station;
pub use teammate::Departure;
pub use words::{shown_member, shown_task};
pub use worker::{Worker, WorkerConfig};

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
