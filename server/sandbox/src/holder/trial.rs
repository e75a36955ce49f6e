//! Tries what this machine can do by doing it, on a small folder made for that.

use super::command::lay_root;
use super::mounts::During;
use super::{limits, places, root, set_up};
use crate::plan::{Limits, Plan};
use crate::support::{Abilities, Upper};
use crate::wire::StepFailure;
use std::fs;
use std::path::Path;

/// Sets everything up as for a session whose root is `folder`/root, and writes through an overlay.
pub(super) fn attempt(folder: &Path) -> Result<Abilities, StepFailure> {
    let real = folder.join("root");
    let plan = Plan {
        roots: vec![real.clone()],
        disk_layers: folder.join("layers"),
        limits: Limits { layer_bytes: 1 << 22, ..Limits::default() },
        ..Plan::default()
    };
    let holder = set_up(plan)?;
    let layer = holder.root.layers_path.join("trial").join("0");
    fs::create_dir_all(layer.join("up")).during("making a layer")?;
    fs::create_dir_all(layer.join("work")).during("making a layer")?;
    let outside = root::open_place(places::OUTSIDE)?;
    lay_root(&holder, "trial", &outside, 0, &real)?;
    fs::write(real.join("file"), "new").during("writing through an overlay")?;
    fs::remove_dir_all(real.join("folder")).during("removing a folder through an overlay")?;
    fs::create_dir(real.join("folder")).during("replacing a folder through an overlay")?;
    let replaced = fs::read_dir(real.join("folder")).during("reading through an overlay")?;
    let written = fs::read_to_string(real.join("file")).during("reading through an overlay")?;
    let beneath = places::outside_path(&real);
    let untouched =
        fs::read_to_string(beneath.join("file")).during("reading beneath an overlay")?;
    if replaced.count() != 0 || written != "new" || untouched != "old" {
        let words = "an overlay did not keep what was written to it apart".to_owned();
        return Err(StepFailure { words, errno: None });
    }
    let upper = if holder.root.in_memory { Upper::Memory } else { Upper::Disk };
    Ok(Abilities { upper, landlock: limits::landlock_abi() })
}
