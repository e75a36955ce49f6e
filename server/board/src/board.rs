//! A board that is open in this process: its connections, its transactions, and when it is tried again.

use crate::connection::{KeptConnection, OpenConnection, no_answer};
use crate::engine::{self, BoardPlace, Engine};
use crate::error::BoardFuture;
use crate::error::{BoardError, DatabaseFailure, Result, failure};
use crate::schema;
use crate::wake::Wakes;
use futures::future::BoxFuture;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bounds of a board. All members of a team should use the same.
#[derive(Debug, Clone)]
pub struct BoardOptions {
    /// Time for which a member and its claims are held without being renewed.
    pub lease: Duration,
    /// Number of failures at which a task is failed for good.
    pub attempts: u32,
    /// Time after which a call without an answer gives up.
    pub patience: Duration,
}

impl Default for BoardOptions {
    fn default() -> Self {
        Self { lease: Duration::from_secs(60), attempts: 3, patience: Duration::from_secs(20) }
    }
}

/// Most failed starts of one transaction that met others.
const COLLISIONS: u32 = 12;
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A board, open in this process with at most two connections. Clones share them.
#[derive(Clone)]
pub struct Board {
    pub(crate) parts: Arc<BoardParts>,
}

pub(crate) struct BoardParts {
    pub(crate) place: BoardPlace,
    pub(crate) options: BoardOptions,
    pub(crate) wakes: Wakes,
    connection: KeptConnection,
    outage: Mutex<Option<Outage>>,
}

/// Time since which the board could not be reached.
struct Outage {
    until: Instant,
    wait: Duration,
    reason: String,
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The place may hold a password.
        f.debug_struct("Board")
            .field("engine", &self.parts.connection.engine())
            .finish_non_exhaustive()
    }
}

impl Board {
    /// Opens the board at `place`, makes it if there is none, and brings its schema up to now.
    ///
    /// # Errors
    ///
    /// Boards of later versions, network file systems, damaged or read-only files, and no answer.
    pub fn open(place: BoardPlace, options: BoardOptions) -> BoardFuture<'static, Self> {
        Box::pin(async move {
            sqlx::any::install_default_drivers();
            let engine = Engine::of(&place);
            let connect = engine::connect_options(&place)?;
            let connection = KeptConnection::new(connect, engine, options.patience);
            let wakes = Wakes::new(&place);
            let parts = BoardParts { place, options, wakes, connection, outage: Mutex::new(None) };
            let board = Self { parts: Arc::new(parts) };
            board.migrate().await?;
            Ok(board)
        })
    }

    /// Closes the connections after what runs on them. A later call opens one again.
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.parts.wakes.close();
            self.parts.connection.close().await;
        })
    }

    /// The database's name and version, for logs.
    ///
    /// # Errors
    ///
    /// No answer.
    pub fn database(&self) -> BoardFuture<'_, String> {
        Box::pin(async move {
            let (name, sql) = match self.parts.connection.engine() {
                Engine::Sqlite => ("SQLite", "select sqlite_version() as version"),
                Engine::Postgres => {
                    ("PostgreSQL", "select current_setting('server_version') as version")
                }
            };
            transaction!(self, work => {
                let row = sqlx::query(sql).fetch_one(work.sql()).await?;
                Ok(format!("{name} {}", row.try_get::<String, _>("version")?))
            })
        })
    }

    async fn migrate(&self) -> Result<()> {
        let mut tries = Tries::default();
        loop {
            let run = schema::bring_up(&self.parts.connection);
            let error = match tokio::time::timeout(self.parts.options.patience, run).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => schema::refusal(error)?,
                Err(_) => no_answer(),
            };
            if !schema::is_race(&error) || !tries.again().await {
                return Err(self.told(TransactionFault::Sql(error)));
            }
        }
    }

    /// Attempts a transaction until it ends without meeting another, at most [`COLLISIONS`] times.
    pub(crate) async fn retry<'a, T>(
        &'a self,
        attempt: &(dyn Fn() -> BoxFuture<'a, Attempt<T>> + Sync),
    ) -> Result<T> {
        let mut tries = Tries::default();
        loop {
            let ended = tokio::time::timeout(self.parts.options.patience, attempt()).await;
            match ended.unwrap_or(Err(TransactionFault::Sql(no_answer()))) {
                Ok(value) => return Ok(value),
                Err(fault) if fault.is_collision() && tries.again().await => {}
                Err(fault) => return Err(self.told(fault)),
            }
        }
    }

    /// Starts a transaction. Whoever drops it without an end takes it back.
    pub(crate) async fn begin(&self) -> std::result::Result<BoardTransaction, TransactionFault> {
        self.is_due()?;
        let (open, now) = self.parts.connection.begin().await?;
        Ok(BoardTransaction { open, now, board: self.clone(), woken: BTreeSet::new() })
    }

    /// Refuses while the last failure to reach the board is too young.
    fn is_due(&self) -> Result<()> {
        let outage = self.parts.outage.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match outage.as_ref().filter(|outage| now < outage.until) {
            Some(Outage { until, reason, .. }) => {
                Err(BoardError::Unreachable { reason: reason.clone(), retry_in: *until - now })
            }
            None => Ok(()),
        }
    }

    /// Notes that there was no answer, and says so. Several calls that met one outage count once.
    pub(crate) fn is_out(&self, reason: String) -> BoardError {
        let mut outage = self.parts.outage.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let wait = match outage.as_ref() {
            None => SHORTEST_WAIT,
            Some(last) if now < last.until => last.wait,
            Some(last) => (last.wait * 2).min(LONGEST_WAIT),
        };
        *outage = Some(Outage { until: now + wait, wait, reason: reason.clone() });
        BoardError::Unreachable { reason, retry_in: wait }
    }

    fn is_back(&self) {
        *self.parts.outage.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The board's words for what ended a transaction.
    pub(crate) fn told(&self, fault: TransactionFault) -> BoardError {
        let error = match fault {
            TransactionFault::Sql(error) => error,
            TransactionFault::Refused(error) => return error,
        };
        let place = || match &self.parts.place {
            BoardPlace::File(path) => path.display().to_string(),
            BoardPlace::Postgres(_) => "the PostgreSQL server".to_owned(),
        };
        match failure(&error) {
            DatabaseFailure::Connection => self.is_out(reason(&error)),
            DatabaseFailure::ReadOnly => BoardError::ReadOnly(place()),
            DatabaseFailure::DiskFull => BoardError::DiskFull(place()),
            DatabaseFailure::Damaged => BoardError::Damaged(place()),
            DatabaseFailure::Collision | DatabaseFailure::Other => {
                BoardError::Database(error.to_string())
            }
        }
    }
}

fn reason(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            "no answer in time".to_owned()
        }
        other => other.to_string(),
    }
}

/// A transaction. Its statements run on `sql()`; members it wakes are told when it is committed.
pub(crate) struct BoardTransaction {
    open: OpenConnection,
    /// The database's clock as the transaction began, in milliseconds.
    pub(crate) now: i64,
    board: Board,
    woken: BTreeSet<String>,
}

/// Outcome of one attempt at a transaction.
pub(crate) type Attempt<T> = std::result::Result<T, TransactionFault>;

/// Failure inside of a transaction.
#[derive(Debug)]
pub(crate) enum TransactionFault {
    Sql(sqlx::Error),
    Refused(BoardError),
}

impl TransactionFault {
    pub(crate) fn is_collision(&self) -> bool {
        matches!(self, Self::Sql(error) if failure(error) == DatabaseFailure::Collision)
    }

    fn is_outage(&self) -> bool {
        matches!(self, Self::Sql(error) if failure(error) == DatabaseFailure::Connection)
    }
}

impl From<sqlx::Error> for TransactionFault {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<BoardError> for TransactionFault {
    fn from(error: BoardError) -> Self {
        Self::Refused(error)
    }
}

impl BoardTransaction {
    pub(crate) fn engine(&self) -> Engine {
        self.board.parts.connection.engine()
    }

    pub(crate) fn options(&self) -> &BoardOptions {
        &self.board.parts.options
    }

    /// End of a lease that begins now.
    pub(crate) fn lease(&self) -> i64 {
        let lease = i64::try_from(self.options().lease.as_millis()).unwrap_or(i64::MAX);
        self.now.saturating_add(lease)
    }

    /// Milliseconds after which a lease is renewed: less than the quarter in which its owner renews it.
    pub(crate) fn lease_part(&self) -> i64 {
        i64::try_from(self.options().lease.as_millis() / 5).unwrap_or(i64::MAX)
    }

    pub(crate) fn sql(&mut self) -> &mut AnyConnection {
        &mut self.open.connection
    }

    /// Wakes a member, or whoever listens on a team's channel, once this is committed.
    pub(crate) fn wake(&mut self, channel: String) {
        self.woken.insert(channel);
    }

    /// Ends the transaction by what came of it: commits it, or takes everything back.
    pub(crate) async fn end<T>(self, result: Attempt<T>) -> Attempt<T> {
        match result {
            Ok(value) => self.commit().await.map(|()| value),
            Err(fault) => {
                self.roll_back(&fault).await;
                Err(fault)
            }
        }
    }

    /// Commits the transaction; its changes are durable as far as the engine promises.
    async fn commit(mut self) -> std::result::Result<(), TransactionFault> {
        let commit = self.engine().commit(&self.woken);
        sqlx::raw_sql(commit).execute(self.sql()).await?;
        self.open.keep();
        self.board.is_back();
        self.board.parts.wakes.signal(&self.woken);
        Ok(())
    }

    /// Takes everything back. A connection that can't do that is closed, which does it too.
    async fn roll_back(mut self, fault: &TransactionFault) {
        if fault.is_outage() {
            return;
        }
        match sqlx::raw_sql("rollback").execute(self.sql()).await {
            Ok(_) => self.open.keep(),
            Err(error) => tracing::debug!(%error, "a transaction's connection is closed"),
        }
    }
}

/// Reads each row of an answer by `read`.
pub(crate) fn each<T>(
    rows: &[AnyRow],
    read: impl Fn(&AnyRow) -> std::result::Result<T, sqlx::Error>,
) -> std::result::Result<Vec<T>, TransactionFault> {
    Ok(rows.iter().map(read).collect::<std::result::Result<Vec<T>, sqlx::Error>>()?)
}

/// Runs a transaction, again where it met another: `transaction!(board, work => { …; Ok(value) })`. The block may run
/// several times, so it takes nothing out of its surroundings.
macro_rules! transaction {
    ($board:expr, $work:ident => $block:block) => {{
        let board: &$crate::board::Board = $board;
        let attempt = || -> futures::future::BoxFuture<'_, $crate::board::Attempt<_>> {
            Box::pin(async {
                let mut open = board.begin().await?;
                let result: $crate::board::Attempt<_> = async {
                    let $work: &mut $crate::board::BoardTransaction = &mut open;
                    $block
                }
                .await;
                open.end(result).await
            })
        };
        board.retry(&attempt).await
    }};
}
pub(crate) use transaction;

/// Count of starts of one transaction, with short waits that grow between them.
#[derive(Default)]
pub(crate) struct Tries(u32);

impl Tries {
    /// Waits before another start; false when there were enough.
    pub(crate) async fn again(&mut self) -> bool {
        self.0 += 1;
        // Spread by the clock's last digits, so that those who met don't meet again.
        let spread = u64::from(Instant::now().elapsed().subsec_nanos() % 7);
        tokio::time::sleep(Duration::from_millis(u64::from(self.0) * 5 + spread)).await;
        self.0 < COLLISIONS
    }
}
