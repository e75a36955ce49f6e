//! A branch: a fork of a fork, in which a helper works beside the session.
//!
//! Its own work is what it has beyond the fork it started from, and comes back by one merge. When that fork moves on,
//! because the user types, decides or another call is merged, the branch follows: its own work finds its place in what
//! the fork holds then. In between it stands on the texts as they were, so that nothing of the user's counts as its work.
//! No ledger and no news tells of a branch.

use super::{Fork, MergeOrigin, MergeReport, Proposal, ProposedChange, base_of};
use crate::DocId;
use crate::bundle::{Bundle, BundleGuard, TakeError, take};
use crate::entry::{Base, FileChange, Maker};
use crate::log::DeltaLog;
use crate::view::{ForkedFile, FrozenContent, View};
use crate::workspace::Workspace;
use ropewalk_files::disk::FileError;
use ropewalk_files::paths::Place;
use ropewalk_text::decode::FileFormat;
use ropewalk_text::{ChangeSet, Text, diff, refine_letters};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// See the module.
#[derive(Clone, Debug)]
pub struct Branch {
    start: Fork,
    now: Fork,
    turn: u64,
    maker: Maker,
}

impl Branch {
    /// A branch of what a fork holds, which works for a call of this turn.
    pub fn of(fork: &Fork, turn: u64, maker: Maker) -> Self {
        let start = fork.clone().detached();
        Self { now: start.clone(), start, turn, maker }
    }

    /// A branch that has come from one fork to the other.
    pub fn between(start: &Fork, now: &Fork, turn: u64, maker: Maker) -> Self {
        Self { start: start.clone().detached(), now: now.clone().detached(), turn, maker }
    }

    /// Takes bundles into what the branch starts from, in this order: own work is what comes after. Blocking.
    ///
    /// # Errors
    /// When one can't be taken in. The branch is as it was.
    pub fn start_with(
        &mut self,
        workspace: &Workspace,
        bundles: &[(&Bundle, Maker)],
        guard: BundleGuard<'_>,
    ) -> Result<(), TakeError> {
        let start = Mutex::new(self.start.clone());
        for (bundle, maker) in bundles {
            let origin = MergeOrigin { turn: self.turn, maker };
            take(workspace, &start, bundle, origin, guard)?;
        }
        let start = start.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.follow(workspace, start);
        Ok(())
    }

    /// Brings the branch to the user's text as it is now. The report names the files in which own work has lost its
    /// place. Blocking.
    pub fn refresh(&mut self, workspace: &Workspace) -> MergeReport {
        workspace.look_at_disks();
        let mut start = self.start.clone();
        start.sync_now(workspace);
        self.follow(workspace, start)
    }

    /// The branch's own work as a bundle, and the files that were left out, as they are shown. Blocking.
    ///
    /// # Errors
    /// When a file that it changes can't be read.
    pub fn bundle(
        &mut self,
        workspace: &Workspace,
        guard: BundleGuard<'_>,
    ) -> Result<(Bundle, Vec<String>), FileError> {
        let (view, work) = self.work(workspace);
        Bundle::of(&view, &work, guard)
    }

    /// True if both forks stand on the same texts, so that what the user typed is in neither's changes.
    pub fn is_level(&self) -> bool {
        let same = |(id, start): (&DocId, &super::ForkFile)| {
            let now = self.now.files.get(id);
            now.is_none_or(|now| now.entry.base.text() == start.entry.base.text())
        };
        self.start.files.iter().all(same)
    }

    /// The fork that the branch started from, with what it follows since.
    pub fn start(&self) -> &Fork {
        &self.start
    }

    /// The fork that the branch's calls see and change. It is never published.
    pub fn fork(&mut self) -> &mut Fork {
        &mut self.now
    }

    /// Brings the branch to what the fork that it started from holds now. The report names the files in which own work
    /// has lost its place. Blocking.
    pub fn follow(&mut self, workspace: &Workspace, fork: Fork) -> MergeReport {
        let (view, work) = self.work(workspace);
        self.start = fork.detached();
        self.now = self.start.clone();
        self.now.merge(workspace, &view, self.turn, &self.maker, work)
    }

    /// The branch's own work, as proposals on the view that they were made on: for [`merge`](super::merge()).
    pub fn work(&mut self, workspace: &Workspace) -> (View, Vec<Proposal>) {
        let snapshot = workspace.snapshot();
        let now = self.now.view(snapshot.clone());
        let mut start = self.start.view(snapshot.clone()).entries().clone();
        let ids: BTreeSet<&DocId> = start.keys().chain(now.entries().keys()).collect();
        let ids: Vec<DocId> = ids.into_iter().cloned().collect();
        let (mut first, mut names) = (Vec::new(), Vec::new());
        for id in &ids {
            if !start.contains_key(id)
                && let Some(under) = self.under(id)
            {
                start.insert(id.clone(), under);
            }
        }
        for id in ids.iter().filter(|id| !is_away(&start, id)) {
            let Some(was) = start.get(id) else { continue };
            let Some(place) = was.place.clone() else { continue };
            let goes_to = self.goes_to(id, now.entries());
            let is = match &goes_to {
                Some(to) => now.entries().get(to).cloned(),
                None => now.entries().get(id).cloned().or_else(|| self.base_in_start(id)),
            };
            let Some(is) = is else { continue };
            let mode = is.mode.filter(|mode| was.mode != Some(*mode));
            let change = match content_change(was.content.as_ref(), is.content.as_ref()) {
                Some(ProposedChange::Edit(coarse)) => {
                    let to = goes_to.as_ref().unwrap_or(id);
                    Some(ProposedChange::Edit(self.text_change(id, to).unwrap_or(coarse)))
                }
                change => change,
            };
            let mode = mode.map(ProposedChange::Mode);
            let changes = change.into_iter().chain(mode);
            first.extend(changes.map(|change| Proposal { place: place.clone(), change }));
            if let Some(to) = goes_to.and(is.place) {
                names.push(Proposal { place, change: ProposedChange::Rename { to } });
            }
        }
        first.extend(names);
        (View::new(snapshot, start), first)
    }

    /// The change of a file's text that the branch has made, exactly: what is pending in it now beyond what was pending
    /// at the start. None if the two stand on different texts.
    fn text_change(&self, id: &DocId, to: &DocId) -> Option<ChangeSet> {
        let (start, now) = (self.start.files.get(id), self.now.files.get(to));
        let base = start.or(now)?.entry.base.text();
        let nothing = || ChangeSet::identity(base.len());
        let start = start.map_or_else(nothing, |file| file.entry.set().clone());
        if let Some(now) = now.filter(|now| now.entry.base.text() != base) {
            tracing::debug!(file = now.shown, "a branch stands on another text than its start");
            return None;
        }
        let now = now.map_or_else(nothing, |file| file.entry.set().clone());
        let own = start.invert(&base).compose(&now).ok()?;
        Some(refine_letters(&own, &start.apply(&base).ok()?))
    }

    /// The name that the branch has given to what stands under a name at its start, if it is another.
    fn goes_to(&self, id: &DocId, now: &BTreeMap<DocId, ForkedFile>) -> Option<DocId> {
        let source = match self.start.files.get(id) {
            Some(file) => base_of(id, &file.entry),
            None => id,
        };
        let comes_from = |(new, _): &(&DocId, &ForkedFile)| {
            let file = self.now.files.get(*new);
            let change = file.and_then(|file| file.entry.file.as_ref());
            matches!(change, Some((FileChange::Rename { from }, _)) if from == source)
        };
        let renamed = now.iter().find(comes_from).map(|(new, _)| new.clone());
        let back =
            || (source != id && now.get(source).is_none_or(|f| !f.away)).then(|| source.clone());
        renamed.or_else(back).filter(|to| to != id)
    }

    /// The file under one in which only the branch has something.
    fn under(&self, id: &DocId) -> Option<ForkedFile> {
        let file = self.now.files.get(id)?;
        if base_of(id, &file.entry) != id {
            return None;
        }
        Some(frozen_base(id, &file.entry.base, file.place.clone()))
    }

    /// The file under one in which the branch has nothing any more.
    fn base_in_start(&self, id: &DocId) -> Option<ForkedFile> {
        let file = self.start.files.get(id)?;
        Some(frozen_base(id, &file.entry.base, file.place.clone()))
    }
}

fn is_away(files: &BTreeMap<DocId, ForkedFile>, id: &DocId) -> bool {
    files.get(id).is_some_and(|frozen| frozen.away)
}

/// A file as it lies under a fork.
fn frozen_base(id: &DocId, base: &Base, place: Option<Place>) -> ForkedFile {
    let content = match base {
        Base::Buffer { text, .. } => Some(FrozenContent::Text(text.clone(), FileFormat::default())),
        Base::Disk { text, format, .. } => Some(FrozenContent::Text(text.clone(), *format)),
        Base::Binary { .. } => place.clone().map(FrozenContent::OnDisk),
        Base::Link { target } => Some(FrozenContent::Link(target.clone())),
        Base::Absent => None,
    };
    let over_link = matches!(base, Base::Link { .. });
    let (source, cursor) = (id.clone(), DeltaLog::default().cursor());
    ForkedFile { place, content, mode: None, source, away: false, over_link, cursor }
}

/// The change that makes one content of another. None if nothing is to be done.
fn content_change(
    was: Option<&FrozenContent>,
    is: Option<&FrozenContent>,
) -> Option<ProposedChange> {
    let write = |text: &Text| Some(ProposedChange::Write(text.clone()));
    match (was, is) {
        (Some(FrozenContent::Text(was, _)), Some(FrozenContent::Text(is, _))) => {
            (was != is).then(|| ProposedChange::Edit(diff(was, is)))
        }
        (_, Some(FrozenContent::Text(is, _))) => write(is),
        (Some(FrozenContent::Bytes(was)), Some(FrozenContent::Bytes(is))) if was == is => None,
        (_, Some(FrozenContent::Bytes(is))) => Some(ProposedChange::Binary(is.clone())),
        (Some(FrozenContent::Link(was)), Some(FrozenContent::Link(is))) if was == is => None,
        (_, Some(FrozenContent::Link(is))) => Some(ProposedChange::Link(is.clone())),
        (_, Some(FrozenContent::OnDisk(_))) | (None, None) => None,
        (Some(_), None) => Some(ProposedChange::Delete),
    }
}
