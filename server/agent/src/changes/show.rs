//! Pending hunks on their way to the front end, and what user and model are told of a publish.

use super::{Changes, State};
use crate::held::reader_of;
use crate::shown::hunk_info;
use ropewalk_protocol::{Event, HunkInfo, Level};
use ropewalk_tools::policy::TrustedFiles;
use ropewalk_workspace::Hunk;
use ropewalk_workspace::fork::{Answers, synced_by};
use ropewalk_workspace::publish::PublishReport;
use ropewalk_workspace::state::Kept;
use std::sync::{Arc, MutexGuard};
use tokio::task::spawn_blocking;

impl Changes {
    /// The pending hunks, in sync with the open documents as they are now, and with the disk as it was last looked at.
    /// Touches no disk.
    pub(crate) fn hunks(&self) -> Vec<Hunk> {
        self.hunks_of(self.state())
    }

    /// The same, unless somebody else has the lock now. Never waits.
    pub(crate) fn try_hunks(&self) -> Option<Vec<Hunk>> {
        self.try_state().map(|state| self.hunks_of(state))
    }

    fn hunks_of(&self, mut state: MutexGuard<'_, State>) -> Vec<Hunk> {
        state.fork.sync(&self.workspace, &Answers::default());
        state.fork.hunks()
    }

    /// Shows the pending hunks if they are not as they were shown last. What is told last is the newest.
    pub(crate) async fn show(self: &Arc<Self>) {
        let changes = self.clone();
        if let Err(error) = spawn_blocking(move || changes.show_now()).await {
            tracing::error!(%error, "the pending hunks could not be shown");
        }
    }

    fn show_now(&self) {
        let (number, hunks, commands) = synced_by(
            &self.workspace,
            || self.state(),
            |state| &mut state.fork,
            |state, _| {
                let state = &mut **state;
                self.record(state, Kept::record_promptly);
                state.shown.looked += 1;
                (state.shown.looked, state.fork.hunks(), state.commands.clone())
            },
        );
        let keys = self.settings.keys();
        let roots = self.workspace.roots();
        let trusted = match hunks.is_empty() {
            true => TrustedFiles::default(),
            false => TrustedFiles::of(&roots),
        };
        let info = |hunk: &Hunk| {
            let reader = reader_of(hunk, &roots, &trusted);
            hunk_info(hunk, &commands, reader, &keys)
        };
        let hunks: Vec<HunkInfo> = hunks.iter().map(info).collect();
        let mut state = self.state();
        let shown = &mut state.shown;
        if number < shown.told {
            return;
        }
        shown.told = number;
        if shown.hunks != hunks {
            shown.hunks.clone_from(&hunks);
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
    pub(crate) fn tell_now(&self, report: &PublishReport) {
        for sentence in &report.told {
            self.events.warn(sentence.clone());
        }
    }

    /// Tells the user of changed files that are open under another name too.
    pub(crate) fn tell_others(&self, report: &PublishReport) {
        for (file, other, is_dirty) in &report.also_open {
            let mut words = format!(
                "{other} is the same file as {file}, and both are open. The change was made in {file}: {other} shows it \
                 once that is saved and {other} is read anew."
            );
            if *is_dirty {
                words.push_str(&format!(
                    " {other} has unsaved text of its own, which would be lost then, or would take the change back if \
                     it is saved."
                ));
            }
            self.notice_once(Level::Warning, "", words);
        }
    }

    /// Tells the model with its next message what it has not heard yet of a publish.
    pub(crate) fn tell_later(&self, report: &PublishReport) {
        for note in &report.notes {
            self.workspace.tell(Some(self.session.clone()), note.clone());
        }
    }
}

/// How many hunks a report is about, and what failed.
pub(crate) fn in_words(report: &PublishReport) -> (usize, Vec<String>) {
    let failed = report.failed.iter().map(|(file, why)| format!("{file}: {why}")).collect();
    (report.done.len(), failed)
}
