//! JSON schemas of all that goes over a wire, for front ends in other languages.

use crate::{Refusal, Reply, Request, SessionEvent};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// One document with the schema of everything: `Request` is what front ends ask, `Reply` or `Refusal` the answer, and
/// `SessionEvent` what they are told.
/// Of what they get every member is described that is always there; of what they ask, those that must be.
pub fn document() -> Value {
    let mut definitions = Map::new();
    let told = || SchemaSettings::draft2020_12().for_serialize();
    define::<SessionEvent>(told(), &mut definitions);
    define::<Reply>(told(), &mut definitions);
    define::<Refusal>(told(), &mut definitions);
    define::<Request>(SchemaSettings::draft2020_12().for_deserialize(), &mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Ropewalk",
        "$defs": definitions,
    })
}

fn define<T: JsonSchema>(settings: SchemaSettings, into: &mut Map<String, Value>) {
    let mut generator = settings.into_generator();
    generator.subschema_for::<T>();
    into.extend(generator.take_definitions(true));
}
