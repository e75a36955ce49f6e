//! The server's side of a keeper: a command on the machine itself, of which nothing is left when it ends.
//!
//! Nothing bounds what it may see and do: that is what a [`crate::Sandbox`] is for.

use crate::keeper::{self, KeeperMessage, KillExtent, StartCommand};
use crate::plan::End;
use futures::FutureExt;
use futures::future::BoxFuture;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::Child;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How much longer than the keeper's own patience its answer is waited for.
const ANSWER: Duration = Duration::from_secs(1);

/// A command for the machine itself, outside of any sandbox.
#[derive(Debug)]
pub struct Outside {
    /// The program and its arguments. A program without a slash is looked for in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where its standard output and standard error go, both. Its standard input is empty.
    pub output: OwnedFd,
}

/// A command that runs on the machine itself. Dropping it ends it, and the end of this process does, however that
/// comes about.
///
/// "It" is, on Linux, all that it has started and that this user may end, also what has left its process group or
/// its parent; elsewhere it is the process group. The same where [`crate::helper`] was never asked.
#[derive(Debug)]
pub struct KeptCommand {
    ended: oneshot::Receiver<End>,
    end: Option<End>,
    /// Dropped, it ends the command.
    wanted: Option<oneshot::Sender<Infallible>>,
}

impl KeptCommand {
    /// Starts a command. It returns when the program runs. To be called in a tokio runtime.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn start(command: Outside) -> BoxFuture<'static, io::Result<KeptCommand>> {
        Box::pin(async move {
            let Outside { argv, cwd, env, output } = command;
            // Before there is anything whose change it could tell.
            let changes = signal(SignalKind::child())?;
            let (ours, keeper) = if keeper::can_be_started() {
                #[cfg(target_os = "linux")]
                {
                    crate::orphans::adopt();
                    // A sandbox's holder that was killed may have left some, too.
                    crate::orphans::end_those_now();
                }
                let (ours, keeper) = keeper_process(output)?;
                (ours, Some(keeper))
            } else {
                let (ours, theirs) = UnixStream::pair()?;
                tokio::spawn(
                    keeper::keep(theirs, output, KillExtent::Group, std::future::pending()).boxed(),
                );
                (ours, None)
            };
            let (read, tell) = ours.into_split();
            let told = BufReader::new(read).lines();
            let mut link = KeeperLink { told, tell, keeper, changes, group: None };
            let (tell_started, started) = oneshot::channel();
            let (tell_ended, ended) = oneshot::channel();
            let (wanted, unwanted) = oneshot::channel();
            // From here, dropping it ends the command.
            let kept = KeptCommand { ended, end: None, wanted: Some(wanted) };
            let argv = argv.into_iter().map(Into::into).collect();
            let env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            let command = StartCommand { argv, cwd: cwd.into(), env };
            tokio::spawn(
                async move {
                    let started = link.start(&command).await;
                    let runs = started.is_ok();
                    let _ = tell_started.send(started);
                    if runs {
                        let _ = tell_ended.send(link.end(unwanted).await);
                    } else {
                        link.close().await;
                    }
                }
                .boxed(),
            );
            started.await.unwrap_or_else(|_| Err(lost()))?;
            Ok(kept)
        })
    }

    /// Waits until the command has ended and nothing of it is left. May be called again.
    pub fn wait(&mut self) -> BoxFuture<'_, End> {
        Box::pin(async move {
            if let Some(end) = &self.end {
                return end.clone();
            }
            let lost = |_| End::Lost("the process that keeps the command has ended".to_owned());
            let end = (&mut self.ended).await.unwrap_or_else(lost);
            self.end = Some(end.clone());
            end
        })
    }

    /// Ends the command and all of it now. [`KeptCommand::wait`] tells when it is gone.
    pub fn kill(&mut self) {
        self.wanted = None;
    }
}

fn lost() -> io::Error {
    io::Error::other("the process that was to keep it has ended")
}

/// This executable, started again as a keeper, and the socket to it.
fn keeper_process(output: OwnedFd) -> io::Result<(UnixStream, Child)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    // Where there is no such link, the path: what lies there may be another program by now.
    let own = if cfg!(target_os = "linux") {
        PathBuf::from("/proc/self/exe")
    } else {
        std::env::current_exe()?
    };
    let keeper = tokio::process::Command::new(own)
        .arg(crate::KEEPER)
        .env_clear()
        .stdin(OwnedFd::from(theirs))
        .stdout(output)
        .stderr(Stdio::null())
        .current_dir("/")
        .spawn()?;
    Ok((UnixStream::from_std(ours)?, keeper))
}

/// The way to a keeper.
struct KeeperLink {
    told: Lines<BufReader<OwnedReadHalf>>,
    tell: OwnedWriteHalf,
    keeper: Option<Child>,
    /// Children of this process have stopped or ended.
    changes: Signals,
    /// The command's process group.
    group: Option<Pid>,
}

impl KeeperLink {
    /// Says what the keeper tells next; None when it is gone, or was stopped.
    async fn next(&mut self) -> Option<KeeperMessage> {
        let line = tokio::select! {
            line = self.told.next_line() => line.ok()??,
            () = stopped(self.keeper.as_ref(), &mut self.changes) => return None,
        };
        serde_json::from_str(&line).ok()
    }

    async fn start(&mut self, command: &StartCommand) -> io::Result<()> {
        let mut line = serde_json::to_vec(command)?;
        line.push(b'\n');
        self.tell.write_all(&line).await?;
        match self.next().await {
            Some(KeeperMessage::Started(first)) => {
                self.group = Pid::from_raw(first);
                Ok(())
            }
            Some(KeeperMessage::NotStarted(number)) => Err(io::Error::from_raw_os_error(number)),
            // A quick command has stopped or killed it before it could tell, which is said as its end.
            None if self.keeper.is_some() => Ok(()),
            Some(KeeperMessage::Ended(_)) | None => Err(lost()),
        }
    }

    /// Waits for the command's end, by itself or when it is no longer wanted. The keeper is gone then.
    async fn end(mut self, unwanted: oneshot::Receiver<Infallible>) -> End {
        let asked = tokio::select! {
            told = self.next() => Some(told),
            _ = unwanted => None,
        };
        let told = match asked {
            Some(told) => told,
            None => {
                // The keeper sees its end.
                let _ = self.tell.shutdown().await;
                let answer = timeout(keeper::PATIENCE + ANSWER, self.next()).await;
                answer.ok().flatten()
            }
        };
        match told {
            Some(KeeperMessage::Ended(end)) => {
                self.close().await;
                end
            }
            _ => self.without_keeper().await,
        }
    }

    /// Ends what a keeper kept that was killed or stopped, or is too long silent.
    async fn without_keeper(self) -> End {
        // Nobody else waits for its processes where they are not adopted, so the group's number is still its own.
        if let Some(group) = self.group.filter(|_| !adopts()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let is_ended = match self.keeper {
            // Its children are this process's only when it is gone.
            Some(mut keeper) => {
                let _ = keeper.start_kill();
                timeout(keeper::PATIENCE, keeper.wait()).await.is_ok() && end_orphans().await
            }
            None => true,
        };
        let rest = if is_ended {
            "the command and all it had started were ended"
        } else {
            "what the command had started was ended, but for some that may run on"
        };
        End::Lost(format!("the process that keeps the command was stopped or killed, so {rest}"))
    }

    /// Waits until the keeper is gone.
    async fn close(self) {
        let KeeperLink { told, tell, keeper, .. } = self;
        drop((told, tell));
        if let Some(mut keeper) = keeper
            && timeout(keeper::PATIENCE, keeper.wait()).await.is_err()
        {
            // It has told the end, so nothing is left but what nobody can end.
            let _ = keeper.start_kill();
            let _ = timeout(keeper::PATIENCE, keeper.wait()).await;
        }
    }
}

/// Waits until a keeper is stopped: nobody but its own command does that.
async fn stopped(keeper: Option<&Child>, changes: &mut Signals) {
    let id = keeper.and_then(Child::id).and_then(|id| i32::try_from(id).ok());
    let Some(id) = id.and_then(Pid::from_raw) else { return std::future::pending().await };
    let how = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while !matches!(waitid(WaitId::Pid(id), how), Ok(Some(_))) {
        if changes.recv().await.is_none() {
            return std::future::pending().await;
        }
    }
}

/// True if what a killed keeper leaves becomes this process's own.
fn adopts() -> bool {
    #[cfg(target_os = "linux")]
    return crate::orphans::children().is_some();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Ends what has become this process's own. False when some of it is left.
async fn end_orphans() -> bool {
    #[cfg(target_os = "linux")]
    return crate::orphans::end_all(keeper::PATIENCE).await;
    #[cfg(not(target_os = "linux"))]
    true
}
