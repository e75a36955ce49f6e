//! Toolchains and settings of the user's: as they are, and what a command writes to them goes nowhere.
//!
//! They are laid for each command, because the user installs and upgrades programs while a session lives, and an
//! overlay keeps what it has once looked up. In memory that takes 0.03 ms for each (0.2 on a busy machine). What was
//! written to one lies in the command's layer, so that the next of that layer finds it; commands of other layers begin
//! with what those of the session's first have written. Where layers lie on a disk, it takes 5 to 20 ms for each, most
//! of it for writing the last one's out, and all commands share what is laid once: there, what is installed while a
//! session lives may stay unseen by it.

use super::Holder;
use super::mounts::{attach_over, open_inside, overlay_of_several};
use super::places::{Place, Show, kept};
use super::root::{self, is_folder, place_for};
use crate::wire::Failure;
use rustix::fs::{Mode, OFlags, open};
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The folder of a layer for what is written to toolchains, by their numbers.
const OWN: &str = ".toolchains";
/// What stands for a layer where all commands share one; no layer is called that.
const ALL: &str = ".all";

/// Lays them for a command of this layer, with what the plan shows or hides in them; gives those that may be written.
pub(super) fn lay_for(holder: &Holder, layer: &str) -> Result<Vec<Place>, Failure> {
    if holder.root.in_memory { lay(holder, layer) } else { Ok(Vec::new()) }
}

/// Lays them for all commands, where that is not done for each.
pub(super) fn lay_for_all(holder: &mut Holder) -> Result<(), Failure> {
    if !holder.root.in_memory {
        let laid = lay(holder, ALL)?;
        holder.root.laid.extend(laid);
    }
    Ok(())
}

fn lay(holder: &Holder, layer: &str) -> Result<Vec<Place>, Failure> {
    let outside = &root::open_place(root::OUTSIDE)?;
    let kept = kept(&holder.plan);
    let mut laid: Vec<Place> = Vec::new();
    for (number, place) in holder.root.tools.iter().enumerate() {
        let done = match place.show {
            // One overlay for a toolchain and the folders in it, so that files can be moved between them.
            Show::Throwaway if laid.iter().any(|other| is_thrown_in(other, &place.path)) => false,
            Show::Throwaway => {
                throwaway(holder, layer, number, &place.path, outside).is_some()
                    || root::lay(place, &kept, outside).unwrap_or(false)
            }
            // Where a command's own things are in its place, it is left out, like what does not exist.
            Show::ReadOnly => {
                let _ = root::lay(place, &kept, outside);
                false
            }
            Show::Empty | Show::Writable | Show::Hidden => root::lay(place, &kept, outside)?,
        };
        if done && place.show != Show::Hidden {
            laid.push(place.clone());
        }
    }
    Ok(laid)
}

fn is_thrown_in(place: &Place, path: &Path) -> bool {
    place.show == Show::Throwaway && path.starts_with(&place.path)
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
