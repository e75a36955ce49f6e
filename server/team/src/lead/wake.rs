//! The lead's loop: it looks at the board when something has happened, and every few seconds without that.

use super::Lead;
use crate::budget::used_up;
use crate::error::TeamError;
use crate::intake;
use crate::lock;
use crate::station::Station;
use ropewalk_agent::Session;
use ropewalk_board::{BOARD, BoardMessage, MemberState};
use ropewalk_protocol::{Event, Prompt, SessionEvent};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

impl Lead {
    /// Notes what happens in the lead's session.
    pub fn hear(&self, told: &SessionEvent) {
        let is_own = told.session.as_ref().is_some_and(|id| **id == *self.config.session);
        if !is_own || told.thread.is_some() || told.member.is_some() {
            return;
        }
        let mut turns = lock(&self.turns);
        match &told.event {
            Event::TurnStarted { turn, .. } => {
                turns.runs = true;
                self.look_soon();
                if !turns.own.contains(turn) {
                    turns.wakes = 0;
                }
            }
            Event::TurnEnded { .. } => {
                turns.runs = false;
                drop(turns);
                self.look_soon();
            }
            _ => {}
        }
    }

    /// Has the loop look at the board now.
    pub(super) fn look_soon(&self) {
        self.nudge.notify_one();
    }

    /// One look: changes are taken in, front ends told, the lead woken.
    async fn look(&self, station: &Station) -> Result<(), TeamError> {
        if let Some(session) = self.host.session(&self.config.session) {
            let own: BTreeSet<String> = self.sessions().into_iter().map(|(name, _)| name).collect();
            intake::take_all(station, &session, |member| own.contains(member)).await?;
            self.tell_state(station, &session).await?;
            if self.config.options.has_budget() {
                station.spend(session.spent()).await?;
            }
        }
        self.report(station).await?;
        self.wake(station).await
    }

    /// Tells the board whether a turn of the lead's runs, and what its session has used.
    async fn tell_state(&self, station: &Station, session: &Session) -> Result<(), TeamError> {
        let runs = lock(&self.turns).runs;
        if lock(&self.turns).told != runs {
            let state = if runs { MemberState::Working } else { MemberState::Idle };
            station.membership.set_state(state).await?;
            lock(&self.turns).told = runs;
            station.spend(session.spent()).await?;
        }
        Ok(())
    }

    /// Begins a turn of the lead's if something needs it while it rests.
    async fn wake(&self, station: &Station) -> Result<(), TeamError> {
        if used_up(&self.config.options, station.spent_by_all()).is_some() {
            return Ok(());
        }
        let counts = station.team().counts().await?;
        // A bundle that is not taken in yet may come back.
        let is_settled = station.team().waiting_bundles(1).await?.is_empty();
        let unread = station.membership.inbox(100).await?;
        let open = counts.pending + counts.in_progress;
        let all = open + counts.completed + counts.failed + counts.cancelled;
        let turn = {
            let mut turns = lock(&self.turns);
            let all_have_ended = all > 0 && open == 0 && is_settled;
            turns.knows_end &= all_have_ended;
            if turns.runs || turns.wakes >= self.config.options.wakes {
                return Ok(());
            }
            let urgent =
                |one: &&BoardMessage| is_urgent(one) && !turns.woken_by.contains(&one.number);
            let urgent: Vec<i64> = unread.iter().filter(urgent).map(|one| one.number).collect();
            let ends = all_have_ended && !turns.knows_end;
            if urgent.is_empty() && !ends {
                return Ok(());
            }
            let Some(session) = self.host.session(&self.config.session) else { return Ok(()) };
            turns.woken_by.extend(urgent);
            turns.knows_end |= ends;
            (turns.wakes, turns.runs) = (turns.wakes + 1, true);
            let mut words = "News of the team.".to_owned();
            if ends {
                words = format!(
                    "All tasks of the team have ended: {} completed, {} failed, {} cancelled.",
                    counts.completed, counts.failed, counts.cancelled
                );
            }
            let turn = session.prompt(Prompt::new(words));
            turns.own.insert(turn);
            turn
        };
        tracing::info!(turn, "the team has woken its lead");
        Ok(())
    }
}

/// True of messages for which a lead at rest is woken: a plan that waits, a task that has failed.
fn is_urgent(message: &BoardMessage) -> bool {
    message.kind == "plan" || (message.from == BOARD && message.kind == "task_failed")
}

/// Looks at the board as long as the lead lives.
pub(super) async fn watch_over(lead: Weak<Lead>, station: Arc<Station>) {
    let mut signals = station.membership.watch();
    let (mut news, mut unsaid) = (None, Vec::new());
    loop {
        let (clock, poll, nudge) = {
            let Some(lead) = lead.upgrade() else { return };
            if news.is_none() {
                let session = lead.host.session(&lead.config.session);
                news = session.map(|session| session.watch_bundles());
            }
            intake::pass_on(station.team(), &mut unsaid).await;
            if let Err(error) = lead.look(&station).await {
                tracing::info!(%error, "the lead could not look at the board");
            }
            (lead.config.clock.clone(), lead.config.options.poll, lead.nudge.clone())
        };
        let told = async {
            match &mut news {
                Some(news) => news.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = signals.changed() => {}
            () = clock.sleep(poll) => {}
            () = nudge.notified() => {}
            told = told => match told {
                Some(told) => unsaid.push(told),
                None => news = None,
            },
        }
    }
}
