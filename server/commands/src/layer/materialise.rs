//! Writing a view into a layer: what a command is to see and the disk has not.
//!
//! Every open document is written, clean ones too: the disk may change under a command, and a result on a file that
//! moved meanwhile would bring the user's own lines a second time. What stands already is left alone, the same file
//! with the same time, so that tools that compare times see one only where a content changed.

mod content;
mod copied;
mod outside;
mod parents;

use super::accounts;
use super::copy::CopiedFiles;
use super::folder::{Folder, Moment, Stamp, StampKind};
use super::hidden_paths::HiddenPaths;
use super::notes::{list, plain};
use super::{BuildInputs, Layer, LayerEntry, LayerError, LayerUpdate, RootLayer};
use content::LayerContent;
use ropewalk_text::Text;
use ropewalk_text::decode::FileFormat;
use ropewalk_workspace::View;
use ropewalk_workspace::view::{LARGEST_FILE, OverlayContent, OverlayFile};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Demand on one path of the layer.
struct PathDemand {
    stands: DemandedContent,
    mode: Option<u32>,
    /// True if commands were ever shown, or are now, something else than the disk's file.
    differs: bool,
}

enum DemandedContent {
    Missing,
    Text(Text, FileFormat),
    Bytes(std::sync::Arc<[u8]>),
    Link(PathBuf),
    /// The disk's file at this path.
    Disk(PathBuf),
}

type PathDemands = BTreeMap<PathBuf, PathDemand>;

impl Layer {
    /// Writes what the view has and the disk has not into the layer, with every open document and what was ever
    /// dirty; takes away what is no longer so. Blocking.
    ///
    /// # Errors
    /// [`LayerError`]; the layer may show a part of the view then, and a later call mends it.
    pub fn materialise(
        &mut self,
        view: &View,
        ever: &mut BuildInputs,
    ) -> Result<LayerUpdate, LayerError> {
        let mut copied = self.find_copied()?;
        for (own, copied) in self.roots.iter().zip(&mut copied) {
            copied.retain(|path, _| !self.veil.covers(&own.root.join(path)));
        }
        let is_copy = self.copy.is_some();
        let wants = self.wants(view);
        let mut out = LayerUpdate { changed: 0, told: std::mem::take(&mut self.told) };
        let mut unreadable = Vec::new();
        let open = |own: &RootLayer| {
            let below = Folder::disk(&own.root).map_err(LayerError::at(&own.root))?;
            Ok::<_, LayerError>((own.root.clone(), below))
        };
        let disks: Vec<(PathBuf, Folder)> =
            self.roots.iter().map(open).collect::<Result<_, _>>()?;
        let mut unseen: Vec<String> = Vec::new();
        let parts = self.roots.iter_mut().zip(wants).zip(&disks).zip(&copied);
        for (((own, mut wants), (_, below)), copied) in parts {
            for path in ever.below(&own.root) {
                let Ok(relative) = path.strip_prefix(&own.root) else { continue };
                wants.entry(relative.to_owned()).or_insert_with(|| PathDemand {
                    stands: DemandedContent::Disk(path.to_owned()),
                    mode: None,
                    differs: true,
                });
            }
            // A missing file is no secret, and the disk's file in its place is covered.
            wants.retain(|path, want| {
                matches!(want.stands, DemandedContent::Missing)
                    || !self.veil.covers(&own.root.join(path))
            });
            let up = Folder::ours(&own.up).map_err(LayerError::at(&own.up))?;
            let disks = disks.as_slice();
            let left = Vec::new();
            let mut writer = Writer { own, up, below, disks, ever, out: &mut out, left, is_copy };
            writer.take_away(&wants, copied).map_err(LayerError::at(&writer.own.up))?;
            // In a copy nothing shows through.
            if !is_copy && !writer.renew(&wants).map_err(LayerError::at(&writer.own.root))? {
                unseen.push(writer.own.root.display().to_string());
            }
            for (path, want) in &wants {
                writer
                    .stand(path, want, &wants)
                    .map_err(LayerError::at(&writer.own.root.join(path)))?;
            }
            for path in std::mem::take(&mut writer.left) {
                unreadable.push(plain(&path));
                wants.remove(&path);
            }
            writer.copy(copied, &wants).map_err(LayerError::at(&writer.own.root))?;
            let veil = &self.veil;
            writer.redact(veil, &wants).map_err(LayerError::at(&writer.own.root))?;
        }
        if !unseen.is_empty() && !std::mem::replace(&mut self.has_unseen, true) {
            out.told.push(not_looked_through(&unseen));
        }
        if !unreadable.is_empty() {
            out.told.push(as_on_disk(unreadable));
        }
        Ok(out)
    }

    /// The view's own files, for each root.
    fn wants(&self, view: &View) -> Vec<PathDemands> {
        let mut wants: Vec<PathDemands> = self.roots.iter().map(|_| PathDemands::new()).collect();
        for material in view.materials() {
            let Some((index, path)) = self.locate(&material.place.path) else { continue };
            if let Some(wants) = wants.get_mut(index) {
                wants.insert(path.to_owned(), want(material));
            }
        }
        wants
    }
}

fn not_looked_through(roots: &[String]) -> String {
    format!(
        "{} holds too many files to find out what was built outside since: a tool that goes by file times may take old output for new. Build everything anew where that matters (make -B)",
        roots.join(", ")
    )
}

fn as_on_disk(files: Vec<String>) -> String {
    format!(
        "can't be read or is larger than {} MB, so commands have it as it is on the disk: {}",
        LARGEST_FILE >> 20,
        list(files)
    )
}

fn want(material: OverlayFile) -> PathDemand {
    let stands = match material.stands {
        OverlayContent::Missing => DemandedContent::Missing,
        OverlayContent::Text(text, format) => DemandedContent::Text(text, format),
        OverlayContent::Bytes(bytes) => DemandedContent::Bytes(bytes),
        OverlayContent::OnDisk(place) => DemandedContent::Disk(place.path),
        OverlayContent::Link(target) => DemandedContent::Link(target),
    };
    PathDemand { stands, mode: material.mode, differs: material.differs }
}

struct Writer<'a> {
    own: &'a mut RootLayer,
    up: Folder,
    /// The root itself.
    below: &'a Folder,
    /// All roots, for what was moved from one to another.
    disks: &'a [(PathBuf, Folder)],
    ever: &'a mut BuildInputs,
    out: &'a mut LayerUpdate,
    /// Files that should be as the disk has them, and can't be read there.
    left: Vec<PathBuf>,
    is_copy: bool,
}

impl Writer<'_> {
    /// Removes what we know of in the layer and nothing wants any more: the disk's file shows again.
    fn take_away(&mut self, wants: &PathDemands, copied: &CopiedFiles) -> io::Result<()> {
        let is_missing = |path: &PathBuf| {
            matches!(wants.get(path), Some(PathDemand { stands: DemandedContent::Missing, .. }))
        };
        let mut stale: Vec<PathBuf> = Vec::new();
        for (path, held) in &self.own.held {
            let stays = match held {
                LayerEntry::Left { .. } => true,
                LayerEntry::Gone { hides, .. } | LayerEntry::Opaque { hides }
                    if !hides.is_empty() =>
                {
                    hides.iter().all(is_missing)
                }
                _ => wants.contains_key(path) || copied.contains_key(path),
            };
            if !stays {
                stale.push(path.clone());
            }
        }
        // Folders first: what they hid is then looked at by itself.
        stale.sort_unstable();
        for path in stale {
            let held = self.own.held.remove(&path);
            self.out.changed += 1;
            if let Some(LayerEntry::Opaque { .. }) = held {
                if let Some(folder) = self.up.reach(&path)? {
                    folder.set_opaque(false)?;
                }
                continue;
            }
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let Some(folder) = self.up.reach(parent)? else { continue };
            if folder.look(name)?.is_some_and(|found| found.kind != StampKind::Folder) {
                folder.remove(name)?;
            }
            self.prune(parent)?;
        }
        Ok(())
    }

    /// Puts the settings of repositories there without what opens accounts.
    fn redact(&mut self, veil: &HiddenPaths, wants: &PathDemands) -> io::Result<()> {
        accounts::take_away(&self.up, &mut self.own.redacted)?;
        for (path, bytes) in accounts::find(self.own, self.below) {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let disk = self.below.reach(parent).ok().flatten();
            let disk = disk.and_then(|folder| folder.look(name).ok().flatten());
            let Some(disk) = disk.filter(|_| !veil.covers(&self.own.root.join(&path))) else {
                continue;
            };
            let is_copied = match self.up.reach(parent)? {
                Some(folder) => folder.look(name)?.is_some(),
                None => false,
            };
            // A file that was too large to be copied, or is elsewhere, is not there.
            if self.is_copy && !is_copied {
                continue;
            }
            let folder = self.parents(parent, wants)?;
            folder.remove(name)?;
            folder.put(name, &bytes, disk.mode & 0o777, disk.mtime)?;
            folder.own_like(name, &disk);
            if let (true, Some(stamp)) = (self.is_copy, folder.look(name)?) {
                let held = LayerEntry::File { stamp, hash: None, from: Some(disk) };
                self.own.held.insert(path, held);
            } else {
                self.own.redacted.push((path, bytes));
            }
        }
        Ok(())
    }

    fn stand(&mut self, path: &Path, want: &PathDemand, wants: &PathDemands) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        // A folder that the disk doesn't let us look at hides nothing from the command either.
        let below = self.below.reach(parent).ok().flatten();
        let disk = below.and_then(|below| below.look(name).ok().flatten());
        match &want.stands {
            DemandedContent::Missing => self.stand_missing(path, disk, wants),
            DemandedContent::Link(target) => self.stand_link(path, target, wants),
            _ => self.stand_file(path, want, disk, wants),
        }
    }

    fn stand_missing(
        &mut self,
        path: &Path,
        disk: Option<Stamp>,
        wants: &PathDemands,
    ) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        let full = self.own.root.join(path);
        if self.ever.get(&full).is_none_or(|last| last.hash.is_some()) {
            self.ever.saw(&full, None, Moment::now());
        }
        if let Some(folder) = self.up.reach(parent)? {
            match folder.look(name)?.map(|over| over.kind) {
                Some(StampKind::Gone | StampKind::Folder) => return Ok(()),
                Some(_) => {
                    folder.remove(name)?;
                    self.out.changed += 1;
                    self.own.held.remove(path);
                }
                None => {}
            }
        }
        // Nothing to hide, or a folder, which is no file.
        let is_bare = disk.is_none_or(|disk| disk.kind == StampKind::Folder);
        if self.is_copy || is_bare || self.is_hidden(parent)? {
            return Ok(());
        }
        let folder = self.parents(parent, wants)?;
        folder.mark_gone(name)?;
        self.out.changed += 1;
        if let Some(stamp) = folder.look(name)? {
            self.own.held.insert(path.to_owned(), LayerEntry::Gone { stamp, hides: Vec::new() });
        }
        Ok(())
    }

    fn stand_link(&mut self, path: &Path, target: &Path, wants: &PathDemands) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        if let (Some(LayerEntry::Link { stamp, target: held }), Some(folder)) =
            (self.own.held.get(path), self.up.reach(parent)?)
            && held == target
            && folder.look(name)?.as_ref() == Some(stamp)
        {
            return Ok(());
        }
        let folder = self.parents(parent, wants)?;
        folder.remove(name)?;
        folder.put_link(name, target)?;
        self.out.changed += 1;
        if let Some(stamp) = folder.look(name)? {
            let target = target.to_owned();
            self.own.held.insert(path.to_owned(), LayerEntry::Link { stamp, target });
        }
        Ok(())
    }

    fn stand_file(
        &mut self,
        path: &Path,
        want: &PathDemand,
        disk: Option<Stamp>,
        wants: &PathDemands,
    ) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        let full = self.own.root.join(path);
        let stands = match self.up.reach(parent)? {
            Some(folder) => folder.look(name)?,
            None => None,
        };
        // A file is ours only as long as it is just as we left it.
        let held = match self.own.held.get(path) {
            Some(LayerEntry::File { stamp, hash: Some(hash), from }) if stands == Some(*stamp) => {
                Some((*stamp, *hash, *from))
            }
            _ => None,
        };
        let held_content = held.map(|(_, hash, from)| (hash, from));
        let Ok(content) = self.content(want, held_content) else { return self.leave(path) };
        let Some(content) = content else {
            // The disk has no such file: nothing is to be seen.
            if self.ever.get(&full).is_some_and(|last| last.hash.is_some()) {
                self.ever.saw(&full, None, Moment::now());
            }
            if held.is_some()
                && let Some(folder) = self.up.reach(parent)?
            {
                folder.remove(name)?;
                self.own.held.remove(path);
                self.prune(parent)?;
            }
            return Ok(());
        };
        let plain = disk.filter(|disk| disk.kind == StampKind::File);
        let mtime = if want.differs || self.ever.get(&full).is_some() {
            self.ever.mtime(&full, content.hash)
        } else {
            plain.map_or_else(Moment::now, |disk| disk.mtime)
        };
        let mode = want.mode.or(plain.or(content.from).map(|found| found.mode)).unwrap_or(0o644);
        let mode = mode & 0o777;
        if let (Some((stamp, hash, _)), Some(folder)) = (held, self.up.reach(parent)?)
            && hash == content.hash
        {
            if stamp.mode != mode {
                folder.set_mode(name, mode)?;
            }
            if stamp.mtime != mtime {
                folder.set_mtime(name, mtime)?;
            }
            self.out.changed += usize::from((stamp.mode, stamp.mtime) != (mode, mtime));
            return self.hold(path, &folder, name, &content);
        }
        let Some(bytes) = &content.bytes else { return Ok(()) };
        let folder = self.parents(parent, wants)?;
        folder.remove(name)?;
        folder.put(name, bytes, mode, mtime)?;
        if let Some(like) = plain.or(self.below.own().ok()) {
            folder.own_like(name, &like);
        }
        self.out.changed += 1;
        self.hold(path, &folder, name, &content)
    }

    /// Lets the disk's file be seen, which can't be read. If it is one that commands saw with another content, nobody
    /// knows any more what was built from what.
    fn leave(&mut self, path: &Path) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        if let Some(folder) = self.up.reach(parent)?
            && folder.look(name)?.is_some()
        {
            folder.remove(name)?;
            self.prune(parent)?;
            self.out.changed += 1;
        }
        self.own.held.remove(path);
        self.ever.forget(&self.own.root.join(path));
        self.left.push(path.to_owned());
        Ok(())
    }

    fn hold(
        &mut self,
        path: &Path,
        folder: &Folder,
        name: &OsStr,
        content: &LayerContent,
    ) -> io::Result<()> {
        if let Some(stamp) = folder.look(name)? {
            let held = LayerEntry::File { stamp, hash: Some(content.hash), from: content.from };
            self.own.held.insert(path.to_owned(), held);
        }
        Ok(())
    }
}
