//! Sessions: the loop, history, ops in and events out.
//!
//! A front end and the agent share nothing but [`Op`](ropewalk_protocol::Op)s going in and [`Event`](ropewalk_protocol::Event)s coming out. The loop itself
//! is `turn`; everything else here serves it: [`history`] keeps what was said and is always valid, `calls`
//! runs tool calls, `approvals` waits for the user, [`prompt`] words what the model is told, and [`journal`]
//! keeps what a session needs to go on after a crash.

mod approvals;
pub mod audit;
mod background;
mod beside;
mod budget;
pub mod bundles;
mod calls;
mod changes;
mod check;
mod compaction;
mod context;
pub mod conversation;
mod events;
mod held;
pub mod history;
pub mod hooks;
mod inbox;
mod interrupt;
pub mod journal;
mod knowledge;
mod mechanisms;
mod nested;
mod news;
mod offers;
mod op;
mod opening;
mod prelude;
pub mod prompt;
mod proposed;
mod readable;
mod reads;
pub mod session;
mod settings;
mod shown;
mod skills;
mod slash;
mod subagent;
pub mod time;
mod todos;
pub mod tools;
mod transcript;
mod turn;

pub use audit::Audit;
pub use calls::ModelCall;
pub use changes::ReviewSnapshot;
pub use conversation::Conversation;
pub use history::History;
pub use hooks::StepHook;
pub use journal::Journal;
pub use journal::past::Past;
pub use journal::store::{SessionError, Sessions};
pub use proposed::text_in;
pub use session::{Session, SessionConfig};
