//! Keys that the model is not shown: `[key]`, which it reads in the place of one, must not be written there.
//!
//! Only what takes a key's place is refused. `[key]` beside a key, or where none was, is a text like others.

use ropewalk_model::Keys;
use ropewalk_text::Text;
use ropewalk_workspace::{FileState, Proposal, ProposedChange, View};

/// The shown name of the first file in which a proposal would write `[key]` over a key. O(their texts).
pub(super) fn overwritten(keys: &Keys, view: &View, proposals: &[Proposal]) -> Option<String> {
    let is_lost = |proposal: &&Proposal| {
        let old = || match view.read(&proposal.place) {
            Ok(FileState::Text { text, .. }) => Some(text),
            _ => None,
        };
        let lost = |old: &Text, new: &Text| keys.would_be_lost(&old.to_string(), &new.to_string());
        match &proposal.change {
            ProposedChange::Write(new) => old().is_some_and(|old| lost(&old, new)),
            ProposedChange::Edit(set) => {
                old().is_some_and(|old| set.apply(&old).is_ok_and(|new| lost(&old, &new)))
            }
            _ => false,
        }
    };
    proposals.iter().find(is_lost).map(|proposal| proposal.place.shown.clone())
}
