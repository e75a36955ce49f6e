//! Variables that commands don't get, and keys that are taken out of their output.
//!
//! The names of variables are known here, their values are not: who knows those gives a function that redacts
//! them from a stream.

use std::fmt;
use std::sync::Arc;

/// Redacts secrets from the pieces of one stream, in place; true with the last piece. What may be the start of
/// a secret it keeps back until more comes.
pub type Redaction = Box<dyn FnMut(&mut Vec<u8>, bool) + Send>;

/// See the module.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Variables that hold keys, whatever they are called: no command gets them.
    pub variables: Arc<[String]>,
    /// Makes a [`Redaction`] for a stream; None when there is nothing to redact.
    pub redact: Option<Arc<dyn Fn() -> Redaction + Send + Sync>>,
}

impl Secrets {
    /// True if a text holds one.
    pub fn are_in(&self, text: &[u8]) -> bool {
        let Some(redact) = &self.redact else { return false };
        let mut bytes = text.to_vec();
        redact()(&mut bytes, true);
        bytes != text
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("variables", &self.variables).finish_non_exhaustive()
    }
}
