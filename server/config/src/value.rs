//! The one form that values of every layer are brought into before they are looked at. It knows no
//! keys; TOML is read in `toml_text`.

/// How deep a tree is followed. No key lies deeper than three levels; what does is unknown anyway.
pub(crate) const MAX_DEPTH: usize = 8;

/// A value as a layer gives it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// JSON's null: the key counts as not set.
    Null,
    Bool(bool),
    /// A whole number; those that an `i64` can't hold are `Other`.
    Integer(i64),
    /// A finite number that is not whole.
    Decimal(f64),
    Text(String),
    List(Vec<ListItem>),
    Table(Vec<TableEntry>),
    /// Anything no key takes; the words name it.
    Other(&'static str),
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListItem {
    /// From 1; `None` when the layer has no lines.
    pub(crate) line: Option<usize>,
    pub(crate) value: Value,
}

/// One key of a table, in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableEntry {
    pub(crate) key: String,
    /// From 1; `None` when the layer has no lines.
    pub(crate) line: Option<usize>,
    pub(crate) value: Value,
}

impl Value {
    /// The value's type, for a sentence.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Integer(_) => "a whole number",
            Value::Decimal(_) => "a number that is not whole",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(words) => words,
        }
    }

    /// The value as JSON. None for what JSON has no form for.
    pub(crate) fn to_json(&self) -> Option<serde_json::Value> {
        use serde_json::Value as Json;
        Some(match self {
            Value::Null => Json::Null,
            Value::Bool(on) => Json::Bool(*on),
            Value::Integer(number) => Json::from(*number),
            Value::Decimal(number) => Json::from(*number),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => {
                items.iter().map(|item| item.value.to_json()).collect::<Option<_>>()?
            }
            Value::Table(entries) => {
                let members = entries.iter().map(|it| Some((it.key.clone(), it.value.to_json()?)));
                Json::Object(members.collect::<Option<_>>()?)
            }
            Value::Other(_) => return None,
        })
    }

    /// A value below a dotted path: `a.b` and `1` give `{a: {b: 1}}`. An empty path gives the value.
    pub(crate) fn nested(path: &[&str], value: Value) -> Value {
        path.iter().rev().fold(value, |value, key| {
            Value::Table(vec![TableEntry { key: (*key).to_owned(), line: None, value }])
        })
    }

    /// Takes over JSON. A dotted key (`"limits.steps"`), as some editors write them, stays one here.
    pub(crate) fn from_json(json: &serde_json::Value, depth: usize) -> Value {
        use serde_json::Value as Json;
        if depth >= MAX_DEPTH {
            return Value::Other("something nested too deep");
        }
        match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match (whole(number), number.as_f64()) {
                (Some(number), _) => Value::Integer(number),
                (None, Some(number)) if number.is_finite() && number.fract() != 0.0 => {
                    Value::Decimal(number)
                }
                _ => Value::Other("a number out of range"),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(list) => Value::List(
                list.iter()
                    .map(|item| ListItem { line: None, value: Value::from_json(item, depth + 1) })
                    .collect(),
            ),
            Json::Object(map) => Value::Table(
                map.iter()
                    .map(|(key, item)| {
                        let value = Value::from_json(item, depth + 1);
                        TableEntry { key: key.clone(), line: None, value }
                    })
                    .collect(),
            ),
        }
    }
}

/// A whole number, also when an editor's script language only has floats and writes `10.0`.
fn whole(number: &serde_json::Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        // Within 2^53 a float holds every whole number exactly.
        let exact = float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0;
        #[expect(clippy::cast_possible_truncation, reason = "checked: whole and within 2^53")]
        exact.then_some(float as i64)
    })
}
