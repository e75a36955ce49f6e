//! Sessions: the loop, history, ops in and events out.
//!
//! A front end and the agent share nothing but [`Op`]s going in and [`Event`]s coming out. The loop itself
//! is `turn`; everything else here serves it: [`history`] keeps what was said and is always valid, `calls`
//! runs tool calls, [`approval`] waits for the user, [`prompt`] words what the model is told.

pub mod approval;
pub mod audit;
mod calls;
pub mod event;
pub mod history;
pub mod op;
pub mod prompt;
pub mod session;
mod turn;

pub use approval::Verdict;
pub use audit::Audit;
pub use event::{Event, StopReason};
pub use history::History;
pub use op::{Op, Prompt, SelectedText};
pub use session::{Limits, Session, SessionConfig};
