//! The root that commands see: empty but for what the plan names.
//!
//! It is made once, in the holder. What lies inside the workspace's roots is laid by each command's first
//! process, over its overlays (`command.rs`). The machine's own tree stays below [`OUTSIDE`] for as long as
//! something is to be taken from it; no command's namespace keeps that.

use super::mounts::{
    During, HARMLESS, attach, copy_of, open_inside, overlay, set_flags, special, tmpfs,
};
use crate::plan::Plan;
use crate::support::Upper;
use crate::toolchains as data;
use crate::wire::Failure;
use rustix::fs::{Mode, OFlags, XattrFlags, open};
use rustix::mount::{MountAttrFlags, UnmountFlags, unmount};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

/// Where the holder keeps what no command may see. Each command's namespace detaches it before the command runs.
pub(super) const PRIVATE: &str = "/.ropewalk";
/// The machine's tree.
pub(super) const OUTSIDE: &str = "/.ropewalk/outside";
/// The layers, where they are in memory.
const LAYERS: &str = "/.ropewalk/layers";
/// Home, temporary folders and what is written to toolchains.
const SCRATCH: &str = "/.ropewalk/scratch";

/// Folders that every program may write to, empty at first.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/run", "/dev/shm"];

/// How a path of the machine is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Show {
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
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) show: Show,
}

/// What the holder keeps of the root it made.
pub(super) struct Root {
    /// The folder that holds the layers, to be opened by the server where they are in memory.
    pub(super) layers: OwnedFd,
    pub(super) in_memory: bool,
    /// What is to be laid inside roots, outermost first.
    pub(super) inside: Vec<Place>,
    /// All that is hidden, wherever it is.
    pub(super) hidden: Vec<PathBuf>,
    /// Where commands may write, besides roots.
    pub(super) writable: Vec<PathBuf>,
    /// The path of the layer folder as the holder and, until they detach it, commands' first processes see it.
    pub(super) layers_path: PathBuf,
}

/// Makes the root and moves into it. The caller is in its own mount namespace.
pub(super) fn make(plan: &Plan) -> Result<Root, Failure> {
    enter_empty()?;
    let scratch =
        tmpfs(plan.limits.layer_bytes, "0755", HARMLESS).during("making the temporary folder")?;
    let layers =
        tmpfs(plan.limits.layer_bytes, "0700", HARMLESS).during("making the layer folder")?;
    for (mount, path) in [(&scratch, SCRATCH), (&layers, LAYERS)] {
        folder(Path::new(path), 0o700).during("making a private folder")?;
        attach(mount, Path::new(path)).during(format!("mounting {path}"))?;
    }
    let in_memory = plan.upper == Upper::Memory && has_user_attributes(Path::new(LAYERS));
    let layers_path =
        if in_memory { PathBuf::from(LAYERS) } else { outside_path(&plan.disk_layers) };
    let open_flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let layers =
        open(&layers_path, open_flags, Mode::empty()).during("opening the layer folder")?;

    let mut builder =
        Builder { count: 0, thrown: layers_path.join(".toolchains"), kept: kept(plan) };
    machine_proc()?;
    devices()?;
    let mut writable = vec![PathBuf::from("/dev")];
    let mut inside = Vec::new();
    let outside = open_place(OUTSIDE)?;
    let in_root = |path: &Path| plan.roots.iter().any(|root| path.starts_with(root));
    for place in places(plan) {
        if in_root(&place.path) {
            inside.push(place);
            continue;
        }
        if builder.lay(&place, &outside)?
            && matches!(place.show, Show::Empty | Show::Throwaway | Show::Writable)
        {
            writable.push(place.path);
        }
    }
    for root in &plan.roots {
        folder(root, 0o755).during(format!("making the place of {root:?}"))?;
    }
    Ok(Root { layers, in_memory, inside, hidden: hidden(plan), writable, layers_path })
}

/// Where a path of the machine is while its tree is still there.
pub(super) fn outside_path(path: &Path) -> PathBuf {
    Path::new(OUTSIDE).join(path.strip_prefix("/").unwrap_or(path))
}

/// Opens a folder, to say which it is.
pub(super) fn open_place(path: &str) -> Result<OwnedFd, Failure> {
    open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .during(format!("opening {path}"))
}

/// Makes an empty tmpfs the root of this namespace, with the machine's tree below [`OUTSIDE`].
fn enter_empty() -> Result<(), Failure> {
    let new = tmpfs(1 << 24, "0755", HARMLESS).during("making an empty root")?;
    // Any folder will do: this namespace's mounts are nobody else's.
    let stage = ["/tmp", "/usr", "/etc"].iter().map(Path::new).find(|path| path.is_dir());
    let stage =
        stage.ok_or_else(|| Failure { words: "no folder to mount on".to_owned(), errno: None })?;
    attach(&new, stage).during("mounting the empty root")?;
    let private = stage.join(PRIVATE.trim_start_matches('/'));
    fs::create_dir(&private).during("making the private folder")?;
    let own = tmpfs(1 << 20, "0700", HARMLESS).during("making the private folder")?;
    attach(&own, &private).during("mounting the private folder")?;
    fs::create_dir(private.join("outside")).during("making the place of the machine's tree")?;
    rustix::process::chdir(stage).during("entering the empty root")?;
    rustix::process::pivot_root(".", OUTSIDE.trim_start_matches('/'))
        .during("changing the root")?;
    rustix::process::chdir("/").during("entering the new root")
}

/// Makes a folder and its parents, where they are missing.
fn folder(path: &Path, mode: u32) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(mode).create(path)
}

/// Whether a tmpfs takes the attributes in which an overlay without privileges keeps its marks.
fn has_user_attributes(folder: &Path) -> bool {
    let probe = rustix::fs::setxattr(folder, "user.overlay.probe", b"y", XattrFlags::empty());
    probe.is_ok() && rustix::fs::removexattr(folder, "user.overlay.probe").is_ok()
}

/// All places of a plan besides the system's, outermost first.
fn places(plan: &Plan) -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |path: &Path, show: Show| places.push(Place { path: path.to_owned(), show });
    TEMPORARY.iter().for_each(|path| add(Path::new(path), Show::Empty));
    data::SYSTEM.iter().for_each(|path| add(Path::new(path), Show::ReadOnly));
    let home = plan.home.as_deref();
    if let Some(home) = home {
        add(home, Show::Empty);
        data::HOME_TOOLCHAINS.iter().for_each(|name| add(&home.join(name), Show::Throwaway));
        data::HOME_SETTINGS.iter().for_each(|name| add(&home.join(name), Show::ReadOnly));
    }
    for (name, value) in &plan.environment {
        if name == "PATH" {
            std::env::split_paths(value).for_each(|path| add(&path, Show::Throwaway));
        } else if crate::toolchains::names_a_toolchain(name) {
            let path = Path::new(value);
            add(path, Show::Throwaway);
            data::VARIABLE_SECRETS.iter().for_each(|name| add(&path.join(name), Show::Hidden));
        }
    }
    plan.shown.iter().for_each(|path| add(path, Show::ReadOnly));
    plan.caches.iter().for_each(|path| add(path, Show::Writable));
    hidden(plan).iter().for_each(|path| add(path, Show::Hidden));
    let kept = kept(plan);
    let hidden = &plan.hidden;
    places.retain(|place| {
        let hides = |path: &PathBuf| place.path.starts_with(path);
        place.show == Show::Hidden || kept.contains(&place.path) || !hidden.iter().any(hides)
    });
    places.retain(|place| place.show != Show::Throwaway || is_fit_toolchain(&place.path, plan));
    // Outermost first, and of two for one path the stricter last; a path named twice is laid once.
    places.sort_by(|a, b| {
        let depth = |place: &Place| place.path.components().count();
        depth(a).cmp(&depth(b)).then_with(|| a.path.cmp(&b.path)).then_with(|| a.show.cmp(&b.show))
    });
    places.dedup_by(|a, b| a.path == b.path && a.show == b.show);
    places
}

/// What stands even inside a hidden folder: roots, and caches, because the plan names them for that.
pub(super) fn kept(plan: &Plan) -> Vec<PathBuf> {
    plan.roots.iter().chain(&plan.caches).cloned().collect()
}

/// All that is hidden: the plan's, the system's secrets, and those of the home folder.
pub(super) fn hidden(plan: &Plan) -> Vec<PathBuf> {
    let mut hidden = secrets();
    if let Some(home) = &plan.home {
        hidden.extend(data::HOME_SECRETS.iter().map(|name| home.join(name)));
    }
    hidden.extend(plan.hidden.iter().cloned());
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

/// Whether what a variable names may be shown: a folder of its own, not one that holds the user's things, and
/// not one that is shown already.
fn is_fit_toolchain(path: &Path, plan: &Plan) -> bool {
    let holds = |other: &Path| other.starts_with(path);
    let plain = path.is_absolute()
        && path.components().count() > 2
        && !path.components().any(|part| part == std::path::Component::ParentDir);
    plain
        && !plan.home.as_deref().is_some_and(holds)
        && !plan.roots.iter().any(|root| holds(root) || path.starts_with(root))
        && !plan.caches.iter().any(|cache| holds(cache) || path.starts_with(cache))
        && !data::SYSTEM.iter().any(|system| path.starts_with(system))
        && !["/tmp", "/var/tmp", "/run", "/dev", "/proc", "/var/run"]
            .iter()
            .any(|p| holds(Path::new(p)))
}

/// What lays places, with what it needs to know of those before.
struct Builder {
    count: usize,
    thrown: PathBuf,
    kept: Vec<PathBuf>,
}

impl Builder {
    /// Lays one place; false where there is nothing to lay.
    fn lay(&mut self, place: &Place, outside: &OwnedFd) -> Result<bool, Failure> {
        let Place { path, show } = place;
        let what = format!("showing {path:?}");
        if *show == Show::Empty {
            self.count += 1;
            let own = Path::new(SCRATCH).join(self.count.to_string());
            let shared = TEMPORARY.iter().any(|known| path == Path::new(known));
            folder(&own, if shared { 0o1777 } else { 0o700 }).during(&what)?;
            folder(path, 0o755).during(&what)?;
            let own = open(&own, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).during(&what)?;
            return copy_of(own.as_fd())
                .and_then(|copy| attach(&copy, path))
                .during(&what)
                .map(|()| true);
        }
        if *show == Show::Throwaway {
            let Ok(lower) = open_inside(outside.as_fd(), path) else { return Ok(false) };
            self.count += 1;
            let own = self.thrown.join(self.count.to_string());
            if is_folder(&lower) && throwaway(&lower, &own, path).is_ok() {
                return Ok(true);
            }
        }
        let link = fs::read_link(outside_path(path)).ok();
        if let Some(target) =
            link.filter(|_| data::SYSTEM.iter().any(|known| path == Path::new(known)))
        {
            // `/bin` is a link to `usr/bin` here as outside.
            if let Some(parent) = path.parent() {
                folder(parent, 0o755).during(&what)?;
            }
            return symlink(target, path).during(&what).map(|()| true);
        }
        lay(place, &self.kept, outside)
    }
}

/// The machine's `/proc`, for as long as the holder needs it: the kernel lets a namespace mount its own where
/// one can be seen already. Each command's own covers it.
fn machine_proc() -> Result<(), Failure> {
    let outside = open_place(OUTSIDE)?;
    fs::create_dir("/proc").during("making /proc")?;
    let proc = open_inside(outside.as_fd(), Path::new("proc")).during("opening /proc")?;
    let proc = copy_of(proc.as_fd()).during("taking /proc over")?;
    attach(&proc, Path::new("/proc")).during("mounting the machine's /proc")
}

fn is_folder(fd: &OwnedFd) -> bool {
    rustix::fs::fstat(fd).is_ok_and(|stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory
    })
}

/// Lays an overlay whose upper layer nobody reads.
fn throwaway(lower: &OwnedFd, own: &Path, path: &Path) -> Result<(), Failure> {
    let (up, work) = (own.join("up"), own.join("work"));
    let opened = |path: &Path| {
        folder(path, 0o755).during("making a layer")?;
        open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).during("opening a layer")
    };
    let mount = overlay(lower, &opened(&up)?, &opened(&work)?)?;
    place_for(path, true).during("making its place")?;
    attach(&mount, path).during("mounting it")
}

/// Makes what something can be mounted on.
fn place_for(path: &Path, is_folder: bool) -> io::Result<()> {
    if is_folder {
        return folder(path, 0o755);
    }
    if let Some(parent) = path.parent() {
        folder(parent, 0o755)?;
    }
    match fs::OpenOptions::new().create_new(true).write(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Lays a place that needs nothing of the session's own; false where there is nothing to lay.
pub(super) fn lay(place: &Place, kept: &[PathBuf], outside: &OwnedFd) -> Result<bool, Failure> {
    let Place { path, show } = place;
    let what = format!("showing {path:?}");
    if *show == Show::Hidden {
        return hide(path, kept).map(|()| true);
    }
    let Ok(source) = open_inside(outside.as_fd(), path) else { return Ok(false) };
    let copy = copy_of(source.as_fd()).during(&what)?;
    let flags = match show {
        Show::Writable => HARMLESS,
        _ => HARMLESS | MountAttrFlags::MOUNT_ATTR_RDONLY,
    };
    set_flags(&copy, flags, true).during(&what)?;
    place_for(path, is_folder(&source)).during(&what)?;
    attach(&copy, path).during(&what)?;
    Ok(true)
}

/// Covers a path, where there is something. What is kept inside it has its place in the cover.
fn hide(path: &Path, kept: &[PathBuf]) -> Result<(), Failure> {
    let flags = HARMLESS | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let what = format!("hiding {path:?}");
    let Ok(there) = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
        return Ok(());
    };
    if is_folder(&there) {
        let kept: Vec<_> = kept.iter().filter(|kept| kept.starts_with(path)).collect();
        let mode = if kept.is_empty() { "0000" } else { "0711" };
        let cover = tmpfs(1 << 16, mode, HARMLESS).during(&what)?;
        attach(&cover, path).during(&what)?;
        for kept in kept {
            folder(kept, 0o711).during(&what)?;
        }
        return set_flags(&cover, MountAttrFlags::MOUNT_ATTR_RDONLY, false).during(&what);
    }
    let nothing = Path::new(SCRATCH).join("nothing");
    if !nothing.exists() {
        fs::write(&nothing, b"").during(&what)?;
        rustix::fs::chmod(&nothing, Mode::empty()).during(&what)?;
    }
    let nothing = open(&nothing, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).during(&what)?;
    let copy = copy_of(nothing.as_fd()).during(&what)?;
    set_flags(&copy, flags, true).during(&what)?;
    attach(&copy, path).during(&what)
}

/// `/dev`: a few devices, terminals of its own, and nothing else.
fn devices() -> Result<(), Failure> {
    let what = "making /dev";
    fs::create_dir("/dev").during(what)?;
    let dev = tmpfs(1 << 16, "0755", HARMLESS).during(what)?;
    attach(&dev, Path::new("/dev")).during(what)?;
    let outside = open_place(OUTSIDE)?;
    for name in data::DEVICES {
        let path = Path::new("/dev").join(name);
        let Ok(source) = open_inside(outside.as_fd(), &path) else { continue };
        place_for(&path, false).during(what)?;
        let copy = copy_of(source.as_fd()).during(what)?;
        attach(&copy, &path).during(format!("showing {path:?}"))?;
    }
    for (name, target) in data::DEVICE_LINKS {
        symlink(target, Path::new("/dev").join(name)).during(what)?;
    }
    fs::create_dir("/dev/shm").during(what)?;
    fs::create_dir("/dev/pts").during(what)?;
    let terminals = special(
        "devpts",
        &[("ptmxmode", "0666"), ("mode", "0620")],
        MountAttrFlags::MOUNT_ATTR_NOSUID,
    )?;
    attach(&terminals, Path::new("/dev/pts")).during("mounting /dev/pts")?;
    set_flags(&dev, MountAttrFlags::MOUNT_ATTR_RDONLY, false).during("closing /dev")
}

/// Takes away what the holder alone may see. For a command's first process, in its own mount namespace.
pub(super) fn leave_private() -> Result<(), Failure> {
    unmount(PRIVATE, UnmountFlags::DETACH).during("leaving the machine's tree")
}
