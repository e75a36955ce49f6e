//! Where there is no text, what is pending makes all of it, and so does the user with the first word that they write:
//! whose comes first nobody can say. So the two are never put together, as they would be between lines.

use super::{Base, Conflict, Entry, Maker};
use crate::HunkId;
use crate::log::{LogDelta, Origin};
use ropewalk_text::{ChangeSet, Text};

/// True if this is no text: nothing, or the one empty line that some editors show for it.
pub(crate) fn is_blank(text: &Text) -> bool {
    text.len() <= 2 && matches!(&*text.slice(0..text.len()), "" | "\n" | "\r\n" | "\r")
}

/// Makes `blank` into `made`, which was made of nothing. The line end of an empty line stays, as
/// the last.
pub(super) fn upon(blank: &Text, made: &Text) -> ChangeSet {
    let made = made.to_string();
    let own = match blank.is_empty() {
        true => &*made,
        false => {
            ["\r\n", "\n", "\r"].iter().find_map(|end| made.strip_suffix(end)).unwrap_or(&made)
        }
    };
    match own.is_empty() {
        true => ChangeSet::identity(blank.len()),
        false => ChangeSet::single(blank.len(), 0..0, own),
    }
}

impl Entry {
    /// True if the pending changes make all of the text.
    pub fn makes_all(&self) -> bool {
        !self.set.is_empty() && is_blank(&self.base.text())
    }

    /// Somebody else has made the text `now` where what is pending makes all of it: that is pending no more, and set
    /// aside unless it is the same. What the disk has brought there is none of anybody's making.
    pub fn give_way(&mut self, now: &Text) -> Vec<Conflict> {
        if !self.makes_all() || is_blank(now) || self.disk.as_ref() == Some(now) {
            return Vec::new();
        }
        match self.text.equal_but_line_ends(now) {
            true => {
                self.remove_texts();
                Vec::new()
            }
            false => self.give_way_to(&now.to_string()),
        }
    }

    /// All that is pending in the text is set aside, because of this.
    pub fn give_way_to(&mut self, now: &str) -> Vec<Conflict> {
        if matches!(self.base, Base::Absent) {
            // It was that of the file that is not made.
            self.mode = None;
        }
        let mut aside = self.remove_texts();
        aside.retain(|one| one.mark.makers != [Maker::Disk]);
        for one in &mut aside {
            now.clone_into(&mut one.now);
        }
        aside
    }

    fn remove_texts(&mut self) -> Vec<Conflict> {
        let all: Vec<HunkId> = self.marks.iter().map(|mark| mark.id).collect();
        self.remove(&all)
    }

    /// The user's text is `now`, which is still none: what is pending makes all of it as before.
    pub(super) fn stay_upon(&mut self, now: Text) {
        let set = upon(&now, &self.text);
        if let Ok(text) = set.apply(&now) {
            let change = ropewalk_text::diff(&self.text, &text);
            self.log.push(LogDelta { change, origin: Origin::User });
            self.text = text;
        }
        self.stand_on(now, set, |_| true);
    }
}
