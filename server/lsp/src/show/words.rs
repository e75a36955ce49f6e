//! Words on the screen, for people: what waits, how a turn ended, how something is answered in this editor.

use ropewalk_host::SessionSnapshot;
use ropewalk_host::words::count;
use ropewalk_protocol::{Approval, HunkMember, StopReason, Tokens};
use ropewalk_workspace::{DocId, Habits};
use std::collections::HashSet;

/// How code actions are reached, by the start of a client's name as [`Habits`] has it.
const CODE_ACTIONS: &[(&str, &str)] =
    &[("neovim", "gra"), ("emacs", "M-x eglot-code-actions"), ("helix", "space a")];

/// The keys by which this editor offers code actions, where that is known.
pub(crate) fn code_actions(habits: &Habits) -> Option<&'static str> {
    let own = CODE_ACTIONS.iter().find(|(name, _)| *name == habits.name);
    own.map(|(_, keys)| *keys)
}

/// How a change is accepted or rejected in this editor, for the line above its diff.
pub(crate) fn how_to_review(habits: &Habits) -> String {
    match code_actions(habits) {
        // VS Code's lenses.
        None if habits.safe_dialogs => "accept or reject it above the line".to_owned(),
        None => "accept or reject it by code action".to_owned(),
        Some(keys) => format!("accept or reject it with {keys}"),
    }
}

/// How a call that waits is answered in this editor.
pub(crate) fn how_to_answer(habits: &Habits) -> String {
    match code_actions(habits) {
        None if habits.safe_dialogs => "Answer with Quick Fix.".to_owned(),
        None => "Answer with code actions.".to_owned(),
        Some(keys) => format!("Answer with code actions ({keys})."),
    }
}

/// How many lines of a diff go and come: `−1 +1`. None where no line does.
pub(crate) fn lines_changed(diff: &str) -> Option<String> {
    let with = |start: char, sign: char| {
        let lines = diff.lines().filter(|line| line.starts_with(start)).count();
        (lines > 0).then(|| format!("{sign}{lines}"))
    };
    let (gone, come) = (with('-', '−'), with('+', '+'));
    let parts: Vec<String> = gone.into_iter().chain(come).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The members of the team whose work a change is: `task #3, alice`. None for the session's own.
pub(crate) fn made_by(members: &[HunkMember]) -> Option<String> {
    let made = members.iter().map(|HunkMember { member, task }| match task {
        Some(task) => format!("task #{task}, {member}"),
        None => member.clone(),
    });
    let made: Vec<String> = made.collect();
    (!made.is_empty()).then(|| made.join(" and "))
}

/// Counts of the changes that wait for the user's review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReviewCounts {
    changes: usize,
    files: usize,
}

impl ReviewCounts {
    /// Of a session. None when nothing waits.
    pub(crate) fn of(snapshot: &SessionSnapshot) -> Option<Self> {
        let waiting = snapshot.waiting();
        let files: HashSet<&DocId> = waiting.clone().map(|hunk| &hunk.doc).collect();
        let changes = waiting.count();
        (changes > 0).then_some(Self { changes, files: files.len() })
    }

    /// `1 change`, `3 changes in 2 files`.
    pub(crate) fn changes(self) -> String {
        let changes = count(self.changes, "change", "changes");
        match self.changes {
            1 => changes,
            _ => format!("{changes} in {}", count(self.files, "file", "files")),
        }
    }

    /// `3 changes in 2 files wait for review`.
    pub(crate) fn in_words(self) -> String {
        let verb = if self.changes == 1 { "waits" } else { "wait" };
        format!("{} {verb} for review", self.changes())
    }

    /// `3 changes wait`, for where there is little room.
    pub(super) fn in_short(self) -> String {
        count(self.changes, "change waits", "changes wait")
    }
}

/// The end of a turn: `Done · 33k tokens in, 594 out · 3 changes in 2 files wait for review`.
pub(super) fn turn_end(
    stop: StopReason,
    used: Option<Tokens>,
    waiting: Option<ReviewCounts>,
) -> String {
    let used = used.filter(|used| !used.is_nothing()).map(|used| used.in_short());
    let parts = [Some(stop.in_words().to_owned()), used, waiting.map(ReviewCounts::in_words)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Words for who asks: a teammate by its name, and in brackets the subagent.
pub(crate) fn asker(asked: &Approval, member: Option<&str>) -> String {
    let of = asked.agent.as_ref().map(|agent| format!(" ({agent})")).unwrap_or_default();
    format!("{}{of}", member.unwrap_or("Ropewalk"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted() {
        let waiting = |changes, files| ReviewCounts { changes, files };
        for (waits, words) in [
            (waiting(1, 1), "1 change waits for review"),
            (waiting(2, 1), "2 changes in 1 file wait for review"),
            (waiting(3, 2), "3 changes in 2 files wait for review"),
        ] {
            assert_eq!(waits.in_words(), words);
        }
        assert_eq!(ReviewCounts::of(&SessionSnapshot::default()), None);
        let end = turn_end(StopReason::EndTurn, None, Some(waiting(3, 2)));
        assert_eq!(end, "Done · 3 changes in 2 files wait for review");
    }

    #[test]
    fn a_change_of_teammates_names_them_with_their_tasks() {
        let of = |member: &str, task| HunkMember { member: member.to_owned(), task };
        assert_eq!(made_by(&[]), None);
        assert_eq!(made_by(&[of("alice", Some(3))]).as_deref(), Some("task #3, alice"));
        let two = [of("alice", Some(3)), of("bob", None)];
        assert_eq!(made_by(&two).as_deref(), Some("task #3, alice and bob"));
    }

    #[test]
    fn lines_are_counted_from_the_diff() {
        for (diff, words) in [
            ("@@ -1,2 +1,2 @@\n a\n-b\n+c\n", Some("−1 +1")),
            ("@@ -0,0 +1,2 @@\n+--x\n+++y\n", Some("+2")),
            ("@@ -1 +0,0 @@\n---x\n", Some("−1")),
            ("rename a to b\n", None),
            ("", None),
        ] {
            assert_eq!(lines_changed(diff).as_deref(), words, "{diff}");
        }
    }
}
