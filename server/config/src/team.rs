//! Configuration of teams: the board, and how many teammates may use how much.

use ropewalk_protocol::SessionLimits;
use std::fmt;
use std::path::PathBuf;

/// The variable that names the board, in place of every file.
pub const BOARD_VARIABLE: &str = "ROPEWALK_BOARD";

/// The most teammates of one lead.
pub const MOST_TEAMMATES: u32 = 7;

/// Configuration of teams.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamConfig {
    /// False if no session may have a team.
    pub enabled: bool,
    /// Where the board lies; `None` means a file in the state folder.
    pub board: Option<BoardAddress>,
    /// Numbers.
    pub bounds: TeamBounds,
}

impl TeamConfig {
    /// The built-in configuration.
    pub(crate) const DEFAULT: TeamConfig =
        TeamConfig { enabled: false, board: None, bounds: TeamBounds::DEFAULT };
}

/// Numbers of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamBounds {
    /// Teammates at a time, of one lead.
    pub teammates: u32,
    /// Seconds for which a claimed task stays claimed without a sign of life.
    pub lease: u32,
    /// Seconds between two looks at the board of a member that waits.
    pub poll: u32,
    /// Seconds without work until a teammate ends.
    pub idle: u32,
    /// Failures of one task until it counts as failed.
    pub attempts: u32,
    /// Turns of the lead in a row that the team may start without the user.
    pub wake: u32,
    /// Tokens of all members together; `SessionLimits::NO_TOKENS` for no budget.
    pub tokens: u32,
    /// US cents of all members together; `SessionLimits::NO_CENTS` for no budget.
    pub cents: u32,
}

impl TeamBounds {
    /// The built-in bounds.
    pub const DEFAULT: TeamBounds = TeamBounds {
        teammates: 4,
        lease: 60,
        poll: 5,
        idle: 60,
        attempts: 3,
        wake: 10,
        tokens: SessionLimits::NO_TOKENS,
        cents: SessionLimits::NO_CENTS,
    };

    /// The budget of all members in tokens, if there is one.
    #[must_use]
    pub fn token_budget(&self) -> Option<u64> {
        (self.tokens != SessionLimits::NO_TOKENS).then(|| self.tokens.into())
    }

    /// The budget of all members in US cents, if there is one.
    #[must_use]
    pub fn cent_budget(&self) -> Option<u64> {
        (self.cents != SessionLimits::NO_CENTS).then(|| self.cents.into())
    }
}

impl Default for TeamBounds {
    fn default() -> Self {
        TeamBounds::DEFAULT
    }
}

/// Where a board lies: an absolute path, or a URL of PostgreSQL that may hold a password. It shows itself without one.
#[derive(Clone, PartialEq, Eq)]
pub struct BoardAddress(String);

impl BoardAddress {
    /// The address of a file.
    pub(crate) fn of_file(path: PathBuf) -> Option<Self> {
        path.into_os_string().into_string().ok().map(Self)
    }

    /// The address in a URL. `None` unless it is one of PostgreSQL with a host or a database in it.
    pub(crate) fn of_url(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"))?;
        let odd = |c: char| c.is_whitespace() || c.is_control() || c == '#';
        (!rest.is_empty() && !rest.contains(odd)).then(|| Self(url.to_owned()))
    }

    /// All of it, as whoever connects needs it. Never to be shown, logged or kept.
    #[must_use]
    pub fn whole(&self) -> &str {
        &self.0
    }

    /// True if it is a database's, so that others may share it.
    #[must_use]
    pub fn is_url(&self) -> bool {
        self.0.contains("://")
    }

    /// Passwords in it, as they are written and as they are meant, and a short one with what stands around it, since
    /// alone it may be in any text. In no text that is shown or kept.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let parts = self.parts();
        let in_query = parts.query.split('&').filter_map(|pair| match pair.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("password") => Some(value),
            _ => None,
        });
        let written = parts.password.into_iter().chain(in_query).filter(|word| !word.is_empty());
        let mut secrets: Vec<String> =
            written.flat_map(|word| [word.to_owned(), percent_decoded(word)]).collect();
        secrets.dedup();
        if let (Some(user), Some(password)) = (parts.user, parts.password) {
            secrets.push(format!("{user}:{password}@{}", parts.place));
        }
        secrets
    }

    fn parts(&self) -> AddressParts<'_> {
        let Some((scheme, rest)) = self.0.split_once("://") else {
            return AddressParts {
                scheme: "",
                user: None,
                password: None,
                place: &self.0,
                query: "",
            };
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        // A password may hold an `@` or a `/` that nobody has escaped.
        let (account, place) = match rest.rsplit_once('@') {
            Some((account, place)) => (Some(account), place),
            None => (None, rest),
        };
        let (user, password) = match account.map(|account| account.split_once(':')) {
            Some(Some((user, password))) => (Some(user), Some(password)),
            _ => (account, None),
        };
        AddressParts { scheme, user, password, place, query }
    }
}

/// Parts of an address.
struct AddressParts<'a> {
    /// Empty for a file.
    scheme: &'a str,
    user: Option<&'a str>,
    password: Option<&'a str>,
    /// Host and database, or the file.
    place: &'a str,
    query: &'a str,
}

impl fmt::Display for BoardAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AddressParts { scheme, user, password, place, query } = self.parts();
        if scheme.is_empty() {
            return f.write_str(place);
        }
        write!(f, "{scheme}://{}", user.unwrap_or_default())?;
        f.write_str(if password.is_some() { ":[key]" } else { "" })?;
        f.write_str(if user.is_some() { "@" } else { "" })?;
        f.write_str(place)?;
        // A query may hold a password too, and nobody needs it to tell boards apart.
        f.write_str(if query.is_empty() { "" } else { "?…" })
    }
}

impl fmt::Debug for BoardAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// A word of a URL without its escapes; what is no escape stays as it is.
fn percent_decoded(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_no_password_however_it_is_written() {
        for (url, shown, secrets) in [
            (
                "postgres://ada:s3cret-words@db.example/team",
                "postgres://ada:[key]@db.example/team",
                vec!["s3cret-words", "ada:s3cret-words@db.example/team"],
            ),
            (
                "postgresql://ada:a%40b%3Ac@db:5432/t",
                "postgresql://ada:[key]@db:5432/t",
                vec!["a%40b%3Ac", "a@b:c", "ada:a%40b%3Ac@db:5432/t"],
            ),
            (
                "postgres://ada:p/w@d@db/t",
                "postgres://ada:[key]@db/t",
                vec!["p/w@d", "ada:p/w@d@db/t"],
            ),
            ("postgres://db/t?user=ada&password=hunter2", "postgres://db/t?…", vec!["hunter2"]),
            ("postgres://ada@db/t", "postgres://ada@db/t", vec![]),
            ("postgres:///t", "postgres:///t", vec![]),
        ] {
            let address = BoardAddress::of_url(url).unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), format!("\"{shown}\""));
            assert_eq!(address.secrets(), secrets, "{url}");
            assert_eq!(address.whole(), url);
        }
        for no_board in ["mysql://a@b/c", "postgres://", "postgres://a b/c", "http://a"] {
            assert_eq!(BoardAddress::of_url(no_board), None, "{no_board}");
        }
    }
}
