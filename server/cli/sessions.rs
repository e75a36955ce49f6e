//! `ropewalk sessions`: the sessions that are kept, listed, shown, exported, renamed, deleted and pruned.
//!
//! Changing them is the journal's work; here it is asked for, and said. All words from outside are made
//! harmless for a terminal.

mod prune;
mod table;

use crate::exit::{CliExit, UsageError};
use crate::plain::{plain, plain_json, plain_line, say};
use crate::setup;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use prune::PruneArgs;
pub(crate) use prune::{in_units, prune_in_background};
use ropewalk_agent::journal::store::SessionListing;
use ropewalk_agent::{SessionError, Sessions};
use ropewalk_workspace::Roots;
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Arguments of `ropewalk sessions`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: ListArgs,
}

/// Which sessions are listed, and how.
#[derive(Args)]
struct ListArgs {
    /// List those of all folders.
    #[arg(long, conflicts_with = "root")]
    all: bool,
    /// List those of this folder instead of the current one. May be given more than once.
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Print one session a line, as JSON.
    #[arg(long)]
    json: bool,
}

/// Actions on one of them. Its number in the list will do everywhere, and the start of its id.
#[derive(Subcommand)]
enum Action {
    /// Print a session as Markdown.
    Show {
        /// Its number in the list, or the start of its id.
        id: String,
    },
    /// Write a session as Markdown into a new file, for its owner alone.
    Export {
        /// Its number in the list, or the start of its id.
        id: String,
        /// The file, which must not exist.
        file: PathBuf,
    },
    /// Give a session a name.
    Rename {
        /// Its number in the list, or the start of its id.
        id: String,
        /// Its new name.
        title: String,
    },
    /// Delete a session, with the whole outputs of its calls.
    Delete {
        /// Its number in the list, or the start of its id.
        id: String,
        /// Delete it also if changes of it wait to be accepted or saved.
        #[arg(long)]
        yes: bool,
    },
    /// Delete the sessions that are too old or too many; none in use, and none with changes that wait.
    Prune(PruneArgs),
}

/// The longest title that can be given, in characters.
const LONGEST_TITLE: usize = 200;
/// The longest number of a session, in digits.
const LONGEST_NUMBER: usize = 4;
/// The longest text that can be an id.
const LONGEST_ID: usize = 64;

/// Does what is asked for. `flags` are those of `-c`.
pub(crate) fn sessions(args: SessionsArgs, flags: Vec<String>) -> anyhow::Result<CliExit> {
    let sessions = setup::sessions().context(setup::NO_HOME)?;
    match args.action {
        None => list(&sessions, args.list)?,
        Some(Action::Show { id }) => print(&plain(&markdown(&sessions, &id)?)),
        Some(Action::Export { id, file }) => export(&sessions, &id, &file)?,
        Some(Action::Rename { id, title }) => rename(&sessions, &id, &title)?,
        Some(Action::Delete { id, yes }) => delete(&sessions, &id, yes)?,
        Some(Action::Prune(args)) => {
            prune::prune(&sessions, args, setup::config(vec![], flags).keep)
        }
    }
    Ok(CliExit::Done)
}

/// Checks that a text can be the start of an id. Anything else names no file.
fn id(text: &str) -> Result<&str, UsageError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    if !text.is_empty() && text.len() <= LONGEST_ID && text.bytes().all(fits) {
        return Ok(text);
    }
    let start: String = text.chars().take(LONGEST_ID).collect();
    Err(UsageError(format!(
        "{start:?} is not the id of a session: `ropewalk sessions --all` lists them."
    )))
}

/// The id of the session that is meant by its number in the list of the current folder, or by the start of its id.
pub(crate) fn find(sessions: &Sessions, text: &str) -> anyhow::Result<String> {
    let text = id(text)?;
    let is_number = text.len() <= LONGEST_NUMBER && text.bytes().all(|b| b.is_ascii_digit());
    let number: usize = if is_number { text.parse().unwrap_or(0) } else { 0 };
    let numbered = number.checked_sub(1).and_then(|at| {
        let here = here(sessions.list(), &setup::current_name());
        here.into_iter().nth(at)
    });
    match numbered {
        Some(listed) => Ok(listed.id),
        None => sessions.find(text).map_err(in_words),
    }
}

/// Sessions among `all` that work in one of these folders: so they are numbered, from 1.
pub(crate) fn here(mut all: Vec<SessionListing>, folders: &[String]) -> Vec<SessionListing> {
    all.retain(|one| one.roots.iter().any(|root| folders.contains(root)));
    all
}

/// An error for the user, of any length of list.
pub(crate) fn in_words(error: SessionError) -> anyhow::Error {
    anyhow::Error::msg(match error {
        SessionError::Unknown(id) => {
            format!("There is no session {id}: `ropewalk sessions --all` lists them.")
        }
        SessionError::Ambiguous(start, several) => {
            let several: Vec<&str> = several.split(", ").collect();
            let some = several.iter().take(3).copied().collect::<Vec<_>>().join(", ");
            let more = if several.len() > 3 { ", …" } else { "" };
            format!(
                "{start} could be any of {} sessions ({some}{more}): give more of it.",
                several.len()
            )
        }
        other => {
            let words = other.to_string();
            let mut chars = words.chars();
            let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
            format!("{first}{}.", chars.as_str())
        }
    })
}

/// Prints what was asked for. A standard output that is closed needs none of it.
fn print(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn list(sessions: &Sessions, args: ListArgs) -> anyhow::Result<()> {
    let unreadable = unreadable(sessions);
    let all = sessions.list();
    let folders = setup::names(&Roots::new(
        setup::folders(args.root)?.into_iter().map(|root| (String::new(), root)).collect(),
    ));
    let here = here(all.clone(), &setup::current_name());
    let listed: Vec<&SessionListing> = all
        .iter()
        .filter(|one| args.all || one.roots.iter().any(|root| folders.contains(root)))
        .collect();
    if args.json {
        let lines: String =
            listed.iter().map(|one| plain_json(table::json(one).to_string()) + "\n").collect();
        print(&lines);
    } else if !listed.is_empty() {
        print(&table::table(&listed, &all, &here, std::env::home_dir().as_deref()));
    } else if args.all || all.is_empty() {
        say("There are no sessions yet.");
    } else {
        let folders = folders.join(", ");
        say(&format!("There is no session of {folders}; --all lists those of other folders."));
    }
    if !unreadable.is_empty() {
        say(&unreadable_in_words(&unreadable));
    }
    Ok(())
}

/// The files in the folder of journals that can't be read as one, sorted.
pub(crate) fn unreadable(sessions: &Sessions) -> Vec<PathBuf> {
    let Some(folder) = setup::state_folder().map(|state| state.join("sessions")) else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_journal).collect();
    let readable: HashSet<String> = sessions.list().into_iter().map(|one| one.id).collect();
    // One that was deleted meanwhile is none of them.
    files.retain(|path| {
        let id = path.file_stem().unwrap_or_default().to_string_lossy();
        !readable.contains(&*id) && path.symlink_metadata().is_ok()
    });
    files.sort_unstable();
    files
}

/// How many there are, and the first few of them.
pub(crate) fn unreadable_in_words(files: &[PathBuf]) -> String {
    let shown: Vec<String> = files.iter().take(3).map(|file| file.display().to_string()).collect();
    let more = if files.len() > 3 { ", …" } else { "" };
    let count = match files.len() {
        1 => "1 file can't be read as a session".to_owned(),
        count => format!("{count} files can't be read as sessions"),
    };
    format!("{count}: {}{more}", shown.join(", "))
}

fn markdown(sessions: &Sessions, start: &str) -> anyhow::Result<String> {
    let id = find(sessions, start)?;
    // A file that is no journal would be an empty one here.
    sessions.read(&id).and_then(|_| sessions.export(&id)).map_err(in_words)
}

fn export(sessions: &Sessions, start: &str, file: &Path) -> anyhow::Result<()> {
    let text = plain(&markdown(sessions, start)?);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let shown = file.display();
    let written = options.open(file).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            UsageError(format!("{shown} exists, and nothing is overwritten: name a new file."))
        }
        _ => UsageError(format!("{shown} can't be written: {error}.")),
    })?;
    say(&format!("Written to {shown}."));
    Ok(())
}

fn rename(sessions: &Sessions, start: &str, title: &str) -> anyhow::Result<()> {
    let title = plain_line(&title.replace(char::is_control, " "));
    let title = title.trim();
    if title.is_empty() {
        bail!(UsageError("The name is empty: say what the session is about.".to_owned()));
    }
    if title.chars().nth(LONGEST_TITLE).is_some() {
        bail!(UsageError(format!(
            "The name is longer than {LONGEST_TITLE} characters: choose a short one."
        )));
    }
    let id = find(sessions, start)?;
    sessions.rename(&id, title).map_err(in_words)?;
    say(&format!("Session {id} is called {title} now."));
    Ok(())
}

fn delete(sessions: &Sessions, start: &str, yes: bool) -> anyhow::Result<()> {
    let id = find(sessions, start)?;
    let listed = sessions.listed(&id);
    let (name, lost) = match &listed {
        Some(one) => (
            format!("{id} ({})", plain_line(&one.summary.title)),
            match one.summary.waits() {
                0 => None,
                1 => Some("1 change of it waits for you, and is lost with it".to_owned()),
                n => Some(format!("{n} changes of it wait for you, and are lost with it")),
            },
        ),
        None => {
            (id.clone(), Some("it can't be read: what is lost with it is not known".to_owned()))
        }
    };
    if let (Some(lost), false) = (lost, yes) {
        let words = format!("Session {name}: {lost}.");
        if !std::io::stdin().is_terminal() {
            bail!(UsageError(format!("{words} It is deleted only with --yes.")));
        }
        if !matches!(&*ask(&format!("{words} Delete it? [y/N]"))?, "y" | "yes") {
            say("Nothing is deleted.");
            return Ok(());
        }
    }
    sessions.delete(&id).map_err(in_words)?;
    say(&format!("Session {name} is deleted."));
    Ok(())
}

/// Asks at the terminal, and gives the answer in lower case.
pub(crate) fn ask(question: &str) -> anyhow::Result<String> {
    let _ = write!(std::io::stderr(), "{} ", plain(question));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).context("no answer can be read")?;
    Ok(answer.trim().to_lowercase())
}
