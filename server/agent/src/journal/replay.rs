//! The turns of a session as its front end was told of them.

use super::past::ReadError;
use super::record::{Record, VERSION};
use ropewalk_model::{Block, ToolInput};
use ropewalk_protocol::content::in_words;
use ropewalk_protocol::plugin::{CallResult, HistoryTurn};
use ropewalk_protocol::{Event, SessionEvent, SessionId, StopReason, Tokens};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};

/// Words on a turn that ended with the process.
const CUT_OFF: &str = "Ropewalk ended while this turn ran";

/// Takes the records of a journal in order, and keeps the last turns that have ended.
pub(super) struct Replay {
    session: SessionId,
    /// Turns from this one on are left out.
    before: u64,
    most: usize,
    turns: VecDeque<ReplayState>,
    /// True if turns before these were left out.
    has_more: bool,
    is_journal: bool,
    /// True while a turn goes on that is left out.
    is_outside: bool,
}

struct ReplayState {
    turn: HistoryTurn,
    has_ended: bool,
    /// Inputs of its calls, by their ids.
    inputs: HashMap<String, Value>,
}

impl Replay {
    pub(super) fn new(session: SessionId, before: u64, most: usize) -> Self {
        let turns = VecDeque::new();
        Self { session, before, most, turns, has_more: false, is_journal: false, is_outside: false }
    }

    pub(super) fn take(&mut self, record: Record<'static>) -> Result<(), ReadError> {
        match record {
            Record::Journal(head) if head.version > VERSION => {
                return Err(ReadError::Later(head.version));
            }
            Record::Journal(_) => self.is_journal = true,
            _ if !self.is_journal => return Err(ReadError::NoJournal),
            Record::Turn { turn, at, prompt } => self.begin(turn, at, prompt.into_owned()),
            Record::Ended { turn, stop_reason, .. } => {
                if let Some(open) = self.turns.back_mut().filter(|open| open.turn.turn == turn) {
                    open.turn.stop_reason = stop_reason;
                    open.has_ended = true;
                }
            }
            Record::Rewound { turn } => self.turns.retain(|own| own.turn.turn < turn),
            Record::Said { content, .. } => self.note_inputs(&content),
            Record::Thread { record, .. } => {
                if let Record::Said { content, .. } = *record {
                    self.note_inputs(&content);
                }
            }
            Record::Event(event) => self.tell(event.into_owned()),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, turn: u64, at: u64, prompt: String) {
        self.is_outside = turn >= self.before;
        if self.is_outside {
            return;
        }
        let turn = HistoryTurn {
            turn,
            at,
            prompt,
            stop_reason: StopReason::Error,
            usage: Tokens::default(),
            events: Vec::new(),
        };
        self.turns.push_back(ReplayState { turn, has_ended: false, inputs: HashMap::new() });
        // One more, since the last one may still run.
        while self.turns.len() > self.most.saturating_add(1) {
            self.turns.pop_front();
            self.has_more = true;
        }
    }

    fn note_inputs(&mut self, content: &[Block]) {
        let Some(open) = self.open() else { return };
        for block in content {
            if let Block::ToolUse { id, input, .. } = block {
                let input = match input {
                    ToolInput::Json(input) => input.clone(),
                    ToolInput::Broken(text) => Value::String(text.clone()),
                };
                open.inputs.insert(id.clone(), input);
            }
        }
    }

    /// The turn that goes on, or was the last one, unless it is left out.
    fn open(&mut self) -> Option<&mut ReplayState> {
        self.turns.back_mut().filter(|_| !self.is_outside)
    }

    fn tell(&mut self, mut event: SessionEvent) {
        event.session = Some(self.session.clone());
        let Some(open) = self.open() else { return };
        match &mut event.event {
            Event::ToolCall { call, input, .. } if input.is_null() => {
                if let Some(whole) = open.inputs.get(&**call) {
                    *input = whole.clone();
                }
            }
            Event::Usage { in_turn, .. } if event.thread.is_none() => open.turn.usage = *in_turn,
            _ => {}
        }
        open.turn.events.push(event);
    }

    /// The turns, the oldest first, and true if there are some before them.
    pub(super) fn finish(self) -> (Vec<HistoryTurn>, bool) {
        let Replay { session, most, turns, has_more, .. } = self;
        let ended = turns.into_iter().filter(|own| own.has_ended);
        let mut ended: Vec<HistoryTurn> = ended
            .map(|ReplayState { mut turn, .. }| {
                let is_end = |event: &SessionEvent| matches!(event.event, Event::TurnEnded { .. });
                if !turn.events.is_empty() && !turn.events.iter().any(is_end) {
                    let (number, stop_reason) = (turn.turn, turn.stop_reason);
                    let message = Some(CUT_OFF.to_owned());
                    let event = Event::TurnEnded { turn: number, stop_reason, message };
                    let session = Some(session.clone());
                    turn.events.push(SessionEvent { session, thread: None, member: None, event });
                }
                turn
            })
            .collect();
        let left_out = ended.len().saturating_sub(most);
        let turns = ended.split_off(left_out);
        (turns, has_more || left_out > 0)
    }
}

/// Result that the model got for a call, if the record has it.
pub(super) fn result_in(record: &Record<'_>, call: &str) -> Option<CallResult> {
    match record {
        Record::Thread { record, .. } => result_in(record, call),
        Record::Said { content, .. } => content.iter().find_map(|block| match block {
            Block::ToolResult { tool_use_id, content, is_error } if tool_use_id == call => {
                Some(CallResult { text: in_words(content), is_error: *is_error })
            }
            _ => None,
        }),
        _ => None,
    }
}
