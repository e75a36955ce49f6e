//! The `ropewalk` binary: the only place that names concrete models and front ends.
//!
//! This file reads the command line and chooses what to do; doing it is the business of the other files,
//! and of the rooms.

mod available;
#[cfg(feature = "demo")]
mod demo;
mod doctor;
mod exit;
mod guard;
mod in_words;
mod key_command;
mod log;
mod models;
mod patch;
mod plain;
mod review;
mod run;
mod serve;
mod sessions;
mod setup;
mod setup_neovim;
mod team;
mod terminal;
mod trust;
mod worker;

use clap::{CommandFactory, Parser, Subcommand};
use exit::{CliExit, UsageError};
use ropewalk_commands::command::INSIDE;
use ropewalk_tools::danger::INSIDE_OF_ITSELF;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// A language server that runs a coding agent inside any editor.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    /// Set a key of the configuration, as in `-c limits.steps=10`. May be given more than once.
    #[arg(short = 'c', value_name = "KEY=VALUE", global = true)]
    set: Vec<String>,
    /// Write a log to this file; ROPEWALK_LOG filters it, as in `ropewalk_model=debug`.
    #[arg(long, value_name = "FILE", global = true)]
    log: Option<PathBuf>,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Serve an editor over standard input and output.
    Lsp {
        /// Accepted because editors pass it; standard input and output are the only transport.
        #[arg(long)]
        stdio: bool,
    },
    /// Run one request on the files of a folder, without an editor.
    #[command(after_help = exit::table())]
    Run(run::RunArgs),
    /// Print what waits for review as a diff, which `git apply` takes.
    #[command(after_help = exit::short_table())]
    Diff(review::DiffArgs),
    /// Write what waits for review into the files.
    #[command(after_help = exit::short_table())]
    Accept(review::AcceptArgs),
    /// Drop what waits for review; the model is told with its next request.
    #[command(after_help = exit::short_table())]
    Reject(review::RejectArgs),
    /// Show a whole turn and its review, with a scripted model: no key and no network are needed.
    #[cfg(feature = "demo")]
    Demo(demo::DemoArgs),
    /// Say what is set up, what is missing, and how to fix it.
    #[command(after_help = exit::short_table())]
    Doctor(doctor::DoctorArgs),
    /// Set an editor up with the plugin that is in this program.
    #[command(after_help = exit::short_table())]
    Setup(setup_neovim::SetupArgs),
    /// List the models that can be used now, and say what is missing for the others.
    #[command(after_help = exit::short_table())]
    Models(available::ModelsArgs),
    /// List the sessions that are kept; show, export, rename, delete or prune them.
    #[command(after_help = exit::short_table())]
    Sessions(sessions::SessionsArgs),
    /// Show what a folder's configuration asks for, and say whether it may.
    #[command(after_help = exit::short_table())]
    Trust(trust::TrustArgs),
    /// Work in a team: find tasks on its board, do them in a checkout, hand the changes to its lead's review.
    #[command(after_help = exit::table())]
    Worker(worker::WorkerArgs),
    /// Look at a team's board, or put a task on it.
    #[command(after_help = exit::short_table())]
    Team(team::TeamArgs),
}

fn main() -> ExitCode {
    // A session's commands run below this program started again. Nothing may come before.
    if let Some(code) = ropewalk_sandbox::helper() {
        return code;
    }
    match outside_of_commands(Cli::parse()).and_then(choose) {
        Ok(code) => code,
        Err(error) => {
            plain::say(&format!("{error:#}"));
            let exit = if error.is::<UsageError>() { CliExit::Usage } else { CliExit::Error };
            exit.into()
        }
    }
}

/// Inside of a command that an agent runs, only the version and the help are given, which has been done by now: an
/// agent in an agent's command would have no review and no end.
fn outside_of_commands(cli: Cli) -> anyhow::Result<Cli> {
    match std::env::var_os(INSIDE) {
        Some(_) => anyhow::bail!(UsageError(INSIDE_OF_ITSELF.to_owned())),
        None => Ok(cli),
    }
}

fn choose(cli: Cli) -> anyhow::Result<ExitCode> {
    let command = match cli.command {
        Some(command) => command,
        None if !std::io::stdin().is_terminal() => CliCommand::Lsp { stdio: true },
        None => {
            // A terminal that is gone needs no help.
            let _ = Cli::command().print_help();
            return Ok(CliExit::Usage.into());
        }
    };
    // Only the server has a standard error that nobody reads as its answer.
    let default = match command {
        CliCommand::Lsp { .. } => log::WithoutFile::StandardError,
        _ => log::WithoutFile::Nowhere,
    };
    let filter = setup::config(Vec::new(), cli.set.clone()).log;
    let _log = log::start(cli.log.as_deref(), default, &filter)?;
    guard::close();
    match command {
        CliCommand::Lsp { .. } => serve::lsp(cli.set),
        CliCommand::Run(args) => run::run(args, cli.set).map(ExitCode::from),
        CliCommand::Diff(args) => review::diff(args).map(ExitCode::from),
        CliCommand::Accept(args) => review::accept(args, cli.set).map(ExitCode::from),
        CliCommand::Reject(args) => review::reject(args, cli.set).map(ExitCode::from),
        #[cfg(feature = "demo")]
        CliCommand::Demo(args) => demo::demo(args),
        CliCommand::Doctor(args) => doctor::doctor(&args, cli.set).map(ExitCode::from),
        CliCommand::Setup(args) => setup_neovim::setup(&args).map(ExitCode::from),
        CliCommand::Models(args) => available::models(&args, cli.set).map(ExitCode::from),
        CliCommand::Sessions(args) => sessions::sessions(args, cli.set).map(ExitCode::from),
        CliCommand::Trust(args) => trust::trust(args, cli.set).map(ExitCode::from),
        CliCommand::Worker(args) => worker::worker(args, cli.set).map(ExitCode::from),
        CliCommand::Team(args) => team::team(args, cli.set).map(ExitCode::from),
    }
}
