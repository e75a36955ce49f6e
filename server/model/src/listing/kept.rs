//! The list of a server elsewhere, kept in a file for a day, so that a first turn need not wait for it.

use super::{ListQuestion, Listing, ModelListing, ServerKind, question::NO_LIST};
use crate::{ModelError, exchange::host_of, model::hash};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// How long a list is taken as it is.
const LASTS: Duration = Duration::from_secs(24 * 60 * 60);

/// How long after a question nobody asks again beside a turn, whatever came of it.
const PAUSE: Duration = Duration::from_secs(60 * 60);

/// A list in its file. A server without one has an empty list, which is kept as long.
#[derive(Debug, Serialize, Deserialize)]
struct ListFile {
    /// The provider, and the address that it was asked for at.
    url: String,
    /// When, in seconds since 1970.
    at: u64,
    #[serde(default)]
    kind: ServerKind,
    models: Vec<ModelListing>,
}

/// The list of one server, as it was told last.
pub(crate) struct KeptListing {
    /// The provider and the address of its list, without a password.
    url: String,
    /// None where nothing is kept.
    file: Option<PathBuf>,
    state: Mutex<KeptState>,
}

#[derive(Default)]
struct KeptState {
    is_read: bool,
    /// When the server was asked last, whatever it said.
    asked: Option<Instant>,
    /// The list, and when it was told.
    listing: Option<(Arc<Listing>, SystemTime)>,
}

impl KeptListing {
    /// Nothing is read or asked yet.
    pub(crate) fn of(provider: &str, list: &Url, folder: Option<&Path>) -> KeptListing {
        let url = format!("{provider} {}://{}{}", list.scheme(), host_of(list), list.path());
        let name = format!("models-{:016x}.json", hash(&[&url]));
        KeptListing { url, file: folder.map(|folder| folder.join(name)), state: Mutex::default() }
    }

    /// The list, however old it is.
    pub(crate) fn listing(&self) -> Option<Arc<Listing>> {
        self.with(|state| state.listing.as_ref().map(|(listing, _)| listing.clone()))
    }

    /// A model as the server says it is.
    pub(crate) fn model(&self, name: &str) -> Option<ModelListing> {
        self.listing()?.find(name).cloned()
    }

    /// The list if it is of this day, else the server's answer.
    ///
    /// # Errors
    /// Errors of [`ListQuestion::ask`].
    pub(crate) async fn renew(&self, question: &ListQuestion) -> Result<Arc<Listing>, ModelError> {
        if let Some(listing) = self.with(|state| state.young()) {
            return Ok(listing);
        }
        let asked = question.ask(None).await;
        self.with(|state| state.asked = Some(Instant::now()));
        let listing = match asked {
            Ok(listing) => listing,
            Err(ModelError::NotAModelServer { why, .. }) if why == NO_LIST => {
                tracing::info!(why, url = self.url, "the server lists no models");
                Listing::default()
            }
            Err(error) => return Err(error),
        };
        let (listing, now) = (Arc::new(listing), SystemTime::now());
        self.with(|state| state.listing = Some((listing.clone(), now)));
        self.keep(&listing, now).await;
        Ok(listing)
    }

    /// True if the list is older than a day, and was not asked for within the hour.
    pub(crate) fn is_due(&self) -> bool {
        let is_over = |asked: Instant| asked.elapsed() > PAUSE;
        self.with(|state| state.asked.is_none_or(is_over) && state.young().is_none())
    }

    async fn keep(&self, listing: &Listing, now: SystemTime) {
        let Some(file) = self.file.clone() else { return };
        let at = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let kept = ListFile {
            url: self.url.clone(),
            at,
            kind: listing.kind,
            models: listing.models.clone(),
        };
        let written = tokio::task::spawn_blocking(move || write(&file, &kept)).await;
        // Without it the server is asked again in the next process.
        if let Ok(Err(error)) = written {
            tracing::info!(%error, "the list of models is not kept");
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut KeptState) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut state.is_read, true) {
            state.listing = self.file.as_deref().and_then(|file| read(file, &self.url));
        }
        work(&mut state)
    }
}

impl KeptState {
    fn young(&self) -> Option<Arc<Listing>> {
        let (listing, at) = self.listing.as_ref()?;
        // One of the future was told by another clock.
        let age = SystemTime::now().duration_since(*at).ok()?;
        (age < LASTS).then(|| listing.clone())
    }
}

/// The list in a file; none where that is of another server, or makes no sense.
fn read(file: &Path, url: &str) -> Option<(Arc<Listing>, SystemTime)> {
    let kept: ListFile = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let at = UNIX_EPOCH.checked_add(Duration::from_secs(kept.at))?;
    let listing = Listing { kind: kept.kind, models: kept.models, ..Listing::default() };
    (kept.url == url).then(|| (Arc::new(listing), at))
}

/// Writes in one step. The folder and the file are their owner's alone.
fn write(file: &Path, kept: &ListFile) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    let mut new = fs::DirBuilder::new();
    new.recursive(true);
    static DRAFTS: AtomicU32 = AtomicU32::new(0);
    let (process, draft) = (std::process::id(), DRAFTS.fetch_add(1, Ordering::Relaxed));
    let draft = file.with_extension(format!("{process}-{draft}.new"));
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        new.mode(0o700);
        options.mode(0o600);
    }
    new.create(folder)?;
    options.open(&draft)?.write_all(&serde_json::to_vec(kept)?)?;
    fs::rename(&draft, file).inspect_err(|_| {
        let _ = fs::remove_file(&draft);
    })
}
