//! Rest of a team: nothing goes on by itself any more. Who leads one without staying, as `ropewalk run`, waits for that, and
//! has its members leave then.

use super::Lead;
use super::outlook::{Outlook, Prospect};
use crate::lock;
use crate::station::Station;
use futures::future::BoxFuture;
use ropewalk_board::MemberState;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;

/// How long one that was stopped may take to leave.
const PATIENCE: Duration = Duration::from_secs(10);

impl Lead {
    /// Notes a team that comes back: until the guard is dropped, it is not known yet whether there is one.
    pub fn comes_back(&self) -> Option<OwnedMutexGuard<()>> {
        self.coming.clone().try_lock_owned().ok()
    }

    /// True if there is a team, or may be in a moment.
    pub fn has_team(&self) -> bool {
        self.known().is_some() || self.coming.try_lock().is_err()
    }

    /// Waits until no turn runs, of the lead or a teammate, and none begins by itself. At once without a team.
    pub fn rests(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            drop(self.coming.lock().await);
            if self.known().is_some() {
                // The sender lives as long as this.
                let _ = self.rest.subscribe().wait_for(|rests| *rests).await;
            }
        })
    }

    /// Notes that a turn has begun.
    pub(super) fn stirs(&self) {
        self.rest.send_replace(false);
        *lock(&self.quiet_since) = None;
    }

    /// Notes whether the team rests by what a look has found. `pause`: the lead's turns when that began.
    pub(super) fn note_rest(&self, station: &Station, outlook: &Outlook, pause: Option<u64>) {
        let (prospect, may_wake) = (outlook.prospect(), self.may_wake(station));
        let turns = lock(&self.turns);
        let is_calm = pause.is_some()
            && turns.pause() == pause
            && (!may_wake || outlook.reasons(&turns).is_none());
        let rests = match prospect {
            Prospect::Nothing => is_calm,
            Prospect::Busy => false,
            Prospect::Open => {
                let now = self.config.clock.now();
                let since = *lock(&self.quiet_since).get_or_insert(now);
                is_calm && now.saturating_sub(since) >= self.config.options.idle
            }
        };
        if prospect != Prospect::Open {
            *lock(&self.quiet_since) = None;
        }
        self.rest.send_replace(rests);
    }

    /// Stops all: teammates are interrupted and their tasks returned, and no turn begins by itself any more.
    pub fn stop_all(&self) {
        lock(&self.turns).is_over = true;
        for teammate in lock(&self.teammates).values() {
            teammate.station.stop();
        }
    }

    /// Stops all, waits until they have left, takes in what they have handed over, and leaves.
    pub fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.stop_all();
            let Some(station) = self.known() else { return };
            let all = std::mem::take(&mut *lock(&self.teammates));
            let left = async {
                for (_, mut teammate) in all {
                    // A panic has been logged.
                    let _ = (&mut teammate.life).await;
                }
                self.say_goodbye(&station).await;
            };
            if tokio::time::timeout(PATIENCE, left).await.is_err() {
                tracing::info!("not all of the team have left in time");
            }
        })
    }

    async fn say_goodbye(&self, station: &Arc<Station>) {
        if let Err(error) = self.look(station).await {
            tracing::info!(%error, "the board could not be looked at");
        }
        if let Err(error) = station.membership.set_state(MemberState::Shutdown).await {
            tracing::info!(%error, "a departure was not told");
        }
    }
}
