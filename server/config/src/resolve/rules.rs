//! From a value to rules: text, or a table with examples. It knows the form of an entry, not what a
//! rule means.

use super::check::{MOST_ENTRIES, ValueRefusal, expected};
use crate::keys::Key;
use crate::problem::{ValueSource, shown};
use crate::rules::{RuleText, unfit};
use crate::value::{ListItem, TableEntry, Value};

/// The rules of a list, without the entries that will not do.
pub(super) fn read(
    key: &Key,
    value: Value,
    source: &ValueSource,
    refusals: &mut Vec<ValueRefusal>,
) -> Result<Vec<RuleText>, ValueRefusal> {
    let Value::List(items) = value else { return Err(expected(key, value.describe())) };
    if items.len() > MOST_ENTRIES {
        return Err(ValueRefusal(format!("has more than {MOST_ENTRIES} entries; it is ignored")));
    }
    let mut rules: Vec<RuleText> = Vec::with_capacity(items.len());
    for item in items {
        match rule(item, source) {
            Ok(rule) => rules.push(rule),
            Err(words) => refusals.push(ValueRefusal(format!("{words}; that entry is ignored"))),
        }
    }
    Ok(rules)
}

/// One entry. An entry with anything wrong in it is refused whole: a rule without the examples that
/// were meant to check it is not the rule that was written.
fn rule(ListItem { line, value }: ListItem, source: &ValueSource) -> Result<RuleText, String> {
    // A flag is one line, whatever its text says.
    let line = line.filter(|_| source.line.is_some());
    let at = line.map_or_else(String::new, |line| format!("line {line}: "));
    let mut rule = RuleText {
        rule: String::new(),
        matches: Vec::new(),
        refuses: Vec::new(),
        source: source.at(line.or(source.line)),
    };
    match value {
        Value::Text(text) => text.trim().clone_into(&mut rule.rule),
        Value::Table(entries) => {
            for TableEntry { key, value, .. } in entries {
                match (key.as_str(), value) {
                    ("rule", Value::Text(text)) => text.trim().clone_into(&mut rule.rule),
                    ("rule", other) => {
                        let got = other.describe();
                        return Err(format!("has an entry ({at}`rule` must be text, not {got})"));
                    }
                    ("matches", value) => rule.matches = examples(&at, "matches", value)?,
                    ("refuses", value) => rule.refuses = examples(&at, "refuses", value)?,
                    (other, _) => {
                        return Err(format!(
                            "has an entry with an unknown key ({at}`{}`; there are `rule`, `matches` and `refuses`)",
                            shown(other)
                        ));
                    }
                }
            }
        }
        other => {
            let got = other.describe();
            return Err(format!("may only list rules as text or tables, not {got}"));
        }
    }
    match unfit(&rule.rule) {
        Some(words) => Err(format!("has an entry that is not a rule ({at}{words})")),
        None => Ok(rule),
    }
}

fn examples(at: &str, key: &str, value: Value) -> Result<Vec<String>, String> {
    let wrong = || format!("has an entry ({at}`{key}` must be a list of texts)");
    let Value::List(items) = value else { return Err(wrong()) };
    if items.len() > MOST_ENTRIES {
        return Err(format!("has an entry ({at}`{key}` has more than {MOST_ENTRIES} examples)"));
    }
    let text = |item: ListItem| match item.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong()),
    };
    items.into_iter().map(text).collect()
}
