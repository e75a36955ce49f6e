//! History: what user and model have said, as messages and as the pieces that go over the wire.
//!
//! It is valid at every moment a request is built, and after every turn however it ended: roles alternate,
//! every tool call has exactly one result, no message is empty, names and ids are such as protocols allow. A
//! message is serialised once. What was sent is never changed; only the last message may grow at its end,
//! when the same side speaks again. No key of the model's is in it, whoever said it.

mod ids;
pub(crate) mod reduce;
pub(crate) mod tail;

use crate::context::text_bytes;
use crate::journal::Journal;
use crate::journal::record::Record;
use ids::CallIds;
use ropewalk_model::{Block, Message, Model, Piece, Role};
use ropewalk_protocol::{Content, MessageId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use tail::{CompactedTail, call_ids};

/// See the module.
#[derive(Clone, Default)]
pub struct History {
    /// Whom the pieces are for; none is serialised before the first model is known.
    model: Option<Arc<dyn Model>>,
    /// The model that a restored history was for.
    earlier: Option<String>,
    /// Where everything that is added is written first.
    journal: Journal,
    entries: Vec<HistoryEntry>,
    /// How often its beginning was compacted: marks of an earlier era are of messages that are gone.
    era: u32,
    /// Blocks of the first message, from its beginning, that are the summary of what was compacted.
    summary: usize,
    ids: CallIds,
    /// Ids that a journal has, and that calls have got others for in the last message.
    renamed: HashMap<String, String>,
}

/// A message, and how it goes over the wire.
#[derive(Clone)]
struct HistoryEntry {
    /// The id that the step gave it, or its first part; None of the user's side, and in older journals.
    id: Option<MessageId>,
    message: Arc<Message>,
    piece: Piece,
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.messages()).finish()
    }
}

impl History {
    /// From now on the pieces are for `model`. If it has another name than the one before, everything is
    /// serialised anew and thinking is dropped: only the model that thought it may read it.
    pub fn speak_to(&mut self, model: Arc<dyn Model>) {
        let earlier = self.model.as_ref().map(|old| old.name()).or(self.earlier.as_deref());
        let same = earlier == Some(model.name());
        if !same {
            self.journal.write(&Record::Model(model.name().into()));
            self.drop_thoughts();
        }
        if !same || self.model.is_none() {
            for entry in &mut self.entries {
                entry.piece = self.ids.encoded(Some(&*model), &entry.message);
            }
        }
        self.model = Some(model);
    }

    /// A restored history was for this model from here on.
    pub(crate) fn spoken_to(&mut self, model: &str) {
        if self.earlier.as_deref() != Some(model) {
            self.drop_thoughts();
            self.earlier = Some(model.to_owned());
        }
    }

    /// Begins the ids of calls like this from now on, so that they differ from those of other histories of the session.
    pub(crate) fn name_calls(&mut self, prefix: String) {
        self.ids.begin_with(prefix);
    }

    /// Writes everything that is added from here on into `journal` first.
    pub(crate) fn keep_in(&mut self, journal: Journal) {
        self.journal = journal;
    }

    /// Drops all that was thought: servers take it back only behind the very words that it was thought about.
    pub(crate) fn drop_thoughts(&mut self) {
        let thinks = |entry: &&mut HistoryEntry| entry.message.content.iter().any(is_thinking);
        for entry in self.entries.iter_mut().filter(thinks) {
            let message = Arc::make_mut(&mut entry.message);
            message.content.retain(|block| !is_thinking(block));
            if message.content.is_empty() {
                message.content.push(Block::text(NO_ANSWER));
            }
            entry.piece = self.ids.encoded(self.model.as_deref(), &entry.message);
        }
    }

    /// The mark right behind what was said so far.
    pub(crate) fn mark(&self) -> HistoryMark {
        let blocks = self.last().map_or(0, |last| last.content.len());
        HistoryMark { era: self.era, messages: self.entries.len(), blocks }
    }

    /// True if the mark is in this history, and not in what was compacted since.
    pub(crate) fn has(&self, mark: &HistoryMark) -> bool {
        mark.era == self.era
    }

    /// Messages after `mark`; all of them, if it is not in this history.
    pub(crate) fn since(&self, mark: &HistoryMark) -> impl Iterator<Item = &Message> {
        self.messages().skip(if self.has(mark) { mark.messages } else { 0 })
    }

    /// Forgets what was said after `mark`, which it must have.
    pub(crate) fn truncate(&mut self, mark: &HistoryMark) {
        self.entries.truncate(mark.messages);
        if self.entries.len() == mark.messages
            && let Some(last) = self.entries.last_mut()
            && last.message.content.len() > mark.blocks
        {
            Arc::make_mut(&mut last.message).content.truncate(mark.blocks);
            last.piece = self.ids.encoded(self.model.as_deref(), &last.message);
        }
    }

    /// How often its beginning was compacted.
    pub(crate) fn era(&self) -> u32 {
        self.era
    }

    /// Puts `first` in the place of all but the last `kept` messages, of which the first is the model's. It is not
    /// journalled here: a record of its own says it.
    pub(crate) fn compact(&mut self, first: Vec<Block>, tail: &CompactedTail) {
        let from = self.entries.len().saturating_sub(tail.kept);
        let mut kept = self.entries.split_off(from);
        let begin = kept.iter().position(|entry| entry.message.role == Role::Assistant);
        kept.drain(..begin.unwrap_or(kept.len()));
        for (at, content) in &tail.changed {
            if let Some(entry) = kept.get_mut(*at)
                && call_ids(&entry.message.content).eq(call_ids(content))
            {
                Arc::make_mut(&mut entry.message).content.clone_from(content);
                entry.piece = self.ids.encoded(self.model.as_deref(), &entry.message);
            }
        }
        let mut content = first;
        content.retain(|block| !block.is_blank());
        if content.is_empty() {
            content.push(Block::text(NO_WORDS));
        }
        self.summary = content.len();
        let message = Message { role: Role::User, content };
        let piece = self.ids.encoded(self.model.as_deref(), &message);
        self.entries = vec![HistoryEntry { id: None, message: Arc::new(message), piece }];
        self.entries.append(&mut kept);
        self.era += 1;
    }

    /// The request that asks `words` of the model about the messages in `range`, whose pieces are those that were sent; if it
    /// begins later than the history does, `before` stands in the place of what is left out. None before a model is known.
    pub(crate) fn question(
        &self,
        range: Range<usize>,
        before: &str,
        words: &str,
    ) -> Option<(Arc<dyn Model>, Vec<Piece>)> {
        let model = self.model.clone()?;
        let encoded = |message: &Message| self.ids.encoded(Some(&*model), message);
        let mut pieces = Vec::new();
        if range.start > 0 {
            pieces.push(encoded(&Message::user(before)));
        }
        let entries = self.entries.get(range).unwrap_or_default();
        pieces.extend(entries.iter().map(|entry| entry.piece.clone()));
        match entries.last().filter(|last| last.message.role == Role::User) {
            Some(last) => {
                let mut message = Message::clone(&last.message);
                message.content.push(Block::text(words));
                pieces.pop();
                pieces.push(encoded(&message));
            }
            None => pieces.push(encoded(&Message::user(words))),
        }
        Some((model, pieces))
    }

    /// All of it in bytes of text.
    pub(crate) fn bytes(&self) -> usize {
        let all = self.entries.iter().map(|entry| entry.piece.len()).sum();
        text_bytes(all, self.images())
    }

    /// Adds what a journal has. Whatever that is, the history stays valid: results without a call are left out,
    /// and calls without a result get one before the model speaks again.
    pub(crate) fn restore(&mut self, id: Option<MessageId>, role: Role, mut content: Vec<Block>) {
        match role {
            Role::User => {
                let mut open = self.open_calls();
                for block in &mut content {
                    if let Block::ToolResult { tool_use_id: id, .. } = block
                        && let Some(new) = self.renamed.get(id)
                    {
                        *id = new.clone();
                    }
                }
                content.retain(|block| match block {
                    Block::ToolResult { tool_use_id, .. } => {
                        let at = open.iter().position(|id| id == tool_use_id);
                        at.map(|at| open.remove(at)).is_some()
                    }
                    Block::ToolUse { .. } => false,
                    _ => !is_thinking(block),
                });
                let lost = open.iter().map(|id| Block::result(id, LOST, true));
                content.splice(0..0, lost);
                self.push(None, Role::User, content, NO_WORDS);
            }
            Role::Assistant => {
                let open = self.open_calls();
                if !open.is_empty() {
                    self.push_user(open.iter().map(|id| Block::result(id, LOST, true)).collect());
                }
                if self.entries.is_empty() {
                    self.push_user(vec![Block::text(NO_WORDS)]);
                }
                content.retain(|block| !matches!(block, Block::ToolResult { .. }));
                self.renamed.clear();
                let by = self.earlier.clone().unwrap_or_default();
                for block in &mut content {
                    let renamed = self.ids.admit(block, &by);
                    self.renamed.extend(renamed);
                }
                self.push(id, Role::Assistant, content, NO_ANSWER);
            }
        }
    }

    /// A journal says what ids the server of this model gave to calls, by ours.
    pub(crate) fn restore_ids(&mut self, by: &str, ids: Vec<(String, String)>) {
        self.ids.restore(by, ids);
    }

    /// The model that the pieces are for.
    pub(crate) fn model(&self) -> Option<&Arc<dyn Model>> {
        self.model.as_ref()
    }

    /// Parts of a request: the model, and the pieces for it; O(messages), by reference count. None
    /// before a model is known.
    pub fn request(&self) -> Option<(Arc<dyn Model>, Vec<Piece>)> {
        self.model.clone().map(|model| (model, self.pieces()))
    }

    /// The messages for the model, by reference count.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        self.entries.iter().map(|entry| entry.piece.clone()).collect()
    }

    /// How many images the pieces hold, and how many bytes of them these are.
    pub(crate) fn images(&self) -> (usize, usize) {
        self.images_of(0..self.entries.len())
    }

    /// The same of the messages in `range`.
    pub(crate) fn images_of(&self, range: Range<usize>) -> (usize, usize) {
        let entries = self.entries.get(range).unwrap_or_default();
        let all = entries.iter().map(|HistoryEntry { message, piece, .. }| {
            let parts = message.content.iter().flat_map(|block| match block {
                Block::Content(content) => std::slice::from_ref(content),
                Block::ToolResult { content, .. } => content,
                _ => &[],
            });
            let images = parts.filter_map(|part| match part {
                Content::Image { data, .. } => Some(data.len()),
                _ => None,
            });
            // A model that sees none has words in their place.
            images.fold((0, 0), |(count, bytes), image| match bytes + image <= piece.len() {
                true => (count + 1, bytes + image),
                false => (count, bytes),
            })
        });
        all.fold((0, 0), |(count, bytes), (more, larger)| (count + more, bytes + larger))
    }

    /// The messages, oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.entries.iter().map(|entry| &*entry.message)
    }

    /// The same, to be kept without a copy of their texts.
    pub(crate) fn shared_messages(&self) -> Vec<Arc<Message>> {
        self.entries.iter().map(|entry| entry.message.clone()).collect()
    }

    /// The ids of the messages, oldest first; None of the user's side, and of those that an older journal has.
    pub fn ids(&self) -> impl Iterator<Item = Option<&MessageId>> {
        self.entries.iter().map(|entry| entry.id.as_ref())
    }

    fn last(&self) -> Option<&Message> {
        self.entries.last().map(|entry| &*entry.message)
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Role of the last message.
    pub fn last_role(&self) -> Option<Role> {
        self.last().map(|message| message.role)
    }

    /// Adds what the user's side says: words, or results with words after them. Blank blocks are left out.
    pub fn push_user(&mut self, mut content: Vec<Block>) {
        self.redact(&mut content);
        self.push(None, Role::User, content, NO_WORDS);
    }

    /// Adds what the model of this name said, and gives it as it was added: ids that were used before, and ids and
    /// names that not every protocol would take back, are others then. What is sent has the ids that its server gave. Blank blocks are left out; thoughts alone get
    /// words after them, because a message of thoughts is none. Thoughts of a model that has been replaced
    /// meanwhile are dropped.
    pub fn push_assistant(
        &mut self,
        message: Option<MessageId>,
        mut content: Vec<Block>,
        by: &str,
    ) -> &[Block] {
        let replaced = self.model.as_ref().is_some_and(|model| model.name() != by);
        content.retain(|block| !(replaced && is_thinking(block)));
        self.redact(&mut content);
        let mut ids = Vec::new();
        for block in &mut content {
            self.ids.admit(block, by);
            if let Block::ToolUse { id, .. } = block
                && let Some(theirs) = self.ids.given(id)
            {
                ids.push((id.clone(), theirs.to_owned()));
            }
        }
        if !ids.is_empty() {
            self.journal.write(&Record::CallIds { by: by.into(), ids });
        }
        let added = content.len();
        self.push(message, Role::Assistant, content, NO_ANSWER);
        let all = self.last().map_or(&[][..], |last| &last.content);
        all.get(all.len().saturating_sub(added)..).unwrap_or(all)
    }

    /// Ends a turn: calls without a result get one, and unless the turn ended well, `why` is said behind the
    /// last words, so that the model knows it when the user goes on.
    pub fn close(&mut self, why: Option<&str>) {
        self.close_telling(why, |_| None);
    }

    /// The same with other results for some open calls, by their ids.
    pub(crate) fn close_telling(
        &mut self,
        why: Option<&str>,
        known: impl Fn(&str) -> Option<Block>,
    ) {
        let open = self.open_calls();
        if !open.is_empty() {
            let words = format!("Error: Not run: {}", why.unwrap_or("the turn ended"));
            let result = |id: &String| known(id).unwrap_or_else(|| Block::result(id, &words, true));
            let results = open.iter().map(result).collect();
            self.push_user(results);
        }
        if let Some(why) = why {
            self.push_user(vec![Block::text(format!("({why})"))]);
        }
    }

    /// The ids of the calls in the last message, which have no result yet, in order.
    fn open_calls(&self) -> Vec<String> {
        let last = self.last().filter(|last| last.role == Role::Assistant);
        let calls = last.into_iter().flat_map(|last| &last.content).filter_map(|block| {
            if let Block::ToolUse { id, .. } = block { Some(id.clone()) } else { None }
        });
        calls.collect()
    }

    fn push(&mut self, id: Option<MessageId>, role: Role, mut content: Vec<Block>, nothing: &str) {
        content.retain(|block| !block.is_blank());
        if content.iter().all(is_thinking) {
            content.push(Block::text(nothing));
        }
        if self.journal.is_kept() {
            let said = Record::Said { id: id.clone(), role, content: Cow::Borrowed(&content) };
            self.journal.write(&said);
        }
        match self.entries.last_mut() {
            Some(last) if last.message.role == role => {
                Arc::make_mut(&mut last.message).content.append(&mut content);
                last.piece = self.ids.encoded(self.model.as_deref(), &last.message);
            }
            _ => {
                let message = Message { role, content };
                let piece = self.ids.encoded(self.model.as_deref(), &message);
                self.entries.push(HistoryEntry { id, message: Arc::new(message), piece });
            }
        }
    }

    fn redact(&self, content: &mut [Block]) {
        if let Some(keys) = self.model.as_ref().map(|model| model.keys()) {
            content.iter_mut().for_each(|block| block.redact(&keys));
        }
    }
}

/// A mark in a history: behind so many blocks of its message of this number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HistoryMark {
    era: u32,
    messages: usize,
    blocks: usize,
}

impl HistoryMark {
    /// How often the history had been compacted then.
    pub(crate) fn era(&self) -> u32 {
        self.era
    }
}

/// In the place of an answer that has no words.
const NO_ANSWER: &str = "(no answer)";

/// In the place of what a user said without words.
const NO_WORDS: &str = "(no words)";

/// In the place of a result that a journal has not.
const LOST: &str = "Error: The result of this call was lost when Ropewalk ended. Look at what it did before you make \
                    it again.";

fn is_thinking(block: &Block) -> bool {
    matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. })
}
