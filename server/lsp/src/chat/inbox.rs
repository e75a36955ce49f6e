//! Things that wait to be put into the conversation document, and what is known of the user at it.

use super::transcript::ChangeListing;
use crate::lock;
use ropewalk_workspace::DocId;
use ropewalk_workspace::log::Cursor;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Notify, mpsc};

/// Something to be put into the document.
#[derive(Debug)]
pub(super) enum ChatEntry {
    /// A message, whole.
    Block(String),
    /// The headings behind a draft that was sent: where it ended, in the text of this moment.
    Sent(usize, Cursor),
}

/// The server's knowledge of the page and of the user at it. See the module.
pub(crate) struct ChatInbox {
    pub(super) entries: mpsc::UnboundedSender<ChatEntry>,
    pub(super) to_append: Mutex<Option<mpsc::UnboundedReceiver<ChatEntry>>>,
    /// Told when the document is opened.
    pub(super) opened: Notify,
    /// True if the user was last seen in the document.
    pub(super) is_here: AtomicBool,
    /// True while a turn runs.
    pub(super) is_running: AtomicBool,
    /// The document that was sent from last.
    pub(super) sent_from: Mutex<Option<DocId>>,
    /// True from the start of a session until a turn begins or its changes are listed.
    pub(super) is_resumed: AtomicBool,
    /// Requests that stand on the page, of which no turn has begun yet.
    pub(super) sent: Mutex<VecDeque<String>>,
    /// Words on the page that were said to the running turn. What it does not take up begins another.
    pub(super) joined: Mutex<Vec<String>>,
    /// Changes that have a line on the page, the last one last.
    pub(super) listed: Mutex<VecDeque<ChangeListing>>,
}

impl ChatInbox {
    pub(crate) fn new() -> Self {
        let (entries, to_append) = mpsc::unbounded_channel();
        Self {
            entries,
            to_append: Mutex::new(Some(to_append)),
            opened: Notify::new(),
            is_here: AtomicBool::new(false),
            is_running: AtomicBool::new(false),
            sent_from: Mutex::default(),
            is_resumed: AtomicBool::new(false),
            sent: Mutex::default(),
            joined: Mutex::default(),
            listed: Mutex::default(),
        }
    }

    /// Remembers that the user does something in a document.
    pub(crate) fn note_place(&self, id: &DocId) {
        self.is_here.store(id.is_conversation(), Ordering::Relaxed);
    }

    /// Remembers that a request was made, in this document if one is named.
    pub(crate) fn note_asked(&self, id: Option<&DocId>) {
        self.is_here.store(id.is_some_and(DocId::is_conversation), Ordering::Relaxed);
    }

    /// Remembers that a document was opened.
    pub(crate) fn note_opened(&self, id: &DocId) {
        self.note_place(id);
        if id.is_conversation() {
            self.opened.notify_waiters();
        }
    }

    /// True if the words that a turn begins with stand on the page; they count as begun.
    pub(super) fn take_sent(&self, prompt: &str) -> bool {
        // Of the words to a turn, the last ones are those that it did not take up.
        let joined = std::mem::take(&mut *lock(&self.joined));
        let mut rests = (0..joined.len()).filter_map(|from| joined.get(from..));
        if rests.any(|rest| rest.join("\n") == prompt) {
            return true;
        }
        let mut sent = lock(&self.sent);
        let known = sent.iter().position(|words| words == prompt);
        known.and_then(|at| sent.remove(at)).is_some()
    }

    pub(super) fn append(&self, entry: ChatEntry) {
        // The task that takes them lives as long as the server.
        let _ = self.entries.send(entry);
    }
}
