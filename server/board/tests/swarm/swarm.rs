//! Many processes that claim, work on and complete tasks, while a random one is killed and replaced again and again.
//!
//! Each is this program once more, told by its arguments to be a worker. It prints how long its calls took.

use ropewalk_board::{
    Board, BoardError, BoardOptions, BoardPlace, MemberState, Membership, NewMember, NewTask,
    Result, Task, Team,
};
use ropewalk_testkit::namespaces::on_host;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// First argument of a process that is a worker.
const WORKER: &str = "--board-worker";
/// Time after which a run that goes nowhere is given up.
const STUCK: Duration = Duration::from_secs(600);

/// Size of a run.
#[derive(Debug, Clone)]
pub struct Swarm {
    /// Place of the board, as it is configured.
    pub place: String,
    /// Number of processes at a time.
    pub processes: usize,
    /// Number of tasks.
    pub tasks: i64,
    /// Time that each task takes on average.
    pub work: Duration,
    /// Time between two kills.
    pub kills: Duration,
    /// Time between the starts of the first processes.
    pub stagger: Duration,
    /// Hosts to start the processes on, in turn; empty for this one.
    pub hosts: Vec<String>,
}

/// Outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Time from the first process to the last task.
    pub took: Duration,
    /// Number of processes that were killed.
    pub killed: usize,
    /// Times of claims in microseconds, sorted.
    pub claims: Vec<u64>,
    /// Times of completions in microseconds, sorted.
    pub completions: Vec<u64>,
}

fn options() -> BoardOptions {
    // Kills at random would meet the rule of three failures.
    BoardOptions { lease: Duration::from_secs(2), attempts: 1000, ..BoardOptions::default() }
}

/// Runs as a worker if this process was started as one, until it is killed.
pub fn work_if_told() -> bool {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|argument| argument == WORKER) else { return false };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let work = Duration::from_micros(arguments[at + 3].parse().unwrap());
    runtime.block_on(worker(&arguments[at + 1], &arguments[at + 2], work));
    true
}

async fn worker(place: &str, name: &str, work: Duration) {
    let place: BoardPlace = place.parse().unwrap();
    let board = answered(|| Board::open(place.clone(), options())).await.unwrap();
    let team = answered(|| board.team("swarm", "", "")).await.unwrap();
    let member = join(&team, name).await;
    let renewed = member.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let _ = renewed.renew().await;
        }
    });
    let mut watch = member.watch();
    loop {
        if let Some(task) = claim(&member).await {
            // From a half to one and a half of the average, by the number alone.
            let share = u32::try_from(task.number * 7919 % 1000).unwrap();
            tokio::time::sleep(work / 2 + work * share / 1000).await;
            let start = Instant::now();
            let done = answered(|| member.complete(task.claim(), "", None)).await;
            // A worker that was stopped for a whole lease has lost its claim.
            if done.is_ok() {
                say("complete", start);
            }
            continue;
        }
        answered(|| member.set_state(MemberState::Idle)).await.unwrap();
        let _ = tokio::time::timeout(Duration::from_secs(1), watch.changed()).await;
    }
}

async fn claim(member: &Membership) -> Option<Task> {
    let start = Instant::now();
    match member.claim().await {
        Ok(task) => {
            if task.is_some() {
                say("claim", start);
            }
            task
        }
        // The claim may have been made before its answer was lost.
        Err(BoardError::Unreachable { retry_in, .. }) => {
            tokio::time::sleep(retry_in).await;
            answered(|| member.held()).await.unwrap().pop()
        }
        Err(other) => panic!("{other}"),
    }
}

async fn join(team: &Team, name: &str) -> Membership {
    let new = NewMember { name: name.to_owned(), ..NewMember::default() };
    loop {
        match answered(|| team.join(&new)).await {
            Ok(member) => return member,
            // The process has joined, and the answer was lost.
            Err(BoardError::NameTaken(_)) => tokio::time::sleep(Duration::from_millis(100)).await,
            Err(other) => panic!("{other}"),
        }
    }
}

/// Calls until the board can be reached.
async fn answered<T, F: Future<Output = Result<T>>>(call: impl Fn() -> F) -> Result<T> {
    loop {
        match call().await {
            Err(BoardError::Unreachable { retry_in, .. }) => tokio::time::sleep(retry_in).await,
            other => return other,
        }
    }
}

fn say(call: &str, start: Instant) {
    let line = format!("{call} {}\n", start.elapsed().as_micros());
    // The parent may have gone.
    let _ = std::io::stdout().write_all(line.as_bytes());
}

impl Swarm {
    /// Runs it, does `halfway` once half of the tasks are completed, and says what is wrong with what is left on the board.
    pub fn run(
        &self,
        halfway: impl FnOnce() -> std::result::Result<(), String>,
    ) -> std::result::Result<Outcome, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let team = runtime.block_on(self.prepare());
        let (sender, lines) = channel();
        let begin = Instant::now();
        let mut crowd = Crowd { swarm: self, lines: sender, children: Vec::new(), killed: 0 };
        let (mut halfway, mut outcome) = (Some(halfway), Outcome::default());
        while runtime.block_on(is_left(&team)) {
            crowd.grow();
            crowd.kill_one();
            outcome.read(lines.try_iter());
            if outcome.completions.len() * 2 > usize::try_from(self.tasks).unwrap()
                && let Some(halfway) = halfway.take()
            {
                halfway()?;
            }
            if begin.elapsed() > STUCK {
                return Err("it does not end".to_owned());
            }
        }
        if halfway.is_some() {
            return Err("it ended before half of its tasks were seen to be completed".to_owned());
        }
        outcome.took = begin.elapsed();
        outcome.killed = crowd.killed;
        drop(crowd);
        outcome.read(lines.iter());
        outcome.claims.sort_unstable();
        outcome.completions.sort_unstable();
        runtime.block_on(check(&team, self.tasks))?;
        Ok(outcome)
    }

    /// Makes the tasks, each of which waits for up to three earlier ones.
    async fn prepare(&self) -> Team {
        let board = Board::open(self.place.parse().unwrap(), options()).await.unwrap();
        let team = board.team("swarm", "", "").await.unwrap();
        for number in 1..=self.tasks {
            let mut blocked_by: Vec<i64> = (0..number % 4)
                .map(|edge| number - 1 - (number * 31 + edge * 17) % 200)
                .filter(|other| *other > 0)
                .collect();
            blocked_by.sort_unstable();
            blocked_by.dedup();
            let subject = format!("part {number}");
            let new = NewTask { subject, blocked_by, ..NewTask::default() };
            team.create("swarm", &new).await.unwrap();
        }
        team
    }

    fn start(&self, number: usize, lines: &Sender<String>) -> Child {
        let program = std::env::current_exe().unwrap();
        let mut command = match self.hosts.get(number % self.hosts.len().max(1)) {
            Some(host) => on_host(host, &program),
            None => Command::new(program),
        };
        command.args([
            WORKER,
            &self.place,
            &format!("w{number}"),
            &self.work.as_micros().to_string(),
        ]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let lines = lines.clone();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(std::result::Result::ok) {
                if lines.send(line).is_err() {
                    return;
                }
            }
        });
        child
    }
}

/// Processes of a run, which are killed when this is dropped.
struct Crowd<'a> {
    swarm: &'a Swarm,
    lines: Sender<String>,
    children: Vec<Child>,
    killed: usize,
}

impl Crowd<'_> {
    /// Starts the processes that are due within the time between two kills, and lets that pass.
    fn grow(&mut self) {
        let end = Instant::now() + self.swarm.kills;
        while self.children.len() < self.swarm.processes && Instant::now() < end {
            self.children.push(self.swarm.start(self.children.len(), &self.lines));
            std::thread::sleep(self.swarm.stagger);
        }
        std::thread::sleep(end.saturating_duration_since(Instant::now()));
    }

    fn kill_one(&mut self) {
        let victim = (self.killed * 7919 + 13) % self.children.len();
        if self.children[victim].try_wait().unwrap().is_none() {
            self.children[victim].kill().unwrap();
            self.children[victim].wait().unwrap();
            self.killed += 1;
            let next = self.swarm.processes + self.killed;
            self.children[victim] = self.swarm.start(next, &self.lines);
        }
    }
}

impl Drop for Crowd<'_> {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Outcome {
    fn read(&mut self, lines: impl Iterator<Item = String>) {
        for line in lines {
            // A killed process may have written half a line.
            let Some((call, Ok(micros))) =
                line.split_once(' ').map(|(call, time)| (call, time.parse()))
            else {
                continue;
            };
            match call {
                "claim" => self.claims.push(micros),
                _ => self.completions.push(micros),
            }
        }
    }

    /// Time in milliseconds within which this share of the sorted `times` lies.
    pub fn share(times: &[u64], percent: usize) -> f64 {
        let at = times.len().saturating_sub(1) * percent / 100;
        times.get(at).map_or(f64::NAN, |micros| *micros as f64 / 1000.0)
    }
}

/// True while a task waits or is worked on.
async fn is_left(team: &Team) -> bool {
    let counts = answered(|| team.counts()).await.unwrap();
    counts.pending + counts.in_progress > 0
}

/// Reads the board's log: each task completed once, and claimed only after all that it waits for was.
async fn check(team: &Team, tasks: i64) -> std::result::Result<(), String> {
    let counts = team.counts().await.unwrap();
    if counts.completed != tasks {
        return Err(format!("not all are completed: {counts:?}"));
    }
    let (mut claimed, mut completed): (BTreeMap<i64, i64>, BTreeMap<i64, i64>) = Default::default();
    let mut after = 0;
    loop {
        let entries = team.log(after, 1000).await.unwrap();
        let Some(last) = entries.last() else { break };
        after = last.number;
        for entry in entries {
            let Some(task) = entry.task else { continue };
            match entry.event.as_str() {
                "completed" if completed.contains_key(&task) => {
                    return Err(format!("task {task} was completed twice"));
                }
                "completed" => {
                    completed.insert(task, entry.number);
                }
                "claimed" => {
                    claimed.entry(task).or_insert(entry.number);
                }
                _ => {}
            }
        }
    }
    for number in 1..=tasks {
        let mut others = (0..number % 4).map(|edge| number - 1 - (number * 31 + edge * 17) % 200);
        let early = others.find(|other| *other > 0 && completed[other] > claimed[&number]);
        if let Some(other) = early {
            return Err(format!("task {number} was claimed before {other} was completed"));
        }
    }
    Ok(())
}
