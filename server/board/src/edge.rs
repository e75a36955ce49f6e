//! Edges between tasks: which waits for which, without circles. An edge is met once the other task is over.

use crate::board::{BoardTransaction, TransactionFault, each};
use crate::error::BoardError;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::collections::{BTreeMap, VecDeque};

type EdgeOutcome<T> = std::result::Result<T, TransactionFault>;

/// Keeps others from adding edges to the team's tasks, so that two can't close a circle together.
pub(crate) async fn lock(work: &mut BoardTransaction, team: i64) -> EdgeOutcome<()> {
    let sql = work.engine().locked("select id from teams where id = $1");
    sqlx::query(sql).bind(team).fetch_one(work.sql()).await?;
    Ok(())
}

/// Locks a task and those that wait for it, by number. A union is quick where `number = … or number in (…)` is not.
pub(crate) async fn lock_with_dependants(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
) -> EdgeOutcome<()> {
    let sql = work.engine().locked(
        "select number from tasks where team = $1 and number in \
         (select cast($2 as bigint) union all select task from edges where team = $1 and waits_for = $2) order by number",
    );
    sqlx::query(sql).bind(team).bind(number).fetch_all(work.sql()).await?;
    Ok(())
}

/// Makes `task` wait for `other`. The caller holds the team's lock.
pub(crate) async fn add(
    work: &mut BoardTransaction,
    team: i64,
    task: i64,
    other: i64,
) -> EdgeOutcome<()> {
    let sql = work.engine().locked(
        "select number, status from tasks where team = $1 and number in ($2, $3) order by number",
    );
    let rows = sqlx::query(sql).bind(team).bind(task).bind(other).fetch_all(work.sql()).await?;
    let mut status: BTreeMap<i64, String> = BTreeMap::new();
    for row in rows {
        status.insert(row.try_get("number")?, row.try_get("status")?);
    }
    for number in [task, other] {
        if !status.contains_key(&number) {
            return Err(BoardError::NotFound(format!("task #{number}")).into());
        }
    }
    let is = |number: &i64, word: &str| status.get(number).is_some_and(|status| status == word);
    for word in ["completed", "cancelled"] {
        if is(&task, word) {
            let reason = "it can't wait any more";
            return Err(BoardError::WrongStatus { number: task, status: word, reason }.into());
        }
    }
    if let Some(path) = circle(work, team, task, other).await? {
        return Err(BoardError::Cycle { path }.into());
    }
    let met = i64::from(is(&other, "completed") || is(&other, "cancelled"));
    sqlx::query("insert into edges (team, task, waits_for, met) values ($1, $2, $3, $4) on conflict do nothing")
        .bind(team).bind(task).bind(other).bind(met).execute(work.sql()).await?;
    recount(work, team, task).await?;
    Ok(())
}

/// Path of the circle that an edge from `task` to `other` would close.
async fn circle(
    work: &mut BoardTransaction,
    team: i64,
    task: i64,
    other: i64,
) -> EdgeOutcome<Option<Vec<i64>>> {
    let waits = sqlx::query("select task from edges where team = $1 and waits_for = $2 limit 1")
        .bind(team)
        .bind(task)
        .fetch_optional(work.sql())
        .await?;
    if waits.is_none() && task != other {
        // Nothing leads to a task that is being made, so a large graph need not be walked for it.
        return Ok(None);
    }
    let rows = sqlx::query(
        "with recursive up (number) as (select cast($2 as bigint) union \
         select edges.waits_for from edges join up on edges.task = up.number where edges.team = $1) \
         select edges.task, edges.waits_for from edges join up on edges.task = up.number where edges.team = $1")
        .bind(team).bind(other).fetch_all(work.sql()).await?;
    let mut edges: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in rows {
        edges.entry(row.try_get("task")?).or_default().push(row.try_get("waits_for")?);
    }
    Ok(path(&edges, other, task).map(|path| [vec![task], path].concat()))
}

/// Shortest way from `from` to `to`, both included.
fn path(edges: &BTreeMap<i64, Vec<i64>>, from: i64, to: i64) -> Option<Vec<i64>> {
    let mut came: BTreeMap<i64, i64> = BTreeMap::from([(from, from)]);
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        if at == to {
            let mut path = vec![to];
            let mut at = to;
            while at != from {
                at = *came.get(&at)?;
                path.insert(0, at);
            }
            return Some(path);
        }
        for next in edges.get(&at).into_iter().flatten() {
            if !came.contains_key(next) {
                came.insert(*next, at);
                open.push_back(*next);
            }
        }
    }
    None
}

/// Pending task that waits for nothing any more.
pub(crate) struct FreedTask {
    pub(crate) number: i64,
    /// Role that must do it; empty for any.
    pub(crate) role: String,
}

/// Reads whether a task is free now, from a row of its number, blockers, status and role.
fn freed(row: &AnyRow) -> std::result::Result<Option<FreedTask>, sqlx::Error> {
    let is_free =
        row.try_get::<i64, _>("blockers")? == 0 && row.try_get::<String, _>("status")? == "pending";
    let (number, role) = (row.try_get("number")?, row.try_get("role")?);
    Ok(is_free.then_some(FreedTask { number, role }))
}

/// Marks the edges to a task that is over as met. Returns the tasks that can now be claimed, by number.
pub(crate) async fn meet(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
) -> EdgeOutcome<Vec<FreedTask>> {
    let rows = sqlx::query(
        "update tasks set blockers = blockers - 1 where team = $1 and number in \
         (select task from edges where team = $1 and waits_for = $2 and met = 0) returning number, blockers, status, role")
        .bind(team).bind(number).fetch_all(work.sql()).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query("update edges set met = 1 where team = $1 and waits_for = $2 and met = 0")
        .bind(team)
        .bind(number)
        .execute(work.sql())
        .await?;
    let mut tasks: Vec<FreedTask> = each(&rows, freed)?.into_iter().flatten().collect();
    tasks.sort_unstable_by_key(|task| task.number);
    Ok(tasks)
}

/// Blocks what waits for a task that is open again. Tasks that are under way or over are left alone.
pub(crate) async fn block_again(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
) -> EdgeOutcome<()> {
    sqlx::query(
        "update tasks set blockers = blockers + 1 where team = $1 and status in ('pending', 'failed') and number in \
         (select task from edges where team = $1 and waits_for = $2 and met = 1)")
        .bind(team).bind(number).execute(work.sql()).await?;
    sqlx::query(
        "update edges set met = 0 where team = $1 and waits_for = $2 and met = 1 and task in \
         (select number from tasks where team = $1 and status in ('pending', 'failed'))",
    )
    .bind(team)
    .bind(number)
    .execute(work.sql())
    .await?;
    Ok(())
}

/// Counts anew what a task waits for, by the status of the others: one may have been opened again meanwhile. Returns the
/// task if it can be claimed now.
pub(crate) async fn recount(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
) -> EdgeOutcome<Option<FreedTask>> {
    sqlx::query(
        "update edges set met = 0 where team = $1 and task = $2 and waits_for in \
         (select number from tasks where team = $1 and status not in ('completed', 'cancelled'))",
    )
    .bind(team)
    .bind(number)
    .execute(work.sql())
    .await?;
    let row = sqlx::query(
        "update tasks set blockers = (select cast(count(*) as bigint) from edges where team = $1 and task = $2 and met = 0) \
         where team = $1 and number = $2 returning number, blockers, status, role")
        .bind(team).bind(number).fetch_one(work.sql()).await?;
    Ok(freed(&row)?)
}

/// Tasks that a task still waits for.
pub(crate) async fn waits_for(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
) -> EdgeOutcome<Vec<i64>> {
    let rows = sqlx::query(
        "select waits_for from edges where team = $1 and task = $2 and met = 0 order by waits_for",
    )
    .bind(team)
    .bind(number)
    .fetch_all(work.sql())
    .await?;
    each(&rows, |row| row.try_get("waits_for"))
}
