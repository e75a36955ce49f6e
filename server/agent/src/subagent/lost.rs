//! Work of a subagent that was left out while its branch followed the session's fork.

use ropewalk_tools::ToolOutput;
use ropewalk_workspace::MergeReport;
use std::collections::BTreeSet;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct LostWork {
    /// Files in which others have changed the same text.
    pub(super) conflicts: BTreeSet<String>,
    /// Reasons why others were left out, each with its file.
    reasons: BTreeSet<String>,
}

impl LostWork {
    /// Adds what a merge has left out.
    pub(super) fn add(&mut self, report: &MergeReport) {
        self.conflicts.extend(report.conflicts.iter().cloned());
        self.reasons.extend(report.refused.iter().map(ToString::to_string));
        self.reasons.extend(
            report
                .stays
                .iter()
                .map(|file| format!("{file} stays, because its new place was not taken in")),
        );
    }

    /// Says it in a result; `who` has made the changes.
    pub(super) fn say(&self, output: &mut ToolOutput, who: &str) {
        let lost = format!("what {who} had changed there is lost");
        if !self.conflicts.is_empty() {
            let files = Vec::from_iter(self.conflicts.iter().map(String::as_str)).join(", ");
            output.say(&format!(
                "\n(The same text in {files} was changed meanwhile, by the user or by another call: {lost}. Read it again \
                 before you go on.)"
            ));
        }
        for reason in &self.reasons {
            output.say(&format!("\n({reason}: {lost}.)"));
        }
    }
}
