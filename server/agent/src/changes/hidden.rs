//! Keys that the model is not shown: `[key]`, which it reads in the place of one, must not be written there.
//!
//! Only what takes a key's place is refused. `[key]` beside a key, or where none was, is a text like others.

use ropewalk_model::Keys;
use ropewalk_model::redact::REDACTED;
use ropewalk_text::Text;
use ropewalk_workspace::{FileState, Proposal, ProposedChange, View};
use std::ops::Range;

/// True if `[key]` stands in `text` in this range, or reaches into it. The rest of the text is left
/// alone: the user may wait for an edit of a large file.
fn has_redacted(text: &Text, range: Range<usize>) -> bool {
    let end = range.end.saturating_add(REDACTED.len()).min(text.len());
    text.slice(range.start.saturating_sub(REDACTED.len())..end).contains(REDACTED)
}

/// The shown names of the files in which a proposal would write `[key]` over a key. O(their texts), but for edits
/// that bring no such text.
pub(super) fn overwritten(keys: &Keys, view: &View, proposals: &[Proposal]) -> Vec<String> {
    let is_lost = |proposal: &&Proposal| {
        let old = || match view.read(&proposal.place) {
            Ok(FileState::Text { text, .. }) => Some(text),
            _ => None,
        };
        let lost = |old: &Text, new: &Text| keys.would_be_lost(&old.to_string(), &new.to_string());
        match &proposal.change {
            ProposedChange::Write(new) => old().is_some_and(|old| lost(&old, new)),
            ProposedChange::Edit(set) => {
                let brings = |new: &Text| set.new_ranges().any(|range| has_redacted(new, range));
                old().is_some_and(|old| {
                    set.apply(&old).is_ok_and(|new| brings(&new) && lost(&old, &new))
                })
            }
            _ => false,
        }
    };
    proposals.iter().filter(is_lost).map(|proposal| proposal.place.shown.clone()).collect()
}
