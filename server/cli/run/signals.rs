//! Signals: the first stops the turn where it is, and the team, the second ends the process.

use crate::exit::CliExit;
use crate::plain::say;
use ropewalk_host::Host;
use ropewalk_protocol::Op;
use std::sync::Arc;
use tokio::sync::watch;

/// Interrupts the turn of `host` and its team at the first Ctrl-C, or where there are such signals at a termination or
/// hang-up, and ends the process at the second. In a task of its own, so that it works whatever else stands still. What it
/// gives is true once there was one.
pub(super) fn interrupt_on_signal(host: &Arc<Host>) -> watch::Receiver<bool> {
    let host = host.clone();
    let (sender, receiver) = watch::channel(false);
    // Asked for here and not in the task: from now on no signal ends the process unasked.
    let signals = Signals::listen();
    tokio::spawn(async move {
        let mut signals = match signals {
            Ok(signals) => signals,
            Err(error) => {
                tracing::warn!(%error, "signals can't be listened for");
                return;
            }
        };
        signals.next().await;
        interrupt(&host);
        sender.send_replace(true);
        say("Interrupted; once more ends it at once.");
        signals.next().await;
        std::process::exit(CliExit::Interrupted.code().into());
    });
    receiver
}

/// Interrupts the turn that runs, and stops the team.
pub(super) fn interrupt(host: &Arc<Host>) {
    host.stop_team();
    drop(host.handle(Op::Interrupt(None).into()));
}

/// Signals that stop a process.
#[cfg(unix)]
pub(crate) struct Signals([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let [interrupt, terminate, hangup] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Ok(Self([signal(interrupt)?, signal(terminate)?, signal(hangup)?]))
    }

    pub(crate) async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
