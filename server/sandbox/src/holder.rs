//! The holder: the process that keeps a session's namespaces and starts its commands.
//!
//! It has one thread and decides nothing: the server tells it what to start and what to end. When the server is
//! gone, so is the socket, the holder ends, and with it all it started.

mod calls;
mod command;
mod keys;
mod limits;
mod mounts;
mod namespaces;
mod owners;
mod places;
mod root;
mod session;
mod shown;
mod tools;
mod trial;
mod watch;

use crate::plan::{End, Plan};
use crate::wire::{self, FromHolder, StepFailure, ToHolder, WireSpec};
use command::{CommandMessage, start};
use mounts::During;
use namespaces::close_all_but;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Mode;
use rustix::process::{Pid, WaitOptions, kill_process};
use session::Holder;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;

/// See [`crate::helper`].
pub(crate) fn helper() -> Option<ExitCode> {
    let is_holder = std::env::args_os().nth(1).is_some_and(|first| first == crate::HELPER);
    is_holder.then(|| if hold().is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A command that was started and has not been reported as ended.
struct HolderCommand {
    id: u64,
    /// The first process of its namespace.
    first: Pid,
    /// Messages of that process; `None` once it has told all.
    report: Option<File>,
    told: Vec<u8>,
    end: Option<End>,
    killed: bool,
}

/// Serves one server. `None` when there was none, or it did not speak as one.
fn hold() -> Option<()> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    close_all_but(&[0, 1, 2, socket.as_raw_fd()]);
    // A key pressed in the terminal that the server was started from is not meant for commands.
    let _ = rustix::process::setsid();
    let (message, _) = wire::receive::<ToHolder>(socket.as_fd()).ok()??;
    let plan = match message {
        ToHolder::Setup(plan) => Plan::from(plan),
        ToHolder::Probe(folder) => {
            let found = trial::attempt(std::path::Path::new(&folder));
            let message = found.map_or_else(FromHolder::Failed, FromHolder::Probed);
            return wire::send(socket.as_fd(), &message, &[]).ok();
        }
        ToHolder::Run(_) | ToHolder::Kill(_) => return None,
    };
    match set_up(plan) {
        Ok(mut holder) => {
            let in_memory = holder.root.in_memory;
            let folders = [holder.root.scratch.as_fd(), holder.root.layers.as_fd()];
            let fds = if in_memory { &folders[..] } else { &folders[..1] };
            wire::send(socket.as_fd(), &FromHolder::Ready { in_memory }, fds).ok()?;
            serve(&mut holder, socket.as_fd()).ok()
        }
        Err(failure) => wire::send(socket.as_fd(), &FromHolder::Failed(failure), &[]).ok(),
    }
}

fn set_up(plan: Plan) -> Result<Holder, StepFailure> {
    let umask = rustix::process::umask(Mode::empty());
    limits::be_expendable();
    namespaces::leave_keyrings();
    namespaces::enter()?;
    plan.roots.iter().try_for_each(|root| owners::check(root))?;
    let loopback = namespaces::loopback()?;
    let root = root::make(&plan)?;
    let mut holder =
        Holder { plan, root, keys: Default::default(), loopback, umask, first_layer: None };
    tools::lay_for_all(&mut holder)?;
    Ok(holder)
}

/// Does what the server says until it is gone.
fn serve(holder: &mut Holder, socket: BorrowedFd<'_>) -> Result<(), StepFailure> {
    let mut children = SigSet::empty();
    children.add(Signal::SIGCHLD);
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&children), None).during("holding signals back")?;
    let ended = SignalFd::with_flags(&children, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        .during("listening for ends")?;
    // Its write end lives as long as the holder.
    let (lifeline, _alive) = std::io::pipe().during("making the lifeline")?;
    let mut commands: Vec<HolderCommand> = Vec::new();
    loop {
        let (from_server, children) = {
            let mut fds =
                vec![PollFd::new(&socket, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
            let reports = commands.iter().filter_map(|command| command.report.as_ref());
            fds.extend(reports.map(|report| PollFd::new(report, PollFlags::IN)));
            match poll(&mut fds, None) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other.during("waiting")?,
            };
            let has = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
            (has(0), has(1))
        };
        let mut news = Vec::new();
        for command in &mut commands {
            command.listen(&mut news);
        }
        if children {
            while ended.read_signal().is_ok_and(|signal| signal.is_some()) {}
            reap(&mut commands, &mut news);
        }
        if from_server {
            match wire::receive::<ToHolder>(socket) {
                Ok(Some((ToHolder::Run(spec), mut fds))) => {
                    let id = spec.id;
                    let started = match fds.pop() {
                        Some(output) => run(holder, spec, &output, lifeline.as_fd()),
                        None => Err(StepFailure {
                            words: "a command without output".to_owned(),
                            errno: None,
                        }),
                    };
                    match started {
                        Ok(command) => commands.push(command),
                        Err(failure) => news.push(FromHolder::NotStarted(id, failure)),
                    }
                }
                Ok(Some((ToHolder::Kill(id), _))) => {
                    for command in commands.iter_mut().filter(|command| command.id == id) {
                        command.killed = true;
                        let _ = kill_process(command.first, rustix::process::Signal::KILL);
                    }
                }
                Ok(Some((ToHolder::Setup(_) | ToHolder::Probe(_), _))) => {}
                Ok(None) | Err(_) => return Ok(()),
            }
        }
        for message in news {
            wire::send(socket, &message, &[]).during("telling the server")?;
        }
    }
}

/// Starts a command, whose first process goes on by itself.
fn run(
    holder: &mut Holder,
    spec: WireSpec,
    output: &OwnedFd,
    lifeline: BorrowedFd<'_>,
) -> Result<HolderCommand, StepFailure> {
    let id = spec.id;
    holder.first_layer.get_or_insert_with(|| spec.layer.clone());
    keys::look(holder);
    let (report, tell) = std::io::pipe().during("making a pipe")?;
    rustix::io::ioctl_fionbio(&report, true).during("making a pipe")?;
    let first = start(holder, spec, output, &OwnedFd::from(tell), lifeline)?;
    let report = Some(File::from(OwnedFd::from(report)));
    Ok(HolderCommand { id, first, report, told: Vec::new(), end: None, killed: false })
}

/// Takes note of the first processes that have ended, with all their namespaces.
fn reap(commands: &mut Vec<HolderCommand>, news: &mut Vec<FromHolder>) {
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        let Some(at) = commands.iter().position(|command| command.first == pid) else {
            continue;
        };
        let mut command = commands.swap_remove(at);
        command.listen(news);
        let end = match (command.end, command.killed) {
            (Some(end), _) => end,
            (None, true) => End::Killed,
            (None, false) => End::Lost(match status.terminating_signal() {
                Some(signal) => format!("signal {signal} from outside ended the command"),
                None => "the command's first process ended without a word".to_owned(),
            }),
        };
        news.push(FromHolder::Ended(command.id, end));
    }
}

impl HolderCommand {
    /// Reads what the first process has told.
    fn listen(&mut self, news: &mut Vec<FromHolder>) {
        let Some(report) = &mut self.report else { return };
        let mut piece = [0; 4096];
        loop {
            match report.read(&mut piece) {
                Ok(0) => {
                    self.report = None;
                    break;
                }
                Ok(length) => self.told.extend_from_slice(piece.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        while let Some(line) = self.told.iter().position(|byte| *byte == b'\n') {
            let rest = self.told.split_off(line + 1);
            let line = std::mem::replace(&mut self.told, rest);
            match serde_json::from_slice::<CommandMessage>(&line) {
                Ok(CommandMessage::Started) => news.push(FromHolder::Started(self.id)),
                Ok(CommandMessage::NotStarted(failure)) => {
                    news.push(FromHolder::NotStarted(self.id, failure));
                }
                Ok(CommandMessage::Ended(end)) => self.end = Some(end),
                Err(_) => {}
            }
        }
    }
}
