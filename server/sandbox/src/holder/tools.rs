//! Toolchains and settings of the user's: as they are, and what a command writes to them goes nowhere.
//!
//! They are laid for each command, because the user installs and upgrades programs while a session lives, and an
//! overlay keeps what it has once looked up. In memory that takes 0.03 ms for each (0.2 on a busy machine). What was
//! written to one lies in the command's layer, so that the next of that layer finds it; commands of other layers begin
//! with what those of the session's first have written. Where layers lie on a disk, it takes 5 to 20 ms for each, most
//! of it for writing the last one's out, and all commands share what is laid once: there, what is installed while a
//! session lives may stay unseen by it.

use super::mounts::{attach_over, open_inside, overlay_of_several};
use super::places::{self, PathDisplay, ShownPath, kept};
use super::root::{self, is_folder, place_for};
use super::session::Holder;
use crate::plan::Plan;
use crate::wire::{StepFailure, WireSpec};
use rustix::fs::{AtFlags, Mode, OFlags, open, statat};
use std::collections::HashMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The folder of a layer for what is written to toolchains, by their numbers.
const OWN: &str = ".toolchains";
/// Name that stands for a layer where all commands share one; no layer is called that.
const ALL: &str = ".all";

/// Lays them for a command of this layer, with what the plan shows or hides in them, and covers the keys that were
/// found in them, but for those that it may see; gives those that may be written.
pub(super) fn lay_for(holder: &Holder, spec: &WireSpec) -> Result<Vec<ShownPath>, StepFailure> {
    let laid = if holder.root.in_memory { lay(holder, &spec.layer)? } else { Vec::new() };
    let kept = kept(&holder.plan);
    let is_seen = |path: &Path| {
        spec.unhidden.iter().any(|known| path == Path::new(known))
            || holder.plan.roots.iter().any(|root| path.starts_with(root))
    };
    for path in holder.keys.found().filter(|path| !is_seen(path)) {
        root::blank(path, &kept)?;
    }
    Ok(laid)
}

/// Lays them for all commands, where that is not done for each.
pub(super) fn lay_for_all(holder: &mut Holder) -> Result<(), StepFailure> {
    if !holder.root.in_memory {
        let laid = lay(holder, ALL)?;
        holder.root.laid.extend(laid);
    }
    Ok(())
}

fn lay(holder: &Holder, layer: &str) -> Result<Vec<ShownPath>, StepFailure> {
    let outside = &root::open_place(places::OUTSIDE)?;
    let kept = kept(&holder.plan);
    let mut laid: Vec<ShownPath> = Vec::new();
    let mut there = There::new(outside, &holder.plan);
    for (number, place) in holder.root.tools.iter().enumerate() {
        // Most are not there; what is hidden may be there by another's hand.
        if place.show != PathDisplay::Hidden && !there.may_have(&place.path) {
            continue;
        }
        let done = match place.show {
            // One overlay for a toolchain and the folders in it, so that files can be moved between them.
            PathDisplay::Throwaway if laid.iter().any(|other| is_thrown_in(other, &place.path)) => {
                false
            }
            PathDisplay::Throwaway => {
                throwaway(holder, layer, number, &place.path, outside).is_some()
                    || root::lay(place, &kept, outside).unwrap_or(false)
            }
            // Where a command's own things are in its place, it is left out, like what does not exist.
            PathDisplay::ReadOnly => {
                let _ = root::lay(place, &kept, outside);
                false
            }
            // A tool that finds its settings shut gives up, and goes on where they are empty.
            PathDisplay::Hidden => {
                root::blank(&place.path, &kept)?;
                false
            }
            PathDisplay::Empty | PathDisplay::Writable => root::lay(place, &kept, outside)?,
        };
        if done {
            laid.push(place.clone());
        }
    }
    Ok(laid)
}

/// Which names the machine's home has now, without a look-up for each.
pub(super) struct There<'a> {
    outside: &'a OwnedFd,
    home: Option<&'a Path>,
    /// Folders of the home; None where there is none.
    folders: HashMap<PathBuf, Option<OwnedFd>>,
}

impl<'a> There<'a> {
    pub(super) fn new(outside: &'a OwnedFd, plan: &'a Plan) -> Self {
        Self { outside, home: plan.home.as_deref(), folders: HashMap::new() }
    }

    /// False when a path is in the home and nothing is there, not even a link that leads nowhere.
    pub(super) fn may_have(&mut self, path: &Path) -> bool {
        let (Some(home), Some(parent), Some(name)) = (self.home, path.parent(), path.file_name())
        else {
            return true;
        };
        if !parent.starts_with(home) {
            return true;
        }
        let folder = self.folder(parent);
        folder.is_some_and(|folder| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    }

    fn folder(&mut self, path: &Path) -> Option<&OwnedFd> {
        if !self.folders.contains_key(path) {
            let found = self.may_have(path).then(|| open_inside(self.outside.as_fd(), path).ok());
            self.folders.insert(path.to_owned(), found.flatten());
        }
        self.folders.get(path)?.as_ref()
    }
}

fn is_thrown_in(place: &ShownPath, path: &Path) -> bool {
    place.show == PathDisplay::Throwaway && path.starts_with(&place.path)
}

/// Lays an overlay whose upper layer nobody reads; none where that can't be.
fn throwaway(
    holder: &Holder,
    layer: &str,
    number: usize,
    path: &Path,
    outside: &OwnedFd,
) -> Option<()> {
    let lower = open_inside(outside.as_fd(), path).ok().filter(is_folder)?;
    let written = |layer: &str| {
        holder.root.layers_path.join(layer).join(OWN).join(number.to_string()).join("up")
    };
    let opened = |path: &Path| open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok();
    let up = written(layer);
    let work = up.with_file_name("work");
    fs::create_dir_all(&up).and_then(|()| fs::create_dir_all(&work)).ok()?;
    let first = holder.first_layer.as_deref().filter(|first| *first != layer);
    let beneath = first.and_then(|first| opened(&written(first)));
    let lower: Vec<OwnedFd> = beneath.into_iter().chain([lower]).collect();
    let mount = overlay_of_several(&lower, &opened(&up)?, &opened(&work)?).ok()?;
    attach_over(&mount, &place_for(path, true).ok()?).ok()
}
