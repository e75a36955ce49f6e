//! Commands of a subagent: those of a runner, but for the background, which outlives what a subagent is there for.

use futures::future::BoxFuture;
use ropewalk_tools::runner::{
    BackgroundEnd, BackgroundInfo, Command, CommandRunner, RunnerInfo, Stop,
};
use ropewalk_tools::tool::{Context, ReadFilter, ToolOutput};
use ropewalk_workspace::View;
use std::future::{pending, ready};
use std::sync::Arc;

/// See the module.
pub(super) struct Foreground(pub(super) Arc<dyn CommandRunner>);

impl CommandRunner for Foreground {
    fn begin<'a>(&'a self, view: &'a Arc<View>, hides: &'a Arc<ReadFilter>) -> BoxFuture<'a, ()> {
        self.0.begin(view, hides)
    }

    fn info(&self) -> RunnerInfo {
        self.0.info()
    }

    fn run(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput> {
        self.0.run(command, context)
    }

    fn start(&self, _: Command, _: Context) -> BoxFuture<'_, ToolOutput> {
        let why = "a subagent starts nothing in the background: run the command and wait for it";
        Box::pin(ready(ToolOutput::error(why)))
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
        Box::pin(pending())
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        self.0.settled()
    }
}
