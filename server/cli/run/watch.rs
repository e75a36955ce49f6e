//! The events of a turn and of the team that it leaves at work, from the first to the last: shown, asked about at a terminal,
//! and held back while a question waits for its answer.

use super::ask::Asking;
use super::feed::Feed;
use super::show::TurnPrinter;
use super::signals;
use ropewalk_host::Host;
use ropewalk_protocol::{Event, SessionEvent, StopReason};
use std::collections::VecDeque;
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};

/// How often the line of what runs now is written anew; what is done sooner needs none.
const SECOND: Duration = Duration::from_secs(1);

/// A turn's end: its reason, and what is to be said of that.
pub(super) type WatchedEnd = (StopReason, Option<String>);

/// Shows the turn until it ends, and then its team until that has come to rest; then the end of the last turn. None if there
/// are no more events. `stopped` is true once a signal has come.
pub(super) async fn watch<W: Write>(
    host: &Arc<Host>,
    feed: &mut Feed,
    show: &mut TurnPrinter<W>,
    (turn, mut stopped): (u64, watch::Receiver<bool>),
) -> Option<WatchedEnd> {
    let mut asking = Asking::new();
    let mut held = VecDeque::new();
    let mut rest = TeamRest::new(turn);
    let mut second = tokio::time::interval_at(Instant::now() + SECOND, SECOND);
    second.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            biased;
            request = asking.answer(), if asking.is_open() => drop(host.handle(request)),
            event = feed.next() => {
                let told = event?;
                if asking.event(&told) {
                    show.break_off();
                }
                held.push_back(told);
            }
            Ok(_) = stopped.wait_for(|is_stopped| *is_stopped), if rest.is_awaited() => {
                return rest.end.map(|(_, message)| (StopReason::Interrupted, message));
            }
            () = rest.comes(), if rest.is_awaited() && !asking.is_open() => return rest.end,
            _ = second.tick(), if !asking.is_open() => show.tick(),
        }
        while !asking.is_open()
            && let Some(told) = held.pop_front()
        {
            if let Err(error) = show.told(&told) {
                // Nobody can see what the agent does any more, so it stops.
                tracing::info!(%error, "standard output is closed");
                signals::interrupt(host);
            }
            if rest.note(host, told) {
                return rest.end;
            }
            if held.is_empty() {
                asking.open();
            }
        }
        show.waits_for_team(rest.is_awaited());
    }
}

/// Rest of the team that the session leads, awaited once the turn that was asked for has ended and while no other runs.
struct TeamRest {
    /// The turn that was asked for.
    turn: u64,
    /// The end of the last turn.
    end: Option<WatchedEnd>,
    coming: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl TeamRest {
    fn new(turn: u64) -> Self {
        Self { turn, end: None, coming: None }
    }

    fn is_awaited(&self) -> bool {
        self.coming.is_some()
    }

    async fn comes(&mut self) {
        match &mut self.coming {
            Some(coming) => coming.await,
            None => std::future::pending().await,
        }
    }

    /// Notes what an event says of the session's turns. True if that was the end of all.
    fn note(&mut self, host: &Arc<Host>, told: SessionEvent) -> bool {
        if told.thread.is_some() || told.member.is_some() {
            return false;
        }
        match told.event {
            Event::TurnStarted { .. } => self.coming = None,
            Event::TurnEnded { turn, stop_reason, message } => {
                self.end = Some((stop_reason, message));
                if stop_reason == StopReason::Interrupted || turn >= self.turn && !host.has_team() {
                    return true;
                }
                self.coming = (turn >= self.turn).then(|| host.team_rests());
            }
            _ => {}
        }
        false
    }
}
