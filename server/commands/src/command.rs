//! Runs one shell command on the machine itself: one pipe for all it prints, bounded memory, nothing of it left.
//!
//! Standard output and standard error share a pipe, so their order is the one the command wrote in.
//! All that it has started is killed when its shell ends, on timeout, and when the future is dropped, which is how
//! a command is interrupted: see [`ropewalk_sandbox::KeptCommand`].
//!
//! Deliberately not here: whether a command may run (policy and [`ropewalk_tools::danger`]), which files it
//! sees, and where the output file lives; the caller says.

mod attend;
mod collect;
mod environment;
mod report;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ropewalk_sandbox::{End, KeptCommand, Outside};
use ropewalk_tools::private::private_file;
use ropewalk_tools::secrets::Secrets;
use tokio::net::unix::pipe::Receiver;

pub(crate) use attend::{Stopped, attend};
pub(crate) use collect::Collector;
pub use collect::{BoundedOutput, MAX_FILE_BYTES, Sink};
pub use environment::{INSIDE, allowed_environment, command_environment};
pub(crate) use environment::{account_in, without_network};
pub(crate) use report::LEFT_RUNNING;
pub use report::result_text;

/// How long to wait for the pipe's end after the command has, in case something that could not be ended holds it.
const GRACE: Duration = Duration::from_millis(250);

/// The shells that are tried, in this order.
const SHELLS: [&str; 2] = ["bash", "sh"];

/// A command to run, with its bounds and variables.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// The text for the shell's `-c`.
    pub command: String,
    /// The folder to run in.
    pub cwd: PathBuf,
    /// The whole environment; nothing else is inherited. See [`command_environment`].
    pub env: Vec<(OsString, OsString)>,
    /// After this the command is killed.
    pub timeout: Duration,
    /// Where everything it prints is written, raw but for secrets; created anew, for its owner alone. `None` keeps head
    /// and tail only.
    pub output_file: Option<PathBuf>,
    /// Keys that are redacted from its output before anybody sees it.
    pub secrets: Secrets,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The shell's exit code.
    Exited(i32),
    /// The shell was ended by this signal; by SIGKILL where nobody knows.
    Signalled(i32),
    /// It was killed because its time was over.
    TimedOut(Duration),
    /// It was killed because the caller's interrupt came.
    Interrupted,
}

/// Outcome of a command.
#[derive(Debug)]
pub struct CommandOutcome {
    /// How it ended.
    pub exit: Exit,
    /// Output, head and tail.
    pub output: BoundedOutput,
    /// From the start to the end.
    pub duration: Duration,
    /// True if something that it had started still ran, and was ended with it.
    pub left_running: bool,
    /// Set when nobody knows how it would have ended: why, in words.
    pub lost: Option<String>,
    /// The file with all it printed, if one was asked for and holds all of it.
    pub output_file: Option<PathBuf>,
}

/// Why a command could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The folder to run in is missing or is a file.
    #[error("Error: the folder {0} does not exist, so the command was not run. Choose another cwd")]
    NoFolder(PathBuf),
    /// Neither shell is in the `PATH` of the command's environment.
    #[error("Error: neither bash nor sh was found in PATH, so no command can be run")]
    NoShell,
    /// A NUL character, which no argument can hold.
    #[error("Error: the command holds a NUL character, which no shell can be given. Remove it")]
    Nul,
    /// Longer than the system takes for one argument.
    #[error(
        "Error: the command is longer than the system takes ({0} bytes). Write it to a script file and run that"
    )]
    TooLong(usize),
    /// The output file could not be made.
    #[error("Error: the output file {0} could not be written: {1}")]
    OutputFile(PathBuf, #[source] std::io::Error),
    /// The system refused.
    #[error("Error: the command could not be started: {0}")]
    Start(#[from] std::io::Error),
}

/// Runs `spec` to its end, its timeout or the caller's `interrupt` (`std::future::pending()` for
/// none).
///
/// `sink` gets the output as text while it is printed. Dropping the future kills all of it, too. Standard input is
/// `/dev/null`. Memory is bounded whatever is printed, and the output file by [`MAX_FILE_BYTES`].
///
/// # Errors
/// When nothing was run; a command that fails is an outcome.
pub async fn run(
    spec: CommandSpec,
    sink: Option<Sink>,
    interrupt: impl Future<Output = ()>,
) -> Result<CommandOutcome, CommandError> {
    if spec.command.contains('\0') {
        return Err(CommandError::Nul);
    }
    if !spec.cwd.is_dir() {
        return Err(CommandError::NoFolder(spec.cwd));
    }
    let file = match &spec.output_file {
        Some(path) => {
            Some(private_file(path).await.map_err(|e| CommandError::OutputFile(path.clone(), e))?)
        }
        None => None,
    };
    let began = Instant::now();
    let (mut kept, receiver) = start(&spec).await?;
    let mut collector = Collector::new(receiver, file, sink, &spec.secrets);
    let (stopped, is_read) = attend(&mut collector, spec.timeout, interrupt, kept.wait()).await;
    let (exit, end) = match stopped {
        Stopped::Ended(end) => (exit_of(&end), end),
        Stopped::TimedOut => (Exit::TimedOut(spec.timeout), killed(&mut kept).await),
        Stopped::Interrupted => (Exit::Interrupted, killed(&mut kept).await),
    };
    if !is_read {
        let _ = tokio::time::timeout(GRACE, collector.read()).await;
    }
    let (output, file_is_whole) = collector.collected().await;
    Ok(CommandOutcome {
        exit,
        output,
        duration: began.elapsed(),
        left_running: left_running(&end),
        lost: lost(end),
        output_file: spec.output_file.filter(|_| file_is_whole),
    })
}

/// Starts the first shell that exists.
async fn start(spec: &CommandSpec) -> Result<(KeptCommand, Receiver), CommandError> {
    let (receive, send) = std::io::pipe()?;
    let receiver = Receiver::from_owned_fd(receive.into())?;
    let command = Outside {
        argv: vec![shell(&spec.env)?.into(), "-c".into(), (&spec.command).into()],
        cwd: spec.cwd.clone(),
        env: spec.env.clone(),
        output: send.into(),
    };
    match KeptCommand::start(command).await {
        Ok(kept) => Ok((kept, receiver)),
        Err(error) if error.kind() == std::io::ErrorKind::ArgumentListTooLong => {
            Err(CommandError::TooLong(spec.command.len()))
        }
        Err(error) => Err(CommandError::Start(error)),
    }
}

/// The first shell that exists in the `PATH` that a command will have.
pub(crate) fn shell(env: &[(OsString, OsString)]) -> Result<PathBuf, CommandError> {
    SHELLS.iter().find_map(|shell| find(shell, env)).ok_or(CommandError::NoShell)
}

/// Looks a shell up in the `PATH` that the command will have.
fn find(shell: &str, env: &[(OsString, OsString)]) -> Option<PathBuf> {
    let path = env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value)?;
    std::env::split_paths(path).map(|dir| dir.join(shell)).find(|p| p.is_file())
}

async fn killed(kept: &mut KeptCommand) -> End {
    kept.kill();
    kept.wait().await
}

fn exit_of(end: &End) -> Exit {
    match end {
        End::Exited { code, .. } => Exit::Exited(*code),
        End::Signalled { signal, .. } => Exit::Signalled(*signal),
        // SIGKILL, in effect.
        End::Memory { .. }
        | End::LayerFull { .. }
        | End::CacheFull { .. }
        | End::Killed
        | End::Lost(_) => Exit::Signalled(9),
    }
}

fn left_running(end: &End) -> bool {
    matches!(
        end,
        End::Exited { left_running: true, .. } | End::Signalled { left_running: true, .. }
    )
}

fn lost(end: End) -> Option<String> {
    match end {
        End::Lost(why) => Some(why),
        _ => None,
    }
}
