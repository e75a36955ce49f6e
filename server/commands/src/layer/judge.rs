//! What a changed name in a layer means for the fork: the file as the view had it, compared with what stands now.
//!
//! What comes of it all is put together in `judge/proposals.rs`. Nothing is walked here.

mod proposals;

use super::beside::Beside;
use super::collect::Started;
use super::compare::{Becomes, Compared, Content, Found, Is, Stood, Unknown, content_of};
use super::folder::{Folder, Kind, Moment, Stamp, path_in};
use super::git::Written;
use super::left_out::LeftOut;
use super::told::{Told, plain};
use super::{EverDirty, Held, MOST_BYTES, MOST_CHANGES, Rooted};
use ropewalk_text::decode::encode;
use ropewalk_workspace::view::{Kept, Material, Stands};
use ropewalk_workspace::{Place, View};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What of a name in the layer is to be.
pub(super) enum Verdict {
    /// It stays, and this is to be held of it.
    Holds(Held),
    /// What the command made of it is dropped: the disk's file shows again.
    Goes,
    /// That is known when it is compared.
    Later,
}

/// What is to be held at a path of the layer; None when nothing stands there any more.
pub(super) type Settled = (PathBuf, Option<Held>);

/// A file that the command deleted.
struct Deleted {
    place: Place,
    content: Option<Content>,
}

/// A file that the command made or changed.
struct Changed {
    place: Place,
    /// None where only its mode is another.
    becomes: Option<Becomes>,
    mode: Option<u32>,
    /// Its content, if the view had no such file.
    made: Option<Content>,
    /// Its content, if that took the place of another.
    over: Option<Content>,
}

/// See the module.
pub(super) struct Judge<'scope, 'env> {
    view: &'env View,
    ever: &'env mut EverDirty,
    started: Started,
    root: PathBuf,
    /// What lies over the root.
    up: PathBuf,
    materials: Option<&'env HashMap<PathBuf, Material>>,
    beside: Beside<'scope, 'env>,
    /// What was compared and the walk has not taken yet.
    settled: Vec<Settled>,
    /// Files of the root whose change is not to be, nor their going with a folder.
    dropped: HashSet<PathBuf>,
    deleted: Vec<Deleted>,
    /// The same, for asking.
    gone: HashSet<PathBuf>,
    changed: Vec<Changed>,
    /// Of what is proposed.
    bytes: u64,
    /// Of what is deleted, as far as it was read.
    gone_bytes: u64,
    /// What git put back, as it left it.
    put_back: HashMap<PathBuf, Written>,
    /// What becomes no proposal.
    pub(super) left_out: LeftOut,
    pub(super) told: Told,
}

impl<'scope, 'env> Judge<'scope, 'env> {
    pub(super) fn new(
        beside: Beside<'scope, 'env>,
        view: &'env View,
        ever: &'env mut EverDirty,
        started: Started,
    ) -> Self {
        Self {
            view,
            ever,
            started,
            root: PathBuf::new(),
            up: PathBuf::new(),
            materials: None,
            beside,
            settled: Vec::new(),
            dropped: HashSet::new(),
            deleted: Vec::new(),
            gone: HashSet::new(),
            changed: Vec::new(),
            bytes: 0,
            gone_bytes: 0,
            put_back: HashMap::new(),
            left_out: LeftOut::default(),
            told: Told::default(),
        }
    }

    /// Goes on with another root, and what the view has of its own there.
    pub(super) fn enter(&mut self, own: &Rooted, materials: &'env HashMap<PathBuf, Material>) {
        self.root.clone_from(&own.root);
        self.up.clone_from(&own.up);
        self.materials = Some(materials);
        self.dropped.clear();
    }

    /// Takes note of files that git put back.
    pub(super) fn note_put_back(&mut self, files: impl Iterator<Item = (PathBuf, Written)>) {
        self.put_back.extend(files);
    }

    /// Whether this is what git put back over text that the user has not saved: nobody has asked for its end.
    fn is_put_back(&self, place: &Place, stamp: &Stamp) -> bool {
        let is_written = |(time, len): &Written| *time == stamp.mtime && *len == stamp.len as u32;
        self.put_back.get(&place.path).is_some_and(is_written) && {
            let id = self.view.id_of(place, self.view.roots());
            self.view.buffers().get(&id).is_some_and(|open| open.dirty)
        }
    }

    /// Whether the view has something of its own at a path.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.material(path).is_some()
    }

    fn material(&self, path: &Path) -> Option<&'env Material> {
        self.materials.and_then(|materials| materials.get(path))
    }

    /// Whether something on the disk changed after the command began.
    pub(super) fn is_since(&self, disk: &Stamp) -> bool {
        disk.ctime >= self.started
    }

    /// Whether something in the layer changed since the command began. File systems' clocks are a little behind ours.
    pub(super) fn is_of_command(&self, own: &Stamp) -> bool {
        const BEHIND: u32 = 20_000_000;
        let Moment(seconds, nanos) = self.started;
        let from = match nanos.checked_sub(BEHIND) {
            Some(nanos) => Moment(seconds, nanos),
            None => Moment(seconds.saturating_sub(1), nanos + 1_000_000_000 - BEHIND),
        };
        own.ctime >= from
    }

    /// Whether so many more changes become proposals.
    pub(super) fn has_room_for(&mut self, more: usize) -> io::Result<bool> {
        let fits = |judge: &Self| {
            let had = judge.deleted.len() + judge.changed.len() + judge.beside.files();
            had + more <= MOST_CHANGES
        };
        if !fits(self) {
            // Not all that is compared need be a change.
            self.settle()?;
        }
        Ok(fits(self))
    }

    /// Whether so many more bytes do.
    fn has_room_for_bytes(&mut self, more: u64) -> io::Result<bool> {
        let fits = |judge: &Self| {
            let had = judge.bytes.saturating_add(judge.beside.bytes());
            had.saturating_add(more) <= MOST_BYTES
        };
        if !fits(self) {
            self.settle()?;
        }
        Ok(fits(self))
    }

    /// A file or link of the disk's is gone. False when that is not to be: it changed meanwhile, or what the command
    /// made of it was dropped.
    pub(super) fn gone(
        &mut self,
        path: &Path,
        disk: Stamp,
        (below, name): (&Folder, &OsStr),
    ) -> bool {
        if self.dropped.contains(path) {
            return false;
        }
        if self.has(path) {
            self.gone_from_view(path);
            return true;
        }
        if self.is_since(&disk) {
            self.told.moved.push(plain(path));
            return false;
        }
        let Some(place) = self.place(path) else { return false };
        if self.view.open_elsewhere(&place, disk.inode).is_some() {
            self.told.alias.push(plain(path));
            return false;
        }
        let content = match disk.kind {
            Kind::File if self.gone_bytes.saturating_add(disk.len) <= MOST_BYTES => {
                match below.read_still(name, &disk, MOST_BYTES) {
                    Ok(Some(bytes)) => Some(bytes),
                    Ok(None) => {
                        self.told.moved.push(plain(path));
                        return false;
                    }
                    Err(_) => None,
                }
            }
            _ => None,
        };
        let content = content.map(|bytes| {
            self.gone_bytes += bytes.len() as u64;
            let content = content_of(&bytes);
            // Somebody may save there before it is merged.
            self.view.keep([(&place, Kept::Bytes(bytes))]);
            content
        });
        self.delete(place, content);
        true
    }

    fn place(&self, path: &Path) -> Option<Place> {
        self.view.roots().place(path_in(&self.root, path.as_os_str()))
    }

    /// What the view has of its own at a path is gone, if it has anything.
    pub(super) fn gone_from_view(&mut self, path: &Path) {
        let content = match self.material(path).map(|material| &material.stands) {
            None | Some(Stands::Missing) => return,
            Some(Stands::Text(text, format)) => {
                encode(text, *format).ok().map(|bytes| content_of(&bytes))
            }
            Some(Stands::Bytes(bytes)) => Some(content_of(bytes)),
            Some(Stands::OnDisk(_) | Stands::Link(_)) => None,
        };
        if let Some(place) = self.place(path) {
            self.delete(place, content);
        }
    }

    fn delete(&mut self, place: Place, content: Option<Content>) {
        if !self.gone.insert(place.path.clone()) {
            return;
        }
        self.ever.saw(&place.path, None, Started::now());
        self.deleted.push(Deleted { place, content });
    }

    /// A file or link stands that is not as we left it.
    pub(super) fn stands(
        &mut self,
        path: &Path,
        (up, name): (&Arc<Folder>, &OsStr),
        stamp: Stamp,
        disk: Option<(Stamp, &Arc<Folder>)>,
        (from, had_mode, is_moving): (Option<Stamp>, Option<u32>, bool),
    ) -> io::Result<Verdict> {
        let found = disk.map(|(stamp, _)| stamp);
        let left = Verdict::Holds(Held::Left { stamp });
        let Some(place) = self.place(path) else { return Ok(left) };
        let material = self.material(path);
        if material.is_none() {
            let moved = match (from, found) {
                (Some(from), found) => found != Some(from),
                (None, Some(found)) => self.is_since(&found),
                // It was copied up from the disk, and is not there: gone meanwhile, unless the command gave it
                // this name; then no name has gone from the disk's folder.
                (None, None) => is_moving && up.was_copied_up(name),
            };
            if moved {
                self.told.moved.push(plain(path));
                self.left_out.now(up, name);
                self.ever.saw(&place.path, None, stamp.mtime);
                return Ok(Verdict::Goes);
            }
            let open = found.and_then(|disk| self.view.open_elsewhere(&place, disk.inode));
            if open.is_some_and(|open| open.dirty && open.moved.is_none()) {
                // The command had the disk's text before it, and not what the user has typed.
                self.told.alias.push(plain(path));
                self.left_out.now(up, name);
                self.ever.saw(&place.path, None, stamp.mtime);
                return Ok(Verdict::Goes);
            }
        }
        if self.is_put_back(&place, &stamp) {
            self.told.put_back.push(plain(path));
            self.left_out.now(up, name);
            self.ever.saw(&place.path, None, stamp.mtime);
            return Ok(Verdict::Goes);
        }
        let len = if stamp.kind == Kind::File { stamp.len } else { 0 };
        if !self.has_room_for(1)? || !self.has_room_for_bytes(len)? {
            self.told.surplus.push(plain(path));
            self.left_out.later(&self.up, path, &stamp);
            return Ok(left);
        }
        let (path, up) = (path.to_owned(), up.clone());
        let disk = disk.map(|(stamp, below)| (stamp, below.clone()));
        if self.beside.compare(Found { path, place, up, stamp, disk, had_mode, material }) {
            self.settle_so_far(false)?;
        }
        Ok(Verdict::Later)
    }

    /// Waits for all that is compared, and takes note of it.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        self.settle_so_far(true)
    }

    /// Takes note of what was compared.
    fn settle_so_far(&mut self, wait: bool) -> io::Result<()> {
        while let Some(batch) = self.beside.settle(wait)? {
            for compared in batch {
                self.compared(compared)?;
            }
        }
        Ok(())
    }

    fn compared(&mut self, compared: Compared) -> io::Result<()> {
        let Compared { path, place, up, stamp, result, .. } = compared;
        let held = match result {
            Ok(stood) => Some(self.stood(place, &stamp, stood)),
            Err(Unknown::Unreadable) => {
                self.told.unreadable.push(plain(&path));
                self.left_out.unread(&stamp);
                Some(Held::Left { stamp })
            }
            Err(why @ (Unknown::Moved | Unknown::Encoding)) => {
                let told = &mut self.told;
                let is_moved = matches!(why, Unknown::Moved);
                let told = if is_moved { &mut told.moved } else { &mut told.encoding };
                told.push(plain(&path));
                self.ever.saw(&place.path, None, stamp.mtime);
                if let Some(name) = path.file_name() {
                    self.left_out.now(&up, name);
                    up.remove(name)?;
                }
                self.dropped.insert(path.clone());
                None
            }
        };
        self.settled.push((path, held));
        Ok(())
    }

    /// What was settled since this was last asked.
    pub(super) fn take_settled(&mut self) -> io::Result<Vec<Settled>> {
        self.settle()?;
        Ok(std::mem::take(&mut self.settled))
    }

    /// Takes note of a file or link that was compared. Gives what is to be held of it.
    fn stood(&mut self, place: Place, stamp: &Stamp, stood: Stood) -> Held {
        let Stood { is, becomes, mode, is_made } = stood;
        let (held, content) = match is {
            Is::File(content) => {
                (Held::File { stamp: *stamp, hash: Some(content.0), from: None }, Some(content))
            }
            Is::Link(target) => (Held::Link { stamp: *stamp, target }, None),
        };
        if let (Some(_), Some((hash, len))) = (&becomes, content) {
            self.bytes += len as u64;
            self.ever.saw(&place.path, Some(hash), stamp.mtime);
        }
        if becomes.is_some() || mode.is_some() {
            let is_new = becomes.is_some();
            let made = content.filter(|_| is_made);
            let over = content.filter(|_| !is_made && is_new);
            self.changed.push(Changed { place, becomes, mode, made, over });
        }
        held
    }
}
