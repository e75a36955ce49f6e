//! Rules as they are written, and the one place where those for always are kept. What a rule means,
//! and whether its examples hold, is the policy's business.

use std::io;
use std::path::Path;

use toml_edit::{Array, DocumentMut, Formatted, Item, Table, Value};

use crate::Config;
use crate::private_file;
use crate::problem::{ValueSource, turns_text};

/// The characters of the longest rule.
pub(crate) const LONGEST_RULE: usize = 2_000;

/// One rule, as written, with its examples and where it stands.
///
/// In TOML it is text, as in `"bash(git status *)"`, or a table:
/// `{ rule = "bash(git status *)", matches = ["git status -s"], refuses = ["git push"] }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    /// The rule: not empty, one line, without control characters and those that turn text.
    pub rule: String,
    /// Examples that it must match.
    pub matches: Vec<String>,
    /// Examples that it must not match.
    pub refuses: Vec<String>,
    /// Where it stands, with its own line where the layer has lines.
    pub source: ValueSource,
}

/// One of the three lists of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleList {
    Allow,
    Ask,
    Deny,
}

impl RuleList {
    /// Adds what is not there yet. The same rule with other examples is another entry: each entry's
    /// examples are to hold.
    pub(crate) fn add(self, config: &mut Config, rules: Vec<RuleText>) {
        let list = match self {
            RuleList::Allow => &mut config.allow,
            RuleList::Ask => &mut config.ask,
            RuleList::Deny => &mut config.deny,
        };
        for new in rules {
            let same = |known: &RuleText| {
                known.rule == new.rule
                    && known.matches == new.matches
                    && known.refuses == new.refuses
            };
            if !list.iter().any(same) {
                list.push(new);
            }
        }
    }
}

/// Why a text can be no rule, in words; `None` when it can.
pub(crate) fn unfit(rule: &str) -> Option<String> {
    if rule.is_empty() {
        return Some("a rule must not be empty".to_owned());
    }
    if rule.chars().any(|c| c.is_control() || turns_text(c)) {
        return Some("a rule must be one line without control characters".to_owned());
    }
    (rule.chars().nth(LONGEST_RULE).is_some())
        .then(|| format!("a rule must not be longer than {LONGEST_RULE} characters"))
}

/// Adds one rule to `list` (`allow`, `ask` or `deny`) of a file such as [`rules_file`](crate::rules_file)
/// gives, which is made if there is none. What stands in the file stays as it is, comments and all.
/// A rule that is in the list already changes nothing. The file is replaced in one step, and is
/// readable for its owner only.
///
/// # Errors
/// `InvalidInput` when there is no such list, or the text can be no rule; `InvalidData` when the
/// file is not a configuration that can be added to, which is then left alone; else what the disk
/// says. Each says in words what is wrong.
pub fn add_rule(file: &Path, list: &str, rule: &str) -> io::Result<()> {
    let rule = rule.trim();
    if !["allow", "ask", "deny"].contains(&list) {
        let words = format!("there is no list `{list}`: rules go to `allow`, `ask` or `deny`");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    if let Some(words) = unfit(rule) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    private_file::update(file, |text| added(text.unwrap_or_default(), list, rule))
}

/// The text with the rule in its list; `None` when it is there already.
fn added(text: &str, list: &str, rule: &str) -> io::Result<Option<String>> {
    let invalid = |words: String| io::Error::new(io::ErrorKind::InvalidData, words);
    let mut document: DocumentMut =
        text.parse().map_err(|_| invalid("it holds broken TOML; fix it first".to_owned()))?;
    let says = |value: Option<&Value>| value.and_then(Value::as_str).map(str::trim) == Some(rule);
    match document.entry(list).or_insert_with(|| Item::Value(Value::Array(Array::new()))) {
        Item::Value(Value::Array(array)) => {
            let there = array.iter().any(|value| {
                says(Some(value))
                    || says(value.as_inline_table().and_then(|table| table.get("rule")))
            });
            if there {
                return Ok(None);
            }
            let mut value = Value::String(Formatted::new(rule.to_owned()));
            // One rule a line reads well, and gives each a line of its own in messages.
            value.decor_mut().set_prefix("\n    ");
            array.push_formatted(value);
            array.set_trailing_comma(true);
            if array.trailing().as_str().is_some_and(|end| !end.contains('\n')) {
                array.set_trailing("\n");
            }
        }
        Item::ArrayOfTables(tables) => {
            if tables.iter().any(|table| says(table.get("rule").and_then(Item::as_value))) {
                return Ok(None);
            }
            let mut table = Table::new();
            table.insert("rule", toml_edit::value(rule));
            tables.push(table);
        }
        _ => return Err(invalid(format!("`{list}` in it is not a list; fix it first"))),
    }
    Ok(Some(document.to_string()))
}
