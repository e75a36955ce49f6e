//! Commands in the background: each has an id, runs beside the calls that follow, and ends with the session.
//!
//! Output goes to its file and to the front end as it comes; the end is told once. Deliberately not here:
//! what becomes of what it has changed, which its [`BackgroundEnd`] carries to the session.

use super::showing;
use crate::command::Sink;
use futures::FutureExt;
use futures::future::BoxFuture;
use ropewalk_protocol::CallId;
use ropewalk_tools::escapes::strip_escapes;
use ropewalk_tools::runner::{BackgroundEnd, BackgroundInfo, BackgroundState, Stop};
use ropewalk_tools::tool::{Context, ToolOutput};
use ropewalk_workspace::View;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

/// How many may run at the same time.
pub const MOST_IN_BACKGROUND: usize = 8;

/// How many that have ended are remembered.
const MOST_REMEMBERED: usize = 32;

/// How much of the end of an output is kept for those who ask, in bytes.
const RECENT: usize = 16 * 1024;

/// See the module.
#[derive(Debug)]
pub(super) struct Background {
    all: Arc<Mutex<RunningCommands>>,
    sender: mpsc::UnboundedSender<BackgroundEnd>,
    finished: tokio::sync::Mutex<mpsc::UnboundedReceiver<BackgroundEnd>>,
}

#[derive(Debug, Default)]
struct RunningCommands {
    last: u64,
    running: BTreeMap<u64, RunningCommand>,
    /// How those have ended that have, by id.
    ended: BTreeMap<u64, (String, String)>,
}

#[derive(Debug)]
struct RunningCommand {
    command: String,
    turn: u64,
    since: Instant,
    file: Option<PathBuf>,
    recent: Arc<Mutex<RecentOutput>>,
    stop: Arc<Notify>,
    task: JoinHandle<()>,
}

/// The end of what one has printed.
#[derive(Debug, Default)]
struct RecentOutput {
    text: String,
    /// Bytes since the last look at it.
    new: usize,
}

impl RecentOutput {
    /// Output since the last look, and true if that is not all of it.
    fn look(&mut self) -> (String, bool) {
        let new = std::mem::take(&mut self.new);
        let start = self.text.len().saturating_sub(new);
        // Whole characters are printed, unless the first of them was dropped.
        let text = self.text.get(start..).unwrap_or(&self.text);
        (strip_escapes(text), new > self.text.len())
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // With its task goes the process.
        self.task.abort();
    }
}

impl RunningCommand {
    fn info(&self, id: u64, printed: String, is_cut: bool) -> BackgroundInfo {
        let (seconds, file) = (self.since.elapsed().as_secs(), self.file.clone());
        let state = BackgroundState::Running { seconds, printed, is_cut, file };
        BackgroundInfo { id, command: self.command.clone(), state }
    }
}

/// Work of a background command, once it is told how its output is shown and when to stop.
pub(super) type BackgroundWork =
    Box<dyn FnOnce(Sink, BoxFuture<'static, ()>) -> BoxFuture<'static, ToolOutput> + Send>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Background {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self { all: Arc::default(), sender, finished: tokio::sync::Mutex::new(receiver) }
    }
}

impl Background {
    /// The error when no more may run.
    pub(super) fn has_room(&self) -> Result<(), ToolOutput> {
        if lock(&self.all).running.len() < MOST_IN_BACKGROUND {
            return Ok(());
        }
        Err(ToolOutput::error(format_args!(
            "{MOST_IN_BACKGROUND} commands run in the background already, which is the most: wait for one, or stop one"
        )))
    }

    /// Starts some work under a new id.
    pub(super) fn begin(
        &self,
        command: String,
        file: Option<PathBuf>,
        context: &Context,
        work: BackgroundWork,
    ) -> Result<ToolOutput, ToolOutput> {
        self.has_room()?;
        let mut all = lock(&self.all);
        all.last += 1;
        let id = all.last;
        let (recent, stop) = (Arc::<Mutex<RecentOutput>>::default(), Arc::<Notify>::default());
        let (kept, mut shown) = (recent.clone(), showing(context));
        let sink: Sink = Box::new(move |text| {
            keep_end(&mut lock(&kept), text);
            shown(text);
        });
        let stopped = stop.clone();
        let working = work(sink, Box::pin(async move { stopped.notified().await }));
        let end = EndNotice {
            all: Arc::downgrade(&self.all),
            sender: self.sender.clone(),
            id,
            command: command.clone(),
            turn: context.turn,
            call: context.call.clone(),
            view: context.view.clone(),
            drops: context.grant.drops,
        };
        let task = tokio::spawn(async move { end.tell(working.await) }.boxed());
        let whole = file
            .as_ref()
            .map(|file| format!(" What it prints goes to {} as it comes.", file.display()));
        let words = format!(
            "Started in the background as number {id}.{} You are told when it has ended.",
            whole.unwrap_or_default()
        );
        let (turn, since) = (context.turn, Instant::now());
        all.running.insert(id, RunningCommand { command, turn, since, file, recent, stop, task });
        Ok(ToolOutput::text(words))
    }

    pub(super) async fn next_finished(&self) -> BackgroundEnd {
        match self.finished.lock().await.recv().await {
            Some(finished) => finished,
            // We hold a sender ourselves.
            None => std::future::pending().await,
        }
    }

    /// All that there are, by number.
    pub(super) fn all(&self) -> Vec<BackgroundInfo> {
        let all = lock(&self.all);
        let ended = all.ended.iter().map(|(id, (command, text))| {
            let state = BackgroundState::Ended(text.clone());
            BackgroundInfo { id: *id, command: command.clone(), state }
        });
        let running = all.running.iter().map(|(id, one)| {
            let printed = strip_escapes(&lock(&one.recent).text);
            one.info(*id, printed, false)
        });
        ended.chain(running).collect()
    }

    /// One of them, with what came since the last look at it.
    pub(super) fn look(&self, id: u64) -> Option<BackgroundInfo> {
        let running = lock(&self.all).running.get(&id).map(|one| {
            let (printed, is_cut) = lock(&one.recent).look();
            one.info(id, printed, is_cut)
        });
        running.or_else(|| self.all().into_iter().find(|one| one.id == id))
    }

    /// Ends some, and gives how many.
    pub(super) fn stop(&self, which: Stop) -> usize {
        let running = &mut lock(&self.all).running;
        match which {
            Stop::One(id) => running.get(&id).map_or(0, |one| {
                one.stop.notify_one();
                1
            }),
            Stop::Since(turn) => {
                let before = running.len();
                running.retain(|_, one| one.turn < turn);
                before - running.len()
            }
        }
    }
}

struct EndNotice {
    all: std::sync::Weak<Mutex<RunningCommands>>,
    sender: mpsc::UnboundedSender<BackgroundEnd>,
    id: u64,
    command: String,
    turn: u64,
    call: CallId,
    view: Arc<View>,
    drops: bool,
}

impl EndNotice {
    fn tell(self, output: ToolOutput) {
        let Self { all, sender, id, command, turn, call, view, drops } = self;
        // Without a session nobody hears of it.
        let Some(all) = all.upgrade() else { return };
        let mut all = lock(&all);
        // Its task is this one, which ends here anyway.
        drop(all.running.remove(&id));
        all.ended.insert(id, (command.clone(), output.words().to_owned()));
        while all.ended.len() > MOST_REMEMBERED {
            all.ended.pop_first();
        }
        drop(all);
        let _ = sender.send(BackgroundEnd { id, command, turn, call, view, drops, output });
    }
}

/// Adds `more` and drops what is too much from the start.
fn keep_end(recent: &mut RecentOutput, more: &str) {
    recent.new = recent.new.saturating_add(more.len());
    let text = &mut recent.text;
    text.push_str(more);
    let too_much = text.len().saturating_sub(RECENT);
    let cut = (too_much..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text.drain(..cut);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_shows_what_came_since_the_last_one() {
        let mut recent = RecentOutput::default();
        assert_eq!(recent.look(), (String::new(), false));
        keep_end(&mut recent, "one\n");
        keep_end(&mut recent, "t\u{1b}[1mwö\n");
        assert_eq!(recent.look(), ("one\ntwö\n".to_owned(), false));
        keep_end(&mut recent, "three\n");
        assert_eq!(recent.look(), ("three\n".to_owned(), false));
        assert_eq!(recent.look(), (String::new(), false));
        assert!(recent.text.starts_with("one"), "who does not look sees it all");
        keep_end(&mut recent, &"é".repeat(RECENT));
        let (text, is_cut) = recent.look();
        assert!(is_cut && text.len() <= RECENT && text.chars().all(|c| c == 'é'));
    }
}
