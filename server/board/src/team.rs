//! A team on the board: what anybody who looks at it may do, member or not.

use crate::board::{Board, BoardTransaction, each, transaction};
use crate::error::BoardFuture;
use crate::error::{BoardError, Result};
use crate::watch::{MemberWatch, channel};
use sqlx::Row;
use sqlx::any::AnyRow;

/// Name of the member that leads a team.
pub const LEAD: &str = "lead";
/// Sender of what the board itself tells.
pub const BOARD: &str = "board";

/// A team. Clones are the same team.
#[derive(Debug, Clone)]
pub struct Team {
    pub(crate) board: Board,
    pub(crate) id: i64,
    name: String,
}

/// Number of a team's tasks by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskCounts {
    /// Tasks that wait for a member or for others.
    pub pending: i64,
    /// Pending tasks that wait for no other.
    pub ready: i64,
    /// Tasks that a member works on.
    pub in_progress: i64,
    /// Tasks that are done.
    pub completed: i64,
    /// Tasks that failed for good.
    pub failed: i64,
    /// Tasks that nobody needs any more.
    pub cancelled: i64,
}

/// Line of a team's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its number; later lines have greater ones.
    pub number: i64,
    /// Milliseconds since 1970 by the database's clock.
    pub at: i64,
    /// The task it is about.
    pub task: Option<i64>,
    /// Name of the one that did it.
    pub member: String,
    /// One word for what happened.
    pub event: String,
    /// More about it, for people.
    pub detail: String,
}

impl Board {
    /// The team `name`, made if there is none. `lead` is the session that leads a new team, `roots` names its folders.
    ///
    /// # Errors
    ///
    /// Bad names, and failures of the database.
    pub fn team<'a>(
        &'a self,
        name: &'a str,
        lead: &'a str,
        roots: &'a str,
    ) -> BoardFuture<'a, Team> {
        Box::pin(async move {
            check_name(name)?;
            let id = transaction!(self, work => {
                sqlx::query("insert into teams (name, lead, roots, next_task) values ($1, $2, $3, 1) on conflict (name) do nothing")
                    .bind(name).bind(clean(lead)).bind(clean(roots)).execute(work.sql()).await?;
                let row = sqlx::query("select id from teams where name = $1").bind(name).fetch_one(work.sql()).await?;
                Ok(row.try_get::<i64, _>("id")?)
            })?;
            Ok(Team { board: self.clone(), id, name: name.to_owned() })
        })
    }

    /// The team `name` if it is there.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn find_team<'a>(&'a self, name: &'a str) -> BoardFuture<'a, Option<Team>> {
        Box::pin(async move {
            let id = transaction!(self, work => {
                let row = sqlx::query("select id from teams where name = $1").bind(clean(name)).fetch_optional(work.sql()).await?;
                Ok(row.map(|row| row.try_get::<i64, _>("id")).transpose()?)
            })?;
            Ok(id.map(|id| Team { board: self.clone(), id, name: name.to_owned() }))
        })
    }

    /// The team that a session leads, if it leads one.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn led_by<'a>(&'a self, session: &'a str) -> BoardFuture<'a, Option<Team>> {
        Box::pin(async move {
            let found = transaction!(self, work => {
                let row = sqlx::query("select id, name from teams where lead = $1 order by id desc limit 1")
                    .bind(clean(session)).fetch_optional(work.sql()).await?;
                Ok(row.map(|row| Ok::<_, sqlx::Error>((row.try_get::<i64, _>("id")?, row.try_get::<String, _>("name")?))).transpose()?)
            })?;
            Ok(found.map(|(id, name)| Team { board: self.clone(), id, name }))
        })
    }

    /// Names of all teams on this board.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn team_names(&self) -> BoardFuture<'_, Vec<String>> {
        Box::pin(async move {
            transaction!(self, work => {
                let rows = sqlx::query("select name from teams order by name").fetch_all(work.sql()).await?;
                each(&rows, |row| row.try_get("name"))
            })
        })
    }
}

impl Team {
    /// The team's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The session that leads the team.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn lead_session(&self) -> BoardFuture<'_, String> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let row = sqlx::query("select lead from teams where id = $1").bind(self.id).fetch_one(work.sql()).await?;
                Ok(row.try_get("lead")?)
            })
        })
    }

    /// The names of its folders, one a line.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn roots(&self) -> BoardFuture<'_, String> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let row = sqlx::query("select roots from teams where id = $1").bind(self.id).fetch_one(work.sql()).await?;
                Ok(row.try_get("roots")?)
            })
        })
    }

    /// Gives the team another leading session.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn adopt<'a>(&'a self, session: &'a str) -> BoardFuture<'a, ()> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                sqlx::query("update teams set lead = $2 where id = $1").bind(self.id).bind(clean(session)).execute(work.sql()).await?;
                log(work, self.id, None, LEAD, "adopted", session).await?;
                Ok(())
            })
        })
    }

    /// Number of tasks by status.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn counts(&self) -> BoardFuture<'_, TaskCounts> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let rows = sqlx::query(
                    "select status, cast(count(*) as bigint) as number, cast(sum(case when blockers = 0 then 1 else 0 end) as bigint) as free \
                     from tasks where team = $1 group by status")
                    .bind(self.id).fetch_all(work.sql()).await?;
                let mut counts = TaskCounts::default();
                for row in rows {
                    let number: i64 = row.try_get("number")?;
                    match row.try_get::<String, _>("status")?.as_str() {
                        "pending" => (counts.pending, counts.ready) = (number, row.try_get("free")?),
                        "in_progress" => counts.in_progress = number,
                        "completed" => counts.completed = number,
                        "failed" => counts.failed = number,
                        _ => counts.cancelled = number,
                    }
                }
                Ok(counts)
            })
        })
    }

    /// Lines of the log after the one numbered `after`, at most `limit`.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn log(&self, after: i64, limit: i64) -> BoardFuture<'_, Vec<LogEntry>> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let rows = sqlx::query("select number, at, task, member, event, detail from log where team = $1 and number > $2 order by number limit $3")
                    .bind(self.id).bind(after).bind(limit).fetch_all(work.sql()).await?;
                each(&rows, of_row)
            })
        })
    }

    /// Signals for the member `name`. It need not be one yet.
    pub fn watch(&self, name: &str) -> MemberWatch {
        MemberWatch::new(&self.board, &channel(self.id, name))
    }
}

fn of_row(row: &AnyRow) -> std::result::Result<LogEntry, sqlx::Error> {
    Ok(LogEntry {
        number: row.try_get("number")?,
        at: row.try_get("at")?,
        task: row.try_get("task")?,
        member: row.try_get("member")?,
        event: row.try_get("event")?,
        detail: row.try_get("detail")?,
    })
}

/// Adds a line to the log.
pub(crate) async fn log(
    work: &mut BoardTransaction,
    team: i64,
    task: Option<i64>,
    member: &str,
    event: &str,
    detail: &str,
) -> std::result::Result<(), sqlx::Error> {
    let now = work.now;
    sqlx::query(
        "insert into log (at, team, task, member, event, detail) values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(now)
    .bind(team)
    .bind(task)
    .bind(member)
    .bind(event)
    .bind(clean(detail))
    .execute(work.sql())
    .await?;
    Ok(())
}

/// A text without the character that PostgreSQL's texts can't hold.
pub(crate) fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Refuses what can't name a team or a member.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if (1..=32).contains(&name.len()) && name.bytes().all(is_plain) {
        return Ok(());
    }
    Err(BoardError::BadName(name.chars().take(40).collect()))
}
