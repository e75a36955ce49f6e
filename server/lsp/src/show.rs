//! Events shown to the client: progress, messages, diagnostics, approvals, and `ropewalk/event`.
//!
//! One task takes the host's events in order. It never waits for the user: a question is a task of its
//! own, or a message and a code action.

pub(crate) mod approval;
mod document;
mod event;
mod member;
mod message;
mod progress;
pub(crate) mod sessions;
#[cfg(test)]
mod tests;
mod thread;
pub(crate) mod words;

pub(crate) use document::open_document;
pub(crate) use event::send_event;
pub(crate) use message::{tell, tell_answer, tell_problems, tell_together};

use crate::chat::PageTranscript;
use crate::state::State;
use approval::ask;
use event::{is_of_session, log, send};
use member::MemberTurns;
use progress::{TurnProgress, progress_words};
use ropewalk_protocol::usage::short_count;
use ropewalk_protocol::{Event, Level, SessionEvent, SessionId, StopReason, TodoList, Tokens};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tower_lsp::lsp_types as lsp;
use words::{ReviewCounts, turn_end};

/// How long after the last keystroke moved hunks are shown anew.
const SETTLED: Duration = Duration::from_millis(300);

/// Takes what the host tells. Of a session that is not current any more, only the end of its turn is shown.
pub(crate) async fn show_events(
    state: Arc<State>,
    mut events: mpsc::UnboundedReceiver<SessionEvent>,
) {
    let mut turns: HashMap<SessionId, ShowState> = HashMap::new();
    let mut members = MemberTurns::default();
    while let Some(told) = events.recv().await {
        let Some(session) = told.session.clone() else {
            tell_news(&state, vec![told.event]);
            continue;
        };
        if let Some(member) = told.member.clone() {
            members.take(&state, session, &member, told).await;
            continue;
        }
        let (is_current, is_over) =
            (state.host.is_current(&session), matches!(told.event, Event::TurnEnded { .. }));
        if !is_current && !is_over {
            continue;
        }
        log(&state, &told);
        let options = state.facts().options;
        if options.events && (options.threads || is_of_session(&told)) {
            send(&state, &told).await;
        }
        let mut shown = turns.remove(&session).unwrap_or_default();
        if let Some(thread) = told.thread {
            shown.take_of_thread(&state, &session, thread, told.event).await;
            turns.insert(session, shown);
            continue;
        }
        match told.event {
            // Another session has taken its place: it only stops turning.
            Event::TurnEnded { stop_reason, .. } if !is_current => {
                shown.end_progress(&state, stop_reason, None).await;
            }
            event => shown.take(&state, &session, event).await,
        }
        let todos = std::mem::take(&mut shown.todos);
        // Between turns only the todos last.
        let shown = if is_over { ShowState::default() } else { shown };
        if !is_over || is_current && todos.open() > 0 {
            turns.insert(session, ShowState { todos, ..shown });
        }
    }
}

/// Shows what is of no session: what is wrong with the configuration, and what it asks for.
pub(crate) fn tell_news(state: &Arc<State>, news: Vec<Event>) {
    for event in news {
        match event {
            Event::Notice { message, .. } => tell_problems(state, vec![message]),
            event => crate::trust::ask(state, event),
        }
    }
}

/// Shows pending hunks anew when the user has stopped typing for a moment.
pub(crate) async fn follow_moves(state: Arc<State>) {
    loop {
        state.moved.notified().await;
        // As long as they type on, the wait begins anew.
        while tokio::time::timeout(SETTLED, state.moved.notified()).await.is_ok() {}
        state.host.moved();
        if let Some(session) = state.current()
            && state.reopened.swap(false, Ordering::Relaxed)
        {
            // Hunks of a document that is gone stand in another one now.
            state.show_again(&session).await;
        }
    }
}

/// State that is kept between events.
#[derive(Default)]
struct ShowState {
    /// The progress of the running turn.
    progress: TurnProgress,
    /// Words of the model in this step.
    said: String,
    /// The types of the subagents at work, by their ids.
    threads: HashMap<String, String>,
    /// Tokens that the turn has used so far.
    used: Option<Tokens>,
    /// True while a turn runs.
    is_running: bool,
    /// The todos of the session.
    todos: TodoList,
    /// Findings of the turn's last check.
    found: Option<String>,
    /// The page that the conversation document has of the turn, if it is to have one.
    record: Option<PageTranscript>,
}

impl ShowState {
    async fn take(&mut self, state: &Arc<State>, session: &str, event: Event) {
        if let Some(words) = progress_words(&event, &self.todos) {
            self.progress.report(state, &words).await;
        }
        if !state.facts().options.events
            && let Some((kind, words)) = self.message_words(&event)
        {
            state.say(kind, words).await;
        }
        state.record(&mut self.record, &event);
        match event {
            Event::TurnStarted { turn, prompt } => self.begin(state, session, turn, &prompt).await,
            Event::StepStarted { .. } | Event::Retrying { .. } => self.said.clear(),
            Event::Usage { in_turn, .. } => self.used = Some(in_turn),
            Event::Todos { todos, .. } => self.todos = todos,
            Event::Check { report, .. } => self.found = report.in_words(),
            Event::TextDelta { text, .. } => self.said.push_str(&text),
            // Hunks on the screen are of the session before.
            Event::SessionStarted { .. } => state.show_nothing(session).await,
            Event::Hunks { hunks } => {
                state.show_hunks(session, hunks).await;
                state.list_resumed();
            }
            Event::ApprovalRequested { approval, .. } => ask(state, session, None, approval).await,
            Event::ApprovalResolved { approval, .. } => {
                state.hide_question(session, approval).await
            }
            Event::TurnEnded { stop_reason, message, .. } => {
                self.is_running = false;
                state.hide_questions(session).await;
                self.end(state, stop_reason, message).await
            }
            _ => {}
        }
    }

    /// Message that a client without a plugin shows.
    fn message_words(&self, event: &Event) -> Option<(lsp::MessageType, String)> {
        Some(match event {
            Event::Rewound { turn, prompt } => {
                let prompt = prompt.trim();
                let words =
                    format!("Turn {turn} is taken back, with its changes.\nIt was: {prompt}");
                (lsp::MessageType::INFO, words)
            }
            Event::Compacted { before, after, .. } if !self.is_running => {
                let (before, after) = (short_count(*before), short_count(*after));
                let words =
                    format!("The conversation was summed up: {before} tokens became {after}.");
                (lsp::MessageType::INFO, words)
            }
            Event::Reviewed { failed, .. } if !failed.is_empty() => {
                (lsp::MessageType::WARNING, failed.join("\n"))
            }
            Event::Notice { level, message } => {
                let kind = match level {
                    Level::Info => lsp::MessageType::INFO,
                    Level::Warning => lsp::MessageType::WARNING,
                    Level::Error => lsp::MessageType::ERROR,
                };
                (kind, message.clone())
            }
            _ => return None,
        })
    }

    async fn begin(&mut self, state: &Arc<State>, session: &str, turn: u64, prompt: &str) {
        self.said.clear();
        (self.used, self.found, self.is_running) = (None, None, true);
        self.progress.begin(state, "Ropewalk", (session, turn), prompt).await;
    }

    async fn end(&mut self, state: &Arc<State>, stop: StopReason, message: Option<String>) {
        let waiting = state.waiting();
        // Whoever sees the progress end may ask from elsewhere at once.
        let is_in_chat = state.is_in_chat();
        self.end_progress(state, stop, waiting).await;
        if state.facts().options.events {
            return;
        }
        // Without a plugin this is how the user reads the answer, and where it ends what waits.
        let said = std::mem::take(&mut self.said);
        let said = Some((lsp::MessageType::INFO, said.trim().to_owned()));
        let kind = match stop {
            StopReason::Error => lsp::MessageType::ERROR,
            _ => lsp::MessageType::WARNING,
        };
        let found = self.found.take().map(|found| (lsp::MessageType::WARNING, found));
        let message = message.map(|message| (kind, message)).or(found);
        if self.record.is_some() {
            state.record_end(message.iter().map(|(_, words)| words.clone()).collect());
            if is_in_chat {
                return;
            }
        }
        let mut words: Vec<_> =
            said.into_iter().filter(|(_, said)| !said.is_empty()).chain(message).collect();
        let last = words.pop();
        for (kind, words) in words {
            state.say(kind, words).await;
        }
        match (last, waiting) {
            (Some((kind, words)), waiting) => state.say_ending(kind, words, waiting).await,
            (None, Some(waiting)) => {
                state.say(lsp::MessageType::INFO, format!("{}.", waiting.in_words())).await;
            }
            (None, None) => {}
        }
    }

    async fn end_progress(
        &mut self,
        state: &Arc<State>,
        stop: StopReason,
        waiting: Option<ReviewCounts>,
    ) {
        let message = turn_end(stop, self.used.take(), waiting);
        self.progress.end(state, message).await;
    }
}
