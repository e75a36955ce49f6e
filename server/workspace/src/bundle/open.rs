//! A bundle is opened among the folders that are open here: a view of its base texts, and its changes on that.

use super::{Bundle, BundleBase, BundleChange, BundleError, BundleFile, BundleGuard};
use crate::fork::{Proposal, ProposedChange};
use crate::log::DeltaLog;
use crate::view::{ForkedFile, FrozenContent, View};
use ropewalk_files::paths::{Links, Place, Root, Roots};
use ropewalk_files::repository::Repositories;
use ropewalk_text::{ChangeSet, Text};
use std::collections::BTreeMap;
use std::path::Path;

/// A file of a bundle, with its places here.
pub(super) struct OpenFile<'a> {
    pub(super) file: &'a BundleFile,
    pub(super) place: Place,
    pub(super) to: Option<Place>,
}

impl Bundle {
    /// Finds the places of its files below these roots. `over`: links that count before the disk's. Blocking.
    pub(super) fn open(
        &self,
        view: &View,
        guard: BundleGuard<'_>,
    ) -> Result<Vec<OpenFile<'_>>, BundleError> {
        let roots = view.roots();
        let mut links = view.links().clone();
        for file in &self.files {
            guard.check(file)?;
            let Some(BundleChange::Link(target)) = &file.change else { continue };
            let (root, path) =
                file.to.as_ref().map_or((&file.root, &file.path), |to| (&to.0, &to.1));
            let path = root_named(roots, root, path)?.path().join(path);
            links.insert(path, Some(target.clone()));
        }
        let open = |file| OpenFile::new(file, roots, &links);
        self.files.iter().map(open).collect()
    }
}

fn root_named<'a>(roots: &'a Roots, name: &str, path: &str) -> Result<&'a Root, BundleError> {
    let unknown = || BundleError::UnknownRoot { root: name.to_owned(), path: path.to_owned() };
    roots.iter().find(|root| root.name() == name).ok_or_else(unknown)
}

/// The place of a name, which must be where it says.
fn place_of(
    roots: &Roots,
    (root, path): (&str, &str),
    links: &Links,
) -> Result<Place, BundleError> {
    let whole = root_named(roots, root, path)?.path().join(path);
    let through = |why: String| BundleError::ThroughLink { path: path.to_owned(), why };
    let place = roots.name_over(&whole, links).map_err(|error| through(error.to_string()))?;
    match place.path == whole {
        true => Ok(place),
        false => Err(through(format!("it is {}", place.shown))),
    }
}

impl<'a> OpenFile<'a> {
    fn new(file: &'a BundleFile, roots: &Roots, links: &Links) -> Result<Self, BundleError> {
        let place = place_of(roots, (&file.root, &file.path), links)?;
        let to = file.to.as_ref().map(|(root, path)| place_of(roots, (root, path), links));
        let to = to.transpose()?;
        let mut repositories = Repositories::default();
        if let Some(own) =
            [Some(&place), to.as_ref()].into_iter().flatten().find(|p| repositories.own(p))
        {
            return Err(BundleError::OfStore { path: own.shown.clone() });
        }
        let open = Self { file, place, to };
        open.check_link(roots, links)?;
        Ok(open)
    }

    /// Judges where a link would lead.
    fn check_link(&self, roots: &Roots, links: &Links) -> Result<(), BundleError> {
        let target = match (&self.file.change, &self.file.base, &self.to) {
            (Some(BundleChange::Link(target)), ..) => target,
            (None, BundleBase::Link { target }, Some(_)) => target,
            _ => return Ok(()),
        };
        let place = self.to.as_ref().unwrap_or(&self.place);
        let leads = place.path.parent().map(|above| above.join(target));
        let is_inside = |path: &Path| roots.place_over(path, links).is_ok();
        match leads.is_some_and(|path| is_inside(&path)) {
            true => Ok(()),
            false => Err(BundleError::LeadsOut {
                path: place.shown.clone(),
                target: target.display().to_string(),
            }),
        }
    }

    /// The file as it was when the change was made.
    fn frozen(&self) -> ForkedFile {
        let place = Some(self.place.clone());
        let content = match &self.file.base {
            BundleBase::Text { text, format, .. } => {
                Some(FrozenContent::Text(Text::from(text.as_str()), *format))
            }
            BundleBase::Binary { .. } => Some(FrozenContent::OnDisk(self.place.clone())),
            BundleBase::Link { target } => Some(FrozenContent::Link(target.clone())),
            BundleBase::Absent => None,
        };
        let over_link = matches!(self.file.base, BundleBase::Link { .. });
        let (source, cursor) = (self.place.doc(), DeltaLog::default().cursor());
        ForkedFile { place, content, mode: None, source, away: false, over_link, cursor }
    }

    /// Its changes, but for the new name.
    fn changes(&self) -> Result<Vec<Proposal>, BundleError> {
        let change = match &self.file.change {
            Some(BundleChange::Edits(_)) => {
                let set = self.file.edits()?;
                Some(ProposedChange::Edit(set.unwrap_or_else(|| ChangeSet::identity(0))))
            }
            Some(BundleChange::Write(text)) => {
                Some(ProposedChange::Write(Text::from(text.as_str())))
            }
            Some(BundleChange::Delete) => Some(ProposedChange::Delete),
            Some(BundleChange::Binary(bytes)) => Some(ProposedChange::Binary(bytes.clone())),
            Some(BundleChange::Link(target)) => Some(ProposedChange::Link(target.clone())),
            None => None,
        };
        let mode = self.file.mode.map(ProposedChange::Mode);
        let all = change.into_iter().chain(mode);
        Ok(all.map(|change| Proposal { place: self.place.clone(), change }).collect())
    }
}

/// A view of the base texts of these files over what is open, and their changes on it.
pub(super) fn given(
    view: &View,
    files: &[OpenFile<'_>],
) -> Result<(View, Vec<Proposal>), BundleError> {
    let mut entries = BTreeMap::new();
    let (mut changes, mut names) = (Vec::new(), Vec::new());
    for open in files {
        entries.insert(view.id_of(&open.place, view.roots()), open.frozen());
        changes.extend(open.changes()?);
        if let Some(to) = open.to.clone() {
            let change = ProposedChange::Rename { to };
            names.push(Proposal { place: open.place.clone(), change });
        }
    }
    changes.extend(names);
    Ok((view.of_given(entries), changes))
}
