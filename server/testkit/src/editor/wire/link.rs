//! The pipes to a server and the threads on them: one reads, one writes, and for a process of our own one
//! keeps what it says on standard error. What is read goes to the [`SharedLink`] state; nothing here looks into it.

use super::frames;
use super::seen::EditorMemory;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest a wait may last. Nothing comes near it but a failure.
pub(super) const BOUND: Duration = Duration::from_secs(30);

/// State that the threads share.
#[derive(Debug)]
pub(super) struct SharedLink {
    seen: Mutex<EditorMemory>,
    changed: Condvar,
}

impl SharedLink {
    pub(super) fn new(seen: EditorMemory) -> Arc<Self> {
        Arc::new(Self { seen: Mutex::new(seen), changed: Condvar::new() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, EditorMemory> {
        // A test that panicked while it held the lock has failed already.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `find` gives something.
    ///
    /// # Errors
    /// With the log of messages, when the server is gone or the bound is reached.
    pub(super) fn wait<T>(
        &self,
        what: &str,
        mut find: impl FnMut(&mut EditorMemory) -> Option<T>,
    ) -> Result<T, String> {
        let end = Instant::now() + BOUND;
        let mut seen = self.lock();
        loop {
            if let Some(leak) = &seen.leak {
                return Err(leak.clone());
            }
            if let Some(found) = find(&mut seen) {
                return Ok(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            if seen.ended || left.is_zero() {
                let why = if seen.ended { "the server has ended" } else { "nothing of the kind" };
                return Err(format!(
                    "waited in vain for {what}: {why}. The messages:\n{}",
                    seen.log.join("\n")
                ));
            }
            let waited = self.changed.wait_timeout(seen, left);
            seen = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn update(&self, change: impl FnOnce(&mut EditorMemory)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn read_all(&self, from: impl Read) {
        let mut from = BufReader::new(from);
        loop {
            match frames::read_message(&mut from) {
                Ok(Some(message)) => self.update(|seen| seen.take_in(message)),
                Ok(None) => break,
                Err(error) => {
                    self.update(|seen| seen.faults.push(format!("the output broke: {error}")));
                    break;
                }
            }
        }
        self.update(|seen| {
            seen.ended = true;
            seen.to_server = None;
        });
    }

    fn keep_errors(&self, from: impl Read) {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            self.update(|seen| {
                seen.search_errors(&line);
                seen.log.push(format!("stderr: {line}"));
            });
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct EditorLink {
    child: Option<Child>,
    threads: Vec<JoinHandle<()>>,
}

impl EditorLink {
    /// Starts the threads.
    pub(super) fn start(
        shared: &Arc<SharedLink>,
        from_server: impl Read + Send + 'static,
        to_server: impl Write + Send + 'static,
        frames: mpsc::Receiver<Vec<u8>>,
        mut child: Option<Child>,
    ) -> Self {
        let errors = child.as_mut().and_then(|child| child.stderr.take());
        let mut threads = Vec::new();
        let reader = shared.clone();
        threads.push(std::thread::spawn(move || reader.read_all(from_server)));
        // Written by a thread of its own, so that a server that does not read stops nobody.
        threads.push(std::thread::spawn(move || write_all(to_server, &frames)));
        if let Some(errors) = errors {
            let keeper = shared.clone();
            threads.push(std::thread::spawn(move || keeper.keep_errors(errors)));
        }
        Self { child, threads }
    }

    /// Ends a process of our own at once, whatever it does.
    pub(super) fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
        }
    }

    /// Waits for the threads and the process, all of which must have ended or be about to: the server's
    /// output is at its end. Gives the exit status of a process of our own.
    pub(super) fn join(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut().and_then(|child| child.wait().ok());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        status
    }
}

fn write_all(mut to_server: impl Write, frames: &mpsc::Receiver<Vec<u8>>) {
    while let Ok(frame) = frames.recv() {
        if to_server.write_all(&frame).and_then(|()| to_server.flush()).is_err() {
            // A server that reads no more is seen by the end of its output.
            break;
        }
    }
}
