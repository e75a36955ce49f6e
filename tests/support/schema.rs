//! The types of requests as the official SDKs have them, and of our own events, and whether a value is of its type.
//!
//! The schemas are in `tests/data/schemas`, with how they are made, and in `editors/protocol.json`. They use few words
//! of JSON Schema, all of which are known here; one that is not is a fault, so that nothing of a newer schema is
//! passed over.

use ropewalk_model::Protocol;
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Words of the schemas, besides those that say nothing of a value.
const WORDS: &[&str] = &[
    "type",
    "const",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "oneOf",
    "minimum",
    "$ref",
    "description",
    "default",
    "format",
];

/// The schema of a protocol's requests.
fn schema(protocol: Protocol) -> &'static Value {
    static SCHEMAS: LazyLock<[Value; 3]> = LazyLock::new(|| {
        [
            include_str!("../data/schemas/anthropic.json"),
            include_str!("../data/schemas/chat.json"),
            include_str!("../data/schemas/responses.json"),
        ]
        .map(|text| serde_json::from_str(text).expect("a schema is JSON"))
    });
    let [anthropic, chat, responses] = &*SCHEMAS;
    match protocol {
        Protocol::Anthropic => anthropic,
        Protocol::Chat => chat,
        Protocol::Responses => responses,
    }
}

/// Faults of the body of a request against its official type; none if all is well.
pub(crate) fn faults(protocol: Protocol, body: &str) -> Vec<String> {
    let root = schema(protocol);
    match serde_json::from_str(body) {
        Ok(body) => judge(root, root, &body, "").into_iter().map(|fault| fault.words).collect(),
        Err(error) => vec![format!("the body is no JSON: {error}")],
    }
}

/// Faults of an event against `editors/protocol.json`; none if all is well. A front end passes over
/// the unknown, but nothing may be sent that is not described.
pub(crate) fn event_faults(event: &Value) -> Vec<String> {
    message_faults("event", event)
}

/// The same of any of our messages, named by its place in `editors/protocol.json`, such as
/// `commands/ropewalk.accept/argument`; a slash in a name is written `~1`.
pub(crate) fn message_faults(place: &str, message: &Value) -> Vec<String> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let text = include_str!("../../editors/protocol.json");
        let mut schema = serde_json::from_str(text).expect("a schema is JSON");
        close(&mut schema);
        schema
    });
    let pointer = format!("/properties/{}", place.replace('/', "/properties/"));
    match SCHEMA.pointer(&pointer) {
        Some(kind) => judge(&SCHEMA, kind, message, "").into_iter().map(|one| one.words).collect(),
        None => vec!["it is not described".to_owned()],
    }
}

/// Allows no members but those that are described.
fn close(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(close),
        Value::Object(words) => {
            words.values_mut().for_each(close);
            let is_whole = !["oneOf", "anyOf", "$ref"].iter().any(|word| words.contains_key(*word));
            if is_whole && words.get("properties").is_some_and(Value::is_object) {
                words.entry("additionalProperties").or_insert(Value::Bool(false));
            }
        }
        _ => {}
    }
}

/// Something that is wrong, how deep it lies, and whether it says that the value is of another kind: of many types a
/// value could be of, it is measured by the one it comes nearest to.
struct Fault {
    depth: usize,
    is_other_kind: bool,
    words: String,
}

fn judge(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<Fault> {
    let Value::Object(schema) = schema else { return Vec::new() };
    let mut faults = Vec::new();
    let depth = place.matches('/').count();
    let mut fault = |words: String| {
        faults.push(Fault { depth, is_other_kind: true, words: format!("at {place:?}: {words}") });
    };
    for word in schema.keys().filter(|word| !word.starts_with('$') && *word != "definitions") {
        if !WORDS.contains(&word.as_str()) {
            fault(format!("the schema says {word:?}, which is not understood here"));
        }
    }
    if let Some(expected) = schema.get("const").filter(|expected| *expected != value) {
        fault(format!("{} should be {expected}", short(value)));
    }
    let is_one = |all: &Value| all.as_array().is_some_and(|all| all.contains(value));
    if let Some(all) = schema.get("enum").filter(|all| !is_one(all)) {
        fault(format!("{} should be one of {all}", short(value)));
    }
    if let Some(kinds) = schema.get("type").filter(|kinds| !is_of(kinds, value)) {
        fault(format!("{} should be of type {kinds}", short(value)));
    }
    let least = schema.get("minimum").and_then(Value::as_f64);
    if let Some(least) = least.filter(|least| value.as_f64().is_some_and(|value| value < *least)) {
        fault(format!("{} should be at least {least}", short(value)));
    }
    if let Value::Object(members) = value {
        faults.extend(judge_members(root, schema, members, place));
    }
    if let (Value::Array(items), Some(each)) = (value, schema.get("items")) {
        for (at, item) in items.iter().enumerate() {
            faults.extend(judge(root, each, item, &format!("{place}/{at}")));
        }
    }
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let named = name.strip_prefix('#').and_then(|at| root.pointer(at)).expect("it is defined");
        faults.extend(judge(root, named, value, place));
    }
    if let Some(Value::Array(kinds)) = schema.get("anyOf").or(schema.get("oneOf")) {
        let judged = kinds.iter().map(|kind| judge(root, kind, value, place));
        let nearest = judged.min_by_key(|faults| {
            let depths = faults.iter().map(|fault| fault.depth);
            // A value says in itself or in a member of what kind it is.
            let is_other = |fault: &Fault| fault.is_other_kind && fault.depth <= depth + 1;
            let least = depths.min().unwrap_or(usize::MAX);
            (!faults.is_empty(), faults.iter().any(is_other), usize::MAX - least)
        });
        faults.extend(nearest.into_iter().flatten());
    }
    faults
}

fn judge_members(
    root: &Value,
    schema: &Map<String, Value>,
    members: &Map<String, Value>,
    place: &str,
) -> Vec<Fault> {
    let depth = place.matches('/').count();
    let known = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties");
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = required.filter_map(Value::as_str).filter(|name| !members.contains_key(*name));
    let fault = |words: String| Fault {
        depth,
        is_other_kind: false,
        words: format!("at {place:?}: {words}"),
    };
    let mut faults: Vec<Fault> =
        missing.map(|name| fault(format!("{name:?} is missing"))).collect();
    for (name, value) in members {
        match known.and_then(|known| known.get(name)).or(others) {
            Some(Value::Bool(false)) => faults.push(fault(format!("unknown member {name:?}"))),
            Some(kind) => faults.extend(judge(root, kind, value, &format!("{place}/{name}"))),
            None => {}
        }
    }
    faults
}

fn is_of(kinds: &Value, value: &Value) -> bool {
    let is = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    match kinds {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(is),
        kind => kind.as_str().is_some_and(is),
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}
