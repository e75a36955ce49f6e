//! May this call run? Policy's word, and the user's where it is wanted.
//!
//! What policy says of a call is `ropewalk_tools::policy`'s; here is the waiting.

use super::{Call, interrupted};
use crate::approval::{Approvals, Verdict};
use crate::event::Event;
use crate::session::shared::lock;
use crate::turn::{Interrupted, Turn};
use ropewalk_tools::bash::unseen_files;
use ropewalk_tools::{Decision, Effect, Output, Prepared, Rule, decide};
use ropewalk_workspace::View;

/// Takes an approval back when nobody waits for it any more, however that came.
struct Withdraw<'a>(&'a Approvals, u64);

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.0.withdraw(self.1);
    }
}

impl Turn {
    /// Ok when the call may run, else its result.
    pub(super) async fn judge(
        &self,
        call: &Call,
        prepared: &Prepared,
        view: &View,
    ) -> Result<(), Output> {
        let reason = match self.decide(prepared) {
            Decision::Allow => return Ok(()),
            Decision::Deny(text) => return Err(denied(text)),
            Decision::Ask(reason) => reason,
        };
        let rule = Rule::generalised(prepared);
        if !self.shared.settings().interactive {
            return Err(Output::error(format_args!(
                "Refused: {reason}, and nobody is there to be asked. The user can allow it with --allow '{}'",
                rule.to_string().replace('\'', r"'\''")
            )));
        }
        let (id, verdict) = self.shared.approvals.ask();
        let _withdraw = Withdraw(&self.shared.approvals, id);
        let runs = prepared.effect == Effect::Execute;
        self.shared.tell(Event::ApprovalRequested {
            turn: self.number,
            approval: id,
            call: call.id.clone(),
            tool: call.name.clone(),
            detail: prepared
                .subject
                .command
                .clone()
                .unwrap_or_else(|| prepared.subject.title.clone()),
            reason,
            rule: rule.to_string(),
            unseen: if runs { unseen_files(view) } else { Vec::new() },
        });
        let resolved = |how| {
            self.shared.tell(Event::ApprovalResolved { turn: self.number, approval: id, how })
        };
        match self.or_interrupted(verdict).await {
            Err(Interrupted) | Ok(Err(_)) => {
                resolved("interrupted");
                return Err(interrupted());
            }
            Ok(Ok(Verdict::Refuse(words))) => {
                resolved("refused");
                let words = words.map(|words| format!(": {words}")).unwrap_or_default();
                return Err(Output::error(format!("The user refused this call{words}")));
            }
            Ok(Ok(Verdict::Once)) => resolved("allowed"),
            Ok(Ok(Verdict::Session)) => {
                resolved("allowed");
                lock(&self.shared.granted).push(rule);
            }
            Ok(Ok(Verdict::AfterSave)) => {
                resolved("waiting for save");
                self.or_interrupted(self.all_saved()).await.map_err(|Interrupted| interrupted())?;
            }
        }
        // The user may have changed the mode while this waited.
        match self.decide(prepared) {
            Decision::Deny(text) => Err(denied(text)),
            Decision::Allow | Decision::Ask(_) => Ok(()),
        }
    }

    /// What policy says, with all that the user has allowed so far.
    fn decide(&self, call: &Prepared) -> Decision {
        let settings = self.shared.settings();
        let granted = lock(&self.shared.granted);
        let rules: Vec<Rule> = settings.allow.iter().chain(&*granted).cloned().collect();
        decide(call, settings.mode, &rules)
    }

    /// Until no open file has unsaved text. A buffer without a file can't be saved to one and isn't waited
    /// for.
    async fn all_saved(&self) {
        let mut saves = self.shared.saves.subscribe();
        loop {
            let shared = self.shared.clone();
            let unsaved = tokio::task::spawn_blocking(move || {
                shared.workspace.look_at_disks();
                let snapshot = shared.workspace.snapshot();
                snapshot
                    .buffers
                    .iter()
                    .any(|(id, seen)| seen.dirty && shared.workspace.place(id).is_some())
            });
            if !unsaved.await.unwrap_or(false) || saves.changed().await.is_err() {
                return;
            }
        }
    }
}

fn denied(text: String) -> Output {
    Output { text, is_error: true, proposals: Vec::new() }
}
