//! A call that waits, put to the user: a message with buttons where only a click answers one, else a message and
//! code actions. It waits without a bound, and stands as a diagnostic until it is answered.

use super::words::how_to_answer;
use crate::actions::answers_to;
use crate::placed::ShownQuestion;
use crate::state::State;
use ropewalk_protocol::{Approval, Op, Verdict};
use ropewalk_text::plain::plain_line;
use std::sync::Arc;
use tower_lsp::lsp_types as lsp;

/// How much of a call is named in few words, in characters.
const ABOUT: usize = 60;

/// An approval as it is asked for. The first line is short where the call is.
fn words(asked: &Approval) -> String {
    let of = asked.agent.as_ref().map(|agent| format!(" ({agent})")).unwrap_or_default();
    let (tool, detail, reason) = (&asked.tool, &asked.detail, &asked.reason);
    let mut words = format!("Ropewalk{of} asks to run {tool}: {detail}\n({reason})");
    if !asked.unseen.is_empty() {
        words.push_str(&format!(
            "\nIt will not see the unsaved or unpublished text of {}.",
            asked.unseen.join(", ")
        ));
    }
    if let Some(rule) = &asked.rule_words {
        let lasting = if asked.always { "Always" } else { "This session" };
        words.push_str(&format!("\n\"{lasting}\" allows {rule}."));
    }
    words
}

/// An approval as it stands on the screen until it is answered.
fn shown(asked: &Approval, state: &State) -> ShownQuestion {
    let line = plain_line(asked.detail.lines().next().unwrap_or_default());
    let mut about: String = line.chars().take(ABOUT).collect();
    if about.len() < asked.detail.trim_end().len() {
        about.push('…');
    }
    let words = format!("{}\n{}", words(asked), how_to_answer(&state.habits()));
    ShownQuestion { about, words }
}

/// Puts a question. A plugin that shows approvals has the event, and answers by command.
pub(super) async fn ask(state: &Arc<State>, session: &str, asked: Approval) {
    if state.facts().options.approvals {
        return;
    }
    state.show_question(session, asked.id, shown(&asked, state)).await;
    if state.habits().safe_dialogs {
        let (state, session) = (state.clone(), session.to_owned());
        tokio::spawn(async move { ask_in_dialog(&state, session, asked).await });
        return;
    }
    ask_in_message(state, &asked).await;
}

/// A message that says how to answer it.
async fn ask_in_message(state: &State, asked: &Approval) {
    state.say(lsp::MessageType::WARNING, shown(asked, state).words).await;
}

/// A message with buttons. Closing it answers nothing.
async fn ask_in_dialog(state: &Arc<State>, session: String, asked: Approval) {
    let answers = answers_to(&asked).into_iter().map(|answer| {
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
        .show_message_request(lsp::MessageType::WARNING, words(&asked), Some(items.collect()))
        .await;
    let chosen = match chosen {
        Ok(Some(chosen)) => chosen,
        Ok(None) => return,
        Err(error) => {
            // It is to be seen all the same.
            tracing::info!(%error, "the client asks no questions");
            return ask_in_message(state, &asked).await;
        }
    };
    let verdict = answers
        .iter()
        .find(|(title, _)| *title == chosen.title)
        .map(|(_, verdict)| verdict.clone());
    if let Some(verdict) = verdict {
        // Of a session that was left meanwhile, nothing waits any more.
        let _ = state.ask(Some(session), Op::Approve(Some(asked.id), verdict)).await;
    }
}
