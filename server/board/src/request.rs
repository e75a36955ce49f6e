//! Requests that need an answer: to shut down, and to approve a plan. Asking and answering each send a message too, in the
//! same transaction.

use crate::board::{BoardTransaction, TransactionFault, each, transaction};
use crate::error::BoardError;
use crate::error::BoardFuture;
use crate::member::Membership;
use crate::message::{MAX_MESSAGE, send};
use crate::team::{Team, clean, log};
use sqlx::Row;
use sqlx::any::AnyRow;

/// Subject of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// The receiver is to stop.
    Shutdown,
    /// The receiver is to approve a plan.
    Plan,
}

impl RequestKind {
    /// The board's word for it, which is also the kind of the message that asks; the one that answers has `_response`
    /// behind it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shutdown => "shutdown",
            Self::Plan => "plan",
        }
    }
}

/// State of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// Nobody has answered.
    Open,
    /// Answered with yes.
    Approved,
    /// Answered with no.
    Refused,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamRequest {
    /// Its number on the board.
    pub id: i64,
    /// Its subject.
    pub kind: RequestKind,
    /// Name of the member that asked.
    pub from: String,
    /// Name of the member that is to answer.
    pub to: String,
    /// Text to be answered, such as the plan.
    pub body: String,
    /// Answer that it has had, if any.
    pub state: RequestState,
    /// Words of the answer.
    pub answer: String,
}

impl Team {
    /// The request `id`.
    ///
    /// # Errors
    ///
    /// An unknown number, failures of the database.
    pub fn request(&self, id: i64) -> BoardFuture<'_, TeamRequest> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let row = sqlx::query("select id, kind, asker, receiver, body, state, answer from requests where team = $1 and id = $2")
                    .bind(self.id).bind(id).fetch_optional(work.sql()).await?;
                let row = row.ok_or_else(|| BoardError::NotFound(format!("request {id}")))?;
                Ok(of_row(&row)?)
            })
        })
    }

    /// The last plan that the member `asker` has submitted since it joined.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn last_plan<'a>(&'a self, asker: &'a str) -> BoardFuture<'a, Option<TeamRequest>> {
        Box::pin(async move {
            let detail: Option<String> = transaction!(&self.board, work => {
                // An earlier member of this name had plans of its own.
                let row = sqlx::query(
                    "select detail from log where team = $1 and member = $2 and event = 'asked' and detail like '%: plan %' and number > \
                     (select coalesce(max(number), 0) from log where team = $1 and member = $2 and event = 'joined') order by number desc limit 1")
                    .bind(self.id).bind(clean(asker)).fetch_optional(work.sql()).await?;
                Ok(row.map(|row| row.try_get("detail")).transpose()?)
            })?;
            let id = detail.and_then(|words| words.rsplit(' ').next()?.parse().ok());
            match id {
                Some(id) => self.request(id).await.map(Some),
                None => Ok(None),
            }
        })
    }

    /// Open requests to the member `to`, the oldest first.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn open_requests<'a>(&'a self, to: &'a str) -> BoardFuture<'a, Vec<TeamRequest>> {
        Box::pin(
            async move { transaction!(&self.board, work => { open_to(work, self.id, to).await }) },
        )
    }
}

impl Membership {
    /// Asks a member for something. Returns the request's number.
    ///
    /// # Errors
    ///
    /// A receiver that is no member, a text that is too large, a membership that is over, failures of the database.
    pub fn ask<'a>(
        &'a self,
        kind: RequestKind,
        to: &'a str,
        body: &'a str,
    ) -> BoardFuture<'a, i64> {
        Box::pin(async move {
            if body.len() > MAX_MESSAGE {
                let (what, size, limit) = ("The request", body.len(), MAX_MESSAGE);
                return Err(BoardError::TooLarge { what, size, limit });
            }
            let team = self.team().id;
            transaction!(self.board(), work => {
                self.fence(work).await?;
                let row = sqlx::query(
                    "insert into requests (team, kind, asker, receiver, body, state, answer) select $1, $2, $3, name, $5, 'open', '' \
                     from members where team = $1 and name = $4 returning id")
                    .bind(team).bind(kind.word()).bind(self.name()).bind(to).bind(clean(body)).fetch_optional(work.sql()).await?;
                let row = row.ok_or_else(|| BoardError::NotFound(format!("member {to}")))?;
                let id: i64 = row.try_get("id")?;
                send(work, team, (self.name(), to), kind.word(), body, Some(id)).await?;
                log(work, team, None, self.name(), "asked", &format!("{to}: {} {id}", kind.word())).await?;
                Ok(id)
            })
        })
    }

    /// Answers a request to this member, once.
    ///
    /// # Errors
    ///
    /// [`BoardError::NotAnswerable`], a text that is too large, a membership that is over, failures of the database.
    pub fn answer<'a>(&'a self, id: i64, approve: bool, words: &'a str) -> BoardFuture<'a, ()> {
        Box::pin(async move {
            if words.len() > MAX_MESSAGE {
                let (what, size, limit) = ("The answer", words.len(), MAX_MESSAGE);
                return Err(BoardError::TooLarge { what, size, limit });
            }
            let team = self.team().id;
            let state = if approve { "approved" } else { "refused" };
            transaction!(self.board(), work => {
                self.fence(work).await?;
                let row = sqlx::query(
                    "update requests set state = $4, answer = $5 where team = $1 and id = $2 and receiver = $3 and state = 'open' returning kind, asker")
                    .bind(team).bind(id).bind(self.name()).bind(state).bind(clean(words)).fetch_optional(work.sql()).await?;
                let row = row.ok_or(BoardError::NotAnswerable(id))?;
                let (kind, asker): (String, String) = (row.try_get("kind")?, row.try_get("asker")?);
                let body = if words.is_empty() { state.to_owned() } else { format!("{state}: {words}") };
                send(work, team, (self.name(), &asker), &format!("{kind}_response"), &body, Some(id)).await?;
                log(work, team, None, self.name(), state, &format!("{kind} {id} of {asker}")).await?;
                Ok(())
            })
        })
    }
}

/// See [`Team::open_requests`].
pub(crate) async fn open_to(
    work: &mut BoardTransaction,
    team: i64,
    to: &str,
) -> std::result::Result<Vec<TeamRequest>, TransactionFault> {
    let rows = sqlx::query(
        "select id, kind, asker, receiver, body, state, answer from requests where team = $1 and receiver = $2 and state = 'open' order by id")
        .bind(team).bind(clean(to)).fetch_all(work.sql()).await?;
    each(&rows, of_row)
}

fn of_row(row: &AnyRow) -> std::result::Result<TeamRequest, sqlx::Error> {
    Ok(TeamRequest {
        id: row.try_get("id")?,
        kind: match row.try_get::<String, _>("kind")?.as_str() {
            "shutdown" => RequestKind::Shutdown,
            _ => RequestKind::Plan,
        },
        from: row.try_get("asker")?,
        to: row.try_get("receiver")?,
        body: row.try_get("body")?,
        state: match row.try_get::<String, _>("state")?.as_str() {
            "open" => RequestState::Open,
            "approved" => RequestState::Approved,
            _ => RequestState::Refused,
        },
        answer: row.try_get("answer")?,
    })
}
