//! Bundles: what a member has changed, from its completion until the lead's server has taken it in. Their content is bytes
//! here.

use crate::board::{BoardTransaction, TransactionFault, each, transaction};
use crate::claim::{Claim, put_back};
use crate::edge;
use crate::error::BoardFuture;
use crate::error::{BoardError, Result};
use crate::member::{Membership, wake_lead};
use crate::task::TaskStatus;
use crate::team::{LEAD, Team, clean, log};
use sqlx::Row;
use sqlx::any::AnyRow;

/// Most bytes of a bundle's content.
pub const MAX_BUNDLE: usize = 16 * 1024 * 1024;

/// State of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleState {
    /// Waits for the lead's server.
    Waiting,
    /// Is in the lead's review, or was.
    Taken,
    /// Did not fit any more.
    Refused,
}

/// A bundle without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleRecord {
    /// Its number; bundles of tasks that wait for each other have theirs in the order of completion.
    pub number: i64,
    /// Its task and attempt; none for changes that were made without a task.
    pub claim: Option<Claim>,
    /// Name of the member that made it.
    pub member: String,
    /// Account of what was done, in the member's words.
    pub summary: String,
    /// Its state.
    pub state: BundleState,
}

impl Team {
    /// Bundles that wait to be taken in, in the order in which that is to happen, at most `limit`.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn waiting_bundles(&self, limit: i64) -> BoardFuture<'_, Vec<BundleRecord>> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let rows = sqlx::query(
                    "select number, task, attempt, member, summary, state from bundles where team = $1 and state = 'waiting' order by number limit $2")
                    .bind(self.id).bind(limit).fetch_all(work.sql()).await?;
                each(&rows, of_row)
            })
        })
    }

    /// Bundles of all tasks that `task` has waited for, also through others, in order of completion. Of a task that was done
    /// more than once the last counts; refused ones are left out.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn bundles_before(&self, task: i64) -> BoardFuture<'_, Vec<BundleRecord>> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let rows = sqlx::query(
                    "with recursive up (number) as (select waits_for from edges where team = $1 and task = $2 union \
                     select edges.waits_for from edges join up on edges.task = up.number where edges.team = $1) \
                     select bundles.number, bundles.task, bundles.attempt, bundles.member, bundles.summary, bundles.state \
                     from bundles join up on bundles.task = up.number \
                     join tasks on tasks.team = bundles.team and tasks.number = bundles.task and tasks.attempt = bundles.attempt \
                     where bundles.team = $1 and tasks.status = 'completed' and bundles.state <> 'refused' order by bundles.number")
                    .bind(self.id).bind(task).fetch_all(work.sql()).await?;
                each(&rows, of_row)
            })
        })
    }

    /// A bundle's content.
    ///
    /// # Errors
    ///
    /// An unknown number, failures of the database.
    pub fn bundle_content(&self, number: i64) -> BoardFuture<'_, Vec<u8>> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let row = sqlx::query("select content from bundles where team = $1 and number = $2")
                    .bind(self.id).bind(number).fetch_optional(work.sql()).await?;
                let row = row.ok_or_else(|| BoardError::NotFound(format!("bundle {number}")))?;
                Ok(row.try_get::<Vec<u8>, _>("content")?)
            })
        })
    }

    /// Notes that a bundle is in the lead's review. False if it was no longer waiting: then nothing is changed.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn take_bundle(&self, number: i64) -> BoardFuture<'_, bool> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let row = settle(work, self.id, number, "taken").await?;
                if let Some(bundle) = &row {
                    log(work, self.id, bundle.claim.map(|claim| claim.task), LEAD, "taken", &format!("bundle {number}")).await?;
                }
                Ok(row.is_some())
            })
        })
    }

    /// Offers a bundle that was taken once more: the lead's review has it no longer. `attempt` is its number if it was made
    /// without a task. False if there is none such.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn offer_again<'a>(
        &'a self,
        member: &'a str,
        task: Option<i64>,
        attempt: i64,
    ) -> BoardFuture<'a, bool> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let done = sqlx::query(
                    "update bundles set state = 'waiting' where team = $1 and member = $2 and state = 'taken' \
                     and ((task = $3 and attempt = $4) or (task is null and number = $5))")
                    .bind(self.id).bind(member).bind(task.unwrap_or(-1)).bind(attempt)
                    .bind(if task.is_none() { attempt } else { -1 }).execute(work.sql()).await?;
                wake_lead(work, self.id).await?;
                Ok(done.rows_affected() > 0)
            })
        })
    }

    /// Refuses a waiting bundle that does not fit any more. Its task, unless it was done again since, is pending again with
    /// `note` (or failed, if that happened too often), and what waits for it is blocked again. Says what became of the task.
    ///
    /// # Errors
    ///
    /// A bundle that is not waiting, failures of the database.
    pub fn refuse_bundle<'a>(
        &'a self,
        number: i64,
        note: &'a str,
    ) -> BoardFuture<'a, Option<TaskStatus>> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let bundle = settle(work, self.id, number, "refused").await?;
                let bundle = bundle.ok_or_else(|| BoardError::NotFound(format!("waiting bundle {number}")))?;
                let Some(claim) = bundle.claim else { return Ok(None) };
                edge::lock_with_dependants(work, self.id, claim.task).await?;
                let done = sqlx::query(
                    "update tasks set status = 'pending', holder = null where team = $1 and number = $2 and attempt = $3 and status = 'completed'")
                    .bind(self.id).bind(claim.task).bind(claim.attempt).execute(work.sql()).await?;
                if done.rows_affected() == 0 {
                    return Ok(None);
                }
                edge::block_again(work, self.id, claim.task).await?;
                Ok(Some(put_back(work, self.id, claim.task, &bundle.member, Some(note)).await?))
            })
        })
    }
}

impl Membership {
    /// Hands over changes that were made without a task. Returns the bundle's number.
    ///
    /// # Errors
    ///
    /// Bundles that are too large, a membership that is over, failures of the database.
    pub fn hand_over<'a>(&'a self, summary: &'a str, content: &'a [u8]) -> BoardFuture<'a, i64> {
        Box::pin(async move {
            check(Some(content))?;
            transaction!(self.board(), work => {
                self.fence(work).await?;
                let number = insert(work, self, None, summary, content).await?;
                log(work, self.team().id, None, self.name(), "handed over", summary).await?;
                Ok(number)
            })
        })
    }
}

/// Refuses a content that is too large.
pub(crate) fn check(content: Option<&[u8]>) -> Result<()> {
    match content.map_or(0, <[u8]>::len) {
        size if size > MAX_BUNDLE => {
            Err(BoardError::TooLarge { what: "The bundle", size, limit: MAX_BUNDLE })
        }
        _ => Ok(()),
    }
}

/// Puts a bundle on the board and wakes the lead.
pub(crate) async fn insert(
    work: &mut BoardTransaction,
    member: &Membership,
    claim: Option<Claim>,
    summary: &str,
    content: &[u8],
) -> std::result::Result<i64, TransactionFault> {
    let team = member.team().id;
    let row = sqlx::query(
        "insert into bundles (team, task, attempt, member, summary, content, state) values ($1, $2, $3, $4, $5, $6, 'waiting') returning number")
        .bind(team).bind(claim.map(|claim| claim.task)).bind(claim.map_or(0, |claim| claim.attempt))
        .bind(member.name()).bind(clean(summary)).bind(content).fetch_one(work.sql()).await?;
    wake_lead(work, team).await?;
    Ok(row.try_get("number")?)
}

async fn settle(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
    state: &'static str,
) -> std::result::Result<Option<BundleRecord>, TransactionFault> {
    let row = sqlx::query(
        "update bundles set state = $3 where team = $1 and number = $2 and state = 'waiting' \
         returning number, task, attempt, member, summary, state",
    )
    .bind(team)
    .bind(number)
    .bind(state)
    .fetch_optional(work.sql())
    .await?;
    Ok(row.map(|row| of_row(&row)).transpose()?)
}

fn of_row(row: &AnyRow) -> std::result::Result<BundleRecord, sqlx::Error> {
    let (task, attempt): (Option<i64>, i64) = (row.try_get("task")?, row.try_get("attempt")?);
    Ok(BundleRecord {
        number: row.try_get("number")?,
        claim: task.map(|task| Claim { task, attempt }),
        member: row.try_get("member")?,
        summary: row.try_get("summary")?,
        state: match row.try_get::<String, _>("state")?.as_str() {
            "waiting" => BundleState::Waiting,
            "taken" => BundleState::Taken,
            _ => BundleState::Refused,
        },
    })
}
