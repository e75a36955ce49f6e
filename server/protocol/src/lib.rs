//! The words that front ends and the agent say to each other: requests in, events out, and the few values both sides name.
//!
//! Plain data: every type serialises and has a JSON schema, from which `editors/protocol.json` and the tables of
//! EXTENSIONS.md are written. Nothing here does anything, waits, or knows LSP, a model or a file.
//!
//! Reading order: [`content`], [`request`], [`reply`], [`event`] with [`hunk`], [`approval`] and [`usage`], [`mode`], [`limits`] and [`mechanisms`], [`todo`](mod@todo), [`check`], [`team`],
//! [`ids`], [`position`], [`command`] and [`plugin`] for editors.

pub mod approval;
pub mod check;
pub mod command;
pub mod content;
pub mod event;
pub mod hunk;
pub mod ids;
pub mod limits;
pub mod mechanisms;
pub mod mode;
pub mod plugin;
pub mod position;
pub mod reply;
pub mod request;
#[cfg(test)]
mod schema;
pub mod team;
pub mod todo;
pub mod usage;

pub use approval::{Approval, Resolution, Verdict};
pub use check::CheckReport;
pub use content::Content;
pub use event::{
    CommandPlace, CompactionCause, ContextUse, Event, Level, SessionEvent, StopReason, ThreadState,
};
pub use hunk::{ChangeKind, HunkInfo, HunkMember, PublishedHunk, ReviewAction};
pub use ids::{CallId, MessageId, SessionId};
pub use limits::{CacheLife, ModelLimits, SessionLimits, Thinking};
pub use mechanisms::{MechanismLimits, Mechanisms};
pub use mode::{Mode, OverFork};
pub use position::{TextPosition, TextRange};
pub use reply::{
    ContextFill, LeftSession, Lock, Refusal, Reply, ResumedSession, SessionInfo, Status,
};
pub use request::{Op, Prompt, Request, SelectedText, Selection, Trust, TrustAnswer};
pub use team::{
    BoardTask, BoardTaskStatus, TeamMember, TeamMessage, TeamOp, TeamRoster, TeamState,
};
pub use todo::{Todo, TodoList, TodoStatus};
pub use usage::{LongPrice, Money, Price, Spent, Tokens, Usage};
