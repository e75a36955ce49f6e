//! The board's numbered migrations, and the refusal of a board that a later version has made.
//!
//! One text serves both engines; only the column that numbers rows is spelled differently.

use crate::connection::KeptConnection;
use crate::engine::Engine;
use crate::error::{BoardError, DatabaseFailure, failure};
use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, Connection, SqlSafeStr};
use std::borrow::Cow;

const STEPS: &[(i64, &str, &str)] = &[(1, "board", include_str!("sql/0001_board.sql"))];

/// Brings a board to this version's schema. The connection is kept where that works, and closed where it fails: the
/// migrator's lock may still be with it.
pub(crate) async fn bring_up(kept: &KeptConnection) -> std::result::Result<(), MigrateError> {
    let engine = kept.engine();
    let mut connection = kept.connect_once().await?;
    match engine {
        // The migrator takes no lock there, so this transaction's does.
        Engine::Sqlite => {
            let mut open = connection.begin_with(engine.begin()).await?;
            migrate(&mut *open, engine.number()).await?;
            // Nothing is written, and yet it fails where nothing can be: such a file is opened and locked without a word.
            sqlx::raw_sql("delete from log where 1 = 0").execute(&mut *open).await?;
            open.commit().await?;
        }
        Engine::Postgres => migrate(&mut connection, engine.number()).await?,
    }
    kept.put(connection).await;
    Ok(())
}

async fn migrate<C: Migrate>(
    connection: &mut C,
    number: &str,
) -> std::result::Result<(), MigrateError> {
    let steps = STEPS.iter().map(|(version, name, sql)| {
        let sql = AssertSqlSafe(sql.replace("{number}", number)).into_sql_str();
        Migration::new(*version, Cow::Borrowed(name), MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(steps.collect()).run_direct(None, connection, false).await
}

/// Tells a later version's board from other failures.
pub(crate) fn refusal(error: MigrateError) -> std::result::Result<sqlx::Error, BoardError> {
    match error {
        MigrateError::VersionMissing(version)
        | MigrateError::VersionMismatch(version)
        | MigrateError::VersionNotPresent(version)
        | MigrateError::VersionTooNew(version, _) => Err(BoardError::LaterVersion(version)),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => Ok(error),
        other => Err(BoardError::Database(other.to_string())),
    }
}

/// True if a migration only met another process's: it is run again.
pub(crate) fn is_race(error: &sqlx::Error) -> bool {
    // Two first starts on PostgreSQL create the migrator's own table at once, before its lock is taken.
    let is_twice = error
        .as_database_error()
        .is_some_and(|error| matches!(error.code().as_deref(), Some("23505" | "42P07" | "42710")));
    is_twice || failure(error) == DatabaseFailure::Collision
}
