//! The conversation: all that was said in a session, and what it has used.
//!
//! It belongs to the session's actor, moves into the task of the running turn, and comes back with its end. Everybody
//! else reads the `ConversationSnapshot`.

use crate::budget;
use crate::context::ContextNotices;
use crate::history::History;
use crate::journal::Journal;
use crate::journal::past::{TurnMark, UserWords, title_of};
use crate::journal::record::{Record, now};
use crate::knowledge::SharedKnowledge;
use crate::prelude::PreludeCache;
use crate::reads::{KnownFiles, SeenText};
use crate::settings::Settings;
use crate::subagent::spending::TurnSpending;
use ropewalk_model::{Block, Message};
use ropewalk_protocol::{MessageId, Spent, TodoList};
use ropewalk_workspace::Note;
use ropewalk_workspace::state::SavedState;
use std::sync::Arc;
use tokio::sync::watch;

/// See the module.
pub struct Conversation {
    pub(crate) history: History,
    /// The turns, oldest first.
    pub(crate) turns: Arc<Vec<TurnMark>>,
    /// The user's own words, oldest first.
    pub(crate) words: Vec<UserWords>,
    /// Files that the model has read; of a session that goes on, until they are compared with what is there now.
    pub(crate) reads: KnownFiles,
    /// True if `reads` are to be compared.
    pub(crate) goes_on: bool,
    pub(crate) spent: Spent,
    /// Tokens and money used when the turn began.
    pub(crate) before: Spent,
    /// Use of the whole turn, for a subagent.
    pub(crate) shared: Option<Arc<TurnSpending>>,
    /// Set once the user was warned that this model has no price.
    pub(crate) told_unkept: bool,
    pub(crate) context: ContextNotices,
    pub(crate) prelude: PreludeCache,
    /// Texts that the model was told beside the prelude.
    pub(crate) knowledge: Arc<SharedKnowledge>,
    pub(crate) journal: Journal,
    /// Where everybody else reads it.
    pub(crate) snapshot: watch::Sender<ConversationSnapshot>,
}

/// A conversation as others see it while a turn has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConversationSnapshot {
    /// The name that the user gave it.
    pub(crate) given_title: Option<String>,
    /// The highest number of a turn that was asked for.
    pub(crate) last_turn: u64,
    pub(crate) turns: Arc<Vec<TurnMark>>,
    pub(crate) spent: Spent,
    pub(crate) messages: Vec<Arc<Message>>,
}

impl ConversationSnapshot {
    /// The session's name: the user's, or the start of the first prompt; empty while there is neither.
    pub(crate) fn title(&self) -> String {
        let first = || self.turns.first().map(|turn| title_of(&turn.prompt));
        self.given_title.clone().or_else(first).unwrap_or_default()
    }
}

impl Conversation {
    /// Everything said so far, oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.history.messages()
    }

    /// Tokens used so far, and what they cost.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Adds what the user's side says; see [`History::push_user`].
    pub fn push_user(&mut self, content: Vec<Block>) {
        self.history.push_user(content);
        self.publish();
    }

    /// Adds what the model said; see [`History::push_assistant`].
    pub(crate) fn push_assistant(
        &mut self,
        id: MessageId,
        content: Vec<Block>,
        by: &str,
    ) -> &[Block] {
        let added = self.history.push_assistant(Some(id), content, by).len();
        self.publish();
        let all = self.history.messages().next_back().map_or(&[][..], |last| &last.content);
        all.get(all.len().saturating_sub(added)..).unwrap_or(all)
    }

    /// Ends a turn; see [`History::close`].
    pub(crate) fn close(&mut self, why: Option<&str>) {
        self.history.close(why);
        self.publish();
    }

    /// From here on it is for the model of these settings.
    pub(crate) fn follow(&mut self, settings: &Settings) {
        if let Ok(model) = &settings.model {
            self.history.speak_to(model.clone());
        }
    }

    /// A turn begins: what was before it is remembered, for taking it back.
    pub(crate) fn begin_turn(
        &mut self,
        turn: u64,
        prompt: &str,
        kept: SavedState,
        todos: TodoList,
    ) {
        let (at, prompt) = (now(), prompt.to_owned());
        self.journal.write(&Record::Turn { turn, at, prompt: (&*prompt).into() });
        self.before = self.spent;
        self.words.push(UserWords { turn, text: prompt.clone() });
        let (history, knowledge) = (self.history.mark(), self.knowledge.lock().clone());
        let reads = self.reads.clone();
        let mark = TurnMark { turn, at, prompt, history, kept, todos, reads, knowledge };
        Arc::make_mut(&mut self.turns).push(mark);
        self.publish();
    }

    /// The user has said something beside a prompt.
    pub(crate) fn hear(&mut self, text: String) {
        let turn = self.turns.last().map_or(0, |mark| mark.turn);
        self.journal.write(&Record::Words { turn, text: (&*text).into() });
        self.words.push(UserWords { turn, text });
    }

    /// The user's reasons among the news are words of theirs.
    pub(crate) fn hear_reasons(&mut self, news: &[Note]) {
        for note in news {
            if let Note::Rejected { file, reason: Some(reason), .. } = note {
                self.hear(format!("(rejecting a change of {file}) {reason}"));
            }
        }
    }

    /// Forgets a turn and all after it. What was said before it is in `folded`, if it lies before a compaction.
    pub(crate) fn rewind(&mut self, to: &TurnMark, folded: Option<History>) {
        match folded {
            Some(mut history) => {
                history.keep_in(self.journal.clone());
                // They were thought behind another opening.
                history.drop_thoughts();
                if let Some((model, _)) = self.history.request() {
                    history.speak_to(model);
                }
                self.history = history;
            }
            None => self.history.truncate(&to.history),
        }
        *self.knowledge.lock() = to.knowledge.clone();
        self.reads.clone_from(&to.reads);
        Arc::make_mut(&mut self.turns).retain(|mark| mark.turn < to.turn);
        self.words.retain(|words| words.turn < to.turn);
        self.publish();
    }

    /// The system prompt is made anew for the next request, by the skills and instructions of then, and nested
    /// instructions count as untold. For what replaces all that was said.
    pub fn forget_told(&mut self) {
        self.prelude.forget();
        self.knowledge.forget_told();
    }

    /// Adds the use of a step. Gives words for the user, once the turn has become dear by it.
    pub(crate) fn spend(&mut self, step: Spent) -> Option<String> {
        self.spent += step;
        let in_turn = match &self.shared {
            Some(shared) => shared.add(step).since(shared.before()),
            None => self.spent.since(self.before),
        };
        self.journal.write(&Record::Usage(self.spent));
        self.publish();
        budget::dear(in_turn.money, step.money)
    }

    /// Use when the turn began and now, for the budgets of turn and session.
    pub(crate) fn in_budget(&self) -> (Spent, Spent) {
        match &self.shared {
            Some(shared) => (shared.before(), shared.now()),
            None => (self.before, self.spent),
        }
    }

    /// The model has seen these texts.
    pub(crate) fn note_reads(&mut self, reads: Vec<SeenText>) {
        for read in reads {
            if self.reads.note(&read) {
                let SeenText { doc, hash, is_made } = read;
                self.journal.write(&Record::Read { doc, hash, made: is_made });
            }
        }
    }

    /// Shows everybody else how it stands.
    pub(crate) fn publish(&self) {
        let messages = self.history.shared_messages();
        self.snapshot.send_modify(|snapshot| {
            snapshot.turns = self.turns.clone();
            snapshot.spent = self.spent;
            snapshot.messages = messages;
        });
    }
}
