//! A pending change of a file as a whole (a deletion, other bytes, a link, a text where there was none) was made of what
//! stood there: over what somebody has put there since it is a conflict. Typing that was taken back before anyone
//! looked leaves it standing, and so does an empty file where there was none.
//!
//! Here is only judged; the base is brought to now elsewhere.

use crate::ContentHash;
use crate::document::Document;
use crate::entry::{Base, Conflict, Entry, FileChange, is_blank};
use crate::view::DiskFile;
use ropewalk_text::Text;

/// True if the change replaces a binary file or a link: no buffer can show whether its base still
/// stands. (An editor shows under a link's name the text that it leads to.)
pub(in crate::fork) fn is_of_no_text(entry: &Entry) -> bool {
    entry.is_whole() && matches!(entry.base, Base::Binary { .. } | Base::Link { .. })
}

/// Looks at the open document, and at what the disk has ahead of it.
pub(super) fn over_buffer(entry: &mut Entry, document: &Document) -> Option<Conflict> {
    let now = document.text();
    let put_there = [Some(now), document.moved.as_ref()];
    let other = put_there.into_iter().flatten().find(|text| !was_made_of(entry, text))?;
    set_aside(entry, other.to_string())
}

/// Looks at the file that the disk has.
pub(super) fn over_disk(entry: &mut Entry, found: &DiskFile) -> Option<Conflict> {
    let is_as_it_was = match (&entry.base, found) {
        (
            Base::Disk { hash: was, .. } | Base::Binary { hash: was },
            DiskFile::Text { hash, .. } | DiskFile::Binary { hash, .. },
        ) => was == hash,
        (Base::Buffer { .. }, DiskFile::Text { text, .. }) => was_made_of(entry, text),
        (Base::Link { target: was }, DiskFile::Link { target }) => was == target,
        (Base::Absent, DiskFile::Text { text, .. }) => is_blank(text),
        (_, DiskFile::Missing) => true,
        _ => false,
    };
    let is_made = match (entry.file.as_ref().map(|(change, _)| change)?, found) {
        (
            FileChange::Binary(bytes),
            DiskFile::Binary { hash, .. } | DiskFile::Text { hash, .. },
        ) => ContentHash::of(bytes) == *hash,
        (FileChange::Link(own), DiskFile::Link { target }) => own == target,
        _ => false,
    };
    if is_as_it_was || is_made {
        return None;
    }
    set_aside(entry, in_words(found))
}

/// Looks at the open document for a text that was made where there was none.
pub(super) fn made_over_buffer(entry: &mut Entry, document: &Document) -> Vec<Conflict> {
    let mut aside = entry.give_way(document.text());
    if let Some(moved) = &document.moved {
        aside.extend(entry.give_way(moved));
    }
    aside
}

/// The same of the file that the disk has. Where it was made over what is no text, that must be there still.
pub(super) fn made_over_disk(entry: &mut Entry, found: &DiskFile) -> Vec<Conflict> {
    let is_as_it_was = match (&entry.base, found) {
        (_, DiskFile::Text { text, .. }) => return entry.give_way(text),
        (Base::Binary { hash: was }, DiskFile::Binary { hash, .. }) => was == hash,
        (Base::Link { target: was }, DiskFile::Link { target }) => was == target,
        (_, DiskFile::Missing) => true,
        _ => false,
    };
    if is_as_it_was || !entry.makes_all() {
        return Vec::new();
    }
    entry.give_way_to(&in_words(found))
}

fn in_words(found: &DiskFile) -> String {
    match found {
        DiskFile::Text { text, .. } => text.to_string(),
        DiskFile::Binary { .. } => "(a binary file)".to_owned(),
        DiskFile::Link { target } => format!("(a link to {})", target.display()),
        DiskFile::Missing => String::new(),
    }
}

/// True if the change was made of this text, as the user or as the disk had it.
fn was_made_of(entry: &Entry, text: &Text) -> bool {
    let had = match &entry.base {
        Base::Buffer { text, .. } | Base::Disk { text, .. } => Some(text),
        Base::Absent if is_blank(text) => return true,
        Base::Binary { .. } | Base::Link { .. } | Base::Absent => None,
    };
    had.into_iter().chain(&entry.disk).any(|had| had.equal_but_line_ends(text))
}

fn set_aside(entry: &mut Entry, now: String) -> Option<Conflict> {
    let (change, mark) = entry.file.take_if(|(change, _)| change.is_whole())?;
    let new = match change {
        FileChange::Binary(_) => "(a binary file)".to_owned(),
        FileChange::Link(own) => format!("(a link to {})", own.display()),
        _ => "(the file deleted)".to_owned(),
    };
    Some(Conflict { mark, old: entry.base.text().to_string(), new, now, at: None })
}
