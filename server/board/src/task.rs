//! Tasks: made, listed, looked at, noted upon, cancelled and started anew. Work on them is in `claim`.

use crate::board::{BoardTransaction, TransactionFault, each, transaction};
use crate::edge::{self, FreedTask};
use crate::error::BoardFuture;
use crate::error::{BoardError, Result};
use crate::team::{Team, clean, log};
use crate::watch::channel;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

/// Most bytes of a task's description or notes.
const MAX_TEXT: usize = 256 * 1024;

/// Status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStatus {
    /// Waits for a member, or for other tasks.
    Pending,
    /// A member works on it.
    InProgress,
    /// Done.
    Completed,
    /// Failed too often. What waits for it stays blocked.
    Failed,
    /// Nobody needs it any more. What waited for it waits no longer.
    Cancelled,
}

impl TaskStatus {
    /// The board's word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            _ => Self::Cancelled,
        }
    }
}

/// A task as the board has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its number in the team.
    pub number: i64,
    /// One line.
    pub subject: String,
    /// More, for who does it.
    pub description: String,
    /// Lines that were added since.
    pub notes: String,
    /// Role that must do it; empty for any.
    pub role: String,
    /// Its status.
    pub status: TaskStatus,
    /// Name of the member that works on it, or has completed it.
    pub owner: Option<String>,
    /// Number of claims so far; part of the fence.
    pub attempt: i64,
    /// Number of failures that count.
    pub failures: i64,
    /// Tasks it still waits for.
    pub blocked_by: Vec<i64>,
}

/// Description of a new task.
#[derive(Debug, Clone, Default)]
pub struct NewTask {
    /// One line.
    pub subject: String,
    /// More, for who does it.
    pub description: String,
    /// Role that must do it; empty for any.
    pub role: String,
    /// Tasks it waits for.
    pub blocked_by: Vec<i64>,
}

pub(crate) const COLUMNS: &str =
    "number, subject, description, notes, role, status, owner, attempt, failures, blockers";

impl Team {
    /// Makes a task. `by` is who wants it, for the log.
    ///
    /// # Errors
    ///
    /// Unknown tasks to wait for, texts that are too large, failures of the database.
    pub fn create<'a>(&'a self, by: &'a str, new: &'a NewTask) -> BoardFuture<'a, Task> {
        Box::pin(async move {
            check_text("The task", new.subject.len() + new.description.len())?;
            transaction!(&self.board, work => {
                edge::lock(work, self.id).await?;
                let row = sqlx::query("update teams set next_task = next_task + 1 where id = $1 returning next_task - 1 as number")
                    .bind(self.id).fetch_one(work.sql()).await?;
                let number: i64 = row.try_get("number")?;
                sqlx::query(
                    "insert into tasks (team, number, subject, description, notes, role, status, epoch, attempt, blockers, failures, lease) \
                     values ($1, $2, $3, $4, '', $5, 'pending', 0, 0, 0, 0, 0)")
                    .bind(self.id).bind(number).bind(clean(&new.subject)).bind(clean(&new.description)).bind(clean(&new.role))
                    .execute(work.sql()).await?;
                for other in &new.blocked_by {
                    edge::add(work, self.id, number, *other).await?;
                }
                log(work, self.id, Some(number), by, "created", &new.subject).await?;
                let task = read(work, self.id, number).await?;
                if task.blocked_by.is_empty() {
                    let mut idle = idle(work, self.id).await?;
                    wake_one(work, self.id, &mut idle, &task.role);
                }
                Ok(task)
            })
        })
    }

    /// The task `number`.
    ///
    /// # Errors
    ///
    /// An unknown number, failures of the database.
    pub fn task(&self, number: i64) -> BoardFuture<'_, Task> {
        Box::pin(
            async move { transaction!(&self.board, work => { read(work, self.id, number).await }) },
        )
    }

    /// Tasks after the one numbered `after`, by number, at most `limit`.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn tasks(&self, after: i64, limit: i64) -> BoardFuture<'_, Vec<Task>> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let sql = format!("select {COLUMNS} from tasks where team = $1 and number > $2 order by number limit $3");
                let rows = sqlx::query(AssertSqlSafe(sql)).bind(self.id).bind(after).bind(limit).fetch_all(work.sql()).await?;
                let mut tasks = Vec::new();
                for row in rows {
                    tasks.push(of_row(work, self.id, &row).await?);
                }
                Ok(tasks)
            })
        })
    }

    /// Makes the task `number` wait for `other`.
    ///
    /// # Errors
    ///
    /// [`BoardError::Cycle`] with its path, unknown or finished tasks, failures of the database.
    pub fn add_edge<'a>(&'a self, by: &'a str, number: i64, other: i64) -> BoardFuture<'a, ()> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                edge::lock(work, self.id).await?;
                edge::add(work, self.id, number, other).await?;
                log(work, self.id, Some(number), by, "waits", &format!("for #{other}")).await?;
                Ok(())
            })
        })
    }

    /// Adds a line to a task's notes.
    ///
    /// # Errors
    ///
    /// An unknown number, notes that grow too large, failures of the database.
    pub fn note<'a>(&'a self, by: &'a str, number: i64, text: &'a str) -> BoardFuture<'a, ()> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let task = read(work, self.id, number).await?;
                check_text("The task with its notes", task.notes.len() + text.len())?;
                append_note(work, self.id, number, &format!("{by}: {text}")).await?;
                log(work, self.id, Some(number), by, "noted", "").await?;
                Ok(())
            })
        })
    }

    /// Cancels a task that is not completed. Who works on it can't complete it any more, and what waited for it is free.
    ///
    /// # Errors
    ///
    /// An unknown or completed task, failures of the database.
    pub fn cancel<'a>(&'a self, by: &'a str, number: i64) -> BoardFuture<'a, ()> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                edge::lock_with_dependants(work, self.id, number).await?;
                let task = read(work, self.id, number).await?;
                match task.status {
                    TaskStatus::Completed => return Err(wrong(&task, "it is done already").into()),
                    TaskStatus::Cancelled => return Ok(()),
                    _ => {}
                }
                sqlx::query("update tasks set status = 'cancelled', owner = null, holder = null, lease = 0 where team = $1 and number = $2")
                    .bind(self.id).bind(number).execute(work.sql()).await?;
                log(work, self.id, Some(number), by, "cancelled", "").await?;
                let freed = edge::meet(work, self.id, number).await?;
                wake_freed(work, self.id, &freed).await?;
                Ok(())
            })
        })
    }

    /// Starts a failed or cancelled task anew, without its failures, and offers it to everybody again.
    ///
    /// # Errors
    ///
    /// Tasks of another status, failures of the database.
    pub fn restart<'a>(&'a self, by: &'a str, number: i64) -> BoardFuture<'a, ()> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                edge::lock_with_dependants(work, self.id, number).await?;
                let task = read(work, self.id, number).await?;
                match task.status {
                    TaskStatus::Pending => return Ok(()),
                    TaskStatus::InProgress => return Err(wrong(&task, "its owner must return it first").into()),
                    TaskStatus::Completed => return Err(wrong(&task, "make a new task for what is left to do").into()),
                    TaskStatus::Failed | TaskStatus::Cancelled => {}
                }
                sqlx::query("delete from returns where team = $1 and task = $2")
                    .bind(self.id).bind(number).execute(work.sql()).await?;
                sqlx::query("update tasks set status = 'pending', failures = 0, owner = null, holder = null where team = $1 and number = $2")
                    .bind(self.id).bind(number).execute(work.sql()).await?;
                edge::block_again(work, self.id, number).await?;
                let freed = edge::recount(work, self.id, number).await?;
                log(work, self.id, Some(number), by, "restarted", "").await?;
                wake_freed(work, self.id, freed.as_slice()).await?;
                Ok(())
            })
        })
    }
}

fn wrong(task: &Task, reason: &'static str) -> BoardError {
    BoardError::WrongStatus { number: task.number, status: task.status.word(), reason }
}

fn check_text(what: &'static str, size: usize) -> Result<()> {
    match size {
        size if size > MAX_TEXT => Err(BoardError::TooLarge { what, size, limit: MAX_TEXT }),
        _ => Ok(()),
    }
}

/// Adds a line to a task's notes.
pub(crate) async fn append_note(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
    line: &str,
) -> std::result::Result<(), TransactionFault> {
    sqlx::query("update tasks set notes = notes || $3 where team = $1 and number = $2")
        .bind(team)
        .bind(number)
        .bind(clean(&format!("{line}\n")))
        .execute(work.sql())
        .await?;
    Ok(())
}

/// Reads one task.
pub(crate) async fn read(
    work: &mut BoardTransaction,
    team: i64,
    number: i64,
) -> std::result::Result<Task, TransactionFault> {
    let sql = format!("select {COLUMNS} from tasks where team = $1 and number = $2");
    let row =
        sqlx::query(AssertSqlSafe(sql)).bind(team).bind(number).fetch_optional(work.sql()).await?;
    match row {
        Some(row) => of_row(work, team, &row).await,
        None => Err(BoardError::NotFound(format!("task #{number}")).into()),
    }
}

/// Reads a task from a row with [`COLUMNS`].
pub(crate) async fn of_row(
    work: &mut BoardTransaction,
    team: i64,
    row: &AnyRow,
) -> std::result::Result<Task, TransactionFault> {
    let number = row.try_get("number")?;
    let blocked_by = match row.try_get::<i64, _>("blockers")? {
        0 => Vec::new(),
        _ => edge::waits_for(work, team, number).await?,
    };
    Ok(Task {
        number,
        subject: row.try_get("subject")?,
        description: row.try_get("description")?,
        notes: row.try_get("notes")?,
        role: row.try_get("role")?,
        status: TaskStatus::of(&row.try_get::<String, _>("status")?),
        owner: row.try_get("owner")?,
        attempt: row.try_get("attempt")?,
        failures: row.try_get("failures")?,
        blocked_by,
    })
}

/// Wakes an idle member for each of these tasks.
pub(crate) async fn wake_freed(
    work: &mut BoardTransaction,
    team: i64,
    tasks: &[FreedTask],
) -> std::result::Result<(), TransactionFault> {
    let mut idle = if tasks.is_empty() { Vec::new() } else { idle(work, team).await? };
    for task in tasks {
        wake_one(work, team, &mut idle, &task.role);
    }
    Ok(())
}

/// Names and roles of the members that wait, those that were heard of last first.
async fn idle(
    work: &mut BoardTransaction,
    team: i64,
) -> std::result::Result<Vec<(String, String)>, TransactionFault> {
    let now = work.now;
    let rows = sqlx::query("select name, role from members where team = $1 and state = 'idle' and lease > $2 order by lease desc, name")
        .bind(team).bind(now).fetch_all(work.sql()).await?;
    each(&rows, |row| Ok((row.try_get("name")?, row.try_get("role")?)))
}

/// Wakes one idle member for a task that became free: all of them at once would queue for nothing.
fn wake_one(work: &mut BoardTransaction, team: i64, idle: &mut Vec<(String, String)>, role: &str) {
    if let Some(at) = idle.iter().position(|(_, own)| role.is_empty() || own == role) {
        let (name, _) = idle.swap_remove(at);
        work.wake(channel(team, &name));
    }
}
