//! One subagent, from its call to its result.

use super::files::{ThreadFiles, ThreadWork};
use super::result::{EndFacts, NO_SUMMARY, facts, last_words, stopped};
use super::spending::TurnSpending;
use super::thread::SubagentThread;
use crate::calls::{CallStage, ModelCall};
use crate::changes::CallOrigin;
use crate::hooks::TurnOutcome;
use crate::interrupt::Interrupted;
use crate::settings::Settings;
use crate::tools::task;
use crate::turn::{ThreadEnd, Turn};
use ropewalk_guidance::types::AgentType;
use ropewalk_model::{Block, Model, Role};
use ropewalk_protocol::{Event, StopReason, ThreadState};
use ropewalk_text::plain::plain_line;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_tools::bounds::{PREVIEW_CHARS, bound, preview};
use ropewalk_tools::{Bounds, ToolOutput, tool};
use ropewalk_workspace::View;
use std::sync::Arc;
use tokio::sync::watch;

/// Files of a subagent's work once that has come back.
#[derive(Default)]
struct CameBack {
    changed: Vec<String>,
    conflicts: Vec<String>,
}

impl Turn {
    /// Subagents are about to start, by these calls.
    pub(crate) fn begin_tasks(&mut self, calls: Vec<Arc<str>>) {
        let parallel = self.parts.settings.get().limits.mechanisms.subagents_parallel as usize;
        let conversation = &self.conversation;
        let journal = self.parts.journal.of_session();
        let spending = TurnSpending::new(conversation.before, conversation.spent, journal);
        self.subagents.begin(calls, parallel, spending);
    }

    /// Ends a group of subagents, if there is one: what they have used counts in turn and session.
    pub(crate) fn end_tasks(&mut self) {
        let Some(spending) = self.subagents.end() else { return };
        let step = spending.now().since(self.conversation.spent);
        if step.usage.total() == 0 {
            return;
        }
        // A dear turn was told of when the step of a subagent made it one.
        let _ = self.conversation.spend(step);
        let total = self.conversation.spent;
        self.parts.events.tell(Event::Usage {
            turn: self.number,
            step: step.into(),
            in_turn: total.since(self.conversation.before).into(),
            total: total.into(),
            context: self.parts.wish.fill().into(),
        });
    }

    /// Runs a call of `task` on this view.
    pub(crate) async fn run_task(
        &self,
        call: &ModelCall,
        parsed: tool::Call,
        view: Arc<View>,
    ) -> ToolOutput {
        let conversions = parsed.conversions;
        let input = match serde_json::from_value::<task::TaskInput>(parsed.input) {
            Ok(input) => input,
            Err(error) => return ToolOutput::error(error),
        };
        let settings = self.parts.settings.get();
        let kind = match self.parts.types.get(&input.agent_type, settings.mode) {
            Ok(kind) => kind,
            Err(why) => return ToolOutput::error(why),
        };
        let most = settings.limits.mechanisms.subagents_per_turn;
        let number = self.subagents.number(call.id());
        if number > most as usize {
            return ToolOutput::error(format_args!(
                "no more than {most} subagents start in one turn: do the rest yourself"
            ));
        }
        let Ok(place) = self.or_interrupted(self.subagents.place()).await else {
            return ToolOutput::failed("(interrupted by the user)");
        };
        let model = match self.or_interrupted(own_model(&kind, &settings)).await {
            Ok(Ok(model)) => model,
            Ok(Err(why)) => return ToolOutput::error(why),
            Err(Interrupted) => return ToolOutput::failed("(interrupted by the user)"),
        };
        let files = match kind.is_reading {
            true => ThreadFiles::Frozen(view),
            false => ThreadFiles::branch(&self.parts.changes, self.number, &call.id().into()).await,
        };
        let thread = Arc::new(SubagentThread {
            id: format!("{}.{number}", self.number).into(),
            call: call.id().into(),
            agent: kind.name.clone(),
            description: preview(&plain_line(&input.description), PREVIEW_CHARS),
            identity: kind.identity(),
            files,
        });
        let end = self.work(&thread, (&kind, model), input.prompt).await;
        drop(place);
        let mut output = self.come_back(call, &thread, end).await;
        for conversion in conversions {
            output.say(&format!("\n({conversion})"));
        }
        output
    }

    /// Has it work until it is done, or stopped.
    async fn work(
        &self,
        thread: &Arc<SubagentThread>,
        kind: (&Arc<AgentType>, Option<Arc<dyn Model>>),
        prompt: String,
    ) -> ThreadEnd {
        let (stop, is_stopped) = watch::channel(false);
        let stop = Arc::new(stop);
        let child = self.of_thread(thread, kind, &prompt, is_stopped);
        let _at_work = self.parts.threads.begin(&thread.id, stop.clone());
        self.tell_of(thread, ThreadState::Started, None, &CameBack::default());
        let mut running = child.run_thread(prompt);
        match self.or_interrupted(&mut running).await {
            Ok(end) => end,
            Err(Interrupted) => {
                // It ends by itself then, and all that it has started.
                let _ = stop.send(true);
                running.await
            }
        }
    }

    /// Brings back what it has changed, and makes its result.
    async fn come_back(
        &self,
        call: &ModelCall,
        thread: &Arc<SubagentThread>,
        end: ThreadEnd,
    ) -> ToolOutput {
        let TurnOutcome { stop_reason, message } = &end.outcome;
        let (output, came_back) = match stop_reason {
            StopReason::Interrupted => (interrupted(&end), CameBack::default()),
            _ => {
                let mut output = match (stop_reason, message) {
                    (StopReason::Error, Some(message)) => ToolOutput::error(format_args!(
                        "the subagent could not go on: {message}\nThe last of what it had said:\n{}",
                        last_words(&said(&end))
                    )),
                    _ => self.summary(call, &end.text).await,
                };
                match self.merge(call, thread, &mut output).await {
                    Ok(came_back) => {
                        let words = self.facts(thread, &end, &came_back);
                        output.say(&format!("\n\n{words}"));
                        (output, came_back)
                    }
                    Err(Interrupted) => (interrupted(&end), CameBack::default()),
                }
            }
        };
        self.tell_of(thread, ThreadState::Ended, Some(&end), &came_back);
        output
    }

    /// The subagent's last text, bounded; the whole is in a file then.
    async fn summary(&self, call: &ModelCall, text: &str) -> ToolOutput {
        if text.is_empty() {
            return ToolOutput::text(NO_SUMMARY);
        }
        let max_chars = self.parts.settings.get().limits.mechanisms.subagent_result as usize;
        if text.chars().count() <= max_chars {
            return ToolOutput::text(text);
        }
        let whole = self.keep_whole(call, text).await;
        let (text, bounds) = (text.to_owned(), Bounds { max_chars });
        ToolOutput::sized(bounds, true, move |bounds| {
            bound(&text, bounds, whole.as_deref()).to_string()
        })
    }

    fn facts(&self, thread: &SubagentThread, end: &ThreadEnd, came_back: &CameBack) -> String {
        let limits = self.parts.settings.get().limits.mechanisms;
        facts(&EndFacts {
            agent: &thread.agent,
            steps: end.steps,
            spent: end.conversation.spent,
            stop: end.outcome.stop_reason,
            most: (limits.subagent_steps, limits.subagent_tokens.into()),
            changed: &came_back.changed,
        })
    }

    /// Brings its changes into the session's, once those of the calls before it are there.
    async fn merge(
        &self,
        call: &ModelCall,
        thread: &SubagentThread,
        output: &mut ToolOutput,
    ) -> Result<CameBack, Interrupted> {
        let id: Arc<str> = call.id().into();
        self.or_interrupted(self.subagents.is_next(&id)).await?;
        let Some(work) = self.or_interrupted(thread.files.work()).await? else {
            return Ok(CameBack::default());
        };
        let ThreadWork { view, proposals, mut lost } = work;
        let mut changed: Vec<String> =
            proposals.iter().map(|proposal| proposal.place.shown.clone()).collect();
        changed.sort_unstable();
        changed.dedup();
        output.proposals = proposals;
        // From here on nothing says that its work is dropped.
        self.reaches(&id, CallStage::Merging);
        let origin = CallOrigin { turn: self.number, call: id, command: None };
        let mut conflicts = self.parts.take_changes(origin, &view, output, &self.interrupt).await;
        lost.conflicts.retain(|file| !conflicts.contains(file));
        lost.say(output, "it");
        changed.retain(|file| !conflicts.contains(file));
        conflicts.extend(lost.conflicts);
        Ok(CameBack { changed, conflicts })
    }

    fn tell_of(
        &self,
        thread: &SubagentThread,
        state: ThreadState,
        end: Option<&ThreadEnd>,
        came_back: &CameBack,
    ) {
        let spent = end.map(|end| end.conversation.spent).unwrap_or_default();
        self.parts.events.of_thread(&thread.id).tell(Event::Thread {
            turn: self.number,
            call: thread.call.clone().into(),
            agent: thread.agent.clone(),
            description: thread.description.clone(),
            state,
            steps: end.map_or(0, |end| end.steps),
            usage: spent.into(),
            changed: came_back.changed.clone(),
            conflicts: came_back.conflicts.clone(),
        });
    }
}

/// The model that a type names, once its key is known; None for the session's.
async fn own_model(
    kind: &AgentType,
    settings: &Settings,
) -> Result<Option<Arc<dyn Model>>, String> {
    let Some(name) = &kind.model else { return Ok(None) };
    let gone =
        |why: String| format!("the model of the subagent type {} is not there: {why}", kind.name);
    let Some(models) = settings.models.clone() else {
        return Err(gone("no models are set up".to_owned()));
    };
    let named = name.clone();
    let made = spawn_blocking(move || models(&named)).await;
    let model = made.unwrap_or_else(|error| Err(error.to_string())).map_err(gone)?;
    model.ready().await.map_err(|error| gone(error.to_string()))?;
    Ok(Some(model))
}

fn interrupted(end: &ThreadEnd) -> ToolOutput {
    ToolOutput::failed(stopped(&said(end)))
}

/// All that a subagent has said.
fn said(end: &ThreadEnd) -> String {
    let own = end.conversation.messages().filter(|message| message.role == Role::Assistant);
    let texts = own.flat_map(|message| &message.content).filter_map(Block::as_text);
    texts.collect::<Vec<_>>().join("\n")
}
