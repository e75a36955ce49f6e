//! The paths of a call as rules see them: where they lead, and how they were written.
//!
//! Looking that up is done here, once, before policy decides; deciding asks the system nothing.

use super::pattern::fold;
use crate::tool::Subject;
use ropewalk_workspace::{Place, View};

/// A path that a call names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPath {
    /// As the model wrote it.
    written: String,
    /// Where it leads, links and dots resolved: as it is shown, from its root, absolute. Empty when it leads
    /// nowhere that may be touched.
    place: Vec<String>,
    /// All of them, what it was written as, and the places where its content stood before, in the form in which no
    /// spelling differs.
    folded: Vec<String>,
    /// The places where its content stood before it was moved.
    former: Vec<String>,
}

impl NamedPath {
    /// A path of which only the text is known: for calls that are not looked up in a view.
    pub fn written(path: &str) -> Self {
        Self::new(path, Vec::new())
    }

    /// A path and the place it leads to.
    pub fn at(written: &str, place: &Place) -> Self {
        let mut names = vec![place.shown.clone()];
        for path in [&place.relative, &place.path] {
            let name = path.to_string_lossy().into_owned();
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        Self::new(written, names)
    }

    fn new(written: &str, place: Vec<String>) -> Self {
        let plain = without_dots(written);
        let mut folded: Vec<String> = Vec::new();
        for name in place.iter().chain([&plain]) {
            let name = fold(name);
            if !folded.contains(&name) {
                folded.push(name);
            }
        }
        // A path that can't be looked up is known by its text alone.
        let place = if place.is_empty() && plain == written { vec![plain] } else { place };
        Self { written: written.to_owned(), place, folded, former: Vec::new() }
    }

    /// The same, where the content of the file stood at these places before: what keeps those from being read keeps it.
    #[must_use]
    pub fn formerly(mut self, places: &[Place]) -> Self {
        for place in places {
            let before = Self::at(&place.shown, place);
            self.folded.extend(before.folded);
            self.former.push(place.shown.clone());
        }
        self
    }

    /// The places where its content stood before.
    pub(super) fn former(&self) -> impl Iterator<Item = &str> {
        self.former.iter().map(String::as_str)
    }

    /// As the model wrote it.
    pub fn as_written(&self) -> &str {
        &self.written
    }

    /// Names that an allow rule may match: the place alone.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.place.iter().map(String::as_str)
    }

    /// Names that a deny rule may match.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &str> {
        self.folded.iter().map(String::as_str)
    }
}

/// Where the paths of a call lead. One system call per component of each.
pub fn named_paths(subject: &Subject, view: &View) -> Vec<NamedPath> {
    let named = |path: &String| match view.contain_readable(path) {
        Ok((place, _)) => NamedPath::at(path, &place).formerly(&view.former_places(&place)),
        Err(_) => NamedPath::written(path),
    };
    subject.paths.iter().map(named).collect()
}

/// A path by its text alone: without `.`, doubled slashes, and folders that `..` leaves again.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let plain = parts.join("/");
    match (path.starts_with('/'), plain.is_empty()) {
        (true, _) => format!("/{plain}"),
        (false, true) => ".".to_owned(),
        (false, false) => plain,
    }
}
