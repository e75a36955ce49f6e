//! May this call run? Policy's word, and the user's where it is wanted.
//!
//! Policy itself is `ropewalk_tools::policy`'s; here is the waiting, and the audit of it all.

use super::{ModelCall, not_run};
use crate::approvals::Approvals;
use crate::audit::Audit;
use crate::interrupt::Interrupted;
use crate::turn::Turn;
use ropewalk_protocol::{Approval, Event, Resolution, Verdict};
use ropewalk_text::plain::{plain, plain_line};
use ropewalk_tools::bash::unseen_files;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::policy::without_keys;
use ropewalk_tools::{Access, CallSummary, Decision, GrantOffer, Rule, Ruling, ToolOutput, tool};
use ropewalk_tools::{decide, named_paths};
use ropewalk_workspace::View;
use std::sync::{Arc, PoisonError};

/// Takes an approval back when nobody waits for it any more, however that came.
struct Withdraw<'a>(&'a Approvals, u64);

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.0.withdraw(self.1);
    }
}

impl Turn {
    /// Ok when the call may run, with how far it may reach and the name in it that may hold secrets; else its result.
    pub(super) async fn judge(
        &self,
        call: &ModelCall,
        parsed: &tool::Call,
        view: &Arc<View>,
    ) -> Result<(Access, Option<String>), ToolOutput> {
        let (mut ruling, reach) = self.ruling(parsed, view).await?;
        let mut verdict = None;
        let mut judged = match &ruling.decision {
            Decision::Allow => Ok(()),
            Decision::Deny(text) => Err(denied(text)),
            Decision::Ask(reason) => {
                let asked = self.ask_user(call, parsed, view, &ruling, reason);
                let (said, answered) = asked.await;
                verdict = Some(said.to_owned());
                answered
            }
        };
        if verdict.is_some() && judged.is_ok() {
            // The user may have changed the mode or the rules while this waited.
            let (now, _) = self.ruling(parsed, view).await?;
            if let Decision::Deny(text) = &now.decision {
                judged = Err(denied(text));
                ruling = now;
            }
        }
        self.parts.audit(&Audit {
            turn: self.number,
            call: call.id.clone(),
            tool: call.name.clone(),
            subject: preview(&without_keys(subject(parsed)), PREVIEW_CHARS),
            decision: ruling.decision.word().to_owned(),
            by: ruling.by.to_string(),
            verdict,
            secret: ruling.secret.clone(),
        });
        let reach = Access { secrets: ruling.secret.is_some(), ..reach };
        judged.map(|()| (reach, ruling.secret))
    }

    /// Asks the user and waits: what was said, for the audit, and the result if it may not run.
    async fn ask_user(
        &self,
        call: &ModelCall,
        parsed: &tool::Call,
        view: &View,
        ruling: &Ruling,
        reason: &str,
    ) -> (&'static str, Result<(), ToolOutput>) {
        let settings = self.parts.settings.get();
        let offer = ruling.offer.as_ref();
        let always = settings.always.is_some() && offer.is_some_and(|offer| offer.always);
        if !settings.interactive {
            return ("nobody", Err(nobody_to_ask(reason, offer)));
        }
        let asked = self.approval(call, parsed, view, (offer, reason), always);
        let (approval, answer) = self.parts.approvals.ask(asked);
        let id = approval.id;
        let _withdraw = Withdraw(&self.parts.approvals, id);
        self.parts.events.tell(Event::ApprovalRequested { turn: self.number, approval });
        let resolved = |how| {
            self.parts.events.tell(Event::ApprovalResolved {
                turn: self.number,
                approval: id,
                how,
            });
        };
        match self.or_interrupted(answer).await {
            Err(Interrupted) | Ok(Err(_)) => {
                resolved(Resolution::Interrupted);
                ("interrupted", Err(not_run()))
            }
            Ok(Ok(Verdict::Refuse(words))) => {
                resolved(Resolution::Refused);
                if let Some(words) = &words {
                    self.note_refusal(call, parsed, words);
                }
                let words = words.map(|words| format!(": {words}")).unwrap_or_default();
                ("refuse", Err(ToolOutput::error(format!("The user refused this call{words}"))))
            }
            Ok(Ok(Verdict::Once)) => {
                resolved(Resolution::Allowed);
                ("once", Ok(()))
            }
            Ok(Ok(Verdict::AfterSave)) => {
                resolved(Resolution::WaitingForSave);
                let saved = self.or_interrupted(self.all_saved()).await;
                ("afterSave", saved.map_err(|Interrupted| not_run()))
            }
            Ok(Ok(lasting @ (Verdict::Session | Verdict::Always))) => {
                resolved(Resolution::Allowed);
                (self.grant(offer, lasting, always).await, Ok(()))
            }
        }
    }

    /// Keeps the user's reason: it is to outlive the result that has it too.
    fn note_refusal(&self, call: &ModelCall, parsed: &tool::Call, words: &str) {
        let about = preview(subject(parsed), PREVIEW_CHARS);
        let words = format!("(refusing {} {about}) {words}", call.name);
        let words = self.parts.settings.keys().redact(&words).into_owned();
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).push(words);
    }

    fn approval(
        &self,
        call: &ModelCall,
        parsed: &tool::Call,
        view: &View,
        (offer, reason): (Option<&GrantOffer>, &str),
        always: bool,
    ) -> Approval {
        let runs = parsed.subject.command.is_some() && !self.parts.runner.info().mode.sees_fork();
        let unseen = if runs { unseen_files(view) } else { Vec::new() };
        Approval {
            id: 0,
            call: call.id.clone().into(),
            agent: self.parts.thread.as_ref().map(|thread| plain_line(&thread.name())),
            tool: call.name.clone(),
            detail: plain(subject(parsed)),
            reason: plain_line(reason),
            rule: offer.map(|offer| plain_line(&offer.rule.to_string())),
            rule_words: offer.map(|offer| offer.rule.in_words()),
            always,
            unseen: unseen.iter().map(|file| plain_line(file)).collect(),
        }
    }

    /// Allows what is offered for as long as the user said: what was done then, for the audit.
    async fn grant(
        &self,
        offer: Option<&GrantOffer>,
        lasting: Verdict,
        always: bool,
    ) -> &'static str {
        let Some(GrantOffer { rule, .. }) = offer else {
            self.warn("Allowed this once: no rule can cover that call.".to_owned());
            return "once";
        };
        self.parts.grant(rule.clone());
        match lasting {
            Verdict::Always if always => return self.keep(rule).await,
            Verdict::Always => {
                self.warn("Allowed for this session: it can't be allowed always.".to_owned());
            }
            _ => {}
        }
        "session"
    }

    /// Writes a rule where it holds for always.
    async fn keep(&self, rule: &Rule) -> &'static str {
        let (keep, kept) = (self.parts.settings.get().always.clone(), rule.clone());
        let keeping = spawn_blocking(move || keep.map(|keep| keep(&kept)));
        let why = match keeping.await {
            Ok(Some(Ok(()))) => return "always",
            Ok(Some(Err(why))) => why,
            Ok(None) => "there is no place for such rules".to_owned(),
            Err(error) => {
                tracing::error!(%error, "keeping a rule broke down");
                "it failed inside Ropewalk; the log has the details".to_owned()
            }
        };
        self.warn(format!("Allowed for this session only; the rule {rule} can't be kept: {why}"));
        "session"
    }

    /// Asks policy, by where the call's paths lead now and with all that the user has allowed so
    /// far.
    async fn ruling(
        &self,
        call: &tool::Call,
        view: &Arc<View>,
    ) -> Result<(Ruling, Access), ToolOutput> {
        let (tool, effect, subject) = (call.tool.clone(), call.effect, call.subject.clone());
        let (parts, view) = (self.parts.clone(), view.clone());
        let judge = move || {
            let paths = named_paths(&subject, &view);
            let reach = Access::of(&subject, &view, &parts.runner.info());
            let (settings, granted) = (parts.settings.get(), parts.approvals.granted());
            let call = CallSummary { tool: &tool, effect, subject: &subject };
            let ruling = decide(call, &paths, &reach, settings.mode, &settings.rules, &granted);
            (ruling, reach)
        };
        // Looking paths up may take long on a slow disk, which an interrupt does not wait for.
        let judged = self.or_interrupted(spawn_blocking(judge)).await;
        judged.map_err(|Interrupted| not_run())?.map_err(|error| {
            tracing::error!(%error, "a call could not be judged");
            ToolOutput::error("what it would do could not be found out, so it was not run")
        })
    }

    /// Until no open file has unsaved text. A buffer without a file can't be saved to one and isn't waited
    /// for.
    async fn all_saved(&self) {
        loop {
            let saved = self.parts.approvals.next_save();
            let parts = self.parts.clone();
            let unsaved = spawn_blocking(move || {
                parts.workspace.look_at_disks();
                let snapshot = parts.workspace.snapshot();
                snapshot
                    .buffers
                    .iter()
                    .any(|(id, seen)| seen.dirty && parts.workspace.place(id).is_some())
            });
            if !unsaved.await.unwrap_or(false) || saved.await.is_err() {
                return;
            }
        }
    }
}

/// Text of the whole call, as the user is asked about it.
fn subject(call: &tool::Call) -> &str {
    call.subject.command.as_deref().unwrap_or(&call.subject.title)
}

fn denied(text: &str) -> ToolOutput {
    ToolOutput::failed(text)
}

fn nobody_to_ask(reason: &str, offer: Option<&GrantOffer>) -> ToolOutput {
    let how = match offer.filter(|offer| offer.always) {
        Some(GrantOffer { rule, .. }) => format!(
            "; run again with --allow '{}' (that is for the user to do)",
            rule.to_string().replace('\'', r"'\''")
        ),
        None => String::new(),
    };
    ToolOutput::error(format_args!(
        "Refused: {reason}; not allowed without a terminal to ask in{how}"
    ))
}
