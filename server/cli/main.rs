//! The `ropewalk` binary: the only place that names concrete models and front ends.

mod models;
mod serve;

use clap::{Parser, Subcommand};
use std::io::IsTerminal;
use std::process::ExitCode;

/// A language server that runs a coding agent inside any editor.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Set a key of the configuration, as in `-c limits.steps=10`. May be given more than once.
    #[arg(short = 'c', value_name = "KEY=VALUE", global = true)]
    set: Vec<String>,
    /// Write a log to this file; ROPEWALK_LOG filters it, as in `ropewalk_model=debug`.
    #[arg(long, value_name = "FILE", global = true)]
    log: Option<std::path::PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve an editor over standard input and output.
    Lsp {
        /// Accepted because editors pass it; standard input and output are the only transport.
        #[arg(long)]
        stdio: bool,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ropewalk: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Some(Command::Lsp { .. }) => serve::lsp(cli.set),
        None if !std::io::stdin().is_terminal() => serve::lsp(cli.set),
        None => {
            use clap::CommandFactory;
            Cli::command().print_help()?;
            Ok(ExitCode::from(2))
        }
    }
}
