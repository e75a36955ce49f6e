//! Lines of a journal.
//!
//! Lines are tagged by their one key, as in `{"said":{"role":"user",…}}`. A reader passes over tags it does
//! not know, so a tag can be added; what changes the meaning of one needs another [`VERSION`].

use crate::audit::Audit;
use crate::bundles::id::BundleId;
use crate::calls::CallStage;
use crate::history::tail::CompactedTail;
use crate::journal::opening::SessionOpening;
use crate::journal::reduction::Reduction;
use crate::journal::told::ToldSinceOpening;
use crate::settings::ModelChoice;
use ropewalk_model::{Block, Role};
use ropewalk_protocol::{
    CheckReport, MessageId, Mode, ReviewAction, SessionEvent, Spent, StopReason, TodoList,
};
use ropewalk_workspace::state::StateRecord;
use ropewalk_workspace::{ContentHash, DocId, Note};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The format's version. A journal of a later one is refused.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHead {
    /// The format.
    pub version: u32,
    /// The session.
    pub session: String,
    /// When it began, in milliseconds since 1970.
    pub at: u64,
    /// The folders it works in.
    pub roots: Vec<String>,
    /// Name of the team's member whose session it is. Its team brings it back, and no list has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

impl JournalHead {
    /// True if the session works in exactly these folders, in whatever order.
    pub fn is_of(&self, roots: &[String]) -> bool {
        same_roots(&self.roots, roots)
    }
}

/// True if these are the same folders, in whatever order.
pub(super) fn same_roots(one: &[String], other: &[String]) -> bool {
    let sorted = |roots: &[String]| {
        let mut roots = roots.to_vec();
        roots.sort_unstable();
        roots
    };
    sorted(one) == sorted(other)
}

/// One line. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record<'a> {
    /// Head of the file. Always the first line, and only that.
    Journal(JournalHead),
    /// The session has a name.
    Title(String),
    /// A turn begins.
    Turn {
        /// Its number.
        turn: u64,
        /// When.
        at: u64,
        /// The user's words.
        prompt: Cow<'a, str>,
    },
    /// Something enters the history; see [`crate::History`].
    Said {
        /// The message's id, of what the model says; older journals have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<MessageId>,
        /// Speaker.
        role: Role,
        /// Blocks that are added to the last message of that side, or make a new one if the other
        /// side spoke last.
        content: Cow<'a, [Block]>,
    },
    /// The ids of calls that the server of this model gave, each behind ours, where they differ. It stands before what
    /// was said.
    CallIds {
        /// The model's whole name.
        by: Cow<'a, str>,
        /// Ours and theirs.
        ids: Vec<(String, String)>,
    },
    /// From here on the history is for this model.
    Model(Cow<'a, str>),
    /// From here on requests open with this. What was thought before is dropped.
    Opening(Cow<'a, SessionOpening>),
    /// Tokens of the session so far, and what they cost.
    Usage(Spent),
    /// A turn has ended.
    Ended {
        /// Its number.
        turn: u64,
        /// When.
        at: u64,
        /// Why.
        stop_reason: StopReason,
    },
    /// A call of the model's last message has come so far. Of a call that ends last in its step, the history says it.
    Call {
        /// Its id.
        id: Cow<'a, str>,
        /// How far.
        stage: Cow<'a, CallStage>,
    },
    /// Decision about a call.
    Decision(Cow<'a, Audit>),
    /// The user decides about hunks, before it is done.
    Review {
        /// When.
        at: u64,
        /// The kind of review.
        action: ReviewAction,
        /// Subject of the review, in words for people.
        what: Cow<'a, str>,
    },
    /// A rule holds for the rest of the session.
    Granted(Cow<'a, str>),
    /// The user has chosen a model.
    ModelChoice(Cow<'a, ModelChoice>),
    /// The user has chosen a mode.
    Mode(Mode),
    /// The model has read a file.
    Read {
        /// Which.
        doc: DocId,
        /// Its text as the model saw it.
        #[serde(with = "ropewalk_workspace::state::wire::hash")]
        hash: ContentHash,
        /// True if a call of its own has made that text; older journals don't say.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        made: bool,
    },
    /// A command runs in the background, or has ended.
    Background {
        /// Its number in its process.
        id: u64,
        /// The turn that has started it.
        turn: u64,
        /// The command, short.
        command: Cow<'a, str>,
        /// True if it has ended.
        ended: bool,
        /// The call that has started it; older journals have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Cow<'a, str>>,
    },
    /// The model is given the text of a skill.
    Skill {
        /// Its name.
        name: Cow<'a, str>,
        /// Its text.
        #[serde(with = "ropewalk_workspace::state::wire::hash")]
        hash: ContentHash,
    },
    /// Changes since the opening that the model knows by now; it takes the place of the record before.
    Told(Cow<'a, ToldSinceOpening>),
    /// A part of the fork, the ledger or the news.
    State(StateRecord),
    /// The words of a turn and of all after it are taken back. What became of their edits follows as
    /// [`Record::State`].
    Rewound {
        /// The first of them.
        turn: u64,
    },
    /// A task begins, on these files: what is pending is that, and own work is what comes after.
    Start {
        /// The last turn before it.
        turn: u64,
        /// The files, each as [`Record::State`] has it.
        state: Vec<StateRecord>,
    },
    /// A bundle of another member's is in the fork. The state with it stands before this line.
    Taken {
        /// The turn that counts it as its own.
        turn: u64,
        /// Its maker.
        id: Cow<'a, BundleId>,
    },
    /// Words of the user that wait for their turn.
    Waiting(Cow<'a, str>),
    /// Words that waited were taken back.
    Unqueued(Cow<'a, str>),
    /// Words of the user beside prompts: to a running turn, or the reason of a refusal.
    Words {
        /// The turn they belong to.
        turn: u64,
        /// The words.
        text: Cow<'a, str>,
    },
    /// The beginning of the history is replaced by one message.
    Compacted {
        /// The message.
        message: Cow<'a, [Block]>,
        /// The messages that stay behind it.
        tail: Cow<'a, CompactedTail>,
        /// Tokens of the conversation before, by estimate.
        before: u64,
        /// Tokens of it afterwards.
        after: u64,
    },
    /// The model's server took the history only when it was reduced so.
    Reduced(Reduction),
    /// A record of a subagent. Readers of the session's own conversation pass over it.
    Thread {
        /// The subagent's id.
        thread: Cow<'a, str>,
        /// The id of the call that has started it.
        call: Cow<'a, str>,
        /// The record.
        record: Box<Record<'a>>,
    },
    /// All the news in the inbox that the model has not been told.
    News(Cow<'a, [Note]>),
    /// The todos are these now.
    Todos(Cow<'a, TodoList>),
    /// A turn was checked before its end.
    Check {
        /// Its number.
        turn: u64,
        /// Findings of the check.
        #[serde(flatten)]
        report: Cow<'a, CheckReport>,
    },
    /// Something was told to the front end; see `transcript`.
    Event(Cow<'a, SessionEvent>),
    /// Where the session stands, for whoever lists sessions; says nothing that the lines before it don't.
    Summary(JournalSummary),
}

/// [`Record::Thread`] as it is written, without a copy of the record.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ThreadRecord<'a> {
    Thread { thread: &'a str, call: &'a str, record: &'a Record<'a> },
}

/// Where a session stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalSummary {
    /// Its name: the user's, or the start of the first prompt.
    pub title: String,
    /// When something last happened.
    pub at: u64,
    /// How many turns it has.
    pub turns: u64,
    /// How many changes wait for the user.
    pub pending: usize,
    /// How many accepted changes were never saved: if the editor died, they wait again.
    #[serde(default)]
    pub unsaved: usize,
}

impl JournalSummary {
    /// How many changes would be lost with the session: those that wait to be accepted, and those that were
    /// accepted and never saved.
    pub fn waits(&self) -> usize {
        self.pending + self.unsaved
    }
}

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
