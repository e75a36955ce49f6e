//! Claims: which task a member gets, how it keeps, returns and completes it, and what becomes of one whose lease is over.
//!
//! A claim is good while its attempt is the task's last and its member's epoch is the holder's. Every statement names both and
//! counts what it changed.

use crate::board::{BoardTransaction, TransactionFault, each, transaction};
use crate::bundle;
use crate::edge;
use crate::error::BoardFuture;
use crate::error::{BoardError, Result};
use crate::member::{MemberState, Membership, wake_lead};
use crate::message::send;
use crate::task::{COLUMNS, Task, TaskStatus, append_note, of_row, read, wake_freed};
use crate::team::{BOARD, LEAD, log};
use sqlx::Row;

/// One member's hold on one task: the task with the number of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The task.
    pub task: i64,
    /// Its attempt.
    pub attempt: i64,
}

impl Task {
    /// The claim by which its owner holds it.
    pub const fn claim(&self) -> Claim {
        Claim { task: self.number, attempt: self.attempt }
    }
}

/// Reason for which a member gives a task back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReturnReason {
    /// The member stops. Nothing counts, and it may get the task again.
    Leaving,
    /// The member could not do it, with words for the next one. It counts, and the member is not offered the task again.
    Failed(String),
}

const NEXT: &str = "update tasks set status = 'in_progress', owner = $3, holder = $3, epoch = $4, attempt = attempt + 1, lease = $5 \
    where team = $1 and number = (select number from tasks where team = $1 and status = 'pending' and blockers = 0 \
    and (role = '' or role = $2) and not exists \
    (select 1 from returns where returns.team = $1 and returns.task = tasks.number and returns.member = $3) \
    order by number limit 1 {skip locked}) returning ";

const NAMED: &str = "update tasks set status = 'in_progress', owner = $3, holder = $3, epoch = $4, attempt = attempt + 1, lease = $5 \
    where team = $1 and number = $6 and status = 'pending' and blockers = 0 and (role = '' or role = $2) returning ";

impl Membership {
    /// Claims the pending task with the lowest number that waits for nothing and suits the member's role; none if there is
    /// no such task. Tasks whose lease is over are returned first, so they are found too.
    ///
    /// # Errors
    ///
    /// A membership that is over, failures of the database. After [`BoardError::Unreachable`] the claim may have been
    /// made: [`Membership::held`] says so.
    pub fn claim(&self) -> BoardFuture<'_, Option<Task>> {
        Box::pin(async move { self.claim_one(None).await })
    }

    /// Claims one task by its number, also one that this member returned.
    ///
    /// # Errors
    ///
    /// As [`Membership::claim`], and [`BoardError::NotClaimable`].
    pub fn claim_number(&self, number: i64) -> BoardFuture<'_, Task> {
        Box::pin(async move {
            let claimed = self.claim_one(Some(number)).await?;
            claimed.ok_or_else(|| BoardError::NotFound(format!("task #{number}")))
        })
    }

    async fn claim_one(&self, wanted: Option<i64>) -> Result<Option<Task>> {
        transaction!(self.board(), work => {
            let state = self.fence(work).await?;
            return_expired(work, self.team().id).await?;
            let lease = work.lease();
            let statement = format!("{}{COLUMNS}", if wanted.is_some() { NAMED } else { NEXT });
            let statement = work.engine().skipping(&statement);
            let mut query = sqlx::query(statement).bind(self.team().id).bind(self.role()).bind(self.name()).bind(self.epoch()).bind(lease);
            if let Some(number) = wanted {
                query = query.bind(number);
            }
            let row = query.fetch_optional(work.sql()).await?;
            match (row, wanted) {
                (Some(row), _) => {
                    let task = of_row(work, self.team().id, &row).await?;
                    if state != MemberState::Working {
                        sqlx::query("update members set state = 'working' where team = $1 and name = $2")
                            .bind(self.team().id).bind(self.name()).execute(work.sql()).await?;
                    }
                    log(work, self.team().id, Some(task.number), self.name(), "claimed", &format!("attempt {}", task.attempt)).await?;
                    Ok(Some(task))
                }
                (None, Some(number)) => {
                    let task = read(work, self.team().id, number).await?;
                    Err(self.why_not(&task).into())
                }
                (None, None) => Ok(None),
            }
        })
    }

    fn why_not(&self, task: &Task) -> BoardError {
        let number = task.number;
        if !task.blocked_by.is_empty() {
            return BoardError::Blocked { number, waits_for: task.blocked_by.clone() };
        }
        let reason = match (&task.owner, task.status) {
            (Some(owner), TaskStatus::InProgress) => format!("{owner} works on it"),
            (_, TaskStatus::Pending) if !task.role.is_empty() && task.role != self.role() => {
                format!("it is for the role {}", task.role)
            }
            (_, status) => format!("it is {}", status.word()),
        };
        BoardError::NotClaimable { number, reason }
    }

    /// Renews the member's lease and those of its claims, and says which it still holds. To be called each quarter of a
    /// lease while the process lives.
    ///
    /// # Errors
    ///
    /// A membership that is over, failures of the database.
    pub fn renew(&self) -> BoardFuture<'_, Vec<Claim>> {
        Box::pin(async move {
            transaction!(self.board(), work => {
                self.fence(work).await?;
                let lease = work.lease();
                let rows = sqlx::query(
                    "update tasks set lease = $4 where team = $1 and owner = $2 and epoch = $3 and status = 'in_progress' returning number, attempt")
                    .bind(self.team().id).bind(self.name()).bind(self.epoch()).bind(lease).fetch_all(work.sql()).await?;
                each(&rows, |row| Ok(Claim { task: row.try_get("number")?, attempt: row.try_get("attempt")? }))
            })
        })
    }

    /// Tasks that this member holds, by number.
    ///
    /// # Errors
    ///
    /// A membership that is over, failures of the database.
    pub fn held(&self) -> BoardFuture<'_, Vec<Task>> {
        Box::pin(async move {
            transaction!(self.board(), work => {
                self.fence(work).await?;
                self.held_in(work).await
            })
        })
    }

    /// See [`Membership::held`].
    pub(crate) async fn held_in(
        &self,
        work: &mut BoardTransaction,
    ) -> std::result::Result<Vec<Task>, TransactionFault> {
        let sql = format!(
            "select {COLUMNS} from tasks where team = $1 and owner = $2 and epoch = $3 and status = 'in_progress' order by number"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(self.team().id)
            .bind(self.name())
            .bind(self.epoch())
            .fetch_all(work.sql())
            .await?;
        let mut tasks = Vec::new();
        for row in rows {
            tasks.push(of_row(work, self.team().id, &row).await?);
        }
        Ok(tasks)
    }

    /// Completes a task, with the bundle of its changes if it has any, and frees what waited for it. Returns the tasks that
    /// can be claimed now. Asked twice for one claim, it is done once. A claim whose lease is over counts as long as nobody
    /// has claimed the task since.
    ///
    /// # Errors
    ///
    /// [`BoardError::ClaimLost`], [`BoardError::Blocked`], bundles that are too large, a membership that is over, failures
    /// of the database.
    pub fn complete<'a>(
        &'a self,
        claim: Claim,
        summary: &'a str,
        content: Option<&'a [u8]>,
    ) -> BoardFuture<'a, Vec<i64>> {
        Box::pin(async move {
            bundle::check(content)?;
            let team = self.team().id;
            transaction!(self.board(), work => {
                self.fence(work).await?;
                edge::lock_with_dependants(work, team, claim.task).await?;
                let done = sqlx::query(
                    "update tasks set status = 'completed', owner = $3, lease = 0 where team = $1 and number = $2 and holder = $3 \
                     and epoch = $4 and attempt = $5 and blockers = 0 and status in ('in_progress', 'pending', 'failed')")
                    .bind(team).bind(claim.task).bind(self.name()).bind(self.epoch()).bind(claim.attempt)
                    .execute(work.sql()).await?;
                if done.rows_affected() == 0 {
                    return self.why_not_complete(work, claim).await;
                }
                if let Some(content) = content {
                    bundle::insert(work, self, Some(claim), summary, content).await?;
                }
                log(work, team, Some(claim.task), self.name(), "completed", summary).await?;
                let freed = edge::meet(work, team, claim.task).await?;
                wake_freed(work, team, &freed).await?;
                wake_lead(work, team).await?;
                Ok(freed.iter().map(|task| task.number).collect())
            })
        })
    }

    async fn why_not_complete(
        &self,
        work: &mut BoardTransaction,
        claim: Claim,
    ) -> std::result::Result<Vec<i64>, TransactionFault> {
        let task = read(work, self.team().id, claim.task).await?;
        let is_ours = task.attempt == claim.attempt && task.owner.as_deref() == Some(self.name());
        match task.status {
            // The answer to the first call was lost.
            TaskStatus::Completed if is_ours => Ok(Vec::new()),
            TaskStatus::InProgress if is_ours && !task.blocked_by.is_empty() => {
                Err(BoardError::Blocked { number: claim.task, waits_for: task.blocked_by }.into())
            }
            _ => Err(BoardError::ClaimLost(claim.task).into()),
        }
    }

    /// Gives a task back, and says what became of it: pending, or failed when it was returned as such too often.
    ///
    /// # Errors
    ///
    /// [`BoardError::ClaimLost`], a membership that is over, failures of the database.
    pub fn give_back<'a>(
        &'a self,
        claim: Claim,
        reason: &'a ReturnReason,
    ) -> BoardFuture<'a, TaskStatus> {
        Box::pin(async move {
            let team = self.team().id;
            transaction!(self.board(), work => {
                self.fence(work).await?;
                let done = sqlx::query(
                    "update tasks set holder = null where team = $1 and number = $2 and owner = $3 and epoch = $4 and attempt = $5 and status = 'in_progress'")
                    .bind(team).bind(claim.task).bind(self.name()).bind(self.epoch()).bind(claim.attempt).execute(work.sql()).await?;
                if done.rows_affected() == 0 {
                    return Err(BoardError::ClaimLost(claim.task).into());
                }
                let ReturnReason::Failed(words) = reason else {
                    return put_back(work, team, claim.task, self.name(), None).await;
                };
                sqlx::query("insert into returns (team, task, member) values ($1, $2, $3) on conflict do nothing")
                    .bind(team).bind(claim.task).bind(self.name()).execute(work.sql()).await?;
                put_back(work, team, claim.task, self.name(), Some(words)).await
            })
        })
    }
}

/// Returns all tasks of a team whose lease is over. Rows that another is at are left to it. The order is that of the index
/// on leases: by number, PostgreSQL would read all tasks in progress for each claim.
async fn return_expired(
    work: &mut BoardTransaction,
    team: i64,
) -> std::result::Result<(), TransactionFault> {
    let now = work.now;
    let sql = work.engine().skipping(
        "select number, owner from tasks where team = $1 and status = 'in_progress' and lease <= $2 order by lease {skip locked}",
    );
    let rows = sqlx::query(sql).bind(team).bind(now).fetch_all(work.sql()).await?;
    for row in rows {
        let owner: Option<String> = row.try_get("owner")?;
        let owner = owner.unwrap_or_default();
        let words = format!("{owner} was not heard of for a whole lease");
        put_back(work, team, row.try_get("number")?, &owner, Some(&words)).await?;
    }
    Ok(())
}

/// Makes a task pending again. With `failure`, which goes to its notes, that counts; too many make it failed, and the lead
/// is told. The caller has its row locked.
pub(crate) async fn put_back(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
    member: &str,
    failure: Option<&str>,
) -> std::result::Result<TaskStatus, TransactionFault> {
    let row = sqlx::query(
        "update tasks set status = 'pending', owner = null, lease = 0, failures = failures + $3 where team = $1 and number = $2 returning failures")
        .bind(team).bind(number).bind(i64::from(failure.is_some())).fetch_one(work.sql()).await?;
    let failures: i64 = row.try_get("failures")?;
    let freed = edge::recount(work, team, number).await?;
    let Some(words) = failure else {
        log(work, team, Some(number), member, "returned", "").await?;
        wake_freed(work, team, freed.as_slice()).await?;
        return Ok(TaskStatus::Pending);
    };
    append_note(work, team, number, &format!("{member}: {words}")).await?;
    log(work, team, Some(number), member, "failed", words).await?;
    if failures < i64::from(work.options().attempts) {
        wake_freed(work, team, freed.as_slice()).await?;
        return Ok(TaskStatus::Pending);
    }
    sqlx::query("update tasks set status = 'failed' where team = $1 and number = $2")
        .bind(team)
        .bind(number)
        .execute(work.sql())
        .await?;
    let body = format!("Task #{number} failed {failures} times, the last time so: {words}");
    send(work, team, (BOARD, LEAD), "task_failed", &body, None).await?;
    Ok(TaskStatus::Failed)
}
