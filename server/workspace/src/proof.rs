//! Proof by echo: was our edit applied?
//!
//! An editor's answer to `workspace/applyEdit` proves nothing (Neovim says `applied: true` for an edit it
//! skipped), so an edit counts as made only when the text shows it. [`Expected`] is an edit that was sent;
//! [`Expected::look`] is asked after every single content change. It is a pure function of texts.

use crate::PublishId;
use ropewalk_text::{ChangeSet, Text, diff, refine};

/// An edit that was sent and is not settled.
#[derive(Debug)]
pub struct Expected {
    /// Which publish it belongs to.
    pub id: PublishId,
    /// The edit, on the document's text as it is now: it is rebased over what the user types meanwhile.
    pub edit: ChangeSet,
    /// What the client answered, once it has.
    pub answer: Option<bool>,
    /// Whether a whole notification has come since without the edit in it.
    pub passed_over: bool,
    /// Whether the bound for the echo has passed.
    pub unconfirmed: bool,
    /// Told when the edit is settled. None once it was reported as unconfirmed.
    pub waiter: Option<tokio::sync::oneshot::Sender<Settled>>,
}

/// How an edit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The text shows it.
    Confirmed,
    /// The client did not make it and the place is as it was: it may be mapped and sent again.
    Skipped,
    /// The user changed the very text it replaces while it was under way: never sent again.
    Conflict,
    /// No echo within the bound. It is neither resent nor forgotten: a later change may settle it.
    Unconfirmed,
    /// The document was closed meanwhile.
    Closed,
}

/// What one content change says about an expected edit.
#[derive(Debug, PartialEq, Eq)]
pub enum Sighting {
    /// The change is the edit, followed by the user's own part (empty when the echo came alone).
    Made(ChangeSet),
    /// Not in this change; the edit is still possible, and stands here now.
    NotYet(ChangeSet),
    /// The change destroyed the place of the edit.
    Gone,
}

impl Expected {
    /// Judges one content change from `before` to `after`, given as `change`. O(n) in the text's length, and
    /// only while an edit is under way.
    pub fn look(&self, before: &Text, change: &ChangeSet, after: &Text) -> Sighting {
        let Ok(predicted) = self.edit.apply(before) else { return Sighting::Gone };
        if predicted == *after {
            return Sighting::Made(ChangeSet::identity(after.len()));
        }
        let over = diff(&predicted, after);
        if over.leaves_alone(self.edit.new_ranges()) {
            return Sighting::Made(over);
        }
        let own = refine(change, before);
        if own.leaves_alone(self.edit.changes().iter().map(|c| c.range.clone()))
            && let Ok(rebased) = self.edit.rebase(&own)
            && rebased.is_clean()
        {
            return Sighting::NotYet(rebased.mine);
        }
        Sighting::Gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_text::Change;

    fn set(len: usize, changes: &[(usize, usize, &str)]) -> ChangeSet {
        ChangeSet::new(len, changes.iter().map(|(s, e, t)| Change::new(*s..*e, *t)).collect())
            .unwrap()
    }

    fn check(
        before: &str,
        edit: &[(usize, usize, &str)],
        change: &[(usize, usize, &str)],
    ) -> Sighting {
        let text = Text::from(before);
        let change = set(before.len(), change);
        let expected = Expected {
            id: PublishId(1),
            edit: set(before.len(), edit),
            answer: None,
            passed_over: false,
            unconfirmed: false,
            waiter: None,
        };
        expected.look(&text, &change, &change.apply(&text).unwrap())
    }

    #[test]
    fn an_echo_is_known_however_it_is_cut() {
        // Whole, minimised, and with the user's text beside it in one change.
        for echo in [(4, 7, "foX"), (6, 7, "X"), (5, 7, "oX")] {
            assert_eq!(check("let foo;", &[(4, 7, "foX")], &[echo]), Sighting::Made(set(8, &[])));
        }
        let made = check("let foo;", &[(4, 7, "foX")], &[(0, 8, "(let foX;")]);
        assert_eq!(made, Sighting::Made(set(8, &[(0, 0, "(")])));
    }

    #[test]
    fn the_users_own_change_moves_the_edit() {
        let seen = check("let foo;", &[(4, 7, "bar")], &[(0, 0, "ab")]);
        assert_eq!(seen, Sighting::NotYet(set(10, &[(6, 9, "bar")])));
        assert_eq!(check("let foo;", &[(4, 7, "bar")], &[(5, 6, "")]), Sighting::Gone);
    }

    #[test]
    fn a_deletion_is_not_taken_for_made_while_the_text_stands() {
        assert_eq!(
            check("a b c", &[(1, 3, "")], &[(5, 5, "!")]),
            Sighting::NotYet(set(6, &[(1, 3, "")]))
        );
        assert_eq!(check("a b c", &[(1, 3, "")], &[(1, 3, "")]), Sighting::Made(set(3, &[])));
    }
}
