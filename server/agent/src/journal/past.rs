//! Past of a session that goes on: the lines of its journal, folded.
//!
//! Whatever the lines hold, the history that comes out is valid, and broken lines cost no more than
//! themselves. Nothing here looks at today's texts: [`SavedState`] does that when it is restored.

use super::record::{JournalHead, JournalSummary, Record, VERSION};
use crate::bundles::TakenBundles;
use crate::calls::{CallStage, CallStages};
use crate::history::tail::CompactedTail;
use crate::history::{History, HistoryMark};
use crate::journal::opening::SessionOpening;
use crate::journal::reduction::Reduction;
use crate::journal::told::ToldSinceOpening;
use crate::knowledge::Knowledge;
use crate::news::News;
use crate::reads::{KnownFiles, SeenText};
use crate::settings::ModelChoice;
use crate::subagent::result::last_words;
use ropewalk_guidance::loading::LoadedSkill;
use ropewalk_model::{Block, Role};
use ropewalk_protocol::{MessageId, Mode, Spent, TodoList};
use ropewalk_text::plain::plain;
use ropewalk_workspace::state::{SavedState, StateRecord};
use ropewalk_workspace::{DocId, Fork, Note, Workspace};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};
use std::sync::Arc;

/// Where a turn began.
#[derive(Clone, Debug)]
pub struct TurnMark {
    /// Its number.
    pub turn: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The user's words.
    pub prompt: String,
    /// The history before it.
    pub(crate) history: HistoryMark,
    /// The fork, ledger and news before it.
    pub(crate) kept: SavedState,
    /// The todos before it.
    pub(crate) todos: TodoList,
    /// The files that the model had read before it.
    pub(crate) reads: KnownFiles,
    /// Knowledge of the model before it.
    pub(crate) knowledge: Knowledge,
}

/// Words of the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserWords {
    /// The turn they belong to.
    pub(crate) turn: u64,
    pub(crate) text: String,
}

/// Commands that run in the background, by number: the turn of each, and the command.
pub(crate) type BackgroundCommands = BTreeMap<u64, (u64, String)>;

/// See the module. The default is that of a new session.
#[derive(Debug, Default)]
pub struct Past {
    /// The first line.
    pub head: JournalHead,
    /// The name the user gave it.
    pub title: Option<String>,
    /// Its turns, oldest first.
    pub turns: Vec<TurnMark>,
    /// Tokens used, and what they cost.
    pub spent: Spent,
    /// When something last happened.
    pub at: u64,
    /// Prompts and words to a running turn that had not been taken up.
    pub waiting: Vec<String>,
    /// Lines that could not be read, in sentences.
    pub problems: Vec<String>,
    pub(crate) history: History,
    /// The session's opening; None before the first request, and behind a compaction.
    pub(crate) opening: Option<SessionOpening>,
    /// The histories before each compaction, for words that are taken back.
    earlier: Vec<History>,
    /// The user's own words, oldest first.
    pub(crate) words: Vec<UserWords>,
    pub(crate) kept: SavedState,
    /// The state that its task started from, and the last turn before that.
    pub(crate) start: Option<(u64, SavedState)>,
    /// Bundles that were taken in.
    pub(crate) taken: TakenBundles,
    /// News in the inbox, and what was told of them.
    pub(crate) news: News,
    pub(crate) granted: Vec<String>,
    pub(crate) model_choice: Option<ModelChoice>,
    pub(crate) mode: Option<Mode>,
    pub(crate) reads: KnownFiles,
    pub(crate) todos: TodoList,
    pub(crate) knowledge: Knowledge,
    pub(crate) background: BackgroundCommands,
    /// Calls that have started a command in the background, with their turns.
    pub(crate) background_calls: HashMap<Arc<str>, u64>,
    /// The ends of what the subagents of a turn had said, by the calls that have started them.
    pub(crate) threads: BTreeMap<String, String>,
    /// How far the calls of the last message had come.
    pub(crate) calls: CallStages,
    /// The turn that was running at the end.
    pub(crate) open_turn: Option<u64>,
    /// The highest number of a turn, those taken back included.
    pub(crate) last_turn: u64,
}

/// Why a journal can't be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The first line is no journal's.
    #[error("it is not a session of Ropewalk")]
    NoJournal,
    /// It was written by a later version.
    #[error("it was written by a later version of Ropewalk (format {0}); update to read it")]
    Later(u32),
    /// The disk says no.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Changes that a session brought back into this workspace has lost, in words.
pub(crate) fn losses(kept: &SavedState, session: &str, workspace: &Workspace) -> Vec<String> {
    let mut news = workspace.news_of(session);
    news.retain(|note| !kept.news().contains(note));
    news.iter().filter_map(Note::loss).collect()
}

impl Past {
    /// Restores the pending changes on the files as they are now. Reads the disk, writes nothing. Blocking.
    pub fn fork(&self, workspace: &Workspace) -> Fork {
        let mut fork = self.kept.restore(self.head.session.as_str().into(), workspace);
        fork.sync_now(workspace);
        fork
    }

    /// Changes that could not be brought back into this workspace, in words, once they were to be.
    pub fn not_restored(&self, workspace: &Workspace) -> Vec<String> {
        losses(&self.kept, &self.head.session, workspace)
    }

    /// Reads a journal, and says how many bytes of it are whole lines. O(bytes).
    pub fn read(input: impl BufRead) -> Result<(Past, u64), ReadError> {
        let mut past = None;
        let whole = each_record(input, |record| match (&mut past, record) {
            (None, Ok(Record::Journal(head))) if head.version > VERSION => {
                Err(ReadError::Later(head.version))
            }
            (None, Ok(Record::Journal(head))) => {
                past = Some(Past::new(head));
                Ok(())
            }
            (None, _) => Err(ReadError::NoJournal),
            (Some(past), record) => {
                past.take_or_tell(record);
                Ok(())
            }
        })?;
        past.map(|past| (past, whole)).ok_or(ReadError::NoJournal)
    }

    fn new(head: JournalHead) -> Self {
        Self { at: head.at, head, ..Self::default() }
    }

    /// The history before a turn; None if the journal has no such turn.
    pub(crate) fn before(mut self, turn: u64) -> Option<History> {
        let is_known = self.turns.iter().any(|mark| mark.turn == turn);
        self.rewound(turn);
        is_known.then_some(self.history)
    }

    /// How many changes wait for the user.
    pub fn pending(&self) -> usize {
        self.kept.pending()
    }

    /// The documents in which something is pending.
    pub fn pending_documents(&self) -> impl Iterator<Item = &DocId> {
        self.kept.documents()
    }

    /// The user's last choice of a model by command.
    pub fn model_choice(&self) -> Option<&ModelChoice> {
        self.model_choice.as_ref()
    }

    /// Messages of the conversation.
    pub fn messages(&self) -> Vec<ropewalk_model::Message> {
        self.history.messages().cloned().collect()
    }

    /// The ids of the messages, in their order; None of the user's side, and of those that an older journal has.
    pub fn message_ids(&self) -> Vec<Option<MessageId>> {
        self.history.ids().map(Option::<&MessageId>::cloned).collect()
    }

    /// Where it stands.
    pub fn summary(&self) -> JournalSummary {
        JournalSummary {
            title: self.shown_title(),
            at: self.at,
            turns: self.turns.len() as u64,
            pending: self.pending(),
            unsaved: self.kept.unsaved(),
        }
    }

    /// Its name, or the start of its first prompt.
    pub fn shown_title(&self) -> String {
        self.title.clone().unwrap_or_else(|| {
            self.turns.first().map(|first| title_of(&first.prompt)).unwrap_or_default()
        })
    }

    fn take_or_tell(&mut self, record: Result<Record<'static>, serde_json::Error>) {
        let problem = match record {
            Ok(record) => match self.take(record) {
                Ok(()) => return,
                Err(problem) => problem,
            },
            Err(error) => {
                format!("A line of the session can't be read and is left out: {error}.")
            }
        };
        // A file full of nonsense is told of, not recited.
        if self.problems.len() < 5 {
            self.problems.push(problem);
        }
    }

    fn take(&mut self, record: Record<'static>) -> Result<(), String> {
        match record {
            Record::Journal(_) => return Err("The session begins twice.".to_owned()),
            Record::Title(title) => self.title = Some(title),
            Record::Turn { turn, at, prompt } => self.begun(turn, at, prompt.into_owned()),
            Record::Words { turn, text } => {
                self.words.push(UserWords { turn, text: text.into_owned() });
            }
            Record::Compacted { message, tail, .. } => self.compacted(message.into_owned(), &tail),
            Record::Reduced(how) => self.reduced(how),
            Record::Said { id, role, content } => self.said(id, role, content.into_owned()),
            Record::Call { id, stage } => self.called(&id, stage.into_owned()),
            Record::CallIds { by, ids } => self.history.restore_ids(&by, ids),
            Record::Model(name) => self.history.spoken_to(&name),
            Record::Opening(opening) => {
                self.history.drop_thoughts();
                self.opening = Some(opening.into_owned());
            }
            Record::Usage(spent) => self.spent = spent,
            Record::Thread { call, record, .. } => self.thread_said(&call, *record),
            Record::Ended { at, .. } => {
                self.at = at;
                self.threads.clear();
                self.open_turn = None;
            }
            Record::Review { at, .. } => self.at = at,
            Record::Granted(rule) => self.granted.push(rule.into_owned()),
            Record::ModelChoice(choice) => self.model_choice = Some(choice.into_owned()),
            Record::Mode(mode) => self.mode = Some(mode),
            Record::Read { doc, hash, made } => {
                self.reads.note(&SeenText { doc, hash, is_made: made });
            }
            Record::Background { id, turn, command, ended, call } => {
                self.background_calls.extend(call.map(|call| (Arc::from(&*call), turn)));
                match ended {
                    true => drop(self.background.remove(&id)),
                    false => drop(self.background.insert(id, (turn, command.into_owned()))),
                }
            }
            Record::Skill { name, hash } => {
                self.knowledge.load(LoadedSkill { name: name.into_owned(), hash });
            }
            Record::Told(told) => self.knowledge.since = told.into_owned(),
            Record::State(state) => {
                let taken = self.kept.take(state);
                taken.map_err(|error| format!("A line of the session is left out: {error}."))?;
            }
            Record::Start { turn, state } => self.starts(turn, state)?,
            Record::Taken { turn, id } => {
                self.taken.took(turn, id.into_owned());
            }
            Record::Rewound { turn } => self.rewound(turn),
            Record::News(waiting) => self.news.now_waits(self.turn(), waiting.into_owned()),
            Record::Todos(todos) => self.todos = todos.into_owned(),
            Record::Waiting(text) => self.waiting.push(text.into_owned()),
            Record::Unqueued(text) => self.forget_waiting(&text),
            Record::Decision(_) | Record::Check { .. } | Record::Event(_) | Record::Summary(_) => {}
        }
        Ok(())
    }

    /// The number of the last turn that was not taken back.
    fn turn(&self) -> u64 {
        self.turns.last().map_or(0, |mark| mark.turn)
    }

    /// A summary took the place of the older part of the history.
    fn compacted(&mut self, message: Vec<Block>, tail: &CompactedTail) {
        self.earlier.push(self.history.clone());
        self.history.compact(message, tail);
        self.opening = None;
        // Skills whose text stays are written behind it.
        self.knowledge.skills.clear();
        self.knowledge.since = ToldSinceOpening::default();
    }

    /// The history was reduced, because the model's server refused it.
    fn reduced(&mut self, how: Reduction) {
        let prompt = self.turns.last().map(|mark| mark.history.clone()).unwrap_or_default();
        let Some(reduced) = self.history.reduced(how, &prompt) else { return };
        let before = std::mem::replace(&mut self.history, reduced);
        if self.history.era() > before.era() {
            self.earlier.push(before);
        }
    }

    /// A message entered the history.
    fn said(&mut self, id: Option<MessageId>, role: Role, content: Vec<Block>) {
        for block in &content {
            if let Block::Content(content) = block {
                self.forget_waiting(&content.briefly());
            }
        }
        self.history.restore(id, role, content);
        self.calls.clear();
    }

    /// A call of the last step came so far.
    fn called(&mut self, id: &str, stage: CallStage) {
        if stage != CallStage::Begun {
            // Its work is merged, or was about to be: nothing says any more that it is dropped.
            self.threads.remove(id);
        }
        self.calls.note(id, stage);
    }

    /// A task has begun.
    fn starts(&mut self, turn: u64, state: Vec<StateRecord>) -> Result<(), String> {
        let mut start = SavedState::default();
        for one in state {
            let taken = start.take(one);
            taken.map_err(|error| format!("A line of the session is left out: {error}."))?;
        }
        self.kept.begin_from(&start);
        self.start = Some((turn, start));
        Ok(())
    }

    /// A subagent has said something. Nothing else of it is the session's.
    fn thread_said(&mut self, call: &str, record: Record<'_>) {
        let said = self.threads.entry(call.to_owned()).or_default();
        if let Record::Said { role: Role::Assistant, content, .. } = record {
            let texts: Vec<&str> = content.iter().filter_map(Block::as_text).collect();
            *said = last_words(&format!("{said}\n{}", texts.join("\n")));
        }
    }

    /// A turn has begun.
    fn begun(&mut self, turn: u64, at: u64, prompt: String) {
        self.at = at;
        self.open_turn = Some(turn);
        self.last_turn = self.last_turn.max(turn);
        self.turn_begins(&prompt);
        let (history, kept) = (self.history.mark(), self.kept.clone());
        self.words.push(UserWords { turn, text: prompt.clone() });
        let todos = self.todos.clone();
        let knowledge = self.knowledge.clone();
        let reads = self.reads.clone();
        self.turns.push(TurnMark { turn, at, prompt, history, kept, todos, reads, knowledge });
    }

    /// A turn and all after it were taken back.
    fn rewound(&mut self, turn: u64) {
        let Some(at) = self.turns.iter().position(|mark| mark.turn == turn) else { return };
        if let Some(mark) = self.turns.get(at) {
            let era = mark.history.era() as usize;
            if let Some(then) = self.earlier.get(era) {
                self.history = then.clone();
                self.history.drop_thoughts();
            }
            self.earlier.truncate(era);
            self.history.truncate(&mark.history);
            self.todos.clone_from(&mark.todos);
            self.reads.clone_from(&mark.reads);
            self.knowledge = mark.knowledge.clone();
        }
        self.turns.truncate(at);
        self.words.retain(|words| words.turn < turn);
        self.taken.rewind(turn);
        self.news.rewind(turn);
        self.background.retain(|_, (started, _)| *started < turn);
    }

    /// Words that a turn begins with wait no more. If it begins with others, those that waited did so when an
    /// earlier process ended, and the user was told when the session went on: in one process it would have begun
    /// with them.
    fn turn_begins(&mut self, prompt: &str) {
        let lines = format!("\n{prompt}\n");
        let before = self.waiting.len();
        self.waiting.retain(|waiting| !lines.contains(&format!("\n{waiting}\n")));
        if self.waiting.len() == before {
            self.waiting.clear();
        }
    }

    fn forget_waiting(&mut self, text: &str) {
        if let Some(at) = self.waiting.iter().position(|waiting| waiting == text) {
            self.waiting.remove(at);
        }
    }
}

/// The start of a prompt, for a list.
pub(crate) fn title_of(prompt: &str) -> String {
    const MOST: usize = 60;
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = plain(&line.chars().filter(|c| !c.is_control()).collect::<String>());
    let clean = line.chars();
    let mut title: String = clean.clone().take(MOST).collect();
    if clean.count() > MOST {
        title.push('…');
    }
    title
}

/// Reads the whole lines of a journal and gives how many bytes they are. What stands behind the last line end
/// was torn off by a crash and is not looked at; tags of later versions are passed over.
pub(crate) fn each_record(
    mut input: impl BufRead,
    mut each: impl FnMut(Result<Record<'static>, serde_json::Error>) -> Result<(), ReadError>,
) -> Result<u64, ReadError> {
    let (mut whole, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok(whole);
        }
        whole += read as u64;
        match serde_json::from_slice::<Record<'static>>(&line) {
            Ok(record) => each(Ok(record))?,
            Err(_) if is_unknown(&line) => {}
            Err(error) => each(Err(error))?,
        }
    }
}

/// True if a line is one of a tag that only a later version knows, or blank.
fn is_unknown(line: &[u8]) -> bool {
    const KNOWN: &[&str] = &[
        "journal",
        "title",
        "turn",
        "said",
        "model",
        "opening",
        "usage",
        "ended",
        "decision",
        "review",
        "granted",
        "model_choice",
        "mode",
        "read",
        "state",
        "rewound",
        "waiting",
        "summary",
        "call_ids",
        "news",
        "skill",
        "background",
        "words",
        "compacted",
        "reduced",
        "todos",
        "check",
        "thread",
        "event",
        "unqueued",
        "start",
        "taken",
        "call",
    ];
    if line.iter().all(u8::is_ascii_whitespace) {
        return true;
    }
    let tags = serde_json::from_slice::<BTreeMap<String, serde::de::IgnoredAny>>(line);
    tags.is_ok_and(|tags| tags.len() == 1 && tags.keys().all(|tag| !KNOWN.contains(&tag.as_str())))
}
