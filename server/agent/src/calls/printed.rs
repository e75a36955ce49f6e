//! Output of a running command on its way to the front end: in pieces that somebody can read in
//! time, without terminal codes, and bounded.
//!
//! The whole goes to the call's output file, which is the runner's; the result is the tool's.

use futures::FutureExt;
use ropewalk_tools::escapes::strip_escapes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// The least time between two pieces.
const PAUSE: Duration = Duration::from_millis(50);

/// The most bytes of one piece.
const PIECE: usize = 32 * 1024;

/// The most bytes of one call's output that are shown while it runs. Of what comes then the end is shown with the last piece.
const MOST_SHOWN: usize = 1 << 20;

/// The most bytes of what an interrupted call had printed that the model is told.
const MOST_TOLD: usize = 2_000;

/// How far from the end an escape sequence may begin that is not whole yet.
const LONGEST_ESCAPE: usize = 64;

/// See the module. Once it is dropped, the last piece is shown.
pub(crate) struct Printed {
    buffer: Arc<Mutex<PrintedBuffer>>,
    show: Arc<ShowOutput>,
    wake: mpsc::Sender<()>,
}

type ShowOutput = dyn Fn(String) + Send + Sync;

#[derive(Default)]
struct PrintedBuffer {
    waiting: String,
    /// How many bytes were left out before what waits.
    left_out: usize,
    shown: usize,
}

impl Printed {
    /// Shows pieces by `show`, which must not block.
    pub(crate) fn new(show: impl Fn(String) + Send + Sync + 'static) -> Self {
        let show: Arc<ShowOutput> = Arc::new(show);
        let buffer: Arc<Mutex<PrintedBuffer>> = Arc::default();
        let (wake, mut woken) = mpsc::channel(1);
        let (waiting, shows) = (buffer.clone(), show.clone());
        tokio::spawn(
            async move {
                while woken.recv().await.is_some() {
                    show_piece(&waiting, &*shows, false);
                    tokio::time::sleep(PAUSE).await;
                }
                show_piece(&waiting, &*shows, true);
            }
            .boxed(),
        );
        Self { buffer, show, wake }
    }

    /// Takes in what was printed.
    pub(crate) fn push(&self, text: &str) {
        lock(&self.buffer).push(text);
        // Full means that it is woken already.
        let _ = self.wake.try_send(());
    }

    /// Shows what waits now.
    pub(crate) fn flush(&self) {
        show_piece(&self.buffer, &*self.show, true);
    }
}

fn show_piece(buffer: &Mutex<PrintedBuffer>, show: &ShowOutput, is_last: bool) {
    // Shown under the lock, so that pieces keep their order.
    let mut buffer = lock(buffer);
    if let Some(piece) = buffer.take(is_last) {
        show(piece);
    }
}

impl PrintedBuffer {
    fn push(&mut self, text: &str) {
        self.waiting.push_str(text);
        self.left_out += keep_end(&mut self.waiting, PIECE);
    }

    /// The next piece. An escape sequence whose end has not come waits for it, unless nothing more comes.
    fn take(&mut self, is_last: bool) -> Option<String> {
        if self.shown > MOST_SHOWN && !is_last {
            return None;
        }
        let mut text = std::mem::take(&mut self.waiting);
        let begun = text.rfind('\u{1b}').filter(|at| text.len() - at < LONGEST_ESCAPE);
        if let Some(at) = begun.filter(|_| !is_last)
            && text.get(at..).is_some_and(|tail| strip_escapes(tail).is_empty())
        {
            self.waiting = text.split_off(at);
        }
        let mut piece = strip_escapes(&text);
        if self.left_out > 0 {
            piece.insert_str(0, &format!("\n… ({} bytes are not shown)\n", self.left_out));
            self.left_out = 0;
        }
        self.shown += piece.len();
        (!piece.is_empty()).then_some(piece)
    }
}

/// The end of what a call has printed, for the model if it is interrupted.
#[derive(Default)]
pub(super) struct PrintedEnd(Mutex<String>);

impl PrintedEnd {
    /// Takes in what was printed, and drops what is too much from the start.
    pub(super) fn push(&self, more: &str) {
        let mut text = lock(&self.0);
        text.push_str(more);
        keep_end(&mut text, MOST_TOLD);
    }

    pub(super) fn text(&self) -> String {
        lock(&self.0).clone()
    }
}

/// Drops the beginning of a text of more than `most` bytes, and gives the number of bytes that are gone.
fn keep_end(text: &mut String, most: usize) -> usize {
    let too_much = text.len().saturating_sub(most);
    let cut = (too_much..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text.drain(..cut);
    cut
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(pushed: &[&str]) -> Vec<String> {
        let mut buffer = PrintedBuffer::default();
        let mut pieces = Vec::new();
        for text in pushed {
            buffer.push(text);
            pieces.extend(buffer.take(false));
        }
        pieces.extend(buffer.take(true));
        pieces
    }

    #[test]
    fn escapes_are_taken_out_also_where_a_piece_cuts_them() {
        assert_eq!(pieces(&["a\u{1b}[3", "1mred\u{1b}[0m"]), ["a", "red"]);
        assert_eq!(pieces(&["10%\r20%\r30%\n"]), ["30%\n"]);
        assert_eq!(pieces(&["end\u{1b}["]), ["end"]);
        assert_eq!(pieces(&["é𝄞"]), ["é𝄞"]);
    }

    #[test]
    fn a_flood_is_cut_and_said_to_be() {
        let flood = "é".repeat(PIECE) + "the end";
        let shown = pieces(&[&flood]);
        assert!(shown.len() == 1 && shown[0].len() < PIECE + 100);
        assert!(shown[0].contains("bytes are not shown)\n") && shown[0].ends_with("the end"));
        let last = flood.clone() + " of all";
        let mut many = vec![&*flood; 200];
        many.push(&last);
        let shown = pieces(&many).concat();
        assert!(
            shown.len() < 2 * MOST_SHOWN && shown.ends_with("the end of all"),
            "{}",
            shown.len()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn pieces_come_in_order_and_the_last_one_when_it_is_dropped() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let printed = Printed::new(move |piece| sender.send(piece).unwrap());
        printed.push("a");
        assert_eq!(receiver.recv().await.as_deref(), Some("a"));
        printed.push("b");
        printed.push("c");
        printed.flush();
        assert_eq!(receiver.recv().await.as_deref(), Some("bc"));
        printed.push("d");
        drop(printed);
        assert_eq!(receiver.recv().await.as_deref(), Some("d"));
        assert_eq!(receiver.recv().await, None);
    }
}
