//! A worker: a member in a process of its own, on this machine or another, with its own checkout.

use crate::clock::Clock;
use crate::error::TeamError;
use crate::launch::{Launch, MemberStart};
use crate::options::TeamOptions;
use crate::session_host::{SessionHost, SessionLink};
use crate::station::Station;
use crate::teammate::{Departure, Teammate};
use futures::future::BoxFuture;
use ropewalk_board::{Board, BoardError, Membership, NewMember, Team};
use ropewalk_protocol::Mode;
use std::sync::Arc;
use std::time::Duration;

/// Ingredients of a worker.
pub struct WorkerConfig {
    /// The team's name.
    pub team: String,
    /// Its name; None takes the first that is free.
    pub name: Option<String>,
    /// Its role; empty for any.
    pub role: String,
    /// True if it stays when there is nothing to do.
    pub stays: bool,
    /// The options.
    pub options: TeamOptions,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// See the module.
pub struct Worker {
    station: Arc<Station>,
    teammate: Teammate,
}

/// The most workers of a team whose names are made up.
const MOST: u32 = 1_000;

impl Worker {
    /// The names of the folders that a team's lead works in.
    ///
    /// # Errors
    /// When there is no such team or board.
    pub fn roots_of<'a>(
        options: &'a TeamOptions,
        named: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, TeamError>> {
        Box::pin(async move {
            if !options.board.exists() {
                let words = "There is no board here yet: name the one of its lead by --board";
                return Err(words.into());
            }
            let board = Board::open(options.board.clone(), options.of_board()).await?;
            let roots = find(&board, named).await?.roots().await?;
            Ok(roots.lines().map(str::to_owned).collect())
        })
    }

    /// Joins a team.
    ///
    /// # Errors
    /// When there is no such team or board, or the name is taken.
    pub fn join(
        config: WorkerConfig,
        host: Arc<dyn SessionHost>,
    ) -> BoxFuture<'static, Result<Self, TeamError>> {
        Box::pin(async move {
            let WorkerConfig { team: named, name, role, stays, mut options, clock } = config;
            let board = Board::open(options.board.clone(), options.of_board()).await?;
            let team = find(&board, &named).await?;
            if stays {
                options.idle = Duration::MAX;
            }
            let id = host.new_id();
            let membership = enter(&team, name, &role, &id).await?;
            let launch = Launch { host, options, clock, lead: SessionLink(None) };
            let start = MemberStart { id, resumes: false, mode: Mode::Review, model: None };
            let (station, teammate) = launch.launch(membership, start).await?;
            Ok(Self { station, teammate })
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.station.name()
    }

    /// Makes a function that stops it, from wherever: its task is returned without counting.
    pub fn stopper(&self) -> impl Fn() + Send + 'static {
        let station = self.station.clone();
        move || station.stop()
    }

    /// Works until it leaves.
    pub fn work(self) -> BoxFuture<'static, Departure> {
        Box::pin(async move { self.teammate.live(None).await })
    }
}

/// The team of this name.
async fn find(board: &Board, named: &str) -> Result<Team, TeamError> {
    if let Some(team) = board.find_team(named).await? {
        return Ok(team);
    }
    let names = board.team_names().await?;
    let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(format!("There is no team {named} on this board; there are: {there}").into())
}

/// Joins under this name, or the first that is free.
async fn enter(
    team: &Team,
    name: Option<String>,
    role: &str,
    session: &str,
) -> Result<Membership, BoardError> {
    let member = |name: String| NewMember {
        name,
        role: role.to_owned(),
        host: format!("worker, process {}", std::process::id()),
        session: session.to_owned(),
    };
    if let Some(name) = name {
        return team.join(&member(name)).await;
    }
    let mut number = 1;
    loop {
        match team.join(&member(format!("worker-{number}"))).await {
            Err(BoardError::NameTaken(_)) if number < MOST => number += 1,
            joined => return joined,
        }
    }
}
