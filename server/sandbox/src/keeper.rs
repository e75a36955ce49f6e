//! The keeper: the process between the server and a command that runs on the machine itself, where no namespace
//! holds what the command starts.
//!
//! There is one for each command: this executable, started again. It is in a session of its own, so that neither the
//! server's death nor what the command does to its own group reaches it. On Linux, whatever the command starts stays
//! beneath it: what loses its parent becomes its child. When the command has ended, or the socket to the server, it
//! ends all of it, tells the server, and goes. Nothing but these two holds the socket, so the server's death is its
//! end, however the server dies. A command may stop or kill its keeper: then the server does this (`kept.rs`).
//!
//! Deliberately not here: anything that keeps a command from the machine. What leaves by another's hand (a service
//! manager, a container) is not beneath the keeper, nor what has rights that this user has not (`sudo`). Where there
//! are no subreapers, and in a program that never asked [`helper`], a command is its process group alone.

#[cfg(target_os = "linux")]
use crate::orphans;
use crate::plan::End;
use crate::wire_text::WireText;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process_group, test_kill_process_group, waitpid,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::timeout;

/// How long what a command has left may take to end by itself: some only wait for the end of a pipe.
const GRACE: Duration = Duration::from_millis(250);
/// How often it is looked whether somebody is left, where no signal tells.
const LOOK: Duration = Duration::from_millis(5);
/// How long the server waits at most for what can't be ended at once, such as a process in a slow device.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// The longest command with its environment, as it comes from the server.
const LONGEST: u64 = 64 << 20;

/// True if this program has asked [`helper`], and can be started again as a keeper.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Request to a keeper: the command, but for its output. A path need not be UTF-8.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartCommand {
    pub(crate) argv: Vec<WireText>,
    pub(crate) cwd: WireText,
    pub(crate) env: Vec<(WireText, WireText)>,
}

/// Messages of a keeper, a line each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum KeeperMessage {
    /// The program runs, as the first of the process group of this number.
    Started(i32),
    /// It does not, for this error number of the system's.
    NotStarted(i32),
    /// It ran, and all is ended.
    Ended(End),
}

/// Extent of a command, beside its first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KillExtent {
    /// All that it starts.
    #[cfg(target_os = "linux")]
    Descendants,
    /// Its process group.
    Group,
}

/// True if this program can be started again as a keeper.
pub(crate) fn can_be_started() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// See [`crate::helper`].
pub(crate) fn helper() -> Option<ExitCode> {
    ASKED.store(true, Ordering::Relaxed);
    let is_keeper = std::env::args_os().nth(1).is_some_and(|first| first == crate::KEEPER);
    is_keeper.then(|| if begin().is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Serves one server, with standard input as the socket and the command's output as standard output. None when
/// there was none, or it did not speak as one.
fn begin() -> Option<()> {
    let socket = io::stdin().as_fd().try_clone_to_owned().ok()?;
    let output = io::stdout().as_fd().try_clone_to_owned().ok()?;
    // The command must have no way to the server, and its output must end when it does.
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null").ok()?;
    rustix::stdio::dup2_stdin(&nothing).ok()?;
    rustix::stdio::dup2_stdout(&nothing).ok()?;
    rustix::stdio::dup2_stderr(&nothing).ok()?;
    drop(nothing);
    let _ = rustix::process::setsid();
    let socket = std::os::unix::net::UnixStream::from(socket);
    socket.set_nonblocking(true).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let mut polite = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()]
            .map(|kind| signal(kind).ok());
        let [terminate, interrupt, hangup] = polite.each_mut().map(asked_to_end);
        let asked = async {
            tokio::select! {
                () = terminate => {}
                () = interrupt => {}
                () = hangup => {}
            }
        };
        keep(UnixStream::from_std(socket).ok()?, output, reach(), asked).await
    })
}

async fn asked_to_end(signals: &mut Option<Signals>) {
    match signals {
        Some(signals) => {
            signals.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Finds out how much of a command this process can hold.
fn reach() -> KillExtent {
    #[cfg(target_os = "linux")]
    if rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
        && orphans::children().is_some()
    {
        return KillExtent::Descendants;
    }
    KillExtent::Group
}

/// Runs the command that the other end of `socket` asks for, and ends all of it when it has ended, or that end is
/// gone, or somebody `asked`. None when nothing was asked for. Dropping the future ends the command too.
pub(crate) async fn keep(
    socket: UnixStream,
    output: OwnedFd,
    reach: KillExtent,
    asked: impl Future<Output = ()>,
) -> Option<()> {
    let (read, mut tell) = socket.into_split();
    let mut server = BufReader::new(read);
    let mut line = Vec::new();
    (&mut server).take(LONGEST).read_until(b'\n', &mut line).await.ok()?;
    let command: StartCommand = serde_json::from_slice(&line).ok()?;
    drop(line);
    // Before there is anything whose end it could tell.
    let ends = signal(SignalKind::child()).ok()?;
    let mut charge = match start(command, output, reach) {
        Ok(first) => Charge { first, status: None, reach, ends },
        Err(error) => {
            // An error without a number did not come from the system.
            say(&mut tell, &KeeperMessage::NotStarted(error.raw_os_error().unwrap_or_default()))
                .await;
            return Some(());
        }
    };
    say(&mut tell, &KeeperMessage::Started(charge.first.as_raw_nonzero().get())).await;
    let end = tokio::select! {
        end = charge.end() => end,
        () = gone(&mut server) => End::Killed,
        () = asked => End::Lost("the process that keeps the command was ended from outside".to_owned()),
    };
    let _ = timeout(PATIENCE, charge.all_ended()).await;
    say(&mut tell, &KeeperMessage::Ended(end)).await;
    charge.all_ended().await;
    Some(())
}

async fn say(tell: &mut OwnedWriteHalf, message: &KeeperMessage) {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    // A server that is gone hears nothing.
    let _ = tell.write_all(&line).await;
}

/// Waits until the server is gone, or wants no more of the command: it says nothing else.
async fn gone(server: &mut BufReader<OwnedReadHalf>) {
    while server.read_u8().await.is_ok() {}
}

/// Starts the command in a session or a process group of its own.
fn start(command: StartCommand, output: OwnedFd, reach: KillExtent) -> io::Result<Pid> {
    let StartCommand { argv, cwd, env } = command;
    let mut argv = argv.into_iter();
    let mut command = Command::new(argv.next().unwrap_or_default());
    command
        .args(argv)
        .current_dir(&*cwd)
        .env_clear()
        .envs(env)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output);
    match reach {
        #[cfg(target_os = "linux")]
        KillExtent::Descendants => leave(&mut command),
        KillExtent::Group => {
            command.process_group(0);
        }
    }
    let id = command.spawn()?.id();
    i32::try_from(id).ok().and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::Other.into())
}

/// Takes the command out of the keeper's session, and lets it not outlive a keeper that is killed.
#[cfg(target_os = "linux")]
fn leave(command: &mut Command) {
    let keeper = rustix::process::getpid();
    let leave = move || -> io::Result<()> {
        orphans::mark();
        rustix::process::setsid()?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() == Some(keeper) {
            Ok(())
        } else {
            Err(rustix::io::Errno::SRCH.into())
        }
    };
    #[expect(
        unsafe_code,
        reason = "no safe call makes a session for a child, or ties it to this process"
    )]
    // SAFETY: between fork and exec, it makes five system calls, which allocate nothing and take no lock; and the
    // keeper has one thread, so none could be held.
    unsafe {
        command.pre_exec(leave);
    }
}

/// A command that was started. Dropping it ends what of it can be reached at once.
struct Charge {
    /// The first process, which leads its group.
    first: Pid,
    /// How it has ended.
    status: Option<WaitStatus>,
    reach: KillExtent,
    /// Children have ended.
    ends: Signals,
}

impl Charge {
    /// Waits for the end of the first process, and a moment for that of all others.
    async fn end(&mut self) -> End {
        let status = loop {
            self.take_note();
            match self.status {
                Some(status) => break status,
                None => {
                    self.ends.recv().await;
                }
            }
        };
        let left_running = timeout(GRACE, self.last_ended()).await.is_err();
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => End::Exited { code, left_running },
            (_, Some(signal)) => End::Signalled { signal, left_running },
            _ => End::Lost("the program ended in no known way".to_owned()),
        }
    }

    /// Waits until nobody is left, whoever ends them.
    async fn last_ended(&mut self) {
        while self.take_note() {
            let _ = timeout(LOOK, self.ends.recv()).await;
        }
    }

    /// Ends whoever is left, until nobody is: while some are ended, others start more.
    async fn all_ended(&mut self) {
        while self.take_note() && self.kill() {
            let _ = timeout(LOOK, self.ends.recv()).await;
        }
    }

    /// Takes note of ended children. Gives whether somebody is left.
    fn take_note(&mut self) -> bool {
        match self.reach {
            #[cfg(target_os = "linux")]
            KillExtent::Descendants => loop {
                match rustix::process::wait(WaitOptions::NOHANG) {
                    Ok(Some((child, status))) if child == self.first => self.status = Some(status),
                    Ok(Some(_)) => {}
                    Ok(None) => return true,
                    Err(_) => return false,
                }
            },
            KillExtent::Group => {
                if self.status.is_none()
                    && let Ok(Some((_, status))) = waitpid(Some(self.first), WaitOptions::NOHANG)
                {
                    self.status = Some(status);
                }
                self.status.is_none() || test_kill_process_group(self.first).is_ok()
            }
        }
    }

    /// Kills all that can be reached now. False when none of it may be killed.
    fn kill(&self) -> bool {
        match self.reach {
            #[cfg(target_os = "linux")]
            KillExtent::Descendants => {
                // A child's number stays its own until it is waited for, which nobody does meanwhile, and so does
                // that of its group. Their children become this process's, and are killed next.
                let all = orphans::children().unwrap_or_default();
                let mut any = all.is_empty();
                for child in all {
                    if let Ok(group) = rustix::process::getpgid(Some(child)) {
                        any |= kill_process_group(group, Signal::KILL).is_ok();
                    }
                    any |= rustix::process::kill_process(child, Signal::KILL).is_ok();
                }
                any
            }
            // The group lives on as long as one process is in it, so its number can't be another's.
            KillExtent::Group => kill_process_group(self.first, Signal::KILL).is_ok(),
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.take_note() {
            self.kill();
        }
    }
}
