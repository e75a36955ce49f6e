//! Commands on the disk itself: they see what is saved and published, nothing else, and change it at once.

use super::background::BackgroundWork;
use super::{CommandSettings, holding, remove, result_of, showing, spec};
use crate::command::{CommandError, result_text, run};
use ropewalk_tools::runner::Command;
use ropewalk_tools::tool::{Context, ToolOutput};
use std::sync::Arc;
use tokio::sync::RwLock;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct InPlace {
    settings: CommandSettings,
    /// Each command holds it, together with others.
    running: Arc<RwLock<()>>,
}

impl InPlace {
    pub(super) fn new(settings: CommandSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Waits until nothing runs any more of a command whose future was dropped.
    pub(super) async fn settled(&self) {
        drop(self.running.write().await);
    }

    /// Runs a command to its end. Dropping the future kills it.
    pub(super) async fn run(
        &self,
        asked: Command,
        context: &Context,
    ) -> Result<ToolOutput, ToolOutput> {
        let file = asked.output_file.clone();
        let held = self.running.clone().read_owned().await;
        let (spec, sink) = (spec(asked, context, &self.settings), showing(context));
        let (_held, ran) = holding(held, spec, sink, std::future::pending()).await?;
        match ran {
            Ok(outcome) => Ok(result_of(outcome, file, context).await),
            Err(error) => {
                if let Some(file) = &file {
                    remove(file).await;
                }
                Err(not_started(error))
            }
        }
    }

    /// A command in the background.
    pub(super) fn work(&self, asked: Command, context: &Context) -> BackgroundWork {
        let (spec, bounds) = (spec(asked, context, &self.settings), context.bounds);
        Box::new(move |sink, stop| {
            Box::pin(async move {
                match run(spec, Some(sink), stop).await {
                    Ok(outcome) => ToolOutput::text(result_text(&outcome, bounds)),
                    Err(error) => not_started(error),
                }
            })
        })
    }
}

/// Result for an error that brings the word with it.
pub(super) fn not_started(error: CommandError) -> ToolOutput {
    ToolOutput::failed(error.to_string())
}
