//! Meaning of a changed name in a layer for the fork: the file as the view had it, compared with the layer's.
//!
//! The proposals are put together in `judge/proposals.rs`. Nothing is walked here.

mod proposals;

use super::beside::ComparisonQueue;
use super::collect::Started;
use super::compare::{
    ChangedFile, Comparison, ContentId, CurrentState, EntryContent, NewContent, UnknownCause,
    content_of, elsewhere,
};
use super::folder::{Folder, Stamp, StampKind, path_in};
use super::git::GitStamp;
use super::left_out::{LeftBecause, LeftOut, content_of_link};
use super::notes::{CollectNotes, NoteKind};
use super::{BuildInputs, LayerEntry, MOST_BYTES, MOST_CHANGES, RootLayer};
use ropewalk_text::decode::encode;
use ropewalk_workspace::view::{DiskRecord, OverlayContent, OverlayFile};
use ropewalk_workspace::{Place, View};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The state in which we left a path of the layer, before the command ran.
pub(super) struct LeftAs {
    /// The stamp of the disk's file that it shows; None if it shows none.
    pub(super) from: Option<Stamp>,
    pub(super) mode: Option<u32>,
    /// True if names came to or went from the disk's folder since the start.
    pub(super) is_moving: bool,
}

/// Decision for one changed path of the layer.
pub(super) enum ChangeDecision {
    /// It stays, and this is to be held of it.
    Holds(LayerEntry),
    /// The command's file is dropped: the disk's file shows again.
    Goes,
    /// Known only when it is compared.
    Later,
}

/// Entry to hold at a path of the layer; None when nothing stands there any more.
pub(super) type SettledEntry = (PathBuf, Option<LayerEntry>);

/// A file that the command deleted.
struct Deleted {
    place: Place,
    /// None where it was not read.
    content: Option<ContentId>,
    /// In bytes.
    len: u64,
}

/// A file that the command made or changed.
struct WrittenFile {
    place: Place,
    /// None where only its mode is another.
    becomes: Option<NewContent>,
    mode: Option<u32>,
    /// Its content, if the view had no such file.
    made: Option<ContentId>,
    /// Its content, if that took the place of another.
    over: Option<ContentId>,
}

/// See the module.
pub(super) struct Judge<'scope, 'env> {
    view: &'env View,
    ever: &'env mut BuildInputs,
    started: Started,
    root: PathBuf,
    /// The folder that lies over the root.
    up: PathBuf,
    materials: Option<&'env HashMap<PathBuf, OverlayFile>>,
    beside: ComparisonQueue<'scope, 'env>,
    /// Entries that were compared and the walk has not taken yet.
    settled: Vec<SettledEntry>,
    /// Files of the root whose change is not to be, nor their going with a folder.
    dropped: HashSet<PathBuf>,
    deleted: Vec<Deleted>,
    /// The same, for asking.
    gone: HashSet<PathBuf>,
    changed: Vec<WrittenFile>,
    /// Of what is proposed.
    bytes: u64,
    /// Of what is deleted, as far as it was read.
    gone_bytes: u64,
    /// Files that git put back, as it left them.
    put_back: HashMap<PathBuf, GitStamp>,
    /// Changes that become no proposal.
    pub(super) left_out: LeftOut,
    pub(super) told: CollectNotes,
}

impl<'scope, 'env> Judge<'scope, 'env> {
    pub(super) fn new(
        beside: ComparisonQueue<'scope, 'env>,
        view: &'env View,
        ever: &'env mut BuildInputs,
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
            told: CollectNotes::default(),
        }
    }

    /// Goes on with another root, and what the view has of its own there.
    pub(super) fn enter(
        &mut self,
        own: &RootLayer,
        materials: &'env HashMap<PathBuf, OverlayFile>,
    ) {
        self.root.clone_from(&own.root);
        self.up.clone_from(&own.up);
        self.materials = Some(materials);
        self.dropped.clear();
    }

    /// Takes note of files that git put back.
    pub(super) fn note_put_back(&mut self, files: impl Iterator<Item = (PathBuf, GitStamp)>) {
        self.put_back.extend(files);
    }

    /// True if git put this back over text that the user has not saved: nobody has asked for the end of that text.
    fn is_put_back(&self, place: &Place, stamp: &Stamp) -> bool {
        let is_written = |(time, len): &GitStamp| *time == stamp.mtime && *len == stamp.len as u32;
        self.put_back.get(&place.path).is_some_and(is_written) && {
            let id = self.view.id_of(place, self.view.roots());
            self.view.buffers().get(&id).is_some_and(|open| open.dirty)
        }
    }

    /// True if the view has something of its own at a path.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.material(path).is_some()
    }

    fn material(&self, path: &Path) -> Option<&'env OverlayFile> {
        self.materials.and_then(|materials| materials.get(path))
    }

    /// True if something on the disk changed after the command began.
    pub(super) fn is_since(&self, disk: &Stamp) -> bool {
        disk.ctime >= self.started
    }

    /// True if something in the layer changed since the command began.
    pub(super) fn is_of_command(&self, own: &Stamp) -> bool {
        own.is_of_command(self.started)
    }

    /// True if so many more changes become proposals.
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

    /// True if so many more bytes become proposals.
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
            self.told.add(NoteKind::Moved, path);
            return false;
        }
        let Some(place) = self.place(path) else { return false };
        if self.view.open_elsewhere(&place, disk.inode).is_some() {
            self.told.add(NoteKind::Alias, path);
            return false;
        }
        let content = match disk.kind {
            StampKind::Link => {
                let link = below.read_link(name).ok().map(|target| content_of_link(&target));
                self.delete(place, link, 0);
                return true;
            }
            StampKind::File if self.gone_bytes.saturating_add(disk.len) <= MOST_BYTES => {
                match below.read_still(name, &disk, MOST_BYTES) {
                    Ok(Some(bytes)) => Some(bytes),
                    Ok(None) => {
                        self.told.add(NoteKind::Moved, path);
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
            self.view.keep([(&place, DiskRecord::Bytes(bytes))]);
            content
        });
        self.delete(place, content, disk.len);
        true
    }

    fn place(&self, path: &Path) -> Option<Place> {
        self.view.roots().place(path_in(&self.root, path.as_os_str()))
    }

    /// Notes that the view's own file at a path is gone, if it has one.
    pub(super) fn gone_from_view(&mut self, path: &Path) {
        let content = match self.material(path).map(|material| &material.stands) {
            None | Some(OverlayContent::Missing) => return,
            Some(OverlayContent::Text(text, format)) => {
                encode(text, *format).ok().map(|bytes| content_of(&bytes))
            }
            Some(OverlayContent::Bytes(bytes)) => Some(content_of(bytes)),
            Some(OverlayContent::OnDisk(there)) => {
                elsewhere(self.view, there).map(|bytes| content_of(&bytes))
            }
            Some(OverlayContent::Link(target)) => Some(content_of_link(target)),
        };
        if let Some(place) = self.place(path) {
            self.delete(place, content, 0);
        }
    }

    /// Notes a deletion, of a file with so many bytes if its content is not known.
    fn delete(&mut self, place: Place, content: Option<ContentId>, len: u64) {
        if !self.gone.insert(place.path.clone()) {
            return;
        }
        self.ever.saw(&place.path, None, Started::now());
        let len = content.map_or(len, |(_, len)| len as u64);
        self.deleted.push(Deleted { place, content, len });
    }

    /// A file or link stands that is not as we left it.
    pub(super) fn stands(
        &mut self,
        path: &Path,
        (up, name): (&Arc<Folder>, &OsStr),
        stamp: Stamp,
        disk: Option<(Stamp, &Arc<Folder>)>,
        left_as: LeftAs,
    ) -> io::Result<ChangeDecision> {
        let (found, had_mode) = (disk.map(|(stamp, _)| stamp), left_as.mode);
        let left = ChangeDecision::Holds(LayerEntry::Left { stamp });
        let Some(place) = self.place(path) else {
            self.left_out.later(&self.up, path, LeftBecause::Said);
            return Ok(left);
        };
        let material = self.material(path);
        if material.is_none() {
            let moved = match (left_as.from, found) {
                (Some(from), found) => found != Some(from),
                (None, Some(found)) => self.is_since(&found),
                // It was copied up from the disk, and is not there: gone meanwhile, unless the command gave it
                // this name; then no name has gone from the disk's folder.
                (None, None) => left_as.is_moving && up.was_copied_up(name),
            };
            if moved {
                self.told.add(NoteKind::Moved, path);
                self.left_out.now(up, name, path);
                self.ever.saw(&place.path, None, stamp.mtime);
                return Ok(ChangeDecision::Goes);
            }
            let open = found.and_then(|disk| self.view.open_elsewhere(&place, disk.inode));
            if open.is_some_and(|open| open.dirty && open.moved.is_none()) {
                // The command had the disk's text before it, and not what the user has typed.
                self.told.add(NoteKind::Alias, path);
                self.left_out.now(up, name, path);
                self.ever.saw(&place.path, None, stamp.mtime);
                return Ok(ChangeDecision::Goes);
            }
        }
        if self.is_put_back(&place, &stamp) {
            self.told.add(NoteKind::PutBack, path);
            self.left_out.now(up, name, path);
            self.ever.saw(&place.path, None, stamp.mtime);
            return Ok(ChangeDecision::Goes);
        }
        let len = if stamp.kind == StampKind::File { stamp.len } else { 0 };
        if !self.has_room_for(1)? || !self.has_room_for_bytes(len)? {
            self.told.add(NoteKind::Surplus, path);
            self.left_out.later(&self.up, path, LeftBecause::Said);
            return Ok(left);
        }
        let (path, up) = (path.to_owned(), up.clone());
        let disk = disk.map(|(stamp, below)| (stamp, below.clone()));
        if self.beside.compare(ChangedFile { path, place, up, stamp, disk, had_mode, material }) {
            self.settle_so_far(false)?;
        }
        Ok(ChangeDecision::Later)
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

    fn compared(&mut self, compared: Comparison) -> io::Result<()> {
        let Comparison { path, place, up, stamp, result, .. } = compared;
        let held = match result {
            Ok(stood) => Some(self.stood(place, &stamp, stood)),
            Err(UnknownCause::Unreadable) => {
                self.told.add(NoteKind::Unreadable, &path);
                self.left_out.unread(&stamp, &path);
                Some(LayerEntry::Left { stamp })
            }
            Err(why @ (UnknownCause::Moved | UnknownCause::Encoding)) => {
                let is_moved = matches!(why, UnknownCause::Moved);
                let kind = if is_moved { NoteKind::Moved } else { NoteKind::Encoding };
                self.told.add(kind, &path);
                self.ever.saw(&place.path, None, stamp.mtime);
                if let Some(name) = path.file_name() {
                    self.left_out.now(&up, name, &path);
                    up.remove(name)?;
                }
                self.dropped.insert(path.clone());
                None
            }
        };
        self.settled.push((path, held));
        Ok(())
    }

    /// Takes the entries that were settled since the last call.
    pub(super) fn take_settled(&mut self) -> io::Result<Vec<SettledEntry>> {
        self.settle()?;
        Ok(std::mem::take(&mut self.settled))
    }

    /// Takes note of a file or link that was compared. Gives what is to be held of it.
    fn stood(&mut self, place: Place, stamp: &Stamp, stood: CurrentState) -> LayerEntry {
        let CurrentState { is, becomes, mode, is_made } = stood;
        let (held, content) = match is {
            EntryContent::File(content) => (
                LayerEntry::File { stamp: *stamp, hash: Some(content.0), from: None },
                Some(content),
            ),
            EntryContent::Link(target) => (LayerEntry::Link { stamp: *stamp, target }, None),
        };
        if let (Some(_), Some((hash, len))) = (&becomes, content) {
            self.bytes += len as u64;
            self.ever.saw(&place.path, Some(hash), stamp.mtime);
        }
        if becomes.is_some() || mode.is_some() {
            let is_new = becomes.is_some();
            let made = content.filter(|_| is_made);
            let over = content.filter(|_| !is_made && is_new);
            self.changed.push(WrittenFile { place, becomes, mode, made, over });
        }
        held
    }
}
