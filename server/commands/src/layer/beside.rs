//! Comparing many files on two threads while the walk goes on.
//!
//! Entries go to the other thread in batches; a batch that finds it busy is compared here, and so are a few
//! files alone, because a thread costs more than they do. What comes of them is in the order in which they were found.
//! Nothing is decided here.

use super::compare::{ChangedFile, Comparison, compare_all};
use ropewalk_workspace::View;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, channel, sync_channel};
use std::thread::{Builder, Scope};

/// The most files of one batch.
const MOST_FILES: usize = 64;
/// The most folders that they are in: each keeps two handles open.
const MOST_FOLDERS: usize = 16;
/// From how many bytes on a batch is long enough.
const ENOUGH_BYTES: u64 = 4 << 20;

/// See the module.
pub(super) struct ComparisonQueue<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    view: &'env View,
    batch: Batch<'env>,
    thread: Option<ComparisonThread<'env>>,
    /// How many batches there were.
    batches: usize,
    /// How many of them are settled.
    settled: usize,
    /// Compared entries that come after one that is not compared yet.
    done: BTreeMap<usize, Vec<Comparison>>,
    /// Of all that is not settled.
    files: usize,
    bytes: u64,
}

#[derive(Default)]
struct Batch<'env> {
    found: Vec<ChangedFile<'env>>,
    folders: usize,
    bytes: u64,
}

struct ComparisonThread<'env> {
    to: SyncSender<(usize, Vec<ChangedFile<'env>>)>,
    from: Receiver<(usize, Vec<Comparison>)>,
}

impl<'scope, 'env> ComparisonQueue<'scope, 'env> {
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>, view: &'env View) -> Self {
        let (batch, done) = (Batch::default(), BTreeMap::new());
        Self { scope, view, batch, thread: None, batches: 0, settled: 0, done, files: 0, bytes: 0 }
    }

    /// How many files are not settled.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// How many bytes the layer has in them.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Compares a file some time. Gives whether others may be settled by now.
    pub(super) fn compare(&mut self, found: ChangedFile<'env>) -> bool {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(found.stamp.len);
        let is_full = self.batch.add(found);
        if is_full {
            self.send();
        }
        is_full
    }

    /// Outcomes of the next batch, if they are known; else they are waited for, if anything is left and
    /// `wait` says so.
    pub(super) fn settle(&mut self, wait: bool) -> io::Result<Option<Vec<Comparison>>> {
        if wait && !self.batch.found.is_empty() {
            let last = std::mem::take(&mut self.batch).found;
            self.compare_here(last);
        }
        while self.settled < self.batches {
            if let Some(batch) = self.done.remove(&self.settled) {
                self.settled += 1;
                self.files -= batch.len();
                self.bytes -= batch.iter().map(|one| one.stamp.len).sum::<u64>().min(self.bytes);
                return Ok(Some(batch));
            }
            let Some(thread) = &self.thread else { break };
            let (number, batch) = match thread.from.try_recv() {
                Ok(back) => back,
                Err(TryRecvError::Empty) if !wait => break,
                Err(_) => thread.from.recv().map_err(io::Error::other)?,
            };
            self.done.insert(number, batch);
        }
        Ok(None)
    }

    fn send(&mut self) {
        if self.thread.is_none() {
            self.thread = self.start().ok();
        }
        let batch = (self.batches, std::mem::take(&mut self.batch).found);
        let back = match &self.thread {
            Some(thread) => match thread.to.try_send(batch) {
                Ok(()) => None,
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => Some(batch),
            },
            None => Some(batch),
        };
        match back {
            Some((_, found)) => self.compare_here(found),
            None => self.batches += 1,
        }
    }

    fn compare_here(&mut self, found: Vec<ChangedFile<'env>>) {
        self.done.insert(self.batches, compare_all(found, self.view));
        self.batches += 1;
    }

    fn start(&self) -> io::Result<ComparisonThread<'env>> {
        // One batch may wait while another is compared.
        let (to, batches) = sync_channel::<(usize, Vec<ChangedFile<'env>>)>(1);
        let (compared, from) = channel();
        let view = self.view;
        let run = move || {
            for (number, batch) in batches {
                if compared.send((number, compare_all(batch, view))).is_err() {
                    break;
                }
            }
        };
        Builder::new().name("compare".to_owned()).spawn_scoped(self.scope, run)?;
        Ok(ComparisonThread { to, from })
    }
}

impl<'env> Batch<'env> {
    /// Adds an entry; true if the batch is full then.
    fn add(&mut self, found: ChangedFile<'env>) -> bool {
        let last = self.found.last();
        self.folders += usize::from(last.is_none_or(|last| !Arc::ptr_eq(&last.up, &found.up)));
        let disk = found.disk.as_ref().map_or(0, |(disk, _)| disk.len);
        self.bytes = self.bytes.saturating_add(found.stamp.len).saturating_add(disk);
        self.found.push(found);
        self.found.len() >= MOST_FILES || self.folders >= MOST_FOLDERS || self.bytes >= ENOUGH_BYTES
    }
}
