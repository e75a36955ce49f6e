//! The lead's loop: it looks at the board when something has happened, and every few seconds without that.

use super::Lead;
use super::outlook::Outlook;
use crate::budget::used_up;
use crate::error::TeamError;
use crate::intake;
use crate::lock;
use crate::station::Station;
use ropewalk_agent::Session;
use ropewalk_board::MemberState;
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
                turns.note(true);
                self.stirs();
                self.look_soon();
                if !turns.own.contains(turn) {
                    turns.wakes = 0;
                }
            }
            Event::TurnEnded { .. } => {
                turns.note(false);
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
    pub(super) async fn look(&self, station: &Station) -> Result<(), TeamError> {
        if let Some(session) = self.host.session(&self.config.session) {
            let own: BTreeSet<String> = self.sessions().into_iter().map(|(name, _)| name).collect();
            intake::take_all(station, &session, |member| own.contains(member)).await?;
            self.tell_state(station, &session).await?;
            if self.config.options.has_budget() {
                station.spend(session.spent()).await?;
            }
        }
        self.report(station).await?;
        let pause = lock(&self.turns).pause();
        let outlook = Outlook::of(station).await?;
        self.wake(station, &outlook);
        self.note_rest(station, &outlook, pause);
        Ok(())
    }

    /// Tells the board whether a turn of the lead's runs, and what its session has used.
    async fn tell_state(&self, station: &Station, session: &Session) -> Result<(), TeamError> {
        let runs = lock(&self.turns).is_running();
        if lock(&self.turns).told != Some(runs) {
            let state = if runs { MemberState::Working } else { MemberState::Idle };
            station.membership.set_state(state).await?;
            lock(&self.turns).told = Some(runs);
            station.spend(session.spent()).await?;
        }
        Ok(())
    }

    /// True if the lead may begin turns by itself.
    pub(super) fn may_wake(&self, station: &Station) -> bool {
        let turns = lock(&self.turns);
        let is_bound = turns.is_over || turns.wakes >= self.config.options.wakes;
        !is_bound && used_up(&self.config.options, station.spent_by_all()).is_none()
    }

    /// Begins a turn of the lead's if something needs it while it rests.
    fn wake(&self, station: &Station, outlook: &Outlook) {
        let may_wake = self.may_wake(station);
        let mut turns = lock(&self.turns);
        turns.knows_end &= outlook.all_have_ended();
        if turns.is_running() || !may_wake {
            return;
        }
        let reasons = outlook.reasons(&turns);
        if reasons.is_none() {
            return;
        }
        let Some(session) = self.host.session(&self.config.session) else { return };
        turns.woken_by.extend(reasons.urgent);
        turns.knows_end |= reasons.all_have_ended;
        turns.wakes += 1;
        turns.note(true);
        let words = match reasons.all_have_ended {
            true => outlook.end_in_words(),
            false => "News of the team.".to_owned(),
        };
        let turn = session.prompt(Prompt::new(words));
        turns.own.insert(turn);
        tracing::info!(turn, "the team has woken its lead");
    }
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
