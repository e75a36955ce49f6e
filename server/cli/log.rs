//! The log: what the rooms trace, in a file of the user's or on standard error.
//!
//! Never on standard output, which belongs to the protocol and to answers. Keys are in no trace: the type
//! that holds one can't be printed.

use crate::exit::UsageError;
use crate::plain;
use ropewalk_config::DEFAULT_LOG;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::Mutex;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, fmt};

/// Where the log goes when no file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutFile {
    /// To standard error, for the editor's output panel.
    StandardError,
    /// Nowhere.
    Nowhere,
}

/// Lines that wait for a standard error which nobody reads; more are dropped.
const MOST_WAITING: usize = 4_096;

/// Starts the log. `filter` is the configured one; `ROPEWALK_LOG` goes before it. What comes back must live
/// as long as lines shall be written.
///
/// # Errors
/// When the file can't be opened.
pub(crate) fn start(
    file: Option<&Path>,
    default: WithoutFile,
    filter: &str,
) -> anyhow::Result<Option<WorkerGuard>> {
    if file.is_none() && default == WithoutFile::Nowhere {
        return Ok(None);
    }
    let named = std::env::var("ROPEWALK_LOG").ok().filter(|filter| !filter.trim().is_empty());
    let filter = named.as_deref().unwrap_or(filter);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|error| {
        plain::say(&format!(
            "The log filter {filter:?} can't be read ({error}): write it like \
             info,ropewalk_model=debug. Until then it is {DEFAULT_LOG}."
        ));
        EnvFilter::new(DEFAULT_LOG)
    });
    let lines = fmt().with_env_filter(filter).with_ansi(false);
    // It can only fail when a log was started before, and there is one call of this.
    match file {
        Some(path) => {
            let file = open(path).map_err(|error| {
                UsageError(format!("The log {} can't be opened: {error}.", path.display()))
            })?;
            let _ = lines.with_writer(Mutex::new(file)).try_init();
            Ok(None)
        }
        None => {
            // An editor that doesn't read standard error must not bring the server to a halt.
            let (writer, guard) = NonBlockingBuilder::default()
                .buffered_lines_limit(MOST_WAITING)
                .lossy(true)
                .finish(std::io::stderr());
            let _ = lines.with_writer(writer).try_init();
            Ok(Some(guard))
        }
    }
}

/// Opens a log for appending, readable by its owner alone.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let file = options.mode(0o600).open(path)?;
        if file.metadata()?.is_file() {
            // An older log may be open to others; one that is not ours stays as it is.
            let _ = file.set_permissions(PermissionsExt::from_mode(0o600));
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}
