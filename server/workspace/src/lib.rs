//! Open documents, files, forks, and how changes reach the editor.
//!
//! The room holds the one idea of Ropewalk: the agent works in a [`Fork`] of what the user sees, and every
//! change reaches the user's text through [`publish`](publish::publish), proved by its echo. It knows no LSP types, no models
//! and no tools.
//!
//! Reading order: [`document`] with [`log`] and [`proof`] (what the
//! editor has), [`Workspace`], [`view`] (what a call sees), [`entry`] and [`fork`] (what a session made),
//! [`publish`] and [`undo`], [`bundle`] (work that goes from one fork to another), [`patch`](mod@patch) (what is pending, for `git apply`), [`ledger`] and [`note`], [`owner`] and [`state`] (what outlives the process), [`conversation`] (the document in which the user asks).

pub mod bundle;
pub mod conversation;
pub mod document;
pub mod editor;
pub mod entry;
pub mod fork;
pub mod ledger;
pub mod log;
pub mod note;
pub mod owner;
pub mod patch;
pub mod proof;
pub mod publish;
mod said;
pub mod state;
pub mod undo;
pub mod view;
pub mod workspace;

pub use bundle::{Bundle, BundleConflict, BundleError, BundleGuard, TakeError};
pub use document::{ContentChange, DiskLook, Document};
pub use editor::{
    Declared, DocumentEdit, EditForm, Editor, EditorError, FileRename, Habits, NoEditor,
};
pub use fork::{
    Branch, FileHunks, Fork, Hunk, HunkKind, HunkSelection, HunkState, MergeOrigin, MergeReport,
    Proposal, ProposedChange,
};
pub use note::Note;
pub use owner::{ForkOwner, LockedFork};
pub use patch::{Patch, PatchFile};
pub use ropewalk_files::{DocId, PathError, Place, Roots};
pub use ropewalk_text::ContentHash;
pub use view::{FileState, OverlayContent, OverlayFile, Snapshot, TextSource, View};
pub use workspace::{DisplacedChange, Workspace};

/// Identifies an edit that was sent to the editor, among all sessions.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct PublishId(pub u64);

/// Identifies a pending or published hunk within its session.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct HunkId(pub u64);
