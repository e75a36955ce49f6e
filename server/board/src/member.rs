//! Members, and the membership by which a living one acts. A membership's epoch is half of every fence: whoever takes the
//! name after it raises the epoch, and the older one is refused from then on.

use crate::board::{Board, BoardTransaction, TransactionFault, each, transaction};
use crate::error::BoardError;
use crate::error::BoardFuture;
use crate::team::{LEAD, Team, check_name, clean, log};
use crate::watch::{MemberWatch, channel};
use sqlx::Row;
use sqlx::any::AnyRow;

/// State of a member, as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberState {
    /// In a turn.
    Working,
    /// Waits for something to do.
    Idle,
    /// Has left. Its name is free.
    Shutdown,
}

impl MemberState {
    /// The board's word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Idle => "idle",
            Self::Shutdown => "shutdown",
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "working" => Self::Working,
            "idle" => Self::Idle,
            _ => Self::Shutdown,
        }
    }
}

/// A member as the board knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name in the team.
    pub name: String,
    /// Its role; empty for none.
    pub role: String,
    /// Its state as it said last.
    pub state: MemberState,
    /// True while its lease runs. A member that works without being alive was killed or is cut off.
    pub is_alive: bool,
    /// Number of the start under this name.
    pub epoch: i64,
    /// Machine and process, in the member's words.
    pub host: String,
    /// Its session.
    pub session: String,
    /// Task it works on.
    pub task: Option<i64>,
    /// Tokens it has used.
    pub tokens: i64,
    /// Cents it has used.
    pub cents: i64,
}

/// Description of a member that joins.
#[derive(Debug, Clone, Default)]
pub struct NewMember {
    /// Name, unique among the living of a team.
    pub name: String,
    /// Role, whose tasks it takes beside those without one; empty for none.
    pub role: String,
    /// Machine and process, for people.
    pub host: String,
    /// Its session.
    pub session: String,
}

/// A living member's right to act, until another start takes the name. Clones are the same member.
#[derive(Debug, Clone)]
pub struct Membership {
    team: Team,
    name: String,
    role: String,
    epoch: i64,
}

impl Team {
    /// Joins as a member that was not there, or is no longer alive.
    ///
    /// # Errors
    ///
    /// A name that is taken or bad, failures of the database.
    pub fn join<'a>(&'a self, member: &'a NewMember) -> BoardFuture<'a, Membership> {
        Box::pin(async move {
            check_name(&member.name)?;
            let epoch = transaction!(&self.board, work => {
                let (now, lease) = (work.now, work.lease());
                let row = sqlx::query(
                    "insert into members (team, name, role, state, epoch, host, session, lease, tokens, cents) \
                     values ($1, $2, $3, 'working', 1, $4, $5, $6, 0, 0) \
                     on conflict (team, name) do update set role = excluded.role, state = 'working', epoch = members.epoch + 1, \
                     host = excluded.host, session = excluded.session, lease = excluded.lease \
                     where members.state = 'shutdown' or members.lease <= $7 returning epoch")
                    .bind(self.id).bind(&member.name).bind(clean(&member.role)).bind(clean(&member.host))
                    .bind(clean(&member.session)).bind(lease).bind(now).fetch_optional(work.sql()).await?;
                let Some(row) = row else { return Err(BoardError::NameTaken(member.name.clone()).into()) };
                log(work, self.id, None, &member.name, "joined", &member.role).await?;
                Ok(row.try_get::<i64, _>("epoch")?)
            })?;
            let role = clean(&member.role);
            Ok(Membership { team: self.clone(), name: member.name.clone(), role, epoch })
        })
    }

    /// Goes on as a member whose process ended, and keeps the tasks that are still its own. `epoch` is that of the
    /// membership that ended; the new one has a greater.
    ///
    /// # Errors
    ///
    /// [`BoardError::Superseded`] if the name was taken since or shut down, failures of the database.
    pub fn rejoin<'a>(
        &'a self,
        name: &'a str,
        epoch: i64,
        host: &'a str,
    ) -> BoardFuture<'a, Membership> {
        Box::pin(async move {
            let (epoch, role) = transaction!(&self.board, work => {
                let lease = work.lease();
                let row = sqlx::query(
                    "update members set epoch = epoch + 1, state = 'working', lease = $4, host = $5 \
                     where team = $1 and name = $2 and epoch = $3 and state <> 'shutdown' returning epoch, role")
                    .bind(self.id).bind(name).bind(epoch).bind(lease).bind(clean(host)).fetch_optional(work.sql()).await?;
                let Some(row) = row else { return Err(BoardError::Superseded(name.to_owned()).into()) };
                let new: i64 = row.try_get("epoch")?;
                sqlx::query("update tasks set epoch = $4, lease = $5 where team = $1 and owner = $2 and epoch = $3 and status = 'in_progress'")
                    .bind(self.id).bind(name).bind(epoch).bind(new).bind(lease).execute(work.sql()).await?;
                log(work, self.id, None, name, "rejoined", host).await?;
                Ok((new, row.try_get::<String, _>("role")?))
            })?;
            Ok(Membership { team: self.clone(), name: name.to_owned(), role, epoch })
        })
    }

    /// All members, by name.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub fn members(&self) -> BoardFuture<'_, Vec<Member>> {
        Box::pin(async move {
            transaction!(&self.board, work => {
                let now = work.now;
                let rows = sqlx::query(
                    "select name, role, state, epoch, host, session, lease, tokens, cents, \
                     (select min(number) from tasks where tasks.team = members.team and owner = members.name and status = 'in_progress') as task \
                     from members where team = $1 order by name")
                    .bind(self.id).fetch_all(work.sql()).await?;
                each(&rows, |row| of_row(row, now))
            })
        })
    }
}

impl Membership {
    /// The member's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The member's role; empty for none.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Number of this start under the name; to be kept for [`Team::rejoin`].
    pub const fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Its team.
    pub const fn team(&self) -> &Team {
        &self.team
    }

    pub(crate) const fn board(&self) -> &Board {
        &self.team.board
    }

    /// Says whether it works or waits, or leaves. Leaving ends the membership; tasks in progress should be returned first.
    ///
    /// # Errors
    ///
    /// A membership that is over, failures of the database.
    pub fn set_state(&self, state: MemberState) -> BoardFuture<'_, ()> {
        Box::pin(async move {
            transaction!(self.board(), work => {
                self.fence(work).await?;
                sqlx::query("update members set state = $3 where team = $1 and name = $2")
                    .bind(self.team.id).bind(&self.name).bind(state.word()).execute(work.sql()).await?;
                if state == MemberState::Shutdown {
                    log(work, self.team.id, None, &self.name, "left", "").await?;
                }
                Ok(())
            })
        })
    }

    /// Adds to what it has used.
    ///
    /// # Errors
    ///
    /// A membership that is over, failures of the database.
    pub fn spend(&self, tokens: i64, cents: i64) -> BoardFuture<'_, ()> {
        Box::pin(async move {
            transaction!(self.board(), work => {
                self.fence(work).await?;
                sqlx::query("update members set tokens = tokens + $3, cents = cents + $4 where team = $1 and name = $2")
                    .bind(self.team.id).bind(&self.name).bind(tokens).bind(cents).execute(work.sql()).await?;
                Ok(())
            })
        })
    }

    /// Signals for this member.
    pub fn watch(&self) -> MemberWatch {
        MemberWatch::new(self.board(), &channel(self.team.id, &self.name))
    }

    /// Refuses a membership that is over. Otherwise keeps others of the name out until the transaction ends, gives the
    /// member's state, and renews its lease once a part of it is gone: a look that wrote each time would be a change that
    /// others look at, and so on without end.
    pub(crate) async fn fence(
        &self,
        work: &mut BoardTransaction,
    ) -> std::result::Result<MemberState, TransactionFault> {
        let lease = work.lease();
        let select = work.engine().locked("select state, lease from members where team = $1 and name = $2 and epoch = $3 and state <> 'shutdown'");
        let row = sqlx::query(select)
            .bind(self.team.id)
            .bind(&self.name)
            .bind(self.epoch)
            .fetch_optional(work.sql())
            .await?;
        let row = row.ok_or_else(|| BoardError::Superseded(self.name.clone()))?;
        let before: i64 = row.try_get("lease")?;
        let is_fresh = (0..work.lease_part()).contains(&lease.saturating_sub(before));
        if !is_fresh {
            sqlx::query("update members set lease = $3 where team = $1 and name = $2")
                .bind(self.team.id)
                .bind(&self.name)
                .bind(lease)
                .execute(work.sql())
                .await?;
        }
        Ok(MemberState::of(&row.try_get::<String, _>("state")?))
    }
}

/// Wakes the lead if it is there. Transactions that wake somebody end one after another on PostgreSQL, and each
/// disturbs all that listen, so none does it for nobody.
pub(crate) async fn wake_lead(
    work: &mut BoardTransaction,
    team: i64,
) -> std::result::Result<(), TransactionFault> {
    let now = work.now;
    let lead = sqlx::query("select name from members where team = $1 and name = $2 and state <> 'shutdown' and lease > $3")
        .bind(team).bind(LEAD).bind(now).fetch_optional(work.sql()).await?;
    if lead.is_some() {
        work.wake(channel(team, LEAD));
    }
    Ok(())
}

/// Reads a member whose lease is held against the database's clock, `now`.
fn of_row(row: &AnyRow, now: i64) -> std::result::Result<Member, sqlx::Error> {
    let state = MemberState::of(&row.try_get::<String, _>("state")?);
    Ok(Member {
        name: row.try_get("name")?,
        role: row.try_get("role")?,
        state,
        is_alive: state != MemberState::Shutdown && row.try_get::<i64, _>("lease")? > now,
        epoch: row.try_get("epoch")?,
        host: row.try_get("host")?,
        session: row.try_get("session")?,
        task: row.try_get("task")?,
        tokens: row.try_get("tokens")?,
        cents: row.try_get("cents")?,
    })
}
