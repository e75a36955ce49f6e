//! Events shown to the client: progress, messages, diagnostics, approvals, and `ropewalk/event`.
//!
//! One task takes a session's events in order. It never waits for the user: a question is a task of its
//! own, or a message and a code action.

mod document;

pub(crate) use document::{open_document, open_rules};

use crate::actions::answers_to;
use crate::state::State;
use ropewalk_agent::approval::Choices;
use ropewalk_agent::event::{Event, Level};
use ropewalk_agent::{Op, StopReason, Verdict};
use ropewalk_model::Spent;
use ropewalk_tools::plain::{plain, plain_line};
use serde::Serialize;
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::mpsc;
use tower_lsp::lsp_types as lsp;
use tower_lsp::lsp_types::notification::{Notification, Progress};
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;

/// `ropewalk/event`.
pub(crate) enum RopewalkEvent {}

/// An event, and the session it comes from if it is of one.
#[derive(Serialize, serde::Deserialize)]
pub(crate) struct EventParams {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(flatten)]
    event: Value,
}

/// What `ropewalk/event` tells that is of no session.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum ServerEvent {
    /// A folder's configuration asks to be trusted.
    TrustRequested {
        /// The folder, links resolved.
        root: String,
        /// The URI of the file that asks.
        file: String,
        /// What it asks for, in words, one line each.
        enables: Vec<String>,
        /// Of exactly that: an answer that names it is to nothing else.
        hash: String,
        /// The question in words.
        question: String,
    },
}

/// Sends an event that is of no session.
pub(crate) async fn send_event(state: &State, event: ServerEvent) {
    if let Ok(event) = serde_json::to_value(&event) {
        let params = EventParams { session: None, event };
        state.client.send_notification::<RopewalkEvent>(params).await;
    }
}

impl Notification for RopewalkEvent {
    type Params = EventParams;
    const METHOD: &'static str = "ropewalk/event";
}

/// How long after the last keystroke moved hunks are shown anew.
const SETTLED: Duration = Duration::from_millis(300);

/// Takes a session's events until it ends. Once another session is current, only the end of its turn is shown.
pub(crate) async fn show_events(
    state: Arc<State>,
    session: Arc<str>,
    mut events: mpsc::UnboundedReceiver<Event>,
) {
    let mut shown = Shown::default();
    while let Some(event) = events.recv().await {
        let is_current = state.is_current(&session);
        if !is_current && !matches!(event, Event::TurnEnded { .. }) {
            continue;
        }
        let (is_told, is_logged) = (state.facts().options.events, is_logged());
        if (is_told || is_logged)
            && let Ok(value) = serde_json::to_value(&event)
        {
            if is_logged {
                // The user's own text may hold a key, which is for the editor alone.
                let keys = state.running_session().map(|session| session.keys());
                let (text, keys) = (value.to_string(), keys.unwrap_or_default());
                let event = keys.strike(&text);
                tracing::trace!(target: "ropewalk::events", session = &*session, event = %event);
            }
            if is_told {
                let params = EventParams { session: Some(session.to_string()), event: value };
                state.client.send_notification::<RopewalkEvent>(params).await;
            }
        }
        match event {
            // Another session has taken its place: it only stops turning.
            Event::TurnEnded { stop_reason, .. } if !is_current => {
                shown.end_progress(&state, stop_reason).await;
            }
            event => shown.take(&state, &session, event).await,
        }
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
        if let Some(session) = state.running_session() {
            session.send(Op::Moved);
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
    /// What the turn has used so far.
    used: Option<Spent>,
}

impl Shown {
    async fn take(&mut self, state: &Arc<State>, session: &Arc<str>, event: Event) {
        let quiet = state.facts().options.events;
        match event {
            Event::TurnStarted { turn, prompt } => self.begin(state, session, turn, &prompt).await,
            Event::StepStarted { .. } => self.said.clear(),
            Event::Usage { in_turn, .. } => self.used = Some(in_turn),
            Event::TextDelta { text, .. } => self.said.push_str(&text),
            Event::Retrying { attempt, wait_ms, reason, .. } => {
                self.said.clear();
                let message =
                    format!("try {attempt} in {:.1} s: {reason}", wait_ms as f64 / 1000.0);
                self.report(state, message).await;
            }
            Event::Waiting { waited_ms, is_queued, .. } => {
                let whom = if is_queued { "its turn at the model" } else { "the model" };
                let message = format!("waits for {whom} since {} s", waited_ms / 1000);
                self.report(state, message).await;
            }
            Event::ToolCall { tool, title, .. } => {
                self.report(state, format!("{tool} {title}")).await
            }
            // What is on the screen is of the session before.
            Event::SessionStarted { .. } => state.show_hunks(session, Vec::new()).await,
            Event::Hunks { hunks } => state.show_hunks(session, hunks).await,
            Event::Rewound { turn, prompt } if !quiet => {
                let prompt = prompt.trim();
                let words =
                    format!("Turn {turn} is taken back, with its changes.\nIt was: {prompt}");
                state.say(lsp::MessageType::INFO, words).await;
            }
            Event::ApprovalRequested {
                approval,
                tool,
                detail,
                reason,
                rule_words,
                always,
                unseen,
                ..
            } => {
                let question =
                    Question { approval, tool, detail, reason, rule_words, always, unseen };
                self.report(state, "waits for your approval".to_owned()).await;
                ask(state, session, question).await;
            }
            Event::Reviewed { failed, .. } if !failed.is_empty() && !quiet => {
                state.say(lsp::MessageType::WARNING, failed.join("\n")).await;
            }
            Event::Notice { level, message } if !quiet => {
                let kind = match level {
                    Level::Info => lsp::MessageType::INFO,
                    Level::Warning => lsp::MessageType::WARNING,
                    Level::Error => lsp::MessageType::ERROR,
                };
                state.say(kind, message).await;
            }
            Event::TurnEnded { stop_reason, message, .. } => {
                self.end(state, stop_reason, message).await
            }
            _ => {}
        }
    }

    async fn begin(&mut self, state: &Arc<State>, session: &Arc<str>, turn: u64, prompt: &str) {
        self.said.clear();
        self.used = None;
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
        self.end_progress(state, stop).await;
        if state.facts().options.events {
            return;
        }
        // Without a plugin this is how the user reads the answer.
        let said = std::mem::take(&mut self.said);
        if !said.trim().is_empty() {
            state.say(lsp::MessageType::INFO, said.trim().to_owned()).await;
        }
        if let Some(message) = message {
            let kind = if stop == StopReason::Error {
                lsp::MessageType::ERROR
            } else {
                lsp::MessageType::WARNING
            };
            state.say(kind, message).await;
        }
    }

    async fn end_progress(&mut self, state: &Arc<State>, stop: StopReason) {
        let message = match self.used.take().filter(|used| *used != Spent::default()) {
            Some(used) => format!("{stop}: {used}"),
            None => stop.to_string(),
        };
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

/// An approval to be asked for.
struct Question {
    approval: u64,
    tool: String,
    detail: String,
    reason: String,
    rule_words: Option<String>,
    always: bool,
    unseen: Vec<String>,
}

impl Question {
    fn words(&self) -> String {
        let mut words =
            format!("Ropewalk wants to run {}: {}\n({})", self.tool, self.detail, self.reason);
        if !self.unseen.is_empty() {
            words.push_str(&format!(
                "\nIt will not see the unsaved or unpublished text of {}.",
                self.unseen.join(", ")
            ));
        }
        if let Some(rule) = &self.rule_words {
            let always = if self.always { " or always" } else { "" };
            words.push_str(&format!("\nFor this session{always} means: {rule}."));
        }
        words
    }
}

async fn ask(state: &Arc<State>, session: &Arc<str>, question: Question) {
    let facts = state.facts();
    if facts.options.approvals {
        // The plugin shows the event its own way and answers by command.
        return;
    }
    if state.habits().safe_dialogs {
        let (state, session) = (state.clone(), session.clone());
        tokio::spawn(async move { ask_in_dialog(&state, &session, question).await });
        return;
    }
    ask_in_message(state, &question).await;
}

/// A message that says how to answer it.
async fn ask_in_message(state: &State, question: &Question) {
    let words = format!(
        "Call {} waits: allow it by code action.\n{}\nThe command ropewalk.approve answers too.",
        question.approval,
        question.words(),
    );
    state.say(lsp::MessageType::WARNING, words).await;
}

/// A message with buttons, for clients in which only a click answers it. It waits without a bound; closing
/// it answers nothing.
async fn ask_in_dialog(state: &Arc<State>, session: &str, question: Question) {
    let choices = Choices {
        rule_words: question.rule_words.clone(),
        always: question.always,
        after_save: !question.unseen.is_empty(),
    };
    let answers = answers_to(&choices).into_iter().map(|answer| {
        let mut title = answer.title.chars();
        let first = title.next().map(|first| first.to_ascii_uppercase());
        (first.into_iter().chain(title).collect::<String>(), answer.verdict)
    });
    let answers: Vec<(String, Verdict)> = answers.collect();
    let items = answers.iter().map(|(title, _)| lsp::MessageActionItem {
        title: title.clone(),
        properties: Default::default(),
    });
    let chosen = state
        .client
        .show_message_request(lsp::MessageType::WARNING, question.words(), Some(items.collect()))
        .await;
    let chosen = match chosen {
        Ok(Some(chosen)) => chosen,
        Ok(None) => return,
        Err(error) => {
            // It is to be seen all the same.
            tracing::info!(%error, "the client asks no questions");
            return ask_in_message(state, &question).await;
        }
    };
    let verdict = answers
        .iter()
        .find(|(title, _)| *title == chosen.title)
        .map(|(_, verdict)| verdict.clone());
    let current = state.running_session().filter(|current| **current.id() == *session);
    // Another session's approvals have the same numbers.
    if let (Some(verdict), Some(session)) = (verdict, current) {
        session.send(Op::Approve(Some(question.approval), verdict));
    }
}

/// How long a line Neovim shows without a prompt that swallows the next Enter or Space. Its window is
/// rarely narrower than 80 columns, and the client's name stands before the line.
const SAFE_LINE: usize = 54;

impl State {
    /// Shows a message, made harmless. Where messages take keys, the whole of it goes to the log, and one short line is
    /// shown in the one way that takes none: as an error.
    async fn say(&self, kind: lsp::MessageType, message: String) {
        if self.is_leaving() {
            return;
        }
        let message = plain(&message);
        if !self.habits().messages_take_keys || self.facts().options.messages {
            return self.client.show_message(kind, message).await;
        }
        let first = message.lines().next().unwrap_or_default();
        let mut short: String = first.chars().take(SAFE_LINE).collect();
        if short.len() < message.len() {
            short.push('…');
        }
        self.client.log_message(kind, message).await;
        self.client.show_message(lsp::MessageType::ERROR, short).await;
    }
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
