//! A call's input: from what a model wrote to a tool's own type.
//!
//! Models write numbers as strings, `null` for what they leave out, and lists as JSON strings. Such input is
//! converted by the schema, and the result says so; anything else is refused in words that name the fault. Members
//! that a tool does not have are ignored where nothing can come of it, which the result says too.

pub mod loose;

use crate::bounds::preview;
use crate::tool::Effect;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The JSON schema of an input type, as the model sees it: inlined, without titles. Each type's is made once.
pub fn schema_of<T: JsonSchema + 'static>() -> Arc<Value> {
    static MADE: Mutex<BTreeMap<TypeId, Arc<Value>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(new_schema::<T>())).clone()
}

fn new_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    // A tool has a description of its own; its type's words are for readers of the code.
    if let Some(map) = schema.as_object_mut() {
        map.shift_remove("description");
    }
    schema
}

/// Takes out what tells a model nothing.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for key in ["title", "format", "$schema", "default"] {
                if map.get(key).is_some_and(|value| !value.is_object()) {
                    map.shift_remove(key);
                }
            }
            // An optional field is left out, not null: `["integer", "null"]` is plainly "integer".
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [one] = types.as_slice() {
                    let one = one.clone();
                    map.insert("type".to_owned(), one);
                }
            }
            map.values_mut().for_each(tidy);
        }
        Value::Array(list) => list.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Members in which models say why they make a call. Nothing depends on them.
const REMARKS: &[&str] = &["description", "explanation", "reason"];

/// How much of a name that the model made up is said again.
const NAME_CHARS: usize = 60;

/// How many ignored members are named.
const NAMED: usize = 10;

/// Words of a result for an input that was JSON but for this.
pub fn overlooked(what: &[&str]) -> String {
    format!("the input was not valid JSON; it was read without {}", what.join(", "))
}

/// True if a call may run as if it had not this member, which the tool does not have: it only reads, or the member
/// asks for nothing.
fn is_idle(effect: Effect, key: &str, value: &Value) -> bool {
    effect == Effect::Read
        || matches!(value, Value::Null | Value::Bool(false))
        || REMARKS.contains(&key)
}

/// The members of an input, and what was converted for it.
fn members(input: Value) -> Result<(Map<String, Value>, Vec<String>), &'static str> {
    match input {
        Value::Object(map) => Ok((map, Vec::new())),
        Value::Null => Ok((Map::new(), Vec::new())),
        Value::String(text) => match loose::read(&text) {
            Some((Value::Object(map), _)) => {
                let said = "the input was a JSON string; it was read as an object";
                Ok((map, vec![said.to_owned()]))
            }
            _ => Err("the input must be an object"),
        },
        _ => Err("the input must be an object"),
    }
}

/// Converts `input` for a call that can do `effect`, where the schema allows only one meaning. Gives what was converted
/// and what was ignored, in words.
///
/// # Errors
/// The input's fault and the schema, in words for the model.
pub fn convert(
    tool: &str,
    effect: Effect,
    schema: &Value,
    input: Value,
) -> Result<(Value, Vec<String>), String> {
    let (map, mut conversions) = members(input).map_err(|why| fault(tool, schema, why))?;
    let mut ignored = Vec::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut clean = Map::new();
    for (key, value) in map {
        let Some(property) = properties.and_then(|properties| properties.get(&key)) else {
            if is_idle(effect, &key, &value) {
                ignored.push(format!("`{}`", preview(&key, NAME_CHARS)));
                continue;
            }
            let known: Vec<&str> =
                properties.map(|p| p.keys().map(String::as_str).collect()).unwrap_or_default();
            let name = preview(&key, NAME_CHARS);
            let why = format!("`{name}` is not one of its fields ({})", known.join(", "));
            return Err(fault(tool, schema, &why));
        };
        if value.is_null() && !required.contains(&key.as_str()) {
            continue;
        }
        let (value, conversion) =
            member(&key, property, value).map_err(|why| fault(tool, schema, &why))?;
        conversions.extend(conversion);
        clean.insert(key, value);
    }
    if !ignored.is_empty() {
        let more = ignored.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        ignored.truncate(NAMED);
        conversions.push(format!(
            "ignored, because {tool} has no such field: {}{more}",
            ignored.join(", ")
        ));
    }
    if let Some(missing) = required.iter().find(|key| !clean.contains_key(**key)) {
        return Err(fault(tool, schema, &format!("`{missing}` is missing")));
    }
    Ok((Value::Object(clean), conversions))
}

/// The words for an input that can't be read.
pub(crate) fn fault(tool: &str, schema: &Value, why: &str) -> String {
    format!("Invalid input for {tool}: {why}. Its schema is {schema}")
}

/// A value as its schema wants it, and what was converted.
fn member(key: &str, schema: &Value, value: Value) -> Result<(Value, Option<String>), String> {
    let Some(kind) = schema.get("type").and_then(Value::as_str) else { return Ok((value, None)) };
    let said = |to: &str| Some(format!("`{key}` was converted to {to}"));
    match (kind, value) {
        ("integer", Value::String(text)) => match text.trim().parse::<i64>() {
            Ok(number) => Ok((number.into(), said("a number"))),
            Err(_) => Err(format!("`{key}` must be a whole number, not the text {text:?}")),
        },
        ("integer", Value::Number(number)) => match number.as_f64() {
            Some(whole)
                if !number.is_i64()
                    && !number.is_u64()
                    && whole.fract() == 0.0
                    && whole.abs() < 9e15 =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "the value is whole and below 2^53"
                )]
                Ok(((whole as i64).into(), said("a whole number")))
            }
            _ => Ok((Value::Number(number), None)),
        },
        ("boolean", Value::String(text)) => match text.trim() {
            "true" => Ok((true.into(), said("true"))),
            "false" => Ok((false.into(), said("false"))),
            _ => Err(format!("`{key}` must be true or false, not the text {text:?}")),
        },
        ("string", Value::Number(number)) => Ok((number.to_string().into(), said("text"))),
        ("string", Value::Bool(flag)) => Ok((flag.to_string().into(), said("text"))),
        ("array", Value::String(text)) => match loose::read(&text) {
            Some((Value::Array(list), _)) => Ok((Value::Array(list), said("a list"))),
            _ => Err(format!("`{key}` must be a list")),
        },
        ("object", Value::String(text)) => match loose::read(&text) {
            Some((Value::Object(map), _)) => Ok((Value::Object(map), said("an object"))),
            _ => Err(format!("`{key}` must be an object")),
        },
        (_, value) => Ok((value, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    /// Input of the tool under test.
    #[derive(Deserialize, JsonSchema, Debug, PartialEq)]
    struct WriteFileInput {
        /// A path.
        path: String,
        /// A number.
        limit: Option<u32>,
        /// A list.
        names: Option<Vec<String>>,
        /// A flag.
        all: Option<bool>,
    }

    fn check(input: Value) -> Result<(WriteFileInput, usize), String> {
        let schema = schema_of::<WriteFileInput>();
        let (input, said) = convert("t", Effect::Write, &schema, input)?;
        let typed = WriteFileInput::deserialize(&input);
        Ok((typed.map_err(|error| fault("t", &schema, &error.to_string()))?, said.len()))
    }

    #[test]
    fn members_it_does_not_have_are_ignored_where_nothing_comes_of_them() {
        let schema = schema_of::<WriteFileInput>();
        let read = |effect, member: Value| {
            let mut input = json!({"path": "a"});
            input.as_object_mut().unwrap().extend(member.as_object().unwrap().clone());
            convert("t", effect, &schema, input)
        };
        let ignored = "ignored, because t has no such field: ";
        for member in [
            json!({"description": "why"}),
            json!({"explanation": ["why"]}),
            json!({"reason": 1}),
            json!({"dry_run": false}),
            json!({"dry_run": null}),
        ] {
            for effect in [Effect::Read, Effect::Write, Effect::Execute, Effect::Session] {
                let (input, said) = read(effect, member.clone()).unwrap();
                let name = member.as_object().unwrap().keys().next().unwrap();
                assert_eq!(input, json!({"path": "a"}));
                assert_eq!(said, [format!("{ignored}`{name}`")], "{effect:?}");
            }
        }
        for member in [json!({"dry_run": true}), json!({"force": 0}), json!({"file": ""})] {
            assert_eq!(read(Effect::Read, member.clone()).unwrap().1.len(), 1, "{member}");
            for effect in [Effect::Write, Effect::Execute, Effect::Session] {
                let why = read(effect, member.clone()).unwrap_err();
                assert!(
                    why.contains("is not one of its fields (path, limit, names, all)"),
                    "{why}"
                );
            }
        }
        let many = (0..50).map(|n| (format!("{n}{}", "x".repeat(9_000)), json!(n))).collect();
        let (_, said) = read(Effect::Read, Value::Object(many)).unwrap();
        assert!(said[0].ends_with("` and 40 more") && said[0].len() < 2_000, "{said:?}");
    }

    fn input(limit: Option<u32>, names: Option<&str>, all: Option<bool>) -> WriteFileInput {
        let names = names.map(|name| vec![name.to_owned()]);
        WriteFileInput { path: "a".to_owned(), limit, names, all }
    }

    #[test]
    fn what_has_one_meaning_is_converted() {
        assert_eq!(check(json!({"path": "a"})), Ok((input(None, None, None), 0)));
        assert_eq!(
            check(json!({"path": "a", "limit": "12"})),
            Ok((input(Some(12), None, None), 1))
        );
        assert_eq!(
            check(json!({"path": "a", "limit": 12.0})),
            Ok((input(Some(12), None, None), 1))
        );
        assert_eq!(check(json!({"path": "a", "limit": null})), Ok((input(None, None, None), 0)));
        assert_eq!(
            check(json!({"path": "a", "names": "[\"x\"]"})),
            Ok((input(None, Some("x"), None), 1))
        );
        assert_eq!(
            check(json!({"path": "a", "all": "true"})),
            Ok((input(None, None, Some(true)), 1))
        );
        assert_eq!(check(json!("{\"path\": \"a\"}")), Ok((input(None, None, None), 1)));
    }

    #[test]
    fn faults_are_named_with_the_schema() {
        for (value, word) in [
            (json!({}), "`path` is missing"),
            (json!({"path": "a", "limit": "many"}), "`limit` must be a whole number"),
            (json!({"path": "a", "limit": -1}), "-1"),
            (json!({"path": "a", "file": "b"}), "`file` is not one of its fields"),
            (json!([]), "must be an object"),
            (json!({"path": ["a"]}), "expected a string"),
        ] {
            let error = check(value).unwrap_err();
            assert!(error.contains(word) && error.contains("\"properties\""), "{error}");
        }
    }

    #[test]
    fn the_schema_is_plain() {
        assert_eq!(
            schema_of::<WriteFileInput>().get("properties").unwrap().get("limit").unwrap(),
            &json!({"description": "A number.", "type": "integer", "minimum": 0})
        );
    }
}
