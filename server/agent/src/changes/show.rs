//! Pending hunks on their way to the front end, and what user and model are told of a publish.

use super::{Changes, ReviewSnapshot};
use crate::held::reader_of;
use crate::shown::{hunk_info, leave_out_long, text_range};
use ropewalk_protocol::plugin::HunkTexts;
use ropewalk_protocol::{Event, HunkInfo, Level};
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_tools::policy::TrustedFiles;
use ropewalk_workspace::fork::{Answers, HunkPlaces, synced_by};
use ropewalk_workspace::publish::{AlsoOpen, PublishReport};
use ropewalk_workspace::state::SavedState;
use ropewalk_workspace::{DisplacedChange, DocId, Fork, Hunk};
use std::sync::{Arc, PoisonError};

/// A look at the pending hunks, to be shown.
pub(crate) struct HunkLook {
    number: u64,
    hunks: Vec<HunkInfo>,
    /// News of what is pending no more: it is published, or has lost its place.
    news: Vec<Event>,
}

impl Changes {
    /// The pending hunks, in sync with the open documents as they are now, and with the disk as it was last looked at.
    /// Touches no disk.
    pub(crate) fn hunks(&self) -> Vec<Hunk> {
        let mut state = self.state();
        state.fork.sync(&self.workspace, &Answers::default());
        state.fork.hunks()
    }

    /// The pending changes as of the last look. Never waits for the fork.
    pub(crate) fn review(&self) -> ReviewSnapshot {
        self.last_look().review.clone()
    }

    /// The texts of a pending change as of the last look, without keys.
    pub(crate) fn hunk_texts(&self, id: u64) -> Option<HunkTexts> {
        let review = self.review();
        let hunk = review.hunks().find(|hunk| hunk.id.0 == id)?;
        let keys = self.settings.keys();
        let shown = |text: &str| keys.redact(text).into_owned();
        Some(HunkTexts { old: shown(&hunk.old), new: shown(&hunk.new), diff: shown(&hunk.diff) })
    }

    /// Keeps what can be reviewed now for those who have no fork, and gives it with the number of the look. `fork` is
    /// locked, so that the last look is of the last state.
    pub(super) fn note(&self, fork: &Fork) -> (u64, ReviewSnapshot) {
        let latest_turn = self.workspace.ledger().latest_turn(&self.session);
        let review = ReviewSnapshot { files: fork.file_hunks().into(), latest_turn };
        let mut last = self.last_look();
        last.number += 1;
        let (number, before) = (last.number, std::mem::replace(&mut last.review, review.clone()));
        drop(last);
        // Thousands of hunks may go with it, which nobody is to wait for.
        drop(before);
        (number, review)
    }

    /// Shows the pending hunks if they are not as they were shown last. What is told last is the newest.
    pub(crate) async fn show(self: &Arc<Self>) {
        let looked = self.look().await;
        self.tell(looked);
    }

    /// Looks at the pending hunks, which [`Changes::tell`] shows. From then on [`Changes::review`] has them. None if that
    /// failed, which is logged.
    pub(crate) async fn look(self: &Arc<Self>) -> Option<HunkLook> {
        let changes = self.clone();
        let looked = spawn_blocking(move || changes.look_now()).await;
        looked.inspect_err(|error| tracing::error!(%error, "no look at the pending hunks")).ok()
    }

    fn look_now(&self) -> HunkLook {
        let ((number, review), commands, published) = synced_by(
            &self.workspace,
            || self.state(),
            |state| &mut state.fork,
            |state, _| {
                let state = &mut **state;
                let looked = self.note(&state.fork);
                self.record(state, SavedState::record_promptly);
                let published = state.published.take_new(&self.workspace, &self.session);
                (looked, state.commands.clone(), published)
            },
        );
        let keys = self.settings.keys();
        let roots = self.workspace.roots();
        let trusted = match review.files.is_empty() {
            true => TrustedFiles::default(),
            false => TrustedFiles::of(&roots),
        };
        let mut hunks = Vec::with_capacity(review.pending());
        for file in review.files.iter() {
            let HunkPlaces { document, version, hunks: placed } = file.places(&self.workspace);
            hunks.extend(placed.into_iter().map(|(hunk, range)| {
                let reader = reader_of(hunk, &roots, &trusted);
                let info = hunk_info(hunk, &commands, reader, &keys);
                let source = document.as_ref().filter(|document| **document != hunk.doc);
                let source = source.map(DocId::to_uri);
                HunkInfo { source, version, range: text_range(range), ..info }
            }));
        }
        leave_out_long(&mut hunks);
        let displaced = self.workspace.take_displaced(&self.session).into_iter();
        let mut news: Vec<Event> = displaced.map(|change| self.set_aside(change)).collect();
        news.extend(self.published_events(&published));
        HunkLook { number, hunks, news }
    }

    fn set_aside(&self, change: DisplacedChange) -> Event {
        let keys = self.settings.keys();
        let shown = |text: &str| keys.redact(text).into_owned();
        let DisplacedChange { file, old, new, now } = change;
        let place = self.workspace.roots().contain(&file);
        let doc = place.map_or_else(|_| DocId::from_uri(&file), |place| place.doc());
        let (old, new, now) = (shown(&old), shown(&new), shown(&now));
        Event::SetAside { file, uri: doc.to_uri(), old, new, now }
    }

    /// Shows what was looked at, unless that is shown already, or something newer.
    pub(crate) fn tell(&self, looked: Option<HunkLook>) {
        let Some(HunkLook { number, hunks, news }) = looked else { return };
        news.into_iter().for_each(|event| self.events.tell(event));
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if number < told.number {
            return;
        }
        told.number = number;
        if told.hunks != hunks {
            told.hunks.clone_from(&hunks);
            self.events.tell(Event::Hunks { hunks });
        }
    }

    /// Tells the user of something, unless it was told already for the same reason.
    pub(crate) fn notice_once(&self, level: Level, reason: &str, message: String) {
        if self.state().told.insert(format!("{reason} {message}")) {
            self.events.notice(level, message);
        }
    }

    /// Tells the user what they should know of what was done.
    pub(crate) fn tell_user(&self, report: &PublishReport) {
        for sentence in &report.told {
            self.events.warn(sentence.clone());
        }
    }

    /// Tells the user of changed files that are open under another name too.
    pub(crate) fn tell_also_open(&self, report: &PublishReport) {
        for AlsoOpen { changed, other, is_unsaved } in &report.also_open {
            let mut words = format!(
                "{other} is the same file as {changed}, and both are open. The change was made in {changed}: {other} shows it \
                 once that is saved and {other} is read anew."
            );
            if *is_unsaved {
                words.push_str(&format!(
                    " {other} has unsaved text of its own, which would be lost then, or would take the change back if \
                     it is saved."
                ));
            }
            self.notice_once(Level::Warning, "", words);
        }
    }

    /// Tells the model with its next message what it has not heard yet of a publish.
    pub(crate) fn tell_model(&self, report: &PublishReport) {
        for note in &report.notes {
            self.workspace.tell(Some(self.session.clone()), note.clone());
        }
    }
}

/// The number of hunks that are done, and words for each file that failed.
pub(crate) fn report_in_words(report: &PublishReport) -> (usize, Vec<String>) {
    let failed = report.failed.iter().map(|(file, why)| format!("{file}: {why}")).collect();
    (report.done.len(), failed)
}
