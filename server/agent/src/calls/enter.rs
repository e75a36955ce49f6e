//! Changes of a call on their way into the fork, and in auto mode into the user's text. What of them did not get there is
//! said in the call's result.

use crate::changes::{CallOrigin, MergeOutcome, report_in_words};
use crate::interrupt::{Interrupt, Interrupted};
use crate::session::parts::SessionParts;
use futures::FutureExt;
use ropewalk_files::disk::FileError;
use ropewalk_protocol::{Level, Mode};
use ropewalk_tools::ToolOutput;
use ropewalk_workspace::{HunkId, HunkSelection, MergeReport, Place, Proposal, View};
use std::sync::Arc;

/// Drops what a command proposes that began in mode plan (`drops`), and says so in its result. The mode may be another by now.
pub(crate) fn drop_changes(drops: bool, output: &mut ToolOutput) {
    if drops && !output.proposals.is_empty() {
        output.proposals.clear();
        output.say("\n(What it wrote is dropped: it began in mode plan.)");
    }
}

impl SessionParts {
    /// Takes in what a call proposes, and gives the files in which some of it had lost its place.
    pub(crate) async fn take_changes(
        &self,
        origin: CallOrigin,
        view: &Arc<View>,
        output: &mut ToolOutput,
        interrupt: &Interrupt,
    ) -> Vec<String> {
        let proposals = std::mem::take(&mut output.proposals);
        let moved =
            |proposal: &Proposal| Some((proposal.place.clone(), proposal.change.to()?.clone()));
        let moves: Vec<(Place, Place)> = proposals.iter().filter_map(moved).collect();
        let turn = origin.turn;
        let MergeOutcome { report, hidden } = match &self.thread {
            Some(thread) => thread.files.merge(origin, view, proposals, output).await,
            None => self.changes.merge(origin, view, proposals).await,
        };
        if !hidden.is_empty() {
            output.fail(format_args!(
                    "{} holds a key that is not shown: where you read [key], another text stands, and it would be lost. \
                     Nothing was changed there. Change the text around it alone",
                    named(&hidden)
                ),
            );
        }
        say_what_is_left(&report, output);
        if self.thread.is_some() {
            return report.conflicts;
        }
        if self.settings.get().mode == Mode::Auto && !report.hunks.is_empty() {
            self.publish_but_held(turn, (report.hunks.clone(), moves), output, interrupt).await;
        } else {
            self.changes.show().await;
        }
        report.conflicts
    }

    /// Publishes what a call changed, but for files that others run or follow: those wait for the user.
    async fn publish_but_held(
        &self,
        turn: u64,
        (hunks, moves): (Vec<HunkId>, Vec<(Place, Place)>),
        output: &mut ToolOutput,
        interrupt: &Interrupt,
    ) {
        let parted = self.changes.split(hunks, moves).await;
        match parted.now.is_empty() {
            true => self.changes.show().await,
            false => self.publish(parted.now, output, interrupt).await,
        }
        for (file, reader) in parted.waits {
            output.say(&format!(
                "\n(The change of {file} waits for the user's review, although the mode is auto, because {reader}. The \
                 user is told; go on without it.)"
            ));
            let words = format!(
                "A change of {file} waits for your review although the mode is auto: {reader}."
            );
            self.changes.notice_once(Level::Info, &format!("{turn}"), words);
        }
    }

    async fn publish(&self, hunks: Vec<HunkId>, output: &mut ToolOutput, interrupt: &Interrupt) {
        let changes = self.changes.clone();
        // A task of its own: an edit that is on its way is seen through, also when the user interrupts.
        let mut publishing = tokio::spawn(
            async move { changes.publish(&HunkSelection::Hunks(hunks)).await }.boxed(),
        );
        let changes = self.changes.clone();
        let failed = match interrupt.or(&mut publishing).await {
            // Said in the result, which makes its notes unneeded.
            Ok(Ok(report)) => {
                changes.tell_user(&report);
                report.told.iter().for_each(|told| output.say(&format!("\n({told})")));
                changes.tell_also_open(&report);
                report_in_words(&report).1
            }
            Ok(Err(error)) => {
                tracing::error!(%error, "a publish panicked");
                vec!["it failed inside Ropewalk; the log has the details".to_owned()]
            }
            Err(Interrupted) => {
                output.say("\n(interrupted by the user while this was on its way into their text)");
                tokio::spawn(
                    async move {
                        if let Ok(report) = publishing.await {
                            changes.tell_model(&report);
                            changes.tell_user(&report);
                        }
                        changes.show().await;
                    }
                    .boxed(),
                );
                return;
            }
        };
        changes.show().await;
        if !failed.is_empty() {
            self.events.warn(format!("Not in your text yet: {}", failed.join("; ")));
            output.say(&format!("\n(Not in the user's text yet: {})", failed.join("; ")));
        }
    }
}

/// Says in a call's result what of its changes was not taken in, and why.
fn say_what_is_left(report: &MergeReport, output: &mut ToolOutput) {
    if !report.stays.is_empty() {
        let words = "the file stays, because its new place was not taken in";
        output.fail(format_args!("{}: {words}", named(&report.stays)));
    }
    let is_nobodys = |error: &&FileError| {
        use FileError::{OfConversation, OfNotebook, OfStore};
        matches!(error, OfStore { .. } | OfConversation { .. } | OfNotebook { .. })
    };
    let (nobodys, unread): (Vec<_>, Vec<_>) = report.refused.iter().partition(is_nobodys);
    if !unread.is_empty() {
        let why: Vec<String> = unread.iter().map(ToString::to_string).collect();
        output
            .fail(format_args!("{}: it could not be read, so it was left unchanged", named(&why)));
    }
    if !nobodys.is_empty() {
        let why: Vec<String> = nobodys.iter().map(ToString::to_string).collect();
        output.fail(named(&why));
    }
    if !report.conflicts.is_empty() {
        output.fail(format_args!(
                "The same text in {} was changed while this call ran, by the user or by another of your calls; \
                 that part was left out. Read it again before you go on.",
                report.conflicts.join(", ")
            ),
        );
    }
}

/// How many names one sentence has.
const NAMED: usize = 10;

/// So many of them, and how many there are besides.
fn named(all: &[String]) -> String {
    let joined = all.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => joined,
        more => format!("{joined} and {more} more"),
    }
}
