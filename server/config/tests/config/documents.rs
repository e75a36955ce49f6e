//! The table of keys: complete, consistent, and what the code does.

use ropewalk_config::{KEYS, KeyDefault, markdown_table};

use crate::world::{SYSTEM, USER, World, value};

#[test]
fn every_default_in_the_table_is_the_one_in_force() {
    let config = World::new().build();
    for key in KEYS {
        if let KeyDefault::Value(default) = key.default_value() {
            let name = key.name.replace("provider.*", "provider.anthropic").replace('*', "todos");
            assert_eq!(value(&config, &name), default, "{name}");
        }
    }
}

#[test]
fn every_key_is_known_where_it_is_documented() {
    for key in KEYS {
        let name = key.name.replace("provider.*", "provider.anthropic").replace('*', "todos");
        let file = if key.name == "locked" { SYSTEM } else { USER };
        let config = World::new().file(file, format!("{name} = 2020-01-01")).build();
        let sentence = &config.problems[0].sentence;
        assert!(sentence.starts_with(&format!("`{name}` in ")), "{sentence}");
        assert!(sentence.contains(&key.takes()), "{sentence} says what {name} takes");
        assert!(key.description.ends_with('.'), "{name} is described by a sentence");
    }
}

#[test]
fn camel_case_of_keys() {
    let camel: Vec<String> = KEYS.iter().map(|key| key.camel_case()).collect();
    assert!(camel.contains(&"limits.firstByteSeconds".to_owned()));
    assert!(camel.contains(&"provider.*.apiKeyEnv".to_owned()));
    assert!(camel.iter().all(|name| !name.contains('_')));
}

#[test]
fn the_markdown_table_has_a_row_for_every_key() {
    let table = markdown_table();
    assert_eq!(table.lines().count(), KEYS.len() + 2);
    assert!(table.contains("| `limits.steps` | a whole number from 1 to 10000 | `50` | may lower it | Steps in one turn. |\n"));
    assert!(table.lines().all(|line| line.matches('|').count() == 6), "{table}");
}
