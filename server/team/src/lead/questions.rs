//! News of the team for front ends, and the user's questions about it.

use super::Lead;
use crate::error::TeamError;
use crate::lock;
use crate::report::{member, message, task};
use crate::station::Station;
use crate::words::{LETTER, PAGE};
use futures::future::BoxFuture;
use ropewalk_board::{LEAD, Member, RequestKind, RequestState};
use ropewalk_protocol::{BoardTask, Event, Level, TeamMember, TeamMessage, TeamRoster, TeamState};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most lines of the log that are read at one look.
const LINES: i64 = 500;

/// Most characters of a message that are shown.
const SHOWN: usize = 500;

impl Lead {
    /// Tells front ends what has changed since the last look.
    pub(crate) async fn report(&self, station: &Station) -> Result<(), TeamError> {
        let mut told = self.told().lock().await;
        // Asked before the members are read: a turn that ends meanwhile may have taken one.
        let is_at_rest = !self.is_working();
        let team = station.team();
        let members: Vec<TeamMember> = self.listed(&team.members().await?);
        if members != told.members {
            told.members.clone_from(&members);
            self.tell(Event::Team { members: members.clone() });
        }
        let lines = team.log(told.log, LINES).await?;
        let changed: BTreeSet<i64> = lines.iter().filter_map(|line| line.task).collect();
        for number in changed {
            self.tell(Event::BoardTask(task(&team.task(number).await?)));
        }
        told.log = lines.last().map_or(told.log, |line| line.number);
        for one in station.membership.inbox(100).await? {
            if one.number > told.message {
                told.message = one.number;
                let body: String = one.body.chars().take(SHOWN).collect();
                let kind = match one.kind.as_str() {
                    LETTER | "left" => String::new(),
                    kind => {
                        let number = one.request.map(|id| format!(" {id}")).unwrap_or_default();
                        format!(" ({}{number})", kind.replace('_', " "))
                    }
                };
                let message = format!("{} to you{kind}: {body}", one.from);
                self.tell(Event::Notice { level: Level::Info, message });
            }
        }
        let counts = team.counts().await?;
        let is_left = |one: &TeamMember| {
            one.name != LEAD && matches!(one.state, TeamState::Working | TeamState::Idle)
        };
        // Where the process ends, whoever ends it says what is left.
        let is_over = lock(&self.turns).is_over;
        let wants = counts.pending > 0
            && counts.in_progress == 0
            && !is_over
            && !members.iter().any(is_left);
        if wants && !told.knows_want && is_at_rest {
            let tasks = match counts.pending {
                1 => "1 task of the team waits".to_owned(),
                several => format!("{several} tasks of the team wait"),
            };
            let message = format!(
                "{tasks}, and no member is left to do this. Ask for a teammate, or start `ropewalk worker --team {}`.",
                station.identity.team
            );
            self.tell(Event::Notice { level: Level::Warning, message });
        }
        told.knows_want = wants && (told.knows_want || is_at_rest);
        Ok(())
    }

    /// A page of the board's tasks, and whether there are more. Opens no board that is not open.
    ///
    /// # Errors
    /// When there is no team, or the board can't be reached.
    pub fn tasks(
        &self,
        page: Option<u32>,
    ) -> BoxFuture<'_, Result<(Vec<BoardTask>, bool), TeamError>> {
        Box::pin(async move {
            let station = self.opened()?;
            let after = i64::from(page.unwrap_or(1).max(1) - 1).saturating_mul(PAGE);
            let mut tasks = station.team().tasks(after, PAGE + 1).await?;
            let most = usize::try_from(PAGE).unwrap_or(usize::MAX);
            let has_more = tasks.len() > most;
            tasks.truncate(most);
            Ok((tasks.iter().map(task).collect(), has_more))
        })
    }

    /// The team's name and its members.
    ///
    /// # Errors
    /// When there is no team, or the board can't be reached.
    pub fn roster(&self) -> BoxFuture<'_, Result<TeamRoster, TeamError>> {
        Box::pin(async move {
            let station = self.opened()?;
            let members = self.listed(&station.team().members().await?);
            Ok(TeamRoster { team: station.team().name().to_owned(), members })
        })
    }

    /// Messages to the lead that its model has not read.
    ///
    /// # Errors
    /// When there is no team, or the board can't be reached.
    pub fn inbox(&self) -> BoxFuture<'_, Result<Vec<TeamMessage>, TeamError>> {
        Box::pin(async move {
            let unread = self.opened()?.membership.inbox(100).await?;
            Ok(unread.into_iter().map(message).collect())
        })
    }

    /// The last plan of each living member that waits for an answer: who has submitted it, and its words.
    ///
    /// # Errors
    /// When there is no team, or the board can't be reached.
    pub fn open_plans(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, TeamError>> {
        Box::pin(async move {
            let station = self.opened()?;
            let mut plans = Vec::new();
            for member in station.team().members().await?.into_iter().filter(|one| one.is_alive) {
                let last = station.team().last_plan(&member.name).await?;
                plans.extend(last.filter(|plan| plan.state == RequestState::Open));
            }
            Ok(plans.into_iter().map(|plan| (plan.from, plan.body)).collect())
        })
    }

    /// The user's answer to a plan.
    ///
    /// # Errors
    /// When no such plan waits, or the board can't be reached.
    pub fn answer_plan<'a>(
        &'a self,
        request: u64,
        approve: bool,
        words: &'a str,
    ) -> BoxFuture<'a, Result<(), TeamError>> {
        Box::pin(async move {
            let station = self.opened()?;
            let id = i64::try_from(request).unwrap_or(i64::MAX);
            if station.team().request(id).await?.kind != RequestKind::Plan {
                return Err(format!("Request {id} is not a plan").into());
            }
            Ok(station.membership.answer(id, approve, words).await?)
        })
    }

    /// The members as front ends have them, the lead first.
    fn listed(&self, members: &[Member]) -> Vec<TeamMember> {
        let mut sessions: BTreeMap<String, Arc<str>> = self.sessions().into_iter().collect();
        sessions.insert(LEAD.to_owned(), self.config.session.clone());
        let named = |one: &Member| member(one, sessions.get(&one.name).cloned().map(Into::into));
        let mut all: Vec<TeamMember> = members.iter().map(named).collect();
        all.sort_by_key(|one| one.name != LEAD);
        all
    }

    fn opened(&self) -> Result<Arc<Station>, TeamError> {
        self.known()
            .ok_or_else(|| "There is no team here yet: ask for teammates or tasks first".into())
    }
}
