//! Events of teammates: whole for a client that takes them. For all others progress under the teammate's name, and what
//! it asks; nothing else of it.

use super::approval;
use super::event::{is_of_session, log, send, takes_team};
use super::progress::{TurnProgress, progress_words};
use super::words::turn_end;
use crate::state::State;
use crate::teammates::TeammateQuestion;
use ropewalk_host::team_words::request_line;
use ropewalk_protocol::plugin::ClientOptions;
use ropewalk_protocol::{Approval, Event, SessionEvent, SessionId, TodoList, Tokens};
use ropewalk_text::plain::plain_line;
use std::collections::HashMap;
use std::sync::Arc;

/// The turns of teammates that run, by their sessions.
#[derive(Default)]
pub(super) struct MemberTurns(HashMap<SessionId, MemberTurn>);

#[derive(Default)]
struct MemberTurn {
    progress: TurnProgress,
    used: Option<Tokens>,
    todos: TodoList,
}

/// True if an event of a teammate goes to a client as it is.
fn is_sent(options: ClientOptions, told: &SessionEvent) -> bool {
    takes_team(options) && (options.threads || is_of_session(told))
}

impl MemberTurns {
    /// Takes an event of the teammate `member`, whose session this is.
    pub(super) async fn take(
        &mut self,
        state: &Arc<State>,
        session: SessionId,
        member: &str,
        told: SessionEvent,
    ) {
        log(state, &told);
        let options = state.facts().options;
        if is_sent(options, &told) {
            send(state, &told).await;
        }
        match &told.event {
            Event::ApprovalRequested { approval, .. } => {
                ask(state, &session, member, approval.clone()).await;
            }
            Event::ApprovalResolved { approval, how, .. } => {
                state.teammates.note_answer(*approval);
                state.hide_member_questions(&[*approval]).await;
                state.record_answer(member, *how);
            }
            Event::TurnEnded { .. } if told.thread.is_none() => {
                let gone = state.teammates.note_end(&session);
                state.hide_member_questions(&gone).await;
            }
            Event::TurnStarted { .. } => state.teammates.note_turn(&session, member),
            _ => {}
        }
        if !takes_team(options) {
            self.show(state, session, member, told).await;
        }
    }

    /// Shows what a teammate does as progress under its name.
    async fn show(
        &mut self,
        state: &Arc<State>,
        session: SessionId,
        member: &str,
        told: SessionEvent,
    ) {
        if let (Event::TurnEnded { stop_reason, .. }, None) = (&told.event, &told.thread) {
            if let Some(mut turn) = self.0.remove(&session) {
                let words = turn_end(*stop_reason, turn.used.take(), None);
                turn.progress.end(state, words).await;
            }
            return;
        }
        let turn = self.0.entry(session.clone()).or_default();
        if let Some(words) = progress_words(&told.event, &turn.todos) {
            turn.progress.report(state, &words).await;
        }
        match told.event {
            Event::TurnStarted { turn: number, prompt } => {
                let title = plain_line(member);
                turn.progress
                    .begin(state, &title, (&session, number), &request_line(&prompt))
                    .await;
            }
            Event::Usage { in_turn, .. } if told.thread.is_none() => turn.used = Some(in_turn),
            Event::Todos { todos, .. } if told.thread.is_none() => turn.todos = todos,
            _ => {}
        }
    }
}

/// Asks under the teammate's name.
async fn ask(state: &Arc<State>, session: &str, member: &str, asked: Approval) {
    let (member, session) = (member.to_owned(), session.to_owned());
    let question = TeammateQuestion { member, session, approval: asked.clone() };
    state.teammates.note_question(question.clone());
    state.record_question(&question.member, &asked);
    approval::ask(state, &question.session, Some(&question.member), asked).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_protocol::StopReason;

    #[test]
    fn events_of_a_teammate_go_to_clients_that_take_them_alone() {
        let told = |thread: Option<&str>| SessionEvent {
            session: Some("s2".into()),
            thread: thread.map(str::to_owned),
            member: Some("alice".to_owned()),
            event: Event::TurnEnded { turn: 1, stop_reason: StopReason::EndTurn, message: None },
        };
        let options = |events, team, threads| ClientOptions {
            events,
            team,
            threads,
            approvals: true,
            ..ClientOptions::default()
        };
        for (events, team, threads, own, of_thread) in [
            (true, true, true, true, true),
            (true, true, false, true, false),
            (true, false, true, false, false),
            (false, true, true, false, false),
        ] {
            let options = options(events, team, threads);
            assert_eq!(is_sent(options, &told(None)), own, "{options:?}");
            assert_eq!(is_sent(options, &told(Some("1.1"))), of_thread, "{options:?}");
        }
    }
}
