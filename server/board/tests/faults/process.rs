//! A member in a process of its own, which does what it is told by lines on its standard input and answers by one each.

use ropewalk_board::{Board, BoardError, BoardOptions, Claim, Membership, NewMember, NewTask};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// First argument of a process that is a member.
const MEMBER: &str = "--board-member";
/// Time within which something that is waited for must have come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Description of a member's process.
#[derive(Debug, Clone)]
pub(crate) struct Role<'a> {
    pub(crate) place: &'a str,
    pub(crate) name: &'a str,
    pub(crate) role: &'a str,
    /// Milliseconds of its leases.
    pub(crate) lease: u64,
    /// Milliseconds after which its calls give up.
    pub(crate) patience: u64,
}

impl<'a> Role<'a> {
    pub(crate) fn new(place: &'a str, name: &'a str) -> Self {
        Self { place, name, role: "", lease: 60_000, patience: 20_000 }
    }

    /// Starts the process by `command`, to which its arguments are added.
    pub(crate) fn start_by(&self, mut command: Command) -> Process {
        let (lease, patience) = (self.lease.to_string(), self.patience.to_string());
        command.args([MEMBER, self.place, self.name, self.role, &lease, &patience]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Process { child, input, output }
    }

    pub(crate) fn start(&self) -> Process {
        self.start_by(Command::new(program()))
    }

    pub(crate) fn join(&self) -> Process {
        self.join_by(Command::new(program()))
    }

    /// Starts the process by `command` and makes it a member.
    pub(crate) fn join_by(&self, command: Command) -> Process {
        let mut process = self.start_by(command);
        assert_eq!(process.ask("open"), "opened");
        assert_eq!(process.ask("join"), "joined");
        process
    }
}

pub(crate) fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// A member's process, killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.answer()
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    pub(crate) fn answer(&mut self) -> String {
        self.output.next().unwrap().unwrap()
    }

    /// Asks again and again, until the answer is `wanted`.
    pub(crate) fn ask_until(&mut self, line: &str, wanted: &str) {
        let begin = Instant::now();
        loop {
            let answer = self.ask(line);
            if answer == wanted {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{line}: {answer}, and never {wanted}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs as a member if this process was started as one.
pub(crate) fn work_if_told() -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, place, name, role, lease, patience] = arguments.as_slice() else { return false };
    if first != MEMBER {
        return false;
    }
    let options = BoardOptions {
        lease: Duration::from_millis(lease.parse().unwrap()),
        patience: Duration::from_millis(patience.parse().unwrap()),
        ..BoardOptions::default()
    };
    let member = NewMember { name: name.clone(), role: role.clone(), ..NewMember::default() };
    let mut hands = Hands { place: place.clone(), options, member, board: None, membership: None };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let answer = runtime.block_on(hands.obey(&line));
        println!("{}", answer.unwrap_or_else(|error| format!("refused: {error}")));
    }
    true
}

/// The child's side.
struct Hands {
    place: String,
    options: BoardOptions,
    member: NewMember,
    board: Option<Board>,
    membership: Option<Membership>,
}

impl Hands {
    async fn obey(&mut self, line: &str) -> Result<String, BoardError> {
        let words: Vec<&str> = line.split(' ').collect();
        Ok(match words[..] {
            ["open"] => {
                self.board = Some(Board::open(self.place.parse()?, self.options.clone()).await?);
                "opened".to_owned()
            }
            ["join"] => {
                let team = self.board.as_ref().unwrap().team("crew", "", "").await?;
                self.membership = Some(team.join(&self.member).await?);
                "joined".to_owned()
            }
            // Seconds since 1970 by this process's own clock.
            ["clock"] => {
                let now = std::time::SystemTime::now();
                now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string()
            }
            _ => self.act(&words).await?,
        })
    }

    async fn act(&self, words: &[&str]) -> Result<String, BoardError> {
        let member = self.membership.as_ref().unwrap();
        Ok(match words {
            ["claim"] => match member.claim().await? {
                Some(task) => format!("claimed {} {}", task.number, task.attempt),
                None => "nothing".to_owned(),
            },
            ["complete", task, attempt] => {
                let claim =
                    Claim { task: task.parse().unwrap(), attempt: attempt.parse().unwrap() };
                member.complete(claim, "done", Some(b"x")).await?;
                "completed".to_owned()
            }
            ["renew"] => format!("renewed {}", member.renew().await?.len()),
            ["create", bytes] => {
                let description = "x".repeat(bytes.parse().unwrap());
                let new = NewTask { description, ..NewTask::default() };
                format!("created {}", member.team().create("test", &new).await?.number)
            }
            other => panic!("{other:?} is nothing that a member does"),
        })
    }
}
