//! Progress of one turn, as LSP has it: it begins with the request, and ends with what came of it.

use crate::state::State;
use futures::FutureExt;
use ropewalk_protocol::{Event, TodoList};
use ropewalk_text::plain::plain_line;
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::lsp_types as lsp;
use tower_lsp::lsp_types::notification::Progress;
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;

/// How long a client may take to make room for it.
const CREATES: Duration = Duration::from_secs(2);

/// See the module. Nothing is sent where the client takes none.
#[derive(Debug, Default)]
pub(super) struct TurnProgress {
    token: Option<lsp::ProgressToken>,
}

impl TurnProgress {
    /// Begins it under a title, with the first line of the request.
    pub(super) async fn begin(
        &mut self,
        state: &Arc<State>,
        title: &str,
        (session, turn): (&str, u64),
        prompt: &str,
    ) {
        if !state.facts().progress {
            return;
        }
        let token = lsp::ProgressToken::String(format!("ropewalk/{session}/{turn}"));
        let client = state.client.clone();
        let params = lsp::WorkDoneProgressCreateParams { token: token.clone() };
        let created = tokio::spawn(
            async move { client.send_request::<WorkDoneProgressCreate>(params).await }.boxed(),
        );
        // A client that doesn't answer gets its progress all the same.
        let _ = tokio::time::timeout(CREATES, created).await;
        self.token = Some(token);
        let begin = lsp::WorkDoneProgressBegin {
            title: title.to_owned(),
            cancellable: Some(true),
            message: Some(first_line(prompt, 80)),
            percentage: None,
        };
        self.send(state, lsp::WorkDoneProgress::Begin(begin)).await;
    }

    /// Says what happens now.
    pub(super) async fn report(&self, state: &Arc<State>, message: &str) {
        let report = lsp::WorkDoneProgressReport {
            message: Some(first_line(message, 120)),
            cancellable: Some(true),
            percentage: None,
        };
        self.send(state, lsp::WorkDoneProgress::Report(report)).await;
    }

    /// Ends it.
    pub(super) async fn end(&mut self, state: &Arc<State>, message: String) {
        let end = lsp::WorkDoneProgressEnd { message: Some(message) };
        self.send(state, lsp::WorkDoneProgress::End(end)).await;
        self.token = None;
    }

    async fn send(&self, state: &Arc<State>, value: lsp::WorkDoneProgress) {
        if let Some(token) = &self.token {
            let params = lsp::ProgressParams {
                token: token.clone(),
                value: lsp::ProgressParamsValue::WorkDone(value),
            };
            state.client.send_notification::<Progress>(params).await;
        }
    }
}

/// The first line of a text, harmless, with so many characters at most.
fn first_line(text: &str, most: usize) -> String {
    plain_line(text.lines().next().unwrap_or_default()).chars().take(most).collect()
}

/// A time in whole seconds, or with a decimal where it is short.
fn in_seconds(milliseconds: u64) -> String {
    match milliseconds {
        ..3_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => format!("{} s", milliseconds.div_ceil(1000)),
    }
}

/// Words of the turn's progress about an event.
pub(super) fn progress_words(event: &Event, todos: &TodoList) -> Option<String> {
    Some(match event {
        Event::Retrying { attempt, wait_ms, reason, .. } => {
            format!("try {attempt} in {}: {reason}", in_seconds(*wait_ms))
        }
        Event::Waiting { waited_ms, is_queued, .. } => {
            let whom = if *is_queued { "its turn at the model" } else { "the model" };
            format!("waits for {whom}, {} s so far", waited_ms / 1000)
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
