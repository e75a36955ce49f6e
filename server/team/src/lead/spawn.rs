//! Teammates beside the lead: started, brought back after a restart, asked to stop.

use super::Lead;
use crate::budget::used_up;
use crate::error::TeamError;
use crate::launch::{Launch, MemberStart};
use crate::lock;
use crate::owner::NewTeammate;
use crate::running::RunningTeammate;
use crate::station::Station;
use futures::FutureExt;
use ropewalk_board::{LEAD, MemberState, Membership, NewMember};
use ropewalk_protocol::Mode;
use std::sync::Arc;

/// Words at the start of the host of a member that lives in an editor's process.
const TEAMMATE: &str = "teammate, process ";

impl Lead {
    /// Starts a teammate.
    ///
    /// # Errors
    /// A name that is taken, too many teammates, no budget, no board.
    pub(crate) async fn spawn(self: &Arc<Self>, new: NewTeammate) -> Result<(), TeamError> {
        let station = self.station().await?;
        let options = &self.config.options;
        let living = lock(&self.teammates).len();
        if living >= options.teammates {
            return Err(format!(
                "there are {living} teammates already, the most that may be (`team.teammates`): ask one to shut down first"
            )
            .into());
        }
        if let Some(session) = self.host.session(&self.config.session) {
            station.spend(session.spent()).await?;
        }
        if let Some(words) = used_up(options, station.spent_by_all()) {
            return Err(words.into());
        }
        let id = self.host.new_id();
        let member = NewMember {
            name: new.name.clone(),
            role: new.role.clone(),
            host: format!("{TEAMMATE}{}", std::process::id()),
            session: id.to_string(),
        };
        let membership = station.team().join(&member).await?;
        let mode = if new.plans { Mode::Plan } else { Mode::Review };
        let start = MemberStart { id, resumes: false, mode, model: new.model };
        self.begin(membership.clone(), start, Some(new.prompt)).await.inspect_err(|_| {
            // The name is free again.
            tokio::spawn(async move { membership.set_state(MemberState::Shutdown).await }.boxed());
        })
    }

    /// Starts a member's session and its life.
    async fn begin(
        self: &Arc<Self>,
        membership: Membership,
        start: MemberStart,
        first: Option<String>,
    ) -> Result<(), TeamError> {
        let (options, clock) = (self.config.options.clone(), self.config.clock.clone());
        let (name, session) = (membership.name().to_owned(), start.id.clone());
        let launch = Launch { host: self.host.clone(), options, clock, lead: self.lead_session() };
        let (station, teammate) = launch.launch(membership, start).await?;
        let (lead, own) = (Arc::downgrade(self), name.clone());
        // Held over both: a life that ends at once finds itself here.
        let mut teammates = lock(&self.teammates);
        let life = tokio::spawn(
            async move {
                let departure = teammate.live(first).await;
                tracing::info!(member = own, ?departure, "a teammate has left");
                if let Some(lead) = lead.upgrade() {
                    lock(&lead.teammates).remove(&own);
                    lead.look_soon();
                }
            }
            .boxed(),
        );
        let running = RunningTeammate { session, station, life, host: self.host.clone() };
        let former = teammates.insert(name, running);
        drop(teammates);
        // The end of its session takes other locks.
        drop(former);
        self.look_soon();
        Ok(())
    }

    /// Brings back the teammates that this process's forerunner had, once.
    pub(super) async fn bring_back(self: &Arc<Self>, station: &Station) {
        let mut members = std::mem::take(&mut *lock(&self.forerunners));
        members.retain(|one| one.host.starts_with(TEAMMATE) && one.name != LEAD);
        for member in members {
            let host = format!("{TEAMMATE}{}", std::process::id());
            let back = async {
                let team = station.team();
                let membership = team.rejoin(&member.name, member.epoch, &host).await?;
                // Its journal has a stricter mode and a model of its own.
                let (id, mode) = (member.session.as_str().into(), Mode::Review);
                let start = MemberStart { id, resumes: true, mode, model: None };
                self.begin(membership, start, None).await
            };
            if let Err(error) = back.await {
                tracing::warn!(%error, member = member.name, "a teammate could not be brought back");
            }
        }
    }

    /// Stops a teammate now: its turn is interrupted, and its task returned.
    ///
    /// # Errors
    /// When there is none of this name here.
    pub fn stop(&self, name: &str) -> Result<(), TeamError> {
        let teammates = lock(&self.teammates);
        let Some(teammate) = teammates.get(name) else {
            let names: Vec<&str> = teammates.keys().map(String::as_str).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(format!("There is no teammate {name} here; there are: {there}").into());
        };
        teammate.station.stop();
        Ok(())
    }
}
