//! The files of the view under a folder: the disk's without ignored ones, over them open buffers and the fork.
//!
//! No link is followed and nothing is opened here. `.gitignore`, `.ignore` and git's own exclude files count,
//! with or without a repository; `.git` itself is never entered. What the fork made is there even if ignored.

use crate::blocking::Stop;
use crate::files::{missing, no_disguise, refused};
use crate::tool::ToolOutput;
use ignore::WalkBuilder;
use ropewalk_workspace::{DocId, Place, Roots, View};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A file of the view.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) place: Place,
    /// Its path below the folder it was looked for in; empty when it was named itself.
    pub(crate) below: PathBuf,
}

/// Where to look: the place that a tool's `path` names, or every root.
pub(crate) fn starts(view: &View, path: Option<&str>) -> Result<Vec<Place>, ToolOutput> {
    match path {
        Some(path) => {
            let place = view.named(path).map_err(ToolOutput::error)?;
            no_disguise(&place, path)?;
            Ok(vec![place])
        }
        None => {
            let roots = view.roots().iter().map(|root| view.roots().place_of(root.path()));
            roots.collect::<Result<_, _>>().map_err(ToolOutput::error)
        }
    }
}

/// A walk over a folder that leaves out what is ignored.
pub fn walker(folder: &Path) -> WalkBuilder {
    let mut walker = WalkBuilder::new(folder);
    walker.hidden(false).require_git(false).filter_entry(|entry| entry.file_name() != ".git");
    walker
}

/// The names of all files of a view as they are shown, in order; those that are ignored are left out. Walks the disk.
pub fn names(view: &View) -> Vec<String> {
    let found = files(view, None, &Stop::default()).unwrap_or_default();
    found.into_iter().map(|file| file.place.shown).collect()
}

/// The files under `path`, or in all roots, sorted by the names they are shown with.
///
/// # Errors
/// When `path` leads nowhere.
pub(crate) fn files(
    view: &View,
    path: Option<&str>,
    stop: &Stop,
) -> Result<Vec<Candidate>, ToolOutput> {
    let mut found: HashMap<PathBuf, Candidate> = HashMap::new();
    let starts = starts(view, path)?;
    let overlay: Vec<(Place, bool)> = overlay(view);
    for start in &starts {
        if !start.is_untitled() {
            on_disk(view.roots(), start, stop, &mut found);
        }
        for (place, has_text) in &overlay {
            let Ok(below) = place.path.strip_prefix(&start.path) else { continue };
            if *has_text {
                let candidate = Candidate { place: place.clone(), below: below.to_owned() };
                found.insert(place.path.clone(), candidate);
            } else {
                found.remove(&place.path);
            }
        }
        let is_folder = !start.is_untitled() && start.path.is_dir();
        if found.is_empty() && path.is_some() && !is_folder {
            return Err(match view.read(start) {
                Err(error) => refused(&error),
                Ok(_) => missing(view, start),
            });
        }
    }
    if starts.is_empty() {
        // No folder is open: the open files are all there is.
        found.extend(overlay.into_iter().filter(|(_, has_text)| *has_text).map(|(place, _)| {
            let below = place.relative.clone();
            (place.path.clone(), Candidate { place, below })
        }));
    }
    if path.is_none() {
        // Those without a file are in no folder.
        let untitled = view.buffers().keys().filter_map(Place::of_untitled);
        found.extend(untitled.map(|place| {
            let below = place.relative.clone();
            (place.path.clone(), Candidate { place, below })
        }));
    }
    let mut found: Vec<Candidate> = found.into_values().collect();
    found.sort_by(|a, b| a.place.shown.cmp(&b.place.shown));
    Ok(found)
}

/// What lies over the disk, and whether it has a text or takes the file away.
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

/// The disk's files under `start`, which may be a file itself.
fn on_disk(roots: &Roots, start: &Place, stop: &Stop, found: &mut HashMap<PathBuf, Candidate>) {
    let mut folder: Option<Place> = None;
    for entry in walker(&start.path).build().flatten() {
        if stop.is_set() {
            return;
        }
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.into_path();
        let Some(place) = place(roots, &path, &mut folder) else { continue };
        let below = path.strip_prefix(&start.path).unwrap_or(Path::new("")).to_owned();
        // Another root may hold it too, and shows it by the same name.
        found.entry(path).or_insert(Candidate { place, below });
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
