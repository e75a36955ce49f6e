//! JSON schemas of all that goes over a wire, for front ends in other languages. Only tests write and compare
//! them, so no other build derives them.

mod lua;
mod wire;
mod written;

use crate::plugin::ClientOptions;
use crate::{Refusal, Reply, Request, SessionEvent};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Names of the definitions of events: the event's own in camel case, and this behind it.
const EVENT: &str = "Event";

/// One document with the schema of everything. Its members are what an editor speaks: `options`, `commands`, `requests`
/// that a plugin makes, `clientRequests` that it answers, and the `event` it is told. Among its definitions are also
/// `Request`, which front ends in this process ask, and the answers `Reply` and `Refusal`.
/// Of what front ends get every member is described that is always there; of what they ask, those that must be.
fn document() -> Value {
    let mut schemas = Schemas::default();
    let event = schemas.told::<SessionEvent>();
    let members = [
        ("event", event),
        ("options", schemas.asked::<ClientOptions>()),
        ("commands", wire::commands(&mut schemas)),
        ("requests", wire::requests(&mut schemas)),
        ("clientRequests", wire::client_requests(&mut schemas)),
    ];
    schemas.told::<Reply>();
    schemas.told::<Refusal>();
    schemas.asked::<Request>();
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Ropewalk",
    });
    let members = object(members.map(|(name, schema)| (name.to_owned(), schema)));
    let mut definitions = schemas.definitions();
    part_events(&mut definitions);
    if let (Value::Object(document), Value::Object(members)) = (&mut document, members) {
        document.extend(members);
        document.insert("$defs".to_owned(), Value::Object(definitions));
    }
    document
}

/// Schemas with one list of definitions, of what is told and of what is asked.
struct Schemas {
    told: SchemaGenerator,
    asked: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12;
        Self {
            told: settings().for_serialize().into_generator(),
            asked: settings().for_deserialize().into_generator(),
        }
    }
}

impl Schemas {
    fn told<T: JsonSchema>(&mut self) -> Value {
        self.told.subschema_for::<T>().into()
    }

    fn asked<T: JsonSchema>(&mut self) -> Value {
        self.asked.subschema_for::<T>().into()
    }

    fn definitions(mut self) -> Map<String, Value> {
        let mut definitions = self.asked.take_definitions(true);
        definitions.extend(self.told.take_definitions(true));
        definitions
    }
}

/// An object with exactly these members.
fn object(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    let members: Map<String, Value> = members.into_iter().collect();
    let names: Vec<&String> = members.keys().collect();
    json!({
        "type": "object",
        "required": names,
        "properties": members,
        "additionalProperties": false,
    })
}

/// Gives each kind of event a definition of its own, with the members that all have, so that the name in `type` tells
/// them apart in every language.
fn part_events(definitions: &mut Map<String, Value>) {
    let Some(Value::Object(mut event)) = definitions.remove("SessionEvent") else { return };
    let shared = event.shift_remove("properties").unwrap_or_default();
    let kinds = event.shift_remove("oneOf").unwrap_or_default();
    let mut names = Vec::new();
    for kind in kinds.as_array().into_iter().flatten() {
        let mut kind = kind.clone();
        let Some(name) = kind.pointer("/properties/type/const").and_then(Value::as_str) else {
            continue;
        };
        let name = camel_case(name) + EVENT;
        take_in_reference(&mut kind, definitions);
        if let (Some(members), Some(shared)) =
            (kind.pointer_mut("/properties").and_then(Value::as_object_mut), shared.as_object())
        {
            members.extend(shared.clone());
        }
        names.push(json!({ "$ref": format!("#/$defs/{name}") }));
        definitions.insert(name, kind);
    }
    definitions.insert(
        "SessionEvent".to_owned(),
        json!({ "oneOf": names, "description": "An event, told apart by its `type`." }),
    );
}

/// Puts the members of a type that an event refers to into the event: beside a reference, languages ignore members.
fn take_in_reference(kind: &mut Value, definitions: &Map<String, Value>) {
    let Some(kind) = kind.as_object_mut() else { return };
    let Some(Value::String(at)) = kind.shift_remove("$ref") else { return };
    let inner = at.rsplit('/').next().and_then(|name| definitions.get(name));
    for part in ["properties", "required"] {
        match (kind.get_mut(part), inner.and_then(|inner| inner.get(part))) {
            (Some(Value::Object(own)), Some(Value::Object(more))) => own.extend(more.clone()),
            (Some(Value::Array(own)), Some(Value::Array(more))) => own.extend(more.clone()),
            _ => {}
        }
    }
}

fn camel_case(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    });
    words.collect()
}
