//! Events shown to the client: progress, messages, diagnostics, approvals, and `ropewalk/event`.
//!
//! One task takes the host's events in order. It never waits for the user: a question is a task of its
//! own, or a message and a code action.

mod approval;
mod document;
pub(crate) mod sessions;
mod thread;
pub(crate) mod words;

pub(crate) use document::open_document;

use crate::state::State;
use approval::ask;
use ropewalk_protocol::usage::short_count;
use ropewalk_protocol::{Event, Level, SessionEvent, SessionId, StopReason, TodoList, Tokens};
use ropewalk_text::plain::{plain, plain_line};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::mpsc;
use tower_lsp::lsp_types as lsp;
use tower_lsp::lsp_types::notification::{Notification, Progress};
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;
use words::{Waiting, turn_end};

/// `ropewalk/event`.
pub(crate) enum RopewalkEvent {}

/// Sends an event to a client that takes them, with its URIs as the client spells them.
async fn send(state: &State, event: &SessionEvent) {
    if let Ok(mut params) = serde_json::to_value(event) {
        state.respell(&mut params);
        state.client.send_notification::<RopewalkEvent>(params).await;
    }
}

/// Sends an event that is of no session.
pub(crate) async fn send_event(state: &State, event: Event) {
    send(state, &SessionEvent { session: None, thread: None, event }).await;
}

impl Notification for RopewalkEvent {
    type Params = Value;
    const METHOD: &'static str = "ropewalk/event";
}

/// How long after the last keystroke moved hunks are shown anew.
const SETTLED: Duration = Duration::from_millis(300);

/// Takes what the host tells. Of a session that is not current any more, only the end of its turn is shown.
pub(crate) async fn show_events(
    state: Arc<State>,
    mut events: mpsc::UnboundedReceiver<SessionEvent>,
) {
    let mut turns: HashMap<SessionId, Shown> = HashMap::new();
    while let Some(told) = events.recv().await {
        let Some(session) = told.session.clone() else {
            tell_news(&state, vec![told.event]);
            continue;
        };
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
        let shown = if is_over { Shown::default() } else { shown };
        if !is_over || is_current && todos.open() > 0 {
            turns.insert(session, Shown { todos, ..shown });
        }
    }
}

/// True if an event is for those too who don't look at subagents.
fn is_of_session(told: &SessionEvent) -> bool {
    told.thread.is_none()
        || matches!(
            told.event,
            Event::Thread { .. } | Event::ApprovalRequested { .. } | Event::ApprovalResolved { .. }
        )
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

/// Logs an event if that was asked for. The user's own text may hold a key, which is for the editor alone.
fn log(state: &State, told: &SessionEvent) {
    if is_logged()
        && let Ok(mut value) = serde_json::to_value(&told.event)
    {
        state.respell(&mut value);
        let event = state.host.without_keys(&value.to_string());
        let session = told.session.as_deref().unwrap_or_default();
        let thread = told.thread.as_deref().unwrap_or_default();
        tracing::trace!(target: "ropewalk::events", session, thread, event = %event);
    }
}

/// Whether events go to the log, whole: for who looks for a fault, and for tests. They hold the user's own text, so
/// the filter must name them: to ask for everything is not enough.
fn is_logged() -> bool {
    static IS_NAMED: LazyLock<bool> = LazyLock::new(|| {
        std::env::var("ROPEWALK_LOG").is_ok_and(|filter| filter.contains("ropewalk::events"))
    });
    *IS_NAMED && tracing::enabled!(target: "ropewalk::events", tracing::Level::TRACE)
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
            // What stood in a document that is gone stands in another one now.
            state.show_again(&session).await;
        }
    }
}

/// What is kept between events.
#[derive(Default)]
struct Shown {
    /// The progress token of the running turn.
    token: Option<lsp::ProgressToken>,
    /// What the model has said in this step.
    said: String,
    /// The types of the subagents at work, by their ids.
    threads: HashMap<String, String>,
    /// What the turn has used so far.
    used: Option<Tokens>,
    /// True while a turn runs.
    is_running: bool,
    /// The todos of the session.
    todos: TodoList,
    /// Findings of the turn's last check.
    found: Option<String>,
}

/// Words of the turn's progress about an event.
fn progress_words(event: &Event, todos: &TodoList) -> Option<String> {
    Some(match event {
        Event::Retrying { attempt, wait_ms, reason, .. } => {
            format!("try {attempt} in {:.1} s: {reason}", *wait_ms as f64 / 1000.0)
        }
        Event::Waiting { waited_ms, is_queued, .. } => {
            let whom = if *is_queued { "its turn at the model" } else { "the model" };
            format!("waits for {whom} since {} s", waited_ms / 1000)
        }
        Event::Compacting { .. } => "sums up the conversation".to_owned(),
        Event::ToolCall { tool, title, .. } => {
            let step = todos.progress().map(|step| format!("{step}: "));
            format!("{}{tool} {title}", step.unwrap_or_default())
        }
        Event::ApprovalRequested { .. } => "waits for your approval".to_owned(),
        _ => return None,
    })
}

impl Shown {
    async fn take(&mut self, state: &Arc<State>, session: &str, event: Event) {
        if let Some(words) = progress_words(&event, &self.todos) {
            self.report(state, words).await;
        }
        if !state.facts().options.events
            && let Some((kind, words)) = self.message_words(&event)
        {
            state.say(kind, words).await;
        }
        match event {
            Event::TurnStarted { turn, prompt } => self.begin(state, session, turn, &prompt).await,
            Event::StepStarted { .. } | Event::Retrying { .. } => self.said.clear(),
            Event::Usage { in_turn, .. } => self.used = Some(in_turn),
            Event::Todos { todos, .. } => self.todos = todos,
            Event::Check { report, .. } => self.found = report.in_words(),
            Event::TextDelta { text, .. } => self.said.push_str(&text),
            // What is on the screen is of the session before.
            Event::SessionStarted { .. } => state.show_nothing(session).await,
            Event::Hunks { hunks } => state.show_hunks(session, hunks).await,
            Event::ApprovalRequested { approval, .. } => ask(state, session, approval).await,
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
        if !state.facts().progress {
            return;
        }
        let token = lsp::ProgressToken::String(format!("ropewalk/{session}/{turn}"));
        let client = state.client.clone();
        let params = lsp::WorkDoneProgressCreateParams { token: token.clone() };
        let created =
            tokio::spawn(
                async move { client.send_request::<WorkDoneProgressCreate>(params).await },
            );
        // A client that doesn't answer gets its progress all the same.
        let _ = tokio::time::timeout(Duration::from_secs(2), created).await;
        self.token = Some(token);
        let first = prompt.lines().next().unwrap_or_default();
        let begin = lsp::WorkDoneProgressBegin {
            title: "Ropewalk".to_owned(),
            cancellable: Some(true),
            message: Some(plain_line(first).chars().take(80).collect()),
            percentage: None,
        };
        self.progress(state, lsp::WorkDoneProgress::Begin(begin)).await;
    }

    async fn report(&self, state: &Arc<State>, message: String) {
        let first = message.lines().next().unwrap_or_default();
        let report = lsp::WorkDoneProgressReport {
            message: Some(plain_line(first).chars().take(120).collect()),
            cancellable: Some(true),
            percentage: None,
        };
        self.progress(state, lsp::WorkDoneProgress::Report(report)).await;
    }

    async fn end(&mut self, state: &Arc<State>, stop: StopReason, message: Option<String>) {
        let waiting = state.waiting();
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
        waiting: Option<Waiting>,
    ) {
        let message = turn_end(stop, self.used.take(), waiting);
        let end = lsp::WorkDoneProgressEnd { message: Some(message) };
        self.progress(state, lsp::WorkDoneProgress::End(end)).await;
        self.token = None;
    }

    async fn progress(&self, state: &Arc<State>, value: lsp::WorkDoneProgress) {
        if let Some(token) = &self.token {
            let params = lsp::ProgressParams {
                token: token.clone(),
                value: lsp::ProgressParamsValue::WorkDone(value),
            };
            state.client.send_notification::<Progress>(params).await;
        }
    }
}

/// How long a line Neovim shows without a prompt that swallows the next Enter or Space. Its window is
/// rarely narrower than 80 columns, and the client's name stands before the line.
const SAFE_LINE: usize = 54;

impl State {
    /// Shows a message, made harmless. Where messages take keys, the whole of it goes to the log, and one short line is
    /// shown in the one way that takes none: as an error.
    async fn say(&self, kind: lsp::MessageType, message: String) {
        self.say_ending(kind, message, None).await;
    }

    /// The same with what waits for review at its end.
    async fn say_ending(&self, kind: lsp::MessageType, message: String, waiting: Option<Waiting>) {
        if self.is_leaving() {
            return;
        }
        let message = plain(&message);
        if self.asks_by_event() {
            return self.notice(kind, message).await;
        }
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
        send(self, &SessionEvent { session: session.map(Into::into), thread: None, event }).await;
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
    tokio::spawn(async move { state.say(kind, message).await });
}

/// Says what is wrong with the configuration.
pub(crate) fn tell_problems(state: &Arc<State>, problems: Vec<String>) {
    for problem in problems {
        tell(state, lsp::MessageType::WARNING, format!("Ropewalk: {problem}"));
    }
}
