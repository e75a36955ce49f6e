//! `ropewalk trust`: what a folder's configuration asks for beyond strictness, and the user's answer to that.
//!
//! Meaning of an answer is the configuration's matter; nothing is answered here but by the user, at a terminal or by a
//! flag.

use crate::exit::{CliExit, UsageError};
use crate::plain::{plain, plain_line, say};
use crate::sessions::ask;
use anyhow::{Context, bail};
use clap::Args;
use ropewalk_config::trust::{self, Answer, Store};
use ropewalk_config::{Config, ConfigLayer, Environment, RealEnvironment, Sources, TrustQuestion};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Arguments of `ropewalk trust`.
#[derive(Args)]
pub(crate) struct TrustArgs {
    /// The folder; the current one without it.
    dir: Option<PathBuf>,
    /// Trust it with what it asks for now.
    #[arg(long, group = "answer")]
    yes: bool,
    /// Don't trust it, and don't ask again until it asks for something else.
    #[arg(long, group = "answer")]
    never: bool,
    /// Forget what was answered, so that it is asked again.
    #[arg(long, group = "answer")]
    forget: bool,
    /// List all answers.
    #[arg(long, group = "answer", conflicts_with = "dir")]
    list: bool,
}

/// Does what is asked for. `flags` are those of `-c`.
pub(crate) fn trust(args: TrustArgs, flags: Vec<String>) -> anyhow::Result<CliExit> {
    let store = Store::load(&RealEnvironment).with_context(|| {
        let file = trust::file(&RealEnvironment).unwrap_or_default();
        format!("the answers in {} can't be read, so no folder is trusted", file.display())
    })?;
    if args.list {
        list(&store);
        return Ok(CliExit::Done);
    }
    let is_current = args.dir.is_none();
    let folder = folder(args.dir)?;
    let shown = plain_line(&folder.to_string_lossy());
    if args.forget {
        let forgotten = trust::forget(&RealEnvironment, &folder).context("nothing is forgotten")?;
        say(&match forgotten {
            0 => format!("You have not answered about {shown}."),
            _ => format!("Your answer about {shown} is forgotten."),
        });
        return Ok(CliExit::Done);
    }
    let Some(asked) = asked(&folder, flags) else {
        say(&match is_current {
            true => "This folder's configuration asks for nothing special.".to_owned(),
            false => format!("The configuration of {shown} asks for nothing special."),
        });
        return Ok(CliExit::Done);
    };
    let known = store.answer(&asked.root, &asked.hash);
    let answer = match (args.yes, args.never) {
        (true, _) => Some(Answer::Trust),
        (_, true) => Some(Answer::Never),
        _ => asked_at_terminal(&asked, known)?,
    };
    let Some(answer) = answer else {
        say("Nothing is changed.");
        return Ok(CliExit::Done);
    };
    trust::remember(&RealEnvironment, &asked.root, &asked.hash, answer)
        .context("the answer can't be kept")?;
    say(&match answer {
        Answer::Trust => format!("{shown} is trusted with that, until it asks for something else."),
        Answer::Never => {
            format!("{shown} is not trusted, nor asked about until it asks for something else.")
        }
    });
    Ok(CliExit::Done)
}

/// Shows the question and asks it. Without a terminal that is as far as it goes.
fn asked_at_terminal(
    asked: &TrustQuestion,
    known: Option<Answer>,
) -> anyhow::Result<Option<Answer>> {
    let now = match known {
        Some(Answer::Trust) => " You trust it with that now.",
        Some(Answer::Never) => " You have said never.",
        None => "",
    };
    let _ = writeln!(std::io::stdout(), "{}{now}", plain(&asked.question()));
    if !std::io::stdin().is_terminal() {
        bail!(UsageError(
            "There is no terminal to ask in: answer with --yes or --never.".to_owned()
        ));
    }
    Ok(match &*ask("Trust it? [y/N/never]")? {
        "y" | "yes" => Some(Answer::Trust),
        "never" => Some(Answer::Never),
        _ => None,
    })
}

/// The folder, links resolved, as answers are remembered for it.
fn folder(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let named = match named {
        Some(named) => named,
        None => std::env::current_dir().context("the current folder can't be read")?,
    };
    let shown = named.display();
    let found = std::fs::canonicalize(&named)
        .map_err(|error| UsageError(format!("{shown} can't be looked into: {error}.")))?;
    if !found.is_dir() {
        bail!(UsageError(format!("{shown} is not a folder.")));
    }
    Ok(found)
}

/// Requests of the folder, whatever was answered. What is wrong with its configuration is said.
fn asked(folder: &Path, flags: Vec<String>) -> Option<TrustQuestion> {
    let roots = vec![folder.to_owned()];
    let sources = Sources { roots, flags, known: ropewalk_host::known(), ..Sources::default() };
    let mut config = Config::build(&sources, &UnansweredEnvironment);
    let asked = config.untrusted.pop();
    let of_project =
        |problem: &&ropewalk_config::Problem| problem.source.layer == ConfigLayer::Project;
    for problem in config.problems.iter().filter(of_project) {
        // Ignoring the rest until it is trusted is the question itself.
        if asked.is_none() || problem.key.is_some() {
            say(&problem.to_string());
        }
    }
    asked
}

fn list(store: &Store) {
    if store.list().is_empty() {
        return say("You have not answered about any folder yet.");
    }
    let lines: String = store
        .list()
        .iter()
        .map(|known| {
            let answer = match known.answer {
                Answer::Trust => "trusted",
                Answer::Never => "never",
            };
            format!("{answer:<7}  {}\n", plain_line(&known.root.to_string_lossy()))
        })
        .collect();
    // One that is closed needs no list.
    let _ = std::io::stdout().write_all(lines.as_bytes());
}

/// The real environment, as if no folder had been answered about.
struct UnansweredEnvironment;

impl Environment for UnansweredEnvironment {
    fn home(&self) -> Option<PathBuf> {
        RealEnvironment.home()
    }

    fn var(&self, name: &str) -> Option<String> {
        RealEnvironment.var(name)
    }

    fn read(&self, path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
        if trust::file(&RealEnvironment).is_some_and(|file| file == path) {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        RealEnvironment.read(path, limit)
    }

    fn read_system(&self, path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
        RealEnvironment.read_system(path, limit)
    }

    fn canonical(&self, path: &Path) -> std::io::Result<PathBuf> {
        RealEnvironment.canonical(path)
    }
}
