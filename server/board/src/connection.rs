//! A board's one connection: kept between transactions, and made anew where it was lost.
//!
//! No pool keeps it: a pool would ask the database before and after each transaction whether it is there, two of eight round
//! trips. Here the first statement of a transaction finds out.

use crate::engine::Engine;
use crate::error::{DatabaseFailure, failure};
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection, Row};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Most time in which a transaction begins, with the wait for the one before it and for a server that is starting.
const PATIENCE: Duration = Duration::from_secs(10);
/// Times between two tries to connect to a server that is not up yet.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The connection of a board, for one transaction after the other.
pub(crate) struct KeptConnection {
    options: AnyConnectOptions,
    engine: Engine,
    patience: Duration,
    /// The connection while no transaction uses it.
    slot: Arc<Mutex<Option<AnyConnection>>>,
}

/// A connection in a transaction. Dropping it closes the connection in the background, and so takes everything back.
pub(crate) struct OpenConnection {
    pub(crate) connection: AnyConnection,
    slot: OwnedMutexGuard<Option<AnyConnection>>,
}

impl OpenConnection {
    /// Keeps the connection for the next transaction; this one is over.
    pub(crate) fn keep(mut self) {
        *self.slot = Some(self.connection);
    }
}

impl KeptConnection {
    pub(crate) fn new(options: AnyConnectOptions, engine: Engine, patience: Duration) -> Self {
        Self { options, engine, patience: patience.min(PATIENCE), slot: Arc::default() }
    }

    pub(crate) const fn engine(&self) -> Engine {
        self.engine
    }

    /// Opens a connection, without a second try.
    pub(crate) async fn connect_once(&self) -> Result<AnyConnection, sqlx::Error> {
        let mut connection = self.options.connect().await?;
        sqlx::raw_sql(self.engine.settings()).execute(&mut connection).await?;
        Ok(connection)
    }

    /// Keeps an opened connection for the next transaction.
    pub(crate) async fn put(&self, connection: AnyConnection) {
        *self.slot.lock().await = Some(connection);
    }

    /// Begins a transaction, and reads the database's clock in milliseconds.
    pub(crate) async fn begin(&self) -> Result<(OpenConnection, i64), sqlx::Error> {
        tokio::time::timeout(self.patience, self.begin_when_it_can())
            .await
            .unwrap_or_else(|_| Err(no_answer()))
    }

    async fn begin_when_it_can(&self) -> Result<(OpenConnection, i64), sqlx::Error> {
        let mut slot = Arc::clone(&self.slot).lock_owned().await;
        if let Some(mut connection) = slot.take() {
            match begin(&mut connection, self.engine).await {
                Ok(now) => return Ok((OpenConnection { connection, slot }, now)),
                Err(error) if failure(&error) == DatabaseFailure::Collision => return Err(error),
                // Nothing was begun. A connection that was idle may have been ended by anybody, for any reason.
                Err(error) => tracing::debug!(%error, "a board's connection is made anew"),
            }
        }
        let mut connection = self.connect().await?;
        let now = begin(&mut connection, self.engine).await?;
        Ok((OpenConnection { connection, slot }, now))
    }

    /// Connects, and waits for a server that is starting.
    async fn connect(&self) -> Result<AnyConnection, sqlx::Error> {
        let mut wait = SHORTEST_WAIT;
        loop {
            match self.connect_once().await {
                Err(error) if is_starting(&error) => {}
                ended => return ended,
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Closes the connection after what runs on it.
    pub(crate) async fn close(&self) {
        if let Some(connection) = self.slot.lock().await.take()
            && let Err(error) = connection.close().await
        {
            tracing::debug!(%error, "a board's connection is dropped");
        }
    }
}

async fn begin(connection: &mut AnyConnection, engine: Engine) -> Result<i64, sqlx::Error> {
    let rows = sqlx::raw_sql(engine.begin_with_clock()).fetch_all(connection).await?;
    rows.last().ok_or(sqlx::Error::RowNotFound)?.try_get("now")
}

fn is_starting(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        sqlx::Error::Database(_) => failure(error) == DatabaseFailure::Connection,
        _ => false,
    }
}

/// The error for no answer in time.
pub(crate) fn no_answer() -> sqlx::Error {
    sqlx::Error::Io(io::ErrorKind::TimedOut.into())
}
