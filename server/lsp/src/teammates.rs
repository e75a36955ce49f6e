//! Teammates at work: which sessions are theirs, and the calls of theirs that wait for the user.
//!
//! They are told by events, whose sessions stand beside the current one.

use crate::lock;
use ropewalk_protocol::Approval;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Teammates(Mutex<KnownTeammates>);

#[derive(Debug, Default)]
struct KnownTeammates {
    /// The names of those whose turn runs, by their sessions.
    working: BTreeMap<String, String>,
    /// The calls that wait, by their ids, which count for all sessions together.
    questions: BTreeMap<u64, TeammateQuestion>,
}

/// A call of a teammate that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TeammateQuestion {
    /// The name of the teammate.
    pub(crate) member: String,
    /// Its session.
    pub(crate) session: String,
    pub(crate) approval: Approval,
}

impl Teammates {
    /// A turn of a teammate has begun.
    pub(crate) fn note_turn(&self, session: &str, member: &str) {
        lock(&self.0).working.insert(session.to_owned(), member.to_owned());
    }

    /// It has ended. Gives the calls that wait no more.
    pub(crate) fn note_end(&self, session: &str) -> Vec<u64> {
        let mut known = lock(&self.0);
        known.working.remove(session);
        let is_theirs = |question: &TeammateQuestion| question.session == session;
        let gone: Vec<u64> = known
            .questions
            .iter()
            .filter(|(_, question)| is_theirs(question))
            .map(|(id, _)| *id)
            .collect();
        gone.iter().for_each(|id| drop(known.questions.remove(id)));
        gone
    }

    /// A call waits.
    pub(crate) fn note_question(&self, question: TeammateQuestion) {
        lock(&self.0).questions.insert(question.approval.id, question);
    }

    /// It waits no more.
    pub(crate) fn note_answer(&self, approval: u64) {
        lock(&self.0).questions.remove(&approval);
    }

    /// The calls that wait, the oldest first.
    pub(crate) fn questions(&self) -> Vec<TeammateQuestion> {
        lock(&self.0).questions.values().cloned().collect()
    }

    /// The session of the teammate whose turn has this progress token.
    pub(crate) fn session_of_token(&self, token: &str) -> Option<String> {
        let rest = token.strip_prefix("ropewalk/")?;
        let known = lock(&self.0);
        let is_of = |session: &&String| {
            rest.strip_prefix(session.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        known.working.keys().find(is_of).cloned()
    }

    /// The session of the teammate that an answer is for: to this approval, or to the one that has waited longest, of
    /// which `own` are the session's own. None if it is one of those.
    pub(crate) fn session_asking(&self, approval: Option<u64>, own: &[u64]) -> Option<String> {
        let known = lock(&self.0);
        let (id, question) = match approval {
            Some(id) => known.questions.get_key_value(&id)?,
            None => known.questions.first_key_value()?,
        };
        let is_first = approval.is_some() || own.iter().all(|other| id < other);
        is_first.then(|| question.session.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: u64, member: &str) -> TeammateQuestion {
        let approval = Approval { id, ..Approval::default() };
        let session = format!("session-of-{member}");
        TeammateQuestion { member: member.to_owned(), session, approval }
    }

    #[test]
    fn an_answer_goes_to_whom_it_is_for_and_without_a_number_to_who_waits_longest() {
        let known = Teammates::default();
        assert_eq!(known.session_asking(None, &[1]), None);
        known.note_question(question(3, "alice"));
        known.note_question(question(5, "bob"));
        let alice = Some("session-of-alice".to_owned());
        assert_eq!(known.session_asking(None, &[]), alice);
        assert_eq!(known.session_asking(None, &[4]), alice);
        assert_eq!(known.session_asking(None, &[2, 6]), None);
        assert_eq!(known.session_asking(Some(5), &[2]).as_deref(), Some("session-of-bob"));
        assert_eq!(known.session_asking(Some(2), &[2]), None);
        known.note_answer(3);
        assert_eq!(known.session_asking(None, &[4]), None);
        assert_eq!(known.questions(), [question(5, "bob")]);
        assert_eq!(known.note_end("session-of-bob"), [5]);
        assert_eq!(known.questions(), []);
    }

    #[test]
    fn a_turn_is_stopped_by_its_own_token_alone() {
        let known = Teammates::default();
        known.note_turn("s1", "alice");
        known.note_turn("s12", "bob");
        assert_eq!(known.session_of_token("ropewalk/s12/4").as_deref(), Some("s12"));
        assert_eq!(known.session_of_token("ropewalk/s1/1").as_deref(), Some("s1"));
        for other in ["ropewalk/s/1", "ropewalk/s123/1", "s1/1", "ropewalk/s1", ""] {
            assert_eq!(known.session_of_token(other), None, "{other}");
        }
        known.note_end("s1");
        assert_eq!(known.session_of_token("ropewalk/s1/1"), None);
    }
}
