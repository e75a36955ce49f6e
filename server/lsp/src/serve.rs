//! The serve loop: reads the client's messages, hands them to an [`LspService`], writes what comes back.
//!
//! It takes the place of `tower_lsp::Server`, which one bad frame ends, which a handler's panic kills, and
//! which stops reading once four handlers wait for the client. Here
//! - a thread of its own reads, always; nothing a handler does stops it;
//! - document notifications are [`Documents`]' plain calls, made in order of arrival;
//! - each other handler is polled once in order of arrival, and spawned when it is not done then. So whatever a
//!   handler does before its first await happens in the order of the client's messages;
//! - a bad frame or message is answered in words and passed over;
//! - a handler's panic is answered with -32603. **Its half-done changes stay**: locks and state that a panic can
//!   leave broken are the backend's to guard;
//! - everything ends on `exit`, at the end of input, when the client's process is gone, and when the client
//!   reads nothing any more.
//!
//! Meanings of messages, timeouts of requests to the client and order *behind* a handler's first await are
//! not its business. `initialize` must be done in its first poll: until it is, `LspService` refuses requests
//! with -32002 and drops notifications.

mod dispatch;
mod documents;
mod end;
mod frames;
mod header;
mod message;
mod outbox;
mod parent;
mod surrogates;

use std::fs::File;
use std::io::{self, Read, Write};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tower_lsp::jsonrpc::ErrorCode;
use tower_lsp::{ClientSocket, LanguageServer, LspService};

use dispatch::Dispatch;
pub use documents::Documents;
pub use end::{Reason, ServeEnd};
use frames::Frames;
use header::BadFrame;
use message::Incoming;
use outbox::Outbox;
pub use parent::parent_gone;

/// The bounds of the loop. The defaults are meant for use; tests lower them.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The longest header, in bytes: 8 KiB.
    pub max_header: usize,
    /// The longest body, in bytes: 256 MiB. Longer ones are refused and skipped.
    pub max_body: usize,
    /// How many bytes of messages may be read and not yet handed to their handlers: 64 MiB. Reading waits
    /// beyond that; it can't wait for long, since handing over waits for nobody.
    pub max_unhandled: usize,
    /// How many bytes of answers may wait for a client that does not read: 256 MiB. Beyond that, serving ends.
    pub max_unread: usize,
    /// How often the client's process is looked for where the system can't tell of its end: 3 s.
    pub parent_interval: Duration,
    /// How long the last messages may take to be written: 500 ms.
    pub last_words: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_header: 8 * 1024,
            max_body: 256 * 1024 * 1024,
            max_unhandled: 64 * 1024 * 1024,
            max_unread: 256 * 1024 * 1024,
            parent_interval: Duration::from_secs(3),
            last_words: Duration::from_millis(500),
        }
    }
}

/// Serves until there is a reason to end; handlers that are not done then are dropped.
///
/// `input` and `output` are read and written with blocking calls on threads of their own, so give them
/// unbuffered ([`stdio`]). The reading thread stays blocked when serving ends before the input does: the
/// process should exit then. Must run in a Tokio runtime with I/O and time enabled.
///
/// # Errors
/// When the two threads can't be started.
pub async fn serve<S: LanguageServer + Documents>(
    service: LspService<S>,
    socket: ClientSocket,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: ServeOptions,
) -> io::Result<ServeEnd> {
    let (requests, responses) = socket.split();
    let (outbox, written) = Outbox::start(output, requests, options.max_unread)?;
    let mut inbox = read_on_thread(input, &options)?;
    let mut dispatch = Dispatch::new(service, responses, outbox.clone());

    let mut broken = pin!(outbox.until_broken());
    let mut parent: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None;
    let reason = loop {
        // Messages that have come are handled first: an `exit` from a parent that is gone still
        // counts as `exit`.
        let message = tokio::select! {
            biased;
            id = dispatch.panicked() => {
                dispatch.answer_panic(id);
                continue;
            }
            message = inbox.recv() => message,
            reason = &mut broken => break reason,
            () = gone_or_never(&mut parent) => break Reason::ParentGone,
        };
        let Some(Unhandled { message, _share }) = message else { break Reason::InputEnded };
        if dispatch.handle(message).await.is_break() {
            break Reason::Exit;
        }
        // Looked at here too: a flood of input leaves the `select!` no turn for it.
        if let Some(reason) = outbox.broken() {
            break reason;
        }
        if let (None, Some(process)) = (&parent, dispatch.client_process()) {
            parent = Some(Box::pin(parent_gone(process, options.parent_interval)));
        }
    };
    tracing::info!(?reason, "serving ends");
    let after_shutdown = dispatch.after_shutdown();
    dispatch.end();
    // A client that does not read is not waited for.
    let _ = tokio::time::timeout(options.last_words, written).await;
    Ok(ServeEnd { reason, after_shutdown })
}

/// The process's own input and output, unbuffered.
///
/// # Errors
/// When they can't be duplicated, as when they are closed.
pub fn stdio() -> io::Result<(File, File)> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        Ok((input.into(), output.into()))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        let input = io::stdin().as_handle().try_clone_to_owned()?;
        let output = io::stdout().as_handle().try_clone_to_owned()?;
        Ok((input.into(), output.into()))
    }
}

/// A message on its way from the reading thread, with its share of the bytes allowed there.
struct Unhandled {
    message: Incoming,
    _share: OwnedSemaphorePermit,
}

/// Starts the reading thread. The channel closes at the end of input.
fn read_on_thread(
    input: impl Read + Send + 'static,
    options: &ServeOptions,
) -> io::Result<mpsc::UnboundedReceiver<Unhandled>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let frames = Frames::new(input, options.max_header, options.max_body);
    let allowed = u32::try_from(options.max_unhandled).unwrap_or(u32::MAX).max(1);
    let runtime = Handle::current();
    thread::Builder::new().name("lsp-reader".into()).spawn(move || {
        if let Err(error) = read(frames, allowed, &sender, &runtime) {
            tracing::warn!("can't read from the client: {error}");
        }
    })?;
    Ok(receiver)
}

/// Reads until the input ends or nobody takes the messages any more. Messages are parsed here, beside the
/// thread that handles them.
fn read(
    mut frames: Frames<impl Read>,
    allowed: u32,
    sender: &mpsc::UnboundedSender<Unhandled>,
    runtime: &Handle,
) -> io::Result<()> {
    let shares = Arc::new(Semaphore::new(allowed as usize));
    while let Some(frame) = frames.next()? {
        let (message, length) = match frame {
            Ok(body) => (message::read(body), body.len()),
            Err(bad) => (refused(&bad), 0),
        };
        if message.is_refused() && length > 0 {
            frames.body_made_no_sense();
        }
        let share = u32::try_from(length).unwrap_or(u32::MAX).clamp(1, allowed);
        let share = match Arc::clone(&shares).try_acquire_many_owned(share) {
            Ok(share) => share,
            Err(_) => match runtime.block_on(Arc::clone(&shares).acquire_many_owned(share)) {
                Ok(share) => share,
                // Not reached: the semaphore is never closed.
                Err(_) => return Ok(()),
            },
        };
        if sender.send(Unhandled { message, _share: share }).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

fn refused(bad: &BadFrame) -> Incoming {
    let code = match bad {
        BadFrame::EndlessHeader { .. } | BadFrame::NoLength => ErrorCode::ParseError,
        BadFrame::TooLong { .. } => ErrorCode::InvalidRequest,
    };
    Incoming::Refused(message::refusal(code, bad.to_string()))
}

/// The watch's end, when there is a watch.
async fn gone_or_never(watch: &mut Option<Pin<Box<dyn Future<Output = ()> + Send>>>) {
    match watch {
        Some(watch) => watch.await,
        None => std::future::pending().await,
    }
}
