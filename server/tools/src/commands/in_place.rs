//! Commands on the disk itself: they see what is saved and published, nothing else, and change it at once.

use super::background::Work;
use super::{Asked, remove, result_of, showing, spec};
use crate::command::{CommandError, LeftRunning, result_text, run};
use crate::tool::{Context, Output};
use std::sync::{Mutex, PoisonError};

/// See the module. What commands leave running ends with it.
#[derive(Debug, Default)]
pub(super) struct InPlace {
    left_running: Mutex<Vec<LeftRunning>>,
}

impl InPlace {
    /// Runs a command to its end.
    pub(super) async fn run(&self, asked: Asked, context: &Context) -> Result<Output, Output> {
        let file = asked.output_file.clone();
        let ran = run(spec(asked, context), Some(showing(context)), std::future::pending()).await;
        let mut outcome = match ran {
            Ok(outcome) => outcome,
            Err(error) => {
                if let Some(file) = &file {
                    remove(file).await;
                }
                return Err(not_started(error));
            }
        };
        let output = result_of(&outcome, file, context).await;
        if let Some(left) = outcome.left_running.take() {
            let mut all = self.left_running.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(LeftRunning::is_alive);
            all.push(left);
        }
        Ok(output)
    }
}

/// A command in the background.
pub(super) fn work(asked: Asked, context: &Context) -> Work {
    let (spec, bounds) = (spec(asked, context), context.bounds);
    Box::new(move |sink, stop| {
        Box::pin(async move {
            match run(spec, Some(sink), stop).await {
                Ok(outcome) => Output::text(result_text(&outcome, bounds)),
                Err(error) => not_started(error),
            }
        })
    })
}

/// These errors bring the word with them.
pub(super) fn not_started(error: CommandError) -> Output {
    Output { text: error.to_string(), is_error: true, ..Output::default() }
}
