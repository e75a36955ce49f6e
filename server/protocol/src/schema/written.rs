//! Files that are written from the types: `editors/protocol.json`, the annotations of the plugin
//! for Neovim, and the tables of EXTENSIONS.md.
//!
//! With `UPDATE_FIXTURES` set it is written anew.

use super::{document, lua};
use serde_json::{Map, Value};
use std::path::Path;

const SCHEMA: &str = "../../editors/protocol.json";
const LUA: &str = "../../editors/neovim/lua/ropewalk/protocol.lua";
const PAGE: &str = "EXTENSIONS.md";

/// The words around a table that is written.
fn mark(name: &str) -> [String; 2] {
    [format!("<!-- written: {name} -->\n"), format!("<!-- end: {name} -->\n")]
}

fn words(schema: &Value) -> String {
    let words = schema["description"].as_str().unwrap();
    words.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn members(schema: &Value) -> &Map<String, Value> {
    schema["properties"].as_object().unwrap()
}

/// The kinds of events, by their names.
fn kinds(all: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let kinds = all["$defs"]["SessionEvent"]["oneOf"].as_array().unwrap().iter();
    let kinds = kinds.map(|kind| {
        let at = kind["$ref"].as_str().unwrap().strip_prefix('#').unwrap();
        all.pointer(at).unwrap()
    });
    kinds.map(|kind| (members(kind)["type"]["const"].as_str().unwrap(), kind))
}

/// True for a member that all events have.
fn is_shared(field: &str) -> bool {
    matches!(field, "type" | "session" | "thread" | "member")
}

/// A row for each kind of event with these names.
fn events(all: &Value, is_meant: impl Fn(&str) -> bool) -> String {
    let mut table = "| type | fields | what happened |\n|---|---|---|\n".to_owned();
    for (name, kind) in kinds(all) {
        if is_meant(name) {
            let fields = members(kind).keys().filter(|field| !is_shared(field));
            let fields: Vec<String> = fields.map(|field| format!("`{field}`")).collect();
            table += &format!("| `{name}` | {} | {} |\n", fields.join(", "), words(kind));
        }
    }
    table
}

/// A row for each member of a type, but for what says which event it is in.
fn fields(all: &Value, of: &Value) -> String {
    let mut table = "| field | what it is |\n|---|---|\n".to_owned();
    for (name, schema) in members(of).iter().filter(|(name, _)| !is_shared(name)) {
        let kinds = schema["$ref"].as_str().map(|at| &all["$defs"][at.rsplit('/').next().unwrap()]);
        let words_of = |kind: &Value| kind["const"].as_str().map(|word| format!("`{word}`"));
        let kinds: Vec<String> = kinds
            .and_then(|kind| kind["oneOf"].as_array())
            .map(|kinds| kinds.iter().filter_map(words_of).collect())
            .unwrap_or_default();
        let kinds =
            if kinds.is_empty() { String::new() } else { format!("{}. ", kinds.join(", ")) };
        table += &format!("| `{name}` | {kinds}{} |\n", words(schema));
    }
    table
}

/// The page with its tables as they should be.
fn page(old: &str, all: &Value) -> String {
    let (_, asked) = kinds(all).find(|(name, _)| *name == "approval_requested").unwrap();
    let is_of_none = |name: &str| name == "trust_requested";
    let tables = [
        ("events", events(all, |name| !is_of_none(name))),
        ("events of no session", events(all, is_of_none)),
        ("hunks", fields(all, &all["$defs"]["HunkInfo"])),
        ("published", fields(all, &all["$defs"]["PublishedHunk"])),
        ("tokens", fields(all, &all["$defs"]["Tokens"])),
        ("approvals", fields(all, asked)),
    ];
    tables.iter().fold(old.to_owned(), |page, (name, table)| {
        let [start, end] = mark(name);
        let (before, rest) = page.split_once(&start).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        format!("{before}{start}\n{table}\n{end}{after}")
    })
}

#[test]
fn what_is_written_from_the_types_is_not_stale() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = document();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let wanted = [
        (SCHEMA, serde_json::to_string_pretty(&all).unwrap() + "\n"),
        (LUA, lua::page(&all)),
        (PAGE, page(&read(PAGE), &all)),
    ];
    for (name, wanted) in wanted {
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.join(name), &wanted).unwrap();
        }
        assert!(
            read(name) == wanted,
            "{name} is stale: run this test with UPDATE_FIXTURES=1, look at the difference, and commit it"
        );
    }
}
