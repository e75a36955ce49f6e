//! The events of a turn, from the first to the last: shown, asked about at a terminal, and held back while a question
//! waits for its answer.

use super::ask::Asking;
use super::feed::Feed;
use super::show::TurnPrinter;
use ropewalk_host::Host;
use ropewalk_protocol::{Event, Op, SessionEvent, StopReason};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};

/// How often the line of what runs now is written anew; what is done sooner needs none.
const SECOND: Duration = Duration::from_secs(1);

/// Shows the turn until it ends; then why it did, and what is to be said of that. None if there are no more events.
pub(super) async fn watch<W: Write>(
    host: &Arc<Host>,
    feed: &mut Feed,
    show: &mut TurnPrinter<W>,
) -> Option<(StopReason, Option<String>)> {
    let mut asking = Asking::new();
    let mut held = VecDeque::new();
    let mut second = tokio::time::interval_at(Instant::now() + SECOND, SECOND);
    second.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            biased;
            (approval, verdict) = asking.answer(), if asking.is_open() => {
                drop(host.handle(Op::Approve(Some(approval), verdict).into()));
            }
            event = feed.next() => {
                let told = event?;
                if asking.event(&told.event) {
                    show.break_off();
                }
                held.push_back(told);
            }
            _ = second.tick(), if !asking.is_open() => show.tick(),
        }
        while !asking.is_open()
            && let Some(SessionEvent { thread, event, .. }) = held.pop_front()
        {
            let shown = match thread {
                Some(thread) => show.of_thread(&thread, &event),
                None => show.event(&event),
            };
            if let Err(error) = shown {
                // Nobody can see what the agent does any more, so it stops.
                tracing::info!(%error, "standard output is closed");
                drop(host.handle(Op::Interrupt(None).into()));
            }
            if let Event::TurnEnded { stop_reason, message, .. } = event {
                return Some((stop_reason, message));
            }
            if held.is_empty() {
                asking.open();
            }
        }
    }
}
