//! Examples of rules: tried when the rule is read, and said in words when they fail.

use super::standard;
use ropewalk_tools::{List, Rules, WrittenRule};

fn read(list: List, rule: &str, matches: &[&str], refuses: &[&str]) -> (usize, Vec<String>) {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (matches, refuses) = (owned(matches), owned(refuses));
    let mut rules = Rules::default();
    let written =
        WrittenRule { rule, matches: &matches, refuses: &refuses, from: "~/rules.toml:3" };
    let known: Vec<String> = standard().names().map(str::to_owned).collect();
    let wrong = rules.read(list, written, &known);
    (rules.allow.len() + rules.ask.len() + rules.deny.len(), wrong)
}

#[test]
fn examples_that_hold_say_nothing() {
    for (list, rule, matches, refuses) in [
        (
            List::Allow,
            "bash(git status *)",
            &["git status -s", "git status"][..],
            &["git push", "git status > x"][..],
        ),
        (List::Deny, "bash(git push *)", &["git push", "bash -c 'git push'"], &["git status"]),
        (List::Ask, "edit_file(src/**)", &["src/a/b.rs", "src/../src/x"], &["tests/x"]),
        (List::Deny, "*(secrets/*)", &["secrets/x"], &["src/x"]),
        (List::Deny, "bash", &["anything"], &[]),
    ] {
        assert_eq!(read(list, rule, matches, refuses), (1, Vec::new()), "{rule}");
    }
}

#[test]
fn an_allow_rule_whose_example_fails_is_not_used_and_a_stricter_one_is() {
    let (used, wrong) = read(List::Allow, "bash(git *)", &["git status"], &["git push"]);
    assert_eq!((used, wrong), (0, vec![
        "~/rules.toml:3: the allow rule bash(git *) matches its example \"git push\", which it must not match. The rule is not used.".to_owned(),
    ]));
    let (used, wrong) = read(List::Deny, "bash(git push)", &["git push origin"], &[]);
    assert_eq!((used, wrong), (1, vec![
        "~/rules.toml:3: the deny rule bash(git push) does not match its example \"git push origin\", which it must match. The rule is used as it is.".to_owned(),
    ]));
}

#[test]
fn what_can_be_no_rule_and_what_is_about_no_tool_is_said() {
    let (used, wrong) = read(List::Deny, "bash(", &[], &[]);
    assert_eq!(used, 0);
    assert!(wrong[0].starts_with("~/rules.toml:3: \"bash(\" is not a rule"), "{wrong:?}");
    assert!(wrong[0].ends_with("It stands in deny and does nothing."), "{wrong:?}");
    for (list, rule) in [(List::Deny, "bash(ls *) with network"), (List::Ask, "bash with /srv")] {
        let (used, wrong) = read(list, rule, &["ls"], &[]);
        assert_eq!(used, 1, "{rule}");
        let words = format!(
            "the {list} rule {rule} has `with`, which counts only in allow: the rule is about every such call."
        );
        assert!(wrong.len() == 1 && wrong[0].ends_with(&words), "{wrong:?}");
    }
    assert_eq!(
        read(List::Allow, "bash(ls *) with network, ~/notes", &["ls"], &["rm"]),
        (1, vec![])
    );
}

#[test]
fn a_rule_may_name_a_tool_that_is_not_there_yet() {
    let remark = |rule: &str| {
        let (used, wrong) = read(List::Deny, rule, &[], &[]);
        assert_eq!((used, wrong.len()), (1, 1), "{rule}: {wrong:?}");
        wrong.concat()
    };
    assert_eq!(
        remark("raed_file(x)"),
        "~/rules.toml:3: there is no tool raed_file yet, so the deny rule raed_file(x) does nothing so far. Did you mean read_file?"
    );
    assert!(remark("Bash(rm *)").ends_with("Did you mean bash?"));
    assert!(remark("get_weather(Paris)").contains("The tools are bash, read_file, "));
    assert!(remark("mcp__forge__open-issue").contains("does nothing so far. The tools are "));
}
