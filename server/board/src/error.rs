//! Reasons for which the board refuses or can't be reached, and how a database's errors become them.

use futures::future::BoxFuture;
use std::time::Duration;

/// Result of everything the board does.
pub type Result<T> = std::result::Result<T, BoardError>;

/// Future of everything the board does. Boxed, so that other rooms compile none of its code again.
pub type BoardFuture<'a, T> = BoxFuture<'a, Result<T>>;

/// Refusal of the board. Its words are for people and models alike.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// No answer came. Whether a change was made is unknown; each may be asked for again.
    #[error("The team's board can't be reached ({reason}). It is tried again in {} s.", retry_in.as_secs().max(1))]
    Unreachable {
        /// Words of the database or the system.
        reason: String,
        /// Time until the board tries to connect again. Calls before that fail at once.
        retry_in: Duration,
    },
    /// Another session has this member's name by now, or the member was shut down.
    #[error(
        "{0} is no longer this session's name in the team: it was started anew elsewhere, or shut down."
    )]
    Superseded(String),
    /// A living member has the name.
    #[error(
        "A member named {0} is at work already. Choose another name, or shut that one down first."
    )]
    NameTaken(String),
    /// A name that the board does not take.
    #[error("{0:?} can't be a name: use 1 to 32 of a-z, A-Z, 0-9, '-', '_' and '.'.")]
    BadName(String),
    /// The claim is over: its lease was lost, or the task was given to another since.
    #[error("Task #{0} is no longer yours: its lease ran out, or it was taken back.")]
    ClaimLost(i64),
    /// The task can't be claimed as it stands.
    #[error("Task #{number} can't be claimed: {reason}.")]
    NotClaimable {
        /// The task's number.
        number: i64,
        /// Part of a sentence.
        reason: String,
    },
    /// The task waits for others that are not completed.
    #[error("Task #{number} waits for {}.", numbers(waits_for))]
    Blocked {
        /// The task's number.
        number: i64,
        /// Numbers of the tasks it waits for.
        waits_for: Vec<i64>,
    },
    /// The edge would close a circle, so that none of its tasks could ever start.
    #[error("That would be a circle: {}.", circle(path))]
    Cycle {
        /// Tasks in the order of their waiting: each waits for the next, the last is the first.
        path: Vec<i64>,
    },
    /// The task's status does not allow that.
    #[error("Task #{number} is {status}: {reason}.")]
    WrongStatus {
        /// The task's number.
        number: i64,
        /// Its status, as the board spells it.
        status: &'static str,
        /// Part of a sentence.
        reason: &'static str,
    },
    /// There is no such team, task, member, request or bundle.
    #[error("There is no {0}.")]
    NotFound(String),
    /// The request was answered before, or is not for this member.
    #[error("Request {0} can't be answered: it is answered already, or asked of somebody else.")]
    NotAnswerable(i64),
    /// A text or a bundle is larger than the board takes.
    #[error("{what} has {size} bytes; at most {limit} are taken.")]
    TooLarge {
        /// Subject of the sentence.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The bound in bytes.
        limit: usize,
    },
    /// The board was made by a later version of this program.
    #[error(
        "The team's board was made by a later version of ropewalk (its step {0} is not known here). Update this one."
    )]
    LaterVersion(i64),
    /// SQLite's locks don't hold on network file systems.
    #[error(
        "The team's board can't lie on a network file system ({kind}, {path}). Put the state folder on a local disk, or use PostgreSQL."
    )]
    NetworkFileSystem {
        /// The file system's name in the kernel.
        kind: String,
        /// The folder.
        path: String,
    },
    /// The board's place can't be understood.
    #[error("{0:?} is no place for a board: give postgres://… or a file.")]
    BadPlace(String),
    /// The file can't be written.
    #[error("The team's board can't be written: {0} is read-only, or belongs to somebody else.")]
    ReadOnly(String),
    /// The disk has no room left. Nothing of the change was kept.
    #[error("The team's board can't be written: the disk of {0} is full.")]
    DiskFull(String),
    /// The file is no database, or a damaged one.
    #[error(
        "The team's board in {0} is damaged or is no board. Move the file away to start an empty one."
    )]
    Damaged(String),
    /// Anything else the database said.
    #[error("The team's board failed: {0}")]
    Database(String),
}

fn numbers(tasks: &[i64]) -> String {
    let names: Vec<String> = tasks.iter().map(|task| format!("#{task}")).collect();
    names.join(", ")
}

fn circle(path: &[i64]) -> String {
    let names: Vec<String> = path.iter().map(|task| format!("#{task}")).collect();
    names.join(" waits for ")
}

/// Meaning of a database's error for the one who runs a transaction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DatabaseFailure {
    /// The transaction met another and may be run again at once.
    Collision,
    /// The connection is of no use.
    Connection,
    ReadOnly,
    DiskFull,
    Damaged,
    Other,
}

/// Reads the kind of an error out of its code: SQLite's numbers, PostgreSQL's five characters.
pub(crate) fn failure(error: &sqlx::Error) -> DatabaseFailure {
    match error {
        sqlx::Error::Database(error) => {
            error.code().map_or(DatabaseFailure::Other, |code| of_code(&code))
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => DatabaseFailure::Connection,
        _ => DatabaseFailure::Other,
    }
}

fn of_code(code: &str) -> DatabaseFailure {
    match code {
        "40001" | "40P01" | "55P03" => return DatabaseFailure::Collision,
        "53100" => return DatabaseFailure::DiskFull,
        "25006" => return DatabaseFailure::ReadOnly,
        "XX001" | "XX002" => return DatabaseFailure::Damaged,
        // Shutting down, starting up, database dropped, idle too long (in or out of a transaction), transaction too long,
        // too many connections.
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03" | "25P04" | "53300" => {
            return DatabaseFailure::Connection;
        }
        _ if code.len() == 5 && code.starts_with("08") => return DatabaseFailure::Connection,
        _ if code.len() == 5 => return DatabaseFailure::Other,
        _ => {}
    }
    // The low byte is the primary code; the rest says more.
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(5 | 6) => DatabaseFailure::Collision,
        Ok(8 | 14 | 3) => DatabaseFailure::ReadOnly,
        Ok(13) => DatabaseFailure::DiskFull,
        Ok(11 | 26) => DatabaseFailure::Damaged,
        _ => DatabaseFailure::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_both_engines_have_their_meaning() {
        let cases = [
            ("5", DatabaseFailure::Collision),
            ("517", DatabaseFailure::Collision),
            ("40001", DatabaseFailure::Collision),
            ("55P03", DatabaseFailure::Collision),
            ("8", DatabaseFailure::ReadOnly),
            ("1032", DatabaseFailure::ReadOnly),
            ("14", DatabaseFailure::ReadOnly),
            ("13", DatabaseFailure::DiskFull),
            ("53100", DatabaseFailure::DiskFull),
            ("11", DatabaseFailure::Damaged),
            ("26", DatabaseFailure::Damaged),
            ("57P01", DatabaseFailure::Connection),
            ("08006", DatabaseFailure::Connection),
            ("23505", DatabaseFailure::Other),
            ("19", DatabaseFailure::Other),
        ];
        for (code, meaning) in cases {
            assert_eq!(of_code(code), meaning, "{code}");
        }
    }

    #[test]
    fn a_cycle_is_told_by_its_path() {
        let error = BoardError::Cycle { path: vec![3, 1, 3] };
        assert_eq!(error.to_string(), "That would be a circle: #3 waits for #1 waits for #3.");
    }
}
