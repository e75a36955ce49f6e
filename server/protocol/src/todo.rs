//! Todos: the steps of a task, as the model keeps them for itself and for the user to follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How far a todo is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// It is still to be done.
    #[default]
    Pending,
    /// It is being done; one of a list at most.
    InProgress,
    /// It is done.
    Completed,
}

/// One step of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// The step, in one line.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// The todos of a session, in the order in which they are to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct TodoList(pub Vec<Todo>);

impl TodoList {
    /// How many are done.
    pub fn done(&self) -> usize {
        self.0.iter().filter(|todo| todo.status == TodoStatus::Completed).count()
    }

    /// How many are not.
    pub fn open(&self) -> usize {
        self.0.len() - self.done()
    }

    /// The one in progress.
    pub fn current(&self) -> Option<&Todo> {
        self.0.iter().find(|todo| todo.status == TodoStatus::InProgress)
    }

    /// The one in progress and its place in the list, such as `2/4 Write the test`.
    pub fn progress(&self) -> Option<String> {
        let at = self.0.iter().position(|todo| todo.status == TodoStatus::InProgress)?;
        let todo = self.0.get(at)?;
        Some(format!("{}/{} {}", at + 1, self.0.len(), todo.content))
    }
}

impl fmt::Display for TodoList {
    /// A line for each, such as `[x] Read the code`, and how many are completed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("No todos.");
        }
        for Todo { content, status } in &self.0 {
            let mark = match status {
                TodoStatus::Pending => "[ ]",
                TodoStatus::InProgress => "[>]",
                TodoStatus::Completed => "[x]",
            };
            writeln!(f, "{mark} {content}")?;
        }
        write!(f, "\n({}/{} completed)", self.done(), self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(todos: &[(&str, TodoStatus)]) -> TodoList {
        let todo = |(content, status): &(&str, TodoStatus)| Todo {
            content: (*content).to_owned(),
            status: *status,
        };
        TodoList(todos.iter().map(todo).collect())
    }

    #[test]
    fn a_list_is_shown_with_a_mark_for_each() {
        use TodoStatus::{Completed, InProgress, Pending};
        let todos = list(&[("Read", Completed), ("Write the test", InProgress), ("Run", Pending)]);
        let words = "[x] Read\n[>] Write the test\n[ ] Run\n\n(1/3 completed)";
        assert_eq!(todos.to_string(), words);
        assert_eq!((todos.done(), todos.open()), (1, 2));
        assert_eq!(todos.progress().as_deref(), Some("2/3 Write the test"));
        assert_eq!(TodoList::default().to_string(), "No todos.");
        assert_eq!(list(&[("Read", Pending)]).progress(), None);
    }
}
