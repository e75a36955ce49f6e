//! README.md is kept true: its configuration table is the one the code makes, and the commands and options
//! it names exist.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

use std::process::Command;

fn readme() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap()
}

#[test]
fn the_configuration_table_is_the_codes_own() {
    let table = ropewalk_config::markdown_table();
    assert!(readme().contains(table.trim()), "put this into README.md:\n{table}");
}

#[test]
fn every_subcommand_in_it_exists_and_every_one_that_exists_is_in_it() {
    let output = Command::new(env!("CARGO_BIN_EXE_ropewalk")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(!commands.is_empty(), "{help}");
    let text = readme();
    for name in commands {
        assert!(
            text.contains(&format!("ropewalk {name}")),
            "README.md does not speak of ropewalk {name}"
        );
    }
}
