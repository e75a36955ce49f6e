//! The pages for users are kept true: the configuration table is the one the code makes, the commands named exist, and
//! so do the files and headings that links lead to.

use std::path::Path;
use std::process::Command;

/// The pages, by their paths in the repository.
const PAGES: &[&str] = &[
    "README.md",
    "CONTRIBUTING.md",
    "editors/README.md",
    "editors/neovim/README.md",
    "tests/editors/README.md",
    "server/ARCHITECTURE.md",
    "server/cli/CLI.md",
    "server/commands/COMMANDS.md",
    "server/config/CONFIGURATION.md",
    "server/protocol/EXTENSIONS.md",
];

fn page(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// With `UPDATE_FIXTURES` set the table is written anew.
#[test]
fn the_configuration_table_is_the_codes_own() {
    let table = ropewalk_config::markdown_table();
    let path = "server/config/CONFIGURATION.md";
    let text = page(path);
    if text.contains(table.trim()) {
        return;
    }
    let is_row = |line: &&str| line.starts_with('|');
    let head = table.lines().next().unwrap();
    let (before, rest) = text.split_once(head).unwrap();
    let after = rest.lines().skip(1).skip_while(is_row).collect::<Vec<_>>().join("\n");
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        let whole = format!("{before}{}\n{after}\n", table.trim());
        return std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(path), whole).unwrap();
    }
    panic!("the table of {path} is stale: run this test with UPDATE_FIXTURES=1 and commit it");
}

#[test]
fn every_subcommand_is_in_the_page_about_them() {
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
    let text = page("README.md") + &page("server/cli/CLI.md");
    for name in commands {
        assert!(
            text.contains(&format!("ropewalk {name}")),
            "neither README.md nor CLI.md speaks of ropewalk {name}"
        );
    }
}

#[test]
fn the_first_page_is_short() {
    let lines = page("README.md").lines().count();
    assert!(
        lines <= 120,
        "README.md has {lines} lines: what is more goes to the pages it leads to"
    );
}

#[test]
fn every_link_to_a_page_leads_to_one_and_to_a_heading_of_it() {
    let mut links = 0;
    for from in PAGES {
        let text = page(from);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (to, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
            let to = if to.is_empty() { folder } else { folder.parent().unwrap().join(to) };
            assert!(to.exists(), "{from} leads to {link}, which is not there");
            links += 1;
            if heading.is_empty() {
                continue;
            }
            let there = std::fs::read_to_string(&to).unwrap();
            let mut headings = there.lines().filter(|line| line.starts_with('#')).map(anchor);
            assert!(headings.any(|one| one == heading), "{from} leads to {link}: no such heading");
        }
    }
    assert!(links > 20, "only {links} links were found");
}

/// The anchor of a heading, as code hosts make it.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
