//! A call that waits, put to the user: a message with buttons where only a click answers one, else a message and
//! code actions. It waits without a bound, and stands as a diagnostic until it is answered.

use super::event::takes_team;
use super::words::{asker, how_to_answer};
use crate::actions::answers_to;
use crate::placed::ShownQuestion;
use crate::state::State;
use futures::FutureExt;
use ropewalk_protocol::{Approval, Op, Verdict};
use ropewalk_text::plain::{plain, plain_line};
use std::sync::Arc;
use tower_lsp::lsp_types as lsp;

/// How much of a call is named in few words, in characters.
const ABOUT: usize = 60;

/// An approval as it is asked for, under the name of the teammate `member` if it is one's. The first line is short where the call is.
fn words(asked: &Approval, member: Option<&str>) -> String {
    let who = asker(asked, member);
    let (tool, detail, reason) = (&asked.tool, &asked.detail, &asked.reason);
    let mut words = format!("{who} asks to run {tool}: {detail}\n({reason})");
    if !asked.unseen.is_empty() {
        words.push_str(&format!(
            "\nIt will not see unsaved text or proposed changes of {}.",
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
fn shown(asked: &Approval, member: Option<&str>, state: &State) -> ShownQuestion {
    let line = plain_line(asked.detail.lines().next().unwrap_or_default());
    let mut about: String = line.chars().take(ABOUT).collect();
    if about.len() < asked.detail.trim_end().len() {
        about.push('…');
    }
    let words = format!("{}\n{}", words(asked, member), how_to_answer(&state.habits()));
    ShownQuestion { member: member.map(str::to_owned), about, words }
}

/// Puts a question. A plugin that shows approvals has the event, and answers by command.
pub(super) async fn ask(state: &Arc<State>, session: &str, member: Option<&str>, asked: Approval) {
    let options = state.facts().options;
    if options.approvals && (member.is_none() || takes_team(options)) {
        return;
    }
    // The screen is the current session's, beside which a teammate's stands.
    let screen = if member.is_some() { state.current() } else { Some(session.to_owned()) };
    if let Some(screen) = screen {
        state.show_question(&screen, asked.id, shown(&asked, member, state)).await;
    }
    let member = member.map(str::to_owned);
    if state.habits().safe_dialogs {
        let (state, session) = (state.clone(), session.to_owned());
        tokio::spawn(async move { ask_in_dialog(&state, session, member, asked).await }.boxed());
        return;
    }
    ask_in_message(state, member.as_deref(), &asked).await;
}

/// A message that says how to answer it.
async fn ask_in_message(state: &State, member: Option<&str>, asked: &Approval) {
    // Beside the conversation document too: the user may be looking at another file by now.
    let words = plain(&shown(asked, member, state).words);
    state.show_message(lsp::MessageType::WARNING, words, None).await;
}

/// A message with buttons. Closing it answers nothing.
async fn ask_in_dialog(
    state: &Arc<State>,
    session: String,
    member: Option<String>,
    asked: Approval,
) {
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
        .show_message_request(
            lsp::MessageType::WARNING,
            words(&asked, member.as_deref()),
            Some(items.collect()),
        )
        .await;
    let chosen = match chosen {
        Ok(Some(chosen)) => chosen,
        Ok(None) => return,
        Err(error) => {
            // It is to be seen all the same.
            tracing::info!(%error, "the client asks no questions");
            return ask_in_message(state, member.as_deref(), &asked).await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_teammate_asks_under_its_name() {
        let asked = |agent: Option<&str>| Approval {
            agent: agent.map(str::to_owned),
            tool: "bash".to_owned(),
            detail: "touch x".to_owned(),
            reason: "it is not allowed yet".to_owned(),
            ..Approval::default()
        };
        for (member, agent, first) in [
            (Some("alice"), None, "alice asks to run bash: touch x"),
            (
                Some("alice"),
                Some("explore, find auth"),
                "alice (explore, find auth) asks to run bash: touch x",
            ),
            (
                None,
                Some("explore, find auth"),
                "Ropewalk (explore, find auth) asks to run bash: touch x",
            ),
            (None, None, "Ropewalk asks to run bash: touch x"),
        ] {
            let said = words(&asked(agent), member);
            assert_eq!(said, format!("{first}\n(it is not allowed yet)"));
        }
    }
}
