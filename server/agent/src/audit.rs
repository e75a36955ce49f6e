//! The audit: one line for each call that was judged, saying what decided.
//!
//! It holds names, never what a file or a result holds. Writing it down is [`crate::session`]'s.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Decision about one call before it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// The turn.
    pub turn: u64,
    /// The call's id.
    pub call: Arc<str>,
    /// The tool.
    pub tool: String,
    /// The command, path or pattern, on one line, shortened, and without what looks like a key.
    pub subject: String,
    /// Policy's last word: `allow`, `ask` or `deny`.
    pub decision: String,
    /// Reason of the decision: `deny bash(git push *)`, `session bash(ls *)`, `mode plan`,
    /// `danger`, `secrets`, `syntax` or `effect`.
    pub by: String,
    /// Answer to the question: `once`, `session`, `always`, `afterSave`, `refuse`, `interrupted`,
    /// or `nobody` where nobody was there. None if nobody had to be asked.
    pub verdict: Option<String>,
    /// The name in the call that may hold secrets.
    pub secret: Option<String>,
}
