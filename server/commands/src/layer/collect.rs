//! Finding out what a command changed in its layer.
//!
//! The layer is walked beside the disk. What stands as we left it is passed over unread; what is ignored is not
//! looked at, unless the view has it; `.git` and its like are put back. Each other name goes to `judge`, with what it hides of
//! the disk's. What we had put there and is gone is a deletion.

mod git;
mod hidden;
mod unseen;

use super::accounts;
use super::beside::ComparisonQueue;
use super::folder::{DEEPEST, Folder, Moment, Stamp, StampKind, is_absence, path_in};
use super::ignores::Ignores;
use super::judge::{ChangeDecision, Judge, LeftAs};
use super::left_out::LeftBecause;
use super::notes::{NoteKind, list};
use super::{BuildInputs, Layer, LayerChanges, LayerEntry, LayerError, RootLayer};
use hidden::HiddenFate;
use ropewalk_files::repository::{Repositories, is_store_name};
use ropewalk_workspace::View;
use ropewalk_workspace::view::OverlayFile;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The most names that are looked at.
const MOST_NAMES: usize = 500_000;

impl Layer {
    /// Collects a command's changes, as proposals on the `view` that the layer was materialised with. `started` is when
    /// the command began; a file of the disk that has changed since, and is not open, is a conflict.
    ///
    /// Proposed changes stay in the layer, as the fork's own. Blocking; O(what the command wrote).
    ///
    /// # Errors
    /// [`LayerError`], when the layer itself can't be read. Nothing is proposed then.
    pub fn collect(
        &mut self,
        view: &View,
        started: SystemTime,
        ever: &mut BuildInputs,
    ) -> Result<LayerChanges, LayerError> {
        let mut materials: Vec<HashMap<PathBuf, OverlayFile>> =
            self.roots.iter().map(|_| HashMap::new()).collect();
        for material in view.materials() {
            let Some((index, path)) = self.locate(&material.place.path) else { continue };
            let path = path.to_owned();
            if let Some(materials) = materials.get_mut(index) {
                materials.insert(path, material);
            }
        }
        let is_copy = self.copy.is_some();
        let collected = std::thread::scope(|scope| {
            let beside = ComparisonQueue::new(scope, view);
            let mut judge = Judge::new(beside, view, ever, started.into());
            if let Some(scratch) = &self.scratch {
                judge.left_out.later(scratch, Path::new(""), LeftBecause::Outside);
            }
            for (own, materials) in self.roots.iter_mut().zip(&materials) {
                let up = Folder::ours(&own.up).map_err(LayerError::at(&own.up))?;
                let below = Folder::disk(&own.root).map_err(LayerError::at(&own.root))?;
                judge.enter(own, materials);
                let ignores = Ignores::above(&own.root);
                let at = own.up.clone();
                let mut walk = CollectWalk {
                    unseen: unseen::ours(own),
                    own,
                    judge: &mut judge,
                    ignores,
                    names: 0,
                    cut: false,
                    is_moving: false,
                    is_copy,
                };
                walk.run(&Arc::new(up), &Arc::new(below)).map_err(LayerError::at(&at))?;
            }
            Ok(judge.finish())
        });
        collected.map(|collected| without_git(self.without_veiled(collected)))
    }
}

/// Drops what would change a git repository that is no `.git`.
fn without_git(mut collected: LayerChanges) -> LayerChanges {
    let mut known = Repositories::default();
    let dropped = collected.leave_out(|place| {
        let is_own = known.own(place);
        if !is_own {
            known.add(&place.path);
        }
        is_own
    });
    if !dropped.is_empty() {
        collected.told.push(format!(
            "not kept, because they are version control's own data, which no tool changes: {}",
            list(dropped)
        ));
    }
    collected
}

struct CollectWalk<'a, 'scope, 'env> {
    own: &'a mut RootLayer,
    judge: &'a mut Judge<'scope, 'env>,
    ignores: Ignores,
    /// Files that we put there and the walk has not come by yet.
    unseen: HashSet<PathBuf>,
    names: usize,
    /// True if the list of files that a folder hid was cut short.
    cut: bool,
    /// True if names came to or went from the disk's folder, or the nearest above that is there, since the start.
    is_moving: bool,
    is_copy: bool,
}

impl CollectWalk<'_, '_, '_> {
    fn run(&mut self, up: &Arc<Folder>, below: &Arc<Folder>) -> io::Result<()> {
        accounts::take_away(up, &mut self.own.redacted)?;
        let root = self.own.root.clone();
        self.ignores.enter(&root, Some(up), Some(below));
        self.folder(Path::new(""), up, Some(below), 0)?;
        self.unseen(up, below)?;
        let settled = self.judge.take_settled()?;
        self.own.held.reserve(settled.len());
        for (path, held) in settled {
            match held {
                Some(held) => drop(self.own.held.insert(path, held)),
                None => drop(self.own.held.remove(&path)),
            }
        }
        Ok(())
    }

    /// One folder of the layer, over the disk's if that shows through.
    fn folder(
        &mut self,
        path: &Path,
        up: &Arc<Folder>,
        below: Option<&Arc<Folder>>,
        depth: usize,
    ) -> io::Result<()> {
        let outer = self.is_moving;
        if let Some(below) = below {
            self.is_moving = self.judge.is_since(&below.own()?);
        }
        let here = self.is_moving;
        self.note_put_back(path, up, below);
        for name in up.names()? {
            self.is_moving = here;
            self.names += 1;
            let path = path_in(path, &name);
            let Some(stamp) = up.look(&name)? else { continue };
            if is_store_name(&name) {
                self.git(&path, up, &name, below.map(Arc::as_ref))?;
                continue;
            }
            if self.names > MOST_NAMES {
                self.judge.told.add(NoteKind::Surplus, &path);
                return self.leave(path.parent().unwrap_or(&path), LeftBecause::Said);
            }
            if stamp.kind == StampKind::Folder {
                self.subfolder(&path, (up, &name), below, depth)?;
            } else {
                self.name(&path, (up, &name), stamp, below)?;
            }
        }
        self.is_moving = outer;
        Ok(())
    }

    /// Takes nothing in of what stands at a path, and remembers that it stands there.
    fn leave(&mut self, path: &Path, because: LeftBecause) -> io::Result<()> {
        self.judge.left_out.later(&self.own.up, path, because);
        Ok(())
    }

    fn subfolder(
        &mut self,
        path: &Path,
        (up, name): (&Arc<Folder>, &OsStr),
        below: Option<&Arc<Folder>>,
        depth: usize,
    ) -> io::Result<()> {
        if self.ignores.ignores(name, true) {
            return self.leave(path, LeftBecause::Ignored);
        }
        if name.to_str().is_none() {
            self.judge.told.add(NoteKind::Unnamed, path);
            return self.leave(path, LeftBecause::Said);
        }
        if depth >= DEEPEST {
            self.judge.told.add(NoteKind::Deep, path);
            return self.leave(path, LeftBecause::Said);
        }
        let inner = Arc::new(up.enter(name)?);
        let Some(disk) = self.disk(path, below, name) else {
            return self.leave(path, LeftBecause::Said);
        };
        let lower = match disk {
            Some((Stamp { kind: StampKind::Folder, .. }, below)) => match enter(below, name) {
                Ok(lower) => lower.map(Arc::new),
                Err(_) => {
                    // Only what a command put there needs words.
                    if !inner.names()?.is_empty() {
                        self.judge.told.add(NoteKind::Unreadable, path);
                    }
                    return self.leave(path, LeftBecause::Said);
                }
            },
            Some((stamp, below)) => {
                // A file or a link of the disk's made way for the folder.
                if !matches!(self.own.held.get(path), Some(LayerEntry::Opaque { .. }))
                    && !self.ignores.ignores(name, false)
                    && self.judge.gone(path, stamp, (below, name))
                {
                    let hides = vec![path.to_owned()];
                    self.own.held.insert(path.to_owned(), LayerEntry::Opaque { hides });
                }
                None
            }
            None => None,
        };
        let hides = inner.is_opaque();
        self.folder_alone(path, &inner, disk.map(|(stamp, _)| stamp))?;
        let full = self.own.root.join(path);
        self.ignores.enter(&full, Some(&inner), lower.as_deref().filter(|_| !hides));
        // Files below are compared with the view's, if they show or not.
        self.folder(path, &inner, lower.as_ref(), depth + 1)?;
        self.ignores.leave();
        if let (true, Some(lower)) = (hides, &lower)
            && !matches!(self.own.held.get(path), Some(LayerEntry::Opaque { .. }))
        {
            // Files dropped by then show again, and are not hidden.
            self.judge.settle()?;
            match self.hidden(path, lower, Some(&inner)) {
                HiddenFate::All(hides) => {
                    self.own.held.insert(path.to_owned(), LayerEntry::Opaque { hides });
                }
                HiddenFate::Part => inner.set_opaque(false)?,
                HiddenFate::TooMuch => {}
            }
        }
        Ok(())
    }

    /// Tells what was done to a folder alone, which no proposal has words for.
    fn folder_alone(&mut self, path: &Path, inner: &Folder, disk: Option<Stamp>) -> io::Result<()> {
        let own = inner.own()?;
        if !self.judge.is_of_command(&own) {
            return Ok(());
        }
        let told = &mut self.judge.told;
        match disk.filter(|disk| disk.kind == StampKind::Folder) {
            None if inner.names().is_ok_and(|names| names.is_empty()) => {
                told.add(NoteKind::Hollow, path)
            }
            // A copy's folders have modes of their own.
            Some(disk) if disk.mode != own.mode && !self.is_copy => told.add(NoteKind::Modes, path),
            _ => {}
        }
        Ok(())
    }

    /// A name in the layer that is no folder.
    fn name(
        &mut self,
        path: &Path,
        (up, name): (&Arc<Folder>, &OsStr),
        stamp: Stamp,
        below: Option<&Arc<Folder>>,
    ) -> io::Result<()> {
        let held = self.own.held.get(path);
        if held.is_some() {
            self.unseen.remove(path);
        }
        if let Some(LayerEntry::File { stamp: had, .. }) =
            held.filter(|_| stamp.kind == StampKind::Gone)
        {
            self.judge.left_out.took_away(had);
        }
        if held.and_then(LayerEntry::stamp) == Some(&stamp) {
            return match held {
                Some(LayerEntry::Left { .. }) => self.leave(path, LeftBecause::Said),
                _ => Ok(()),
            };
        }
        let is_ours = held.is_some_and(|held| !matches!(held, LayerEntry::Left { .. }));
        let left_as = LeftAs {
            from: match held {
                Some(LayerEntry::File { from, .. }) => *from,
                _ => None,
            },
            mode: held.and_then(LayerEntry::stamp).map(|stamp| stamp.mode),
            is_moving: self.is_moving,
        };
        if !is_ours && !self.judge.has(path) && self.ignores.ignores(name, false) {
            return self.leave(path, LeftBecause::Ignored);
        }
        if name.to_str().is_none() {
            self.judge.told.add(NoteKind::Unnamed, path);
            self.own.held.insert(path.to_owned(), LayerEntry::Left { stamp });
            return self.leave(path, LeftBecause::Said);
        }
        let Some(disk) = self.disk(path, below, name) else {
            return self.leave(path, LeftBecause::Said);
        };
        // A folder of the disk's that something else took the place of, or that is gone.
        let hidden = match disk {
            Some((Stamp { kind: StampKind::Folder, .. }, below)) => match enter(below, name) {
                Ok(Some(_))
                    if stamp.kind == StampKind::Gone && self.ignores.ignores(name, true) =>
                {
                    return Ok(());
                }
                entered => self.hidden_below(path, entered),
            },
            _ => None,
        };
        let disk = disk.filter(|(disk, _)| disk.kind != StampKind::Folder);
        let after = match (stamp.kind, hidden) {
            (StampKind::Gone, Some(fate)) => self.folder_gone(path, stamp, fate),
            (StampKind::Gone, None) => self.gone(path, name, stamp, disk)?,
            (StampKind::File | StampKind::Link, _) => {
                self.judge.stands(path, (up, name), stamp, disk, left_as)?
            }
            _ => {
                self.judge.told.add(NoteKind::Special, path);
                ChangeDecision::Holds(LayerEntry::Left { stamp })
            }
        };
        self.carry_out(after, path, up, name)
    }

    fn carry_out(
        &mut self,
        decision: ChangeDecision,
        path: &Path,
        up: &Folder,
        name: &OsStr,
    ) -> io::Result<()> {
        match decision {
            ChangeDecision::Holds(held) => drop(self.own.held.insert(path.to_owned(), held)),
            ChangeDecision::Goes => {
                self.own.held.remove(path);
                up.remove(name)?;
            }
            ChangeDecision::Later => {}
        }
        Ok(())
    }

    /// The files of a folder of the disk's that is hidden; None where there is no such folder.
    fn hidden_below(
        &mut self,
        path: &Path,
        entered: io::Result<Option<Folder>>,
    ) -> Option<HiddenFate> {
        match entered {
            Ok(Some(lower)) => {
                let full = self.own.root.join(path);
                self.ignores.enter(&full, None, Some(&lower));
                let hidden = self.hidden(path, &lower, None);
                self.ignores.leave();
                Some(hidden)
            }
            Ok(None) => None,
            Err(_) => {
                self.judge.told.add(NoteKind::Unreadable, path);
                Some(HiddenFate::TooMuch)
            }
        }
    }

    /// The disk's entry under a name, if there is one. None when it can't be looked at, which is told.
    fn disk<'b>(
        &mut self,
        path: &Path,
        below: Option<&'b Arc<Folder>>,
        name: &OsStr,
    ) -> Option<Option<(Stamp, &'b Arc<Folder>)>> {
        let Some(below) = below else { return Some(None) };
        match below.look(name) {
            Ok(found) => Some(found.zip(Some(below))),
            Err(_) => {
                self.judge.told.add(NoteKind::Unreadable, path);
                None
            }
        }
    }

    /// The mark of a deleted name, over a folder of the disk's.
    fn folder_gone(&mut self, path: &Path, stamp: Stamp, fate: HiddenFate) -> ChangeDecision {
        match fate {
            HiddenFate::All(hides) if hides.is_empty() => {
                self.judge.told.add(NoteKind::Removed, path);
                ChangeDecision::Holds(LayerEntry::Left { stamp })
            }
            HiddenFate::All(hides) => ChangeDecision::Holds(LayerEntry::Gone { stamp, hides }),
            HiddenFate::TooMuch => ChangeDecision::Holds(LayerEntry::Left { stamp }),
            HiddenFate::Part => ChangeDecision::Goes,
        }
    }

    /// The mark of a deleted name, over a file or link of the disk's or over nothing.
    fn gone(
        &mut self,
        path: &Path,
        name: &OsStr,
        stamp: Stamp,
        disk: Option<(Stamp, &Arc<Folder>)>,
    ) -> io::Result<ChangeDecision> {
        if !self.judge.has_room_for(1)? {
            self.judge.told.add(NoteKind::Surplus, path);
            return Ok(ChangeDecision::Holds(LayerEntry::Left { stamp }));
        }
        let is_gone = match disk {
            Some((disk, below)) => self.judge.gone(path, disk, (below, name)),
            None => {
                self.judge.gone_from_view(path);
                true
            }
        };
        let held = LayerEntry::Gone { stamp, hides: Vec::new() };
        Ok(if is_gone { ChangeDecision::Holds(held) } else { ChangeDecision::Goes })
    }
}

fn enter(folder: &Folder, name: &OsStr) -> io::Result<Option<Folder>> {
    match folder.enter(name) {
        Ok(inner) => Ok(Some(inner)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// When a command began, for comparing with times of files.
pub(super) type Started = Moment;
