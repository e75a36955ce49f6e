//! Long lists, long commands and broken texts: decided all the same. What would take quadratic time ends for no test run.

use super::rules::{call, rule_on, rules};
use ropewalk_protocol::Mode;
use ropewalk_tools::policy::without_keys;
use ropewalk_tools::{Access, Rule, Rules, decide};
use std::fmt::Write as _;

fn many(list: &str, count: usize) -> Rules {
    let mut text = String::new();
    for number in 0..count {
        writeln!(text, "{list} bash(program{number} sub *)").unwrap();
    }
    rules(&text).0
}

#[test]
fn ten_thousand_rules_and_a_command_of_a_hundred_kilobytes() {
    let mut command = String::new();
    for number in 0..5_000 {
        write!(command, "program9999 sub {number}; ").unwrap();
    }
    assert!(command.len() >= 100_000);
    let commands = [
        command,
        format!("program9999 sub {}", "-x ".repeat(33_000)),
        format!("program9999 sub '{}'", "x".repeat(100_000)),
        "a$X ".repeat(25_000),
    ];
    for list in ["deny", "ask", "allow"] {
        let rules = many(list, 10_000);
        for command in &commands {
            let ruling =
                decide(&call("bash", command), &[], &Access::default(), Mode::Review, &rules, &[]);
            let start: String = command.chars().take(30).collect();
            let wanted = match (list, command.starts_with("program")) {
                ("allow", _) | (_, false) => "allow or ask",
                (list, true) => list,
            };
            assert!(wanted.contains(ruling.decision.word()), "{list} {start}: {ruling:?}");
        }
    }
}

#[test]
fn stars_without_end() {
    let rule = format!("deny bash({}b)", "*a".repeat(300));
    let ruling = rule_on(&rule, &call("bash", &"a".repeat(100_000)));
    assert_eq!(ruling.decision.word(), "ask");
    let path = format!("deny read_file({}b)", "*a".repeat(300));
    assert_eq!(rule_on(&path, &call("read_file", &"a".repeat(100_000))).decision.word(), "allow");
}

#[test]
fn a_secret_among_thousands_of_patterns_is_asked_about() {
    let ruling = rule_on("allow bash(*)", &call("bash", &"cat a[b]c{d,e}; ".repeat(6_000)));
    assert_eq!(ruling.by.to_string(), "secrets");
}

#[test]
fn texts_of_rules_are_read_or_refused() {
    for text in [
        "",
        "(",
        ")",
        "()",
        "bash(",
        "bash()",
        "(x)",
        "two words",
        "bash)x(",
        "**",
        "*bash",
        "ba*h(x)",
        "a.b",
        "bash(x) y",
        "bäsh",
        "bash\n(x)",
        "\0",
    ] {
        assert!(text.parse::<Rule>().is_err(), "{text:?}");
    }
    for text in [
        "*",
        "*(x)",
        "bash(\\)",
        "bash(\\\\)",
        "bash(a\\*b)",
        "bash(()",
        "bash())",
        "bash(\0)",
        " bash(x) ",
        "x_1",
    ] {
        let rule: Rule = text.parse().unwrap();
        assert_eq!(rule.to_string(), text.trim());
        assert_eq!(rule.to_string().parse::<Rule>().unwrap(), rule);
    }
    let long = format!("{}!", "x".repeat(1_000_000));
    assert!(long.parse::<Rule>().unwrap_err().len() < 2_000);
}

#[test]
fn keys_are_kept_out_of_the_audit() {
    for (text, shown) in [
        ("ls -l src/auth.rs tokens.txt", "ls -l src/auth.rs tokens.txt"),
        ("API_KEY=abc make test", "API_KEY=*** make test"),
        ("export TOKEN='abc'", "export TOKEN='***'"),
        (
            "curl -H 'Authorization: Bearer abc.def' http://x",
            "curl -H 'Authorization: Bearer ***' http://x",
        ),
        ("mysql --password=abc -u me", "mysql --password=*** -u me"),
        ("mysql --password abc", "mysql --password ***"),
        ("echo sk-ant-0123456789abcdef", "echo ***"),
        ("git push https://ghp_0123456789abcdef@x/y", "git push https://***@x/y"),
        ("cat secret; ls", "cat secret; ls"),
        ("cat password.txt", "cat password.txt"),
    ] {
        assert_eq!(without_keys(text), shown);
    }
}
