//! Panics of what others wrote, turned into words for the user.
//!
//! Tokio panics when the system has no file left for its signals; the fake editor and the scripted model of the
//! demo are made for tests. Ropewalk's own rooms return errors, and need none of this.

use anyhow::Context;
use std::panic::{self, AssertUnwindSafe};
use tokio::runtime::{Builder, Runtime};

/// Runs `work`; a panic in it is an error with the panic's words.
pub(crate) fn in_words<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(usual);
    outcome.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(anyhow::Error::msg(words.unwrap_or("something inside Ropewalk failed").to_owned()))
    })
}

/// The runtime that `builder` makes.
///
/// # Errors
/// When the system has no thread or file left for it.
pub(crate) fn runtime(builder: &mut Builder) -> anyhow::Result<Runtime> {
    in_words(|| Ok(builder.build()?))
        .context("the runtime can't be started; the system may be out of open files or threads")
}
