//! Events: everything a session tells a front end.
//!
//! They serialise as one JSON object each, tagged by `type`, in camelCase: this is what `ropewalk/event`
//! and `ropewalk run --json` carry (see EXTENSIONS.md).

use ropewalk_model::Spent;
use ropewalk_model::strike::Keys;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::{Hunk, HunkState};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::HashMap;
use std::sync::Arc;

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// How important a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something did not go as asked.
    Warning,
    /// Something failed.
    Error,
}

/// A pending hunk as events carry it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HunkInfo {
    /// Its id.
    pub id: u64,
    /// The document's URI.
    pub uri: String,
    /// The file as it is shown.
    pub file: String,
    /// What kind of change it is: `text`, `create`, `delete`, `rename`, `binary`, `mode` or `link`.
    pub kind: &'static str,
    /// The first line it replaces in the user's text, counted from zero.
    pub line: usize,
    /// How many lines it replaces.
    pub lines: usize,
    /// The lines as they are.
    pub old: String,
    /// The lines as they would be.
    pub new: String,
    /// A unified diff with the lines around it.
    pub diff: String,
    /// The turn it was made in.
    pub turn: u64,
    /// The tool calls that it came of, by their ids, in order.
    pub calls: Vec<Arc<str>>,
    /// The commands among them: the first line of each, in order.
    pub commands: Vec<String>,
    /// Whether it is on its way to the editor.
    pub sent: bool,
}

impl HunkInfo {
    /// The same with no key in what is shown.
    pub(crate) fn without(mut self, keys: &Keys) -> Self {
        for text in
            [&mut self.old, &mut self.new, &mut self.diff].into_iter().chain(&mut self.commands)
        {
            keys.strike_in(text);
        }
        self
    }

    /// A hunk, and the commands that were run, by the ids of their calls.
    pub(crate) fn of(hunk: &Hunk, commands: &HashMap<Arc<str>, String>) -> Self {
        let calls: Vec<Arc<str>> = hunk.makers.iter().filter_map(Maker::call).cloned().collect();
        let commands = calls.iter().filter_map(|call| commands.get(call)).cloned().collect();
        Self {
            calls,
            commands,
            id: hunk.id.0,
            uri: hunk.doc.to_uri(),
            file: hunk.file.clone(),
            kind: hunk.kind.name(),
            line: hunk.lines.start,
            lines: hunk.lines.len(),
            old: hunk.old.clone(),
            new: hunk.new.clone(),
            diff: hunk.diff.clone(),
            turn: hunk.turn,
            sent: hunk.state == HunkState::Sent,
        }
    }
}

/// What happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A session has begun, or goes on: the first event of each.
    SessionStarted {
        /// Its name; empty while it has none.
        title: String,
        /// How many turns it has had.
        turns: u64,
    },
    /// The session has another name.
    SessionRenamed {
        /// The name.
        title: String,
    },
    /// The words and the edits of a turn, and of all after it, were taken back.
    Rewound {
        /// The turn.
        turn: u64,
        /// What it had begun with, for the user to say it another way.
        prompt: String,
    },
    /// A turn has begun.
    TurnStarted {
        /// Its number in the session, from one.
        turn: u64,
        /// The user's words.
        prompt: String,
    },
    /// A prompt waits until the running turn has ended.
    Queued {
        /// The turn it will be.
        turn: u64,
        /// The user's words.
        prompt: String,
    },
    /// A step of the turn has begun: one call of the model.
    StepStarted {
        /// The turn.
        turn: u64,
        /// Its number in the turn, from one.
        step: u32,
    },
    /// What the user said to the running turn has joined it.
    Steered {
        /// The turn.
        turn: u64,
        /// Their words.
        text: String,
    },
    /// The model says something.
    TextDelta {
        /// The turn.
        turn: u64,
        /// A piece of its words.
        text: String,
    },
    /// The model thinks.
    ThinkingDelta {
        /// The turn.
        turn: u64,
        /// A piece of its thoughts.
        text: String,
    },
    /// The model's server failed and is asked again: what the step has said so far is void.
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
    /// Nothing has come from the model's server for a while; told a few times while it lasts.
    Waiting {
        /// The turn.
        turn: u64,
        /// How long it has been, in milliseconds.
        waited_ms: u64,
        /// Whether other requests of ours are before this one, so that it was not sent yet.
        is_queued: bool,
    },
    /// A tool call begins.
    ToolCall {
        /// The turn.
        turn: u64,
        /// The call's id.
        call: Arc<str>,
        /// The tool.
        tool: String,
        /// What the call is about, short.
        title: String,
        /// Its input.
        input: serde_json::Value,
    },
    /// A running command says something.
    ToolOutput {
        /// The turn.
        turn: u64,
        /// The call's id.
        call: Arc<str>,
        /// A piece of its output.
        text: String,
    },
    /// A tool call has its result.
    ToolResult {
        /// The turn.
        turn: u64,
        /// The call's id.
        call: Arc<str>,
        /// Whether it failed.
        is_error: bool,
        /// The start of the result.
        preview: String,
        /// The name in the call that may hold secrets, if it ran: what it gave may hold them too.
        secret: Option<String>,
    },
    /// A call waits for the user.
    ApprovalRequested {
        /// The turn.
        turn: u64,
        /// The approval's id.
        approval: u64,
        /// The call's id.
        call: Arc<str>,
        /// The tool.
        tool: String,
        /// What it would do, whole; harmless to show, as the other words here.
        detail: String,
        /// Why the user is asked.
        reason: String,
        /// The rule that "for this session" and "always" would add; None where no rule can.
        rule: Option<String>,
        /// What that rule lets run, in words on one line.
        rule_words: Option<String>,
        /// Whether the rule can be kept for always.
        always: bool,
        /// Files with unsaved or unpublished text that the call won't see.
        unseen: Vec<String>,
    },
    /// An approval waits no more.
    ApprovalResolved {
        /// The turn.
        turn: u64,
        /// The approval's id.
        approval: u64,
        /// How: `allowed`, `refused`, `waiting for save` or `interrupted`.
        how: &'static str,
    },
    /// The pending hunks, all of them, as they are now.
    Hunks {
        /// In the order of files and lines.
        hunks: Vec<HunkInfo>,
    },
    /// What became of an accept, reject, edit, undo or rewind.
    Reviewed {
        /// `accept`, `reject`, `edit`, `undo` or `rewind`.
        action: &'static str,
        /// How many hunks it was done for.
        done: usize,
        /// What could not be done, in words.
        failed: Vec<String>,
    },
    /// Tokens used, and what they cost; each serialises as [`Tokens`].
    Usage {
        /// The turn.
        turn: u64,
        /// By the last step.
        #[serde(serialize_with = "as_tokens")]
        step: Spent,
        /// By the turn so far.
        #[serde(serialize_with = "as_tokens")]
        in_turn: Spent,
        /// By the session so far. (Not called `session`: front ends put its id beside these fields.)
        #[serde(serialize_with = "as_tokens")]
        total: Spent,
    },
    /// Something the user should know.
    Notice {
        /// How important it is.
        level: Level,
        /// One sentence.
        message: String,
    },
    /// The mode has changed.
    ModeChanged {
        /// The mode now.
        mode: String,
    },
    /// The model has changed.
    ModelChanged {
        /// Its name.
        model: String,
    },
    /// A turn has ended.
    TurnEnded {
        /// The turn.
        turn: u64,
        /// Why.
        stop_reason: StopReason,
        /// What to say of it, unless it ended well.
        message: Option<String>,
    },
}

/// Counts of tokens and their price, as programs read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Read anew.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Put into the provider's cache.
    pub cache_write: u64,
    /// How much of what was read came from the cache, in percent; none where there is no cache.
    pub cache_hit_percent: Option<u64>,
    /// In US dollars, without the unpriced; none if there is no price for any.
    pub cost: Option<f64>,
    /// How many of these tokens have no known price.
    pub unpriced: u64,
}

impl From<Spent> for Tokens {
    fn from(Spent { usage, money, unpriced }: Spent) -> Self {
        let is_priced = unpriced < usage.total() || unpriced == 0;
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_hit_percent: usage.cache_hit_percent(),
            cost: is_priced.then(|| money.dollars()),
            unpriced,
        }
    }
}

fn as_tokens<S: Serializer>(spent: &Spent, serializer: S) -> Result<S::Ok, S::Error> {
    Tokens::from(*spent).serialize(serializer)
}
