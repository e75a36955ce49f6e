//! Events of subagents: what one calls is progress of the turn, and what it asks is asked like the session's own.

use super::ShowState;
use crate::state::State;
use ropewalk_protocol::{Event, Level, ThreadState};
use std::sync::Arc;

impl ShowState {
    /// Shows an event of a subagent: what it calls is progress of the turn.
    pub(super) async fn take_of_thread(
        &mut self,
        state: &Arc<State>,
        session: &str,
        thread: String,
        event: Event,
    ) {
        match event {
            Event::Thread { agent, state: ThreadState::Started, .. } => {
                self.threads.insert(thread, agent);
            }
            Event::Thread { .. } => drop(self.threads.remove(&thread)),
            Event::ToolCall { tool, title, .. } => {
                let agent = self.threads.get(&thread).map_or("", String::as_str);
                self.progress.report(state, &format!("{agent}: {tool} {title}")).await;
            }
            event @ (Event::ApprovalRequested { .. }
            | Event::ApprovalResolved { .. }
            | Event::Notice { level: Level::Warning | Level::Error, .. }) => {
                self.take(state, session, event).await;
            }
            _ => {}
        }
    }
}
