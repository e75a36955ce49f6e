//! Functions that the file tools share: they find a path in the view, and say what is there instead.

use crate::policy::is_sensitive;
use crate::tool::ToolOutput;
use ropewalk_files::disk::{FileError, FileKind};
use ropewalk_text::Text;
use ropewalk_text::decode::{Encoding, FileFormat, Unencodable, encode};
use ropewalk_workspace::conversation::is_conversation;
use ropewalk_workspace::{FileState, Place, TextSource, View};
use std::path::PathBuf;

/// A text in the view.
pub(crate) struct ViewText {
    pub(crate) place: Place,
    pub(crate) text: Text,
    pub(crate) format: FileFormat,
}

/// Where a tool's `path` leads, and what the view has there.
pub(crate) fn look(view: &View, path: &str) -> Result<(Place, FileState), ToolOutput> {
    let place = view.named(path).map_err(ToolOutput::error)?;
    no_disguise(&place, path)?;
    let state = view.read(&place).map_err(|error| refused(&error))?;
    Ok((place, state))
}

/// The same for a file that is to be changed.
pub(crate) fn look_to_change(view: &View, path: &str) -> Result<(Place, FileState), ToolOutput> {
    let place = view.named(path).map_err(ToolOutput::error)?;
    may_change(view, &place)?;
    look(view, path)
}

/// Refuses what no tool changes, whatever the mode.
pub(crate) fn may_change(view: &View, place: &Place) -> Result<(), ToolOutput> {
    not_of_store(view, place)?;
    if is_conversation(&place.path) {
        let path = place.shown.clone();
        return Err(ToolOutput::error(FileError::OfConversation { path }));
    }
    match view.is_open_notebook(place) {
        true => Err(ToolOutput::error(FileError::OfNotebook { path: place.shown.clone() })),
        false => Ok(()),
    }
}

fn not_of_store(view: &View, place: &Place) -> Result<(), ToolOutput> {
    match view.is_of_store(place) {
        true => Err(ToolOutput::error(FileError::OfStore { path: place.shown.clone() })),
        false => Ok(()),
    }
}

/// The link that `path` itself names, and where it leads: what is to happen to a name happens to the link. None for
/// anything else.
pub(crate) fn link_itself(view: &View, path: &str) -> Result<Option<(Place, PathBuf)>, ToolOutput> {
    let Some((place, target)) = view.link_named(path) else { return Ok(None) };
    not_of_store(view, &place)?;
    let (doc, shown) = (place.doc(), &place.shown);
    let is_alias = view.entries().get(&doc).is_some_and(|own| own.place.as_ref() != Some(&place));
    if is_alias || view.buffers().contains_key(&doc) {
        return Err(ToolOutput::error(format_args!(
            "{shown} is a link to {}, and that is open in the editor, or has pending changes, under the name of the link. Name what it leads to, or ask the user to close it there first",
            target.display()
        )));
    }
    Ok(Some((place, target)))
}

/// Policy goes by names: a link that leads to what may hold secrets must be named by what it leads to.
pub(crate) fn no_disguise(place: &Place, path: &str) -> Result<(), ToolOutput> {
    if place.root.is_some() && is_sensitive(&place.shown) && !is_sensitive(path) {
        return Err(ToolOutput::error(format_args!(
            "{path} leads to {}, which may hold secrets. Name that file itself, and the user is asked",
            place.shown
        )));
    }
    Ok(())
}

/// The text at `path`, for changing it.
pub(crate) fn text_to_edit(view: &View, path: &str) -> Result<ViewText, ToolOutput> {
    let (place, state) = look_to_change(view, path)?;
    match state {
        FileState::Text { text, format, .. } => Ok(ViewText { place, text, format }),
        FileState::Binary { len } => Err(ToolOutput::error(format_args!(
            "{} is a binary file ({len} bytes), not text; only the whole of it can be replaced",
            place.shown
        ))),
        FileState::Missing => Err(missing(view, &place)),
    }
}

/// A buffer without a file has no name on the disk that could be another, or go.
pub(crate) fn no_untitled(place: &Place, what: &str) -> Result<(), ToolOutput> {
    if place.is_untitled() {
        return Err(ToolOutput::error(format_args!(
            "{} is open in the editor and has no file of its own, so there is no file to {what}. Edit its text, or write a file of your own",
            place.shown
        )));
    }
    Ok(())
}

/// A file that could not be read, in words.
pub(crate) fn refused(error: &FileError) -> ToolOutput {
    match error {
        FileError::NotAFile { path, kind: FileKind::Folder } => {
            let path = if path.is_empty() { "." } else { path };
            ToolOutput::error(format_args!(
                "{path} is a folder, not a file. List it to see what is in it"
            ))
        }
        FileError::TooLarge { path, len, limit } => ToolOutput::error(format_args!(
            "{path} has {len} bytes, more than the {limit} that are read as text. A command can read parts of it (head, tail, sed -n)"
        )),
        _ => ToolOutput::error(error),
    }
}

/// True if the fork deleted the file or gave it another name.
pub(crate) fn was_taken_away(view: &View, place: &Place) -> bool {
    let entry = view.entries().get(&view.id_of(place, view.roots()));
    entry.is_some_and(|entry| entry.content.is_none())
}

/// True if the fork gave the file another name.
pub(crate) fn was_renamed(view: &View, place: &Place) -> bool {
    view.entries().get(&view.id_of(place, view.roots())).is_some_and(|entry| entry.away)
}

/// There is no such file: says so, and which names nearby look like it.
pub(crate) fn missing(view: &View, place: &Place) -> ToolOutput {
    if was_taken_away(view, place) {
        return ToolOutput::error(format_args!(
            "There is no file {}: a pending change of yours deleted or moved it",
            place.shown
        ));
    }
    let similar = similar_names(view, place);
    let hint = match similar.as_slice() {
        [] => String::new(),
        names => format!(". Did you mean {}?", names.join(" or ")),
    };
    ToolOutput::error(format_args!("There is no file {}{hint}", place.shown))
}

/// Files in the same folder whose names are nearly the same, best first, at most three, as they are shown.
fn similar_names(view: &View, place: &Place) -> Vec<String> {
    let (Some(wanted), Some(folder)) = (place.path.file_name(), place.path.parent()) else {
        return Vec::new();
    };
    let on_disk = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let in_fork = view
        .entries()
        .iter()
        .filter(|(_, entry)| entry.content.is_some())
        .filter_map(|(id, _)| id.path())
        .filter(|path| path.parent() == Some(folder));
    let wanted = wanted.to_string_lossy().to_lowercase();
    let mut names: Vec<(f64, String)> = on_disk
        .take(10_000)
        .chain(in_fork)
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().to_lowercase();
            let score = strsim::jaro_winkler(&name, &wanted);
            if score < 0.9 {
                return None;
            }
            let place = view.roots().place_of(&path).ok()?;
            Some((score, place.shown))
        })
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    names.dedup_by(|a, b| a.1 == b.1);
    names.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Ok if a new file can be at `place` over the fork: not under a file of it, and not where it has a folder.
pub(crate) fn fits_the_fork(view: &View, place: &Place) -> Result<(), ToolOutput> {
    for (id, entry) in view.entries() {
        let (Some(path), Some(_)) = (id.path(), &entry.content) else { continue };
        if path == place.path {
            continue;
        }
        if place.path.starts_with(&path) {
            return Err(ToolOutput::error(format_args!(
                "{} can't be there: a part of its path is a file that you wrote",
                place.shown
            )));
        }
        if path.starts_with(&place.path) {
            return Err(ToolOutput::error(format_args!(
                "{} is a folder, because you wrote files into it",
                place.shown
            )));
        }
    }
    Ok(())
}

/// Words about where a text comes from; empty when it is simply the disk's.
pub(crate) fn source_words(view: &View, place: &Place, source: TextSource) -> &'static str {
    let id = view.id_of(place, view.roots());
    let unsaved = view.buffers().get(&id).is_some_and(|seen| seen.dirty);
    match (source, unsaved) {
        (TextSource::Fork, false) => "with pending changes",
        (TextSource::Fork, true) => "unsaved text of the editor, with pending changes",
        (TextSource::Buffer, true) => "unsaved text of the editor",
        (TextSource::Buffer, false) | (TextSource::Disk, _) => "",
    }
}

/// How many bytes `text` is in its file; an error when the file's encoding can't hold it.
pub(crate) fn bytes_in_file(text: &Text, format: FileFormat) -> Result<usize, Unencodable> {
    match format.encoding {
        Encoding::Utf8 => Ok(text.len() + if format.bom { 3 } else { 0 }),
        _ => encode(text, format).map(|bytes| bytes.len()),
    }
}

/// For a change that takes a file's name away: what the user should know when it has unsaved text.
pub(crate) fn unsaved_words(view: &View, place: &Place) -> &'static str {
    let id = view.id_of(place, view.roots());
    if view.buffers().get(&id).is_some_and(|seen| seen.dirty) {
        " (it has unsaved text in the editor, so the user must save it before this can be accepted)"
    } else {
        ""
    }
}
