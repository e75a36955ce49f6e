//! The root that commands see: empty but for what the plan names.
//!
//! It is made once, in the holder. What lies inside the workspace's roots is laid by each command's first
//! process, over its overlays (`command.rs`). The machine's own tree stays below [`OUTSIDE`] for as long as
//! something is to be taken from it; no command's namespace keeps that.

use super::mounts::{
    During, HARMLESS, attach, attach_over, copy_of, open_inside, set_flags, special, tmpfs,
};
use super::places::{OUTSIDE, PathDisplay, ShownPath, hidden, kept, outside_path, places};
use crate::plan::Plan;
use crate::support::Upper;
use crate::toolchains as data;
use crate::wire::StepFailure;
use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, XattrFlags, mkdirat, mknodat, open, openat2,
};
use rustix::io::Errno;
use rustix::mount::{MountAttrFlags, UnmountFlags, unmount};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

/// Where the holder keeps what no command may see. Each command's namespace detaches it before the command runs.
pub(super) const PRIVATE: &str = "/.ropewalk";
/// The layers, where they are in memory.
const LAYERS: &str = "/.ropewalk/layers";
/// Home, temporary folders and what is written to toolchains.
const SCRATCH: &str = "/.ropewalk/scratch";
/// A folder with nothing in it, to lie under an overlay that needs a second layer.
pub(super) const EMPTY: &str = "/.ropewalk/scratch/empty";

/// Where each command has the files that it reads in the place of others.
pub(super) const REPLACED: &str = "/.ropewalk/scratch/replaced";

/// State that the holder keeps of the root it made.
pub(super) struct HolderRoot {
    /// The folder that holds the layers, to be opened by the server where they are in memory.
    pub(super) layers: OwnedFd,
    /// The folder of what commands have outside the roots, to be looked through by the server.
    pub(super) scratch: OwnedFd,
    pub(super) in_memory: bool,
    /// Places to be laid inside roots, outermost first.
    pub(super) inside: Vec<ShownPath>,
    /// All that is hidden, wherever it is.
    pub(super) hidden: Vec<PathBuf>,
    /// Places laid outside of roots and may be written, outermost first.
    pub(super) laid: Vec<ShownPath>,
    /// Toolchains, settings and what is in them, which each command lays; outermost first.
    pub(super) tools: Vec<ShownPath>,
    /// The path of the layer folder as the holder and, until they detach it, commands' first processes see it.
    pub(super) layers_path: PathBuf,
}

/// Makes the root and moves into it. The caller is in its own mount namespace.
pub(super) fn make(plan: &Plan) -> Result<HolderRoot, StepFailure> {
    enter_empty()?;
    let scratch =
        tmpfs(plan.limits.layer_bytes, "0755", HARMLESS).during("making the temporary folder")?;
    let layers =
        tmpfs(plan.limits.layer_bytes, "0700", HARMLESS).during("making the layer folder")?;
    for (mount, path) in [(&scratch, SCRATCH), (&layers, LAYERS)] {
        folder(Path::new(path), 0o700).during("making a private folder")?;
        attach(mount, Path::new(path)).during(format!("mounting {path}"))?;
    }
    for path in [EMPTY, REPLACED] {
        folder(Path::new(path), 0o755).during("making an empty folder")?;
    }
    let in_memory = plan.upper == Upper::Memory && has_user_attributes(Path::new(LAYERS));
    let layers_path =
        if in_memory { PathBuf::from(LAYERS) } else { outside_path(&plan.disk_layers) };
    let open_flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let layers =
        open(&layers_path, open_flags, Mode::empty()).during("opening the layer folder")?;
    let scratch =
        open(SCRATCH, open_flags, Mode::empty()).during("opening the temporary folder")?;

    let mut builder = RootBuilder { count: 0, kept: kept(plan) };
    machine_proc()?;
    devices()?;
    let mut laid = Vec::new();
    let mut inside = Vec::new();
    let mut tools: Vec<ShownPath> = Vec::new();
    let outside = open_place(OUTSIDE)?;
    let in_root = |path: &Path| plan.roots.iter().any(|root| path.starts_with(root));
    for place in places(plan) {
        if in_root(&place.path) {
            inside.push(place);
        } else if is_of_tools(&place) || tools.iter().any(|tool| place.path.starts_with(&tool.path))
        {
            tools.push(place);
        } else if builder.lay(&place, &outside)?
            && matches!(place.show, PathDisplay::Empty | PathDisplay::Writable)
        {
            laid.push(place);
        }
    }
    for root in &plan.roots {
        folder(root, 0o755).during(format!("making the place of {root:?}"))?;
    }
    for (link, root) in &plan.links {
        // Where something is shown already, or nothing can be made, that stays.
        let made = link.parent().map(|parent| folder(parent, 0o755));
        if let Some(Ok(())) = made {
            let _ = symlink(root, link);
        }
    }
    Ok(HolderRoot {
        scratch,
        layers,
        in_memory,
        inside,
        hidden: hidden(plan),
        laid,
        tools,
        layers_path,
    })
}

/// True if a place is laid by each command, with all that is in it.
fn is_of_tools(place: &ShownPath) -> bool {
    let of_system = || data::SYSTEM.iter().any(|path| place.path == Path::new(path));
    place.show == PathDisplay::Throwaway || (place.show == PathDisplay::ReadOnly && !of_system())
}

/// Opens a folder, to say which it is.
pub(super) fn open_place(path: &str) -> Result<OwnedFd, StepFailure> {
    open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .during(format!("opening {path}"))
}

/// Makes an empty tmpfs the root of this namespace, with the machine's tree below [`OUTSIDE`].
fn enter_empty() -> Result<(), StepFailure> {
    let new = tmpfs(1 << 24, "0755", HARMLESS).during("making an empty root")?;
    // Any folder will do: this namespace's mounts are nobody else's.
    let stage = ["/tmp", "/usr", "/etc"].iter().map(Path::new).find(|path| path.is_dir());
    let stage = stage
        .ok_or_else(|| StepFailure { words: "no folder to mount on".to_owned(), errno: None })?;
    attach(&new, stage).during("mounting the empty root")?;
    let private = stage.join(PRIVATE.trim_start_matches('/'));
    folder(&private, 0o700).during("making the private folder")?;
    let own = tmpfs(1 << 20, "0700", HARMLESS).during("making the private folder")?;
    attach(&own, &private).during("mounting the private folder")?;
    folder(&private.join("outside"), 0o700).during("making the place of the machine's tree")?;
    rustix::process::chdir(stage).during("entering the empty root")?;
    rustix::process::pivot_root(".", OUTSIDE.trim_start_matches('/'))
        .during("changing the root")?;
    rustix::process::chdir("/").during("entering the new root")
}

/// Makes a folder and its parents, where they are missing.
fn folder(path: &Path, mode: u32) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(mode).create(path)
}

/// True if a tmpfs takes the attributes in which an overlay without privileges keeps its marks.
fn has_user_attributes(folder: &Path) -> bool {
    let probe = rustix::fs::setxattr(folder, "user.overlay.probe", b"y", XattrFlags::empty());
    probe.is_ok() && rustix::fs::removexattr(folder, "user.overlay.probe").is_ok()
}

/// Lays places, with what it needs to know of those before.
struct RootBuilder {
    count: usize,
    kept: Vec<PathBuf>,
}

impl RootBuilder {
    /// Lays one place; false where there is nothing to lay.
    fn lay(&mut self, place: &ShownPath, outside: &OwnedFd) -> Result<bool, StepFailure> {
        let ShownPath { path, show } = place;
        let what = format!("showing {path:?}");
        if *show == PathDisplay::Empty {
            self.count += 1;
            let own = Path::new(SCRATCH).join(self.count.to_string());
            let shared = data::TEMPORARY.iter().any(|known| path == Path::new(known));
            folder(&own, if shared { 0o1777 } else { 0o700 }).during(&what)?;
            folder(path, 0o755).during(&what)?;
            let own = open(&own, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).during(&what)?;
            return copy_of(own.as_fd())
                .and_then(|copy| attach(&copy, path))
                .during(&what)
                .map(|()| true);
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
fn machine_proc() -> Result<(), StepFailure> {
    let outside = open_place(OUTSIDE)?;
    folder(Path::new("/proc"), 0o755).during("making /proc")?;
    let proc = open_inside(outside.as_fd(), Path::new("proc")).during("opening /proc")?;
    let proc = copy_of(proc.as_fd()).during("taking /proc over")?;
    attach(&proc, Path::new("/proc")).during("mounting the machine's /proc")
}

pub(super) fn is_folder(fd: &OwnedFd) -> bool {
    rustix::fs::fstat(fd).is_ok_and(|stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory
    })
}

/// Opens what something is to be mounted on, made where it is missing. What a command left may be a link to anywhere,
/// and the machine's tree is still here: no link is followed.
pub(super) fn place_for(path: &Path, is_folder: bool) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    // Nearly always it is there: one call, where the way by its names takes one for each.
    let whole = if is_folder { flags | OFlags::DIRECTORY } else { flags };
    match openat2(CWD, path, whole, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOENT) => {}
        opened => return opened,
    }
    let enter = |from: &OwnedFd, name: &OsStr, flags| {
        openat2(from, name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    };
    let made = |done: Result<(), Errno>| match done {
        Err(Errno::EXIST) | Ok(()) => Ok(()),
        Err(errno) => Err(errno),
    };
    let mut at = open("/", flags | OFlags::DIRECTORY, Mode::empty())?;
    let mut names = path.iter().skip(1).peekable();
    while let Some(name) = names.next() {
        let is_folder = is_folder || names.peek().is_some();
        let wanted = if is_folder { flags | OFlags::DIRECTORY } else { flags };
        at = match enter(&at, name, wanted) {
            Err(Errno::NOENT) => {
                made(if is_folder {
                    mkdirat(&at, name, Mode::from_raw_mode(0o755))
                } else {
                    mknodat(&at, name, FileType::RegularFile, Mode::from_raw_mode(0o644), 0)
                })?;
                enter(&at, name, wanted)
            }
            entered => entered,
        }?;
    }
    Ok(at)
}

/// Lays a place that needs nothing of the session's own; false where there is nothing to lay.
pub(super) fn lay(
    place: &ShownPath,
    kept: &[PathBuf],
    outside: &OwnedFd,
) -> Result<bool, StepFailure> {
    let ShownPath { path, show } = place;
    let what = format!("showing {path:?}");
    if *show == PathDisplay::Hidden {
        return hide(path, kept).map(|()| true);
    }
    let Ok(source) = open_inside(outside.as_fd(), path) else { return Ok(false) };
    let copy = copy_of(source.as_fd()).during(&what)?;
    let flags = match show {
        PathDisplay::Writable => HARMLESS,
        _ => HARMLESS | MountAttrFlags::MOUNT_ATTR_RDONLY,
    };
    set_flags(&copy, flags, true).during(&what)?;
    let place = place_for(path, is_folder(&source)).during(&what)?;
    attach_over(&copy, &place).during(&what)?;
    Ok(true)
}

/// Kind of cover for a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cover {
    /// It can't be opened.
    Shut,
    /// It is empty.
    Blank,
}

/// Covers a path so that it can't be opened.
fn hide(path: &Path, kept: &[PathBuf]) -> Result<(), StepFailure> {
    cover(path, kept, Cover::Shut)
}

/// Covers a path so that a program finds nothing in it: no file in a folder, no text in a file, no member in JSON.
pub(super) fn blank(path: &Path, kept: &[PathBuf]) -> Result<(), StepFailure> {
    cover(path, kept, Cover::Blank)
}

/// Covers a path, where there is something. What is kept inside it has its place in the cover.
fn cover(path: &Path, kept: &[PathBuf], with: Cover) -> Result<(), StepFailure> {
    let flags = HARMLESS | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let what = format!("hiding {path:?}");
    let Ok(there) = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
        return Ok(());
    };
    if is_folder(&there) {
        let inside = |kept: &&PathBuf| kept.starts_with(path) && *kept != path;
        let kept: Vec<_> = kept.iter().filter(inside).collect();
        let mode = match with {
            Cover::Blank => "0555",
            Cover::Shut if kept.is_empty() => "0000",
            Cover::Shut => "0711",
        };
        let cover = tmpfs(1 << 16, mode, HARMLESS).during(&what)?;
        attach(&cover, path).during(&what)?;
        for kept in kept {
            place_for(kept, !outside_path(kept).is_file()).during(&what)?;
        }
        return set_flags(&cover, MountAttrFlags::MOUNT_ATTR_RDONLY, false).during(&what);
    }
    let is_json = path.extension().is_some_and(|end| end == "json");
    let (name, text, mode) = match with {
        Cover::Shut => ("nothing", "", Mode::empty()),
        Cover::Blank if is_json => ("blank.json", "{}\n", Mode::from_raw_mode(0o444)),
        Cover::Blank => ("blank", "", Mode::from_raw_mode(0o444)),
    };
    let nothing = Path::new(SCRATCH).join(name);
    if !nothing.exists() {
        fs::write(&nothing, text).during(&what)?;
        rustix::fs::chmod(&nothing, mode).during(&what)?;
    }
    let nothing = open(&nothing, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).during(&what)?;
    let copy = copy_of(nothing.as_fd()).during(&what)?;
    set_flags(&copy, flags, true).during(&what)?;
    attach(&copy, path).during(&what)
}

/// `/dev`: a few devices, terminals of its own, and nothing else.
fn devices() -> Result<(), StepFailure> {
    let what = "making /dev";
    folder(Path::new("/dev"), 0o755).during(what)?;
    let dev = tmpfs(1 << 16, "0755", HARMLESS).during(what)?;
    attach(&dev, Path::new("/dev")).during(what)?;
    let outside = open_place(OUTSIDE)?;
    for name in data::DEVICES {
        let path = Path::new("/dev").join(name);
        let Ok(source) = open_inside(outside.as_fd(), &path) else { continue };
        let place = place_for(&path, false).during(what)?;
        let copy = copy_of(source.as_fd()).during(what)?;
        attach_over(&copy, &place).during(format!("showing {path:?}"))?;
    }
    for (name, target) in data::DEVICE_LINKS {
        symlink(target, Path::new("/dev").join(name)).during(what)?;
    }
    folder(Path::new("/dev/shm"), 0o755).during(what)?;
    folder(Path::new("/dev/pts"), 0o755).during(what)?;
    let terminals = special(
        "devpts",
        &[("ptmxmode", "0666"), ("mode", "0620")],
        MountAttrFlags::MOUNT_ATTR_NOSUID,
    )?;
    attach(&terminals, Path::new("/dev/pts")).during("mounting /dev/pts")?;
    set_flags(&dev, MountAttrFlags::MOUNT_ATTR_RDONLY, false).during("closing /dev")
}

/// Takes away what the holder alone may see. For a command's first process, in its own mount namespace.
pub(super) fn leave_private() -> Result<(), StepFailure> {
    unmount(PRIVATE, UnmountFlags::DETACH).during("leaving the machine's tree")
}
