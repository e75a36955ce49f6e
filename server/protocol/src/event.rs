//! Events: everything a session tells a front end.
//!
//! They serialise as one JSON object each, tagged by `type`, in camelCase: this is what `ropewalk/event`
//! and `ropewalk run --json` carry. What each says stands in EXTENSIONS.md, in the words of the comments here.

use crate::{
    Approval, BoardTask, CallId, CheckReport, HunkInfo, MessageId, Mode, PublishedHunk, Resolution,
    ReviewAction, SessionId, TeamMember, TodoList, Tokens,
};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// The model's answer hit the bound for output tokens.
    MaxTokens,
    /// The bound for steps was reached; another prompt goes on.
    MaxSteps,
    /// A budget is used up; another prompt goes on.
    Budget,
    /// The model declined.
    Refusal,
    /// The user stopped it.
    Interrupted,
    /// It could not go on.
    Error,
}

impl StopReason {
    /// The reason as people read it. Each has words of its own.
    pub fn in_words(self) -> &'static str {
        match self {
            StopReason::EndTurn => "Done",
            StopReason::MaxTokens => "The answer was cut off",
            StopReason::MaxSteps => "Stopped at the limit of steps",
            StopReason::Budget => "Stopped: the budget is used up",
            StopReason::Refusal => "The model declined",
            StopReason::Interrupted => "Stopped",
            StopReason::Error => "Failed",
        }
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            StopReason::EndTurn => "end_turn",
            StopReason::MaxTokens => "max_tokens",
            StopReason::MaxSteps => "max_steps",
            StopReason::Budget => "budget",
            StopReason::Refusal => "refusal",
            StopReason::Interrupted => "interrupted",
            StopReason::Error => "error",
        })
    }
}

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CompactionCause {
    /// It fills the model's context.
    Full,
    /// The model or the user has asked for it.
    Asked,
    /// The model's server has refused a request as too long.
    Refused,
}

/// How far a subagent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThreadState {
    /// It has begun.
    Started,
    /// It has ended, and what it changed has come back or is dropped.
    Ended,
}

/// How important a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something did not go as asked.
    Warning,
    /// Something failed.
    Error,
}

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommandPlace {
    /// In a sandbox over the user's text with what is proposed.
    Fork,
    /// On a copy of that.
    Copy,
    /// In the user's folders.
    Place,
}

/// How full a model's context is, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ContextUse {
    /// Taken by the conversation so far.
    pub used: u64,
    /// The size of it all; null where that is not known.
    pub size: Option<u64>,
}

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A session has begun, or goes on, and is the current one: the first event of each.
    SessionStarted {
        /// Its name; empty while it has none.
        title: String,
        /// How many turns it has had.
        turns: u64,
        /// Its mode.
        mode: Mode,
        /// Its model; null where none is usable.
        model: Option<String>,
        /// Tokens that the model takes; null where that is not known.
        context: Option<u64>,
    },
    /// It has another name.
    SessionRenamed {
        /// The name.
        title: String,
    },
    /// The words and the edits of this turn and of all after it were taken back; `prompt` is what it had begun with.
    Rewound {
        /// The turn.
        turn: u64,
        /// The words it had begun with, for the user to say it another way.
        prompt: String,
    },
    /// A turn has begun. Turns are numbered from 1.
    TurnStarted {
        /// Its number in the session, from one.
        turn: u64,
        /// The user's words.
        prompt: String,
    },
    /// A prompt waits until the running turn, or the compaction between two, has ended.
    Queued {
        /// The turn it will be.
        turn: u64,
        /// The user's words.
        prompt: String,
    },
    /// The model is asked; steps are numbered from 1 in each turn.
    StepStarted {
        /// The turn.
        turn: u64,
        /// Its number in the turn, from one.
        step: u32,
        /// The id of the message that the model answers with.
        message: MessageId,
    },
    /// Words of the user to the running turn have joined it.
    Steered {
        /// The turn.
        turn: u64,
        /// Their words.
        text: String,
    },
    /// A piece of the model's words.
    TextDelta {
        /// The turn.
        turn: u64,
        /// The id of its message.
        message: MessageId,
        /// A piece of its words.
        text: String,
    },
    /// A piece of its thoughts.
    ThinkingDelta {
        /// The turn.
        turn: u64,
        /// The id of its message.
        message: MessageId,
        /// A piece of its thoughts.
        text: String,
    },
    /// The model's server failed and is asked again: what this step has said so far is void.
    Retrying {
        /// The turn.
        turn: u64,
        /// Which try comes next, from two.
        attempt: u32,
        /// How long it waits first, in milliseconds.
        wait_ms: u64,
        /// Why.
        reason: String,
    },
    /// Nothing of the reply has come from the model's server for so long, before its first words or between two; told
    /// a few times while it lasts. `isQueued`: it was not asked yet, since other requests are before this one.
    Waiting {
        /// The turn.
        turn: u64,
        /// How long it has been, in milliseconds.
        waited_ms: u64,
        /// True if other requests of ours are before this one, so that it was not sent yet.
        is_queued: bool,
    },
    /// A tool call begins; `call` is its id.
    ToolCall {
        /// The turn.
        turn: u64,
        /// The call's id.
        call: CallId,
        /// The tool.
        tool: String,
        /// The subject of the call, short.
        title: String,
        /// Its input.
        input: Value,
    },
    /// A running command says something: a piece every 50 ms at most, without escape sequences, and no more than a
    /// megabyte of each call. One in the background goes on after the call has its result.
    ToolOutput {
        /// The turn.
        turn: u64,
        /// The call's id.
        call: CallId,
        /// A piece of its output.
        text: String,
    },
    /// The look at what is done before a turn ends: `todos` that are open, new `errors` in the editor, and the end of what
    /// `verify` printed if it failed. The model may be sent back, after which comes another. `verify` is seen as a call
    /// of that name while it runs.
    Check {
        /// The turn.
        turn: u64,
        /// The findings, whose fields stand beside the turn.
        #[serde(flatten)]
        report: CheckReport,
    },
    /// A call has its result, of which this is the start. `secret` is the name in the call that may hold secrets, if
    /// it ran: mark what is kept of it. Else null. `ran` says where its command ran: over the `fork`, on a `copy`, or in
    /// `place`. Null if it ran none.
    ToolResult {
        /// The turn.
        turn: u64,
        /// The call's id.
        call: CallId,
        /// True if it failed.
        is_error: bool,
        /// The start of the result.
        preview: String,
        /// The name in the call that may hold secrets, if it ran: what it gave may hold them too.
        secret: Option<String>,
        /// Where its command ran: `fork`, `copy` or `place`. Null if it ran none.
        ran: Option<CommandPlace>,
    },
    /// A call waits, for as long as it takes; see Approvals below.
    ApprovalRequested {
        /// The turn.
        turn: u64,
        /// The approval, whose fields stand beside the turn.
        #[serde(flatten)]
        approval: Approval,
    },
    /// It waits no more: `allowed`, `refused`, `waiting for save` or `interrupted`.
    ApprovalResolved {
        /// The turn.
        turn: u64,
        /// The approval's id.
        approval: u64,
        /// How it ended.
        how: Resolution,
    },
    /// All pending hunks as they are now, in the order of files and lines; see Hunks below.
    Hunks {
        /// In the order of files and lines.
        hunks: Vec<HunkInfo>,
    },
    /// Changes are in the user's text, in every mode: the editor has shown that it made them, or the file is written.
    /// `ropewalk.undo` takes each back by its id.
    Published {
        /// The turn that has made them.
        turn: u64,
        /// The changes, in the order of files and lines; see Published changes below.
        changes: Vec<PublishedHunk>,
    },
    /// The user has typed into a proposed change, or the file has moved on under it: it waits no more, and the text stays
    /// as it is.
    SetAside {
        /// The path as it is shown.
        file: String,
        /// The document's URI.
        uri: String,
        /// The text that the change was made for.
        old: String,
        /// The text that was proposed.
        new: String,
        /// The text that stands there now.
        now: String,
    },
    /// The outcome of an `accept`, `reject`, `edit`, `undo` or `rewind`: how many hunks, and what could not be done,
    /// in words.
    Reviewed {
        /// The kind of review that was asked for.
        action: ReviewAction,
        /// How many hunks it was done for.
        done: usize,
        /// Failures, in words.
        failed: Vec<String>,
    },
    /// The todos of the session are these now, `done` of them completed. Also told after `session_started` if there are
    /// any, and after `rewound` if there were others.
    Todos {
        /// The turn that has changed them, or the last one.
        turn: u64,
        /// All of them, each with `content` and `status`: `pending`, `in_progress` or `completed`.
        todos: TodoList,
        /// How many are completed.
        done: usize,
    },
    /// Tokens of the last step, of the turn so far, and of the session, with what they cost; see Tokens below.
    Usage {
        /// The turn.
        turn: u64,
        /// By the last step.
        step: Tokens,
        /// By the turn so far.
        in_turn: Tokens,
        /// By the session so far. (Not called `session`: its id stands beside these fields.)
        total: Tokens,
        /// How full the model's context is.
        context: ContextUse,
    },
    /// The conversation is about to be compacted: its beginning is summed up, which takes the model a while. `why` is
    /// `full`, `asked` or `refused`.
    Compacting {
        /// The turn, or the last one if none runs.
        turn: u64,
        /// Why.
        why: CompactionCause,
    },
    /// It was compacted: what the model remembers of its beginning is the summary.
    Compacted {
        /// The turn.
        turn: u64,
        /// Tokens of a request before, by estimate.
        before: u64,
        /// Tokens of one afterwards.
        after: u64,
        /// The model that has summed up, or `ropewalk` where it is a list of the calls.
        by: String,
    },
    /// A subagent begins or ends, whose id is the `thread` beside this event.
    Thread {
        /// The turn.
        turn: u64,
        /// The id of the call that has started it.
        call: CallId,
        /// Its type, such as `explore`.
        agent: String,
        /// Its task in a few words.
        description: String,
        /// How far it is: `started` or `ended`.
        state: ThreadState,
        /// The steps it took.
        steps: u32,
        /// Tokens that it used.
        usage: Tokens,
        /// The files in which its changes have come back.
        changed: Vec<String>,
        /// The files in which some of them had lost their place.
        conflicts: Vec<String>,
    },
    /// The members of the team are these now, with `name`, `role`, `state` (`working`, `idle`, `shutdown`, `gone`), `task`,
    /// `tokens` and `cents`.
    Team {
        /// All of them, the lead first.
        members: Vec<TeamMember>,
    },
    /// A task of the team's board stands so now: `status` is `pending`, `in_progress`, `completed`, `failed` or `cancelled`.
    BoardTask(BoardTask),
    /// Something the user should know: `info`, `warning` or `error`.
    Notice {
        /// How important it is.
        level: Level,
        /// One sentence.
        message: String,
    },
    /// The mode is another.
    ModeChanged {
        /// The mode now.
        mode: Mode,
    },
    /// The model is another.
    ModelChanged {
        /// Its name.
        model: String,
    },
    /// A turn has ended: `end_turn`, `max_tokens`, `max_steps`, `budget`, `refusal`, `interrupted` or `error`;
    /// `message` says more, or is null.
    TurnEnded {
        /// The turn.
        turn: u64,
        /// Why.
        stop_reason: StopReason,
        /// Words about the end, unless it ended well.
        message: Option<String>,
    },
    /// The configuration of the folder `root`, in `file` (a URI), asks for what only the user can grant: `enables`
    /// says it line by line, `question` in one paragraph, and `hash` stands for exactly that. Until it is trusted it
    /// is ignored. Of no session.
    TrustRequested {
        /// The folder, links resolved.
        root: String,
        /// The URI of the file that asks.
        file: String,
        /// The things it asks for, in words, one line each.
        enables: Vec<String>,
        /// Of exactly that: an answer that names it is to nothing else.
        hash: String,
        /// The question in words.
        question: String,
    },
}

/// An event as front ends get it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SessionEvent {
    /// The session it is of, if it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The subagent it is of, if it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The teammate whose it is. Absent for the lead's own, and without a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The event, whose fields stand beside the session.
    #[serde(flatten)]
    pub event: Event,
}
