//! The board that the members of a team share: tasks with claims, leases and fences, members, messages,
//! requests, bundles of changes, and a log. It lies in a SQLite file, or in PostgreSQL where one machine is not enough.
//!
//! Nobody coordinates: whoever looks at the board keeps it in order. All times are the database's clock. A bundle's content
//! is bytes here, and no other room is imported.
//!
//! Reading order: [`Board`] (open it), [`Team`] (what anybody may do), [`Membership`] (what a living member does:
//! claim, renew, complete), [`Task`] and [`Claim`] (the fence), [`BoardMessage`], [`TeamRequest`], [`BundleRecord`], [`MemberWatch`].

mod agenda;
mod board;
mod bundle;
mod claim;
mod connection;
mod edge;
mod engine;
mod error;
mod member;
mod message;
mod request;
mod schema;
mod task;
mod team;
mod wake;
mod watch;

pub use agenda::Agenda;
pub use board::{Board, BoardOptions};
pub use bundle::{BundleRecord, BundleState, MAX_BUNDLE};
pub use claim::{Claim, ReturnReason};
pub use engine::BoardPlace;
pub use error::{BoardError, BoardFuture, Result};
pub use member::{Member, MemberState, Membership, NewMember};
pub use message::{BoardMessage, MAX_MESSAGE};
pub use request::{RequestKind, RequestState, TeamRequest};
pub use task::{NewTask, Task, TaskStatus};
pub use team::{BOARD, LEAD, LogEntry, TaskCounts, Team};
pub use watch::MemberWatch;
