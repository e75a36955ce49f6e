//! `todo_write`: the model gives its whole list of todos anew.
//!
//! The list is also taken as `items`, with `text` in the place of `content`, or as JSON in a string.

use crate::todos::Todos;
use futures::future::BoxFuture;
use ropewalk_protocol::{Todo, TodoList, TodoStatus};
use ropewalk_tools::bounds::preview;
use ropewalk_tools::input::{convert, loose};
use ropewalk_tools::{Call, Context, Effect, Subject, Tool, ToolOutput, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The most todos of one list.
const MOST: usize = 20;

/// The most characters of one todo; what is longer is no line of a list.
const LONGEST: usize = 500;

const EFFECT: Effect = Effect::Session;

/// The member that holds the list.
const TODOS: &str = "todos";

/// See the module.
pub(crate) struct TodoWrite {
    todos: Arc<Todos>,
}

impl TodoWrite {
    pub(crate) const NAME: &'static str = "todo_write";

    const DESCRIPTION: &'static str = "Keeps the list of todos of a task with several steps, which the user sees. Give the whole list each time. One is in_progress at a time; mark it completed as soon as it is done.";

    /// The tool that writes into this list.
    pub(crate) fn new(todos: Arc<Todos>) -> Self {
        Self { todos }
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            TODOS: {
                "description": "The whole list, in the order of work; 20 at most.",
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": { "description": "What is to be done, in one line.", "type": "string" },
                        "status": { "type": "string", "enum": ["pending", "in_progress", "completed"] },
                    },
                    "required": ["content", "status"],
                },
            },
        },
        "required": [TODOS],
    })
}

impl Tool for TodoWrite {
    fn spec(&self) -> ToolSpec {
        let (name, description) = (Self::NAME.to_owned(), Self::DESCRIPTION.to_owned());
        ToolSpec { name, description, schema: schema() }
    }

    fn parse(&self, input: Value) -> Result<Call, String> {
        let (list, conversions) = read(input)?;
        let title = format!("{}/{}", list.done(), list.0.len());
        let subject = Subject { title, ..Subject::default() };
        let (tool, input) = (Self::NAME.to_owned(), json!({ TODOS: list }));
        Ok(Call { tool, effect: EFFECT, subject, conversions, input })
    }

    fn run(&self, mut call: Call, context: Context) -> BoxFuture<'static, ToolOutput> {
        let todos = self.todos.clone();
        Box::pin(async move {
            let list = call.input.get_mut(TODOS).map(Value::take).unwrap_or_default();
            match TodoList::deserialize(list) {
                Ok(list) => {
                    let words = list.to_string();
                    todos.replace(context.turn, list);
                    ToolOutput::text(words)
                }
                // `parse` has written it.
                Err(error) => ToolOutput::error(error),
            }
        })
    }
}

/// The list of an input that may be kept, and what was converted for it, in words.
fn read(input: Value) -> Result<(TodoList, Vec<String>), String> {
    let input = with_known_name(input);
    let (input, conversions) = convert(TodoWrite::NAME, EFFECT, &schema(), input)?;
    let items = input.get(TODOS).and_then(Value::as_array).ok_or("`todos` must be a list")?;
    Ok((list_of(items)?, conversions))
}

/// The input with the list where the schema has it.
fn with_known_name(input: Value) -> Value {
    match input {
        Value::String(text) => match loose::read(&text) {
            Some((value @ (Value::Array(_) | Value::Object(_)), _)) => with_known_name(value),
            _ => Value::String(text),
        },
        Value::Array(list) => json!({ TODOS: list }),
        Value::Object(mut members) if !members.contains_key(TODOS) => {
            if let Some(list) = members.remove("items") {
                members.insert(TODOS.to_owned(), list);
            }
            Value::Object(members)
        }
        input => input,
    }
}

fn list_of(items: &[Value]) -> Result<TodoList, String> {
    if items.len() > MOST {
        return Err(format!("Max {MOST} todos allowed, and these are {}", items.len()));
    }
    let one =
        |(at, item): (usize, &Value)| todo(item).map_err(|why| format!("Item {}: {why}", at + 1));
    let todos: Vec<Todo> = items.iter().enumerate().map(one).collect::<Result<_, _>>()?;
    let in_progress = todos.iter().filter(|todo| todo.status == TodoStatus::InProgress);
    if in_progress.count() > 1 {
        return Err("Only one task can be in_progress at a time".to_owned());
    }
    Ok(TodoList(todos))
}

fn todo(item: &Value) -> Result<Todo, String> {
    let none = Map::new();
    let members = item.as_object().unwrap_or(&none);
    let text = item.as_str().or_else(|| {
        let named = ["content", "text"].iter().find_map(|name| members.get(*name));
        named.and_then(Value::as_str)
    });
    let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
    if words.is_empty() {
        return Err("text required".to_owned());
    }
    let content = preview(&words.join(" "), LONGEST);
    Ok(Todo { content, status: status(members.get("status"))? })
}

fn status(value: Option<&Value>) -> Result<TodoStatus, String> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Ok(TodoStatus::Pending);
    };
    let word = value.as_str().unwrap_or_default().trim().to_ascii_lowercase();
    match word.replace(['-', ' '], "_").as_str() {
        "pending" => Ok(TodoStatus::Pending),
        "in_progress" => Ok(TodoStatus::InProgress),
        "completed" => Ok(TodoStatus::Completed),
        _ => {
            let shown = preview(&value.to_string(), 40);
            Err(format!("invalid status {shown}: it is pending, in_progress or completed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_taken_in_every_form_that_models_give_it() {
        let plain = json!([{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"}]);
        let as_text = json!([{"text": " Read ", "status": "Completed", "id": 1}, {"text": "Write", "status": "in-progress"}]);
        let forms = [
            json!({ "todos": plain }),
            json!({ "items": plain }),
            json!({ "todos": as_text }),
            json!({ "items": as_text.to_string() }),
            json!({ "todos": plain.to_string() }),
            plain.clone(),
            json!(plain.to_string()),
            json!(json!({ "items": as_text }).to_string()),
        ];
        for form in forms {
            let (list, _) = read(form.clone()).unwrap();
            assert_eq!(list.to_string(), "[x] Read\n[>] Write\n\n(1/2 completed)", "{form}");
        }
        let (list, _) =
            read(json!({ "todos": ["a", {"content": "b\nc", "status": null}] })).unwrap();
        assert_eq!(list.to_string(), "[ ] a\n[ ] b c\n\n(0/2 completed)");
        assert_eq!(read(json!({ "todos": [] })).unwrap().0.to_string(), "No todos.");
        let long = "é".repeat(9_000);
        let (list, _) = read(json!({ "todos": [long] })).unwrap();
        assert!(list.0[0].content.chars().count() <= LONGEST + 1, "{}", list.0[0].content);
    }

    #[test]
    fn a_list_that_can_t_be_kept_is_refused_in_words() {
        let one = |status: &str| json!({"content": "x", "status": status});
        for (input, words) in [
            (json!({ "todos": vec![one("pending"); 21] }), "Max 20 todos allowed"),
            (
                json!({ "todos": [one("in_progress"), one("in_progress")] }),
                "Only one task can be in_progress at a time",
            ),
            (json!({ "todos": [one("pending"), {"status": "pending"}] }), "Item 2: text required"),
            (
                json!({ "todos": [{"content": " \n", "status": "pending"}] }),
                "Item 1: text required",
            ),
            (json!({ "todos": [{"content": 7, "status": "pending"}] }), "Item 1: text required"),
            (json!({ "todos": [null] }), "Item 1: text required"),
            (json!({ "todos": [one("doing")] }), "Item 1: invalid status \"doing\""),
            (json!({ "todos": [{"content": "x", "status": 1}] }), "Item 1: invalid status 1"),
            (json!({}), "`todos` is missing"),
            (json!(null), "`todos` is missing"),
            (json!({ "todos": {} }), "`todos` must be a list"),
            (json!({ "todos": "read, then write" }), "`todos` must be a list"),
            (json!("read, then write"), "the input must be an object"),
            (json!({ "todos": [], "merge": true }), "`merge` is not one of its fields"),
        ] {
            let why = read(input.clone()).unwrap_err();
            assert!(why.contains(words), "{input}: {why}");
        }
    }
}
