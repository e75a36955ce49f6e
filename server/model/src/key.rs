//! An API key that cannot be printed.
//!
//! It has no `Display`, its `Debug` hides it, it does not serialise, and the header made of it is
//! marked sensitive; [`crate::Keys`] redacts it from texts. Where it comes from (environment, user config) is not known
//! here.

use crate::ModelError;
use futures::{FutureExt, TryFutureExt, future::BoxFuture};
use reqwest::header::HeaderValue;
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// A secret for a model server.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key as found in `var` (the environment variable or setting, for the message), without
    /// the white space around it that copying brings along.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`] for a blank key, [`ModelError::UnusableKey`] for one with
    /// characters that no header can carry.
    pub fn new(text: &str, var: &str) -> Result<ApiKey, ModelError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ModelError::MissingKey { var: var.to_owned() });
        }
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(ModelError::UnusableKey { var: var.to_owned() });
        }
        Ok(ApiKey(text.to_owned()))
    }

    /// The key behind `scheme` (`"Bearer "`) as the value of a header, marked sensitive.
    pub(crate) fn header(&self, scheme: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{scheme}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// For [`crate::Keys`], which finds it in texts.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

/// A key, and how long it is taken, where that is told.
pub struct GivenKey {
    /// The key.
    pub key: ApiKey,
    /// How long it is taken from now on.
    pub lasts: Option<Duration>,
}

impl From<ApiKey> for GivenKey {
    fn from(key: ApiKey) -> GivenKey {
        GivenKey { key, lasts: None }
    }
}

/// A key that has to be asked for, of a password manager for example. It is asked for when a request first needs it,
/// once for all that share this value, and again shortly before it ends and when a server refuses it; a failure is not kept. It
/// can't be printed.
#[derive(Clone)]
pub struct LazyKey(Arc<Lazy>);

struct Lazy {
    ask: Box<Ask>,
    /// Held while the key is asked for.
    asking: tokio::sync::Mutex<()>,
    /// Keys that were given, the latest last: a text may hold an earlier one, too.
    got: Mutex<Vec<ApiKey>>,
    /// When the last one is asked for anew.
    due: Mutex<Option<Instant>>,
}

/// How long before its end a key is asked for anew, at most; one part of four of a shorter life.
const BEFORE_END: Duration = Duration::from_secs(60);

/// Keys of one command that are remembered, to be hidden in texts.
const MOST_KEYS: usize = 100;

/// Asks, polled within a tokio runtime.
type Ask = dyn Fn() -> BoxFuture<'static, Result<GivenKey, ModelError>> + Send + Sync;

impl LazyKey {
    /// A key that `ask` will give.
    pub fn new<K: Into<GivenKey> + 'static>(
        ask: impl Fn() -> BoxFuture<'static, Result<K, ModelError>> + Send + Sync + 'static,
    ) -> LazyKey {
        let (asking, got, due) = Default::default();
        let ask = Box::new(move || ask().map_ok(Into::into).boxed());
        LazyKey(Arc::new(Lazy { ask, asking, got, due }))
    }

    /// The key, asked for if it never was, or ends soon.
    ///
    /// # Errors
    /// Errors of the program that prints the key.
    pub(crate) async fn get(&self) -> Result<ApiKey, ModelError> {
        if let Some(key) = self.known() {
            return Ok(key);
        }
        let _asking = self.0.asking.lock().await;
        match self.known() {
            Some(key) => Ok(key),
            None => self.ask().await,
        }
    }

    /// The key in the place of one that a server has refused: another's newer one, or one that is asked for now. None if it
    /// is the same.
    ///
    /// # Errors
    /// Errors of the program that prints the key.
    pub(crate) async fn renew(&self, refused: &ApiKey) -> Result<Option<ApiKey>, ModelError> {
        let _asking = self.0.asking.lock().await;
        let key = match self.known() {
            Some(key) if key != *refused => key,
            _ => self.ask().await?,
        };
        Ok(Some(key).filter(|key| key != refused))
    }

    async fn ask(&self) -> Result<ApiKey, ModelError> {
        let GivenKey { key, lasts } = (self.0.ask)().await?;
        let due = lasts.and_then(|lasts| {
            Instant::now().checked_add(lasts.saturating_sub(BEFORE_END.min(lasts / 4)))
        });
        *self.0.due.lock().unwrap_or_else(PoisonError::into_inner) = due;
        let mut got = self.got();
        got.retain(|known| *known != key);
        got.push(key.clone());
        if got.len() > MOST_KEYS {
            got.remove(0);
        }
        Ok(key)
    }

    /// The key, if it was asked for already and does not end soon.
    pub(crate) fn known(&self) -> Option<ApiKey> {
        let due = *self.0.due.lock().unwrap_or_else(PoisonError::into_inner);
        self.got().last().filter(|_| due.is_none_or(|due| Instant::now() < due)).cloned()
    }

    /// All keys that were given so far.
    pub(crate) fn all(&self) -> Vec<ApiKey> {
        self.got().clone()
    }

    fn got(&self) -> MutexGuard<'_, Vec<ApiKey>> {
        self.0.got.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LazyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LazyKey(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test(start_paused = true)]
    async fn a_key_is_asked_for_anew_shortly_before_it_ends() {
        for (lasts, kept) in [(3_600, 3_539), (40, 29), (0, 0)] {
            let asked = Arc::new(AtomicU32::new(0));
            let count = asked.clone();
            let key = LazyKey::new(move || {
                let number = count.fetch_add(1, Ordering::Relaxed);
                let key = ApiKey::new(&format!("key-{number}"), "k");
                async move { key.map(|key| GivenKey { key, lasts: Some(Duration::from_secs(lasts)) }) }
                    .boxed()
            });
            assert_eq!(key.get().await.unwrap().text(), "key-0");
            tokio::time::advance(Duration::from_secs(kept)).await;
            let is_kept = key.get().await.unwrap().text() == "key-0";
            assert_eq!(is_kept, lasts > 0, "{lasts}");
            tokio::time::advance(Duration::from_secs(2)).await;
            assert_ne!(key.get().await.unwrap().text(), "key-0");
            assert!(key.all().len() >= 2, "earlier ones are hidden in texts, too");
        }
    }
}
