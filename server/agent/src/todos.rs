//! The todos of a session, and when the model is to be reminded of them.
//!
//! How a call of the model's changes them is [`todo_write`](crate::tools::todo_write)'s.

mod remind;

use crate::events::Events;
use crate::journal::Journal;
use crate::journal::record::Record;
use crate::settings::CurrentSettings;
use ropewalk_protocol::{Event, TodoList};
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often one turn is reminded at most.
const MOST_REMINDERS: u32 = 2;

/// See the module.
pub(crate) struct Todos {
    state: Mutex<TodosState>,
    journal: Journal,
    events: Events,
    settings: Arc<CurrentSettings>,
}

#[derive(Default)]
struct TodosState {
    list: TodoList,
    /// The turn that has changed them, or the last one.
    turn: u64,
    /// Set once the running turn has changed them.
    is_touched: bool,
    /// Steps since the last change or reminder.
    quiet: u32,
    /// Reminders of the running turn.
    reminders: u32,
}

impl TodosState {
    fn event(&self) -> Event {
        Event::Todos { turn: self.turn, todos: self.list.clone(), done: self.list.done() }
    }
}

impl Todos {
    /// The todos that a journal has, up to this turn; what changes is told to the others.
    pub(crate) fn new(
        list: TodoList,
        turn: u64,
        journal: Journal,
        events: Events,
        settings: Arc<CurrentSettings>,
    ) -> Self {
        let state = Mutex::new(TodosState { list, turn, ..TodosState::default() });
        Self { state, journal, events, settings }
    }

    fn state(&self) -> MutexGuard<'_, TodosState> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_on(&self) -> bool {
        self.settings.get().mechanisms.todos
    }

    /// All of them; none where they are switched off.
    pub(crate) fn list(&self) -> TodoList {
        if self.is_on() { self.state().list.clone() } else { TodoList::default() }
    }

    /// The model has given another list.
    pub(crate) fn replace(&self, turn: u64, mut list: TodoList) {
        let keys = self.settings.keys();
        list.0.iter_mut().for_each(|todo| keys.redact_in(&mut todo.content));
        let mut state = self.state();
        (state.quiet, state.is_touched) = (0, true);
        self.journal.write(&Record::Todos(Cow::Borrowed(&list)));
        self.show(&mut state, turn, list);
    }

    /// A session begins, or goes on.
    pub(crate) fn session_begins(&self) {
        let mut state = self.state();
        let (turn, list) = (state.turn, state.list.clone());
        if self.is_on() && !list.0.is_empty() {
            self.show(&mut state, turn, list);
        }
    }

    /// A turn begins. A list that is finished says nothing of it.
    pub(crate) fn turn_begins(&self, turn: u64) {
        let mut state = self.state();
        (state.reminders, state.is_touched) = (0, false);
        if self.is_on() && !state.list.0.is_empty() && state.list.open() == 0 {
            let list = TodoList::default();
            self.journal.write(&Record::Todos(Cow::Borrowed(&list)));
            self.show(&mut state, turn, list);
        }
    }

    /// A turn was taken back: they are again as they were before it. Gives what is told of that, if they were others.
    pub(crate) fn go_back(&self, turn: u64, list: TodoList) -> Option<Event> {
        let mut state = self.state();
        let is_told = self.is_on() && state.list != list;
        (state.turn, state.list) = (turn, list);
        is_told.then(|| state.event())
    }

    /// True if the running turn has changed them.
    pub(crate) fn is_touched(&self) -> bool {
        self.is_on() && self.state().is_touched
    }

    fn show(&self, state: &mut TodosState, turn: u64, list: TodoList) {
        (state.turn, state.list) = (turn, list);
        self.events.tell(state.event());
    }

    /// A step begins. Gives the words of a reminder if that many steps have passed without a word on what is open.
    pub(crate) fn step_begins(&self, remind_after: u32) -> Option<String> {
        let mut state = self.state();
        let is_due = remind_after > 0
            && state.quiet >= remind_after
            && state.reminders < MOST_REMINDERS
            && state.list.open() > 0;
        if is_due {
            (state.quiet, state.reminders) = (0, state.reminders + 1);
        }
        state.quiet = state.quiet.saturating_add(1);
        is_due.then(|| {
            let current = state.list.current().map(|todo| preview(&todo.content, PREVIEW_CHARS));
            let current = current.map(|words| format!("\nIn progress: {words}"));
            format!("<reminder>Update your todos.</reminder>{}", current.unwrap_or_default())
        })
    }
}
