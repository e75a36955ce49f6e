//! The turns of a member's session, as its events tell of them.

use ropewalk_agent::hooks::TurnOutcome;
use ropewalk_protocol::{Event, SessionEvent};
use tokio::sync::watch;

/// The turns so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// True while one runs.
    pub(crate) is_running: bool,
    /// The number of the last that has ended; 0 for none.
    pub(crate) ended: u64,
    /// How that ended.
    pub(crate) end: Option<TurnOutcome>,
}

impl Turns {
    /// True if one runs, or has ended after the one with this number.
    pub(crate) const fn goes_beyond(&self, settled: u64) -> bool {
        self.is_running || self.ended > settled
    }
}

/// Notes what an event says of turns. Those of subagents are none.
pub(crate) fn note(turns: &watch::Sender<Turns>, told: &SessionEvent) {
    if told.thread.is_some() {
        return;
    }
    match &told.event {
        Event::TurnStarted { .. } => turns.send_modify(|turns| turns.is_running = true),
        Event::TurnEnded { turn, stop_reason, message } => turns.send_modify(|turns| {
            let outcome = TurnOutcome { stop_reason: *stop_reason, message: message.clone() };
            (turns.is_running, turns.ended, turns.end) = (false, *turn, Some(outcome));
        }),
        _ => {}
    }
}
