//! A session's commands: where they run, one at a time or in the background, and what becomes of what they do.
//!
//! Where they run is a [`Tier`]: over the fork, on a copy, or in place. It is chosen once, when the session's first
//! turn starts, because the model is told. Deliberately not here: whether a command may run, which is policy's.

mod background;
mod folders;
mod hidden;
mod hints;
mod in_place;
mod on_a_copy;
mod over_fork;
mod repository;

use crate::command::{
    Collected as Printed, CommandError, CommandOutcome, CommandSpec, Exit, Sink, result_text, run,
    strip_escapes,
};
use crate::layer::Collected;
use crate::tool::{Context, Hides, Output};
use background::Background;
pub use background::{Finished, MOST_IN_BACKGROUND};
use in_place::InPlace;
use ropewalk_protocol::OverFork;
use ropewalk_sandbox::{Unsupported, Upper};
use ropewalk_workspace::{Proposal, View};
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
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

/// Where commands run, the best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Over the fork, under the real paths: nothing outside is touched, and there is no network unless it is allowed.
    OverFork,
    /// On a copy of the open folders, elsewhere on the disk. Nothing keeps a command in it.
    Copy,
    /// On the files as they are on the disk.
    #[default]
    InPlace,
}

impl Tier {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Tier::OverFork => "in a sandbox",
            Tier::Copy => "on a copy",
            Tier::InPlace => "in place",
        }
    }

    /// Whether commands see unsaved text and pending changes, and what they write is reviewed.
    pub fn sees_fork(self) -> bool {
        self != Tier::InPlace
    }
}

/// What a command is judged by, of where it would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// Where commands run.
    pub tier: Tier,
    /// The folder with build caches, of which a command over the fork sees its session's own as they are, and no other.
    pub builds: Option<PathBuf>,
    /// Whether a command over the fork that has the network reaches sockets of other programs that lie in no folder.
    pub open_sockets: bool,
}

/// The tier of a session, and why it is no better one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Where its commands run.
    pub tier: Tier,
    /// Why not better, in a sentence that says what mends it; None when there is nothing to mend.
    pub why: Option<String>,
}

/// What the configuration says of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandSettings {
    /// Which tiers may be tried.
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
    chosen: OnceCell<Chosen>,
    /// Whether a result has said why it is no better tier.
    said_why: AtomicBool,
    /// See [`Ground::open_sockets`].
    open_sockets: AtomicBool,
    in_place: InPlace,
    over: over_fork::OverFork,
    copy: on_a_copy::OnACopy,
    background: Background,
}

/// A command as a tool has it, checked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The text for the shell.
    pub(crate) command: String,
    /// The folder to run in, under its real path.
    pub(crate) cwd: PathBuf,
    /// After this it is killed.
    pub(crate) timeout: Duration,
    /// Where everything it prints goes.
    pub(crate) output_file: Option<PathBuf>,
}

impl Commands {
    /// The commands of a session that begins.
    pub fn new(settings: CommandSettings) -> Self {
        let over = over_fork::OverFork::new(settings.clone());
        let copy = on_a_copy::OnACopy::new(settings.clone());
        Self { settings, over, copy, ..Self::default() }
    }

    /// A turn begins: where commands run is chosen in the first, by trying it on what is open, and stays so.
    /// `hides` says what the user's rules keep from those who read.
    pub async fn turn_begins(&self, view: &Arc<View>, hides: &Arc<Hides>) -> &Chosen {
        self.chosen.get_or_init(|| self.choose(view, hides)).await
    }

    /// Tries what the settings let be tried.
    async fn choose(&self, view: &Arc<View>, hides: &Arc<Hides>) -> Chosen {
        if self.settings.over_fork == OverFork::Off || view.roots().first().is_none() {
            return Chosen::default();
        }
        let mut why = None;
        if self.settings.over_fork == OverFork::Auto {
            match self.try_over_fork(view).await {
                Ok(()) => return Chosen { tier: Tier::OverFork, why: None },
                Err(words) => why = Some(words),
            }
        }
        match self.copy.try_out(view, hides).await {
            Ok(()) => Chosen { tier: Tier::Copy, why },
            Err(words) => {
                let why = why.into_iter().chain([words]).collect::<Vec<_>>().join(" ");
                Chosen { tier: Tier::InPlace, why: Some(why) }
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

    /// What a command is judged by.
    pub fn ground(&self) -> Ground {
        Ground {
            tier: self.tier(),
            builds: self.settings.cache_folder.as_ref().map(|folder| folder.join(BUILDS)),
            open_sockets: self.open_sockets.load(Ordering::Relaxed),
        }
    }

    /// What was chosen; in place before that.
    pub fn tier(&self) -> Tier {
        self.chosen.get().map_or(Tier::default(), |chosen| chosen.tier)
    }

    /// Waits, not for long, until nothing runs any more of a command that was interrupted.
    pub async fn settled(&self) {
        let settled = async {
            match self.tier() {
                Tier::OverFork => self.over.settled().await,
                Tier::Copy => self.copy.settled().await,
                Tier::InPlace => self.in_place.settled().await,
            }
        };
        if tokio::time::timeout(SETTLING, settled).await.is_err() {
            tracing::warn!("an interrupted command takes long to end");
        }
    }

    /// Runs a command to its end. Dropping the future kills it.
    pub(crate) async fn run(&self, asked: Asked, context: &Context) -> Result<Output, Output> {
        let ran = match self.tier() {
            Tier::OverFork => self.over.run(asked, context).await,
            Tier::Copy => self.copy.run(asked, context).await,
            Tier::InPlace => self.in_place.run(asked, context).await,
        };
        self.with_why(ran)
    }

    /// Starts a command that runs on beside the calls that follow, and says under which id.
    pub(crate) async fn start(&self, asked: Asked, context: &Context) -> Result<Output, Output> {
        self.background.has_room()?;
        let (command, file) = (asked.command.clone(), asked.output_file.clone());
        let work = match self.tier() {
            Tier::OverFork => self.over.work(asked, context).await,
            Tier::Copy => self.copy.work(asked, context).await,
            Tier::InPlace => Ok(in_place::work(asked, context)),
        };
        let started = work.and_then(|work| self.background.begin(command, file, context, work));
        self.with_why(started)
    }

    /// The session's first result says why commands have no better tier, and what mends it: the user sees it there,
    /// and the model can tell.
    fn with_why(&self, result: Result<Output, Output>) -> Result<Output, Output> {
        let Some(Chosen { tier, why: Some(why) }) = self.chosen.get() else { return result };
        if self.said_why.swap(true, Ordering::Relaxed) {
            return result;
        }
        let add = |mut output: Output| {
            say(&mut output, &format!("commands run {} here: {why}", tier.word()));
            output
        };
        result.map(add).map_err(add)
    }

    /// The next command that has ended in the background. Of several callers one hears of each.
    pub async fn next_finished(&self) -> Finished {
        self.background.next_finished().await
    }

    /// The commands in the background, in words.
    pub fn background_in_words(&self) -> String {
        self.background.in_words()
    }

    /// What one in the background has printed so far, in words; the error is one too.
    pub fn background_output(&self, id: &str) -> Result<String, String> {
        self.background.output(id)
    }

    /// Ends one in the background. Its end is told as any is.
    pub fn stop_background(&self, id: &str) -> Result<String, String> {
        self.background.stop(id)
    }

    /// Ends those in the background that this turn or a later one has started. Nothing is told of their ends.
    pub fn drop_background_since(&self, turn: u64) {
        self.background.drop_since(turn);
    }
}

/// The context for what runs in the background: it must not keep alive the session that ends it.
fn apart(context: &Context) -> Context {
    Context { commands: Arc::default(), ..context.clone() }
}

/// What a process is given of our environment, on the disk itself or on a copy of it.
fn whole_environment(context: &Context) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    context.secrets.environment(std::env::vars_os(), &context.commands.settings.environment)
}

/// What to run, on the disk itself.
fn spec(asked: Asked, context: &Context) -> CommandSpec {
    CommandSpec {
        command: asked.command,
        cwd: asked.cwd,
        env: whole_environment(context),
        timeout: asked.timeout,
        output_file: asked.output_file,
        secrets: context.secrets.clone(),
    }
}

/// Runs a command in a task of its own, which keeps `held` until all that the command started is dead, also when
/// nobody waits for its result any more: that kills it.
async fn holding<T: Send + 'static>(
    held: T,
    spec: CommandSpec,
    sink: Sink,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(T, Result<CommandOutcome, CommandError>), Output> {
    let (_wanted, unwanted) = oneshot::channel::<Infallible>();
    let interrupt = async move {
        tokio::select! {
            () = stop => {}
            _ = unwanted => {}
        }
    };
    let running = tokio::spawn(async move { (held, run(spec, Some(sink), interrupt).await) });
    running.await.map_err(|error| {
        tracing::error!(%error, "a command was lost");
        Output::error("the tool broke down inside, and what the command changed is dropped")
    })
}

/// The result for the model. The file with the whole output goes if the result has all of it.
async fn result_of(outcome: &CommandOutcome, file: Option<PathBuf>, context: &Context) -> Output {
    let output = &outcome.output;
    let whole = [output.head.as_slice(), output.tail.as_slice()].concat();
    let shown = strip_escapes(&String::from_utf8_lossy(&whole));
    let is_cut = output.left_out > 0 || shown.chars().count() > context.bounds.max_chars;
    if let (Some(file), false) = (&file, is_cut) {
        remove(file).await;
    }
    let is_error =
        matches!(outcome.exit, Exit::TimedOut(_) | Exit::Interrupted) || outcome.lost.is_some();
    let text = result_text(outcome, context.bounds);
    Output { text, is_error, failure: failure_of(outcome), ..Output::default() }
}

/// See [`Output::failure`].
fn failure_of(outcome: &CommandOutcome) -> Option<u64> {
    let how = match outcome.exit {
        Exit::Exited(0) | Exit::TimedOut(_) | Exit::Interrupted => return None,
        Exit::Exited(code) => (false, code),
        Exit::Signalled(signal) => (true, signal),
    };
    let Printed { head, left_out, tail } = &outcome.output;
    let mut hasher = DefaultHasher::new();
    (how, head, left_out, tail).hash(&mut hasher);
    Some(hasher.finish())
}

/// Adds what a command changed to its result, and what is to be said of it.
fn taken_in(output: &mut Output, collected: Result<Collected, String>, mut told: Vec<String>) {
    match collected {
        Ok(collected) => {
            if let Some(names) = changed(&collected.proposals) {
                told.insert(0, names);
            }
            told.extend(collected.told);
            output.proposals = collected.proposals;
        }
        Err(why) => {
            output.is_error = true;
            output.text = format!(
                "Error: what the command changed could not be taken in: {why}\n{}",
                output.text
            );
        }
    }
    for words in told {
        say(output, &words);
    }
}

/// Adds what is to be said of a command to its result.
fn say(output: &mut Output, words: &str) {
    if !output.text.ends_with('\n') {
        output.text.push('\n');
    }
    output.text.push_str(&format!("({words})"));
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
    let sink: Arc<dyn Fn(&str) + Send + Sync> = context.sink.clone();
    Box::new(move |text| sink(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_commands_have_no_better_tier_is_said_with_the_first_result_alone() {
        let why = Some("AppArmor forbids it. Write a profile".to_owned());
        for (tier, words) in [(Tier::Copy, "on a copy"), (Tier::InPlace, "in place")] {
            let chosen = OnceCell::new_with(Some(Chosen { tier, why: why.clone() }));
            let commands = Commands { chosen, ..Commands::default() };
            let first = commands.with_why(Err(Output::error("no such folder"))).unwrap_err();
            let told = format!(
                "Error: no such folder\n(commands run {words} here: AppArmor forbids it. Write a profile)"
            );
            assert_eq!((first.is_error, first.text), (true, told));
            let second = commands.with_why(Ok(Output::text("out\n"))).unwrap();
            assert_eq!(second.text, "out\n");
        }
        let chosen = OnceCell::new_with(Some(Chosen { tier: Tier::OverFork, why: None }));
        let commands = Commands { chosen, ..Commands::default() };
        assert_eq!(commands.with_why(Ok(Output::text("out\n"))).unwrap().text, "out\n");
    }
}
