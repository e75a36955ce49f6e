//! Sessions: the loop, history, ops in and events out.
//!
//! A front end and the agent share nothing but [`Op`]s going in and [`Event`]s coming out. The loop itself
//! is `turn`; everything else here serves it: [`history`] keeps what was said and is always valid, `calls`
//! runs tool calls, [`approval`] waits for the user, [`prompt`] words what the model is told, and [`journal`]
//! keeps what a session needs to go on after a crash.

pub mod approval;
pub mod audit;
mod budget;
mod calls;
mod context;
pub mod event;
pub mod history;
pub mod journal;
pub mod op;
mod printed;
pub mod prompt;
mod reads;
pub mod session;
pub mod time;
pub mod tools;
mod turn;

pub use approval::Verdict;
pub use audit::Audit;
pub use event::{Event, StopReason};
pub use history::History;
pub use journal::Journal;
pub use journal::past::Past;
pub use journal::store::{SessionError, Sessions};
pub use op::{Op, Prompt, SelectedText};
pub use session::{Limits, Session, SessionConfig};
