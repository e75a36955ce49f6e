//! An API key that cannot be printed.
//!
//! It has no `Display`, its `Debug` hides it, it does not serialise, and the header made of it is
//! marked sensitive; [`crate::Keys`] redacts it from texts. Where it comes from (environment, user config) is not known
//! here.

use crate::ModelError;
use futures::future::BoxFuture;
use reqwest::header::HeaderValue;
use std::{fmt, sync::Arc};
use tokio::sync::OnceCell;

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
/// once for all that share this value; a failure is not kept. It can't be printed.
#[derive(Clone)]
pub struct LazyKey(Arc<Lazy>);

struct Lazy {
    ask: Box<Ask>,
    got: OnceCell<ApiKey>,
}

/// Asks, polled within a tokio runtime.
type Ask = dyn Fn() -> BoxFuture<'static, Result<ApiKey, ModelError>> + Send + Sync;

impl LazyKey {
    /// A key that `ask` will give.
    pub fn new(
        ask: impl Fn() -> BoxFuture<'static, Result<ApiKey, ModelError>> + Send + Sync + 'static,
    ) -> LazyKey {
        LazyKey(Arc::new(Lazy { ask: Box::new(ask), got: OnceCell::new() }))
    }

    /// The key, asked for if it never was.
    ///
    /// # Errors
    /// Errors of the program that prints the key.
    pub(crate) async fn get(&self) -> Result<&ApiKey, ModelError> {
        self.0.got.get_or_try_init(&self.0.ask).await
    }

    /// The key, if it was asked for already.
    pub(crate) fn known(&self) -> Option<&ApiKey> {
        self.0.got.get()
    }
}

impl fmt::Debug for LazyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LazyKey(hidden)")
    }
}
