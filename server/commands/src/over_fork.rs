//! Commands over the fork: in a sandbox of the session's, on a layer that shows the view, whose changes come back as
//! proposals.
//!
//! One command runs at a time on the session's layer; one in the background has a layer of its own. A command that
//! is interrupted leaves a layer that nobody has collected: what it wrote is dropped before the next one runs. What
//! a sandbox is, and what a layer makes of a view, is theirs.

mod attended;
mod live;

use super::background::BackgroundWork;
use super::folders::UncollectedCommand;
use super::{CommandSettings, hidden, hints};
use crate::command::{Exit, LEFT_RUNNING, Sink};
use crate::layer::{LayerChanges, LayerError, file_time};
use attended::{Attended, ForSandbox, attended};
use futures::FutureExt;
use live::{Builds, Live, room_of};
use ropewalk_sandbox::{End, LayerRoom};
use ropewalk_tools::blocking::on_thread;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_tools::escapes::strip_escapes;
use ropewalk_tools::runner::Command;
use ropewalk_tools::tool::{Context, ToolOutput};
use ropewalk_workspace::View;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};

/// The layer of the commands that run one after the other.
const MAIN: &str = "main";

/// See the module.
#[derive(Debug, Default)]
pub(super) struct OverForkRunner {
    settings: Arc<CommandSettings>,
    live: Arc<Mutex<Option<Live>>>,
    layers: AtomicU64,
}

/// The session's sandbox and layer, held by one command.
type LiveGuard = OwnedMutexGuard<Option<Live>>;

/// Something that was made on the layer, which is held meanwhile.
struct MadeOnLayer<T> {
    held: LiveGuard,
    made: T,
    /// Words that go with the command's result.
    told: Vec<String>,
}

impl OverForkRunner {
    pub(super) fn new(settings: CommandSettings) -> Self {
        Self { settings: Arc::new(settings), ..Self::default() }
    }

    /// Tries whether commands run over these roots, by running one. The error says why not.
    pub(super) async fn try_out(&self, view: &Arc<View>) -> Result<(), String> {
        let mut held = self.live.clone().lock_owned().await;
        let live = Live::start(&self.settings, view).await?;
        live.try_out().await?;
        *held = Some(live);
        Ok(())
    }

    /// Waits until nothing runs any more of a command whose future was dropped.
    pub(super) async fn settled(&self) {
        drop(self.live.lock().await);
    }

    /// Runs a command to its end, after those that were asked for before. Dropping the future kills it.
    pub(super) async fn run(
        &self,
        asked: Command,
        context: &Context,
    ) -> Result<ToolOutput, ToolOutput> {
        let (own, command) = (context.clone(), asked.command.clone());
        let show = move |live: &mut Live| Ok((live.show(&command, &own)?, live.builds()));
        let MadeOnLayer { mut held, made: (shown, builds), mut told } =
            self.with_room(context, show).await?;
        told.extend(shown.told);
        let live = live_of(&mut held)?;
        let secrets = live.hidden.secrets.clone();
        live.unfinished =
            Some(UncollectedCommand { view: context.view.clone(), started: file_time() });
        let sandbox = live.sandbox.clone();
        let sink = super::showing(context);
        let mut asked = ForSandbox::new(asked, context, &self.settings, MAIN, shown.veil);
        asked.build_in(builds.variables, builds.laid);
        // A task of its own, which keeps the layer until all that the command started is dead, also when nobody
        // waits for its result any more.
        let (_wanted, unwanted) = oneshot::channel::<Infallible>();
        let interrupt = async move { drop(unwanted.await) };
        let running = tokio::spawn(
            async move {
                let ran = attended(&sandbox, asked, sink, interrupt).await;
                (held, ran)
            }
            .boxed(),
        );
        let (mut held, ran) = running.await.map_err(|error| {
            tracing::error!(%error, "a command was lost");
            ToolOutput::error("the tool broke down inside, and what the command changed is dropped")
        })?;
        let live = live_of(&mut held)?;
        let ran = ran.inspect_err(|_| live.never_ran())?;
        live.is_full |= matches!(ran.end, End::LayerFull { .. });
        if let End::Lost(_) = ran.end {
            *held = None;
            return Ok(
                result(ran, Ok(LayerChanges::default()), told, None, &secrets, context).await
            );
        }
        let collected = on_thread(move |_| {
            let live = live_of(&mut held)?;
            let collected = live.collect();
            let room = room_of(&live.sandbox);
            if collected.is_err() {
                // Nor would what the next one changed be known.
                *held = None;
            }
            Ok((held, collected, room))
        });
        let (mut held, collected, room) = collected.await?;
        let collected = collected.map_err(|error| {
            told.push(GIVEN_UP.to_owned());
            error.to_string()
        });
        // The next command waits for it, and this one's result does not.
        let was_full = matches!(ran.end, End::CacheFull { .. });
        spawn_blocking(move || {
            if let Some(live) = held.as_mut() {
                live.keep_caches_within(was_full);
            }
        });
        Ok(result(ran, collected, told, room, &secrets, context).await)
    }

    /// Runs `make` on the layer, and gives the words that go with its result. A full layer is left for an empty one:
    /// what fills it are files that are ignored, and if they stayed no command could run to remove them. So is one
    /// that can't be read or written.
    async fn with_room<T: Send + 'static>(
        &self,
        context: &Context,
        how: impl Fn(&mut Live) -> Result<T, LayerError> + Clone + Send + 'static,
    ) -> Result<MadeOnLayer<T>, ToolOutput> {
        let (held, mut told) = self.ready(context).await?;
        let (mut held, mut made) = match held.as_ref().is_some_and(|live| live.is_full) {
            true => (held, Err(LayerError::Full)),
            false => made_in(held, how.clone()).await?,
        };
        let left = match &made {
            Err(LayerError::Full) => Some(EMPTIED.to_owned()),
            Err(error @ LayerError::Io { .. }) => Some(left_for(error)),
            _ => None,
        };
        if let Some(words) = left {
            *held = None;
            *held = Some(self.anew(context).await?);
            told.push(words);
            (held, made) = made_in(held, how).await?;
        }
        let made = made.map_err(|error| match error {
            LayerError::Full => ToolOutput::error(TOO_SMALL),
            error => ToolOutput::error(error),
        })?;
        Ok(MadeOnLayer { held, made, told })
    }

    async fn anew(&self, context: &Context) -> Result<Live, ToolOutput> {
        let live = Live::start(&self.settings, &context.view).await;
        live.map_err(|why| {
            ToolOutput::error(format_args!("commands can't run in the sandbox any more: {why}"))
        })
    }

    /// A command in the background, on a layer of its own.
    pub(super) async fn work(
        &self,
        asked: Command,
        context: &Context,
    ) -> Result<BackgroundWork, ToolOutput> {
        let name = format!("b{}", self.layers.fetch_add(1, Ordering::Relaxed) + 1);
        let (own, name_of) = (context.clone(), name.clone());
        let make = move |live: &mut Live| {
            let folder = live.sandbox.layers().join(&name_of);
            let beside = live.beside(&folder, &asked.command, &own)?;
            Ok((beside, live.hidden.secrets.clone(), asked.clone()))
        };
        let MadeOnLayer { held, made, mut told } = self.with_room(context, make).await?;
        let (mut beside, secrets, asked) = made;
        drop(held);
        let shown = std::mem::take(&mut beside.shown);
        told.extend(shown.told);
        let mut asked = ForSandbox::new(asked, context, &self.settings, &name, shown.veil);
        let Builds { variables, laid } = std::mem::take(&mut beside.builds);
        asked.build_in(variables, laid);
        let own = context.clone();
        Ok(Box::new(move |sink: Sink, stop| {
            Box::pin(async move {
                let sandbox = beside.sandbox.clone();
                let ran = match attended(&sandbox, asked, sink, stop).await {
                    Ok(ran) => ran,
                    Err(output) => {
                        beside.never_ran();
                        return output;
                    }
                };
                let collected = on_thread(move |_| {
                    let collected = beside.collect();
                    Ok((collected.map_err(|error| error.to_string()), room_of(&sandbox)))
                });
                match collected.await {
                    Ok((collected, room)) => {
                        result(ran, collected, told, room, &secrets, &own).await
                    }
                    Err(output) => output,
                }
            })
        }))
    }

    /// The sandbox for a command on this view, started anew where the last one doesn't fit any more, and what is to
    /// be said of that.
    async fn ready(&self, context: &Context) -> Result<(LiveGuard, Vec<String>), ToolOutput> {
        let mut held = self.live.clone().lock_owned().await;
        let mut told = Vec::new();
        let fits = match held.as_ref() {
            None => false,
            Some(live) if !live.sandbox.is_alive() => {
                told.push(
                    "the sandbox of this session had ended and was started anew: ignored files that commands had made are gone"
                        .to_owned(),
                );
                false
            }
            Some(live) => {
                let fits = live.fits(&context.view);
                if !fits && live.has_run {
                    told.push(OTHER_FOLDERS.to_owned());
                }
                fits
            }
        };
        if !fits {
            *held = None;
            *held = Some(self.anew(context).await?);
        }
        Ok((held, told))
    }
}

/// Runs `make` on a layer, on a thread that may block.
async fn made_in<T: Send + 'static>(
    mut held: LiveGuard,
    how: impl FnOnce(&mut Live) -> Result<T, LayerError> + Send + 'static,
) -> Result<(LiveGuard, Result<T, LayerError>), ToolOutput> {
    let made = on_thread(move |_| {
        let made = how(live_of(&mut held)?);
        Ok((held, made))
    });
    made.await
}

/// Words for when other folders are open than before.
const OTHER_FOLDERS: &str = "other folders are open now, so the sandbox of this session was started anew: ignored files that commands had made are gone";

/// Words for when a full layer is left.
const EMPTIED: &str = "this session's sandbox was full and was emptied: ignored files that commands had made are gone. Make less of them, or tell the user of commands.layer_megabytes";

/// Words for when the layer could not be read after a command.
const GIVEN_UP: &str =
    "this session's sandbox was started anew: ignored files that commands had made are gone";

/// Words for when a layer is left that can't be read or written.
fn left_for(error: &LayerError) -> String {
    format!(
        "this session's sandbox could not be used any more ({error}) and was started anew: ignored files that commands had made are gone"
    )
}

/// Words for when an empty layer has no room for the view.
const TOO_SMALL: &str = "what is open and not accepted yet takes more room than this session's commands may write: let the user accept or reject what is pending and close large files, or tell them of commands.layer_megabytes";

fn live_of(held: &mut LiveGuard) -> Result<&mut Live, ToolOutput> {
    held.as_mut().ok_or_else(|| ToolOutput::error("the sandbox has ended; call again"))
}

/// The result for the model: how it ended, what it printed, what became of what it wrote.
async fn result(
    ran: Attended,
    collected: Result<LayerChanges, String>,
    mut told: Vec<String>,
    room: Option<LayerRoom>,
    secrets: &[PathBuf],
    context: &Context,
) -> ToolOutput {
    let Attended { outcome, end, network, file } = ran;
    let printed = [outcome.output.head.as_slice(), outcome.output.tail.as_slice()].concat();
    let printed = strip_escapes(&String::from_utf8_lossy(&printed));
    let failed = outcome.exit != Exit::Exited(0);
    let mut output = super::result_of(outcome, file, context).await;
    told.extend(said_of_end(&end));
    if let End::Lost(why) = &end {
        output.fail(format_args!(
            "the sandbox ended while this command ran ({why}), and what it changed is lost. It is started anew with the next command."
        ));
    }
    if !network && hints::wants_network(&printed, failed) {
        told.push(
            "this command had no network, and nothing of the host's localhost: if it needs that, call again with network: true, and the user will be asked, unless a rule of theirs gives it"
                .to_owned(),
        );
    }
    if hints::wants_rename(&printed, failed) {
        told.push(
            "a folder that is on the disk can't be renamed in one step here, as between two disks: `mv` works, because it copies"
                .to_owned(),
        );
    }
    let missed =
        if failed { hidden::named_by(hints::end_of(&printed), secrets) } else { Vec::new() };
    if let Some(missed) = missed.first().filter(|_| !context.grant.reach.secrets) {
        told.push(format!(
            "{} may hold secrets and is empty to commands: if this one needs it, name it in the command, and the user will be asked",
            missed.display()
        ));
    }
    match room {
        Some(room) if room.free < room.size / 64 => told.push(full(room.size - room.free)),
        Some(room) if hints::wants_room(&printed, failed) => told.push(format!(
            "there is room in the open folders: what is full is /tmp, /var/tmp or the home of commands, which together hold {} MB and lose all at the session's end, unless the command removed what it had written. Remove large files there, or write less",
            room.size >> 20
        )),
        _ => {}
    }
    super::taken_in(&mut output, collected, told);
    output
}

/// A sentence about an end that needs one.
fn said_of_end(end: &End) -> Option<String> {
    match end {
        End::Exited { left_running: true, .. } | End::Signalled { left_running: true, .. } => {
            Some(LEFT_RUNNING.to_owned())
        }
        End::Memory { bytes } => Some(format!(
            "it was ended because it used {} MB of memory, more than a command may: let it use less, or tell the user of commands.memory_megabytes",
            bytes >> 20
        )),
        // On a disk, where nothing but its end keeps a command from writing.
        End::LayerFull { bytes } => Some(format!(
            "it was ended because what this session's commands have written takes {} MB, more than it may: ignored files that they made are removed before the next command. Make less of them, or tell the user of commands.layer_megabytes",
            bytes >> 20
        )),
        End::CacheFull { bytes } => Some(format!(
            "it was ended because build caches hold {} MB, more than they may; what is too much is removed. Build less at a time, or tell the user of commands.cache_megabytes",
            bytes >> 20
        )),
        End::Lost(_) | End::Exited { .. } | End::Signalled { .. } | End::Killed => None,
    }
}

fn full(bytes: u64) -> String {
    format!(
        "what this session's commands have written fills the sandbox ({} MB): remove build output or other large files that they made, or tell the user of commands.layer_megabytes",
        bytes >> 20
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{self, CommandOutcome};
    use ropewalk_workspace::{Fork, Roots, Workspace};
    use std::time::Duration;

    fn context() -> Context {
        let workspace = Workspace::new(Roots::new(Vec::new()));
        Context::new("c", 1, Arc::new(Fork::new("s".into()).view(workspace.snapshot())))
    }

    /// How a command ended that nothing need be said of.
    fn ended(code: i32, printed: &str) -> Attended {
        let output =
            command::BoundedOutput { head: printed.into(), ..command::BoundedOutput::default() };
        let outcome = CommandOutcome {
            exit: Exit::Exited(code),
            output,
            duration: Duration::ZERO,
            left_running: false,
            lost: None,
            output_file: None,
        };
        let end = End::Exited { code, left_running: false };
        Attended { outcome, end, network: false, file: None }
    }

    fn said(ran: Attended, room: Option<LayerRoom>, context: &Context) -> ToolOutput {
        let secrets = [PathBuf::from("/w/.env"), PathBuf::from("/w/id_ed25519")];
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let collected = Ok(LayerChanges::default());
        runtime.block_on(result(ran, collected, vec!["first".into()], room, &secrets, context))
    }

    #[test]
    fn what_kept_a_command_from_its_end_is_said_with_what_to_do() {
        let killed = |end: End| {
            let ran = ended(0, "out\n");
            let outcome = CommandOutcome { exit: Exit::Signalled(9), ..ran.outcome };
            Attended { outcome, end, ..ran }
        };
        let left = End::Exited { code: 0, left_running: true };
        let left_by_signal = End::Signalled { signal: 15, left_running: true };
        for (end, words) in [
            (left, "(processes that it left running were ended with it: use background"),
            (left_by_signal, "(processes that it left running were ended with it: use background"),
            (End::Memory { bytes: 7 << 20 }, "(it was ended because it used 7 MB of memory"),
            (
                End::LayerFull { bytes: 9 << 20 },
                "takes 9 MB, more than it may: ignored files that they made are removed",
            ),
            (End::CacheFull { bytes: 5 << 20 }, "(it was ended because build caches hold 5 MB"),
            (End::Killed, "(ended by signal 9)"),
        ] {
            let output = said(killed(end), None, &context());
            assert!(
                output.words().starts_with("out\n") && output.words().contains(words),
                "{output:?}"
            );
            assert!(output.words().contains("(first)") && !output.is_error, "{output:?}");
        }
        let output = said(killed(End::Lost("gone, ünï".into())), None, &context());
        assert!(output.is_error, "{output:?}");
        let words = "Error: the sandbox ended while this command ran (gone, ünï), and what it changed is lost.";
        assert!(
            output.words().starts_with(words) && output.words().contains("\nout\n"),
            "{output:?}"
        );
    }

    #[test]
    fn a_failure_for_want_of_something_says_how_to_get_it() {
        const NETWORK: &str = "call again with network: true, and the user will be asked";
        const SECRET: &str = "(/w/.env may hold secrets and is empty to commands";
        const FULL: &str = "fills the sandbox (3 MB)";
        const SCRATCH: &str =
            "what is full is /tmp, /var/tmp or the home of commands, which together hold 4 MB";
        let all = [NETWORK, SECRET, FULL, SCRATCH];
        let nearly = Some(LayerRoom { size: 3 << 20, free: 0 });
        let room = |free: u64| Some(LayerRoom { size: 4 << 20, free });
        let check = |ran: Attended, room, context: &Context, expected: &[&str]| {
            let output = said(ran, room, context);
            let found: Vec<&str> =
                all.into_iter().filter(|words| output.words().contains(words)).collect();
            assert_eq!(found, expected, "{output:?}");
        };
        let (plain, plenty) = (context(), room(1 << 20));
        let unreachable = "curl: (6) Could not resolve host: example.com\n";
        check(ended(6, unreachable), plenty, &plain, &[NETWORK]);
        check(ended(0, unreachable), plenty, &plain, &[]);
        check(Attended { network: true, ..ended(6, unreachable) }, plenty, &plain, &[]);
        let colours = "\x1b[31mcurl: Could not\x1b[0m resolve host: x\n";
        check(ended(6, colours), plenty, &plain, &[NETWORK]);
        let denied = "cat: .env: Permission denied\n";
        check(ended(1, denied), plenty, &plain, &[SECRET]);
        check(ended(0, denied), plenty, &plain, &[]);
        let mut allowed = context();
        allowed.grant.reach.secrets = true;
        check(ended(1, denied), plenty, &allowed, &[]);
        let no_space = "write error: No space left on device\n";
        check(ended(1, no_space), plenty, &plain, &[SCRATCH]);
        check(ended(1, no_space), nearly, &plain, &[FULL]);
        // Found by a search, and shown.
        check(ended(0, no_space), plenty, &plain, &[]);
        check(ended(0, "fine\n"), nearly, &plain, &[FULL]);
        check(ended(0, "fine\n"), None, &plain, &[]);
    }

    #[test]
    fn what_could_not_be_taken_in_is_an_error_before_what_was_printed() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let failed = Err("the disk is gone".to_owned());
        let ran = ended(0, "out\n");
        let output = runtime.block_on(result(ran, failed, Vec::new(), None, &[], &context()));
        let words =
            "Error: what the command changed could not be taken in: the disk is gone\nout\n";
        assert_eq!((output.is_error, output.words()), (true, words));
    }
}
