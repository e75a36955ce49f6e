//! A fake editor: the document side of an LSP client, with the habits of real ones.
//!
//! [`Profile`] says as data what a client does (which versions it checks, what it answers, how it cuts its
//! echoes); [`Buffer`] is one document with an undo list and, for every character, who put it there;
//! [`Client`] owns buffers and a user, answers edits by its profile, and says what it would write on the
//! wire. Nothing in it sleeps or knows the time: changes are held back until someone flushes them.
//!
//! Two transports carry it: [`Direct`] calls a [`Workspace`](ropewalk_workspace::Workspace) in the same
//! process, for tests with many keystrokes; [`FakeEditor`] speaks the protocol with a server over pipes, for
//! scenarios and the demo. It draws nothing and runs no extension code.

mod buffer;
mod client;
mod coordinates;
mod direct;
mod profile;
mod wire;

pub use buffer::{Author, Buffer, Cell, EchoShape, Splice};
pub use client::{
    Applied, AppliedChange, Client, FileOp, Handling, Outgoing, RequestId, ServerRequest,
};
pub use direct::Direct;
pub use profile::{Confirmation, Flush, Profile, StaleAnswer, VersionCheck};
pub use wire::{
    ActionOffer, Dialog, EditorMemory, FakeEditor, Kind, ProgressReport, RpcError, ShownMessage,
    TurnEnd, UserPlace,
};
