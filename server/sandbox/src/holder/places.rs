//! Which paths of the machine a plan's commands see, and how: a list, and nothing is mounted here.

use crate::plan::Plan;
use crate::toolchains as data;
use crate::wire::WireSpec;
use std::fs;
use std::path::{Path, PathBuf};

/// The machine's tree.
pub(super) const OUTSIDE: &str = "/.ropewalk/outside";

/// How a path of the machine is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathDisplay {
    /// An empty folder, writable, kept for the session.
    Empty,
    /// As it is, but nothing in it can be written.
    ReadOnly,
    /// As it is; what is written to it goes nowhere.
    Throwaway,
    /// As it is, in earnest.
    Writable,
    /// Not at all.
    Hidden,
}

/// One path and how it is shown.
#[derive(Debug, Clone)]
pub(super) struct ShownPath {
    pub(super) path: PathBuf,
    pub(super) show: PathDisplay,
}

/// All places of a plan that are the same for all its commands, outermost first; a toolchain may be in another. What
/// is shown beside the roots is not among them.
pub(super) fn places(plan: &Plan) -> Vec<ShownPath> {
    let mut places = Vec::new();
    let mut add =
        |path: &Path, show: PathDisplay| places.push(ShownPath { path: path.to_owned(), show });
    data::TEMPORARY.iter().for_each(|path| add(Path::new(path), PathDisplay::Empty));
    data::SYSTEM.iter().for_each(|path| add(Path::new(path), PathDisplay::ReadOnly));
    let home = plan.home.as_deref();
    if let Some(home) = home {
        add(home, PathDisplay::Empty);
        data::HOME_TOOLCHAINS.iter().for_each(|name| add(&home.join(name), PathDisplay::Throwaway));
        data::HOME_SETTINGS.iter().for_each(|name| add(&home.join(name), PathDisplay::ReadOnly));
    }
    for (name, value) in &plan.environment {
        if name == "PATH" {
            std::env::split_paths(value).for_each(|path| add(&path, PathDisplay::Throwaway));
        } else if data::names_a_toolchain(name) {
            add(Path::new(value), PathDisplay::Throwaway);
        }
    }
    plan.caches.iter().for_each(|path| add(path, PathDisplay::Writable));
    let hidden = hidden(plan);
    hidden.iter().for_each(|path| add(path, PathDisplay::Hidden));
    let kept = kept(plan);
    places.retain(|place| {
        let hides = |path: &PathBuf| place.path.starts_with(path);
        place.show == PathDisplay::Hidden || kept.contains(&place.path) || !hidden.iter().any(hides)
    });
    places.retain(|place| {
        place.show != PathDisplay::Throwaway || is_fit_toolchain(&place.path, plan)
    });
    // Outermost first, and of two for one path the stricter last; a path named twice is laid once.
    places.sort_by(|a, b| {
        let depth = |place: &ShownPath| place.path.components().count();
        depth(a).cmp(&depth(b)).then_with(|| a.path.cmp(&b.path)).then_with(|| a.show.cmp(&b.show))
    });
    places.dedup_by(|a, b| a.path == b.path && a.show == b.show);
    places
}

/// Paths to lay in roots for a command, outermost first: those for all commands, and those that this one does not
/// see besides.
pub(super) fn inside(roots: &[PathBuf], of_all: &[ShownPath], spec: &WireSpec) -> Vec<ShownPath> {
    let is_inside =
        |path: &PathBuf| roots.iter().any(|root| path.starts_with(root) && path != root);
    let hidden = spec.hidden.iter().map(PathBuf::from).filter(is_inside);
    let hidden = hidden.map(|path| ShownPath { path, show: PathDisplay::Hidden });
    let mut inside: Vec<ShownPath> = of_all.iter().cloned().chain(hidden).collect();
    inside.sort_by_key(|place| place.path.components().count());
    inside
}

/// Paths seen even inside a hidden folder: roots, caches, and what is shown, because the plan names them for that.
pub(super) fn kept(plan: &Plan) -> Vec<PathBuf> {
    plan.roots.iter().chain(&plan.caches).chain(&plan.shown).cloned().collect()
}

/// True if a path lies in one of these that is written to as it stands.
pub(super) fn is_written(laid: &[ShownPath], path: &Path) -> bool {
    laid.iter().any(|place| place.show != PathDisplay::Empty && path.starts_with(&place.path))
}

/// All that is hidden: the plan's, the system's secrets, and those of the home folder and of toolchains. What is a
/// root is not.
pub(super) fn hidden(plan: &Plan) -> Vec<PathBuf> {
    let mut hidden = secrets();
    if let Some(home) = &plan.home {
        hidden.extend(data::HOME_SECRETS.iter().map(|name| home.join(name)));
    }
    let named =
        plan.environment.iter().filter(|(name, _)| name != "PATH" && data::names_a_toolchain(name));
    for folder in named.map(|(_, value)| Path::new(value)).filter(|path| path.is_absolute()) {
        hidden.extend(data::VARIABLE_SECRETS.iter().map(|name| folder.join(name)));
    }
    hidden.extend(plan.hidden.iter().cloned());
    hidden.retain(|path| !plan.roots.contains(path));
    hidden
}

/// The system's files with secrets, as they exist.
fn secrets() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for secret in data::SYSTEM_SECRETS {
        let Some(beginning) = secret.strip_suffix('*') else {
            found.push(PathBuf::from(secret));
            continue;
        };
        let beginning = Path::new(beginning);
        let (Some(folder), Some(name)) = (beginning.parent(), beginning.file_name()) else {
            continue;
        };
        let Ok(entries) = fs::read_dir(outside_path(folder)) else { continue };
        for entry in entries.flatten() {
            use std::os::unix::ffi::OsStrExt;
            if entry.file_name().as_bytes().starts_with(name.as_bytes()) {
                found.push(folder.join(entry.file_name()));
            }
        }
    }
    found
}

/// True if what a variable names may be shown: a folder of its own, not one that holds the user's things, and
/// not one that is shown already.
fn is_fit_toolchain(path: &Path, plan: &Plan) -> bool {
    let holds = |other: &Path| other.starts_with(path);
    data::is_one(path, plan.home.as_deref())
        // One that holds a root is shown: roots are laid after it.
        && !plan.roots.iter().any(|root| path.starts_with(root))
        && !plan.caches.iter().any(|cache| holds(cache) || path.starts_with(cache))
        && !data::SYSTEM.iter().chain(data::SOFTWARE).any(|system| path.starts_with(system))
}

/// Where a path of the machine is while its tree is still there.
pub(super) fn outside_path(path: &Path) -> PathBuf {
    Path::new(OUTSIDE).join(path.strip_prefix("/").unwrap_or(path))
}
