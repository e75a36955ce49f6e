//! A session's commands: where they run, one at a time or in the background, and what becomes of what they do.
//!
//! Where they run is a [`CommandMode`]: over the fork, on a copy, or in place. It is chosen once, when the session's first
//! turn starts, because the model is told. Deliberately not here: whether a command may run, which is policy's.

mod background;
pub mod command;
mod folders;
mod hidden;
mod hints;
mod in_place;
#[cfg(unix)]
pub mod layer;
mod on_a_copy;
mod over_fork;
mod repository;

use crate::command::{
    BoundedOutput, CommandError, CommandOutcome, CommandSpec, Exit, Sink, command_environment,
    result_text, run,
};
use crate::layer::LayerChanges;
use background::Background;
pub use background::MOST_IN_BACKGROUND;
use futures::FutureExt;
use futures::future::BoxFuture;
use in_place::InPlace;
use ropewalk_protocol::OverFork;
use ropewalk_sandbox::{Unsupported, Upper, is_of_a_toolchain, is_of_the_system};
use ropewalk_tools::escapes::strip_escapes;
use ropewalk_tools::policy::is_sensitive;
use ropewalk_tools::runner::{
    BackgroundEnd, BackgroundInfo, Command, CommandMode, CommandRunner, RunnerInfo, Stop,
};
use ropewalk_tools::tool::{Context, ReadFilter, ToolOutput};
use ropewalk_workspace::{Proposal, View};
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{OnceCell, oneshot};

/// How long the end of an interrupted command is waited for.
const SETTLING: Duration = Duration::from_secs(5);

/// The folder of build caches, in the cache folder.
const BUILDS: &str = "builds";

/// How many changed files a result names.
const NAMED: usize = 20;

/// Where the commands of a session run, and why not better.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandModeChoice {
    /// Where its commands run.
    pub mode: CommandMode,
    /// Why not better, in a sentence that says what mends it; None when there is nothing to mend.
    pub why: Option<String>,
}

/// Settings for commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandSettings {
    /// Which ways to run them may be tried.
    pub over_fork: OverFork,
    /// The most that commands may write before it is accepted, in bytes; None goes by the machine's memory.
    pub layer_bytes: Option<u64>,
    /// The most memory of a command and all it starts, in bytes; None goes by the machine's memory.
    pub memory_bytes: Option<u64>,
    /// The most that build caches of one folder may hold, in bytes.
    pub cache_bytes: u64,
    /// Variables that commands over the fork are given beside those that all are.
    pub environment: Vec<String>,
    /// Where layers lie where memory can hold them: in memory, but for tests, which can't have a system that can't.
    pub upper: Upper,
    /// Where build caches and layers on disk are kept; None keeps none.
    pub cache_folder: Option<PathBuf>,
    /// Folders of our own, with the user's settings and what was said in other sessions: no command over the fork
    /// sees them.
    pub private: Vec<PathBuf>,
}

/// See the module. Dropping it ends every command of the session.
#[derive(Debug, Default)]
pub struct Commands {
    settings: CommandSettings,
    chosen: OnceCell<CommandModeChoice>,
    /// Set once a result has said why it is no better mode.
    said_why: AtomicBool,
    /// See [`RunnerInfo::open_sockets`].
    open_sockets: AtomicBool,
    in_place: InPlace,
    over: over_fork::OverForkRunner,
    copy: on_a_copy::OnACopy,
    background: Background,
}

impl Commands {
    /// The commands of a session that begins.
    pub fn new(settings: CommandSettings) -> Self {
        let over = over_fork::OverForkRunner::new(settings.clone());
        let copy = on_a_copy::OnACopy::new(settings.clone());
        let in_place = InPlace::new(settings.clone());
        Self { settings, over, copy, in_place, ..Self::default() }
    }

    /// A turn begins: where commands run is chosen in the first, by trying it on what is open, and stays so.
    /// `hides` says what the user's rules keep from those who read.
    pub async fn turn_begins(
        &self,
        view: &Arc<View>,
        hides: &Arc<ReadFilter>,
    ) -> &CommandModeChoice {
        self.chosen.get_or_init(|| self.choose(view, hides)).await
    }

    /// Tries what the settings let be tried.
    async fn choose(&self, view: &Arc<View>, hides: &Arc<ReadFilter>) -> CommandModeChoice {
        if self.settings.over_fork == OverFork::Off || view.roots().first().is_none() {
            return CommandModeChoice::default();
        }
        let mut why = None;
        if self.settings.over_fork == OverFork::Auto {
            match self.try_over_fork(view).await {
                Ok(()) => return CommandModeChoice { mode: CommandMode::OverFork, why: None },
                Err(words) => why = Some(words),
            }
        }
        match self.copy.try_out(view, hides).await {
            Ok(()) => CommandModeChoice { mode: CommandMode::Copy, why },
            Err(words) => {
                let why = why.into_iter().chain([words]).collect::<Vec<_>>().join(" ");
                CommandModeChoice { mode: CommandMode::InPlace, why: Some(why) }
            }
        }
    }

    async fn try_over_fork(&self, view: &Arc<View>) -> Result<(), String> {
        match ropewalk_sandbox::probe().await {
            Ok(support) => {
                self.open_sockets.store(!support.keeps_abstract_sockets(), Ordering::Relaxed);
                self.over.try_out(view).await
            }
            Err(Unsupported { why, mend }) => Err(format!("{why}. {mend}")),
        }
    }

    /// The chosen mode; in place before that.
    pub fn mode(&self) -> CommandMode {
        self.chosen.get().map_or(CommandMode::default(), |chosen| chosen.mode)
    }

    /// The session's first result says why commands have no better mode, and what mends it: the user sees it there,
    /// and the model can tell.
    fn with_why(&self, result: Result<ToolOutput, ToolOutput>) -> ToolOutput {
        let mut output = result.unwrap_or_else(|failure| failure);
        if let Some(CommandModeChoice { mode, why: Some(why) }) = self.chosen.get()
            && !self.said_why.swap(true, Ordering::Relaxed)
        {
            say(&mut output, &format!("commands run {} here: {why}", mode.word()));
        }
        output
    }
}

impl CommandRunner for Commands {
    fn begin<'a>(&'a self, view: &'a Arc<View>, hides: &'a Arc<ReadFilter>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.turn_begins(view, hides).await;
        })
    }

    fn info(&self) -> RunnerInfo {
        RunnerInfo {
            mode: self.mode(),
            builds: self.settings.cache_folder.as_ref().map(|folder| folder.join(BUILDS)),
            open_sockets: self.open_sockets.load(Ordering::Relaxed),
            shows,
        }
    }

    fn run(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let ran = match self.mode() {
                CommandMode::OverFork => self.over.run(command, &context).await,
                CommandMode::Copy => self.copy.run(command, &context).await,
                CommandMode::InPlace => self.in_place.run(command, &context).await,
            };
            self.with_why(ran)
        })
    }

    fn start(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            if let Err(full) = self.background.has_room() {
                return full;
            }
            let (words, file) = (command.command.clone(), command.output_file.clone());
            let work = match self.mode() {
                CommandMode::OverFork => self.over.work(command, &context).await,
                CommandMode::Copy => self.copy.work(command, &context).await,
                CommandMode::InPlace => Ok(self.in_place.work(command, &context)),
            };
            let begin = |work| self.background.begin(words, file, &context, work);
            self.with_why(work.and_then(begin))
        })
    }

    fn background(&self) -> Vec<BackgroundInfo> {
        self.background.all()
    }

    fn look(&self, id: u64) -> Option<BackgroundInfo> {
        self.background.look(id)
    }

    fn stop(&self, which: Stop) -> usize {
        self.background.stop(which)
    }

    fn finished(&self) -> BoxFuture<'_, BackgroundEnd> {
        Box::pin(self.background.next_finished())
    }

    fn beside(&self) -> Option<Arc<dyn CommandRunner>> {
        if self.mode() != CommandMode::OverFork {
            return None;
        }
        let beside = Commands {
            chosen: self.chosen.clone(),
            open_sockets: AtomicBool::new(self.open_sockets.load(Ordering::Relaxed)),
            ..Commands::new(self.settings.clone())
        };
        Some(Arc::new(beside))
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        let settled = async {
            match self.mode() {
                CommandMode::OverFork => self.over.settled().await,
                CommandMode::Copy => self.copy.settled().await,
                CommandMode::InPlace => self.in_place.settled().await,
            }
        };
        Box::pin(async {
            if tokio::time::timeout(SETTLING, settled).await.is_err() {
                tracing::warn!("an interrupted command takes long to end");
            }
        })
    }
}

/// True for a path beside the open folders that every command over the fork sees: the system's, and toolchains but for
/// what may hold secrets in them.
fn shows(path: &Path) -> bool {
    let is_tool = || is_of_a_toolchain(path, std::env::home_dir().as_deref());
    is_of_the_system(path) || is_tool() && !is_sensitive(&path.to_string_lossy())
}

/// Variables of ours that a process is given, on the disk itself or on a copy of it.
fn whole_environment(
    context: &Context,
    settings: &CommandSettings,
) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    command_environment(std::env::vars_os(), &settings.environment, &context.grant.secrets)
}

fn spec(asked: Command, context: &Context, settings: &CommandSettings) -> CommandSpec {
    CommandSpec {
        command: asked.command,
        cwd: asked.cwd,
        env: whole_environment(context, settings),
        timeout: asked.timeout,
        output_file: asked.output_file,
        secrets: context.grant.secrets.clone(),
    }
}

/// Runs a command in a task of its own, which keeps `held` until all that the command started is dead, also when
/// nobody waits for its result any more: that kills it.
async fn holding<T: Send + 'static>(
    held: T,
    spec: CommandSpec,
    sink: Sink,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(T, Result<CommandOutcome, CommandError>), ToolOutput> {
    let (_wanted, unwanted) = oneshot::channel::<Infallible>();
    let interrupt = async move {
        tokio::select! {
            () = stop => {}
            _ = unwanted => {}
        }
    };
    let running =
        tokio::spawn(async move { (held, run(spec, Some(sink), interrupt).await) }.boxed());
    running.await.map_err(|error| {
        tracing::error!(%error, "a command was lost");
        ToolOutput::error("the tool broke down inside, and what the command changed is dropped")
    })
}

/// The result for the model. The file with the whole output goes if the result has all of it.
async fn result_of(
    outcome: CommandOutcome,
    file: Option<PathBuf>,
    context: &Context,
) -> ToolOutput {
    let output = &outcome.output;
    let whole = [output.head.as_slice(), output.tail.as_slice()].concat();
    let shown = strip_escapes(&String::from_utf8_lossy(&whole));
    let is_cut = output.left_out > 0 || shown.chars().count() > context.bounds.max_chars;
    if let (Some(file), false) = (&file, is_cut) {
        remove(file).await;
    }
    let is_error =
        matches!(outcome.exit, Exit::TimedOut(_) | Exit::Interrupted) || outcome.lost.is_some();
    let exit_code = match outcome.exit {
        Exit::Exited(code) => Some(code),
        Exit::Signalled(_) | Exit::TimedOut(_) | Exit::Interrupted => None,
    };
    let (bounds, failure) = (context.bounds, failure_of(&outcome));
    let output = ToolOutput::sized(bounds, true, move |bounds| result_text(&outcome, bounds));
    ToolOutput { is_error, failure, exit_code, ..output }
}

/// See [`ToolOutput::failure`].
fn failure_of(outcome: &CommandOutcome) -> Option<u64> {
    let how = match outcome.exit {
        Exit::Exited(0) | Exit::TimedOut(_) | Exit::Interrupted => return None,
        Exit::Exited(code) => (false, code),
        Exit::Signalled(signal) => (true, signal),
    };
    let BoundedOutput { head, left_out, tail, .. } = &outcome.output;
    let mut hasher = DefaultHasher::new();
    (how, head, left_out, tail).hash(&mut hasher);
    Some(hasher.finish())
}

/// Adds what a command changed to its result, and what is to be said of it.
fn taken_in(
    output: &mut ToolOutput,
    collected: Result<LayerChanges, String>,
    mut told: Vec<String>,
) {
    match collected {
        Ok(collected) => {
            if let Some(names) = changed(&collected.proposals) {
                told.insert(0, names);
            }
            told.extend(collected.told);
            output.proposals = collected.proposals;
        }
        Err(why) => {
            output.fail(format_args!("what the command changed could not be taken in: {why}"));
        }
    }
    for words in told {
        say(output, &words);
    }
}

/// Adds what is to be said of a command to its result.
fn say(output: &mut ToolOutput, words: &str) {
    let line = if output.words().ends_with('\n') { "" } else { "\n" };
    output.say(&format!("{line}({words})"));
}

/// The names of changed files, if any.
fn changed(proposals: &[Proposal]) -> Option<String> {
    let mut names: Vec<&str> = proposals.iter().map(|proposal| &*proposal.place.shown).collect();
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("changed: {}{more}", names.join(", ")))
}

/// Removes an output file that nobody needs.
async fn remove(file: &PathBuf) {
    if let Err(error) = tokio::fs::remove_file(file).await {
        tracing::debug!(%error, "an output file that nobody needs stays");
    }
}

/// A sink that shows what a command prints.
fn showing(context: &Context) -> Sink {
    let progress = context.progress.clone();
    Box::new(move |text| progress.show(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_command_sees_is_no_secret() {
        for (path, is_shown) in
            [("/usr/bin/cc", true), ("/tmp/x", true), ("/var/log", false), ("/home", false)]
        {
            assert_eq!(shows(Path::new(path)), is_shown, "{path}");
        }
        let home = std::env::home_dir().unwrap();
        assert!(shows(&home.join(".cargo/registry/x.rs")));
        assert!(!shows(&home.join(".cargo/credentials.toml")) && !shows(&home.join("notes")));
    }

    #[test]
    fn why_commands_have_no_better_mode_is_said_with_the_first_result_alone() {
        let why = Some("AppArmor forbids it. Write a profile".to_owned());
        for (mode, words) in [(CommandMode::Copy, "on a copy"), (CommandMode::InPlace, "in place")]
        {
            let chosen = OnceCell::new_with(Some(CommandModeChoice { mode, why: why.clone() }));
            let commands = Commands { chosen, ..Commands::default() };
            let first = commands.with_why(Err(ToolOutput::error("no such folder")));
            let told = format!(
                "Error: no such folder\n(commands run {words} here: AppArmor forbids it. Write a profile)"
            );
            assert_eq!((first.is_error, first.words()), (true, &*told));
            let second = commands.with_why(Ok(ToolOutput::text("out\n")));
            assert_eq!(second.words(), "out\n");
        }
        let chosen =
            OnceCell::new_with(Some(CommandModeChoice { mode: CommandMode::OverFork, why: None }));
        let commands = Commands { chosen, ..Commands::default() };
        assert_eq!(commands.with_why(Ok(ToolOutput::text("out\n"))).words(), "out\n");
    }
}
