//! The table of commands, and input that nobody would write.

use proptest::prelude::*;
use ropewalk_protocol::Mode;
use ropewalk_tools::danger::{
    Danger, DangerKind, MAX_COMMAND_BYTES, SimpleCommand, dangerous, readable_commands,
};
use ropewalk_tools::{Access, Call, CommandMode, NoCommands, Registry, Rules, decide};
use ropewalk_workspace::NoEditor;
use serde_json::json;
use std::sync::Arc;

fn section_of(danger: Option<&Danger>) -> &'static str {
    match danger.map(|danger| danger.kind) {
        None => "run",
        Some(DangerKind::Privilege) => "privilege",
        Some(DangerKind::Power) => "power",
        Some(DangerKind::Wipe) => "wipe",
        Some(DangerKind::RawDevice) => "device",
        Some(DangerKind::ForkBomb) => "bomb",
        Some(DangerKind::Itself) => "itself",
        Some(DangerKind::NotPlain) => "unknown",
    }
}

fn is_unknown(danger: Option<&Danger>) -> bool {
    section_of(danger) == "unknown"
}

#[test]
fn every_command_of_the_table() {
    let table = include_str!("danger_commands.txt");
    let mut section = "";
    let mut seen = 0;
    let mut wrong = String::new();
    for line in table.lines().skip_while(|l| !l.starts_with('[')) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'))
            && section_names().contains(&name)
        {
            section = section_names().into_iter().find(|s| *s == name).unwrap();
            continue;
        }
        if line.is_empty() {
            continue;
        }
        seen += 1;
        // `\n` is a line end, unless it is part of a quoted format.
        let command =
            if line.contains("printf") { line.to_owned() } else { line.replace("\\n", "\n") };
        let danger = dangerous(&command);
        let got = section_of(danger.as_ref());
        if got != section {
            wrong += &format!("{line}\n    is {got}, not {section}: {danger:?}\n");
        }
        assert_eq!(danger.is_some_and(|d| d.denies()), !matches!(got, "run" | "unknown"));
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(seen > 250, "only {seen} commands were read");
}

#[test]
fn a_danger_in_what_is_not_plain_is_asked_about() {
    let table = include_str!("danger_asked.txt");
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    let lines: Vec<&str> = lines
        .filter(|line| !section_names().iter().any(|name| *line == format!("[{name}]")))
        .collect();
    for line in &lines {
        let command =
            if line.contains("printf") { (*line).to_owned() } else { line.replace("\\n", "\n") };
        let danger = dangerous(&command);
        assert!(is_unknown(danger.as_ref()), "{line}: {danger:?}");
    }
    assert!(lines.len() > 90, "only {} commands were read", lines.len());
}

/// Decides on a command that runs over the fork in mode auto.
fn decided(registry: &Registry, command: &str, rules: &Rules) -> &'static str {
    let call: Call = registry.parse("bash", json!({"command": command})).unwrap().1;
    let reach = Access { mode: CommandMode::OverFork, ..Access::default() };
    decide(&call, &[], &reach, Mode::Auto, rules, &[]).decision.word()
}

#[test]
fn a_command_that_wants_the_network_is_asked_about_in_plan_mode_whatever_allows_it() {
    let registry = Registry::standard(Arc::new(NoCommands), Arc::new(NoEditor));
    let call: Call = registry.parse("bash", json!({"command": "gh pr merge"})).unwrap().1;
    let rules = Rules { allow: vec!["bash(*) with network".parse().unwrap()], ..Rules::default() };
    for (mode, network, expected) in
        [(Mode::Plan, false, "allow"), (Mode::Plan, true, "ask"), (Mode::Review, true, "allow")]
    {
        let reach = Access { mode: CommandMode::OverFork, network, ..Access::default() };
        let decided = decide(&call, &[], &reach, mode, &rules, &[]);
        assert_eq!(decided.decision.word(), expected, "{mode:?} {network}");
    }
}

#[test]
fn ordinary_commands_are_not_asked_about() {
    let registry = Registry::standard(Arc::new(NoCommands), Arc::new(NoEditor));
    let every = Rules { allow: vec!["bash(*)".parse().unwrap()], ..Rules::default() };
    let (mut section, mut seen, mut wrong) = ("", 0, String::new());
    for line in include_str!("danger_ordinary.txt").lines().filter(|line| !line.starts_with("# ")) {
        match line {
            "" => continue,
            "[run]" | "[unknown]" | "[secrets]" => section = line,
            _ => {
                seen += 1;
                let command = if line.contains("printf") {
                    line.to_owned()
                } else {
                    line.replace("\\n", "\n")
                };
                let (kind, decision) = match section {
                    "[secrets]" => ("run", "ask"),
                    "[unknown]" => ("unknown", "allow"),
                    _ => ("run", "allow"),
                };
                let danger = dangerous(&command);
                let by =
                    [&Rules::default(), &every].map(|rules| decided(&registry, &command, rules));
                if section_of(danger.as_ref()) != kind || by != [decision; 2] {
                    wrong += &format!("{line}\n    in {section} is {danger:?}, {by:?}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(seen > 600, "only {seen} commands were read");
}

#[test]
fn every_danger_is_known_behind_the_programs_that_start_others() {
    let table = include_str!("danger_commands.txt");
    let dangers = table.lines().skip_while(|line| *line != "[privilege]");
    let mut seen = 0;
    for line in dangers.take_while(|line| *line != "[bomb]") {
        // Words alone: what joins, redirects or quotes would stand outside of the program that starts them.
        let is_simple = !line.starts_with('[')
            && !line.contains(['&', ';', '|', '<', '>', '\'', '"', '\\', '=', '$']);
        // Builtins and keywords can't be started by a program.
        if line.is_empty()
            || !is_simple
            || ["cd", "exec", "time", "command"].iter().any(|word| line.starts_with(word))
        {
            continue;
        }
        seen += 1;
        for command in [
            format!("env {line}"),
            format!("env -i A=1 {line}"),
            format!("timeout 5 {line}"),
            format!("timeout -s KILL 5m {line}"),
            format!("nice -n 5 {line}"),
            format!("nohup {line}"),
            format!("xargs -n 1 {line}"),
            format!("sh -c '{line}'"),
            format!("bash -lc \"make; {line}\""),
            format!("env timeout 5 sh -ec 'ls && {line}' | tee log"),
            format!("A=1 {line} > log 2>&1 || true"),
        ] {
            let danger = dangerous(&command);
            // Where the last path counts, nobody knows which `xargs` will add.
            let is_open = command.starts_with("xargs")
                && ["cp ", "mv ", "rsync "].iter().any(|name| line.starts_with(name));
            let is_known = danger.as_ref().is_some_and(|danger| danger.denies() || is_open);
            assert!(is_known, "{command}: {danger:?}");
        }
    }
    assert!(seen > 80, "only {seen} commands were read");
}

fn section_names() -> [&'static str; 7] {
    ["run", "unknown", "privilege", "power", "wipe", "device", "bomb"]
}

#[test]
fn a_refusal_says_which_part_and_why() {
    let danger = dangerous("make && env A=1 rm -rf ~/ | tee log").unwrap();
    assert_eq!(
        danger.result_text(),
        "Error: Dangerous command blocked: `rm -rf ~/`: it would take away a whole system or home folder. \
         Name the exact files inside the project"
    );
    let danger = dangerous("cat x | cat > /dev/sda").unwrap();
    assert!(danger.to_string().starts_with("`cat > /dev/sda`: it writes to a raw device"));
    let long = format!("sudo {}", "x".repeat(10_000));
    assert!(dangerous(&long).unwrap().to_string().chars().count() < 400);
}

#[test]
fn signs_that_a_shell_may_take_for_blanks_or_nobody_sees_are_asked_about() {
    let signs = [
        '\u{a0}', '\u{2003}', '\u{3000}', '\u{200b}', '\u{202e}', '\u{feff}', '\r', '\u{b}',
        '\u{1b}',
    ];
    for sign in signs {
        for command in
            [format!("ls{sign}sudo x"), format!("ls {sign}sudo x"), format!("ls;{sign}sudo x")]
        {
            assert!(is_unknown(dangerous(&command).as_ref()), "{command:?}");
        }
    }
}

/// The simple commands as lines.
fn listed(command: &str) -> Vec<String> {
    let (commands, unknown) = readable_commands(command);
    assert_eq!(unknown, None, "{command}");
    let line = |c: &SimpleCommand| {
        let texts = c.assignments.iter().cloned().chain([c.text()]);
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    };
    commands.iter().map(line).collect()
}

#[test]
fn simple_commands_are_listed_in_order() {
    assert_eq!(
        listed("git status -s | head -3 > out.txt && FOO=1 make 'a b' < in"),
        ["git status -s", "head -3 > out.txt", "FOO=1 make a b < in"]
    );
    assert_eq!(
        listed("env A=1 timeout 5 make x"),
        ["env A=1 timeout 5 make x", "timeout 5 make x", "make x"]
    );
    assert_eq!(listed("bash -c 'ls; pwd'"), ["bash -c ls; pwd", "ls", "pwd"]);
    assert_eq!(listed("export A=1; PATH=x; unset B"), ["export A=1", "PATH=x", "unset B"]);
    assert_eq!(listed("cat > f g\nls"), ["cat g > f", "ls"]);
    assert_eq!(listed("ls | xargs -n 1 grep x"), ["ls", "xargs -n 1 grep x", "grep x "]);
    assert_eq!(listed("> f"), ["> f"]);
    assert_eq!(listed(""), Vec::<String>::new());
    let (commands, _) = readable_commands("/usr/bin/git log; 'a b' c");
    let programs: Vec<_> = commands.iter().map(|c| c.program()).collect();
    assert_eq!(programs, [Some("git"), Some("a b")]);
}

#[test]
fn what_no_shell_takes_is_asked_about() {
    assert!(is_unknown(dangerous("ls\0; sudo x").as_ref()));
    assert!(is_unknown(dangerous(&"a".repeat(MAX_COMMAND_BYTES + 1)).as_ref()));
    assert_eq!(dangerous(&"a".repeat(MAX_COMMAND_BYTES)), None);
}

/// Judges on the small stack of a worker thread. What would take quadratic time doesn't end here.
fn judged_on_a_small_stack(command: String) -> Option<Danger> {
    let worker = std::thread::Builder::new().stack_size(2 << 20);
    worker.spawn(move || dangerous(&command)).unwrap().join().unwrap()
}

/// Beginnings and parts of syntax, of which a command may be full.
const UNITS: &[&str] = &[
    "(",
    "((",
    "{ ",
    "$(",
    "\"$(",
    "`",
    "<(",
    "${",
    "${a:-",
    "$((",
    "if ",
    "<<A ",
    "a|",
    "a&&",
    "a ",
    "a;",
    "\\",
    "'",
    "\"",
    "[[ ",
    "case x in ",
    "f() { ",
    "! ",
    "> f ",
    "x=",
    "$'\\x",
    "{a,",
    "a\n",
    "\\\n",
    "bash -c ",
    "eval ",
    "env ",
    "echo a|sh|",
    "for ",
    "while a; do ",
    "#",
    "é",
    "\u{202e}",
    "\r\n",
    "a=$a$a;",
    "<<A\nA\n",
    "<<<a ",
    "1>&2 ",
    "a&",
    "(a);",
    "$a",
    "*?[",
    "~/",
];

#[test]
fn huge_and_deep_input_ends() {
    for unit in UNITS {
        judged_on_a_small_stack(unit.repeat(MAX_COMMAND_BYTES / unit.len()));
    }
    judged_on_a_small_stack("x".repeat(1 << 20));
    let wrapped = |n: usize| format!("{}sudo x", "nohup ".repeat(n));
    assert!(judged_on_a_small_stack(wrapped(5)).unwrap().denies());
    assert!(is_unknown(judged_on_a_small_stack(wrapped(10_000)).as_ref()));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_judged(text in "(?s).{0,80}") {
        let danger = dangerous(&text);
        match readable_commands(&text).1 {
            None => prop_assert!(!is_unknown(danger.as_ref())),
            Some(_) => prop_assert!(danger.is_some()),
        }
    }

    #[test]
    fn any_shell_like_text_is_judged(parts in prop::collection::vec(
        prop::sample::select(vec!["sudo", " ", "x", ";", "|", "&", "(", ")", "{", "}", "$(", "`", "\"", "'",
            "<<E", "\n", "E", ">", "/dev/sda", "\\", "$", "[", "=", "if ", "then ", "fi", "#", "$'", "<<<"]), 0..25)) {
        let text: String = parts.concat();
        let _ = dangerous(&text);
    }

    #[test]
    fn quoting_never_hides_a_program(quotes in prop::collection::vec(0..4_u8, 4)) {
        let name: String = "sudo".chars().zip(&quotes).map(|(c, q)| match q {
            0 => c.to_string(),
            1 => format!("'{c}'"),
            2 => format!("\"{c}\""),
            _ => format!("\\{c}"),
        }).collect();
        let danger = dangerous(&format!("ls; {name} x"));
        prop_assert_eq!(section_of(danger.as_ref()), "privilege", "{}", name);
    }
}
