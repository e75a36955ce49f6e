//! Proof by echo: was our edit applied?
//!
//! An editor's answer to `workspace/applyEdit` proves nothing (Neovim says `applied: true` for an edit it
//! skipped), so an edit counts as made only when the text shows it. [`Expected`] is an edit that was sent;
//! [`Expected::look`] is asked after every single content change. It is a pure function of texts.

use crate::PublishId;
use ropewalk_text::{Change, ChangeSet, Text, diff, refine, refine_letters};
use std::collections::HashMap;

/// Where both stories ask for more bytes than this of the user, text may have been moved.
pub(crate) const MUCH: usize = 80;

/// An edit that was sent and is not settled.
#[derive(Debug)]
pub struct Expected {
    /// Which publish it belongs to.
    pub id: PublishId,
    /// The edit, or what is left of it, on the document's text as it is now: it is rebased over what the user types
    /// meanwhile.
    pub edit: ChangeSet,
    /// The edit as it was sent, with the text that it was for: its positions are of that text.
    pub sent: (Text, ChangeSet),
    /// Answer of the client, once it has come.
    pub answer: Option<bool>,
    /// True if a whole notification has come since without the edit in it.
    pub passed_over: bool,
    /// True if the bound for the echo has passed.
    pub unconfirmed: bool,
    /// True once some of its places were told by themselves: the client may still be at the others.
    pub in_parts: bool,
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
    /// The user changed the very text it replaces while it was under way, and whether it was made can't be
    /// told: never sent again.
    Conflict,
    /// No echo within the bound. It is neither resent nor forgotten: a later change may settle it.
    Unconfirmed,
    /// The document was closed meanwhile.
    Closed,
}

/// Evidence of one content change about an expected edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// The change is the edit, followed by the user's own part (empty when the echo came alone).
    Made(ChangeSet),
    /// Not in this change; the edit is still possible, and stands here now.
    NotYet(ChangeSet),
    /// Not in this change, which reaches into a place of the edit: a client that checks versions will not make
    /// it any more.
    Overtaken,
    /// The change destroyed the place of the edit, before or after it was made: that can't be told.
    Gone,
}

impl Expected {
    /// Judges one content change from `before` to `after`, given as `change`. O(n) in the text's length, and
    /// only while an edit is under way. `checks_versions`: the client makes an edit only in the text it is for;
    /// once a notification has passed without it, what looks like it is the user's.
    pub fn look(
        &self,
        before: &Text,
        change: &ChangeSet,
        after: &Text,
        checks_versions: bool,
    ) -> Sighting {
        if self.is_out_of_time(checks_versions) {
            return carry(&self.edit, &refine(change, before)).unwrap_or(Sighting::Gone);
        }
        look(&self.edit, before, change, after, checks_versions)
    }

    /// True if the client has told of other things only, since which it makes it no more.
    pub(crate) fn is_out_of_time(&self, checks_versions: bool) -> bool {
        checks_versions && self.passed_over && !self.in_parts
    }
}

/// The edit over what the user did, which is not the edit. None when they are of different texts.
pub(crate) fn carry(edit: &ChangeSet, own: &ChangeSet) -> Option<Sighting> {
    let rebased = edit.rebase(own).ok()?;
    // An edit that the user made as well, or reached into, can't be made as it was sent.
    let whole = rebased.kept.len() == edit.changes().len();
    Some(if whole { Sighting::NotYet(rebased.mine) } else { Sighting::Overtaken })
}

/// Judges one content change from `before` to `after`, given as `change`: whether `edit`, on `before`, was made in it.
/// See [`Expected::look`].
pub(crate) fn look(
    edit: &ChangeSet,
    before: &Text,
    change: &ChangeSet,
    after: &Text,
    checks_versions: bool,
) -> Sighting {
    let Ok(predicted) = edit.apply(before) else { return Sighting::Gone };
    if predicted == *after {
        return Sighting::Made(ChangeSet::identity(after.len()));
    }
    // Two stories: the edit was made and the user did `over`, or it was not and the user did `own`. The
    // one that asks less of the user is true: the other has them put back or repeat what the edit does.
    let over = diff(&predicted, after);
    let own = refine(change, before);
    let (only_over, only_own) = (by_letters(&over, &predicted), by_letters(&own, before));
    let (made, not_made) = (size(&only_over), size(&only_own));
    // Where much has moved, how much is a matter of luck, but no line has come or gone in the true story.
    let near = edit.changes().iter().any(|one| change.touches(&one.range));
    let (after_made, after_not) = match near && made.min(not_made) > MUCH {
        true => (lines_apart(&predicted, after), lines_apart(before, after)),
        false => (0, 0),
    };
    let moved_made = after_made == 0 && after_not > 0 && checks_versions;
    let says_made = made < not_made && after_made <= after_not;
    if moved_made || (says_made && shows(edit, &only_over, &only_own, checks_versions)) {
        return Sighting::Made(over);
    }
    let moved_not = after_not == 0 && after_made > 0;
    if moved_not || (not_made < made && after_not <= after_made) {
        return carry(edit, &own).unwrap_or(Sighting::Gone);
    }
    Sighting::Gone
}

/// The change set by its letters, changed lines that follow each other as one: a line in which the user typed on both sides
/// of an edit is not all theirs, nor are lines that they have cut or joined.
fn by_letters(set: &ChangeSet, before: &Text) -> ChangeSet {
    let mut joined: Vec<Change> = Vec::with_capacity(set.changes().len());
    for change in set.changes() {
        let line = |at: usize| before.line_feeds_before(at);
        let follows = |last: &&mut Change| line(change.range.start) - line(last.range.end) <= 1;
        match joined.last_mut().filter(follows) {
            Some(last) => {
                last.text.push_str(&before.slice(last.range.end..change.range.start));
                last.text.push_str(&change.text);
                last.range.end = change.range.end;
            }
            None => joined.push(change.clone()),
        }
    }
    let joined = ChangeSet::new(set.before_len(), joined);
    refine_letters(joined.as_ref().unwrap_or(set), before)
}

/// How many lines one text has that the other has not, indents aside. O(n).
fn lines_apart(one: &Text, other: &Text) -> usize {
    let (one, other) = (one.to_string(), other.to_string());
    let mut counts: HashMap<&str, isize> = HashMap::new();
    one.lines().for_each(|line| *counts.entry(line.trim()).or_default() += 1);
    other.lines().for_each(|line| *counts.entry(line.trim()).or_default() -= 1);
    counts.values().map(|count| count.unsigned_abs()).sum()
}

/// True if the edit's own places bear out that it was made. Where versions are checked one place
/// counts for all, unless another contradicts it; elsewhere each must show it.
fn shows(edit: &ChangeSet, over: &ChangeSet, own: &ChangeSet, checks_versions: bool) -> bool {
    let (mut all_made, mut shows_made, mut shows_not) = (true, false, false);
    for (edit, new) in edit.changes().iter().zip(edit.new_ranges()) {
        // Where text is only deleted nothing is left to see: then no change may so much as touch the place.
        let made = if new.is_empty() { !over.touches(&new) } else { !over.reaches_inside(&new) };
        let untouched = !own.reaches_inside(&edit.range);
        all_made &= made;
        shows_made |= made && !untouched && !new.is_empty();
        shows_not |= untouched && !made;
    }
    all_made || (checks_versions && shows_made && !shows_not)
}

/// How much a change set deletes and inserts, in bytes.
fn size(set: &ChangeSet) -> usize {
    set.changes().iter().map(|change| change.range.len() + change.text.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            sent: (text.clone(), set(before.len(), edit)),
            answer: None,
            passed_over: false,
            unconfirmed: false,
            in_parts: false,
            waiter: None,
        };
        expected.look(&text, &change, &change.apply(&text).unwrap(), true)
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
    fn typing_on_both_sides_of_an_edit_does_not_hide_it() {
        // "XYZ" before it, a line end behind it, and all told as one change of what differs.
        let seen = check("abcd efgh\n", &[(4, 4, "+Q")], &[(3, 4, "XYZd+Q\n")]);
        assert!(matches!(seen, Sighting::Made(_)), "{seen:?}");
    }

    #[test]
    fn line_ends_typed_and_deleted_beside_an_edit_do_not_hide_it() {
        // As many lines as before, but others: one by one they have nothing in common.
        let before = "  p q r\nlong word after word\ntu vw xy\nzab\nlast\n";
        let edit = [(0, 3, "K  p+L"), (42, 42, "Nnew\n")];
        assert_eq!(before.get(42..), Some("last\n"));
        let seen = |first: &str| {
            let rest = "\nlong word after word\ntu \nvwst xy\nzNnew\n";
            check(before, &edit, &[(0, 42, &format!("{first} q r{rest}"))])
        };
        assert!(matches!(seen("K  p+L"), Sighting::Made(_)));
        // Also typed in one of its places: that is no proof of it, but none either that it may be sent again.
        assert_eq!(seen("K  \n sp+L"), Sighting::Gone);
    }

    #[test]
    fn the_users_own_change_moves_the_edit() {
        let seen = check("let foo;", &[(4, 7, "bar")], &[(0, 0, "ab")]);
        assert_eq!(seen, Sighting::NotYet(set(10, &[(6, 9, "bar")])));
        assert_eq!(check("let foo;", &[(4, 7, "bar")], &[(5, 6, "")]), Sighting::Overtaken);
    }

    #[test]
    fn typing_beside_a_deletion_is_not_the_deletion() {
        // The diff from "deleted" to what stands begins at the very place where the deletion would be.
        let (before, edit) = ("one two\nthree\nx\n", [(3, 13, "")]);
        let seen = check(before, &edit, &[(14, 14, "new\n")]);
        assert_eq!(seen, Sighting::NotYet(set(20, &[(3, 13, "")])));
        let seen = check(before, &edit, &[(2, 2, "!")]);
        assert_eq!(seen, Sighting::NotYet(set(17, &[(4, 14, "")])));
    }

    #[test]
    fn an_edit_of_which_a_part_has_no_place_is_overtaken() {
        let edit = [(1, 2, ""), (6, 7, "LONGER")];
        assert_eq!(check("abc def", &edit, &[(1, 2, "")]), Sighting::Overtaken);
        assert_eq!(check("abc", &[(1, 2, "")], &[(0, 3, "")]), Sighting::Gone);
    }

    #[test]
    fn one_place_speaks_for_the_others() {
        // The user typed into the new text of one place; the other shows that the edit was made.
        let edit = [(0, 1, "AAA"), (4, 5, "BBB")];
        let made = check("a  \nb\n", &edit, &[(0, 5, "AAA  \nBuBB")]);
        assert_eq!(made, Sighting::Made(set(10, &[(7, 7, "u")])));
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
