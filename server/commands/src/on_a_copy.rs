//! Commands on a copy of the open folders, where nothing can be laid over them: they see the fork, and what they write
//! in the copy comes back as proposals.
//!
//! Files that policy hides from commands are not in it. Nothing keeps a command in its copy; that is policy's to ask
//! about. The paths differ from the real ones, which each result says.

use super::background::BackgroundWork;
use super::folders::{LayerFolder, UncollectedCommand, roots_of};
use super::hidden::{HiddenFiles, Hiding};
use super::in_place::not_started;
use super::{CommandSettings, holding, result_of, showing, spec, taken_in};
use crate::command::Sink;
use crate::layer::{BuildInputs, Layer, LayerChanges, LayerError, file_time};
use ropewalk_tools::blocking::on_thread;
use ropewalk_tools::runner::Command;
use ropewalk_tools::tool::{Context, ReadFilter, ToolOutput};
use ropewalk_workspace::View;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The most that is copied, in bytes.
const MOST_COPIED: u64 = 2 << 30;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct OnACopy {
    settings: Arc<CommandSettings>,
    live: Arc<Mutex<Option<FolderCopy>>>,
}

/// A copy, and what is known of it.
#[derive(Debug)]
struct FolderCopy {
    layer: Layer,
    ever: BuildInputs,
    roots: Vec<PathBuf>,
    hiding: Hiding,
    has_run: bool,
    unfinished: Option<UncollectedCommand>,
    _folder: LayerFolder,
}

type CopyGuard = OwnedMutexGuard<Option<FolderCopy>>;

impl FolderCopy {
    /// An empty one for what is open. Blocking.
    fn new(settings: &CommandSettings, view: &View) -> Result<Self, LayerError> {
        let roots = roots_of(view);
        let io = |error| LayerError::Io { path: PathBuf::from("a folder for the copy"), error };
        let folder = LayerFolder::make(settings).map_err(io)?;
        let layer = Layer::copy(folder.path(), &roots, MOST_COPIED).map_err(io)?;
        Ok(Self {
            layer,
            ever: BuildInputs::default(),
            roots,
            hiding: Hiding::default(),
            has_run: false,
            unfinished: None,
            _folder: folder,
        })
    }

    /// Brings it in step with what a command is to see. Gives what it can't show. Blocking.
    fn show_to(&mut self, command: &str, context: &Context) -> Result<Vec<String>, LayerError> {
        self.has_run = true;
        let hidden = |hidden: &HiddenFiles| hidden.for_command(command, &context.grant.reach);
        self.show(&context.view, &context.grant.hides, hidden)
    }

    /// Brings it in step with a view, without what an interrupted command left, and without what is hidden. Gives what
    /// it can't show. Blocking.
    fn show(
        &mut self,
        view: &View,
        hides: &Arc<ReadFilter>,
        hidden: impl FnOnce(&HiddenFiles) -> Vec<PathBuf>,
    ) -> Result<Vec<String>, LayerError> {
        if self.unfinished.is_some() {
            // Changes that are collected and never merged are taken away by the next line.
            self.collect()?;
        }
        let found = self.hiding.now(view, &[], hides);
        self.layer.veil(&hidden(&found));
        self.layer.redact_accounts(&found.repositories);
        Ok(self.layer.materialise(view, &mut self.ever)?.told)
    }

    /// Collects the unfinished command's changes. Blocking.
    fn collect(&mut self) -> Result<LayerChanges, LayerError> {
        match self.unfinished.take() {
            Some(UncollectedCommand { view, started }) => {
                self.layer.collect(&view, started, &mut self.ever)
            }
            None => Ok(LayerChanges::default()),
        }
    }

    /// The command as it runs in the copy, and what is to be said of that.
    fn moved(&self, asked: Command) -> Result<(Command, String), ToolOutput> {
        let cwd = self.layer.in_copy(&asked.cwd).ok_or_else(|| {
            ToolOutput::error(format_args!("{} is not in the copy", asked.cwd.display()))
        })?;
        let words =
            format!("it ran on a copy: {} stands for {}", cwd.display(), asked.cwd.display());
        Ok((Command { cwd, ..asked }, words))
    }
}

impl OnACopy {
    pub(super) fn new(settings: CommandSettings) -> Self {
        Self { settings: Arc::new(settings), ..Self::default() }
    }

    /// Waits until nothing runs any more of a command whose future was dropped.
    pub(super) async fn settled(&self) {
        drop(self.live.lock().await);
    }

    /// Makes the copy. The error says why it can't be.
    pub(super) async fn try_out(
        &self,
        view: &Arc<View>,
        hides: &Arc<ReadFilter>,
    ) -> Result<(), String> {
        let mut held = self.live.clone().lock_owned().await;
        let (settings, view, hides) = (self.settings.clone(), view.clone(), hides.clone());
        let made = on_thread(move |_| {
            let mut copied = FolderCopy::new(&settings, &view).map_err(ToolOutput::error)?;
            let all = |hidden: &HiddenFiles| hidden.paths.clone();
            copied.show(&view, &hides, all).map_err(ToolOutput::error)?;
            *held = Some(copied);
            Ok(())
        });
        made.await.map_err(|output| output.words().trim_start_matches("Error: ").to_owned())
    }

    /// Runs a command to its end, after those that were asked for before. Dropping the future kills it.
    pub(super) async fn run(
        &self,
        asked: Command,
        context: &Context,
    ) -> Result<ToolOutput, ToolOutput> {
        let mut held = self.live.clone().lock_owned().await;
        let (settings, own) = (self.settings.clone(), context.clone());
        let shown = on_thread(move |_| {
            let mut told =
                shown(&mut held, &settings, &asked.command, &own).map_err(ToolOutput::error)?;
            let copied = copy_of(&mut held)?;
            let (asked, words) = copied.moved(asked)?;
            told.push(words);
            let (view, started) = (own.view.clone(), file_time());
            copied.unfinished = Some(UncollectedCommand { view, started });
            Ok((held, asked, told))
        });
        let (held, asked, mut told) = shown.await?;
        let file = asked.output_file.clone();
        let (spec, sink) = (spec(asked, context, &self.settings), showing(context));
        let (mut held, ran) = holding(held, spec, sink, std::future::pending()).await?;
        let outcome = ran.map_err(not_started)?;
        let mut output = result_of(outcome, file, context).await;
        let collected = on_thread(move |_| {
            let collected = copy_of(&mut held)?.collect();
            if collected.is_err() {
                // Nor would what the next one changed be known.
                *held = None;
            }
            Ok(collected)
        });
        let collected = collected.await?.map_err(|error| {
            told.push(GIVEN_UP.to_owned());
            error.to_string()
        });
        taken_in(&mut output, collected, told);
        Ok(output)
    }

    /// A command in the background, on a copy of its own.
    pub(super) async fn work(
        &self,
        asked: Command,
        context: &Context,
    ) -> Result<BackgroundWork, ToolOutput> {
        let (settings, own) = (self.settings.clone(), context.clone());
        let made = on_thread(move |_| {
            let mut copied = FolderCopy::new(&settings, &own.view).map_err(ToolOutput::error)?;
            let mut told = copied.show_to(&asked.command, &own).map_err(ToolOutput::error)?;
            let (asked, words) = copied.moved(asked)?;
            told.push(words);
            Ok((copied, asked, told))
        });
        let (mut copied, asked, told) = made.await?;
        let (own, file) = (context.clone(), asked.output_file.clone());
        let spec = spec(asked, context, &self.settings);
        Ok(Box::new(move |sink: Sink, stop| {
            Box::pin(async move {
                let (view, started) = (own.view.clone(), file_time());
                copied.unfinished = Some(UncollectedCommand { view, started });
                let (mut copied, outcome) = match holding(copied, spec, sink, stop).await {
                    Ok((copied, Ok(outcome))) => (copied, outcome),
                    Ok((_, Err(error))) => return not_started(error),
                    Err(failure) => return failure,
                };
                let mut output = result_of(outcome, file, &own).await;
                let collected =
                    on_thread(move |_| Ok(copied.collect().map_err(|error| error.to_string())));
                match collected.await {
                    Ok(collected) => taken_in(&mut output, collected, told),
                    Err(failure) => return failure,
                }
                output
            })
        }))
    }
}

/// Words for when other folders are open than before.
const OTHER_FOLDERS: &str = "other folders are open now, so they were copied anew: ignored files that commands had made are gone";

/// Words for when a copy can't be used any more.
const GIVEN_UP: &str =
    "the copy is given up for a new one: ignored files that commands had made are gone";

/// Brings the copy in step with what a command is to see; a new one where there is none for what is open, or it can't
/// be used any more. Gives what it can't show, in words. Blocking.
fn shown(
    held: &mut CopyGuard,
    settings: &CommandSettings,
    command: &str,
    context: &Context,
) -> Result<Vec<String>, LayerError> {
    let mut told = Vec::new();
    // First it gives back the room that it takes.
    if let Some(mut copied) = held.take() {
        if copied.roots == roots_of(&context.view) {
            match copied.show_to(command, context) {
                Err(error @ (LayerError::Full | LayerError::Io { .. })) => {
                    tracing::warn!(%error, "a copy can't be brought in step");
                    told.push(GIVEN_UP.to_owned());
                }
                shown => {
                    **held = Some(copied);
                    return shown;
                }
            }
        } else if copied.has_run {
            told.push(OTHER_FOLDERS.to_owned());
        }
    }
    let mut copied = FolderCopy::new(settings, &context.view)?;
    told.extend(copied.show_to(command, context)?);
    **held = Some(copied);
    Ok(told)
}

fn copy_of(held: &mut CopyGuard) -> Result<&mut FolderCopy, ToolOutput> {
    held.as_mut().ok_or_else(|| ToolOutput::error("the copy is gone; call again"))
}
