//! `ropewalk team`: the boards of teams, looked at from a terminal, and a task put on one.

use crate::exit::{CliExit, UsageError};
use crate::in_words::runtime;
use crate::plain::{plain_line, say};
use crate::setup;
use anyhow::Context;
use clap::Subcommand;
use ropewalk_board::{Board, BoardOptions, LEAD, NewTask, Team};
use ropewalk_config::{Config, ConfigLayer, Problem};
use ropewalk_host::team_options;
use ropewalk_team::{shown_member, shown_task};
use ropewalk_workspace::Roots;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `ropewalk team`.
#[derive(Debug, clap::Args)]
pub(crate) struct TeamArgs {
    #[command(subcommand)]
    about: About,
    /// The team; may be left out where the board has one.
    #[arg(long, value_name = "TEAM", global = true)]
    team: Option<String>,
    /// The board: a file, or a URL of PostgreSQL; else ROPEWALK_BOARD, or `team.board` of your configuration.
    #[arg(long, value_name = "BOARD", global = true)]
    board: Option<String>,
    /// The folder whose board is meant, instead of the current one. May be given more than once.
    #[arg(long, value_name = "DIR", global = true)]
    root: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum About {
    /// List the tasks with their owners, and the tasks that they wait for.
    Tasks,
    /// List the members.
    Members,
    /// Show messages to the lead that it has not read.
    Inbox,
    /// Put a task on the board.
    Add {
        /// The task in one line.
        subject: String,
        /// All that whoever does it must know.
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
        /// The role that must do it.
        #[arg(long, value_name = "ROLE", default_value = "")]
        role: String,
        /// A task that must be completed before. May be given more than once.
        #[arg(long = "after", value_name = "NUMBER")]
        blocked_by: Vec<i64>,
    },
}

/// Tasks that are read at once.
const PAGE: i64 = 500;

/// The configuration of these folders with teams switched on, and this board if one is named: a path is taken from the
/// current folder.
///
/// # Errors
/// When a flag, or what says where the board is, can't be used. Another board than the one that was meant is none.
pub(crate) fn on_board(
    board: Option<String>,
    flags: &mut Vec<String>,
    folders: Vec<PathBuf>,
) -> anyhow::Result<Config> {
    flags.push("team.enabled=true".to_owned());
    flags.extend(board.map(|board| format!("team.board={}", from_here(board))));
    let config = setup::config(folders, flags.clone());
    let is_ours = |problem: &&Problem| {
        problem.source.layer == ConfigLayer::Flag || problem.key.as_deref() == Some("team.board")
    };
    match config.problems.iter().find(is_ours) {
        Some(wrong) => anyhow::bail!(UsageError(wrong.to_string())),
        None => Ok(config),
    }
}

/// A path on the command line from the current folder. A URL, or what was meant as one, stays as it is.
fn from_here(board: String) -> String {
    if board.is_empty() || board.starts_with("~/") || board.contains("://") || board.contains('@') {
        return board;
    }
    let whole =
        std::path::absolute(&board).ok().and_then(|path| path.into_os_string().into_string().ok());
    whole.unwrap_or(board)
}

/// Shows or does it.
pub(crate) fn team(args: TeamArgs, mut flags: Vec<String>) -> anyhow::Result<CliExit> {
    let folders = setup::folders(args.root)?;
    let config = on_board(args.board, &mut flags, folders.clone())?;
    if let About::Add { subject, .. } = &args.about
        && subject.trim().is_empty()
    {
        anyhow::bail!(UsageError("The subject is empty: say the task in one line.".to_owned()));
    }
    let state = setup::state_folder();
    let roots = Roots::new(folders.into_iter().map(|root| (String::new(), root)).collect());
    let options = team_options(&config, state.as_deref(), &setup::names(&roots));
    let options = options.context(setup::NO_HOME)?;
    if !options.board.exists() {
        say("There is no team in this folder yet.");
        return Ok(CliExit::Done);
    }
    let runtime =
        runtime(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all())?;
    let lines = runtime.block_on(async {
        let board = Board::open(options.board, BoardOptions::default()).await?;
        match chosen(&board, args.team).await? {
            Some(team) => about(&team, args.about).await,
            None => Ok(vec!["There is no team on this board yet.".to_owned()]),
        }
    })?;
    let mut out = std::io::stdout().lock();
    for line in lines {
        writeln!(out, "{}", plain_line(&line))?;
    }
    Ok(CliExit::Done)
}

/// The team that is named, or the only one.
async fn chosen(board: &Board, named: Option<String>) -> anyhow::Result<Option<Team>> {
    let names = board.team_names().await?;
    let name = match (named, &names[..]) {
        (Some(name), _) => name,
        (None, []) => return Ok(None),
        (None, [only]) => only.clone(),
        (None, _) => {
            anyhow::bail!(UsageError(format!("Say which team by --team: {}.", names.join(", "))))
        }
    };
    match board.find_team(&name).await? {
        Some(team) => Ok(Some(team)),
        None => anyhow::bail!("There is no team {name}; there are: {}.", names.join(", ")),
    }
}

async fn about(team: &Team, about: About) -> anyhow::Result<Vec<String>> {
    Ok(match about {
        About::Tasks => tasks(team).await?,
        About::Members => {
            let head = format!("Team: {}", team.name());
            let members = team.members().await?;
            let lines = members.iter().map(|member| format!("  {}", shown_member(member)));
            [head].into_iter().chain(lines).collect()
        }
        About::Inbox => {
            let unread = team.unread(LEAD, PAGE).await?;
            match unread.is_empty() {
                true => vec!["No unread messages.".to_owned()],
                false => unread.iter().map(|one| format!("{}: {}", one.from, one.body)).collect(),
            }
        }
        About::Add { subject, description, role, blocked_by } => {
            let new = NewTask { subject, description, role, blocked_by };
            vec![shown_task(&team.create("user", &new).await?)]
        }
    })
}

async fn tasks(team: &Team) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut last = 0;
    loop {
        let page = team.tasks(last, PAGE).await?;
        lines.extend(page.iter().map(shown_task));
        match page.last() {
            Some(task) => last = task.number,
            None => break,
        }
    }
    if lines.is_empty() {
        lines.push("No tasks.".to_owned());
    }
    Ok(lines)
}
