//! Another layer like this one, for a command in the background that has a view of its own.
//!
//! Ignored files come along, because commands built them for the next one. The view is written
//! there by `materialise` like in any layer.

use super::folder::{DEEPEST, Folder, Stamp, StampKind};
use super::{Layer, LayerEntry, RootLayer};
use std::io;
use std::path::{Path, PathBuf};

/// The most bytes of ignored files that come along.
const MOST: u64 = 256 << 20;

/// Bytes in which a file takes room.
const BLOCK: u64 = 4_096;

impl Layer {
    /// An empty layer over the same roots in `folder`, with a copy of what commands left in this one and is no
    /// proposal: ignored files, up to `most` bytes and 256 MiB. What doesn't fit is left out, and the next command in
    /// it is told.
    /// Blocking; no command of this layer may run meanwhile.
    ///
    /// # Errors
    /// The system's.
    pub fn fork_to(&self, folder: &Path, most: u64) -> io::Result<Self> {
        let roots: Vec<PathBuf> = self.roots.iter().map(|own| own.root.clone()).collect();
        let mut made = match self.copy {
            Some(most) => Self::copy(folder, &roots, most)?,
            None => Self::open(folder, &roots)?,
        };
        made.scratch.clone_from(&self.scratch);
        let mut left = 0;
        let mut room = most.min(MOST);
        for (own, new) in self.roots.iter().zip(&mut made.roots) {
            let (from, to) = (Folder::ours(&own.up)?, Folder::ours(&new.up)?);
            let mut copy = Copy { own, new, room: &mut room, left: &mut left };
            copy.folder(Path::new(""), &from, &to, 0)?;
        }
        if left > 0 {
            made.told.push(format!(
                "{left} ignored files that earlier commands made were too large to be copied for this one, so it does without them"
            ));
        }
        Ok(made)
    }
}

/// The room that a copy of a file takes.
fn room_of(found: &Stamp) -> u64 {
    found.len.checked_next_multiple_of(BLOCK).unwrap_or(found.len)
}

struct Copy<'a> {
    own: &'a RootLayer,
    new: &'a mut RootLayer,
    room: &'a mut u64,
    left: &'a mut usize,
}

impl Copy<'_> {
    fn folder(&mut self, path: &Path, from: &Folder, to: &Folder, depth: usize) -> io::Result<()> {
        for name in from.names()? {
            let path = path.join(&name);
            let held = self.own.held.get(&path);
            let is_left = matches!(held, Some(LayerEntry::Left { .. }));
            let Some(found) = from.look(&name)? else { continue };
            match found.kind {
                StampKind::Folder if depth < DEEPEST => {
                    let inner = from.enter(&name)?;
                    let made = to.make(&name, found.mode)?;
                    to.own_like(&name, &found);
                    if held.is_none() && inner.is_opaque() {
                        made.set_opaque(true)?;
                    }
                    self.folder(&path, &inner, &made, depth + 1)?;
                    to.set_mtime(&name, found.mtime)?;
                    // Without anything in it, it is only in the way of the disk's, unless it is new.
                    if inner.names()?.is_empty() != made.names()?.is_empty() {
                        to.remove_empty(&name);
                    }
                }
                _ if held.is_some() && !is_left => {}
                StampKind::File if room_of(&found) <= *self.room => {
                    *self.room -= room_of(&found);
                    from.copy(&name, to, &name)?;
                    to.own_like(&name, &found);
                }
                StampKind::Link => to.put_link(&name, &from.read_link(&name)?)?,
                StampKind::Gone => to.mark_gone(&name)?,
                // Nobody listens at these any more.
                StampKind::Pipe | StampKind::Socket | StampKind::Device => {}
                StampKind::File | StampKind::Folder => *self.left += 1,
            }
            if is_left && let Some(stamp) = to.look(&name)? {
                self.new.held.insert(path, LayerEntry::Left { stamp });
            }
        }
        Ok(())
    }
}
