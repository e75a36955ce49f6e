//! Paths that a command is shown beside its roots: the plan's folders, and those that the user allowed it.
//!
//! It is laid for each command, because an overlay keeps what it has once looked up, and these folders change while
//! a session lives. Through an overlay a socket or a named pipe leads to nobody, as it would through a bind mount.
//! Mounts of the session's inside a shown folder lies over it as before; roots are laid later.

use super::mounts::{
    During, HARMLESS, attach, attach_over, copy_of, open_inside, read_only_overlay, set_flags,
    tmpfs,
};
use super::places::{self, OUTSIDE, PathDisplay, ShownPath, kept};
use super::root::{self, EMPTY, REPLACED};
use super::session::Holder;
use crate::toolchains as data;
use crate::wire::{StepFailure, WireSpec};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, chmod, fstat, open, openat2};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The bytes that a file in memory takes at least; more pages than that cost nothing while they are empty.
const PAGE: usize = 1 << 16;

/// Steps at a path; of two at one path the later lies above.
enum ShownStep {
    Show,
    Hide,
    /// Mount that was there before a shown folder covered it.
    Keep(OwnedFd),
}

/// Lays all that a command is shown beside its roots, with what is hidden in it covered. `laid` is what is laid
/// already and may be written.
pub(super) fn lay(
    holder: &Holder,
    spec: &WireSpec,
    laid: &[ShownPath],
    outside: &OwnedFd,
) -> Result<(), StepFailure> {
    let plan = &holder.plan;
    let unhidden = |path: &Path| spec.unhidden.iter().any(|known| path == Path::new(known));
    let own: Vec<PathBuf> = spec.hidden.iter().map(PathBuf::from).collect();
    let hidden: Vec<&PathBuf> =
        holder.root.hidden.iter().chain(&own).filter(|path| !unhidden(path)).collect();
    let asked: Vec<PathBuf> = spec.shown.iter().map(PathBuf::from).collect();
    let mut kept = kept(plan);
    kept.extend(asked.iter().filter(|path| unhidden(path)).cloned());
    let hiding = |path: &Path| hidden_above(path, &hidden, &kept);
    refuse_hidden(&asked, &hiding)?;
    let in_root = |path: &Path| plan.roots.iter().any(|root| path.starts_with(root));
    let mut shown: Vec<PathBuf> = data::SOFTWARE.iter().map(PathBuf::from).collect();
    shown.extend(plan.shown.iter().cloned().chain(asked));
    if spec.network {
        shown.extend(resolver(outside));
    }
    // Folders written to as they stand would only lose by being shown.
    shown.retain(|path| !in_root(path) && !places::is_written(laid, path));
    shown.sort();
    shown.dedup();
    let is_shown = |path: &Path| shown.iter().any(|shown| path.starts_with(shown));

    let mut steps: Vec<(&Path, ShownStep)> = Vec::new();
    for place in laid {
        let of_home = place.show == PathDisplay::Empty
            && !data::TEMPORARY.iter().any(|path| place.path == Path::new(path));
        if is_shown(&place.path) && !of_home {
            let what = format!("keeping {:?}", place.path);
            let there = open(&place.path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
            let mount = there.and_then(|there| copy_of(there.as_fd())).during(what)?;
            steps.push((&place.path, ShownStep::Keep(mount)));
        }
    }
    steps.extend(shown.iter().map(|path| (path.as_path(), ShownStep::Show)));
    let covered = hidden.iter().filter(|path| is_shown(path) && !in_root(path));
    steps.extend(covered.map(|path| (path.as_path(), ShownStep::Hide)));
    let order = |step: &ShownStep| match step {
        ShownStep::Show => 0,
        ShownStep::Hide => 1,
        ShownStep::Keep(_) => 2,
    };
    steps.sort_by_key(|(path, step)| (path.components().count(), order(step)));
    for (path, step) in steps {
        match step {
            ShownStep::Show => show(path, outside)?,
            ShownStep::Hide => {
                root::lay(
                    &ShownPath { path: path.to_owned(), show: PathDisplay::Hidden },
                    &kept,
                    outside,
                )?;
            }
            ShownStep::Keep(mount) => match attach(&mount, path) {
                // It was in a folder that is hidden.
                Err(Errno::NOENT) => {}
                done => done.during(format!("keeping {path:?}"))?,
            },
        }
    }
    let replaced = spec.replaced.iter().map(|(path, bytes)| (Path::new(path), bytes.as_bytes()));
    let seen = replaced.filter(|(path, _)| hiding(path).is_none() && !in_root(path));
    replace(&seen.collect::<Vec<_>>())
}

/// Lays other bytes over files that the command would see, in a memory of its own that goes with it.
fn replace(files: &[(&Path, &[u8])]) -> Result<(), StepFailure> {
    if files.is_empty() {
        return Ok(());
    }
    let size = |bytes: &[u8]| bytes.len().next_multiple_of(PAGE) + PAGE;
    let all: usize = files.iter().map(|(_, bytes)| size(bytes)).sum();
    let own = tmpfs(all as u64, "0700", HARMLESS).during("making a folder for replaced files")?;
    attach(&own, Path::new(REPLACED)).during("mounting a folder for replaced files")?;
    for (number, (path, bytes)) in files.iter().enumerate() {
        let what = format!("replacing {path:?}");
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let place = match openat2(CWD, *path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // It is not shown, or went away.
            Err(Errno::NOENT | Errno::NOTDIR) => continue,
            opened => opened.during(&what)?,
        };
        let stat = fstat(&place).during(&what)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            continue;
        }
        let copy = Path::new(REPLACED).join(number.to_string());
        fs::write(&copy, bytes).during(&what)?;
        chmod(&copy, Mode::from_raw_mode(0o444)).during(&what)?;
        let copy = open(&copy, flags, Mode::empty()).during(&what)?;
        let mount = copy_of(copy.as_fd()).during(&what)?;
        set_flags(&mount, HARMLESS | MountAttrFlags::MOUNT_ATTR_RDONLY, true).during(&what)?;
        attach_over(&mount, &place).during(&what)?;
    }
    Ok(())
}

/// The hidden place that a path lies in, unless what lies between them is shown all the same.
fn hidden_above<'a>(path: &Path, hidden: &[&'a PathBuf], kept: &[PathBuf]) -> Option<&'a PathBuf> {
    let is_kept =
        |hiding: &Path| kept.iter().any(|kept| kept.starts_with(hiding) && path.starts_with(kept));
    hidden.iter().copied().find(|hiding| path.starts_with(hiding) && !is_kept(hiding))
}

fn refuse_hidden<'a>(
    asked: &[PathBuf],
    hiding: &impl Fn(&Path) -> Option<&'a PathBuf>,
) -> Result<(), StepFailure> {
    for path in asked {
        if let Some(hiding) = hiding(path) {
            let words =
                format!("{} is hidden from commands, as {} is", path.display(), hiding.display());
            return Err(StepFailure { words, errno: None });
        }
    }
    Ok(())
}

/// Shows a file or a folder of the machine. Nothing but these is shown: a socket or a named pipe is no reading
/// matter but a way to another program.
fn show(path: &Path, outside: &OwnedFd) -> Result<(), StepFailure> {
    let what = format!("showing {path:?}");
    let Ok(source) = open_inside(outside.as_fd(), path) else { return Ok(()) };
    let stat = fstat(&source).during(&what)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            let empty = root::open_place(EMPTY)?;
            // Some file systems can't lie under an overlay, and nothing can in which something is mounted.
            if let Ok(mount) = read_only_overlay(&source, &empty) {
                let place = root::place_for(path, true).during(&what)?;
                return attach_over(&mount, &place).during(&what);
            }
        }
        FileType::RegularFile => {}
        _ => return Ok(()),
    }
    root::lay(&ShownPath { path: path.to_owned(), show: PathDisplay::ReadOnly }, &[], outside)
        .map(|_| ())
}

/// The file that `/etc/resolv.conf` leads to, where that is not among what is shown anyway.
fn resolver(outside: &OwnedFd) -> impl Iterator<Item = PathBuf> {
    let found = open_inside(outside.as_fd(), Path::new("/etc/resolv.conf")).ok();
    let path = found
        .and_then(|fd| std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok())
        .and_then(|path| path.strip_prefix(OUTSIDE).map(|path| Path::new("/").join(path)).ok());
    path.filter(|path| !path.starts_with("/etc")).into_iter()
}
