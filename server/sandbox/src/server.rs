//! The server's side of a sandbox: starts the holder, asks it for commands, hears of their ends.
//!
//! It touches no namespace itself.

mod measure;
pub(crate) mod trial;

use crate::plan::{End, LayerRoom, Plan, SandboxError, Spec};
use crate::support::Upper;
use crate::wire::{self, FromHolder, StepFailure, ToHolder, WirePlan, WireSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

/// How long the holder may take to set itself up.
const START: Duration = Duration::from_secs(20);
/// The least time between two looks at the size of what lies on a disk.
const LOOK: Duration = Duration::from_millis(500);

/// A session's sandbox. Dropping it ends all its commands.
#[derive(Debug)]
pub struct Sandbox {
    link: Arc<HolderLink>,
    layers: PathBuf,
    scratch: PathBuf,
    upper: Upper,
    measured: Arc<[BoundedFolders]>,
    _folders: Vec<OwnedFd>,
    _holder: tokio::process::Child,
    listener: tokio::task::JoinHandle<()>,
}

/// A command that runs. Dropping it ends it.
#[derive(Debug)]
pub struct Running {
    id: u64,
    link: Arc<HolderLink>,
    ended: oneshot::Receiver<End>,
    end: Option<End>,
    measured: Arc<[BoundedFolders]>,
}

/// Folders on a disk, where no mount bounds them: they are measured while commands run.
#[derive(Debug)]
struct BoundedFolders {
    folders: Vec<PathBuf>,
    most: u64,
    /// How a command ends that has made it larger, by its size.
    end: fn(u64) -> End,
}

/// The socket to the holder, and who waits for what.
#[derive(Debug)]
struct HolderLink {
    socket: AsyncFd<OwnedFd>,
    next: AtomicU64,
    ended: AtomicBool,
    waiting: Mutex<HashMap<u64, CommandChannels>>,
}

/// Channels to those who wait for a command's start and for its end.
#[derive(Debug)]
struct CommandChannels {
    started: Option<oneshot::Sender<Result<(), SandboxError>>>,
    ended: oneshot::Sender<End>,
}

impl From<StepFailure> for SandboxError {
    fn from(failure: StepFailure) -> SandboxError {
        SandboxError::Failed { words: failure.words, errno: failure.errno }
    }
}

/// A step of the server's own that failed.
fn failed(step: &str, error: &io::Error) -> SandboxError {
    SandboxError::Failed { words: format!("{step}: {error}"), errno: error.raw_os_error() }
}

impl Sandbox {
    /// Starts the holder and sets up all that commands share. To be called in a tokio runtime.
    ///
    /// # Errors
    /// When the plan is not one that can be run, or a step fails on this machine.
    pub fn start(plan: Plan) -> BoxFuture<'static, Result<Sandbox, SandboxError>> {
        Box::pin(async move {
            plan.check()?;
            let (holder, socket) = start_holder()?;
            let limits = plan.limits;
            let disk_layers = plan.disk_layers.clone();
            send(&socket, &ToHolder::Setup(WirePlan::new(&plan)), &[]).await?;
            let (message, fds) = first_answer(&socket).await?;
            let here = |fd: &OwnedFd| PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
            let (layers, scratch, upper) = match (message, &fds[..]) {
                (FromHolder::Ready { in_memory: true }, [scratch, layers]) => {
                    (here(layers), here(scratch), Upper::Memory)
                }
                (FromHolder::Ready { in_memory: false }, [scratch]) => {
                    (disk_layers, here(scratch), Upper::Disk)
                }
                (FromHolder::Failed(failure), _) => return Err(failure.into()),
                _ => return Err(SandboxError::Ended),
            };
            let caches = BoundedFolders {
                folders: plan.caches,
                most: limits.cache_bytes,
                end: |bytes| End::CacheFull { bytes },
            };
            // Files written to toolchains lie there too.
            let layer = (upper == Upper::Disk).then(|| BoundedFolders {
                folders: vec![layers.clone()],
                most: limits.layer_bytes,
                end: |bytes| End::LayerFull { bytes },
            });
            let has_folders = |measured: &BoundedFolders| !measured.folders.is_empty();
            let measured = layer.into_iter().chain([caches]).filter(has_folders).collect();
            let link = Arc::new(HolderLink {
                socket,
                next: AtomicU64::new(1),
                ended: AtomicBool::new(false),
                waiting: Mutex::default(),
            });
            let listener = tokio::spawn(listen(Arc::clone(&link)).boxed());
            Ok(Sandbox {
                link,
                layers,
                scratch,
                upper,
                measured,
                _folders: fds,
                _holder: holder,
                listener,
            })
        })
    }

    /// The folder of the layers. It holds a folder per layer, which holds `INDEX/up` and `INDEX/work` for each
    /// root by its index; whoever runs a command makes them. Nobody touches a layer while a command of it runs.
    /// The path is good in this process alone, and as long as the sandbox lives.
    pub fn layers(&self) -> &Path {
        &self.layers
    }

    /// The folder of what commands have in `/tmp`, in their home and elsewhere outside the roots, which is lost when the
    /// sandbox ends. The path is as good as that of [`Sandbox::layers`].
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Where the layers lie.
    pub fn upper(&self) -> Upper {
        self.upper
    }

    /// The room in the layer folder: "the layer is full" is told by it.
    pub fn room(&self) -> LayerRoom {
        let Ok(stat) = rustix::fs::statvfs(&self.layers) else {
            return LayerRoom { size: 0, free: 0 };
        };
        let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
        // Where no file can be made any more, nothing is free either; some file systems count no files.
        let full = stat.f_files > 0 && stat.f_favail == 0;
        LayerRoom { size: bytes(stat.f_blocks), free: if full { 0 } else { bytes(stat.f_bavail) } }
    }

    /// True if the holder still serves.
    pub fn is_alive(&self) -> bool {
        !self.link.ended.load(Ordering::Acquire)
    }

    /// Starts a command. It returns when the program runs.
    ///
    /// # Errors
    /// When the command is not one that can be run, a step fails, or the holder is gone.
    pub fn run(&self, spec: Spec) -> BoxFuture<'_, Result<Running, SandboxError>> {
        Box::pin(async move {
            spec.check()?;
            if !self.is_alive() {
                return Err(SandboxError::Ended);
            }
            let id = self.link.next.fetch_add(1, Ordering::Relaxed);
            let (tell_started, started) = oneshot::channel();
            let (tell_ended, ended) = oneshot::channel();
            let waiting = CommandChannels { started: Some(tell_started), ended: tell_ended };
            self.link.waiting().insert(id, waiting);
            let measured = Arc::clone(&self.measured);
            // From here, dropping it ends the command.
            let running = Running { id, link: Arc::clone(&self.link), ended, end: None, measured };
            let (wire, output) = WireSpec::new(id, spec);
            send(&self.link.socket, &ToHolder::Run(wire), &[output.as_fd()]).await?;
            drop(output);
            if !self.is_alive() {
                return Err(SandboxError::Ended);
            }
            started.await.unwrap_or(Err(SandboxError::Ended))?;
            Ok(running)
        })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // The holder sees the end of the socket even while a `Running` still has it.
        self.link.close();
        self.listener.abort();
    }
}

impl Running {
    /// Waits until the command and all its processes have ended. May be called again.
    pub fn wait(&mut self) -> BoxFuture<'_, End> {
        Box::pin(async move {
            if let Some(end) = &self.end {
                return end.clone();
            }
            let lost = || End::Lost("the sandbox has ended".to_owned());
            let full = grow_beyond(Arc::clone(&self.measured));
            tokio::pin!(full);
            let end = tokio::select! {
                end = &mut self.ended => end.unwrap_or_else(|_| lost()),
                full = &mut full => {
                    self.kill();
                    match (&mut self.ended).await {
                        Ok(End::Killed) => full,
                        end => end.unwrap_or_else(|_| lost()),
                    }
                }
            };
            self.end = Some(end.clone());
            end
        })
    }

    /// Ends the command and all its processes now. [`Running::wait`] tells when they are gone.
    pub fn kill(&self) {
        // A message to the holder is small; where even that does not fit, the socket is of no use any more.
        if wire::send(self.link.socket.get_ref().as_fd(), &ToHolder::Kill(self.id), &[]).is_err() {
            self.link.close();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.link.waiting().remove(&self.id).is_some() {
            self.kill();
        }
    }
}

impl HolderLink {
    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<u64, CommandChannels>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.ended.store(true, Ordering::Release);
        let _ = rustix::net::shutdown(self.socket.get_ref(), rustix::net::Shutdown::Both);
        self.waiting().clear();
    }
}

/// Hands on what the holder tells, until it ends.
async fn listen(link: Arc<HolderLink>) {
    loop {
        let message = match receive(&link.socket).await {
            Ok(Some((message, _))) => message,
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(%error, "the sandbox's holder can't be understood");
                break;
            }
        };
        match message {
            FromHolder::Started(id) => {
                let started =
                    link.waiting().get_mut(&id).and_then(|waiting| waiting.started.take());
                let _ = started.map(|started| started.send(Ok(())));
            }
            FromHolder::NotStarted(id, failure) => {
                let started = link.waiting().remove(&id).and_then(|waiting| waiting.started);
                let _ = started.map(|started| started.send(Err(failure.into())));
            }
            FromHolder::Ended(id, end) => {
                if let Some(waiting) = link.waiting().remove(&id) {
                    let _ = waiting.ended.send(end);
                }
            }
            FromHolder::Ready { .. } | FromHolder::Failed(_) | FromHolder::Probed(_) => {}
        }
    }
    link.close();
}

/// Starts this executable as the holder, with one end of a socket as its standard input.
fn start_holder() -> Result<(tokio::process::Child, AsyncFd<OwnedFd>), SandboxError> {
    let step = "starting the sandbox";
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|error| failed(step, &error.into()))?;
    rustix::io::ioctl_fionbio(&ours, true).map_err(|error| failed(step, &error.into()))?;
    let holder = tokio::process::Command::new("/proc/self/exe")
        .arg(crate::HELPER)
        .env_clear()
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(step, &error))?;
    #[expect(unsafe_code, reason = "registering asks that the descriptor stays the same one")]
    // SAFETY: an `OwnedFd` is one descriptor from its making to its drop, and is given away to nobody.
    let socket = unsafe { AsyncFd::register(ours) };
    Ok((holder, socket.map_err(|error| failed(step, &error.into()))?))
}

async fn send(
    socket: &AsyncFd<OwnedFd>,
    message: &ToHolder,
    fds: &[BorrowedFd<'_>],
) -> Result<(), SandboxError> {
    loop {
        let mut guard = socket.writable().await.map_err(|_| SandboxError::Ended)?;
        match guard.try_io(|socket| wire::send(socket.get_ref().as_fd(), message, fds)) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) if error.raw_os_error() == Some(libc::EPIPE) => {
                return Err(SandboxError::Ended);
            }
            Ok(Err(error)) => return Err(failed("asking the sandbox", &error)),
            Err(_) => {}
        }
    }
}

async fn receive(socket: &AsyncFd<OwnedFd>) -> io::Result<Option<(FromHolder, Vec<OwnedFd>)>> {
    loop {
        let mut guard = socket.readable().await?;
        let received = guard.try_io(|socket| wire::receive(socket.get_ref().as_fd()));
        if let Ok(received) = received {
            return received;
        }
    }
}

async fn first_answer(
    socket: &AsyncFd<OwnedFd>,
) -> Result<(FromHolder, Vec<OwnedFd>), SandboxError> {
    let step = "starting the sandbox";
    match tokio::time::timeout(START, receive(socket)).await {
        Ok(Ok(Some(answer))) => Ok(answer),
        Ok(Ok(None)) => Err(SandboxError::Ended),
        Ok(Err(error)) => Err(failed(step, &error)),
        Err(_) => Err(failed(step, &io::Error::from(io::ErrorKind::TimedOut))),
    }
}

/// Waits until something holds more than it may; gives how a command ends by that.
async fn grow_beyond(measured: Arc<[BoundedFolders]>) -> End {
    if measured.is_empty() {
        return std::future::pending().await;
    }
    let mut pause = LOOK;
    loop {
        tokio::time::sleep(pause).await;
        let looked_at = Arc::clone(&measured);
        let began = std::time::Instant::now();
        let look = move || looked_at.iter().find_map(BoundedFolders::full);
        if let Ok(Some(end)) = tokio::task::spawn_blocking(look).await {
            return end;
        }
        // Looking costs a twentieth of the time at most.
        pause = LOOK.max(began.elapsed().saturating_mul(20));
    }
}

impl BoundedFolders {
    /// The end, if it holds more than it may.
    fn full(&self) -> Option<End> {
        let size = measure::taken(&self.folders, self.most);
        (size > self.most).then(|| (self.end)(size))
    }
}
