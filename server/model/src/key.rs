//! An API key that cannot be printed.
//!
//! It has no `Display`, its `Debug` hides it, it does not serialise, and the header made of it is
//! marked sensitive; [`crate::Keys`] redacts it from texts. Where it comes from (environment, user config) is not known
//! here.

use crate::ModelError;
use futures::future::BoxFuture;
use reqwest::header::HeaderValue;
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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

/// A key that has to be asked for, of a password manager for example. It is asked for when a request first needs it,
/// once for all that share this value, and again when a server refuses it; a failure is not kept. It can't be printed.
#[derive(Clone)]
pub struct LazyKey(Arc<Lazy>);

struct Lazy {
    ask: Box<Ask>,
    /// Held while the key is asked for.
    asking: tokio::sync::Mutex<()>,
    /// Keys that were given, the latest last: a text may hold an earlier one, too.
    got: Mutex<Vec<ApiKey>>,
}

/// Keys of one command that are remembered, to be hidden in texts.
const MOST_KEYS: usize = 100;

/// Asks, polled within a tokio runtime.
type Ask = dyn Fn() -> BoxFuture<'static, Result<ApiKey, ModelError>> + Send + Sync;

impl LazyKey {
    /// A key that `ask` will give.
    pub fn new(
        ask: impl Fn() -> BoxFuture<'static, Result<ApiKey, ModelError>> + Send + Sync + 'static,
    ) -> LazyKey {
        let (asking, got) = Default::default();
        LazyKey(Arc::new(Lazy { ask: Box::new(ask), asking, got }))
    }

    /// The key, asked for if it never was.
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
        let key = (self.0.ask)().await?;
        let mut got = self.got();
        got.retain(|known| *known != key);
        got.push(key.clone());
        if got.len() > MOST_KEYS {
            got.remove(0);
        }
        Ok(key)
    }

    /// The key, if it was asked for already.
    pub(crate) fn known(&self) -> Option<ApiKey> {
        self.got().last().cloned()
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
