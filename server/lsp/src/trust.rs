//! Trust in folders, asked for: by a plugin, in a dialog that takes no keys, or by a message and code actions.
//!
//! Questions come from the host, and answers go there. A question waits without a bound; closing it answers nothing.

use crate::commands::{answer, read};
use crate::show::tell;
use crate::state::State;
use futures::FutureExt;
use futures::future::BoxFuture;
use ropewalk_host::words::shortened;
use ropewalk_protocol::command::{TrustArgument, TrustOutcome};
use ropewalk_protocol::{Event, Op, Reply, Trust, TrustAnswer};
use ropewalk_text::plain::plain;
use ropewalk_workspace::DocId;
use serde_json::Value;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{MessageActionItem, MessageType};

/// The most characters of a question. What asks for more than that is better read in the file.
const MOST_ASKED: usize = 2_000;

/// The buttons, the refusal first.
const BUTTONS: [(&str, Trust); 2] = [("Don't trust", Trust::Never), ("Trust", Trust::Trust)];

impl State {
    /// True if trust is asked for by messages, and so by code actions.
    pub(crate) fn asks_by_message(&self) -> bool {
        !self.habits().safe_dialogs && !self.asks_by_event()
    }

    /// True if the client's plugin shows questions its own way.
    pub(crate) fn asks_by_event(&self) -> bool {
        let options = self.facts().options;
        options.events && options.approvals
    }
}

/// Asks. It waits for nobody.
pub(crate) fn ask(state: &Arc<State>, question: Event) {
    let state = state.clone();
    tokio::spawn(
        async move {
            if state.asks_by_event() {
                crate::show::send_event(&state, question).await;
            } else if state.habits().safe_dialogs {
                ask_in_dialog(&state, question).await;
            } else {
                ask_in_message(&state, &question);
            }
        }
        .boxed(),
    );
}

/// The question, cut where nobody reads on.
fn words(question: &Event) -> String {
    let Event::TrustRequested { file, question, .. } = question else { return String::new() };
    if question.chars().nth(MOST_ASKED).is_none() {
        return question.clone();
    }
    let file = DocId::from_uri(file).path().unwrap_or_else(|| file.into());
    format!(
        "{} This is not all it asks for: read {} before you answer.",
        shortened(question, MOST_ASKED),
        file.display()
    )
}

/// The question as a message.
pub(crate) fn in_message(question: &Event) -> String {
    format!("Trust this folder's configuration? By code action.\n{}", words(question))
}

fn ask_in_message(state: &Arc<State>, question: &Event) {
    tell(state, MessageType::WARNING, in_message(question));
}

async fn ask_in_dialog(state: &Arc<State>, question: Event) {
    let items = BUTTONS.map(|(title, _)| MessageActionItem {
        title: title.to_owned(),
        properties: Default::default(),
    });
    let asked = state.client.show_message_request(
        MessageType::WARNING,
        plain(&words(&question)),
        Some(items.into()),
    );
    let chosen = match asked.await {
        Ok(Some(chosen)) => chosen,
        Ok(None) => return,
        Err(error) => {
            tracing::info!(%error, "the client asks no questions");
            return ask_in_message(state, &question);
        }
    };
    let answer =
        BUTTONS.iter().find(|(title, _)| *title == chosen.title).map(|(_, answer)| *answer);
    if let (Some(answer), Event::TrustRequested { root, hash, .. }) = (answer, question) {
        let answer = TrustAnswer { root: Some(root), hash: Some(hash), answer };
        if let Err(error) = state.ask(None, Op::Trust(answer)).await {
            tell(state, MessageType::ERROR, error.message.into_owned());
        }
    }
}

/// `ropewalk.trust`.
pub(crate) fn command(state: Arc<State>, argument: Value) -> BoxFuture<'static, Result<Value>> {
    Box::pin(async move {
        let wanted = "{ answer: trust, never or forget, root?, hash? }";
        let TrustArgument { root, answer: given, hash } = read(argument, "answer", wanted)?;
        let given = TrustAnswer { root, hash, answer: given };
        let outcome = match state.ask(None, Op::Trust(given)).await? {
            Reply::Answered(root) => TrustOutcome { root: Some(root), forgotten: None },
            Reply::Forgotten(answers) => TrustOutcome { root: None, forgotten: Some(answers) },
            _ => TrustOutcome::default(),
        };
        answer(outcome)
    })
}
