//! The client as `initialize` tells of it: its own options, and what it can do.

use ropewalk_protocol::plugin::ClientOptions;
use ropewalk_workspace::Habits;
use serde_json::{Map, Value};

/// Reads a client's own options in `initializationOptions`, apart from configuration, key by key, so that a wrong one
/// spoils no other. Gives what is wrong, in sentences.
pub(crate) fn read_options(options: Option<&Value>) -> (ClientOptions, Vec<String>) {
    let (mut given, mut problems) = (Map::new(), Vec::new());
    for key in client_keys() {
        match options.and_then(|options| options.get(&key)) {
            None | Some(Value::Null) => {}
            // A table of the configuration has the same name.
            Some(Value::Object(_)) if key == "team" => {}
            Some(Value::Bool(value)) => drop(given.insert(key, Value::Bool(*value))),
            Some(other) => problems.push(format!(
                "initializationOptions: `{key}` takes true or false, not {other}; it is ignored."
            )),
        }
    }
    (serde_json::from_value(Value::Object(given)).unwrap_or_default(), problems)
}

/// The keys of a client's own options, in `initializationOptions`, which are no configuration.
pub fn client_keys() -> Vec<String> {
    let options = serde_json::to_value(ClientOptions::default());
    let keys = options.as_ref().ok().and_then(Value::as_object).map(|options| options.keys());
    keys.into_iter().flatten().cloned().collect()
}

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
