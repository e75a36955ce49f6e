//! The conversation document, for clients without a plugin: an ordinary file in which the user writes requests, and whole
//! messages are appended.
//!
//! One task appends, in order, by edits that are proved like any other of ours, always above the draft. What can't be
//! appended while the document is closed waits until it is open again, and is a message as well.

mod actions;
mod complete;
mod inbox;
mod open;
mod page;
mod send;
mod transcript;

pub(crate) use complete::{complete, provider as completion_provider};
pub(crate) use inbox::ChatInbox;
pub(crate) use open::open;
pub(crate) use send::send;
pub(crate) use transcript::PageTranscript;

use crate::lock;
use crate::show::words::{how_to_answer, lines_changed};
use crate::state::State;
use inbox::ChatEntry;
use page::harmless;
use ropewalk_protocol::{Approval, Event, HunkInfo, Resolution};
use ropewalk_text::Bias;
use ropewalk_text::plain::plain_line;
use ropewalk_workspace::conversation::insert;
use ropewalk_workspace::publish::{Failure, PublishBounds};
use ropewalk_workspace::{DocId, Document, HunkId};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tower_lsp::lsp_types::MessageType;
use transcript::ChangeListing;

/// The most changes whose lines are remembered.
const LISTED: usize = 10_000;

impl State {
    /// True if this client has the conversation document: a plugin has a conversation of its own.
    pub(crate) fn has_chat(&self) -> bool {
        let options = self.facts().options;
        options.conversation || !(options.events && options.approvals)
    }

    /// The conversation document, if one is open: the one that was sent from last, else that of the first root, else any.
    pub(crate) fn chat_document(&self) -> Option<DocId> {
        if !self.has_chat() {
            return None;
        }
        let sent_from = lock(&self.chat.sent_from).clone();
        let first = self.workspace.roots().first().map(|root| root.given().to_owned());
        let mut open: Vec<DocId> =
            self.workspace.open_documents().into_iter().filter(DocId::is_conversation).collect();
        open.sort_by_key(|id| {
            let in_first = id.path().as_deref().and_then(|path| path.parent()) == first.as_deref();
            (sent_from.as_ref() != Some(id), !in_first)
        });
        open.into_iter().next()
    }

    /// True if the user was last seen in the conversation, and it is open: words belong there alone.
    pub(crate) fn is_in_chat(&self) -> bool {
        self.chat.is_here.load(Ordering::Relaxed) && self.chat_document().is_some()
    }

    /// Appends words to the conversation.
    pub(crate) fn append_words(&self, words: &str) {
        self.chat.append(ChatEntry::Block(harmless(words.trim())));
    }

    /// Appends what an event of the current session says, if it is to be on the page. True if a turn that ends with it stands
    /// there whole.
    pub(crate) fn record(&self, turn: &mut Option<PageTranscript>, event: &Event) {
        if !self.has_chat() {
            return;
        }
        match event {
            Event::TurnStarted { prompt, .. } => {
                self.chat.is_running.store(true, Ordering::Relaxed);
                self.chat.is_resumed.store(false, Ordering::Relaxed);
                let is_there = self.chat.take_sent(prompt.trim());
                if is_there || self.chat_document().is_some() {
                    let transcript = turn.get_or_insert_default();
                    let request = transcript.begin(prompt, is_there);
                    request.into_iter().for_each(|block| self.chat.append(ChatEntry::Block(block)));
                } else {
                    *turn = None;
                }
            }
            Event::SessionStarted { .. } => {
                self.chat.is_running.store(false, Ordering::Relaxed);
                self.chat.is_resumed.store(true, Ordering::Relaxed);
                lock(&self.chat.listed).clear();
            }
            Event::Published { changes, .. } if self.chat_document().is_some() => {
                self.list(transcript::made(changes));
            }
            Event::TurnEnded { .. } => {
                self.chat.is_running.store(false, Ordering::Relaxed);
                let words = turn.as_mut().and_then(PageTranscript::words);
                words.into_iter().for_each(|block| self.chat.append(ChatEntry::Block(block)));
            }
            event => {
                let how = how_to_answer(&self.habits());
                let blocks = turn.as_mut().map(|turn| turn.take(event, &how)).unwrap_or_default();
                blocks.into_iter().for_each(|block| self.chat.append(ChatEntry::Block(block)));
            }
        }
    }

    /// Appends what a teammate asks, if the page is open.
    pub(crate) fn record_question(&self, member: &str, asked: &Approval) {
        if self.chat_document().is_some() {
            let how = how_to_answer(&self.habits());
            self.chat.append(ChatEntry::Block(transcript::question(asked, Some(member), &how)));
        }
    }

    /// Appends how that was answered.
    pub(crate) fn record_answer(&self, member: &str, how: Resolution) {
        if self.chat_document().is_some() {
            let words = format!("- {}: {}", plain_line(member), transcript::resolved(how));
            self.chat.append(ChatEntry::Block(words));
        }
    }

    /// Appends how a turn has ended: what went wrong, and the changes that wait.
    pub(crate) fn record_end(&self, words: Vec<String>) {
        words.iter().for_each(|words| self.append_words(words));
        self.list_waiting();
    }

    /// Appends the changes that wait in a session that goes on, once: the page may name them at places of an earlier day,
    /// or not at all.
    pub(crate) fn list_resumed(&self) {
        let waits = self.waiting().is_some() && self.chat_document().is_some();
        if waits && self.chat.is_resumed.swap(false, Ordering::Relaxed) {
            self.list_waiting();
        }
    }

    /// Appends the changes that wait, each on a line that names its place.
    pub(crate) fn list_waiting(&self) {
        let mut hunks = lock(&self.shown).hunks.clone();
        let reviewing = self.host.snapshot(None).reviewing.clone();
        hunks.retain(|hunk| !reviewing.contains(&HunkId(hunk.id)));
        let Some(waiting) = self.waiting() else { return };
        let words = format!("{}:", waiting.in_words());
        let changed = |hunk: &HunkInfo| {
            let whole = || self.host.hunk_texts(hunk.id).map(|texts| texts.diff);
            lines_changed(&hunk.diff.clone().or_else(whole)?)
        };
        transcript::waiting(&hunks, &words, changed).into_iter().for_each(|list| self.list(list));
    }

    fn list(&self, (block, changes): (String, Vec<ChangeListing>)) {
        let mut listed = lock(&self.chat.listed);
        listed.extend(changes);
        let old = listed.len().saturating_sub(LISTED);
        listed.drain(..old);
        drop(listed);
        self.chat.append(ChatEntry::Block(block));
    }
}

/// Puts into the document what is to be there, in order, for as long as the server runs.
pub(crate) async fn keep(state: Arc<State>) {
    let Some(mut entries) = lock(&state.chat.to_append).take() else { return };
    while let Some(entry) = entries.recv().await {
        let mut is_told = false;
        loop {
            let opened = state.chat.opened.notified();
            let mut opened = std::pin::pin!(opened);
            // Or it might be opened between the look and the wait.
            opened.as_mut().enable();
            let Some(id) = state.chat_document() else {
                opened.await;
                continue;
            };
            let Err(failure) = put(&state, &id, &entry).await else { break };
            // Words on their way while it was closed were meant for it alone.
            if let ChatEntry::Block(words) = &entry
                && !is_told
            {
                state.show_message(MessageType::INFO, words.clone(), None).await;
                is_told = true;
            }
            if !matches!(failure, Failure::Closed) {
                tracing::warn!(%failure, "the conversation was not appended to");
                break;
            }
        }
    }
}

async fn put(state: &State, id: &DocId, entry: &ChatEntry) -> Result<(), Failure> {
    let mut place = |document: &mut Document| {
        let text = document.text().to_string();
        Some(match entry {
            ChatEntry::Block(block) => page::place(&text, block),
            ChatEntry::Sent(at, cursor) => {
                let log = document.log();
                // The text of another document that was opened since says itself where its draft ends.
                let at = match log.knows(cursor) {
                    true => log
                        .since(cursor)
                        .fold(*at, |at, delta| delta.change.map_offset(at, Bias::Before)),
                    false => page::draft(&text).map_or(text.len(), |draft| draft.end),
                };
                (at, page::behind_sent(&text, at))
            }
        })
    };
    insert(&state.workspace, &*state.editor, id, &mut place, PublishBounds::default()).await
}
