//! Rules: from every layer, with their places and examples; and adding one to the file for always.

#![expect(clippy::unwrap_used, reason = "a test's own helper may be blunt")]

use std::fs;
use std::io::ErrorKind;

use ropewalk_config::{Config, RuleText, add_rule, rules_file};
use serde_json::json;

use crate::world::{PROJECT, RULES, SYSTEM, USER, World, check};

/// Each rule with where it stands.
fn places(rules: &[RuleText]) -> Vec<String> {
    rules.iter().map(|rule| format!("{} < {}", rule.rule, rule.source)).collect()
}

#[test]
fn the_layers_add_up_and_each_rule_knows_its_line() {
    let config = World::new()
        .file(SYSTEM, "allow = [\n  'bash(ls *)',\n]\ndeny = ['bash(ssh *)']")
        .file(USER, "\nallow = ['bash(git status *)', 'bash(ls *)']")
        .file(RULES, "# always\nallow = [\n    \"bash(cargo test *)\",\n]\n")
        .file(PROJECT, "ask = ['write_file(*.lock)']\ndeny = ['bash(cargo publish *)']")
        .settings(json!({"allow": ["bash(npm test)"]}))
        .flag("deny=['bash(rm *)']")
        .build();
    assert_eq!(config.problems, []);
    assert_eq!(
        places(&config.allow),
        [
            "bash(ls *) < /etc/ropewalk/config.toml:2",
            "bash(git status *) < ~/.config/ropewalk/config.toml:2",
            "bash(cargo test *) < ~/.config/ropewalk/rules.toml:3",
            "bash(npm test) < the editor's settings",
        ]
    );
    assert_eq!(places(&config.ask), ["write_file(*.lock) < /code/app/.ropewalk/config.toml:1"]);
    assert_eq!(
        places(&config.deny),
        [
            "bash(ssh *) < /etc/ropewalk/config.toml:4",
            "bash(cargo publish *) < /code/app/.ropewalk/config.toml:2",
            "bash(rm *) < -c",
        ]
    );
    let file = rules_file(&World::new()).unwrap();
    assert_eq!(file.to_str().unwrap(), RULES);
}

#[test]
fn examples_come_along_however_they_are_written() {
    for text in [
        "allow = [{ rule = 'bash(git status *)', matches = ['git status -s'], refuses = ['git push'] }]",
        "[[allow]]\nrule = 'bash(git status *)'\nmatches = ['git status -s']\nrefuses = ['git push']",
    ] {
        let config = World::new().file(RULES, text).build();
        assert_eq!(config.problems, []);
        let rule = &config.allow[0];
        assert_eq!(rule.rule, "bash(git status *)");
        assert_eq!(
            (&rule.matches, &rule.refuses),
            (&vec!["git status -s".to_owned()], &vec!["git push".to_owned()])
        );
        assert_eq!(rule.source.line, Some(1));
    }
}

#[test]
fn what_is_no_rule_is_said_and_the_rest_counts() {
    let text = "mode = 'plan'\nask = [\n  1,\n  '',\n  {},\n  { rule = 2 },\n  { rule = 'x', match = [] },\n  { rule = 'x', matches = 'y' },\n  \"a\\nb\",\n  'read_file(*)',\n]";
    check(
        &World::new().file(RULES, text),
        &[
            "mode = \"review\" < built in",
            "ask = [\"read_file(*)\"] < ~/.config/ropewalk/rules.toml:2",
        ],
        &[
            "`mode` in ~/.config/ropewalk/rules.toml:1 is ignored: that file holds only `allow`, `ask` and `deny`; put it into ~/.config/ropewalk/config.toml",
            "`ask` in ~/.config/ropewalk/rules.toml:2 may only list rules as text or tables, not a whole number; that entry is ignored",
            "`ask` in ~/.config/ropewalk/rules.toml:2 has an entry that is not a rule (line 4: a rule must not be empty); that entry is ignored",
            "`ask` in ~/.config/ropewalk/rules.toml:2 has an entry that is not a rule (line 5: a rule must not be empty); that entry is ignored",
            "`ask` in ~/.config/ropewalk/rules.toml:2 has an entry (line 6: `rule` must be text, not a whole number); that entry is ignored",
            "`ask` in ~/.config/ropewalk/rules.toml:2 has an entry with an unknown key (line 7: `match`; there are `rule`, `matches` and `refuses`); that entry is ignored",
            "`ask` in ~/.config/ropewalk/rules.toml:2 has an entry (line 8: `matches` must be a list of texts); that entry is ignored",
            "`ask` in ~/.config/ropewalk/rules.toml:2 has an entry that is not a rule (line 9: a rule must be one line without control characters); that entry is ignored",
        ],
    );
}

/// The file's text after rules were added to `before`, and what it then says.
fn after(before: Option<&str>, rules: &[(&str, &str)]) -> (String, Config) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ropewalk").join("rules.toml");
    if let Some(text) = before {
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
    }
    for (list, rule) in rules {
        add_rule(&file, list, rule).unwrap();
    }
    let text = fs::read_to_string(&file).unwrap();
    let config = World::new().file(RULES, &text).build();
    assert_eq!(config.problems, [], "{text}");
    (text, config)
}

#[test]
fn added_rules_stand_one_a_line_and_the_rest_stays() {
    let rules =
        [("allow", "bash(ls *)"), ("deny", "read_file(**/\"odd\\\".pem)"), ("allow", "grep")];
    let (text, config) = after(None, &rules);
    assert_eq!(
        text,
        "allow = [\n    \"bash(ls *)\",\n    \"grep\",\n]\ndeny = [\n    'read_file(**/\"odd\\\".pem)',\n]\n"
    );
    assert_eq!(config.deny[0].rule, "read_file(**/\"odd\\\".pem)");
    let written =
        "# mine\nask = [ 'a', # why\n  { rule = 'b' } ] # end\n\n[[allow]]\nrule = 'c' # so\n";
    let (text, config) = after(Some(written), &[("ask", "b"), ("allow", "c"), ("ask", " a ")]);
    assert_eq!(text, written, "what is there is not added again");
    assert_eq!(config.ask.len(), 2);
    let (text, config) = after(Some(written), &[("ask", "é𝄞"), ("allow", "d"), ("deny", "e")]);
    for kept in ["# mine\n", "'a', # why\n", "{ rule = 'b' }", "# end\n", "rule = 'c' # so\n"] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    let last = |rules: &[RuleText]| rules.last().unwrap().rule.clone();
    assert_eq!([last(&config.ask), last(&config.allow), last(&config.deny)], ["é𝄞", "d", "e"]);
}

#[test]
fn what_can_t_be_added_to_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.toml");
    let kind = |list: &str, rule: &str| add_rule(&file, list, rule).unwrap_err().kind();
    for (list, rule) in [
        ("model", "x"),
        ("allow", " "),
        ("allow", "a\nb"),
        ("allow", "\u{1b}[2J"),
        ("allow", "a\u{202e}b"),
    ] {
        assert_eq!(kind(list, rule), ErrorKind::InvalidInput, "{list} {rule:?}");
    }
    assert_eq!(kind("deny", &"x".repeat(3_000)), ErrorKind::InvalidInput);
    for text in ["allow = [", "allow = 1", "allow = { a = 1 }", "[allow]\na = 1", "a = 1\na = 1"] {
        fs::write(&file, text).unwrap();
        assert_eq!(kind("allow", "x"), ErrorKind::InvalidData, "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    fs::write(&file, "#".repeat(2 * 1024 * 1024)).unwrap();
    assert_eq!(kind("allow", "x"), ErrorKind::InvalidData);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(kind("allow", "x"), ErrorKind::InvalidData);
}

#[cfg(unix)]
#[test]
fn the_file_is_private_and_a_link_stays_one() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("dotfiles.toml");
    let file = folder.path().join("ropewalk").join("rules.toml");
    add_rule(&file, "allow", "a").unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&file.parent().unwrap().to_owned())), (0o600, 0o700));
    fs::rename(&file, &kept).unwrap();
    symlink(&kept, &file).unwrap();
    add_rule(&file, "allow", "b").unwrap();
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&kept).unwrap(), "allow = [\n    \"a\",\n    \"b\",\n]\n");
}

#[test]
fn a_folder_that_a_stranger_keeps_locked_hangs_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.toml");
    let held = fs::File::open(folder.path()).ok().filter(|folder| folder.try_lock().is_ok());
    add_rule(&file, "allow", "a").unwrap();
    drop(held);
    assert_eq!(fs::read_to_string(&file).unwrap(), "allow = [\n    \"a\",\n]\n");
}

#[test]
fn rules_added_at_once_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.toml");
    std::thread::scope(|scope| {
        for n in 0..8 {
            let file = &file;
            scope.spawn(move || add_rule(file, "allow", &format!("bash(n{n})")).unwrap());
        }
    });
    let text = fs::read_to_string(&file).unwrap();
    let config = World::new().file(RULES, &text).build();
    assert_eq!(config.allow.len(), if cfg!(unix) { 8 } else { config.allow.len() }, "{text}");
}
