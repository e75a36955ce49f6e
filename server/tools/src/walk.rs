//! The files of the view under a folder: the disk's without ignored ones, over them open buffers and the fork.
//!
//! No link is followed, and no file is read here but rules and git's index. `.gitignore`, `.ignore` and git's own exclude
//! files count, with or without a repository, but for files that git tracks all the same; `.git` and its like are never
//! entered. The fork's own files are there even if ignored. Folders outside the roots that may be read, such as a loaded
//! skill's, are looked into only where `path` leads there.

use crate::blocking::StopSignal;
use crate::files::{missing, no_disguise, refused};
use crate::tool::ToolOutput;
use ignore::{DirEntry, WalkBuilder};
use ropewalk_files::tracked::TrackedFiles;
use ropewalk_workspace::conversation::CONVERSATION;
use ropewalk_workspace::{DocId, Place, Roots, View};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ropewalk_files::repository::is_in_store;
pub use ropewalk_files::repository::is_store_name;

/// A file of the view.
#[derive(Clone, Debug)]
pub(crate) struct ViewFile<'a> {
    pub(crate) place: Place,
    /// The roots that it is in.
    pub(crate) roots: &'a Roots,
    /// Its path below the folder it was looked for in; empty when it was named itself.
    pub(crate) below: PathBuf,
}

/// Where to look, and in which roots that is: the place that a tool's `path` names, or every root.
fn starts<'a>(view: &'a View, path: Option<&str>) -> Result<(Vec<Place>, &'a Roots), ToolOutput> {
    match path {
        Some(path) => {
            let found = match view.named(path) {
                // As the folder of a loaded skill.
                Err(_) if Path::new(path).is_absolute() => view.contain_readable(path),
                found => found.map(|place| (place, view.roots())),
            };
            let (place, roots) = found.map_err(ToolOutput::error)?;
            no_disguise(&place, path)?;
            Ok((vec![place], roots))
        }
        None => {
            let roots = view.roots().iter().map(|root| view.roots().place_of(root.path()));
            let all = roots.collect::<Result<_, _>>().map_err(ToolOutput::error)?;
            Ok((all, view.roots()))
        }
    }
}

/// A walk over a folder that leaves out what is ignored, and the conversation.
pub fn walker(folder: &Path) -> WalkBuilder {
    let mut walker = WalkBuilder::new(folder);
    walker.hidden(false).require_git(false).filter_entry(|entry| {
        !is_store_name(entry.file_name()) && entry.file_name() != CONVERSATION
    });
    walker
}

/// The entries below a folder that git tracks although its rules ignore them, and that `is_known` doesn't know: of the
/// repository that the folder is in. `has_ignore`: without those that `.ignore` names. Walks the disk.
pub fn tracked_besides(
    folder: &Path,
    has_ignore: bool,
    is_known: impl Fn(&Path) -> bool,
) -> Vec<DirEntry> {
    let Some(top) = folder.ancestors().find(|folder| folder.join(".git").exists()) else {
        return Vec::new();
    };
    let tracked = TrackedFiles::of(top);
    let below = folder.strip_prefix(top).unwrap_or(Path::new(""));
    let all = tracked.below(below).filter(|path| !is_in_store(path)).map(|path| top.join(path));
    let is_there = |path: &PathBuf| !is_known(path) && path.symlink_metadata().is_ok();
    let mut wanted: HashSet<PathBuf> = all.filter(is_there).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    for path in wanted.clone() {
        let above = path.ancestors().skip(1).take_while(|above| *above != folder);
        wanted.extend(above.map(Path::to_owned));
    }
    let mut walker = walker(folder);
    walker.ignore(has_ignore).git_ignore(false).git_global(false).git_exclude(false);
    walker.filter_entry(move |entry| wanted.contains(entry.path()));
    walker.build().skip(1).flatten().collect()
}

/// The names of all files of a view as they are shown, in order; those that are ignored are left out. Walks the disk.
pub fn names(view: &View) -> Vec<String> {
    let found = files(view, None, &StopSignal::default()).unwrap_or_default();
    found.into_iter().map(|file| file.place.shown).collect()
}

/// The files under `path`, or in all roots, sorted by the names they are shown with.
///
/// # Errors
/// When `path` leads nowhere.
pub(crate) fn files<'a>(
    view: &'a View,
    path: Option<&str>,
    stop: &StopSignal,
) -> Result<Vec<ViewFile<'a>>, ToolOutput> {
    let mut found: HashMap<PathBuf, ViewFile<'_>> = HashMap::new();
    let (starts, roots) = starts(view, path)?;
    let is_outside = !std::ptr::eq(roots, view.roots());
    let overlay: Vec<(Place, bool)> = overlay(view);
    for start in &starts {
        if !start.is_untitled() {
            on_disk(roots, (start, is_outside), stop, &mut found);
        }
        for (place, has_text) in &overlay {
            let Ok(below) = place.path.strip_prefix(&start.path) else { continue };
            if *has_text {
                let (place, below) = (place.clone(), below.to_owned());
                let candidate = ViewFile { place, roots, below };
                found.insert(candidate.place.path.clone(), candidate);
            } else {
                found.remove(&place.path);
            }
        }
        let is_folder = !start.is_untitled() && start.path.is_dir();
        if found.is_empty() && path.is_some() && !is_folder {
            return Err(match view.read_in(start, roots) {
                Err(error) => refused(&error),
                Ok(_) => missing(view, start),
            });
        }
    }
    if starts.is_empty() {
        // No folder is open: the open files are all there is.
        found.extend(overlay.into_iter().filter(|(_, has_text)| *has_text).map(|(place, _)| {
            let below = place.relative.clone();
            (place.path.clone(), ViewFile { place, roots, below })
        }));
    }
    if path.is_none() {
        // Documents without a file are in no folder.
        let untitled = view.buffers().keys().filter_map(Place::of_untitled);
        found.extend(untitled.map(|place| {
            let below = place.relative.clone();
            (place.path.clone(), ViewFile { place, roots, below })
        }));
    }
    let mut found: Vec<ViewFile<'_>> = found.into_values().collect();
    found.sort_by(|a, b| a.place.shown.cmp(&b.place.shown));
    Ok(found)
}

/// Places that lie over the disk, each with true if it has a text, false if it takes the file away.
fn overlay(view: &View) -> Vec<(Place, bool)> {
    let place = |id: &DocId| match Place::of_untitled(id) {
        Some(place) => Some(place),
        None => view.roots().place_of(&id.path()?).ok(),
    };
    // An open file that is on the disk is found there, or is ignored.
    let buffers = view
        .buffers()
        .keys()
        .filter(|id| !view.entries().contains_key(*id))
        .filter_map(place)
        .filter(|place| place.root.is_none() || !place.path.exists())
        .map(|place| (place, true));
    // A link is no file to look into: what it leads to is found where it is.
    let entries =
        view.entries().values().filter_map(|entry| Some((entry.place.clone()?, entry.is_file())));
    buffers.chain(entries).collect()
}

/// The disk's files under `start`, which may be a file itself. Outside the open folders they are shown by their whole
/// paths, and what lies above `start` says nothing of what is ignored.
fn on_disk<'a>(
    roots: &'a Roots,
    (start, is_outside): (&Place, bool),
    stop: &StopSignal,
    found: &mut HashMap<PathBuf, ViewFile<'a>>,
) {
    let mut folder: Option<Place> = None;
    let mut add = |entry: DirEntry, found: &mut HashMap<PathBuf, ViewFile<'a>>| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let path = entry.into_path();
        let Some(mut place) = place(roots, &path, &mut folder).filter(|_| is_file) else { return };
        if is_outside {
            place.shown = path.to_string_lossy().into_owned();
        }
        let below = path.strip_prefix(&start.path).unwrap_or(Path::new("")).to_owned();
        // Another root may hold it too, and shows it by the same name.
        found.entry(path).or_insert(ViewFile { place, roots, below });
    };
    let entries = walker(&start.path).parents(!is_outside).build();
    for entry in entries.take_while(|_| !stop.is_set()).flatten() {
        add(entry, found);
    }
    if !is_outside && !stop.is_set() {
        let besides = tracked_besides(&start.path, true, |path| found.contains_key(path));
        besides.into_iter().for_each(|entry| add(entry, found));
    }
}

/// The place of a walked file. Its folder's place is kept for the next one, since finding it asks the system.
fn place(roots: &Roots, path: &Path, folder: &mut Option<Place>) -> Option<Place> {
    let parent = path.parent()?;
    if folder.as_ref().is_none_or(|known| known.path != parent) {
        *folder = roots.place_of(parent).ok().filter(|place| place.path == parent);
    }
    let (known, name) = (folder.as_ref(), path.file_name()?.to_str());
    match (known, name) {
        // In a root itself a name can need a prefix to be told from another root's.
        (Some(known), Some(name)) if !known.relative.as_os_str().is_empty() => Some(Place {
            path: path.to_owned(),
            root: known.root,
            relative: known.relative.join(name),
            shown: format!("{}/{name}", known.shown),
        }),
        _ => roots.place_of(path).ok(),
    }
}
