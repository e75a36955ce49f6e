//! Beginning of a turn: the user's message enters the history, with news and the list of open files.

use super::Turn;
use crate::inbox::InboxItem;
use crate::interrupt::Interrupted;
use crate::journal::record::Record;
use crate::opening::open;
use crate::prompt::{identity_text, mode_text, open_files, user_text};
use crate::reads::changed;
use ropewalk_model::{Block, Role};
use ropewalk_protocol::Prompt;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_workspace::{Note, View};
use std::borrow::Cow;
use std::sync::Arc;

impl Turn {
    /// Puts the user's message into the history, with all that the model is to know at the start of a turn.
    pub(super) async fn begin(&mut self, prompt: &Prompt) {
        // An interrupt skips only what is looked up: the user's words enter the history in any case.
        let view = self.or_interrupted(self.parts.changes.view()).await;
        let (mut prompt, mut words) = (Cow::Borrowed(prompt), String::new());
        let told = self.conversation.knowledge.lock().since.clone();
        let files = match view {
            Ok(view) => {
                let view = Arc::new(view);
                if self.parts.registry().has_commands() {
                    let (runner, hides) = (&self.parts.runner, self.parts.settings.hides());
                    // After an interrupt the next turn chooses the command mode.
                    let _ = self.or_interrupted(runner.begin(&view, &hides)).await;
                }
                self.compare_reads(&view).await;
                let opening = open(&self.parts, &self.conversation, &view, &prompt);
                if let Ok(opening) = self.or_interrupted(opening).await {
                    (prompt, words) = (Cow::Owned(opening.prompt), opening.words);
                }
                open_files(&self.parts.workspace, view.buffers())
            }
            Err(Interrupted) => Vec::new(),
        };
        let mode = self.parts.settings.get().mode;
        let texts = self.conversation.messages().rev().filter(|message| message.role == Role::User);
        let texts =
            texts.flat_map(|message| message.content.iter().rev()).filter_map(Block::as_text);
        let mut words = words + mode_text(mode, texts);
        let identity = self.parts.settings.get().facts.identity.clone();
        if let Some(identity) = identity.filter(|_| self.conversation.messages().next().is_none()) {
            words.insert_str(0, &identity_text(&identity));
        }
        let shown = prompt.content.iter().filter(|part| !part.is_text());
        let shown: Vec<Block> = shown.cloned().map(Block::Content).collect();
        self.take_news(|turn, news| {
            let text = Block::text(user_text(&prompt, &files, news.as_deref(), &words));
            turn.conversation.push_user([text].into_iter().chain(shown).collect());
        })
        .await;
        let now = self.conversation.knowledge.lock().since.clone();
        if now != told {
            self.conversation.journal.write(&Record::Told(Cow::Owned(now)));
        }
    }

    /// Tells the model, in a session that goes on, which of the files it has read have changed since.
    async fn compare_reads(&mut self, view: &Arc<View>) {
        if !std::mem::take(&mut self.conversation.goes_on) {
            return;
        }
        let (reads, view) = (self.conversation.reads.clone(), view.clone());
        let compared = spawn_blocking(move || changed(&reads, &view)).await;
        let files = compared.unwrap_or_else(|error| {
            tracing::error!(%error, "what the model has read could not be compared");
            Vec::new()
        });
        if !files.is_empty() {
            self.parts.inbox.put(InboxItem::Note(Note::ChangedMeanwhile { files }));
        }
    }
}
