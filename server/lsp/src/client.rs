//! The client as `initialize` tells of it: its own options, and what it can do.

use ropewalk_workspace::Habits;

/// A client's own options in `initializationOptions`, apart from configuration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientOptions {
    /// It takes `ropewalk/event`.
    pub(crate) events: bool,
    /// It draws pending hunks itself, and wants neither diagnostics nor lenses.
    pub(crate) draws_hunks: bool,
    /// It shows approvals itself.
    pub(crate) approvals: bool,
    /// It takes the events of subagents too.
    pub(crate) threads: bool,
    /// It shows messages of any length without taking keys from the user.
    pub(crate) messages: bool,
    /// It answers `ropewalk/save` and `ropewalk/diagnostics`.
    pub(crate) plugin: bool,
    /// It applies edits, though its capabilities don't say so.
    pub(crate) edits: bool,
}

impl ClientOptions {
    /// Reads them, key by key, so that a wrong one spoils no other. Gives what is wrong, in sentences.
    pub(crate) fn read(options: Option<&serde_json::Value>) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut flag = |key: &str| match options.and_then(|options| options.get(key)) {
            None | Some(serde_json::Value::Null) => false,
            Some(serde_json::Value::Bool(value)) => *value,
            Some(other) => {
                problems.push(format!("initializationOptions: `{key}` takes true or false, not {other}; it is ignored."));
                false
            }
        };
        let read = Self {
            events: flag("events"),
            draws_hunks: flag("drawsHunks"),
            approvals: flag("approvals"),
            threads: flag("threads"),
            messages: flag("messages"),
            plugin: flag("plugin"),
            edits: flag("edits"),
        };
        (read, problems)
    }
}

/// The keys of a client's own options, in `initializationOptions`, which are no configuration.
pub const CLIENT_KEYS: &[&str] =
    &["events", "drawsHunks", "approvals", "threads", "messages", "plugin", "edits"];

/// Facts that `initialize` has told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientFacts {
    pub(crate) options: ClientOptions,
    pub(crate) habits: Option<Habits>,
    pub(crate) progress: bool,
    pub(crate) shows_documents: bool,
    pub(crate) lens_refresh: bool,
    pub(crate) configuration: bool,
    /// It takes code actions; else commands stand for them.
    pub(crate) code_action_literals: bool,
}
