//! Which paths may be touched: [`Roots`] turns what a tool or an editor calls a file into a
//! [`Place`] that is inside, or into a [`PathError`] that says why not.
//!
//! Links are resolved first and the result is judged, so a link that leads back inside works and
//! one that leads out is refused, wherever in the path it stands. Nothing is opened here: between
//! this check and the use a directory may become a link, so [`crate::disk`] opens a place by
//! following no link at all.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::DocId;
use crate::id::UNTITLED;

mod resolve;

pub use resolve::Links;
use resolve::{MAX_PATH, Trouble, resolve, too_long};

/// The folders a session may work in, and single files allowed beside them.
///
/// A value: when the editor's folders change, a new one is made. Cheap to clone. Names are unique,
/// never empty, and hold no slash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    roots: Arc<[Root]>,
    single_files: Arc<[PathBuf]>,
}

/// One folder of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    name: String,
    given: PathBuf,
    real: PathBuf,
}

impl Root {
    /// The name that paths in this root begin with, unless it is the first.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder as it was given; it may be a link.
    pub fn given(&self) -> &Path {
        &self.given
    }

    /// The folder with every link resolved, as it was when the value was made.
    pub fn path(&self) -> &Path {
        &self.real
    }
}

/// A path that was found to be inside, with no link left in it. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Absolute, links resolved.
    pub path: PathBuf,
    /// The index of its root; none for a single file allowed outside the roots.
    pub root: Option<usize>,
    /// The path from its root (empty for the root itself), or a single file's name.
    pub relative: PathBuf,
    /// How it is named to the model and the user: relative to the first root, else
    /// `ROOTNAME/…`, always with `/`. [`Roots::contain`] takes it back to this place.
    pub shown: String,
}

impl Place {
    /// The document at this place.
    pub fn doc(&self) -> DocId {
        if self.is_untitled() { DocId::from_uri(&self.shown) } else { DocId::from_path(&self.path) }
    }

    /// The place of a buffer without a file, which its URI names: no disk has it. None for any other document.
    pub fn of_untitled(id: &DocId) -> Option<Self> {
        let shown = id.is_untitled().then(|| id.as_str().to_owned())?;
        Some(Self {
            path: PathBuf::from(&shown),
            root: None,
            relative: PathBuf::from(&shown),
            shown,
        })
    }

    /// True if it is a buffer without a file.
    pub fn is_untitled(&self) -> bool {
        let has_scheme = || UNTITLED.iter().any(|scheme| self.shown.starts_with(scheme));
        self.root.is_none() && has_scheme() && !self.path.is_absolute()
    }
}

/// Why a path is refused. Each message names the path as it was given and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    /// It leads out of every root: by `..`, as an absolute path, or through a link.
    #[error("Path escapes workspace: {path} ({hint})")]
    Escapes {
        /// The path as given.
        path: String,
        /// Where paths may lead.
        hint: String,
    },
    /// It begins with `~`, which only a shell expands.
    #[error(
        "Path escapes workspace: {path} (~ is not expanded here; give a path inside the workspace, or ./{path} for a file of that name)"
    )]
    Home {
        /// The path as given.
        path: String,
    },
    /// It is a link that the fork makes, and leads out of every root.
    #[error("Path escapes workspace: {path} is a link to {target}, which is not inside")]
    Leads {
        /// The path as given.
        path: String,
        /// Target of the link, as it is written there.
        target: String,
    },
    /// It goes through one of the links of /proc, which lead anywhere.
    #[error(
        "Path escapes workspace: {path} (links in /proc are not followed; give the path itself)"
    )]
    ProcLink {
        /// The path as given.
        path: String,
    },
    /// There is no text at all.
    #[error("The path is empty; give a path such as src/main.rs, or . for the workspace itself")]
    Empty,
    /// It holds a NUL byte, which no file name can.
    #[error("The path {path} holds a NUL character, which no file name can; leave it out")]
    Nul {
        /// The path as given, with the NUL made visible.
        path: String,
    },
    /// It, or one name in it, is longer than file systems allow.
    #[error(
        "The path {path} is too long (a name may have 255 bytes, a path {MAX_PATH}); choose a shorter one"
    )]
    TooLong {
        /// The beginning of the path.
        path: String,
    },
    /// Its links lead in a circle.
    #[error("The links in {path} lead in a circle; nothing can be there")]
    Loop {
        /// The path as given.
        path: String,
    },
    /// It goes on after a file.
    #[error("The path {path} goes through a file: {file} is not a folder")]
    ThroughFile {
        /// The path as given.
        path: String,
        /// The part that is a file.
        file: String,
    },
    /// A URI that names no file here.
    #[error(
        "{uri} is not the name of a file here; give a path, or a file:// URI with # and ? written %23 and %3F"
    )]
    NotAFile {
        /// The URI as given.
        uri: String,
    },
    /// A URI of a buffer without a file that is not open.
    #[error("There is no open document {uri}; a file of that name would be ./{uri}")]
    NotOpen {
        /// The URI as given.
        uri: String,
    },
    /// The system would not say what is there.
    #[error("The path {path} can't be followed: {reason}")]
    Unreadable {
        /// The path as given.
        path: String,
        /// The system's words.
        reason: String,
    },
}

impl Roots {
    /// The roots, in order, each with the name the editor gives it. Links in them are resolved
    /// now. A name is made unique (`lib`, `lib-2`); an empty one is taken from the folder.
    pub fn new(roots: Vec<(String, PathBuf)>) -> Self {
        let mut made: Vec<Root> = Vec::with_capacity(roots.len());
        for (name, given) in roots {
            let given = std::path::absolute(&given).unwrap_or(given);
            let name = unique(&plain_name(&name, &given), &made);
            let real = resolve(&given, &Links::default()).unwrap_or_else(|_| given.clone());
            made.push(Root { name, given, real });
        }
        Self { roots: made.into(), single_files: Arc::default() }
    }

    /// No root: nothing is inside until [`Roots::with_single_files`] says so.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same roots, with exactly these files (absolute paths) allowed outside them. It replaces
    /// those allowed before.
    #[must_use]
    pub fn with_single_files(&self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let single_files = paths
            .into_iter()
            .filter(|path| path.is_absolute())
            .map(|path| resolve(&path, &Links::default()).unwrap_or(path))
            .collect();
        Self { roots: Arc::clone(&self.roots), single_files }
    }

    /// The roots in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Root> {
        self.roots.iter()
    }

    /// The root that relative paths and commands start in.
    pub fn first(&self) -> Option<&Root> {
        self.roots.first()
    }

    /// The root at an index, as [`Place::root`] has it.
    pub fn get(&self, index: usize) -> Option<&Root> {
        self.roots.get(index)
    }

    /// The place that `path` means: relative to the first root; `ROOTNAME/…` for another;
    /// absolute or a `file://` URI when it leads inside. `./NAME` is always in the first root.
    ///
    /// It need not exist: links in the part that does are resolved and the rest is appended; `..`
    /// goes to the parent of what a link leads to, as the system does it. One system call per
    /// component.
    ///
    /// # Errors
    /// A [`PathError`] when it leads out or can't name a file.
    pub fn contain(&self, path: &str) -> Result<Place, PathError> {
        self.contain_over(path, &Links::default())
    }

    /// [`Roots::contain`] where these links count before the disk's.
    ///
    /// # Errors
    /// As there.
    pub fn contain_over(&self, path: &str, over: &Links) -> Result<Place, PathError> {
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        if path.contains('\0') {
            return Err(PathError::Nul { path: path.replace('\0', "\\0") });
        }
        if path == "~" || path.starts_with("~/") {
            return Err(PathError::Home { path: path.to_owned() });
        }
        if is_uri(path) {
            let found = DocId::from_uri(path).path();
            let found = found.ok_or_else(|| PathError::NotAFile { uri: path.to_owned() })?;
            return self.judge(&found, path, over);
        }
        let given = Path::new(path);
        if given.is_absolute() {
            return self.judge(given, path, over);
        }
        if let Some((root, rest)) = self.named_root(path) {
            return self.judge(&root.real.join(rest), path, over);
        }
        match self.first() {
            Some(first) => self.judge(&first.real.join(given), path, over),
            None => self.single_file_named(path),
        }
    }

    /// The place of an absolute path, for callers that have one (editors, walkers). Links are
    /// resolved as in [`Roots::contain`].
    ///
    /// # Errors
    /// A [`PathError`] when it leads out or can't name a file.
    pub fn place_of(&self, path: &Path) -> Result<Place, PathError> {
        self.place_over(path, &Links::default())
    }

    /// The place of a name itself: links above it are followed, one that it is itself is not. For what makes,
    /// removes or shows links.
    ///
    /// # Errors
    /// As in [`Roots::place_of`].
    pub fn place_of_name(&self, path: &Path) -> Result<Place, PathError> {
        self.name_over(path, &Links::default())
    }

    /// [`Roots::place_of_name`] where these links count before the disk's.
    ///
    /// # Errors
    /// As there.
    pub fn name_over(&self, path: &Path, over: &Links) -> Result<Place, PathError> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return self.place_of(path);
        };
        let said = path.to_string_lossy();
        if too_long(path) {
            return Err(PathError::TooLong { path: beginning(&said) });
        }
        if said.contains('\0') || !path.is_absolute() {
            return self.place_of(path);
        }
        let above = resolve(above, over).map_err(|_| self.escapes(&said))?;
        self.place(above.join(name)).ok_or_else(|| self.escapes(&said))
    }

    /// The place at a path below a root, as it is: nothing is asked of the system, and no link is followed. None if
    /// there is no such root, or the path holds anything but names.
    pub fn place_in(&self, root: usize, relative: &Path) -> Option<Place> {
        let names = |part: Component<'_>| matches!(part, Component::Normal(_));
        let path = self.roots.get(root)?.real.join(relative);
        let plain = relative.components().all(names) && !too_long(&path);
        plain.then(|| self.place(path)).flatten()
    }

    /// [`Roots::place_of`] where these links count before the disk's.
    ///
    /// # Errors
    /// As there.
    pub fn place_over(&self, path: &Path, over: &Links) -> Result<Place, PathError> {
        let said = path.to_string_lossy();
        if path.as_os_str().is_empty() {
            return Err(PathError::Empty);
        }
        if said.contains('\0') {
            return Err(PathError::Nul { path: said.replace('\0', "\\0") });
        }
        if !path.is_absolute() {
            return Err(self.escapes(&said));
        }
        self.judge(path, &said, over)
    }

    /// True if a resolved path is one of the single files.
    pub(crate) fn allows_single(&self, path: &Path) -> bool {
        self.single_files.iter().any(|file| file == path)
    }

    /// Follows an absolute path and says where it is.
    fn judge(&self, path: &Path, said: &str, over: &Links) -> Result<Place, PathError> {
        if too_long(path) {
            return Err(PathError::TooLong { path: beginning(said) });
        }
        let resolved = resolve(path, over);
        let target = over.target(path);
        let path = said.to_owned();
        match resolved {
            Ok(real) => self.place(real).ok_or_else(|| match target {
                Some(target) => PathError::Leads { path, target: target.display().to_string() },
                None => self.escapes(said),
            }),
            // Places outside are not described, except where that is the reason itself.
            Err((Trouble::ProcLink, _)) => Err(PathError::ProcLink { path }),
            Err((_, at)) if self.place(at.clone()).is_none() => Err(self.escapes(said)),
            Err((Trouble::Loop, _)) => Err(PathError::Loop { path }),
            Err((Trouble::TooLong, _)) => Err(PathError::TooLong { path: beginning(said) }),
            Err((Trouble::ThroughFile, at)) => {
                let file = self.place(at).map_or_else(String::new, |place| place.shown);
                Err(PathError::ThroughFile { path, file })
            }
            Err((Trouble::Other(reason), _)) => Err(PathError::Unreadable { path, reason }),
        }
    }

    /// The place of a path in which every link is resolved already, or is meant itself: in the first root if it
    /// can be, else in the innermost. None outside, and for a path with `.` or `..` in it. Asks the system nothing.
    pub fn place(&self, path: PathBuf) -> Option<Place> {
        let is_dots = |part| matches!(part, Component::ParentDir | Component::CurDir);
        let plain = path.to_str().filter(|path| is_plain(path));
        let found = match plain {
            Some(path) => self.plainly_below(path),
            None if path.components().any(is_dots) => return None,
            None => self.below(&path),
        };
        if let Some((index, relative)) = found {
            let names = match relative.to_str() {
                Some(names) if plain.is_some() => Some(names.to_owned()),
                _ => joined(&relative),
            };
            let shown = self.shown(index, names, &path);
            return Some(Place { path, root: Some(index), relative, shown });
        }
        if !self.allows_single(&path) {
            return None;
        }
        let relative = PathBuf::from(path.file_name()?);
        let shown = match path.to_str() {
            Some(text) => text.to_owned(),
            None => DocId::from_path(&path).to_uri(),
        };
        Some(Place { path, root: None, relative, shown })
    }

    /// A whole path for people, with the links in it as they are. None outside the roots. Asks the system nothing.
    pub fn name(&self, path: &Path) -> Option<String> {
        let as_given = |root: &Root| Some(root.real.join(path.strip_prefix(&root.given).ok()?));
        let ways = std::iter::once(path.to_owned()).chain(self.roots.iter().filter_map(as_given));
        ways.filter_map(|path| self.place(path)).map(|place| place.shown).next()
    }

    /// The index of a path's root, and the path from there.
    fn below(&self, path: &Path) -> Option<(usize, PathBuf)> {
        let inside = |(index, root): (usize, &Root)| {
            let relative = path.strip_prefix(&root.real).ok()?;
            Some((index, root.real.components().count(), relative))
        };
        let found = self.roots.iter().enumerate().filter_map(inside);
        let best = found.max_by_key(|(index, depth, _)| (*index == 0, *depth));
        best.map(|(index, _, relative)| (index, relative.to_path_buf()))
    }

    /// The same of a plain path. A command may bring thousands, so it is only compared.
    fn plainly_below(&self, path: &str) -> Option<(usize, PathBuf)> {
        let inside = |(index, root): (usize, &Root)| {
            let root = root.real.to_str()?;
            let rest = path.strip_prefix(root.strip_suffix('/').unwrap_or(root))?;
            let relative = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
            Some((index, root.len(), relative))
        };
        let found = self.roots.iter().enumerate().filter_map(inside);
        let best = found.max_by_key(|(index, len, _)| (*index == 0, *len));
        best.map(|(index, _, relative)| (index, PathBuf::from(relative)))
    }

    /// The name of a place, such that `contain` leads back to it.
    /// `names` are those from the root, with slashes; None if one is no text.
    fn shown(&self, index: usize, names: Option<String>, path: &Path) -> String {
        let (Some(joined), Some(root)) = (names, self.roots.get(index)) else {
            // A name that is no text is shown as a URI, which can say it.
            return DocId::from_path(path).to_uri();
        };
        match (index, joined.as_str()) {
            (0, "") => ".".to_owned(),
            (0, _) => {
                let taken = match self.named_root(&joined) {
                    Some((other, rest)) => other.real.join(rest) != path,
                    None => is_uri(&joined) || joined == "~" || joined.starts_with("~/"),
                };
                if taken { format!("./{joined}") } else { joined }
            }
            (_, "") => root.name.clone(),
            _ => format!("{}/{joined}", root.name),
        }
    }

    /// The root other than the first that a relative path begins with, and the rest of the path.
    fn named_root<'a>(&self, path: &'a str) -> Option<(&Root, &'a Path)> {
        // `./lib` must stay in the first root, and `Path` would drop its dot later on.
        if self.roots.len() < 2 {
            return None;
        }
        let mut parts = Path::new(path).components();
        let Some(Component::Normal(name)) = parts.next() else { return None };
        let root = self.roots.iter().skip(1).find(|root| *name == *root.name.as_str())?;
        Some((root, parts.as_path()))
    }

    /// Without roots a single file may be called by its name alone, when only one has it.
    fn single_file_named(&self, path: &str) -> Result<Place, PathError> {
        let mut named = self.single_files.iter().filter(|file| file.ends_with(path));
        match (named.next(), named.next()) {
            (Some(file), None) => self.judge(file, path, &Links::default()),
            _ => Err(self.escapes(path)),
        }
    }

    fn escapes(&self, path: &str) -> PathError {
        let hint = match (self.roots.as_ref(), self.single_files.as_ref()) {
            ([], []) => "no folder is open, so no path is inside".to_owned(),
            ([], _) => "no folder is open; only the open documents may be used".to_owned(),
            ([only], _) => {
                format!("give a path relative to {}, without leaving it", only.given.display())
            }
            ([first, others @ ..], _) => {
                let names: Vec<String> =
                    others.iter().map(|root| format!("{}/", root.name)).collect();
                let names = names.join(", ");
                format!(
                    "give a path relative to {}, or one that begins with {names}",
                    first.given.display()
                )
            }
        };
        PathError::Escapes { path: path.to_owned(), hint }
    }
}

/// True if an absolute path is one slash and one name in turns, and no name is dots. It serves
/// where a slash separates names.
fn is_plain(path: &str) -> bool {
    let bytes = path.as_bytes();
    let ends = |at: usize| matches!(bytes.get(at), None | Some(b'/'));
    let is_name = |at: usize| match bytes.get(at) {
        None | Some(b'/') => false,
        Some(b'.') if bytes.get(at + 1) == Some(&b'.') => !ends(at + 2),
        Some(b'.') => !ends(at + 1),
        Some(_) => true,
    };
    let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    cfg!(unix) && bytes.first() == Some(&b'/') && slashes.into_iter().all(|(at, _)| is_name(at + 1))
}

/// The names of a relative path with one slash between them; None if one is no text.
fn joined(relative: &Path) -> Option<String> {
    let names = relative.components().map(|part| part.as_os_str().to_str());
    names.collect::<Option<Vec<&str>>>().map(|names| names.join("/"))
}

/// True if a tool's path is meant as a URI: `file:/…`, `untitled:…` or `vscode-notebook-cell:…` in
/// any case, or any `scheme://`.
fn is_uri(path: &str) -> bool {
    if is_untitled_uri(path) {
        return true;
    }
    let Some((scheme, rest)) = path.split_once(':') else { return false };
    let is_scheme = scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric());
    is_scheme
        && (rest.starts_with("//") || scheme.eq_ignore_ascii_case("file") && rest.starts_with('/'))
}

/// True if a tool's path is meant as the URI of a buffer without a file.
pub fn is_untitled_uri(path: &str) -> bool {
    let begins = |scheme: &&str| {
        path.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    UNTITLED.iter().any(begins)
}

/// The first part of a path that is too long to be repeated whole.
fn beginning(path: &str) -> String {
    let mut text: String = path.chars().take(80).collect();
    if text.len() < path.len() {
        text.push('…');
    }
    text
}

/// A root's name: without slashes, and not one that a path can't begin with; else its folder's.
fn plain_name(name: &str, path: &Path) -> String {
    let usable = |name: &str| !matches!(name, "" | "." | ".." | "~") && !name.ends_with(':');
    let folder = path.file_name().unwrap_or_default().to_string_lossy();
    [name, folder.as_ref()]
        .into_iter()
        .map(|name| name.replace(['/', '\\', '\0'], "-"))
        .find(|name| usable(name))
        .unwrap_or_else(|| "root".to_owned())
}

fn unique(name: &str, made: &[Root]) -> String {
    let taken = |name: &str| made.iter().any(|root| root.name == name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken(name))
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_plain_path_is_below_the_same_root_either_way() {
        let all = ["/w", "/w/lib", "/w/lib", "/v", "/v/one/../two", "/v/one/"];
        let paths = [
            "/",
            "/w",
            "/w/",
            "/w//a",
            "/w/./a",
            "/w/a/",
            "/w/a",
            "/wa",
            "/w/lib",
            "/w/lib/a",
            "/w/liba",
            "/w/.git/a",
            "/w/..a",
            "/v/one/a",
            "/v/one",
            "/v/two/a",
            "/v/one/é 日/b",
            "w/a",
            "",
            "/x/y",
        ];
        for roots in [&all[..], &all[1..], &["/"], &["/v", "/"], &[]] {
            let root =
                |path: &&str| Root { name: "r".into(), given: path.into(), real: path.into() };
            let roots = Roots { roots: roots.iter().map(root).collect(), ..Roots::default() };
            for path in paths {
                let below = roots.below(Path::new(path));
                if is_plain(path) {
                    assert_eq!(roots.plainly_below(path), below, "{path} in {roots:?}");
                }
                let place = roots.place(PathBuf::from(path));
                let relative = place.as_ref().map(|place| place.relative.as_path());
                let is_dots = Path::new(path).components().any(|part| part == Component::ParentDir);
                assert_eq!(
                    relative,
                    below.as_ref().map(|(_, relative)| relative.as_path()).filter(|_| !is_dots)
                );
                if let (Some(place), Some((0, relative))) = (&place, &below) {
                    let names = joined(relative).unwrap();
                    assert_eq!(place.shown, if names.is_empty() { "." } else { &names }, "{path}");
                }
            }
        }
    }
}
