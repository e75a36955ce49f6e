//! The schema in the annotations of LuaCATS, which Lua's language server checks a plugin by.

use serde_json::{Map, Value};

const HEAD: &str = "\
---@meta ropewalk.protocol
-- Written by a test of the server from its types: don't edit it.
";

/// All definitions, and a class for each of the document's own members.
pub(crate) fn page(document: &Value) -> String {
    let mut out = HEAD.to_owned();
    let definitions = document["$defs"].as_object().unwrap();
    for (name, schema) in definitions {
        out += &definition(name, schema);
    }
    let groups = [
        ("commands", "argument", "answer"),
        ("requests", "params", "result"),
        ("clientRequests", "params", "result"),
    ];
    for (group, input, output) in groups {
        out += &format!("\n--- The types of `{group}`, by their names.\n");
        for (name, call) in members(&document["properties"][group]) {
            let sides = members(call);
            out += &format!("-- {name}: {} -> {}\n", kind(&sides[input]), kind(&sides[output]));
        }
    }
    out + "\nreturn {}\n"
}

fn members(schema: &Value) -> &Map<String, Value> {
    schema["properties"].as_object().unwrap()
}

fn words(schema: &Value) -> String {
    let words = schema["description"].as_str().unwrap_or_default();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A class for an object, an alias for anything else. Objects that stand inside have a class of their own.
fn definition(name: &str, schema: &Value) -> String {
    let mut inner = String::new();
    let about = match words(schema) {
        words if words.is_empty() => String::new(),
        words => format!("--- {words}\n"),
    };
    let own = if schema["properties"].is_object() && schema["oneOf"].is_null() {
        class(name, schema, &mut inner)
    } else {
        let kinds = alternatives(schema).map(|kinds| {
            let kinds = kinds.iter().enumerate();
            kinds.map(|(at, schema)| named(&format!("{name}{}", at + 1), schema, &mut inner))
        });
        let kinds = kinds.map(|kinds| kinds.collect::<Vec<_>>().join("|"));
        format!("---@alias ropewalk.{name} {}\n", kinds.unwrap_or_else(|| kind(schema)))
    };
    format!("{inner}\n{about}{own}")
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema["oneOf"].as_array().or(schema["anyOf"].as_array())
}

fn class(name: &str, schema: &Value, inner: &mut String) -> String {
    let mut out = format!("---@class ropewalk.{name}\n");
    let required = schema["required"].as_array();
    for (field, schema) in members(schema) {
        let is_required = required.is_some_and(|all| all.iter().any(|one| one == field));
        let kind = named(&format!("{name}.{field}"), schema, inner);
        let is_null = kind.split('|').any(|kind| kind == "nil");
        let kind = kind.trim_end_matches("|nil");
        let may_lack = if is_required && !is_null { "" } else { "?" };
        let about = words(schema);
        out += format!("---@field {field}{may_lack} {kind} {about}").trim_end();
        out.push('\n');
    }
    out
}

/// The type of a schema; an object without a name gets this one.
fn named(name: &str, schema: &Value, inner: &mut String) -> String {
    if schema["properties"].is_object() && schema["oneOf"].is_null() {
        *inner += &format!("\n{}", class(name, schema, &mut String::new()));
        return format!("ropewalk.{name}");
    }
    kind(schema)
}

fn kind(schema: &Value) -> String {
    let all = |kinds: &[Value]| {
        let mut kinds: Vec<String> = kinds.iter().map(kind).collect();
        kinds.sort_by_key(|kind| kind == "nil");
        kinds.join("|")
    };
    if let Some(at) = schema["$ref"].as_str() {
        return format!("ropewalk.{}", at.rsplit('/').next().unwrap());
    }
    if let Some(kinds) = alternatives(schema) {
        return all(kinds);
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("{word:?}");
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join("|");
    }
    let one = |word: &str| match word {
        "null" => "nil".to_owned(),
        "array" => match kind(&schema["items"]) {
            each if each.contains('|') => format!("({each})[]"),
            each => format!("{each}[]"),
        },
        "object" => "table".to_owned(),
        word => word.to_owned(),
    };
    match &schema["type"] {
        Value::String(word) => one(word),
        Value::Array(words) => {
            words.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join("|")
        }
        _ => "any".to_owned(),
    }
}
