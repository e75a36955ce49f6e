//! The two engines, and the few places in which they differ: how to connect, the clock, locks on rows, claims.
//!
//! Every other statement is one text for both, written so that each understands it.

mod files;

use crate::error::{BoardError, Result};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sqlx::any::AnyConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

const IN_PATHS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Place of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoardPlace {
    /// A SQLite file, which is made with its folder if it is not there.
    File(PathBuf),
    /// A PostgreSQL database's URL, which may hold a password: it is in no error.
    Postgres(String),
}

impl BoardPlace {
    /// True if there may be a board: a file is there, or a database is named.
    pub fn exists(&self) -> bool {
        match self {
            Self::File(path) => path.exists(),
            Self::Postgres(_) => true,
        }
    }
}

impl FromStr for BoardPlace {
    type Err = BoardError;

    /// Reads what a user configures: a URL of PostgreSQL, else an absolute path.
    fn from_str(text: &str) -> Result<Self> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let path = Path::new(text);
        if path.is_absolute() {
            return Ok(Self::File(path.to_owned()));
        }
        // The part before an `@` may be a password.
        let shown = text.rsplit_once('@').map_or(text, |(_, place)| place);
        Err(BoardError::BadPlace(shown.to_owned()))
    }
}

/// Kind of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub(crate) const fn of(place: &BoardPlace) -> Self {
        match place {
            BoardPlace::File(_) => Self::Sqlite,
            BoardPlace::Postgres(_) => Self::Postgres,
        }
    }

    /// Opens a transaction that will write. SQLite's takes the write lock at once: one that reads first and writes
    /// later fails when another has written in between.
    pub(crate) const fn begin(self) -> &'static str {
        match self {
            Self::Sqlite => "begin immediate",
            Self::Postgres => "begin",
        }
    }

    /// Opens a transaction as [`Engine::begin`] does and reads the database's clock in milliseconds, on one way there and
    /// back.
    pub(crate) const fn begin_with_clock(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "begin immediate; select cast(unixepoch('subsec') * 1000 as bigint) as now"
            }
            Self::Postgres => {
                "begin; select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now"
            }
        }
    }

    /// Ends a transaction, and wakes those who listen on `channels` in other processes where the database does that.
    pub(crate) fn commit(self, channels: &BTreeSet<String>) -> AssertSqlSafe<String> {
        let quoted: Vec<String> =
            channels.iter().map(|channel| format!("('{}')", channel.replace('\'', "''"))).collect();
        let calls = match self {
            Self::Postgres if !quoted.is_empty() => format!(
                "select count(cast(pg_notify(channel, '') as text)) from (values {}) as woken (channel); ",
                quoted.join(", "),
            ),
            _ => String::new(),
        };
        AssertSqlSafe(calls + "commit")
    }

    /// `select` whose rows are locked until the transaction ends. SQLite has one lock, which is held already.
    pub(crate) fn locked(self, select: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(match self {
            Self::Sqlite => select.to_owned(),
            Self::Postgres => format!("{select} for update"),
        })
    }

    /// `sql` with `{skip locked}` in the place where rows that others have locked are passed over.
    pub(crate) fn skipping(self, sql: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(match self {
            Self::Sqlite => sql.replace("{skip locked}", ""),
            Self::Postgres => sql.replace("{skip locked}", "for update skip locked"),
        })
    }

    /// Type of a column that numbers its rows.
    pub(crate) const fn number(self) -> &'static str {
        match self {
            Self::Sqlite => "integer primary key autoincrement",
            Self::Postgres => "bigint generated always as identity primary key",
        }
    }

    /// Statements for a new connection.
    pub(crate) const fn settings(self) -> &'static str {
        match self {
            // NORMAL is safe against killed processes. After a power cut the last commits may be gone, and their
            // tasks are done again.
            Self::Sqlite => {
                "pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = normal; \
                 pragma mmap_size = 0;"
            }
            Self::Postgres => {
                "set lock_timeout = '5s'; set idle_in_transaction_session_timeout = '30s';"
            }
        }
    }
}

/// Options to connect to `place`; a file's folder is made.
///
/// # Errors
///
/// Network file systems, folders that can't be made, URLs that can't be read.
pub(crate) fn connect_options(place: &BoardPlace) -> Result<AnyConnectOptions> {
    let url = match place {
        BoardPlace::Postgres(url) => url.clone(),
        BoardPlace::File(path) => {
            files::prepare(path)?;
            let Some(text) = path.to_str() else {
                return Err(BoardError::BadPlace(path.display().to_string()));
            };
            format!("sqlite://{}?mode=rwc", utf8_percent_encode(text, IN_PATHS))
        }
    };
    // The error of the parser may repeat the URL, so it is left out.
    let options = AnyConnectOptions::from_str(&url)
        .map_err(|_| BoardError::BadPlace("the given URL".to_owned()))?;
    Ok(options.disable_statement_logging())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_and_no_password_is_told() {
        assert!(matches!("postgres://u:p@h/d".parse(), Ok(BoardPlace::Postgres(_))));
        assert!(matches!("/tmp/board.db".parse(), Ok(BoardPlace::File(_))));
        let error = BoardPlace::from_str("mysql://u:secret@host/d").unwrap_err().to_string();
        assert!(error.contains("host/d") && !error.contains("secret"), "{error}");
    }
}
