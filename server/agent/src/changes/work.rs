//! Work of a turn on files so far: how often a call changed some, and what reached the user's text.

use ropewalk_workspace::DocId;
use std::collections::HashSet;
use tokio::time::Instant;

/// See the module.
#[derive(Default)]
pub(super) struct FileWork {
    /// How often calls have proposed changes, since the session began.
    pub(super) merges: u64,
    /// Documents with published changes, since the turn began.
    pub(super) published: HashSet<DocId>,
    /// When the last of them was.
    pub(super) last: Option<Instant>,
}
