//! Messages in words: shown where the client shows them, or told to a plugin, or put on the conversation's page.

use super::event::send;
use super::words::ReviewCounts;
use crate::state::State;
use futures::FutureExt;
use ropewalk_protocol::{Event, Level, SessionEvent};
use ropewalk_text::plain::plain;
use std::sync::Arc;
use tower_lsp::lsp_types as lsp;

/// How long a line Neovim shows without a prompt that swallows the next Enter or Space. Its window is
/// rarely narrower than 80 columns, and the client's name stands before the line.
const SAFE_LINE: usize = 54;

impl State {
    /// Shows a message, made harmless. Where messages take keys, the whole of it goes to the log, and one short line is
    /// shown in the one way that takes none: as an error.
    pub(super) async fn say(&self, kind: lsp::MessageType, message: String) {
        self.say_ending(kind, message, None).await;
    }

    /// The same with what waits for review at its end.
    pub(super) async fn say_ending(
        &self,
        kind: lsp::MessageType,
        message: String,
        waiting: Option<ReviewCounts>,
    ) {
        if self.is_leaving() {
            return;
        }
        let message = plain(&message);
        if self.asks_by_event() {
            return self.notice(kind, message).await;
        }
        if self.is_in_chat() {
            return self.append_words(&message);
        }
        self.show_message(kind, message, waiting).await;
    }

    /// Shows a message where the client shows them.
    pub(crate) async fn show_message(
        &self,
        kind: lsp::MessageType,
        message: String,
        waiting: Option<ReviewCounts>,
    ) {
        let whole = match waiting {
            Some(waiting) => format!("{message}\n\n{}.", waiting.in_words()),
            None => message.clone(),
        };
        if !self.habits().messages_take_keys || self.facts().options.messages {
            return self.client.show_message(kind, whole).await;
        }
        let end = waiting.map(|waiting| format!(" · {}", waiting.in_short())).unwrap_or_default();
        let room = SAFE_LINE.saturating_sub(end.chars().count());
        let first = message.lines().next().unwrap_or_default();
        let mut short: String = first.chars().take(room).collect();
        if short.len() < message.len() {
            short.push('…');
        }
        short.push_str(&end);
        self.client.log_message(kind, whole).await;
        self.client.show_message(lsp::MessageType::ERROR, short).await;
    }
}

impl State {
    /// Tells a plugin that shows all by itself what others get as a message.
    async fn notice(&self, kind: lsp::MessageType, message: String) {
        let level = match kind {
            lsp::MessageType::ERROR => Level::Error,
            lsp::MessageType::WARNING => Level::Warning,
            _ => Level::Info,
        };
        let (session, event) = (self.current(), Event::Notice { level, message });
        send(
            self,
            &SessionEvent { session: session.map(Into::into), thread: None, member: None, event },
        )
        .await;
    }
}

/// Shows several messages as one, for a client in which each would take the place of the one before.
pub(crate) async fn tell_together(state: &State, said: Vec<(lsp::MessageType, String)>) {
    // The most serious is the least number.
    let rank = |kind: lsp::MessageType| match kind {
        lsp::MessageType::ERROR => 1,
        lsp::MessageType::WARNING => 2,
        _ => 3,
    };
    let Some(kind) = said.iter().map(|(kind, _)| *kind).min_by_key(|kind| rank(*kind)) else {
        return;
    };
    let words: Vec<String> = said.into_iter().map(|(_, words)| words).collect();
    state.say(kind, words.join("\n\n")).await;
}

/// Shows a message without waiting.
pub(crate) fn tell(state: &Arc<State>, kind: lsp::MessageType, message: String) {
    let state = state.clone();
    tokio::spawn(async move { state.say(kind, message).await }.boxed());
}

/// Says an answer in words, to a client that shows no answers itself.
pub(crate) fn tell_answer(state: &Arc<State>, words: String) {
    if !state.asks_by_event() {
        tell(state, lsp::MessageType::INFO, words);
    }
}

/// Says what is wrong with the configuration.
pub(crate) fn tell_problems(state: &Arc<State>, problems: Vec<String>) {
    for problem in problems {
        tell(state, lsp::MessageType::WARNING, format!("Ropewalk: {problem}"));
    }
}
