//! Commands as tools see them: what is to be run, where that would be, and what runs in the background.
//!
//! The runner is given to `bash` and to the session, and known here by the trait [`CommandRunner`] alone.

use crate::tool::{Context, ReadFilter, ToolOutput};
use futures::future::BoxFuture;
use ropewalk_protocol::{CallId, CommandPlace};
use ropewalk_workspace::View;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time that a command may take unless somebody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// Where commands run, the best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommandMode {
    /// Over the fork, under the real paths: nothing outside is touched, and there is no network unless it is allowed.
    OverFork,
    /// On a copy of the open folders, elsewhere on the disk. Nothing keeps a command in it.
    Copy,
    /// On the files as they are on the disk.
    #[default]
    InPlace,
}

impl CommandMode {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            CommandMode::OverFork => "in a sandbox",
            CommandMode::Copy => "on a copy",
            CommandMode::InPlace => "in place",
        }
    }

    /// The word for front ends.
    pub fn place(self) -> CommandPlace {
        match self {
            CommandMode::OverFork => CommandPlace::Fork,
            CommandMode::Copy => CommandPlace::Copy,
            CommandMode::InPlace => CommandPlace::Place,
        }
    }

    /// True if commands see unsaved text and pending changes, and what they write is reviewed.
    pub fn sees_fork(self) -> bool {
        self != CommandMode::InPlace
    }
}

/// Facts of a runner, by which a command is judged.
#[derive(Clone, Debug)]
pub struct RunnerInfo {
    /// Where commands run.
    pub mode: CommandMode,
    /// The folder with build caches, of which a command over the fork sees its session's own as they are, and no other.
    pub builds: Option<PathBuf>,
    /// True if a command over the fork that has the network reaches sockets of other programs that lie in no folder.
    pub open_sockets: bool,
    /// Tells the paths beside the open folders that every command over the fork sees, such as the system's.
    pub shows: fn(&Path) -> bool,
}

impl Default for RunnerInfo {
    /// In place.
    fn default() -> Self {
        let mode = CommandMode::default();
        Self { mode, builds: None, open_sockets: false, shows: |_| false }
    }
}

/// A command as a tool has it, checked.
#[derive(Clone, Debug)]
pub struct Command {
    /// The text for the shell.
    pub command: String,
    /// The folder to run in, under its real path.
    pub cwd: PathBuf,
    /// After this it is killed.
    pub timeout: Duration,
    /// File for all that it prints.
    pub output_file: Option<PathBuf>,
}

/// A command in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundInfo {
    /// Its number.
    pub id: u64,
    /// The command.
    pub command: String,
    /// How far it is.
    pub state: BackgroundState,
}

/// State of a command in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackgroundState {
    /// It runs.
    Running {
        /// Since so many seconds.
        seconds: u64,
        /// The last of what it has printed, plain; by [`CommandRunner::look`] only what came since the last look.
        printed: String,
        /// True if more came since then than was kept.
        is_cut: bool,
        /// The file with all of it.
        file: Option<PathBuf>,
    },
    /// It has ended, with this result.
    Ended(String),
}

/// Commands in the background that are to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The one of this number. Its end is told like any other.
    One(u64),
    /// All that this turn or a later one has started. Nothing is told of their ends.
    Since(u64),
}

/// A command that has ended in the background.
#[derive(Debug)]
pub struct BackgroundEnd {
    /// Its number.
    pub id: u64,
    /// The command.
    pub command: String,
    /// The turn of the call that started it.
    pub turn: u64,
    /// The call that started it.
    pub call: CallId,
    /// The view that it saw.
    pub view: Arc<View>,
    /// True if what it has changed is dropped: it began in mode plan.
    pub drops: bool,
    /// Output and proposals.
    pub output: ToolOutput,
}

/// Runs the commands of one session. Dropping it ends them.
pub trait CommandRunner: Send + Sync {
    /// A turn begins: where commands run is chosen in the first, by trying it on what is open, and stays so.
    fn begin<'a>(&'a self, view: &'a Arc<View>, hides: &'a Arc<ReadFilter>) -> BoxFuture<'a, ()>;

    /// Facts by which a command is judged; before the first turn those of commands in place.
    fn info(&self) -> RunnerInfo;

    /// Runs a command to its end. Dropping the future kills it.
    fn run(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput>;

    /// Starts a command that runs on beside the calls that follow, and says under which number.
    fn start(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput>;

    /// Commands in the background, by number: those that run, and the last that have ended.
    fn background(&self) -> Vec<BackgroundInfo>;

    /// The one of this number, with what came since the last look at it.
    fn look(&self, id: u64) -> Option<BackgroundInfo>;

    /// Ends some that run in the background, and gives how many.
    fn stop(&self, which: Stop) -> usize;

    /// The next command that ends in the background. Of several callers one hears of each.
    fn finished(&self) -> BoxFuture<'_, BackgroundEnd>;

    /// A runner beside this one for a helper of the session: what it writes stands in no command of the session's. None
    /// where there is but one place for commands; those of both take turns there.
    fn beside(&self) -> Option<Arc<dyn CommandRunner>> {
        None
    }

    /// Waits, not for long, until nothing runs any more of a command whose future was dropped.
    fn settled(&self) -> BoxFuture<'_, ()>;
}

/// Runner where there are no commands: it refuses each in words.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCommands;

impl NoCommands {
    fn refuse() -> BoxFuture<'static, ToolOutput> {
        Box::pin(std::future::ready(ToolOutput::error("there are no commands here")))
    }
}

impl CommandRunner for NoCommands {
    fn begin<'a>(&'a self, _: &'a Arc<View>, _: &'a Arc<ReadFilter>) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn info(&self) -> RunnerInfo {
        RunnerInfo::default()
    }

    fn run(&self, _: Command, _: Context) -> BoxFuture<'_, ToolOutput> {
        Self::refuse()
    }

    fn start(&self, _: Command, _: Context) -> BoxFuture<'_, ToolOutput> {
        Self::refuse()
    }

    fn background(&self) -> Vec<BackgroundInfo> {
        Vec::new()
    }

    fn look(&self, _: u64) -> Option<BackgroundInfo> {
        None
    }

    fn stop(&self, _: Stop) -> usize {
        0
    }

    fn finished(&self) -> BoxFuture<'_, BackgroundEnd> {
        Box::pin(std::future::pending())
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
