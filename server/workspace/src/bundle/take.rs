//! A bundle is taken into a fork, by a merge of all or nothing.

use super::make::base_of;
use super::open::{OpenFile, given};
use super::{Bundle, BundleBase, BundleChange, BundleConflict, BundleGuard, TakeError};
use crate::entry::{lines_around, lines_changed};
use crate::fork::{MergeOrigin, MergeReport, merge_all, synced};
use crate::owner::ForkOwner;
use crate::view::View;
use crate::workspace::Workspace;
use ropewalk_text::{Text, coarse_diff};
use std::path::Path;

/// Takes a bundle into a fork that others use too: all of it, or nothing. Changes that the fork has already melt. Blocking.
///
/// # Errors
/// When the bundle is broken or leads elsewhere, when changes of it have lost their place, or when a file is being
/// written. The fork is as it was then.
pub fn take(
    workspace: &Workspace,
    fork: &dyn ForkOwner,
    bundle: &Bundle,
    origin: MergeOrigin<'_>,
    guard: BundleGuard<'_>,
) -> Result<MergeReport, TakeError> {
    workspace.look_at_disks();
    let (view, busy) = synced(workspace, fork, |fork, _| {
        let writing = fork.files().filter(|(_, file)| file.is_under_way());
        let busy: Vec<String> = writing.map(|(_, file)| file.shown.clone()).collect();
        (fork.view(workspace.snapshot()), busy)
    });
    let mut files = bundle.open(&view, guard)?;
    let shown = |file: &OpenFile<'_>| file.place.shown.clone();
    let busy: Vec<String> = files.iter().map(shown).filter(|file| busy.contains(file)).collect();
    if !busy.is_empty() {
        return Err(TakeError::Busy(busy));
    }
    let mut conflicts = Vec::new();
    let mut error = None;
    files.retain(|file| match file.stands(&view) {
        Ok(Standing::There) => false,
        Ok(Standing::Mergeable) => true,
        Ok(Standing::Other) => {
            conflicts.extend(file.conflicts(&view));
            true
        }
        Err(unread) => {
            error = Some(unread);
            true
        }
    });
    if let Some(error) = error {
        return Err(error);
    }
    if !conflicts.is_empty() {
        return Err(TakeError::Conflict(conflicts));
    }
    let (given, proposals) = given(&view, &files)?;
    merge_all(workspace, fork, &given, origin, proposals)
        .map_err(|report| told(report, &files, &view))
}

/// Why a merge was not whole.
fn told(report: MergeReport, files: &[OpenFile<'_>], view: &View) -> TakeError {
    if let Some(error) = report.refused.into_iter().next() {
        return TakeError::File(error);
    }
    let is_lost = |file: &&OpenFile<'_>| {
        let names = [Some(&file.place), file.to.as_ref()];
        names.into_iter().flatten().any(|place| report.conflicts.contains(&place.shown))
    };
    let lost = files.iter().filter(is_lost);
    TakeError::Conflict(lost.flat_map(|file| file.conflicts(view)).collect())
}

/// How a file of a bundle stands to what the fork has there.
enum Standing {
    /// All of it is there already.
    There,
    /// It is of the same kind as it was.
    Mergeable,
    /// It is something else now.
    Other,
}

impl OpenFile<'_> {
    fn stands(&self, view: &View) -> Result<Standing, TakeError> {
        let now = base_of(view, &self.place)?;
        if self.is_there(&now, view)? {
            return Ok(Standing::There);
        }
        let is_same = match (&self.file.base, &now) {
            (BundleBase::Text { .. }, BundleBase::Text { .. }) => true,
            (BundleBase::Absent, BundleBase::Text { .. }) => {
                matches!(self.file.change, Some(BundleChange::Write(_)))
            }
            (base, now) => base == now,
        };
        let is_free = match &self.to {
            Some(to) => base_of(view, to)? == BundleBase::Absent,
            None => true,
        };
        Ok(if is_same && is_free { Standing::Mergeable } else { Standing::Other })
    }

    /// True if the fork has what this would make.
    fn is_there(&self, now: &BundleBase, view: &View) -> Result<bool, TakeError> {
        let at_home = match &self.to {
            None => now.clone(),
            Some(_) if *now != BundleBase::Absent => return Ok(false),
            Some(to) => base_of(view, to)?,
        };
        let has_text = |text: &Text| match &at_home {
            BundleBase::Text { text: own, .. } => *text == Text::from(own.as_str()),
            _ => false,
        };
        let has_content = match &self.file.change {
            Some(BundleChange::Edits(_) | BundleChange::Write(_)) => {
                self.file.text_after().is_some_and(|text| has_text(&text))
            }
            Some(BundleChange::Delete) => at_home == BundleBase::Absent,
            Some(BundleChange::Binary(bytes)) => {
                at_home == BundleBase::Binary { hash: crate::ContentHash::of(bytes) }
            }
            Some(BundleChange::Link(target)) => {
                at_home == BundleBase::Link { target: target.clone() }
            }
            None => self.to.is_some() && at_home == self.file.base,
        };
        // Only publishing knows if the bits are there: they are proposed again.
        Ok(has_content && self.file.mode.is_none())
    }

    /// The changes of the file that have lost their place, each with what stands there now.
    fn conflicts(&self, view: &View) -> Vec<BundleConflict> {
        let path = self.place.shown.clone();
        let now = base_of(view, &self.place).unwrap_or(BundleBase::Absent);
        let (old, now_text) = (self.file.base_text(), text_of(&now));
        let set = self.file.edits().ok().flatten();
        let rebased = set.as_ref().zip(now_text.as_ref()).and_then(|(set, now)| {
            let typed = coarse_diff(&old, now);
            let new = set.apply(&old).ok()?;
            let lost = set.rebase(&typed).ok()?.conflicts;
            let all = set.changes().iter().zip(set.new_ranges()).enumerate();
            let lost = all.filter(|(index, _)| lost.contains(index)).map(|(_, (change, after))| {
                let (old, new) = lines_changed(&old, change, (&new, after));
                BundleConflict {
                    path: path.clone(),
                    old,
                    new,
                    now: lines_around(now, typed.map_range(change.range.clone())),
                }
            });
            Some(lost.collect::<Vec<_>>()).filter(|lost| !lost.is_empty())
        });
        let new = match (&self.file.change, &self.to) {
            (Some(BundleChange::Delete), _) => "(no file)".to_owned(),
            (Some(BundleChange::Binary(_)), _) => "(other bytes)".to_owned(),
            (Some(BundleChange::Link(target)), _) => said_link(target),
            (_, Some(to)) => format!("(the name {})", to.shown),
            (Some(_), None) => self.file.text_after().unwrap_or_default().to_string(),
            (None, None) => "(another mode)".to_owned(),
        };
        let whole = || BundleConflict {
            path: path.clone(),
            old: said(&self.file.base),
            new: new.clone(),
            now: said(&now),
        };
        rebased.unwrap_or_else(|| vec![whole()])
    }
}

fn text_of(base: &BundleBase) -> Option<Text> {
    match base {
        BundleBase::Text { text, .. } => Some(Text::from(text.as_str())),
        _ => None,
    }
}

fn said(base: &BundleBase) -> String {
    match base {
        BundleBase::Text { text, .. } => text.clone(),
        BundleBase::Binary { .. } => "(a file that is no text)".to_owned(),
        BundleBase::Link { target } => said_link(target),
        BundleBase::Absent => "(no file)".to_owned(),
    }
}

fn said_link(target: &Path) -> String {
    format!("(a link to {})", target.display())
}
