//! The end of serving: why it came, and what the process returns.

/// Why serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The client sent `exit`.
    Exit,
    /// There is no more input.
    InputEnded,
    /// The client's process is gone.
    ParentGone,
    /// The client has closed the output.
    OutputClosed,
    /// The client reads nothing, and too many answers wait for it.
    OutputUnread,
}

/// The end of serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeEnd {
    /// Why.
    pub reason: Reason,
    /// True if the client had asked for a shutdown before.
    pub after_shutdown: bool,
}

impl ServeEnd {
    /// The exit code of the process: 0 after a `shutdown`, else 1 (LSP, `exit`), whatever the reason.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        u8::from(!self.after_shutdown)
    }
}
