//! `ropewalk/event`: which events a client takes, how they are sent, and the log of them.

use crate::state::State;
use ropewalk_protocol::plugin::ClientOptions;
use ropewalk_protocol::{Event, SessionEvent};
use serde_json::Value;
use std::sync::LazyLock;
use tower_lsp::lsp_types::notification::Notification;

/// `ropewalk/event`.
pub(crate) enum RopewalkEvent {}

/// Sends an event to a client that takes them, with its URIs as the client spells them.
pub(super) async fn send(state: &State, event: &SessionEvent) {
    if let Ok(mut params) = serde_json::to_value(event) {
        state.respell(&mut params);
        state.client.send_notification::<RopewalkEvent>(params).await;
    }
}

/// Sends an event that is of no session.
pub(crate) async fn send_event(state: &State, event: Event) {
    send(state, &SessionEvent { session: None, thread: None, member: None, event }).await;
}

impl Notification for RopewalkEvent {
    type Params = Value;
    const METHOD: &'static str = "ropewalk/event";
}

/// True if an event is for those too who don't look at subagents.
pub(super) fn is_of_session(told: &SessionEvent) -> bool {
    told.thread.is_none()
        || matches!(
            told.event,
            Event::Thread { .. } | Event::ApprovalRequested { .. } | Event::ApprovalResolved { .. }
        )
}

/// True for a client that shows what teammates do, and what they ask, its own way.
pub(super) fn takes_team(options: ClientOptions) -> bool {
    options.events && options.team
}

/// Logs an event if that was asked for. The user's own text may hold a key, which is for the editor alone.
pub(super) fn log(state: &State, told: &SessionEvent) {
    if is_logged()
        && let Ok(mut value) = serde_json::to_value(&told.event)
    {
        state.respell(&mut value);
        let event = state.host.without_keys(&value.to_string());
        let session = told.session.as_deref().unwrap_or_default();
        let thread = told.thread.as_deref().unwrap_or_default();
        tracing::trace!(target: "ropewalk::events", session, thread, event = %event);
    }
}

/// True if events go to the log, whole: for who looks for a fault, and for tests. The filter must
/// name them, for they hold the user's own text.
fn is_logged() -> bool {
    static IS_NAMED: LazyLock<bool> = LazyLock::new(|| {
        std::env::var("ROPEWALK_LOG").is_ok_and(|filter| filter.contains("ropewalk::events"))
    });
    *IS_NAMED && tracing::enabled!(target: "ropewalk::events", tracing::Level::TRACE)
}
