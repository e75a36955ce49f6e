//! Messages between members. Each is kept until its receiver has marked it as read, so a crash repeats one and
//! loses none.

use crate::board::{BoardTransaction, TransactionFault, each, transaction};
use crate::error::BoardFuture;
use crate::error::{BoardError, Result};
use crate::member::Membership;
use crate::team::{Team, clean};
use crate::watch::channel;
use sqlx::Row;
use sqlx::any::AnyRow;

/// Most bytes of a message.
pub const MAX_MESSAGE: usize = 256 * 1024;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardMessage {
    /// Its number on the board.
    pub number: i64,
    /// Sender, by the board's knowledge; [`BOARD`](crate::BOARD) for the board itself.
    pub from: String,
    /// One word for what it is: `message`, `broadcast`, the kind of a request or of an answer, `task_failed`.
    pub kind: String,
    /// Its text.
    pub body: String,
    /// The request it asks or answers.
    pub request: Option<i64>,
}

impl Team {
    /// Unread messages of a member, the oldest first, at most `limit`, for somebody who only looks.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn unread<'a>(&'a self, name: &'a str, limit: i64) -> BoardFuture<'a, Vec<BoardMessage>> {
        Box::pin(async move {
            transaction!(&self.board, work => { unread(work, self.id, name, limit).await })
        })
    }

    /// Sends a message as `from`, who need not be a member: the user, or a worker that has no name yet. The caller
    /// vouches for it.
    ///
    /// # Errors
    ///
    /// A receiver that is no member, a text that is too large, failures of the database.
    pub fn post<'a>(
        &'a self,
        from: &'a str,
        to: &'a str,
        kind: &'a str,
        body: &'a str,
    ) -> BoardFuture<'a, i64> {
        Box::pin(async move {
            check_body(body)?;
            transaction!(&self.board, work => {
                deliver(work, self.id, (from, to), kind, body).await
            })
        })
    }
}

impl Membership {
    /// Sends a message in this member's name.
    ///
    /// # Errors
    ///
    /// As [`Team::post`], and a membership that is over.
    pub fn send<'a>(&'a self, to: &'a str, kind: &'a str, body: &'a str) -> BoardFuture<'a, i64> {
        Box::pin(async move {
            check_body(body)?;
            transaction!(self.board(), work => {
                self.fence(work).await?;
                deliver(work, self.team().id, (self.name(), to), kind, body).await
            })
        })
    }

    /// Sends one message to each other member that was not shut down, and says to whom.
    ///
    /// # Errors
    ///
    /// A text that is too large, a membership that is over, failures of the database.
    pub fn broadcast<'a>(&'a self, body: &'a str) -> BoardFuture<'a, Vec<String>> {
        Box::pin(async move {
            check_body(body)?;
            transaction!(self.board(), work => {
                self.fence(work).await?;
                let rows = sqlx::query("select name from members where team = $1 and name <> $2 and state <> 'shutdown' order by name")
                    .bind(self.team().id).bind(self.name()).fetch_all(work.sql()).await?;
                let names: Vec<String> = each(&rows, |row| row.try_get("name"))?;
                for name in &names {
                    send(work, self.team().id, (self.name(), name), "broadcast", body, None).await?;
                }
                Ok(names)
            })
        })
    }

    /// This member's unread messages, the oldest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// A membership that is over, failures of the database.
    pub fn inbox(&self, limit: i64) -> BoardFuture<'_, Vec<BoardMessage>> {
        Box::pin(async move {
            transaction!(self.board(), work => {
                self.fence(work).await?;
                unread(work, self.team().id, self.name(), limit).await
            })
        })
    }

    /// Marks messages of this member as read. Each is named: one that is committed later may have a smaller number.
    ///
    /// # Errors
    ///
    /// A membership that is over, failures of the database.
    pub fn mark_read<'a>(&'a self, numbers: &'a [i64]) -> BoardFuture<'a, ()> {
        Box::pin(async move {
            transaction!(self.board(), work => {
                self.fence(work).await?;
                let now = work.now;
                for number in numbers {
                    sqlx::query("update messages set read_at = $4 where team = $1 and receiver = $2 and number = $3 and read_at is null")
                        .bind(self.team().id).bind(self.name()).bind(number).bind(now).execute(work.sql()).await?;
                }
                Ok(())
            })
        })
    }
}

/// See [`Team::unread`].
pub(crate) async fn unread(
    work: &mut BoardTransaction,
    team: i64,
    name: &str,
    limit: i64,
) -> std::result::Result<Vec<BoardMessage>, TransactionFault> {
    let rows = sqlx::query("select number, sender, kind, body, request from messages where team = $1 and receiver = $2 and read_at is null order by number limit $3")
        .bind(team).bind(clean(name)).bind(limit).fetch_all(work.sql()).await?;
    each(&rows, of_row)
}

fn check_body(body: &str) -> Result<()> {
    match body.len() {
        size if size > MAX_MESSAGE => {
            Err(BoardError::TooLarge { what: "The message", size, limit: MAX_MESSAGE })
        }
        _ => Ok(()),
    }
}

/// Sends a message to a name that must be a member's.
async fn deliver(
    work: &mut BoardTransaction,
    team: i64,
    (from, to): (&str, &str),
    kind: &str,
    body: &str,
) -> std::result::Result<i64, TransactionFault> {
    let known = sqlx::query("select name from members where team = $1 and name = $2")
        .bind(team)
        .bind(to)
        .fetch_optional(work.sql())
        .await?;
    if known.is_none() {
        return Err(BoardError::NotFound(format!("member {to}")).into());
    }
    Ok(send(work, team, (from, to), kind, body, None).await?)
}

fn of_row(row: &AnyRow) -> std::result::Result<BoardMessage, sqlx::Error> {
    Ok(BoardMessage {
        number: row.try_get("number")?,
        from: row.try_get("sender")?,
        kind: row.try_get("kind")?,
        body: row.try_get("body")?,
        request: row.try_get("request")?,
    })
}

/// Puts a message on the board, from the first name to the second, and wakes its receiver.
pub(crate) async fn send(
    work: &mut BoardTransaction,
    team: i64,
    (from, to): (&str, &str),
    kind: &str,
    body: &str,
    request: Option<i64>,
) -> std::result::Result<i64, sqlx::Error> {
    let row = sqlx::query("insert into messages (team, receiver, sender, kind, body, request) values ($1, $2, $3, $4, $5, $6) returning number")
        .bind(team).bind(to).bind(clean(from)).bind(clean(kind)).bind(clean(body)).bind(request)
        .fetch_one(work.sql()).await?;
    work.wake(channel(team, to));
    row.try_get("number")
}
