//! The inbox: what has come for the model and joins its next request.
//!
//! News in it are journalled until the model has them. Words are journalled by who takes them from the user.

use crate::journal::Journal;
use crate::journal::record::Record;
use crate::news::News;
use ropewalk_protocol::Content;
use ropewalk_workspace::Note;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module.
pub(crate) struct Inbox {
    items: Mutex<InboxItems>,
    journal: Journal,
}

#[derive(Default)]
struct InboxItems {
    waiting: VecDeque<InboxItem>,
    /// News as of the last line of the journal.
    news: News,
}

/// Something for the model.
pub(crate) enum InboxItem {
    /// Words of the user to the running turn.
    Words(Vec<Content>),
    /// News of the session.
    Note(Note),
    /// The end of a command in the background, whose changes are merged.
    Finished(BackgroundNews),
}

/// A command that has ended in the background.
pub(crate) struct BackgroundNews {
    pub(crate) id: u64,
    /// The turn that has started it.
    pub(crate) turn: u64,
    pub(crate) command: String,
    /// The result for the model.
    pub(crate) text: String,
}

impl InboxItem {
    fn note(&self) -> Option<Note> {
        match self {
            InboxItem::Words(_) => None,
            InboxItem::Note(note) => Some(note.clone()),
            InboxItem::Finished(BackgroundNews { id, turn, command, text }) => {
                Some(Note::BackgroundEnded {
                    id: *id,
                    turn: *turn,
                    command: command.clone(),
                    text: text.clone(),
                })
            }
        }
    }
}

impl Inbox {
    /// An inbox with the news that a journal has.
    pub(crate) fn new(news: News, journal: Journal) -> Self {
        let waiting = news.waiting.iter().cloned().map(InboxItem::Note).collect();
        Self { items: Mutex::new(InboxItems { waiting, news }), journal }
    }

    fn items(&self) -> MutexGuard<'_, InboxItems> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, item: InboxItem) {
        let is_note = !matches!(item, InboxItem::Words(_));
        let mut items = self.items();
        items.waiting.push_back(item);
        if is_note {
            items.news.waiting = items.notes();
            self.keep(&items);
        }
    }

    pub(crate) fn has_words(&self) -> bool {
        self.items().waiting.iter().any(|item| matches!(item, InboxItem::Words(_)))
    }

    /// Takes the user's words, in order.
    pub(crate) fn take_words(&self) -> Vec<Vec<Content>> {
        let mut items = self.items();
        let all = std::mem::take(&mut items.waiting);
        let mut words = Vec::new();
        for item in all {
            match item {
                InboxItem::Words(content) => words.push(content),
                news => items.waiting.push_back(news),
            }
        }
        words
    }

    /// Takes the news, in order, once `told` has given them to the model in this turn.
    pub(crate) fn take_news<T>(&self, turn: u64, told: impl FnOnce(Vec<Note>) -> T) -> T {
        let mut items = self.items();
        let notes = items.notes();
        let is_news = !notes.is_empty();
        let done = told(notes);
        if is_news {
            items.waiting.retain(|item| matches!(item, InboxItem::Words(_)));
            items.news.now_waits(turn, Vec::new());
            // Cut off before this line, they are told twice rather than never.
            self.keep(&items);
        }
        done
    }

    /// A turn and all after it are taken back; see [`News::rewind`].
    pub(crate) fn rewind(&self, turn: u64) {
        let mut items = self.items();
        items.news.rewind(turn);
        items.waiting.retain(|item| matches!(item, InboxItem::Words(_)));
        let notes = items.news.waiting.clone();
        items.waiting.extend(notes.into_iter().map(InboxItem::Note));
        self.keep(&items);
    }

    fn keep(&self, items: &InboxItems) {
        if self.journal.is_kept() {
            self.journal.write(&Record::News(Cow::Borrowed(&items.news.waiting)));
        }
    }
}

impl InboxItems {
    fn notes(&self) -> Vec<Note> {
        self.waiting.iter().filter_map(InboxItem::note).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::store::Sessions;

    #[test]
    fn news_are_in_the_journal_until_the_model_has_them_and_words_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(dir.path());
        let journal = sessions.begin("s", Vec::new());
        journal.write(&Record::Turn { turn: 1, at: 0, prompt: "go".into() });
        let inbox = Inbox::new(News::default(), journal);
        inbox.put(InboxItem::Words(vec![Content::text("and this")]));
        let (command, text) = ("make".to_owned(), "all is well".to_owned());
        inbox.put(InboxItem::Finished(BackgroundNews { id: 7, turn: 1, command, text }));
        let news = || sessions.read("s").unwrap().news;
        let notes = || news().waiting;
        let kept = notes();
        assert!(matches!(&kept[..], [Note::BackgroundEnded { id: 7, .. }]), "{kept:?}");
        // Another process has them from the journal.
        let again = Inbox::new(news(), Journal::none());
        again.take_news(2, |told| assert_eq!(told, kept));
        inbox.take_news(2, |told| {
            assert_eq!(told, kept);
            assert_eq!(notes(), kept, "cut off here, they are told again");
        });
        assert_eq!(notes(), []);
        assert!(inbox.has_words());
        assert_eq!(inbox.take_words(), [vec![Content::text("and this")]]);
        assert!(!inbox.has_words());
    }
}
