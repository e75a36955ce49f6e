//! `ropewalk worker`: a member of a team in a process of its own, which finds work on the team's board.

use crate::exit::CliExit;
use crate::in_words::runtime;
use crate::plain::{plain_line, say};
use crate::run::check_allow;
use crate::run::signals::Signals;
use crate::team::on_board;
use crate::{models, setup};
use ropewalk_config::RealEnvironment;
use ropewalk_host::team_words::request_line;
use ropewalk_host::{Host, HostOptions, JoinTeam};
use ropewalk_protocol::{Event, SessionEvent};
use ropewalk_team::Departure;
use ropewalk_tools::Rule;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Arguments of `ropewalk worker`.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    /// The team; `/team` in its lead's session says its name.
    #[arg(long, value_name = "TEAM")]
    team: String,
    /// The board: a file, or a URL of PostgreSQL; else ROPEWALK_BOARD, or `team.board` of your configuration.
    #[arg(long, value_name = "BOARD")]
    board: Option<String>,
    /// Its name in the team; else the first of worker-1, worker-2 … that is free.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Its role: it takes tasks of that role, and those of none.
    #[arg(long, value_name = "ROLE", default_value = "")]
    role: String,
    /// The checkout to work in, instead of the current folder.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Let calls run that would need an approval, as in `bash(git status*)`. May be given more than once. What is not
    /// allowed is refused, and the lead is told.
    #[arg(long, value_name = "RULE")]
    allow: Vec<Rule>,
    /// Stay when there is nothing to do, instead of leaving after `team.idle` seconds.
    #[arg(long)]
    stay: bool,
}

/// How long it may take to join, or the rest of its session to end, once it is told to leave.
const LEAVE: Duration = Duration::from_millis(500);

/// Works until there is nothing to do, or somebody stops it.
pub(crate) fn worker(args: WorkerArgs, mut flags: Vec<String>) -> anyhow::Result<CliExit> {
    let folders = setup::folders(args.root.into_iter().collect())?;
    let config = on_board(args.board, &mut flags, folders.clone())?;
    check_allow(&config, &args.allow)?;
    let environment = Arc::new(RealEnvironment);
    let options = HostOptions {
        flags,
        interactive: false,
        leads: false,
        allow: args.allow,
        ..HostOptions::new(models::factory(environment.clone()), environment)
    };
    let join = JoinTeam { team: args.team, name: args.name, role: args.role, stays: args.stay };
    let runtime =
        runtime(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all())?;
    let departure = runtime.block_on(async { work(setup::host(options, folders), join).await });
    runtime.shutdown_timeout(LEAVE);
    Ok(match departure? {
        Departure::Idle | Departure::Shutdown => CliExit::Done,
        Departure::Budget => CliExit::Budget,
        Departure::Superseded | Departure::Ended => CliExit::Error,
    })
}

async fn work(host: Arc<Host>, join: JoinTeam) -> anyhow::Result<Departure> {
    let mut events = host.subscribe();
    let team = join.team.clone();
    // Listened for before it joins: one that is ended after that would stay on the board until its lease is over.
    let mut signals = Signals::listen()?;
    let mut joining = std::pin::pin!(host.join_team(join));
    let (worker, is_stopped) = tokio::select! {
        worker = &mut joining => (worker, false),
        () = signals.next() => match tokio::time::timeout(LEAVE, joining).await {
            Ok(worker) => (worker, true),
            Err(_) => std::process::exit(CliExit::Interrupted.code().into()),
        },
    };
    let worker = worker.map_err(|refusal| anyhow::anyhow!("{}.", refusal.words))?;
    say(&format!("{} has joined the team {team}.", worker.name()));
    let stop = worker.stopper();
    tokio::spawn(async move {
        if !is_stopped {
            signals.next().await;
        }
        say("It gives its task back and leaves; once more ends it at once.");
        stop();
        signals.next().await;
        std::process::exit(CliExit::Interrupted.code().into());
    });
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if let Some(line) = shown(&event) {
                say(&line);
            }
        }
    });
    let departure = worker.work().await;
    say(match departure {
        Departure::Idle => "There is nothing to do; it has left.",
        Departure::Shutdown => "It has left.",
        Departure::Budget => "The team's budget is used up; it has left.",
        Departure::Superseded => "Another member has its name by now; it has left.",
        Departure::Ended => "Its session has ended.",
    });
    Ok(departure)
}

/// Line for people about an event; None if it has nothing to tell them.
fn shown(told: &SessionEvent) -> Option<String> {
    match &told.event {
        _ if told.thread.is_some() => None,
        Event::TurnStarted { prompt, .. } => Some(request_line(prompt)),
        Event::ToolCall { tool, title, .. } => Some(plain_line(&format!("  {tool} {title}"))),
        Event::TurnEnded { message: Some(words), .. } => Some(plain_line(words)),
        _ => None,
    }
}
