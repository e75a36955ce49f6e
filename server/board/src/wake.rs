//! Signals between members: inside the process by a counter for each channel, from outside by a task that listens.
//!
//! A signal only saves time. It may be lost or come for nothing; whoever waits also looks by the clock.

use crate::engine::{self, BoardPlace};
use sqlx::postgres::PgListener;
use sqlx::{ConnectOptions, Row};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

/// Time between two looks at a SQLite file that other processes write.
const LOOK: Duration = Duration::from_millis(250);
/// Time before a listener that failed is started anew.
const RESTART: Duration = Duration::from_secs(1);

/// The process's signals of one board.
pub(crate) struct Wakes {
    place: BoardPlace,
    shared: Arc<SharedWake>,
    outside: Mutex<Option<AbortHandle>>,
}

#[derive(Default)]
struct SharedWake {
    channels: Mutex<HashMap<String, watch::Sender<u64>>>,
    /// Number of those who wait at this moment: without any, a SQLite file is not looked at.
    waiting: AtomicUsize,
    /// Told of a new channel, and of the first who waits.
    news: Notify,
}

/// Mark of one who waits.
pub(crate) struct WaitMark(Arc<SharedWake>);

impl Drop for WaitMark {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Wakes {
    pub(crate) fn new(place: &BoardPlace) -> Self {
        Self { place: place.clone(), shared: Arc::default(), outside: Mutex::new(None) }
    }

    /// Signals of `channel`, from now on. Starts to listen outside with the first.
    pub(crate) fn subscribe(&self, channel: &str) -> watch::Receiver<u64> {
        let receiver = {
            let mut channels = self.shared.lock();
            channels.retain(|_, sender| sender.receiver_count() > 0);
            let sender =
                channels.entry(channel.to_owned()).or_insert_with(|| watch::Sender::new(0));
            sender.subscribe()
        };
        self.shared.news.notify_one();
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        if outside.as_ref().is_none_or(AbortHandle::is_finished) {
            let listener = listen(self.place.clone(), Arc::clone(&self.shared));
            *outside = Some(tokio::spawn(listener).abort_handle());
        }
        receiver
    }

    pub(crate) fn waiting(&self) -> WaitMark {
        if self.shared.waiting.fetch_add(1, Ordering::Relaxed) == 0 {
            self.shared.news.notify_one();
        }
        WaitMark(Arc::clone(&self.shared))
    }

    pub(crate) fn signal(&self, channels: &BTreeSet<String>) {
        let known = self.shared.lock();
        for sender in channels.iter().filter_map(|channel| known.get(channel)) {
            sender.send_modify(|count| *count += 1);
        }
    }

    pub(crate) fn close(&self) {
        let mut outside = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = outside.take() {
            task.abort();
        }
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.close();
    }
}

impl SharedWake {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, watch::Sender<u64>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal_all(&self) {
        for sender in self.lock().values() {
            sender.send_modify(|count| *count += 1);
        }
    }
}

async fn listen(place: BoardPlace, shared: Arc<SharedWake>) {
    loop {
        let ended = match &place {
            BoardPlace::File(_) => look(&place, &shared).await,
            BoardPlace::Postgres(url) => hear(url, &shared).await,
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "nothing is heard of the board's changes for a moment");
        }
        tokio::time::sleep(RESTART).await;
        // Changes may have been missed meanwhile.
        shared.signal_all();
    }
}

/// Looks at the counter that SQLite raises for a connection when another has written.
async fn look(place: &BoardPlace, shared: &SharedWake) -> Result<(), sqlx::Error> {
    let options =
        engine::connect_options(place).map_err(|error| sqlx::Error::Configuration(error.into()))?;
    let mut connection = options.connect().await?;
    let mut last = 0_i64;
    loop {
        while shared.waiting.load(Ordering::Relaxed) == 0 {
            shared.news.notified().await;
        }
        let row = sqlx::query("pragma data_version").fetch_one(&mut connection).await?;
        let version: i64 = row.try_get(0)?;
        if version != last {
            last = version;
            shared.signal_all();
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Hears PostgreSQL's notifications on all channels that somebody in this process waits for.
async fn hear(url: &str, shared: &SharedWake) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    let mut heard: BTreeSet<String> = BTreeSet::new();
    loop {
        let wanted: BTreeSet<String> = shared.lock().keys().cloned().collect();
        for gone in heard.difference(&wanted) {
            listener.unlisten(gone).await?;
        }
        for new in wanted.difference(&heard) {
            listener.listen(new).await?;
        }
        if wanted != heard {
            heard = wanted;
            // Changes from before the listening are found by looking.
            shared.signal_all();
        }
        tokio::select! {
            () = shared.news.notified() => {}
            said = listener.try_recv() => match said? {
                Some(note) => {
                    if let Some(sender) = shared.lock().get(note.channel()) {
                        sender.send_modify(|count| *count += 1);
                    }
                }
                // The connection was lost and made anew; something may have been missed.
                None => shared.signal_all(),
            },
        }
    }
}
