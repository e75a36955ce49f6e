//! The inbox: what has come for the model and joins its next request.
//!
//! News in it are journalled until the model has them. Words are journalled by who takes them from the user.

use crate::journal::Journal;
use crate::journal::record::Record;
use ropewalk_protocol::Content;
use ropewalk_workspace::Note;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module.
pub(crate) struct Inbox {
    items: Mutex<VecDeque<Item>>,
    journal: Journal,
}

/// Something for the model.
pub(crate) enum Item {
    /// Words of the user to the running turn.
    Words(Vec<Content>),
    /// News of the session.
    Note(Note),
    /// The end of a command in the background, whose changes are merged.
    Finished(Finished),
}

/// A command that has ended in the background.
pub(crate) struct Finished {
    pub(crate) id: u64,
    pub(crate) command: String,
    /// The result for the model.
    pub(crate) text: String,
}

impl Item {
    fn note(&self) -> Option<Note> {
        match self {
            Item::Words(_) => None,
            Item::Note(note) => Some(note.clone()),
            Item::Finished(Finished { id, command, text }) => Some(Note::BackgroundEnded {
                id: *id,
                command: command.clone(),
                text: text.clone(),
            }),
        }
    }
}

impl Inbox {
    /// An inbox with the news that a journal has.
    pub(crate) fn new(notes: Vec<Note>, journal: Journal) -> Self {
        Self { items: Mutex::new(notes.into_iter().map(Item::Note).collect()), journal }
    }

    fn items(&self) -> MutexGuard<'_, VecDeque<Item>> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, item: Item) {
        let is_note = !matches!(item, Item::Words(_));
        let mut items = self.items();
        items.push_back(item);
        if is_note {
            self.keep(&items);
        }
    }

    pub(crate) fn has_words(&self) -> bool {
        self.items().iter().any(|item| matches!(item, Item::Words(_)))
    }

    /// Takes the user's words, in order.
    pub(crate) fn take_words(&self) -> Vec<Vec<Content>> {
        let mut items = self.items();
        let all = std::mem::take(&mut *items);
        let mut words = Vec::new();
        for item in all {
            match item {
                Item::Words(content) => words.push(content),
                news => items.push_back(news),
            }
        }
        words
    }

    /// Takes the news, in order, once `told` has given them to the model.
    pub(crate) fn take_news<T>(&self, told: impl FnOnce(Vec<Note>) -> T) -> T {
        let mut items = self.items();
        let notes: Vec<Note> = items.iter().filter_map(Item::note).collect();
        let is_news = !notes.is_empty();
        let done = told(notes);
        if is_news {
            items.retain(|item| matches!(item, Item::Words(_)));
            // Cut off before this line, they are told twice rather than never.
            self.keep(&items);
        }
        done
    }

    fn keep(&self, items: &VecDeque<Item>) {
        if self.journal.is_kept() {
            let notes = items.iter().filter_map(Item::note).collect();
            self.journal.write(&Record::News(Cow::Owned(notes)));
        }
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
        let inbox = Inbox::new(Vec::new(), journal);
        inbox.put(Item::Words(vec![Content::text("and this")]));
        let (command, text) = ("make".to_owned(), "all is well".to_owned());
        inbox.put(Item::Finished(Finished { id: 7, command, text }));
        let notes = || sessions.read("s").unwrap().notes;
        let kept = notes();
        assert!(matches!(&kept[..], [Note::BackgroundEnded { id: 7, .. }]), "{kept:?}");
        // Another process has them from the journal.
        let again = Inbox::new(kept.clone(), Journal::none());
        again.take_news(|told| assert_eq!(told, kept));
        inbox.take_news(|told| {
            assert_eq!(told, kept);
            assert_eq!(notes(), kept, "cut off here, they are told again");
        });
        assert_eq!(notes(), []);
        assert!(inbox.has_words());
        assert_eq!(inbox.take_words(), [vec![Content::text("and this")]]);
        assert!(!inbox.has_words());
    }
}
