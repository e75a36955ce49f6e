//! TOML text to values, keeping what is sound around a syntax error. It knows no keys.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::problem::one_line;
use crate::value::{ListItem, TableEntry, Value};

/// A syntax error: its line, from 1, and a sentence part without any text of the file's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) words: String,
}

/// After so many errors a file is not read further.
const MOST_ERRORS: usize = 20;

/// Reads a file. After an error that stays within a line (`mode = plan`) only that line is left
/// out. After any other, such as one in a table header, the rest of the file is: its keys could land
/// in the table before, and a `base_url` meant for one provider must never become another's.
pub(crate) fn parse(text: &str) -> (Vec<TableEntry>, Vec<SyntaxError>) {
    // The byte order mark is no part of the text; taking it off moves no line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = LineOffsets::new(text);
    let (table, mut found) = DeTable::parse_recoverable(text);
    let span = |error: &toml::de::Error| error.span().unwrap_or(0..0);
    found.sort_by_key(|error| span(error).start);
    let mut errors = Vec::<SyntaxError>::new();
    let mut broken = Broken { lines: BTreeSet::new(), from: usize::MAX };
    for error in &found {
        let touched = lines.range(&span(error));
        let line = *touched.start();
        let contained =
            errors.len() < MOST_ERRORS && line == *touched.end() && stays_within(lines.text(line));
        // One error is enough for a line.
        let new = broken.lines.insert(line);
        if new || !contained {
            let skipped = match contained {
                true => "this line is skipped",
                false => "everything from this line on is skipped",
            };
            let words = format!("{}; {skipped}", one_line(error.message(), 200));
            errors.push(SyntaxError { line, words });
        }
        if !contained {
            broken.from = line;
            break;
        }
    }
    (table_entries(table.get_ref(), &lines, &broken), errors)
}

/// True if an error on this line leaves the lines after it what they were: it sets a key, and opens
/// or closes nothing that goes on over several lines.
fn stays_within(line: &str) -> bool {
    let spanning = ["[", "]", "{", "}", "\"\"\"", "'''"];
    line.contains('=') && !spanning.iter().any(|mark| line.contains(mark))
}

/// Reads one value, as of a flag. `None` when it is no TOML.
pub(crate) fn parse_value(text: &str) -> Option<Value> {
    let value = DeValue::parse(text).ok()?;
    let nothing_broken = Broken { lines: BTreeSet::new(), from: usize::MAX };
    Some(value_of(value.get_ref(), &LineOffsets::new(text), &nothing_broken))
}

/// The lines whose values are left out.
struct Broken {
    lines: BTreeSet<usize>,
    /// From this line on everything is.
    from: usize,
}

impl Broken {
    /// `lines` runs upwards, as [`LineOffsets::range`] gives it.
    fn touches(&self, lines: RangeInclusive<usize>) -> bool {
        *lines.end() >= self.from || self.lines.range(lines).next().is_some()
    }
}

fn table_entries(table: &DeTable<'_>, lines: &LineOffsets<'_>, broken: &Broken) -> Vec<TableEntry> {
    let mut found: Vec<(usize, TableEntry)> = table
        .iter()
        .filter_map(|(key, value)| {
            let start = key.span().start;
            let whole = lines.range(&(start..value.span().end.max(start)));
            // A table may go on behind its header or be continued by another: its leaves decide.
            let leaf = !value.get_ref().is_table();
            if (leaf && broken.touches(whole.clone())) || *whole.start() >= broken.from {
                return None;
            }
            let entry = TableEntry {
                key: key.get_ref().to_string(),
                line: Some(*whole.start()),
                value: value_of(value.get_ref(), lines, broken),
            };
            Some((start, entry))
        })
        .collect();
    found.sort_by_key(|(start, _)| *start);
    found.into_iter().map(|(_, entry)| entry).collect()
}

fn value_of(value: &DeValue<'_>, lines: &LineOffsets<'_>, broken: &Broken) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Value::Other("a number that can't be read"), Value::Integer),
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Decimal(number),
            _ => Value::Other("a number that can't be read"),
        },
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(_) => Value::Other("a date or time"),
        DeValue::Array(list) => Value::List(list_items(list, lines, broken)),
        DeValue::Table(table) => Value::Table(table_entries(table, lines, broken)),
    }
}

fn list_items(list: &DeArray<'_>, lines: &LineOffsets<'_>, broken: &Broken) -> Vec<ListItem> {
    let item = |item: &Spanned<DeValue<'_>>| ListItem {
        line: Some(lines.line(item.span().start)),
        value: value_of(item.get_ref(), lines, broken),
    };
    list.iter().map(item).collect()
}

/// Byte offsets to lines, both of one text. Lines count from 1; lookups take O(log n).
struct LineOffsets<'a> {
    text: &'a str,
    /// Where each line starts, ascending, the first being 0.
    starts: Vec<usize>,
}

impl<'a> LineOffsets<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks =
            text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        LineOffsets { text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    fn range(&self, span: &Range<usize>) -> RangeInclusive<usize> {
        let last = span.end.saturating_sub(1).max(span.start);
        self.line(span.start)..=self.line(last)
    }

    fn text(&self, line: usize) -> &'a str {
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        self.text.get(start..end).unwrap_or("")
    }
}
