//! The server's side of a keeper: a command on the machine itself, of which nothing is left when it ends.
//!
//! What it may see and do is not bounded here: that is what a [`crate::Sandbox`] is for.

use crate::keeper::{self, Reach, Told, Wanted};
use crate::plan::End;
use rustix::process::{Pid, Signal, kill_process_group};
use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::Child;
use tokio::sync::oneshot;

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
pub struct Kept {
    ended: oneshot::Receiver<End>,
    end: Option<End>,
    /// Dropped, it ends the command.
    wanted: Option<oneshot::Sender<Infallible>>,
}

impl Kept {
    /// Starts a command. It returns when the program runs. To be called in a tokio runtime.
    ///
    /// # Errors
    /// What the system says.
    pub async fn start(command: Outside) -> io::Result<Kept> {
        let Outside { argv, cwd, env, output } = command;
        let (ours, keeper) = if keeper::can_be_started() {
            let (ours, keeper) = keeper_process(output)?;
            (ours, Some(keeper))
        } else {
            let (ours, theirs) = UnixStream::pair()?;
            tokio::spawn(keeper::keep(theirs, output, Reach::Group, std::future::pending()));
            (ours, None)
        };
        let (read, tell) = ours.into_split();
        let mut link = Link { told: BufReader::new(read).lines(), tell, keeper, group: None };
        let (tell_started, started) = oneshot::channel();
        let (tell_ended, ended) = oneshot::channel();
        let (wanted, unwanted) = oneshot::channel();
        // From here, dropping it ends the command.
        let kept = Kept { ended, end: None, wanted: Some(wanted) };
        let wanted = Wanted { argv, cwd: cwd.into_os_string(), env };
        tokio::spawn(async move {
            let started = link.start(&wanted).await;
            let runs = started.is_ok();
            let _ = tell_started.send(started);
            if runs {
                let _ = tell_ended.send(link.end(unwanted).await);
            }
            link.close().await;
        });
        started.await.unwrap_or_else(|_| Err(lost()))?;
        Ok(kept)
    }

    /// Waits until the command has ended and nothing of it is left. May be called again.
    pub async fn wait(&mut self) -> End {
        if let Some(end) = &self.end {
            return end.clone();
        }
        let lost = |_| End::Lost("the process that keeps the command has ended".to_owned());
        let end = (&mut self.ended).await.unwrap_or_else(lost);
        self.end = Some(end.clone());
        end
    }

    /// Ends the command and all of it now. [`Kept::wait`] tells when it is gone.
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
struct Link {
    told: Lines<BufReader<OwnedReadHalf>>,
    tell: OwnedWriteHalf,
    keeper: Option<Child>,
    /// The command's process group.
    group: Option<Pid>,
}

impl Link {
    /// What the keeper tells next; None when it is gone.
    async fn next(&mut self) -> Option<Told> {
        let line = self.told.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }

    async fn start(&mut self, wanted: &Wanted) -> io::Result<()> {
        let mut line = serde_json::to_vec(wanted)?;
        line.push(b'\n');
        self.tell.write_all(&line).await?;
        match self.next().await {
            Some(Told::Started(first)) => {
                self.group = Pid::from_raw(first);
                Ok(())
            }
            Some(Told::NotStarted(number)) => Err(io::Error::from_raw_os_error(number)),
            Some(Told::Ended(_)) | None => Err(lost()),
        }
    }

    /// How the command ends, by itself or when it is no longer wanted.
    async fn end(&mut self, unwanted: oneshot::Receiver<Infallible>) -> End {
        let asked = tokio::select! {
            told = self.told.next_line() => Some(told),
            _ = unwanted => None,
        };
        let told = match asked {
            Some(Ok(Some(line))) => serde_json::from_str(&line).ok(),
            Some(_) => None,
            None => {
                // The keeper sees its end.
                let _ = self.tell.shutdown().await;
                self.next().await
            }
        };
        match told {
            Some(Told::Ended(end)) => end,
            _ => {
                // Somebody has killed it. What it kept is out of reach, but for this.
                if let Some(group) = self.group {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                End::Lost("the process that keeps the command has ended".to_owned())
            }
        }
    }

    /// Waits until the keeper is gone.
    async fn close(self) {
        let Link { told, tell, keeper, .. } = self;
        drop((told, tell));
        if let Some(mut keeper) = keeper {
            let _ = keeper.wait().await;
        }
    }
}
